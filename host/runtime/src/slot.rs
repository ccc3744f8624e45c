//! Life of one server: not loaded until the first call, then loaded, then stopped again when it has
//! not been called for a while.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant, SystemTime};

use dormouse_policy::{Backoff, NEVER};
use dormouse_protocol::{Answer, SessionId};
use dormouse_upstream::{Upstream, whose_state};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::call_permit::{CallPermit, Turns};
use super::error::{CallError, Cause};
use super::grace::Graceful;
use super::instances::{Instances, Place};
use super::load::{Loaded, Loader};
use super::params::Params;
use super::pausable_deadline::PausableDeadline;
use super::state::Pace;
use super::{Call, GuestRequest, Phase, Target};

/// Time for which a failed start is not repeated.
const BACKOFF: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));

type Loading = Shared<BoxFuture<'static, Result<Arc<Loaded>, String>>>;

/// Life of one server, at one content of its file and one configuration.
pub struct Slot {
    me: Weak<Self>,
    loader: Arc<Loader>,
    target: Arc<Target>,
    life: Mutex<Life>,
    pub(super) turns: Turns,
    instances: Instances,
    /// Cancelled when no call is to go on in this slot.
    ended: CancellationToken,
    /// Whether the slot is being stopped because it is idle, and clients are not told of it yet.
    is_stopping: AtomicBool,
}

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

struct Life {
    stage: Stage,
    /// Number that grows with every stop, so that loads and timers from before are recognised.
    era: u64,
    /// Era whose end by idleness is awaited.
    watched: Option<u64>,
    failures: u32,
    used: Instant,
    running: u64,
}

impl Life {
    fn rest(&mut self, stage: Stage) {
        self.era += 1;
        self.failures = 0;
        self.stage = stage;
    }
}

enum Stage {
    Known,
    Starting(Loading),
    Ready(Arc<Loaded>, SystemTime),
    Idle(SystemTime),
    Failed(String, Instant),
}

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
        Arc::new_cyclic(|me| Self {
            me: me.clone(),
            instances: Instances::new(Arc::clone(&loader), Arc::clone(&target)),
            loader,
            turns: Turns::new(target.limits.instances),
            ended: CancellationToken::new(),
            is_stopping: AtomicBool::new(false),
            target,
            life: Mutex::new(Life {
                stage: Stage::Known,
                era: 0,
                watched: None,
                failures: 0,
                used: Instant::now(),
                running: 0,
            }),
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
            super::value::drop_nulls(function, &mut tool.arguments.values);
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
        let running = Running::begin(Arc::clone(self));
        let ready = async {
            let loaded = self.loaded(&call).await?;
            let place = self.instances.place(&call).await?;
            Ok((loaded, place, self.turns.take().await))
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
        let run = running.run(Arc::clone(&call), params, (loaded, place, turn));
        let mut work = Box::pin(Graceful::new(run.boxed(), call.cancel.clone()).ended());
        let ended = tokio::select! {
            biased;
            ended = &mut work => ended.unwrap_or(Err(Cause::Cancelled)),
            () = self.ended.cancelled() => {
                call.cancel.cancel();
                work.await;
                Err(Cause::Refused(ENDED.to_owned()))
            }
        };
        ended.map_err(fail)
    }

    /// Returns the parameters of a call, if they are right and there is room for them.
    async fn params(&self, wanted: &mut GuestRequest) -> Result<Params, Cause> {
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
            true => self.turns.checking().await,
            false => None,
        };
        wanted.check(memory)?;
        drop(checking);
        Params::of(wanted, self.target.limits.memory)
    }

    /// Returns the loaded component, loaded now if need be. All waiting calls share one load, which
    /// goes on even if one of them gives up.
    async fn loaded(&self, call: &Call) -> Result<Arc<Loaded>, Cause> {
        let (loading, era) = {
            let mut life = self.life.lock();
            match &life.stage {
                Stage::Ready(loaded, _) => return Ok(Arc::clone(loaded)),
                Stage::Failed(reason, until) if *until > Instant::now() => {
                    return Err(Cause::Backoff {
                        reason: reason.clone(),
                        wait: until.saturating_duration_since(Instant::now()),
                    });
                }
                Stage::Starting(loading) => (loading.clone(), life.era),
                _ => {
                    let loading = self.start();
                    life.stage = Stage::Starting(loading.clone());
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
    fn settle(&self, era: u64, result: &Result<Arc<Loaded>, String>) {
        let mut life = self.life.lock();
        if life.era != era || !matches!(life.stage, Stage::Starting(_)) {
            return;
        }
        match result {
            Ok(loaded) => {
                life.failures = 0;
                life.used = Instant::now();
                life.stage = Stage::Ready(Arc::clone(loaded), SystemTime::now());
                self.watch(&mut life);
            }
            Err(reason) => {
                let wait = BACKOFF.pause(life.failures);
                life.failures += 1;
                life.stage = Stage::Failed(reason.clone(), Instant::now() + wait);
            }
        }
    }

    /// Stops its instances and forgets its failures: the next call starts afresh. Running calls are
    /// not disturbed.
    pub fn stop(&self) {
        let mut life = self.life.lock();
        life.rest(Stage::Known);
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

    /// Makes the slot stop when it is idle, as after a load: for an upstream that was connected
    /// without one.
    pub fn stop_when_idle(&self) {
        let mut life = self.life.lock();
        life.used = Instant::now();
        self.watch(&mut life);
    }

    /// Makes the slot stop when it is idle, if that is not so already.
    fn watch(&self, life: &mut Life) {
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
                life.rest(Stage::Idle(SystemTime::now()));
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
        match &self.life.lock().stage {
            Stage::Known => Phase::Known,
            Stage::Starting(_) => Phase::Starting,
            Stage::Ready(_, since) => Phase::Ready(*since),
            Stage::Idle(since) => Phase::Idle(*since),
            Stage::Failed(why, until) => Phase::Failed(why.clone(), *until),
        }
    }

    /// Returns the number of live instances.
    #[must_use]
    pub fn instances(&self) -> u64 {
        self.instances.alive()
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

/// Counts a call while it runs, however it ends.
struct Running(Arc<Slot>);

impl Running {
    fn begin(slot: Arc<Slot>) -> Self {
        slot.life.lock().running += 1;
        Self(slot)
    }

    async fn run(
        self,
        call: Arc<Call>,
        params: Params,
        (loaded, place, turn): (Arc<Loaded>, Option<Place>, Arc<CallPermit>),
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
        };
        let run = instances.run((&loaded, place), &call, (params, &pace));
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

impl Drop for Running {
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
