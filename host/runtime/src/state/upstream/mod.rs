//! `dormouse:plugin/upstream`: requests of a guest to its upstream.

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use dormouse_protocol::{
    Answer, AskError, Capability, ClientEra, ClientKey, Listener, Notice, Question, QuestionOrigin,
    attribution,
};
use dormouse_upstream::{Failure, ForwardedRequest, Lost, SHOWING_TIMES, without_blocking};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::{CANCELLED, InstanceState, checked_answers};
use crate::bindings::dormouse::plugin::upstream::{self, Refusal, UpstreamError};
use crate::call::{CallCondition, CheckedCondition, PausableDeadline};
use crate::error::Cause;

/// Copies of a request until it is answered: as the guest gave it, on the way to the upstream,
/// and as its user may be shown it.
const COPIES: usize = 4;

/// Most memory of a request that is not counted, in bytes.
const MAX_UNCOUNTED_BYTES: usize = 64 << 10;

impl upstream::Host for InstanceState {
    async fn request(
        &mut self,
        method: String,
        params: String,
    ) -> wasmtime::Result<Result<String, UpstreamError>> {
        let forwarded = self.forward(&method, &params).await;
        // It is checked before a request is sent; its user may have been asked where none was.
        if let (Err(failure), Some(call)) = (&forwarded, &self.call)
            && !matches!(failure, Failure::Refused(_))
        {
            call.pace.check().await?;
        }
        self.goes_on()?;
        let failure = match forwarded {
            Ok(answer) => {
                if let Some(call) = &mut self.call {
                    // Its user has logged in meanwhile, or need not.
                    call.not_logged_in = None;
                    if method == "completion/complete" {
                        call.completed = Some(answer.clone());
                    }
                }
                return Ok(Ok(answer));
            }
            Err(failure) => failure,
        };
        let cause = cause(&self.server, failure);
        let data = match &cause {
            Cause::Upstream { data, .. } => data.clone(),
            _ => None,
        };
        let error = match &cause {
            Cause::Upstream { code, message, .. } => UpstreamError::Refused(Refusal {
                code: *code,
                message: message.clone(),
                data,
            }),
            cause => UpstreamError::Failed(cause.text_for_guest()),
        };
        if let Some(call) = &mut self.call {
            if matches!(&cause, Cause::NotLoggedIn(why) if why.has_link()) {
                call.not_logged_in = Some(cause.clone());
            }
            call.failed = Some(cause);
        }
        Ok(Err(error))
    }
}

impl InstanceState {
    async fn forward(&mut self, method: &str, params: &str) -> Result<String, Failure> {
        let none = |why: &str| Failure::Lost(Lost::Broken(why.to_owned()));
        let copies = params.len().saturating_mul(COPIES);
        let mut held = None;
        if copies > MAX_UNCOUNTED_BYTES {
            held = self.memory.charge(copies as u64).await;
            if held.is_none() {
                self.memory.refused = None;
                return Err(none(&format!(
                    "there is no memory for a request of {} bytes\n\
                     hint: ask for less at once, or give the server more `limits.memory`",
                    params.len()
                )));
            }
        }
        let request = ForwardedRequest::read(method, params)?;
        let Some(upstream) = &self.upstream else {
            return Err(none("this server has no upstream"));
        };
        let Some(call) = &self.call else {
            return Err(none("no call is running"));
        };
        let of_call = call.upstream_condition.as_ref().zip(request.called_tool());
        let of_tool = of_call.map(|(of_call, (tool, arguments))| of_call(tool, arguments));
        let of_tool = of_tool.transpose().map_err(Failure::Barred)?;
        let pace = &call.pace;
        let listener: Arc<dyn Listener> = Arc::new(UpstreamListener {
            listener: Arc::clone(&call.listener),
            patience: pace.patience.clone(),
            condition: pace.condition.clone(),
            of_tool,
        });
        let connection = match upstream.open(call.session, &listener) {
            Some(connection) => connection,
            None => {
                let waiting = pace.patience.wait();
                let connecting = upstream.connect(call.session, &listener);
                let connecting = told(connecting, listener.as_ref());
                let connecting = call.unless_cancelled(connecting);
                let connection = pace.lend(connecting).await;
                drop(waiting);
                let connection = connection.map_err(|cause| none(&cause.to_string()))?;
                connection.ok_or_else(|| none(CANCELLED))??
            }
        };
        // Time of the upstream's questions does not count as the guest's, as long as the guest
        // waits for the upstream.
        let _waiting = pace.patience.guest_waits();
        let asking = upstream.request(call.session, connection, &request, &listener);
        let answer = pace.lend(call.unless_cancelled(asking)).await;
        drop(held);
        let answer = answer.map_err(|cause| none(&cause.to_string()))?;
        answer.ok_or_else(|| none(CANCELLED))?
    }
}

/// Reports every second that work goes on: a first start may have to download much, and clients
/// give up on a call without progress.
async fn told<T>(work: impl Future<Output = T>, listener: &dyn Listener) -> T {
    let mut work = std::pin::pin!(work);
    let mut second = tokio::time::interval(Duration::from_secs(1));
    second.tick().await;
    loop {
        tokio::select! {
            result = &mut work => return result,
            _ = second.tick() => listener.preparing("connecting to its upstream".into()),
        }
    }
}

fn cause(server: &str, failure: Failure) -> Cause {
    match failure {
        Failure::Refused(refusal) => {
            let bytes = refusal.message.len() + refusal.data.as_ref().map_or(0, String::len);
            without_blocking(bytes.saturating_mul(SHOWING_TIMES), || {
                let data = refusal.data;
                let data = data.map(|data| attribution::error_data(server, refusal.code, data));
                Cause::Upstream {
                    code: refusal.code,
                    size: refusal.message.len() + data.as_ref().map_or(0, String::len),
                    message: attribution::error_message(&refusal.message),
                    data,
                }
            })
        }
        Failure::Barred(why) => Cause::Refused(why),
        Failure::NotLoggedIn(why) => Cause::NotLoggedIn(why),
        Failure::Lost(Lost::Auth { challenge }) => Cause::Auth { challenge },
        Failure::Lost(lost) => Cause::Unreached(lost.to_string()),
    }
}

/// Listener of a call for its upstream, whose questions pause the call's deadline.
struct UpstreamListener {
    listener: Arc<dyn Listener>,
    patience: PausableDeadline,
    condition: CheckedCondition,
    /// Condition on which the tool is called that the guest calls at its upstream, if any.
    of_tool: Option<Arc<dyn CallCondition>>,
}

impl Listener for UpstreamListener {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        self.patience.put_off();
        self.listener.progress(progress, total, message);
    }

    fn preparing(&self, what: String) {
        self.listener.preparing(what);
    }

    fn log(&self, level: &'static str, logger: Option<String>, data: Value) {
        self.listener.log(level, logger, data);
    }

    fn page_done(&self, id: &str) -> bool {
        self.listener.page_done(id)
    }

    fn client(&self) -> ClientKey {
        self.listener.client()
    }

    fn era(&self) -> ClientEra {
        self.listener.era()
    }

    fn declared(&self) -> Map<String, Value> {
        self.listener.declared()
    }

    fn supports(&self, capability: Capability) -> bool {
        self.listener.supports(capability)
    }

    fn may_decide(&self) -> bool {
        self.listener.may_decide()
    }

    fn outlives_call(&self) -> bool {
        self.listener.outlives_call()
    }

    fn lacks(&self, lacked: &[Capability]) -> String {
        self.listener.lacks(lacked)
    }

    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'static, Result<Vec<Answer>, AskError>> {
        let waiting = self.patience.question();
        // What a form of Dormouse's own approves counts only once it is recorded; whoever has asked checks
        // the call after that.
        let is_own_form = questions.iter().all(|question| {
            question.origin == QuestionOrigin::Host
                && question.capability == Capability::ElicitationForm
        });
        let (asking, condition) = (self.listener.ask(questions), self.condition.clone());
        async move {
            let answers = match is_own_form {
                true => asking.await,
                false => checked_answers(asking, condition).await,
            };
            drop(waiting);
            answers
        }
        .boxed()
    }

    fn notify(&self, notice: Notice) {
        self.listener.notify(notice);
    }

    fn level(&self) -> Option<&'static str> {
        self.listener.level()
    }

    fn meta(&self) -> Map<String, Value> {
        self.listener.meta()
    }

    fn judged_tools(&self) -> Vec<String> {
        let of_tool = self.of_tool.as_ref();
        let of_tool = of_tool.and_then(|of_tool| of_tool.judged_tool());
        self.condition
            .judged_tool()
            .into_iter()
            .chain(of_tool)
            .collect()
    }

    fn check_judged(&self) -> BoxFuture<'static, Result<(), String>> {
        let patience = self.patience.clone();
        let (of_call, of_tool) = (self.condition.check(), self.of_tool.clone());
        let mut checking = async move {
            of_call.await?;
            match of_tool {
                Some(condition) => condition.check().await,
                None => Ok(()),
            }
        }
        .boxed();
        async move {
            if let Poll::Ready(checked) = futures::poll!(&mut checking) {
                return checked;
            }
            // Its user is asked.
            let _question = patience.question();
            checking.await
        }
        .boxed()
    }
}
