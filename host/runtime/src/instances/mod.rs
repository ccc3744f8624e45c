//! Instances of one server: a fresh one for each call, or one for each session.

mod guest_function;
mod instance;
mod kept_instances;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use dormouse_egress::{GrantedHttp, LoginToken, PluginSecrets};
use dormouse_protocol::{Answer, Awaited, SessionId};
use dormouse_wit::Instance as Kind;
use parking_lot::Mutex;
use serde_json::{Map, Value};

pub(crate) use kept_instances::KeptInstanceGuard;

use self::instance::Live;
use self::kept_instances::{KeptInstances, WaitingCall};
use crate::call::{Call, Pace};
use crate::error::Cause;
use crate::loader::{LoadedComponent, Loader};
use crate::memory::{ReclaimableInstances, ServerCharge, ServerMemory};
use crate::request::CheckedParams;
use crate::sandbox::GivenSecrets;
use crate::schemas;
use crate::server_room::ServerRoom;
use crate::target::Target;

/// Largest result, in bytes as JSON, that is passed on as values.
const MAX_VALUES_BYTES: u64 = 64 << 10;

/// Instances of one server.
pub(super) struct Instances {
    loader: Arc<Loader>,
    target: Arc<Target>,
    settings: Arc<Map<String, Value>>,
    secrets: Arc<GivenSecrets>,
    http: Arc<GrantedHttp>,
    kept: Arc<KeptInstances>,
    memory: Arc<ServerMemory>,
    alive: Arc<AtomicU64>,
}

impl Instances {
    pub(super) fn new(loader: Arc<Loader>, target: Arc<Target>, room: &ServerRoom) -> Self {
        let memory = Arc::clone(&room.memory);
        let kept = Arc::new(KeptInstances {
            server: target.server.clone(),
            memory: Arc::clone(&memory),
            sessions: Mutex::default(),
        });
        if target.instance == Kind::PerSession {
            let kept = Arc::clone(&kept) as Arc<dyn ReclaimableInstances>;
            loader.memory.may_end(Arc::downgrade(&kept));
        }
        let settings = Arc::new(target.settings.clone());
        let http = Arc::new(http_of(&target).in_room(room.requests.clone()));
        Self {
            secrets: GivenSecrets::new(&target.grants, &settings, &http),
            http,
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
        schemas::forget_compiled(Some(&self.memory));
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
    pub(super) async fn place(&self, call: &Call) -> Result<Option<KeptInstanceGuard>, Cause> {
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
        loaded: &Arc<LoadedComponent>,
        place: Option<KeptInstanceGuard>,
        call: &Call,
        params: CheckedParams,
        pace: &Pace,
    ) -> Result<Answer, Cause> {
        let Some(mut place) = place else {
            let mut live = self.fresh(loaded, call, pace).await?;
            let result = live.call(&self.target, call, params).await;
            drop(live);
            return result?.written(&self.target);
        };
        // Taken out while the call runs: a call that is dropped half-way or that traps takes its
        // instance with it.
        let mut live = match place.take() {
            Some(mut live) => {
                // The instance still has its folders, which may no longer be allowed, or may have been
                // moved away while others are at their paths.
                let folders = loaded.folders.preopens();
                let folders = folders.map_err(|error| Cause::Load(error.to_string()))?;
                if live.has_left(&folders) {
                    drop(live);
                    let server = &self.target.server;
                    tracing::info!("server `{server}` starts anew: its folders have been moved");
                    self.fresh(loaded, call, pace).await?
                } else {
                    live.attach(call, pace);
                    live
                }
            }
            None => self.fresh(loaded, call, pace).await?,
        };
        let result = live.call(&self.target, call, params).await;
        if live.is_sound() {
            live.detach();
            *place = Some(live);
            // Idle from now on, so that it may be ended for a call that waits for memory.
            drop(place);
            self.loader.memory.has_become_idle();
        }
        result?.written(&self.target)
    }

    async fn fresh(
        &self,
        loaded: &Arc<LoadedComponent>,
        call: &Call,
        pace: &Pace,
    ) -> Result<Live, Cause> {
        let origin = pace.waited(loaded.origin(&self.loader, &self.target));
        let origin = origin.await?.map_err(Cause::Load)?;
        Live::start(self, loaded, origin, call, pace).await
    }
}

/// A guest's result, converted to MCP, that has not been written.
struct ConvertedResult {
    answer: Answer,
    /// Size of what the guest returned, as JSON, in bytes: a lower bound.
    size: u64,
    /// Memory that counts until it is written.
    charge: ServerCharge,
}

impl ConvertedResult {
    /// Writes the result if it is long, as values take many times the memory of text. An instance
    /// that is no longer needed should have gone by then.
    ///
    /// # Errors
    /// It is larger than it may be.
    fn written(mut self, target: &Target) -> Result<Answer, Cause> {
        // The length of text is known.
        if self.size > MAX_VALUES_BYTES {
            self.answer.write();
        }
        let size = self.answer.size();
        fits(size, target)?;
        if size > MAX_VALUES_BYTES {
            self.answer.write();
        }
        drop(self.charge);
        Ok(self.answer)
    }
}

/// Checks the size of a result as JSON, in bytes.
///
/// # Errors
/// It is larger than the target's limit.
fn fits(size: u64, target: &Target) -> Result<(), Cause> {
    let limit = target.limits.result;
    match size > limit {
        true => Err(Cause::ResultTooLarge {
            server: target.server.clone(),
            size,
            limit,
        }),
        false => Ok(()),
    }
}

/// Returns the requests over HTTP of a server's plugin.
fn http_of(target: &Target) -> GrantedHttp {
    let secrets = PluginSecrets::new(&target.server, &target.secrets);
    let secrets = secrets.with_sent(Arc::clone(&target.sent_secrets));
    let secrets = secrets.with_logins(|login| {
        let auth = target.logins.get(&login.provider)?;
        Some(Arc::new(auth.clone()) as Arc<dyn LoginToken>)
    });
    let granted = GrantedHttp::new(&target.grants.http, secrets);
    match &target.grant_questions {
        Some(questions) => granted.asking(&questions.requested, Arc::clone(&questions.session)),
        None => granted,
    }
}
