//! Time, permit and memory waits of a call.

use std::sync::Arc;

use super::{CallPermit, PausableDeadline};
use crate::memory::MemoryWait;

/// Time, permit and memory waits of a call.
#[derive(Clone)]
pub(crate) struct Pace {
    pub patience: PausableDeadline,
    pub turn: Arc<CallPermit>,
    /// Time for which it has waited for memory, which the error at a deadline may report.
    pub waits_for_memory: Arc<MemoryWait>,
}
