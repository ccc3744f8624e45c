//! State of a guest's store, and the host's functions for guests: a file for each interface of the
//! contract.

mod call;
mod client;
mod grants;
mod logins;
mod notify;
mod secrets;
mod settings;
mod upstream;
mod wasi;

use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_protocol::{Answer, AskError, Listener, QuestionLimit, SessionId};
use dormouse_upstream::Upstream;
use dormouse_upstream::auth::{Auth, NotLoggedIn};
use futures::future::BoxFuture;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use wasmtime::Engine;
use wasmtime::component::{HasSelf, Linker, ResourceTable};
use wasmtime_wasi::WasiCtx;
use wasmtime_wasi_http::WasiHttpCtx;

use crate::bindings::dormouse::plugin;
use crate::call::{Call, CheckedCondition, Pace, UpstreamCallCondition};
use crate::error::Cause;
use crate::grant_questions::GrantQuestions;
use crate::memory::{CallMemory, InstanceMemory, MemoryCharge};
#[cfg(unix)]
use crate::sandbox::DirectoryStreams;
#[cfg(target_os = "linux")]
use crate::sandbox::HeldFiles;
use crate::sandbox::{HttpHooks, HttpMemory, InstanceOutput, NetworkGate, Preopens, http_context};
use crate::target::Target;

/// Most resources (files, streams, …) that a guest holds at once.
const RESOURCES: usize = 4096;

/// The state of one instance.
pub(super) struct InstanceState {
    pub server: String,
    questions: QuestionLimit,
    grant_questions: Option<Arc<GrantQuestions>>,
    logins: BTreeMap<String, Auth>,
    wasi: WasiCtx,
    table: ResourceTable,
    preopens: Preopens,
    #[cfg(target_os = "linux")]
    held_files: HeldFiles,
    #[cfg(unix)]
    directory_streams: DirectoryStreams,
    http: WasiHttpCtx,
    http_hooks: HttpHooks,
    http_memory: HttpMemory<MemoryCharge>,
    /// Gate to the network.
    pub network: NetworkGate,
    /// Output to stdout, stderr and the log.
    pub output: InstanceOutput,
    /// The running call; an instance that is kept has a new one with each call.
    pub call: Option<Current>,
    settings: Arc<Map<String, Value>>,
    /// The upstream that the guest stands in front of.
    pub upstream: Option<Arc<Upstream>>,
    pub memory: InstanceMemory,
    /// Memory that the host has allocated for the running call.
    pub call_memory: Option<Arc<CallMemory>>,
}

/// The call that an instance is running.
pub(super) struct Current {
    pub listener: Arc<dyn Listener>,
    pub cancel: CancellationToken,
    pub pace: Pace,
    pub upstream_condition: Option<UpstreamCallCondition>,
    pub session: Option<SessionId>,
    /// Numbers of questions for secrets so far, by their names.
    pub secret_questions: BTreeMap<String, usize>,
    /// Reasons why its user is not logged in at providers where they were asked to, by the providers.
    pub failed_logins: BTreeMap<String, NotLoggedIn>,
    /// Cause of the upstream's last failure.
    pub failed: Option<Cause>,
    /// Login that its upstream has wanted since a request to it has succeeded last, with the link.
    pub not_logged_in: Option<Cause>,
    /// The upstream's last answer to a completion: JSON text.
    pub completed: Option<String>,
}

/// Error text for a guest that waits when its call is cancelled.
pub(super) const CANCELLED: &str = "the call was cancelled";

impl Current {
    /// Waits for `work`, but no longer than until the call is cancelled.
    pub(super) async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            result = work => Some(result),
            () = self.cancel.cancelled() => None,
        }
    }
}

/// Waits for the answers to a question in a call, which go to nobody where the call may not go on by
/// then: [`InstanceState::goes_on`] ends its guest.
async fn checked_answers(
    asking: BoxFuture<'static, Result<Vec<Answer>, AskError>>,
    condition: CheckedCondition,
) -> Result<Vec<Answer>, AskError> {
    let answers = asking.await;
    condition.check().await.map_err(AskError::Failed)?;
    answers
}

impl InstanceState {
    pub(super) fn new(
        target: &Target,
        wasi: WasiCtx,
        preopens: Preopens,
        output: InstanceOutput,
        settings: Arc<Map<String, Value>>,
        memory: InstanceMemory,
        network: NetworkGate,
    ) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(RESOURCES);
        Self {
            server: target.server.clone(),
            questions: target.questions.clone(),
            grant_questions: target.grant_questions.clone(),
            logins: target.logins.clone(),
            wasi,
            table,
            preopens,
            #[cfg(target_os = "linux")]
            held_files: HeldFiles::default(),
            #[cfg(unix)]
            directory_streams: DirectoryStreams::default(),
            http: http_context(),
            http_hooks: HttpHooks::new(network.clone()),
            http_memory: HttpMemory::default(),
            network,
            output,
            call: None,
            settings,
            upstream: target.upstream.clone(),
            memory,
            call_memory: None,
        }
    }

    /// Begins a call with all that it may print, send and wait for: it is the one that the guest talks
    /// to from here on, also in its start functions.
    pub(super) fn begin(&mut self, call: &Call, pace: &Pace) {
        // Refusals and output of an earlier call are not the cause of this one's end.
        self.output.begin();
        self.network.begin();
        self.http_hooks.begin(pace.condition.clone());
        self.memory.begin_call(pace);
        self.call = Some(Current {
            listener: Arc::clone(&call.listener),
            cancel: call.cancel.clone(),
            pace: pace.clone(),
            upstream_condition: call.upstream_condition.clone(),
            session: call.session,
            secret_questions: BTreeMap::new(),
            failed_logins: BTreeMap::new(),
            failed: None,
            not_logged_in: None,
            completed: None,
        });
    }

    /// Ends the running call, and returns it.
    pub(super) fn end(&mut self) -> Option<Current> {
        self.memory.pace = None;
        // It knows the call's arguments and its client; requests that are under way have their own.
        self.http_hooks.begin(CheckedCondition::default());
        self.call.take()
    }

    /// Checks that nothing has been found that forbids the running call to go on: asked whenever its
    /// guest calls the host and whenever it is gone on with, whatever it has waited for.
    ///
    /// # Errors
    /// Something has; with the cause by which the guest ends.
    pub(super) fn goes_on(&self) -> Result<(), Cause> {
        match &self.call {
            Some(call) => call.pace.condition.has_held(),
            None => Ok(()),
        }
    }

    /// Whether the guest has other folders than these, or holds something open that is in none of
    /// them. The second is known on Linux alone.
    pub(super) fn has_left(&mut self, folders: &Preopens) -> bool {
        if !Arc::ptr_eq(&self.preopens, folders) {
            return true;
        }
        #[cfg(target_os = "linux")]
        let has_left = self.held_files.have_left(folders);
        #[cfg(not(target_os = "linux"))]
        let has_left = false;
        has_left
    }
}

/// Returns a linker with all functions that the host offers.
pub(super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<InstanceState>> {
    let mut linker = Linker::new(engine);
    crate::sandbox::add_to_linker(&mut linker)?;
    plugin::types::add_to_linker::<_, HasSelf<_>>(&mut linker, InstanceState::in_function)?;
    plugin::call::add_to_linker::<_, HasSelf<_>>(&mut linker, InstanceState::in_function)?;
    plugin::client::add_to_linker::<_, HasSelf<_>>(&mut linker, InstanceState::in_function)?;
    plugin::notify::add_to_linker::<_, HasSelf<_>>(&mut linker, InstanceState::in_function)?;
    plugin::settings::add_to_linker::<_, HasSelf<_>>(&mut linker, InstanceState::in_function)?;
    plugin::upstream::add_to_linker::<_, HasSelf<_>>(&mut linker, InstanceState::in_function)?;
    Ok(linker)
}

impl InstanceState {
    /// Records that a function of the host runs, and returns the state.
    fn in_function(&mut self) -> &mut Self {
        if let Some(memory) = &self.call_memory {
            memory.is_in_function_of_host();
        }
        self
    }
}

impl plugin::types::Host for InstanceState {}
