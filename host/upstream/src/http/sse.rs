//! HTTP with server-sent events (2024-11-05): one stream for all messages of the server, whose
//! first event has the URL that messages are posted to.

use std::sync::Arc;

use bytes::Bytes;
use dormouse_egress::shown_url;
use reqwest::{Method, StatusCode, Url};

use super::body::{self, BodyKind};
use super::endpoint::EndpointRequest;
use super::events::ReceivedEvents;
use super::{Inbox, RESPONSE_HEAD_TIMEOUT, UpstreamEndpoint, headers, message, unexpected};
use crate::Lost;
use crate::messages::channel::{Outgoing, ReceivedMessage};

/// A connection over the old transport. It lasts as long as its stream.
pub(super) struct Sse {
    server: Arc<UpstreamEndpoint>,
    inbox: Arc<Inbox>,
    /// URL that messages are posted to.
    endpoint: Url,
}

impl Sse {
    /// Opens the stream and waits for its first event.
    ///
    /// # Errors
    /// There is no such stream, or it does not begin as it has to.
    pub(super) async fn open(
        server: Arc<UpstreamEndpoint>,
        inbox: Arc<Inbox>,
    ) -> Result<Self, Lost> {
        let shown = shown_url(server.url());
        let late = |_| {
            let seconds = RESPONSE_HEAD_TIMEOUT.as_secs();
            Lost::Broken(format!(
                "`{shown}` has not said within {seconds} s where messages are posted"
            ))
        };
        let (events, endpoint) = tokio::time::timeout(RESPONSE_HEAD_TIMEOUT, begin(&server))
            .await
            .map_err(late)??;
        let sse = Self {
            server,
            inbox,
            endpoint,
        };
        let (server, inbox) = (Arc::clone(&sse.server), Arc::clone(&sse.inbox));
        tokio::spawn(async move {
            let why = tokio::select! {
                biased;
                () = inbox.ended() => return,
                why = read(events, &server, &inbox) => why,
            };
            inbox.close(&format!("the stream of `{shown}` has ended: {why}"));
        });
        Ok(sse)
    }

    /// Posts a message; answers come on the stream.
    pub(super) async fn post(&self, message: &Outgoing) -> Result<(), Lost> {
        let ask = EndpointRequest {
            method: Method::POST,
            url: Some(&self.endpoint),
            headers: headers::of_post(message),
            body: Bytes::from(message.text.clone()),
            session: None,
            // Most servers take a request at once, and some not before it is done.
            patience: message.id.is_none().then_some(RESPONSE_HEAD_TIMEOUT),
        };
        let response = self.server.ask(&ask).await?;
        let status = response.status();
        if status.is_success() {
            // Most say `Accepted` here; it means nothing.
            body::explanation(response).await;
            return Ok(());
        }
        let (why, body) = unexpected(&self.server, response).await;
        if status == StatusCode::NOT_FOUND {
            // The endpoint was made for this very connection.
            return Err(Lost::Session);
        }
        match message::refusal(&body, message.id).and_then(|refusal| refusal.answer) {
            Some(answer) => self.inbox.put(ReceivedMessage::new(answer)).await,
            None => Err(Lost::Broken(why)),
        }
    }
}

async fn begin(server: &UpstreamEndpoint) -> Result<(ReceivedEvents, Url), Lost> {
    let ask = EndpointRequest {
        headers: headers::of_get(None, None),
        ..EndpointRequest::default()
    };
    let (response, is_of_configured_origin) = server.ask_with_origin(&ask).await?;
    if !response.status().is_success() || body::kind(&response) != BodyKind::Events {
        return Err(Lost::Broken(unexpected(server, response).await.0));
    }
    let base = response.url().clone();
    let shown = shown_url(&base);
    if !is_of_configured_origin {
        // Whoever is redirected to would have messages posted with the server's secrets to a path of
        // its own choice.
        return Err(Lost::Broken(format!(
            "`{}` redirects over another origin to `{shown}`, which may not say where messages are \
             posted\nhint: if you trust it, configure that URL",
            shown_url(server.url())
        )));
    }
    let mut events = ReceivedEvents::new(response, &server.read_room);
    loop {
        let event = match events.next().await {
            Ok(Some(event)) => event,
            Ok(None) => {
                return Err(Lost::Broken(format!(
                    "the stream of `{shown}` has ended at once"
                )));
            }
            Err(cut) => {
                let why = format!("the stream of `{shown}` has ended: {cut}");
                return Err(Lost::Broken(why));
            }
        };
        if event.kind != "endpoint" {
            continue;
        }
        let endpoint = base.join(event.data.trim()).ok();
        // A message holds what the user has said, and secrets go along with it: no
        // server has a say in whom they are sent to.
        return match endpoint.filter(|url| url.origin() == server.url().origin()) {
            Some(endpoint) => Ok((events, endpoint)),
            None => Err(Lost::Broken(format!(
                "`{shown}` wants messages posted to `{}`, which is not at `{}`\n\
                 hint: configure the URL that the server really has",
                message::excerpt(&server.redact(&event.data)),
                server.url().origin().ascii_serialization()
            ))),
        };
    }
}

/// Reads the stream to its end. Returns words for how it has ended.
async fn read(mut events: ReceivedEvents, server: &UpstreamEndpoint, inbox: &Inbox) -> String {
    loop {
        match events.next().await {
            Ok(Some(event)) => {
                for message in server.messages(event) {
                    if inbox.put(ReceivedMessage::new(message)).await.is_err() {
                        return "nobody listens".to_owned();
                    }
                }
            }
            Ok(None) => return "the server has closed it".to_owned(),
            Err(cut) => return cut.to_string(),
        }
    }
}
