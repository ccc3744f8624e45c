//! A running call, with the notifications and questions of its plugin.
//!
//! The call is a future that lives here rather than in the task of the request which began it. In
//! the stateless era a question is the answer to a request (`input_required`), and the call goes on
//! with the next request: until then it is kept in [`suspended_calls`](super::suspended_calls).

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use dormouse_protocol::{Answer, Awaited, ClientKey, Era, Listener as _, SessionId};
use dormouse_text::letter_case::is_same_but_for_case;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, StreamExt as _};
use rmcp::model::RequestId;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::call_listener::{CallListener, CallQuestions};
use super::leased_sessions::LeasedSession;
use super::pending_questions::QuestionRound;
use super::plugin_request::{Continuation, PluginRequest};
use super::relay::Relay;
use crate::mcp::messages::client_request::Original;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::request_context::RequestContext;
use crate::mcp::server::Host;
use crate::roster::CallContext;

/// Time that the last notifications of a cancelled call may take to go out.
const CANCELLED_FLUSH_TIMEOUT: Duration = Duration::from_millis(250);

/// Time for which more questions of a call of a stateless client are waited for, so that those that
/// are asked at the same time are asked in one round: clients end a call that takes many.
const GATHERING: Duration = Duration::from_millis(5);

/// Outcome of a call.
pub(in crate::mcp) type CallOutcome = Result<Answer, ErrorObject>;

/// A running call.
pub(in crate::mcp) struct InFlightCall {
    work: BoxFuture<'static, CallOutcome>,
    listener: Arc<CallListener>,
    asks: mpsc::UnboundedReceiver<CallQuestions>,
    cancel: CancellationToken,
    binding: [u8; 32],
    /// Session with which the call ends; none if it belongs to no connection.
    session: Option<SessionId>,
    /// Session whose untold texts go with the result, and the server that they are about; only for
    /// calls of tools.
    untold: Option<(Option<SessionId>, String)>,
    /// Requests that began the call or went on with it, by their client's ids.
    requests: Vec<RequestId>,
    /// Session that was begun for this call alone, and ends with it.
    _own: Option<LeasedSession>,
    /// Message that began the call: its memory counts as taken until the call is over.
    _message: Original,
}

/// A call that waits for answers.
pub(in crate::mcp) struct Suspended {
    in_flight: InFlightCall,
    asked: QuestionRound,
}

impl Suspended {
    pub(in crate::mcp) fn binding(&self) -> [u8; 32] {
        self.in_flight.binding
    }

    pub(in crate::mcp) fn session(&self) -> Option<SessionId> {
        self.in_flight.session
    }

    pub(in crate::mcp) fn client(&self) -> ClientKey {
        self.in_flight.listener.client()
    }

    /// Checks whether `request` began the call or went on with it.
    pub(in crate::mcp) fn is_of(&self, request: &RequestId) -> bool {
        self.in_flight.requests.contains(request)
    }

    /// Returns the watch of the instance that the call is busy with, where others may wait for that
    /// instance.
    pub(in crate::mcp) fn held(&self) -> Option<Awaited> {
        self.in_flight.listener.held()
    }
}

impl Host {
    /// Carries out `request`, or goes on with an earlier one.
    pub(in crate::mcp) async fn carry_out<F>(
        &self,
        request: PluginRequest,
        mut continued: Continuation,
        context: &RequestContext<'_>,
        work: impl FnOnce(Arc<crate::roster::Roster>, PluginRequest, CallContext) -> F,
    ) -> CallOutcome
    where
        F: Future<Output = CallOutcome> + Send + 'static,
    {
        let Ok(_place) = self.common.in_flight.clone().try_acquire_owned() else {
            return Err(ErrorObject::internal_error(format!(
                "`{}` was not called: too many calls are waiting already\n\
                     hint: wait for some of them, or cancel them",
                request.key
            )));
        };
        // Only the stateless era has such a thing.
        let is_stateless = context.era() == Era::Stateless;
        let client = match self.session {
            Some(session) => ClientKey::Session(session),
            None => ClientKey::Name(context.client.clone()),
        };
        // An answer is good for who was asked, and for what they see.
        let binding = || request.binding(&client, self.profile.as_deref());
        let in_flight = match &continued.state {
            Some(state) if is_stateless => {
                let Suspended {
                    mut in_flight,
                    asked,
                } = self.common.suspended_calls.take(state, &binding())?;
                in_flight.requests.push(context.request.id.clone());
                if let Some(asked) = asked.answer(&mut continued.responses) {
                    return Ok(self.input_required(Suspended { in_flight, asked }));
                }
                in_flight
            }
            _ => {
                let roster = self.common.roster.clone();
                // Its request's ends with that, which a call may outlive.
                let cancel = CancellationToken::new();
                // Nothing is put aside for who cannot be asked.
                let binding = match context.may_be_asked() {
                    true => binding(),
                    false => <[u8; 32]>::default(),
                };
                let to = (request.server.as_str(), request.may_ask());
                let (listener, asks) =
                    CallListener::new(roster.clone(), (client, to), cancel.clone());
                let (session, own) = self.session_of(&request, context);
                let is_of_tool = request.method == "tools/call";
                let untold = is_of_tool.then(|| (session, request.server.clone()));
                let call = CallContext {
                    session,
                    profile: self.profile.clone(),
                    cancel: cancel.clone(),
                    listener: listener.clone(),
                };
                InFlightCall {
                    listener,
                    asks,
                    cancel,
                    binding,
                    session: self.session.filter(|_| self.lasting),
                    untold,
                    requests: vec![context.request.id.clone()],
                    _own: own,
                    _message: context.request.original.clone(),
                    work: work(roster, request, call).boxed(),
                }
            }
        };
        self.run(in_flight, continued.responses, context).await
    }

    /// Returns the session of a call, with its lease where the call has it alone.
    ///
    /// Over HTTP a stateless request belongs to no connection, and shares its upstream's with all
    /// others. The exception: its client can be asked something, and a question would not say which
    /// call it is about. Then the call gets a session that no other call has while it runs.
    fn session_of(
        &self,
        request: &PluginRequest,
        context: &RequestContext<'_>,
    ) -> (Option<SessionId>, Option<LeasedSession>) {
        if self.lasting || context.era() == Era::Handshake {
            return (self.session, None);
        }
        let asks = context.may_be_asked() && self.common.roster.asks_unattributed(&request.server);
        let own = asks.then(|| LeasedSession::of(&self.common, &request.server, &context.client));
        (own.as_ref().map(LeasedSession::id), own)
    }

    /// Runs a call until it ends, or waits for its client. `given` are the answers that came with
    /// the request.
    async fn run(
        &self,
        mut in_flight: InFlightCall,
        mut given: HashMap<String, Answer>,
        context: &RequestContext<'_>,
    ) -> CallOutcome {
        let relay = Arc::new(Relay::new(context.token.clone(), context.logs));
        in_flight.listener.attach(&relay, context);
        let mut relaying = std::pin::pin!(relay.run(&*context.connection));
        let mut listening = true;
        // An upstream may ask the next thing before the last one is answered.
        let mut asking = FuturesUnordered::new();
        let (mut round, mut gathered) = (QuestionRound::default(), Instant::now());
        let end = loop {
            tokio::select! {
                // Most calls are done at once, and then nothing else need be looked at.
                biased;
                outcome = &mut in_flight.work => break Ok(outcome),
                Some(ask) = in_flight.asks.recv() => match context.era() {
                    // What is asked may have come along with the request.
                    Era::Stateless => {
                        if round.is_empty() {
                            gathered = Instant::now() + GATHERING;
                        }
                        round.add(ask, &mut given);
                    }
                    Era::Handshake => asking.push(context.ask(ask)),
                },
                Some(()) = asking.next() => {}
                () = tokio::time::sleep_until(gathered), if !round.is_empty() => break Err(round),
                () = &mut relaying, if listening && round.is_empty() => listening = false,
                () = context.request.cancel.cancelled(), if !in_flight.cancel.is_cancelled() => {
                    in_flight.cancel.cancel();
                }
                () = self.ending.cancelled(), if !in_flight.cancel.is_cancelled() => {
                    in_flight.cancel.cancel();
                }
            }
        };
        if end.is_err() {
            in_flight.listener.suspend();
        }
        // What the plugin has said goes out before its answer, nothing after it.
        relay.close();
        if listening {
            // Who has cancelled the call may still listen, or may not.
            let gone = async {
                context.request.cancel.cancelled().await;
                tokio::time::sleep(CANCELLED_FLUSH_TIMEOUT).await;
            };
            tokio::select! {
                () = relaying => {}
                () = gone => {}
                () = self.closed.cancelled() => {}
            }
        }
        match end {
            Ok(outcome) => {
                let server = in_flight.listener.server();
                let outcome = outcome.and_then(|result| of_ours(result, server));
                let failed = || match &outcome {
                    Ok(result) => result.is_error(),
                    Err(_) => true,
                };
                match in_flight.listener.missing_capability() {
                    Some(missing) if context.era() == Era::Stateless && failed() => Err(missing),
                    _ => outcome.map(|result| self.with_untold(result, &in_flight)),
                }
            }
            // Nobody would come back for it.
            Err(_) if context.request.cancel.is_cancelled() => Err(cancelled()),
            Err(asked) => Ok(self.input_required(Suspended { in_flight, asked })),
        }
    }

    /// Appends to a result the text about its server that the client could not be told earlier.
    fn with_untold(&self, mut result: Answer, in_flight: &InFlightCall) -> Answer {
        let untold = in_flight.untold.as_ref();
        let roster = &self.common.roster;
        let untold = untold.and_then(|(session, server)| roster.take_untold(*session, server));
        if let Some(text) = untold {
            result.push_text(&format!("[dormouse] {text}"));
        }
        result
    }

    /// Puts a call aside, and returns the result that names the questions it waits for.
    fn input_required(&self, suspended: Suspended) -> Answer {
        let requests = suspended.asked.to_text();
        let state = self.common.suspended_calls.put(suspended);
        Answer::Verbatim(format!(
            "{{\"resultType\":\"input_required\",\"inputRequests\":{requests},\
             \"requestState\":{}}}",
            Value::from(state),
        ))
    }
}

fn cancelled() -> ErrorObject {
    ErrorObject::internal_error("the call was cancelled")
}

/// Members of results by which clients know a question of this host's.
const OF_QUESTIONS: [&str; 2] = ["inputRequests", "requestState"];

/// Other members of results that this host writes, or writes anew.
const OF_RESULTS: [&str; 4] = ["resultType", "ttlMs", "cacheScope", "_meta"];

/// Returns a server's result, if its type is one that servers may give: a server's questions go
/// through the host, which knows what the client can be asked. So nothing that some client would read
/// as one is left in it: clients may take one letter case for the other.
fn of_ours(mut result: Answer, server: &str) -> CallOutcome {
    let kind = result.get("resultType").map(Cow::into_owned);
    if kind.is_some_and(|kind| kind != "complete") {
        // What it is may be anything that the server knows, its secrets among that.
        return Err(ErrorObject::internal_error(format!(
            "the answer of server `{server}` is of a type (`resultType`) that no server may \
                 give\nhint: whoever wrote the server has to mend it: what has ended is `complete`"
        )));
    }
    result.retain(|name| {
        let is_like = |known: &&str| is_same_but_for_case(known, name);
        let is_other = |known: &&str| *known != name && is_like(known);
        !OF_QUESTIONS.iter().any(is_like) && !OF_RESULTS.iter().any(is_other)
    });
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_that_no_server_may_give_is_not_repeated() {
        let answer =
            |kind: &str| Answer::Verbatim(format!(r#"{{"content":[],"resultType":"{kind}"}}"#));
        assert!(of_ours(answer("complete"), "x").is_ok());
        let error = of_ours(answer("the-secret"), "x").unwrap_err();
        assert!(error.message.contains("`x`"), "{error:?}");
        assert!(!format!("{error:?}").contains("the-secret"), "{error:?}");
    }

    #[test]
    fn no_result_of_a_server_looks_like_a_question() {
        for (result, left) in [
            (
                r#"{"ResultType":"input_required","InputRequests":{"dormouse-0":{}},"content":[]}"#,
                r#"{"content":[]}"#,
            ),
            (
                r#"{"re\u017fultType":"input_required","inputReque\u017ft\u0073":{},"content":[]}"#,
                r#"{"content":[]}"#,
            ),
            (
                r#"{"content":[],"resultType":"complete","inputRequests":{},"requestState":"s"}"#,
                r#"{"content":[],"resultType":"complete"}"#,
            ),
            // Nor is one kept for all who ask.
            (
                r#"{"content":[],"CacheScope":"public","TTLms":7,"_META":{}}"#,
                r#"{"content":[]}"#,
            ),
            // Its own members, and those that are written anew, stay.
            (
                r#"{ "content":[],"x-own":1.10,"ttlMs":7,"_meta":{"a":1} }"#,
                r#"{ "content":[],"x-own":1.10,"ttlMs":7,"_meta":{"a":1} }"#,
            ),
        ] {
            let ours = of_ours(Answer::Verbatim(result.to_owned()), "x").unwrap();
            assert_eq!(ours.into_text(), left);
        }
    }
}
