//! The memory of results between a guest's return and the end of its call.
//!
//! A result is made of values, of up to forty times its size, before the guest cleans up after
//! it (the component model's post-return), and is there for as long as that takes. What wasmtime
//! has allocated since the guest has returned is counted when it enters the guest again.

use wasmtime::CallHook;

use super::memory::{InstanceMemory, ServerCharge};

/// Values up to which nothing is counted, in bytes.
const MAX_UNCOUNTED_BYTES: u64 = 64 << 10;

/// What an instance's call has made wasmtime allocate so far.
#[derive(Default)]
pub(super) struct LiftedValues {
    /// Calls of the guest that have not returned: one within the other where the host calls back.
    depth: usize,
    /// What this thread had allocated when the guest returned.
    allocated_before: Option<u64>,
    charges: Vec<ServerCharge>,
}

impl LiftedValues {
    /// Takes note of wasmtime's going into the guest or out of it. False where its values would
    /// take more memory than there is for its server.
    pub(super) fn passes(&mut self, passage: CallHook, memory: &mut InstanceMemory) -> bool {
        match passage {
            CallHook::CallingWasm => {
                let is_outermost = self.depth == 0;
                self.depth += 1;
                // Nothing has run on this thread since but wasmtime's reading and writing of values.
                let before = self.allocated_before.take().filter(|_| is_outermost);
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
                self.depth = self.depth.saturating_sub(1);
                self.allocated_before = allocated().filter(|_| self.depth == 0);
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
