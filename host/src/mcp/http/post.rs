//! Messages that clients post.

use std::sync::Arc;

use bytes::Bytes;
use dormouse_jsonrpc::Unreadable;
use dormouse_upstream::without_blocking;
use hyper::body::Incoming;
use hyper::header::CONTENT_LENGTH;
use hyper::http::request::Parts;
use hyper::{HeaderMap, Request, StatusCode};

use super::answers::answer::{self, AnswerResources, Response};
use super::bodies::BodyError;
use super::connections::HttpConnection;
use super::endpoint::{EVENTS, HttpEndpoint, session_id};
use super::era::{self, RequestEra};
use super::header::{accepts, content_type};
use super::repeated_headers::header_arguments;
use crate::mcp::client::client_log;
use crate::mcp::messages::client_message::{ClientMessage, unreadable};
use crate::mcp::messages::client_request::{ClientRequest, Original, id_of};
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::message_room::{NoMessageRoom, TakenRoom};
use crate::mcp::methods::listen;

/// Facts of a message that was posted, besides the message.
pub(super) struct PostHead<'a> {
    pub(super) connection: &'a HttpConnection,
    pub(super) headers: &'a HeaderMap,
    /// Profile that the path names.
    pub(super) profile: Option<&'a Arc<str>>,
    /// Whether it came together with others.
    pub(super) is_of_batch: bool,
}

impl PostHead<'_> {
    /// Returns the name of the profile in the path.
    pub(super) fn profile(&self) -> Option<&str> {
        self.profile.map(AsRef::as_ref)
    }
}

impl HttpEndpoint {
    /// Answers what a client has posted: a message, or a batch of them.
    pub(super) async fn post(
        &self,
        connection: &HttpConnection,
        request: Request<Incoming>,
        profile: Option<Arc<str>>,
    ) -> Result<Response, Box<Response>> {
        let (Parts { headers, .. }, body) = request.into_parts();
        if !content_type(&headers).eq_ignore_ascii_case("application/json") {
            let message = "the `Content-Type` has to be `application/json`\n";
            let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
            return Err(Box::new(answer::text(status, message)));
        }
        let body = self.read(&headers, body).await?;
        let head = PostHead {
            connection,
            headers: &headers,
            profile: profile.as_ref(),
            is_of_batch: false,
        };
        let text = text(&body);
        self.check_profile(head.profile(), || {
            let read = |text: &str| ClientMessage::read(text).ok()?.request_id().cloned();
            without_blocking(body.len(), || read(text.as_ref().ok()?))
        })?;
        let text = text.map_err(|error| answer::bad_request(None, &error))?;
        let may_be_batch = text.trim_start().starts_with('[');
        let batch = may_be_batch
            .then(|| self.batch(&head, &body, text))
            .flatten();
        match batch {
            Some(batch) => Ok(self.together(&head, batch?).await),
            None => {
                let read = without_blocking(text.len(), || ClientMessage::read(text));
                self.message(&head, body.clone(), read).await
            }
        }
    }

    /// Answers one message, which was read from that body.
    pub(super) async fn message(
        &self,
        head: &PostHead<'_>,
        body: Bytes,
        read: Result<ClientMessage<'_>, Box<Unreadable<'_>>>,
    ) -> Result<Response, Box<Response>> {
        let headers = head.headers;
        let message = read.map_err(|refused| {
            let id = refused.id.as_ref().and_then(id_of);
            answer::bad_request(id.as_ref(), &unreadable(&refused.error))
        })?;
        if !["application/json", EVENTS]
            .into_iter()
            .all(|kind| accepts(headers, kind))
        {
            let why = "a client has to accept both `application/json` and `text/event-stream`\n";
            return Err(Box::new(answer::text(StatusCode::NOT_ACCEPTABLE, why)));
        }
        let refuse = |error: ErrorObject| answer::bad_request(None, &error);
        match message {
            ClientMessage::Request { id, method, params } => {
                if self.stopping.is_cancelled() {
                    return Err(answer::busy(&id, "this server is stopping"));
                }
                let tracker = match method == listen::METHOD {
                    true => &self.listening,
                    false => &self.running,
                };
                let mut held = AnswerResources {
                    busy: head.connection.busy(),
                    _running: Some(tracker.token()),
                };
                if method == listen::METHOD {
                    held.busy.listens();
                }
                let read = || {
                    let original = Original::new(body);
                    let room = TakenRoom::default();
                    ClientRequest::read(id.clone(), &method, params, original, &room)
                };
                let request = without_blocking(params.map_or(0, str::len), read);
                let request = request.map_err(|error| answer::bad_request(Some(&id), &error))?;
                let answered = self.request(request, head).await?;
                Ok(answer::hold(answered, held))
            }
            ClientMessage::Notification { method, content } => {
                let has_session = era::has_session(headers).map_err(refuse)?;
                era::check_notification(&method, headers).map_err(refuse)?;
                if has_session {
                    let agent = self.agent(headers, head.profile())?;
                    content.iter().for_each(|content| agent.notified(content));
                }
                Ok(answer::empty(StatusCode::ACCEPTED))
            }
            ClientMessage::Response(id, outcome) => {
                if !era::has_session(headers).map_err(refuse)? {
                    let why = "a client of this version is asked nothing that it could answer";
                    return Err(refuse(ErrorObject::invalid_request(why)));
                }
                let agent = self.agent(headers, head.profile())?;
                if let Some(id) = id {
                    agent.session.questions.answered(&id, outcome);
                }
                Ok(answer::empty(StatusCode::ACCEPTED))
            }
        }
    }

    async fn request(
        &self,
        request: ClientRequest,
        head: &PostHead<'_>,
    ) -> Result<Response, Box<Response>> {
        let headers = head.headers;
        tracing::trace!(id = %request.id, method = request.method, "a request has come");
        let wanted = |name: &str| {
            let snapshot = self.common.roster.view(head.profile());
            header_arguments(&snapshot, name)
        };
        let era = era::of_request(&request, headers, wanted);
        match era.map_err(|error| answer::bad_request(Some(&request.id), &error))? {
            // What waits there is large: a box is moved in no time.
            RequestEra::Stateless(terms) => {
                Ok(Box::pin(self.stateless(request, terms, head)).await)
            }
            RequestEra::Session => {
                if request.method == "initialize" && session_id(headers).is_none() {
                    return self.open_session(&request, head.profile);
                }
                let agent = self.agent(headers, head.profile())?;
                Box::pin(self.in_session(agent, request, head)).await
            }
        }
    }

    /// Reads the whole body, if it may be taken.
    async fn read(&self, headers: &HeaderMap, body: Incoming) -> Result<Bytes, Box<Response>> {
        let length = headers
            .get(CONTENT_LENGTH)
            .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        let read = self.bodies.read(body, length).await;
        read.map_err(|error| {
            let status = match error {
                BodyError::TooLong(_) | BodyError::NoRoom(NoMessageRoom::Ever(_)) => {
                    StatusCode::PAYLOAD_TOO_LARGE
                }
                BodyError::Broken(_) => StatusCode::BAD_REQUEST,
                BodyError::Slow(_) => StatusCode::REQUEST_TIMEOUT,
                BodyError::NoRoom(NoMessageRoom::Now(_)) => StatusCode::SERVICE_UNAVAILABLE,
            };
            let response = answer::text(status, format!("{error}\n"));
            if let BodyError::NoRoom(no_room) = &error {
                client_log::warn(&format!("a request was refused: {no_room}"));
            }
            Box::new(match error {
                BodyError::NoRoom(NoMessageRoom::Now(_)) => answer::retried_soon(response),
                _ => response,
            })
        })
    }
}

/// Returns the text of a body.
///
/// # Errors
/// It is not UTF-8; with the error to answer.
fn text(body: &[u8]) -> Result<&str, ErrorObject> {
    std::str::from_utf8(body)
        .map_err(|error| ErrorObject::parse_error(format!("the body is not UTF-8: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_utf8() {
        assert_eq!(text(b"\"\xff\"").unwrap_err().code.0, -32700);
        assert_eq!(text(b"{}").unwrap(), "{}");
    }
}
