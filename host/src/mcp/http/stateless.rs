//! Requests of the era without a handshake. Each is answered by one message of JSON, or by a stream of
//! events where something is said before its answer.

use std::collections::VecDeque;
use std::sync::Arc;

use dormouse_protocol::{Answer, AskError, Question};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use hyper::StatusCode;
use rmcp::model::{ErrorCode, RequestId};
use tokio::sync::mpsc;

use super::answers::answer;
use super::answers::answer::Response;
use super::answers::answer_room::ClientAnswerRoom;
use super::answers::written::{WrittenMessage, written};
use super::endpoint::HttpEndpoint;
use super::post::PostHead;
use crate::mcp::client::client_connection::{ClientConnection, Disconnected, Notification};
use crate::mcp::lifecycle::Terms;
use crate::mcp::messages::client_request::ClientRequest;
use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::request_context::client_name;

type Answered = Result<Answer, ErrorObject>;

/// Connection to the client of one request, for the events before its answer.
struct RequestStream {
    messages: mpsc::Sender<WrittenMessage>,
    room: ClientAnswerRoom,
}

impl ClientConnection for RequestStream {
    fn notify(&self, notification: Notification) -> BoxFuture<'_, Result<usize, Disconnected>> {
        let Some(message) = WrittenMessage::notification(notification, &self.room) else {
            return std::future::ready(Ok(0)).boxed();
        };
        let bytes = message.len();
        let sent = self.messages.send(message);
        async move { sent.await.map(|()| bytes).map_err(|_| Disconnected) }.boxed()
    }

    /// Fails: a client of this era is asked by the answer to its request.
    fn request<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, AskError>> {
        let why = "nobody can be asked while a request is answered";
        std::future::ready(Err(AskError::Failed(why.to_owned()))).boxed()
    }
}

/// The messages of one request, the last of which is its answer.
struct RequestMessages {
    id: RequestId,
    /// The request's work. When its client goes, this is dropped, and the call with it.
    work: BoxFuture<'static, Answered>,
    said: mpsc::Receiver<WrittenMessage>,
    /// Messages that are there, and go out next.
    next: VecDeque<WrittenMessage>,
    has_ended: bool,
    room: ClientAnswerRoom,
}

impl RequestMessages {
    /// Ends the stream with the answer, behind what was said before it.
    fn end(&mut self, answered: Answered) {
        while let Ok(message) = self.said.try_recv() {
            self.next.push_back(message);
        }
        let answer = WrittenMessage::answer(&self.id, answered, &self.room);
        self.next.push_back(answer);
        self.has_ended = true;
    }

    /// Returns the next message; none at the end.
    async fn next(&mut self) -> Option<WrittenMessage> {
        loop {
            if let Some(message) = self.next.pop_front() {
                return Some(message);
            }
            if self.has_ended {
                return None;
            }
            tokio::select! {
                biased;
                Some(message) = self.said.recv() => return Some(message),
                answered = &mut self.work => self.end(answered),
            }
        }
    }
}

impl HttpEndpoint {
    /// Answers a request that is complete by itself.
    pub(super) async fn stateless(
        &self,
        request: ClientRequest,
        terms: Box<Terms>,
        head: &PostHead<'_>,
    ) -> Response {
        let host = self.host(head.profile);
        let (messages, said) = mpsc::channel(1);
        let id = request.id.clone();
        let room = self.answers.of_client(client_name(&request.meta));
        let room = room.counting_short(head.is_of_batch);
        let connection: Arc<dyn ClientConnection> = Arc::new(RequestStream {
            messages,
            room: room.clone(),
        });
        let work = async move { host.answer_request(request, &terms, connection).await };
        let mut messages = RequestMessages {
            id,
            work: work.boxed(),
            said,
            next: VecDeque::new(),
            has_ended: false,
            room,
        };
        tokio::select! {
            biased;
            answered = &mut messages.work => {
                let Ok(message) = messages.said.try_recv() else {
                    let status = status(&answered);
                    return written(status, &messages.id, answered, &messages.room);
                };
                messages.next.push_back(message);
                messages.end(answered);
            }
            Some(message) = messages.said.recv() => messages.next.push_back(message),
        }
        let events = stream::unfold(messages, |mut messages| async move {
            let message = messages.next().await?;
            Some((message.into(), messages))
        });
        answer::events(events.boxed())
    }
}

fn status(answered: &Answered) -> StatusCode {
    match answered.as_ref() {
        // Servers have no say in that.
        Err(error) if error.is_of_server => StatusCode::OK,
        Err(error) => match error.code {
            ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY => StatusCode::BAD_REQUEST,
            ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
            _ => StatusCode::OK,
        },
        Ok(_) => StatusCode::OK,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_server_chooses_the_status_of_an_answer() {
        let not_found = ErrorCode::METHOD_NOT_FOUND;
        let ours = ErrorObject::new(not_found, "no");
        assert_eq!(status(&Err(ours)), StatusCode::NOT_FOUND);
        let of_server = ErrorObject::of_server(not_found.0.into(), "no".to_owned(), None);
        assert_eq!(of_server.code, not_found);
        assert_eq!(status(&Err(of_server)), StatusCode::OK);
    }
}
