//! Memory of the host that a running call takes outside of any linear memory: values of arguments
//! and results, of up to forty times their size, and the memory that wasmtime allocates for them.
//!
//! A guest goes on after it has handed a value to the host: it cleans up after a result (the
//! component model's post-return), waits in a function of the host, or receives values from another
//! component within it. So the thread's allocations are measured whenever the call is polled,
//! whatever caused them.

use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use parking_lot::Mutex;
use wasmtime::CallHook;

use super::{ServerCharge, ServerMemory};

/// Most memory of one call that is not counted, in bytes.
const MAX_UNCOUNTED_BYTES: u64 = 256 << 10;

/// Memory that the host has allocated for one call, which counts as memory of its server.
pub(crate) struct CallMemory {
    server: Arc<ServerMemory>,
    metered: Mutex<Metered>,
}

impl CallMemory {
    pub(crate) fn new(server: Arc<ServerMemory>) -> Arc<Self> {
        Arc::new(Self {
            server,
            metered: Mutex::default(),
        })
    }

    /// Drives a call. None where it takes more memory than its server has left.
    pub(crate) async fn of<F: Future>(&self, call: F) -> Option<F::Output> {
        let mut call = pin!(call);
        std::future::poll_fn(|context| {
            self.metered.lock().begin_poll(allocated());
            let poll = call.as_mut().poll(context);
            let is_counted = self.metered.lock().end_poll(allocated(), &self.server);
            match poll {
                Poll::Ready(output) => Poll::Ready(Some(output)),
                Poll::Pending if is_counted => Poll::Pending,
                Poll::Pending => Poll::Ready(None),
            }
        })
        .await
    }

    /// Records that wasmtime enters or leaves the guest.
    pub(crate) fn passes(&self, passage: CallHook) {
        self.metered.lock().passes(passage, allocated());
    }

    /// Records that a function of the host runs, as opposed to wasmtime's own code.
    pub(crate) fn is_in_function_of_host(&self) {
        self.metered.lock().is_in_function_of_host = true;
    }
}

#[derive(Default)]
struct Metered {
    /// Allocation counter of the thread when it was last read in this poll.
    looked: Option<u64>,
    /// Bytes allocated, less those freed, since the guest was last entered or left.
    current: i64,
    /// Bytes allocated before that and still held.
    held: u64,
    is_in_function_of_host: bool,
    charge: Option<ServerCharge>,
}

impl Metered {
    fn begin_poll(&mut self, allocated: Option<u64>) {
        // Between two polls others run, and the next one may be on another thread.
        self.looked = allocated;
    }

    /// Charges all memory held now. False where there is no room for it.
    fn end_poll(&mut self, allocated: Option<u64>, server: &Arc<ServerMemory>) -> bool {
        self.look(allocated);
        self.looked = None;
        let bytes = self.held.saturating_add_signed(self.current);
        if bytes <= MAX_UNCOUNTED_BYTES {
            self.charge = None;
            return true;
        }
        let charged = self.charge.as_ref().map_or(0, ServerCharge::bytes);
        match &mut self.charge {
            Some(charge) if bytes <= charged => charge.reduce_to(bytes),
            charge => {
                let Some(more) = server.charge(bytes - charged) else {
                    return false;
                };
                match charge {
                    Some(charge) => charge.add(more),
                    None => *charge = Some(more),
                }
            }
        }
        true
    }

    fn passes(&mut self, passage: CallHook, allocated: Option<u64>) {
        self.look(allocated);
        match passage {
            CallHook::CallingHost => self.is_in_function_of_host = false,
            // Memory that it leaves behind belongs to others by then, such as a part of a file that
            // is to be written, or a log that is to be sent: each has a limit of its own.
            CallHook::ReturningFromHost if self.is_in_function_of_host => {
                self.current = self.current.min(0);
            }
            _ => {}
        }
        self.held = self.held.saturating_add_signed(self.current);
        self.current = 0;
    }

    fn look(&mut self, allocated: Option<u64>) {
        if let (Some(before), Some(now)) = (self.looked, allocated) {
            let more = now.wrapping_sub(before).cast_signed();
            self.current = self.current.saturating_add(more);
            self.looked = Some(now);
        }
    }
}

/// Returns the number of bytes that this thread has allocated less those it has freed, modulo 2^64:
/// it may free memory that another thread has allocated. None where the allocator does not say.
#[cfg(unix)]
pub(crate) fn allocated() -> Option<u64> {
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
pub(crate) fn allocated() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use CallHook::{CallingHost, CallingWasm, ReturningFromHost, ReturningFromWasm};

    use super::*;
    use crate::memory::HostMemory;

    const MIB: u64 = 1 << 20;

    /// A step of a poll, with the bytes that its thread has allocated by then, in MiB.
    #[derive(Debug, Clone, Copy)]
    enum Step {
        Begin(u64),
        Passage(CallHook, u64),
        Function,
        End(u64),
    }

    use Step::{Begin, End, Function, Passage};

    /// Returns the bytes charged after each poll, in MiB; none where the charge is refused.
    fn counted(steps: &[Step]) -> Vec<Option<u64>> {
        let host = HostMemory::new(200 * MIB);
        let server = ServerMemory::new(Arc::clone(&host));
        let mut metered = Metered::default();
        let mut counts = Vec::new();
        for step in steps {
            match *step {
                Begin(mib) => metered.begin_poll(Some(mib * MIB)),
                Passage(passage, mib) => metered.passes(passage, Some(mib * MIB)),
                Function => metered.is_in_function_of_host = true,
                End(mib) => {
                    let is_counted = metered.end_poll(Some(mib * MIB), &server);
                    counts.push(is_counted.then(|| host.taken() / MIB));
                }
            }
        }
        drop(metered);
        assert_eq!(host.taken(), 0);
        counts
    }

    #[test]
    fn what_is_allocated_in_polls_counts_for_as_long_as_it_is_there() {
        let call = |steps: &[Step]| [&[Begin(7)], steps].concat();
        let returned = [Passage(ReturningFromWasm, 7), Passage(CallingWasm, 47)];
        for (steps, counts) in [
            (call(&[End(7)]), vec![Some(0)]),
            // A result, while its guest cleans up.
            (call(&[returned[0], returned[1], End(47)]), vec![Some(40)]),
            // On another thread afterwards, which has another count, and frees it at last.
            (
                call(&[
                    returned[0],
                    returned[1],
                    End(47),
                    Begin(1000),
                    End(1000),
                    Begin(500),
                    End(460),
                ]),
                vec![Some(40), Some(40), Some(0)],
            ),
            // Values within wasmtime, such as those that one component sends another.
            (
                call(&[Passage(CallingHost, 7), Passage(CallingWasm, 17), End(17)]),
                vec![Some(10)],
            ),
            (
                call(&[
                    Passage(CallingHost, 7),
                    Passage(ReturningFromHost, 17),
                    End(17),
                ]),
                vec![Some(10)],
            ),
            // What is handed to a function of the host counts while that waits, and is another
            // one's when it returns.
            (
                call(&[
                    Passage(CallingHost, 7),
                    Function,
                    End(17),
                    Begin(20),
                    Passage(ReturningFromHost, 21),
                    End(21),
                ]),
                vec![Some(10), Some(0)],
            ),
            // Of another task's function of the host nothing else is another one's.
            (
                call(&[
                    Passage(CallingHost, 7),
                    Function,
                    Passage(CallingHost, 7),
                    Passage(ReturningFromHost, 17),
                    Passage(ReturningFromHost, 17),
                    End(17),
                ]),
                vec![Some(10)],
            ),
            // What somebody else has allocated takes nothing away.
            (
                call(&[
                    Passage(CallingWasm, 2),
                    Passage(ReturningFromWasm, 12),
                    End(12),
                ]),
                vec![Some(10)],
            ),
            // A server has half of the memory.
            (call(&[End(108)]), vec![None]),
        ] {
            assert_eq!(counted(&steps), counts, "{steps:?}");
        }
    }
}
