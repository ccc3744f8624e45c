//! A call while it runs in a slot.

use std::sync::Arc;
use std::time::Instant;

use dormouse_protocol::Answer;

use super::Slot;
use crate::call::{Call, CallPermit, CheckedCondition, Pace, PausableDeadline};
use crate::error::Cause;
use crate::instances::KeptInstanceGuard;
use crate::loader::LoadedComponent;
use crate::request::CheckedParams;

/// Counts a call while it runs, however it ends.
pub(super) struct RunningCall(Arc<Slot>);

impl RunningCall {
    pub(super) fn begin(slot: Arc<Slot>) -> Self {
        slot.life.lock().running += 1;
        Self(slot)
    }

    pub(super) async fn run(
        self,
        call: Arc<Call>,
        params: CheckedParams,
        loaded: Arc<LoadedComponent>,
        place: Option<KeptInstanceGuard>,
        turn: Arc<CallPermit>,
    ) -> Result<Answer, Cause> {
        let Slot {
            target,
            loader,
            instances,
            ..
        } = self.0.as_ref();
        let limit = target.limits.timeout;
        let pace = Pace {
            patience: PausableDeadline::new(limit, target.limits.total_timeout),
            turn,
            waits_for_memory: Arc::default(),
            condition: CheckedCondition::new(call.condition.clone()),
        };
        let run = instances.run(&loaded, place, &call, params, &pace);
        let ended = pace.patience.within(|| loader.machines.busy(), run).await;
        ended.unwrap_or_else(|| match pace.waits_for_memory.is_why_it_was_late(limit) {
            true => Err(Cause::HostMemory {
                limit: loader.memory.limit(),
            }),
            false => Err(Cause::Deadline {
                server: target.server.clone(),
                limit: pace.patience.exceeded(),
            }),
        })
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let mut life = self.0.life.lock();
        life.running -= 1;
        life.used = Instant::now();
        // A call from before the last stop may have connected since.
        if self.0.target.upstream.is_some() {
            self.0.watch(&mut life);
        }
    }
}
