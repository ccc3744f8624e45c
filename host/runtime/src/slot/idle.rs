//! The end of a slot that is not called any more.

use std::sync::Weak;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use dormouse_policy::NEVER;
use dormouse_upstream::whose_state;

use super::Slot;
use super::life::{Life, SlotState};

/// Mark of a slot that is being stopped, set until this is dropped.
struct Stopping<'s>(&'s AtomicBool);

impl<'s> Stopping<'s> {
    fn begin(mark: &'s AtomicBool) -> Self {
        mark.store(true, Ordering::Release);
        Self(mark)
    }
}

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Slot {
    /// Makes the slot stop when it is idle, as after a load: for an upstream that was connected
    /// without one.
    pub fn stop_when_idle(&self) {
        let mut life = self.life.lock();
        life.used = Instant::now();
        self.watch(&mut life);
    }

    /// Makes the slot stop when it is idle, if that is not so already.
    pub(super) fn watch(&self, life: &mut Life) {
        if life.watched == Some(life.era) {
            return;
        }
        // Without a runtime, no call can come any more.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            life.watched = Some(life.era);
            runtime.spawn(stop_when_idle(self.me.clone(), life.era));
        }
    }

    /// Stops the slot after that idle time, except where sessions have work going on, and tells the
    /// clients that have lost state. False where it goes on.
    async fn stop_idle(&self, era: u64, idle: Duration) -> bool {
        let _stopping = Stopping::begin(&self.is_stopping);
        let mut users = Vec::new();
        let mut is_all = true;
        if let Some(upstream) = &self.target.upstream {
            let stopped = upstream.stop_idle().await;
            users = stopped.users;
            is_all = stopped.is_all;
        }
        if is_all {
            let mut life = self.life.lock();
            // The slot may have been called, or stopped, meanwhile.
            is_all = life.era == era && life.running == 0 && life.used.elapsed() >= idle;
            if is_all {
                life.rest(SlotState::Idle(SystemTime::now()));
                drop(life);
                users.extend(self.instances.stop().into_iter().map(Some));
            }
        }
        users.sort_unstable();
        users.dedup();
        let server = &self.target.server;
        for user in users {
            let text = format!(
                "server `{server}` was stopped, because it was not called for {} s: what it has \
                 kept in memory for {} is gone\n\
                 hint: `idle` in `[servers.{server}.limits]` says after how long, or `\"never\"`",
                idle.as_secs_f64(),
                whose_state(user)
            );
            self.target.clients.tell(user, server, text);
        }
        is_all
    }
}

/// Stops a slot when it has not been called for the idle time of its limits. Ends with the slot,
/// and when the slot was stopped otherwise.
async fn stop_when_idle(slot: Weak<Slot>, era: u64) {
    loop {
        let Some(slot) = slot.upgrade() else { return };
        let idle = slot.target.limits.idle;
        if idle == NEVER {
            return;
        }
        let wait = {
            let life = slot.life.lock();
            if life.era != era {
                return;
            }
            if life.running > 0 {
                idle
            } else {
                idle.saturating_sub(life.used.elapsed())
            }
        };
        let wait = match wait.is_zero() {
            true if slot.stop_idle(era, idle).await => return,
            // The work of sessions in the slot may have ended by then.
            true => idle,
            false => wait,
        };
        drop(slot);
        tokio::time::sleep(wait).await;
    }
}
