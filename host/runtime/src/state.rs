//! State of a guest's store, and the host's functions for guests.

use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_protocol::{
    AskError, Capability, Catalog, Listener, Notice, Question, QuestionLimit, SessionId,
    attribution, check_size, severity,
};
use dormouse_text::log_text::logger_name;
use dormouse_upstream::{Upstream, without_blocking};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use wasmtime::Engine;
use wasmtime::component::{HasSelf, Linker, ResourceTable};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};
use wasmtime_wasi_http::{WasiHttpCtx, WasiHttpCtxView, WasiHttpView};

use super::Target;
use super::ask::{answered, capability_for, question};
use super::bindings::dormouse::plugin::{call, client, notify, settings, types, upstream};
use super::call_memory::CallMemory;
use super::call_permit::CallPermit;
use super::error::Cause;
use super::memory::{InstanceMemory, MemoryCharge, MemoryWait};
use super::pausable_deadline::PausableDeadline;
use super::question_size::QuestionSize;
#[cfg(unix)]
use crate::sandbox::DirectoryStreams;
use crate::sandbox::{
    FilesystemState, HttpHooks, HttpMemory, HttpState, NetworkGate, NetworkState, Output, Preopens,
    http_context,
};

/// Most resources (files, streams, …) that a guest holds at once.
const RESOURCES: usize = 4096;

/// Most questions that are asked at once.
const QUESTIONS: usize = 32;

/// Longest message of a guest to its agent, in bytes: messages that wait to be sent are memory of
/// the host and not of the guest.
const TEXT: usize = 64 << 10;

/// Longest URI of which a guest may report a change, in bytes.
const URI: usize = 8 << 10;

/// The state of one instance.
pub(super) struct State {
    pub server: String,
    questions: QuestionLimit,
    wasi: WasiCtx,
    table: ResourceTable,
    preopens: Preopens,
    #[cfg(unix)]
    directory_streams: DirectoryStreams,
    http: WasiHttpCtx,
    http_hooks: HttpHooks,
    http_memory: HttpMemory<MemoryCharge>,
    /// Gate to the network.
    pub network: NetworkGate,
    /// Output to stdout, stderr and the log.
    pub output: Output,
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
    pub session: Option<SessionId>,
    /// Cause of the upstream's last failure.
    pub failed: Option<Cause>,
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

/// Time, permit and memory waits of a call.
#[derive(Clone)]
pub(super) struct Pace {
    pub patience: PausableDeadline,
    pub turn: Arc<CallPermit>,
    /// Time for which it has waited for memory, which the error at a deadline may report.
    pub waits_for_memory: Arc<MemoryWait>,
}

impl State {
    pub(super) fn new(
        target: &Target,
        (wasi, preopens): (WasiCtx, Preopens),
        output: Output,
        settings: Arc<Map<String, Value>>,
        memory: InstanceMemory,
    ) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(RESOURCES);
        Self {
            server: target.server.clone(),
            questions: target.questions.clone(),
            wasi,
            table,
            preopens,
            #[cfg(unix)]
            directory_streams: DirectoryStreams::default(),
            http: http_context(),
            http_hooks: HttpHooks,
            http_memory: HttpMemory::default(),
            network: NetworkGate::new(&target.server, output.clone()),
            output,
            call: None,
            settings,
            upstream: target.upstream.clone(),
            memory,
            call_memory: None,
        }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        self.in_function();
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl FilesystemState for State {
    type Charge = MemoryCharge;

    fn preopens(&self) -> &Preopens {
        &self.preopens
    }

    async fn charge(&mut self, bytes: u64) -> Option<MemoryCharge> {
        self.memory.charge(bytes).await
    }

    #[cfg(unix)]
    fn directory_streams(&self) -> &DirectoryStreams {
        &self.directory_streams
    }
}

impl WasiHttpView for State {
    fn http(&mut self) -> WasiHttpCtxView<'_> {
        self.in_function();
        WasiHttpCtxView {
            hooks: &mut self.http_hooks,
            table: &mut self.table,
            ctx: &mut self.http,
        }
    }
}

impl NetworkState for State {
    fn network(&mut self) -> &mut NetworkGate {
        &mut self.network
    }
}

impl HttpState for State {
    fn http_memory(&mut self) -> &mut HttpMemory<MemoryCharge> {
        &mut self.http_memory
    }
}

/// Returns a linker with all functions that the host offers.
pub(super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    crate::sandbox::add_to_linker(&mut linker)?;
    types::add_to_linker::<_, HasSelf<_>>(&mut linker, State::in_function)?;
    call::add_to_linker::<_, HasSelf<_>>(&mut linker, State::in_function)?;
    client::add_to_linker::<_, HasSelf<_>>(&mut linker, State::in_function)?;
    notify::add_to_linker::<_, HasSelf<_>>(&mut linker, State::in_function)?;
    settings::add_to_linker::<_, HasSelf<_>>(&mut linker, State::in_function)?;
    upstream::add_to_linker::<_, HasSelf<_>>(&mut linker, State::in_function)?;
    Ok(linker)
}

impl State {
    /// Records that a function of the host runs, and returns the state.
    fn in_function(&mut self) -> &mut Self {
        if let Some(memory) = &self.call_memory {
            memory.is_in_function_of_host();
        }
        self
    }
}

impl types::Host for State {}

impl call::Host for State {
    fn progress(&mut self, progress: f64, total: Option<f64>, message: Option<String>) {
        if let Some(call) = &self.call {
            let message = message.map(|message| {
                attribution::progress_message(&self.output.redact_beginning(&message, TEXT))
            });
            call.listener.progress(progress, total, message);
        }
    }

    fn log(&mut self, level: call::LogLevel, logger: Option<String>, data: String) {
        let level = match level {
            call::LogLevel::Debug => "debug",
            call::LogLevel::Info => "info",
            call::LogLevel::Notice => "notice",
            call::LogLevel::Warning => "warning",
            call::LogLevel::Error => "error",
            call::LogLevel::Critical => "critical",
            call::LogLevel::Alert => "alert",
            call::LogLevel::Emergency => "emergency",
        };
        let logger = logger.map(|logger| logger_name(&self.output.redact_beginning(&logger, TEXT)));
        // A text is much smaller than the value that it can be parsed to.
        let data = if data.len() > TEXT {
            Value::String(self.output.redact_beginning(&data, TEXT).into_owned())
        } else {
            serde_json::from_str(&data).unwrap_or(Value::String(data))
        };
        let data = self.output.redact_value(data);
        match &data {
            Value::String(text) => self.output.log(level, logger.as_deref(), text),
            data => self.output.log(level, logger.as_deref(), &data.to_string()),
        }
        if let Some(call) = &self.call {
            // Messages below the level that a client has asked for go to the host's own log only,
            // as above.
            let least = call.listener.level();
            if least.is_some_and(|least| severity(level) < severity(least)) {
                return;
            }
            let logger = attribution::logger(&self.server, logger.as_deref());
            let data = attribution::log_data(data);
            call.listener.log(level, Some(logger), data);
        }
    }

    fn is_cancelled(&mut self) -> bool {
        self.call
            .as_ref()
            .is_some_and(|call| call.cancel.is_cancelled())
    }
}

impl client::Host for State {
    fn supported(&mut self) -> client::Capabilities {
        let known = [
            (
                Capability::ElicitationForm,
                client::Capabilities::ELICITATION_FORM,
            ),
            (
                Capability::ElicitationUrl,
                client::Capabilities::ELICITATION_URL,
            ),
            (Capability::Sampling, client::Capabilities::SAMPLING),
            (Capability::Roots, client::Capabilities::ROOTS),
        ];
        let mut supported = client::Capabilities::empty();
        for (capability, flag) in known {
            let call = self.call.as_ref();
            if call.is_some_and(|call| call.listener.supports(capability)) {
                supported |= flag;
            }
        }
        supported
    }

    async fn ask(
        &mut self,
        requests: Vec<client::Request>,
    ) -> Result<Vec<client::Answer>, client::AskError> {
        self.questions(requests).await.map_err(|error| match error {
            AskError::Unsupported(why) => client::AskError::Unsupported(why),
            AskError::Invalid(why) => client::AskError::Invalid(why),
            error => client::AskError::Failed(error.to_string()),
        })
    }
}

impl State {
    /// Converts questions to MCP, each under its own id.
    fn asked(&self, requests: Vec<client::Request>) -> Result<Vec<Question>, AskError> {
        let mut ids = BTreeSet::new();
        let questions = requests.into_iter().map(|request| {
            let question = question(request)?.attributed(&self.server)?;
            match ids.insert(question.id.clone()) {
                true => Ok(question),
                false => Err(AskError::Invalid(format!(
                    "two questions have the id `{}`",
                    question.id
                ))),
            }
        });
        questions.collect()
    }

    async fn questions(
        &mut self,
        requests: Vec<client::Request>,
    ) -> Result<Vec<client::Answer>, AskError> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        if requests.len() > QUESTIONS {
            return Err(AskError::Invalid(format!(
                "{} questions were asked at once, and {QUESTIONS} may be",
                requests.len()
            )));
        }
        let Some(call) = &self.call else {
            return Err(AskError::Failed("no call is running".into()));
        };
        // Before values are made of the questions: a guest that is refused may ask again, for ever.
        let asked = requests.iter().map(|request| &request.question);
        call.listener.check_support(asked.map(capability_for))?;
        let size = QuestionSize::of(&requests);
        check_size(size.words)?;
        let Some(held) = self.memory.charge(size.memory()).await else {
            self.memory.refused = None;
            return Err(AskError::Failed(format!(
                "there is no memory for questions of {} bytes in all\n\
                 hint: ask for less at once, or give the server more `limits.memory`",
                size.bytes()
            )));
        };
        // Patterns of a form take far longer than as many bytes of other things.
        let is_form =
            |request: &client::Request| matches!(request.question, client::Question::Form(_));
        let bytes = match requests.iter().any(is_form) {
            true => usize::MAX,
            false => usize::try_from(size.bytes()).unwrap_or(usize::MAX),
        };
        let questions = without_blocking(bytes, || self.asked(requests))?;
        let Some(call) = &self.call else {
            return Err(AskError::Failed("no call is running".into()));
        };
        let cancelled = || AskError::Failed(CANCELLED.to_owned());
        if call.cancel.is_cancelled() {
            return Err(cancelled());
        }
        let client = call.listener.client();
        let counted = self.questions.take(&self.server, client, questions.len())?;
        let waiting = call.pace.patience.wait();
        let answer = call.listener.put(questions.clone());
        let answers = call.pace.turn.wait(call.unless_cancelled(answer)).await?;
        let answers = answers.ok_or_else(cancelled)??;
        drop((waiting, counted, held));
        // The poll of this call makes epochs advance and the deadline count again, but only at its
        // start.
        tokio::task::yield_now().await;
        without_blocking(bytes, || {
            questions
                .iter()
                .zip(&answers)
                .map(|(question, answer)| answered(question, answer).map_err(AskError::Failed))
                .collect()
        })
    }
}

impl notify::Host for State {
    fn resource_updated(&mut self, uri: String) {
        if uri.len() > URI {
            return;
        }
        if let Some(call) = &self.call {
            call.listener.notify(Notice::Updated(uri));
        }
    }

    fn list_changed(&mut self, catalog: notify::Catalog) {
        let catalog = match catalog {
            notify::Catalog::Tools => Catalog::Tools,
            notify::Catalog::Prompts => Catalog::Prompts,
            notify::Catalog::Resources => Catalog::Resources,
        };
        if let Some(call) = &self.call {
            call.listener.notify(Notice::Changed(catalog));
        }
    }
}

impl settings::Host for State {
    fn get(&mut self, key: String) -> Option<String> {
        self.settings.get(&key).map(Value::to_string)
    }

    fn all(&mut self) -> String {
        Value::Object(self.settings.as_ref().clone()).to_string()
    }
}
