//! The instances of one server: a fresh one for each call, or one for each session.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_wit::Instance as Kind;
use serde_json::{Map, Value};
use wasmtime::component::Val;

use super::engine::Origin;
use super::error::Cause;
use super::instance::Live;
use super::load::{Loaded, Loader};
use super::patience::Patience;
use super::{Call, SessionId, Target};

/// How long a spare instance waits for a call. Long enough for the next call of an
/// agent that makes several, short enough that an idle host holds none, and that
/// what an instance sees when it is made (a granted folder, say) is still so.
const SPARE: Duration = Duration::from_secs(1);

/// A kept instance. Whoever holds the lock is the one call that it is busy with.
type Kept = Arc<tokio::sync::Mutex<Option<Live>>>;

/// The instances of one server.
pub(super) struct Instances {
    loader: Arc<Loader>,
    target: Arc<Target>,
    settings: Arc<Map<String, Value>>,
    kept: Mutex<HashMap<SessionId, Kept>>,
    spare: Mutex<Spare>,
    alive: Arc<AtomicU64>,
}

/// An instance that no call has seen yet. It is made while the answer of the call
/// before is on its way, so that the next one need not wait for that.
#[derive(Default)]
struct Spare {
    /// Tells this one from those before it.
    number: u64,
    coming: bool,
    there: Option<Live>,
}

impl Instances {
    pub(super) fn new(loader: Arc<Loader>, target: Arc<Target>) -> Arc<Self> {
        Arc::new(Self {
            loader,
            settings: Arc::new(target.settings.clone()),
            target,
            kept: Mutex::default(),
            spare: Mutex::default(),
            alive: Arc::default(),
        })
    }

    /// How many belong to a call or a session.
    pub(super) fn alive(&self) -> u64 {
        self.alive.load(Ordering::Relaxed)
    }

    /// Lets go of all that no call is busy with.
    pub(super) fn stop(&self) {
        let kept = std::mem::take(&mut *lock(&self.kept));
        let spare = lock(&self.spare).there.take();
        drop((kept, spare));
    }

    /// Lets go of the instance that was kept for a session.
    pub(super) fn end_session(&self, session: SessionId) {
        let kept = lock(&self.kept).remove(&session);
        drop(kept);
    }

    /// Runs a call in the instance that it is to have.
    pub(super) async fn run(
        self: &Arc<Self>,
        loaded: &Arc<Loaded>,
        call: &Call,
        (params, patience): (&[Val], &Patience),
    ) -> Result<Value, Cause> {
        if self.target.instance == Kind::PerCall {
            let mut live = match self.take_spare(loaded) {
                Some(live) => live,
                None => self.fresh(loaded).await?,
            };
            live.attach((call, patience), &self.alive);
            let result = live.call(&self.target, call, params).await;
            self.renew(live, loaded);
            return result;
        }
        let kept = Arc::clone(lock(&self.kept).entry(call.session).or_default());
        let mut place = kept.lock().await;
        // Taken out while it runs: a call that is dropped half-way or that traps
        // takes its instance with it.
        let mut live = match place.take() {
            Some(live) => live,
            None => self.fresh(loaded).await?,
        };
        live.attach((call, patience), &self.alive);
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
        )
        .await
    }

    fn take_spare(&self, loaded: &Arc<Loaded>) -> Option<Live> {
        let mut spare = lock(&self.spare);
        let live = spare.there.take()?;
        spare.number += 1;
        live.is_of(loaded).then_some(live)
    }

    /// Takes an instance that has done its work down, and makes one for the next
    /// call; nobody waits for either.
    fn renew(self: &Arc<Self>, mut used: Live, loaded: &Arc<Loaded>) {
        used.detach();
        let (me, loaded) = (Arc::clone(self), Arc::clone(loaded));
        tokio::spawn(async move {
            drop(used);
            // A crowd needs all the places that there are.
            let Some(place) = me.loader.machines.spare_place() else {
                return;
            };
            if !loaded.is_pooled() || !me.begin_spare() {
                return;
            }
            let begun = async {
                let _busy = me.loader.machines.busy();
                let origin = (Origin::Pool, Some(place));
                let live = Live::start((&loaded, origin), &me.target, &me.settings);
                tokio::time::timeout(me.target.limits.timeout, live).await
            };
            // Why it cannot be made, the next call will find out and tell.
            let live = begun.await.ok().and_then(Result::ok);
            let number = {
                let mut spare = lock(&me.spare);
                spare.coming = false;
                spare.there = live;
                spare.number += 1;
                spare.number
            };
            tokio::time::sleep(SPARE).await;
            let late = {
                let mut spare = lock(&me.spare);
                (spare.number == number).then(|| spare.there.take())
            };
            drop(late);
        });
    }

    /// Whether a spare is to be made now.
    fn begin_spare(&self) -> bool {
        let mut spare = lock(&self.spare);
        let wanted = !spare.coming && spare.there.is_none();
        spare.coming |= wanted;
        wanted
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
