//! The memory of results between a guest's return and the end of its call.
//!
//! A result is made of values, of up to forty times its size, before the guest cleans up after
//! it (the component model's post-return), and is there for as long as that takes. What wasmtime
//! has allocated since the guest has returned is counted when it enters the guest again.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use wasmtime::CallHook;

use super::memory::{InstanceMemory, ServerCharge};

/// Values up to which nothing is counted, in bytes.
const MAX_UNCOUNTED_BYTES: u64 = 64 << 10;

/// How often a call's future has been polled. Within one poll nothing runs on its thread but it.
#[derive(Clone, Default)]
pub(super) struct Polls(Arc<AtomicU64>);

impl Polls {
    /// Drives a call and counts how often it goes on.
    pub(super) async fn of<F: Future>(&self, call: F) -> F::Output {
        let mut call = pin!(call);
        std::future::poll_fn(|context| {
            self.0.fetch_add(1, Ordering::Relaxed);
            call.as_mut().poll(context)
        })
        .await
    }

    fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What an instance's call has made wasmtime allocate so far. Without a call nothing is counted.
#[derive(Default)]
pub(super) struct LiftedValues {
    polls: Polls,
    /// The poll in which the guest was left last, and what its thread had allocated by then.
    left: Option<(u64, u64)>,
    charges: Vec<ServerCharge>,
}

impl LiftedValues {
    /// Values of a call that is driven by `polls`.
    pub(super) fn of_call(polls: &Polls) -> Self {
        Self {
            polls: polls.clone(),
            ..Self::default()
        }
    }

    /// Takes note of wasmtime's going into the guest or out of it. False where its values would
    /// take more memory than there is for its server.
    ///
    /// Between a function's return and the function that cleans up after it wasmtime does nothing
    /// but read its values, however many tasks the guest has: neither is anything else entered or
    /// left, nor does the call's future end its poll.
    pub(super) fn passes(&mut self, passage: CallHook, memory: &mut InstanceMemory) -> bool {
        self.passes_having(allocated, passage, memory)
    }

    fn passes_having(
        &mut self,
        allocated: impl Fn() -> Option<u64>,
        passage: CallHook,
        memory: &mut InstanceMemory,
    ) -> bool {
        let left = self.left.take();
        match passage {
            CallHook::CallingWasm => {
                let poll = self.polls.count();
                // In another poll it may be another thread, and others have run.
                let before = left.filter(|(of, _)| *of == poll).map(|(_, before)| before);
                let lifted = before.zip(allocated());
                // Where more was freed than allocated, that is less than nothing.
                let lifted =
                    lifted.map_or(0, |(before, now)| now.wrapping_sub(before).cast_signed());
                let lifted = u64::try_from(lifted).unwrap_or(0);
                if lifted <= MAX_UNCOUNTED_BYTES {
                    return true;
                }
                let charge = memory.charge_server(lifted);
                let is_granted = charge.is_some();
                self.charges.extend(charge);
                is_granted
            }
            CallHook::ReturningFromWasm => {
                let poll = self.polls.count();
                self.left = (poll > 0)
                    .then(allocated)
                    .flatten()
                    .map(|bytes| (poll, bytes));
                true
            }
            CallHook::CallingHost | CallHook::ReturningFromHost => true,
        }
    }
}

/// How many bytes more this thread has allocated than freed, modulo 2^64: what it frees another
/// one may have allocated. None where the allocator does not say.
#[cfg(unix)]
fn allocated() -> Option<u64> {
    use tikv_jemalloc_ctl::thread::{ThreadLocal, allocatedp, deallocatedp};
    type Counters = (ThreadLocal<u64>, ThreadLocal<u64>);
    thread_local! {
        static COUNTERS: Option<Counters> = allocatedp::read().ok().zip(deallocatedp::read().ok());
    }
    COUNTERS.with(|counters| {
        let (allocated, freed) = (*counters)?;
        Some(allocated.get().wrapping_sub(freed.get()))
    })
}

#[cfg(not(unix))]
fn allocated() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use CallHook::{CallingHost, CallingWasm, ReturningFromHost, ReturningFromWasm};

    use super::super::memory::{HostMemory, ServerMemory};
    use super::*;

    const MIB: u64 = 1 << 20;

    /// What is counted where the guest is entered and left having allocated that much, in bytes.
    /// `None` stands for the end of a poll.
    fn counted(polls: &Polls, passages: &[Option<(CallHook, u64)>]) -> u64 {
        let host = HostMemory::new(1 << 40);
        let server = ServerMemory::new(Arc::clone(&host));
        let mut memory = InstanceMemory::new(server, MIB, Arc::default());
        let mut lifted = LiftedValues::of_call(polls);
        for passage in passages {
            match passage {
                Some((passage, allocated)) => {
                    assert!(lifted.passes_having(|| Some(*allocated), *passage, &mut memory));
                }
                None => _ = polls.0.fetch_add(1, Ordering::Relaxed),
            }
        }
        host.taken()
    }

    #[test]
    fn counts_what_is_allocated_between_a_return_and_what_cleans_up() {
        let at = |passage, mib: u64| Some((passage, mib * MIB));
        let returned = [at(ReturningFromWasm, 2), at(CallingWasm, 9)];
        for (passages, counts) in [
            (&returned[..], 7),
            // Also where a task of the guest has been entered and is not left.
            (
                &[&[at(CallingWasm, 1), at(CallingWasm, 1)], &returned[..]].concat(),
                7,
            ),
            // What goes on otherwise is no value of a result.
            (&[at(CallingWasm, 2), at(CallingWasm, 9)], 0),
            (
                &[
                    at(CallingHost, 2),
                    at(ReturningFromHost, 9),
                    at(CallingWasm, 9),
                ],
                0,
            ),
            (
                &[
                    at(ReturningFromWasm, 2),
                    at(ReturningFromHost, 3),
                    at(CallingWasm, 9),
                ],
                0,
            ),
            (&[at(ReturningFromWasm, 9), at(CallingWasm, 2)], 0),
            // Another thread has another count, and on this one others have run.
            (&[at(ReturningFromWasm, 2), None, at(CallingWasm, 9)], 0),
        ] {
            let polls = Polls::default();
            polls.0.store(1, Ordering::Relaxed);
            assert_eq!(counted(&polls, passages), counts * MIB, "{passages:?}");
        }
        // While an instance is made, there is no call.
        assert_eq!(counted(&Polls::default(), &returned), 0);
    }

    #[tokio::test]
    async fn polls_are_counted() {
        let polls = Polls::default();
        polls.of(tokio::task::yield_now()).await;
        assert_eq!(polls.count(), 2);
    }
}
