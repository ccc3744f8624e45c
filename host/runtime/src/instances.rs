//! Instances of one server: a fresh one for each call, or one for each session.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use dormouse_protocol::{Answer, Awaited, SessionId};
use dormouse_wit::Instance as Kind;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::compiled_schemas;
use super::error::Cause;
use super::instance::Live;
use super::load::{Loaded, Loader};
use super::memory::{InstanceMemory, ServerMemory};
use super::params::Params;
use super::state::Pace;
use super::{Call, Target};
use crate::sandbox::GivenSecrets;

/// A kept instance. The lock is held by the call that uses it.
#[derive(Clone)]
struct Kept {
    live: Arc<tokio::sync::Mutex<Option<Live>>>,
    /// Number of calls that wait for the lock.
    waiting: Arc<watch::Sender<usize>>,
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            live: Arc::default(),
            waiting: Arc::new(watch::Sender::new(0)),
        }
    }
}

/// Exclusive hold on the place of a kept instance.
pub(super) type Place = tokio::sync::OwnedMutexGuard<Option<Live>>;

/// Counts a call while it waits.
struct WaitingCall<'a>(&'a watch::Sender<usize>);

impl<'a> WaitingCall<'a> {
    fn begin(waiting: &'a watch::Sender<usize>) -> Self {
        waiting.send_modify(|count| *count += 1);
        Self(waiting)
    }
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// Instances of one server that are kept for sessions.
pub(super) struct KeptInstances {
    server: String,
    memory: Arc<ServerMemory>,
    sessions: Mutex<HashMap<SessionId, Kept>>,
}

/// A kept instance that no call uses, nor can use for as long as this is held.
pub(super) struct IdleInstance {
    server: String,
    place: Place,
    used: Instant,
}

impl KeptInstances {
    /// Checks whether they are of the server with that memory.
    pub(super) fn are_of(&self, memory: &ServerMemory) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.memory), memory)
    }

    /// Returns the instances that no call uses.
    pub(super) fn idle(&self) -> Vec<IdleInstance> {
        let kept: Vec<_> = self.sessions.lock().values().cloned().collect();
        let idle = kept.into_iter().filter_map(|kept| {
            let place = kept.live.try_lock_owned().ok()?;
            let used = place.as_ref()?.used();
            Some(IdleInstance {
                server: self.server.clone(),
                place,
                used,
            })
        });
        idle.collect()
    }
}

impl IdleInstance {
    /// Returns the time of its last call.
    pub(super) fn used(&self) -> Instant {
        self.used
    }

    /// Ends it. Returns the number of bytes that this frees; its session's next call gets a fresh
    /// instance.
    pub(super) fn end(mut self) -> u64 {
        let freed = self.place.take().map_or(0, |live| live.memory());
        tracing::warn!(
            server = %self.server,
            "an idle instance that was kept for a session is ended, because guests need its memory\n\
             hint: `memory` in `[limits]` sets how much all guests may have"
        );
        freed
    }
}

/// Instances of one server.
pub(super) struct Instances {
    loader: Arc<Loader>,
    target: Arc<Target>,
    settings: Arc<Map<String, Value>>,
    secrets: Arc<GivenSecrets>,
    kept: Arc<KeptInstances>,
    memory: Arc<ServerMemory>,
    alive: Arc<AtomicU64>,
}

impl Instances {
    pub(super) fn new(loader: Arc<Loader>, target: Arc<Target>) -> Self {
        let memory = ServerMemory::new(Arc::clone(&loader.memory));
        let kept = Arc::new(KeptInstances {
            server: target.server.clone(),
            memory: Arc::clone(&memory),
            sessions: Mutex::default(),
        });
        if target.instance == Kind::PerSession {
            loader.memory.may_end(&kept);
        }
        let settings = Arc::new(target.settings.clone());
        Self {
            secrets: GivenSecrets::new(&target.grants, &settings),
            settings,
            memory,
            loader,
            target,
            kept,
            alive: Arc::default(),
        }
    }

    /// Returns the memory of the instances and of all that is kept for them.
    pub(super) fn memory(&self) -> &Arc<ServerMemory> {
        &self.memory
    }

    /// Returns the number of instances that belong to a call or a session.
    pub(super) fn alive(&self) -> u64 {
        self.alive.load(Ordering::Relaxed)
    }

    /// Drops all instances that no call uses. Returns the sessions that they were kept for.
    pub(super) fn stop(&self) -> Vec<SessionId> {
        compiled_schemas::forget(Some(&self.memory));
        let kept = std::mem::take(&mut *self.kept.sessions.lock());
        kept.into_keys().collect()
    }

    /// Checks whether an instance is kept for a session.
    pub(super) fn keeps_for(&self, session: SessionId) -> bool {
        self.kept.sessions.lock().contains_key(&session)
    }

    /// Drops the instance that was kept for a session.
    pub(super) fn end_session(&self, session: SessionId) {
        let kept = self.kept.sessions.lock().remove(&session);
        drop(kept);
    }

    /// Waits for earlier calls of the same kept instance, if the call is to have one: before the
    /// call takes its permit and its time begins.
    pub(super) async fn place(&self, call: &Call) -> Result<Option<Place>, Cause> {
        let (Kind::PerSession, Some(session)) = (self.target.instance, call.session) else {
            return Ok(None);
        };
        let kept = self
            .kept
            .sessions
            .lock()
            .entry(session)
            .or_default()
            .clone();
        let place = match Arc::clone(&kept.live).try_lock_owned() {
            Ok(place) => place,
            Err(_) => {
                let _waiting = WaitingCall::begin(&kept.waiting);
                let limit = self.target.limits.timeout;
                tokio::time::timeout(limit, kept.live.lock_owned())
                    .await
                    .map_err(|_| Cause::Busy(limit))?
            }
        };
        let awaited = Awaited::new(kept.waiting.subscribe());
        call.listener.holds(awaited);
        Ok(Some(place))
    }

    /// Runs a call in the instance that it is to have.
    pub(super) async fn run(
        &self,
        (loaded, place): (&Arc<Loaded>, Option<Place>),
        call: &Call,
        (params, pace): (Params, &Pace),
    ) -> Result<Answer, Cause> {
        let Some(mut place) = place else {
            let mut live = self.fresh(loaded, pace).await?;
            live.attach(call, pace);
            return live.call(&self.target, call, params).await;
        };
        // Taken out while the call runs: a call that is dropped half-way or that traps takes its
        // instance with it.
        let mut live = match place.take() {
            Some(live) => {
                // The instance still has its folders, which may no longer be allowed.
                let folders = loaded.folders.preopens();
                folders.map_err(|error| Cause::Load(error.to_string()))?;
                live
            }
            None => self.fresh(loaded, pace).await?,
        };
        live.attach(call, pace);
        let result = live.call(&self.target, call, params).await;
        if live.is_sound() {
            *place = Some(live);
            // Idle from now on, so that it may be ended for a call that waits for memory.
            drop(place);
            self.loader.memory.has_become_idle();
        }
        result
    }

    async fn fresh(&self, loaded: &Arc<Loaded>, pace: &Pace) -> Result<Live, Cause> {
        let origin = loaded.origin(&self.loader, &self.target).await;
        let memory = InstanceMemory::new(
            Arc::clone(&self.memory),
            self.target.limits.memory,
            Arc::clone(&pace.waits_for_memory),
        );
        Live::start(
            (loaded, origin.map_err(Cause::Load)?),
            &self.target,
            (&self.settings, &self.secrets),
            memory,
            &self.alive,
        )
        .await
    }
}
