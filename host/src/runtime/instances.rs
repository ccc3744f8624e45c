//! The instances of one server: a fresh one for each call, or one for each session.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_wit::Instance as Kind;
use serde_json::{Map, Value};
use wasmtime::component::Val;

use super::answer::Answer;
use super::error::Cause;
use super::instance::Live;
use super::load::{Loaded, Loader};
use super::state::Pace;
use super::{Call, SessionId, Target};

/// A kept instance. Whoever holds the lock is the one call that it is busy with.
type Kept = Arc<tokio::sync::Mutex<Option<Live>>>;

/// Where a kept instance is, while nobody else may use it.
type Place = tokio::sync::OwnedMutexGuard<Option<Live>>;

/// The instances of one server.
pub(super) struct Instances {
    loader: Arc<Loader>,
    target: Arc<Target>,
    settings: Arc<Map<String, Value>>,
    kept: Mutex<HashMap<SessionId, Kept>>,
    alive: Arc<AtomicU64>,
}

impl Instances {
    pub(super) fn new(loader: Arc<Loader>, target: Arc<Target>) -> Self {
        Self {
            loader,
            settings: Arc::new(target.settings.clone()),
            target,
            kept: Mutex::default(),
            alive: Arc::default(),
        }
    }

    /// How many belong to a call or a session.
    pub(super) fn alive(&self) -> u64 {
        self.alive.load(Ordering::Relaxed)
    }

    /// Lets go of all that no call is busy with.
    pub(super) fn stop(&self) {
        let kept = std::mem::take(&mut *lock(&self.kept));
        drop(kept);
    }

    /// Lets go of the instance that was kept for a session.
    pub(super) fn end_session(&self, session: SessionId) {
        let kept = lock(&self.kept).remove(&session);
        drop(kept);
    }

    /// Waits for the calls before this one that have the same instance, if it is to
    /// be one that is kept: before the call takes its turn and its time begins.
    pub(super) async fn place(&self, call: &Call) -> Result<Option<Place>, Cause> {
        if self.target.instance == Kind::PerCall {
            return Ok(None);
        }
        let kept = Arc::clone(lock(&self.kept).entry(call.session).or_default());
        let limit = self.target.limits.timeout;
        tokio::time::timeout(limit, kept.lock_owned())
            .await
            .map(Some)
            .map_err(|_| Cause::Busy(limit))
    }

    /// Runs a call in the instance that it is to have.
    pub(super) async fn run(
        &self,
        (loaded, place): (&Arc<Loaded>, Option<Place>),
        call: &Call,
        (params, pace): (&[Val], &Pace),
    ) -> Result<Answer, Cause> {
        let Some(mut place) = place else {
            let mut live = self.fresh(loaded).await?;
            live.attach(call, pace);
            return live.call(&self.target, call, params).await;
        };
        // Taken out while it runs: a call that is dropped half-way or that traps
        // takes its instance with it.
        let mut live = match place.take() {
            Some(live) => live,
            None => self.fresh(loaded).await?,
        };
        live.attach(call, pace);
        let result = live.call(&self.target, call, params).await;
        if live.is_sound() {
            *place = Some(live);
        }
        result
    }

    async fn fresh(&self, loaded: &Arc<Loaded>) -> Result<Live, Cause> {
        let origin = loaded.origin(&self.loader, &self.target).await;
        Live::start(
            (loaded, origin.map_err(Cause::Load)?),
            &self.target,
            &self.settings,
            &self.alive,
        )
        .await
    }
}

/// Locks what no panic can have left half done.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
