//! Life of one server: not loaded until the first call, then loaded, then stopped again when it has
//! not been called for a while.

mod idle;
mod life;
mod running_call;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use dormouse_policy::Backoff;
use dormouse_protocol::{Answer, SessionId};
use dormouse_upstream::Upstream;
use futures::FutureExt;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

pub use life::Phase;

use self::life::{Life, Loading, SlotState};
use self::running_call::RunningCall;
use crate::call::{Call, Graceful};
use crate::error::{CallError, Cause};
use crate::instances::Instances;
use crate::loader::{LoadedComponent, Loader};
use crate::request::{CheckedParams, GuestRequest};
use crate::server_room::ServerRoom;
use crate::target::Target;

/// Time for which a failed start is not repeated.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));

/// Life of one server, at one content of its file and one configuration.
pub struct Slot {
    me: Weak<Self>,
    loader: Arc<Loader>,
    target: Arc<Target>,
    life: Mutex<Life>,
    pub(super) room: Arc<ServerRoom>,
    instances: Instances,
    /// Cancelled when no call is to go on in this slot.
    ended: CancellationToken,
    /// Whether the slot is being stopped because it is idle, and clients are not told of it yet.
    is_stopping: AtomicBool,
}

/// Treatment of calls that run in a slot when it is retired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunningCalls {
    /// They go on to their end.
    GoOn,
    /// They are cancelled, and fail with [`ENDED`].
    End,
}

/// Error text of a call that was ended with its server.
pub const ENDED: &str = "its server was switched off, removed or changed while the call ran";

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("server", &self.target.server)
            .field("phase", &self.phase())
            .finish()
    }
}

impl Slot {
    pub(super) fn new(loader: Arc<Loader>, target: Target) -> Arc<Self> {
        let target = Arc::new(target);
        let running = target.limits.instances;
        let room = loader.rooms.of(&target.server, running, &loader.memory);
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            instances: Instances::new(Arc::clone(&loader), Arc::clone(&target), &room),
            loader,
            room,
            ended: CancellationToken::new(),
            is_stopping: AtomicBool::new(false),
            target,
            life: Mutex::new(Life::new()),
        })
    }

    /// Calls the plugin, and returns its answer in MCP's form.
    ///
    /// # Errors
    /// Failures outside of a tool's own code, and, for other requests, also inside.
    pub async fn call(self: &Arc<Self>, mut call: Call) -> Result<Answer, CallError> {
        if let GuestRequest::Tool(tool) = &mut call.wanted
            && let Some(function) = &tool.callable.function
        {
            crate::value::drop_nulls(function, &mut tool.arguments.values);
        }
        // No guest is started for a call with invalid parameters.
        let params = tokio::select! {
            biased;
            params = self.params(&mut call.wanted) => params,
            () = call.cancel.cancelled() => Err(Cause::Cancelled),
            () = self.ended.cancelled() => Err(Cause::Refused(ENDED.to_owned())),
            () = tokio::time::sleep(self.target.limits.timeout) => Err(Cause::Deadline {
                server: self.target.server.clone(),
                limit: self.target.limits.timeout,
            }),
        };
        // A call that ends with the slot was not cancelled by its caller.
        call.cancel = call.cancel.child_token();
        let call = Arc::new(call);
        let fail = |cause| CallError {
            server: self.target.server.clone(),
            subject: call.wanted.subject(),
            cause,
        };
        let params = params.map_err(fail)?;
        let running = RunningCall::begin(Arc::clone(self));
        let ready = async {
            let loaded = self.loaded(&call).await?;
            let place = self.instances.place(&call).await?;
            let turn = self.room.turns.take().await;
            call.check(&turn).await?;
            Ok((loaded, place, turn))
        };
        let (loaded, place, turn) = tokio::select! {
            biased;
            ready = ready => ready.map_err(fail)?,
            () = call.cancel.cancelled() => return Err(fail(Cause::Cancelled)),
            () = self.ended.cancelled() => return Err(fail(Cause::Refused(ENDED.to_owned()))),
        };
        if call.cancel.is_cancelled() {
            return Err(fail(Cause::Cancelled));
        }
        // From here on there is a guest, which may outlive its caller.
        let run = running.run(Arc::clone(&call), params, loaded, place, turn);
        let work = Graceful::new(run.boxed(), call.cancel.clone(), self.ended.clone());
        let ended = match work.ended().await {
            Some(ended) => ended,
            None if self.ended.is_cancelled() => Err(Cause::Refused(ENDED.to_owned())),
            None => Err(Cause::Cancelled),
        };
        ended.map_err(fail)
    }

    /// Returns the parameters of a call, if they are right and there is room for them.
    async fn params(&self, wanted: &mut GuestRequest) -> Result<CheckedParams, Cause> {
        let (size, limit) = (wanted.base64(), self.target.limits.result);
        if size > limit {
            return Err(Cause::ArgumentsTooLarge {
                server: self.target.server.clone(),
                size,
                limit,
            });
        }
        let memory = self.instances.memory();
        let checking = match wanted.check_takes_long(memory) {
            true => self.room.turns.checking().await,
            false => None,
        };
        wanted.check(memory)?;
        drop(checking);
        CheckedParams::of(wanted, self.target.limits.memory)
    }

    /// Returns the loaded component, loaded now if need be. All waiting calls share one load, which
    /// goes on even if one of them gives up.
    async fn loaded(&self, call: &Call) -> Result<Arc<LoadedComponent>, Cause> {
        let (loading, era) = {
            let mut life = self.life.lock();
            match &life.stage {
                SlotState::Ready(loaded, _) => return Ok(Arc::clone(loaded)),
                SlotState::Failed(reason, until) if *until > Instant::now() => {
                    return Err(Cause::Backoff {
                        reason: reason.clone(),
                        wait: until.saturating_duration_since(Instant::now()),
                    });
                }
                SlotState::Starting(loading) => (loading.clone(), life.era),
                _ => {
                    let loading = self.start();
                    life.stage = SlotState::Starting(loading.clone());
                    (loading, life.era)
                }
            }
        };
        let mut second = tokio::time::interval(Duration::from_secs(1));
        second.tick().await;
        let mut wait = loading;
        let result = loop {
            tokio::select! {
                result = &mut wait => break result,
                _ = second.tick() => {
                    let server = &self.target.server;
                    call.listener.preparing(format!("starting server `{server}`"));
                }
            }
        };
        self.settle(era, &result);
        result.map_err(Cause::Load)
    }

    fn start(&self) -> Loading {
        let (loader, target) = (Arc::clone(&self.loader), Arc::clone(&self.target));
        let task = tokio::task::spawn_blocking(move || loader.load(&target).map(Arc::new));
        let loaded = async move {
            task.await
                .unwrap_or_else(|error| Err(format!("loading it failed: {error}")))
        };
        loaded.boxed().shared()
    }

    /// Records the outcome of a start: once, by the first waiting call that sees it.
    fn settle(&self, era: u64, result: &Result<Arc<LoadedComponent>, String>) {
        let mut life = self.life.lock();
        if life.era != era || !matches!(life.stage, SlotState::Starting(_)) {
            return;
        }
        match result {
            Ok(loaded) => {
                life.failures = 0;
                life.used = Instant::now();
                life.stage = SlotState::Ready(Arc::clone(loaded), SystemTime::now());
                self.watch(&mut life);
            }
            Err(reason) => {
                let wait = BACKOFF.pause(life.failures);
                life.failures += 1;
                life.stage = SlotState::Failed(reason.clone(), Instant::now() + wait);
            }
        }
    }

    /// Stops its instances and forgets its failures: the next call starts afresh. Running calls are
    /// not disturbed.
    pub fn stop(&self) {
        let mut life = self.life.lock();
        life.rest(SlotState::Known);
        drop(life);
        self.instances.stop();
        if let Some(upstream) = &self.target.upstream {
            upstream.stop();
        }
    }

    /// Stops the slot for good: nothing is started in it any more.
    pub fn retire(&self, calls: RunningCalls) {
        if let Some(upstream) = &self.target.upstream {
            upstream.retire();
        }
        self.stop();
        if calls == RunningCalls::End {
            self.ended.cancel();
        }
    }

    /// Waits until no call is to go on in the slot.
    pub async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Checks whether the slot is being stopped because it is idle: what is lost by that is about to
    /// be told to the sessions that have had it.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Acquire)
    }

    /// Checks whether an instance or a connection is kept for a session, even a shared one.
    pub fn keeps_for(&self, session: SessionId) -> bool {
        let upstream = self.target.upstream.as_ref();
        self.instances.keeps_for(session)
            || upstream.is_some_and(|upstream| upstream.has_part(session))
    }

    /// Checks whether an instance or a connection would end with a session.
    pub fn ends_with(&self, session: SessionId) -> bool {
        let upstream = self.target.upstream.as_ref();
        self.instances.keeps_for(session)
            || upstream.is_some_and(|upstream| upstream.is_connected(session))
    }

    /// Drops the instance and the connection that were kept for a session.
    pub fn end_session(&self, session: SessionId) {
        self.instances.end_session(session);
        if let Some(upstream) = &self.target.upstream {
            upstream.end_session(session);
        }
    }

    /// Returns the upstream, if the server stands in front of one.
    #[must_use]
    pub fn upstream(&self) -> Option<&Arc<Upstream>> {
        self.target.upstream.as_ref()
    }

    /// Returns the state of the server's life.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.life.lock().stage.phase()
    }

    /// Returns the number of live instances.
    #[must_use]
    pub fn instances(&self) -> u64 {
        self.instances.alive()
    }
}
