//! The life of a slot: its stages, and what outsiders see of them.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use futures::future::{BoxFuture, Shared};

use crate::loader::LoadedComponent;

/// A start that all waiting calls share.
pub(super) type Loading = Shared<BoxFuture<'static, Result<Arc<LoadedComponent>, String>>>;

/// Life of a slot so far.
pub(super) struct Life {
    pub(super) stage: SlotState,
    /// Number that grows with every stop, so that loads and timers from before are recognised.
    pub(super) era: u64,
    /// Era whose end by idleness is awaited.
    pub(super) watched: Option<u64>,
    pub(super) failures: u32,
    pub(super) used: Instant,
    pub(super) running: u64,
}

impl Life {
    pub(super) fn new() -> Self {
        Self {
            stage: SlotState::Known,
            era: 0,
            watched: None,
            failures: 0,
            used: Instant::now(),
            running: 0,
        }
    }

    /// Ends an era.
    pub(super) fn rest(&mut self, stage: SlotState) {
        self.era += 1;
        self.failures = 0;
        self.stage = stage;
    }
}

/// State of a slot.
pub(super) enum SlotState {
    Known,
    Starting(Loading),
    Ready(Arc<LoadedComponent>, SystemTime),
    Idle(SystemTime),
    Failed(String, Instant),
}

impl SlotState {
    /// Returns it as outsiders see it.
    pub(super) fn phase(&self) -> Phase {
        match self {
            Self::Known => Phase::Known,
            Self::Starting(_) => Phase::Starting,
            Self::Ready(_, since) => Phase::Ready(*since),
            Self::Idle(since) => Phase::Idle(*since),
            Self::Failed(why, until) => Phase::Failed(why.clone(), *until),
        }
    }
}

/// State of a server's life, as far as the runtime can tell.
#[derive(Debug, Clone, PartialEq)]
pub enum Phase {
    /// Never called.
    Known,
    /// Its first call is on its way.
    Starting,
    /// Loaded, since.
    Ready(SystemTime),
    /// Stopped after use, since.
    Idle(SystemTime),
    /// Could not be loaded, with the reason, and the time at which it may be tried again.
    Failed(String, Instant),
}
