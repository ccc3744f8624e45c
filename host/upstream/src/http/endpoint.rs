//! HTTP endpoint of one upstream, with the secrets that are sent there and to nobody else.

mod requests;

use std::sync::{Arc, Once};

use dormouse_egress::shown_url;
use dormouse_launch::{Http, Launch, is_header_byte};
use reqwest::header::{CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, TRANSFER_ENCODING};
use reqwest::{Response, Url};
use serde_json::value::RawValue;

pub(super) use requests::EndpointRequest;

use super::Credentials;
use super::event::ReceivedEvent;
use super::headers;
use super::message::{ReceivedMessages, reading_error};
use crate::Lost;
use crate::messages::read_room::ReadRoom;
use crate::server_secrets::ServerSecrets;

/// An endpoint as it is configured.
pub(super) struct UpstreamEndpoint {
    url: Url,
    /// The entry's own headers, for the URL's origin only.
    headers: HeaderMap,
    auth: Option<Arc<dyn Credentials>>,
    /// Secrets that must not be shown.
    secrets: Arc<ServerSecrets>,
    /// Whether logins there are off.
    off: bool,
    /// Done once it is logged that there are events which are no messages.
    odd_events: Once,
    large_batches: Once,
    /// Room for its messages that are not whole yet.
    pub(super) read_room: ReadRoom,
}

/// A session, which is worth as much as a password.
#[derive(Debug, Clone)]
pub(super) struct EndpointSession {
    /// Its id (`Mcp-Session-Id`).
    pub(super) id: HeaderValue,
    /// The origin that has opened it.
    origin: String,
}

impl UpstreamEndpoint {
    /// Reads the URL and the headers of an entry. Nothing is connected to.
    ///
    /// # Errors
    /// The URL or a header is not valid.
    pub(super) fn new(
        http: &Http,
        auth: Option<Arc<dyn Credentials>>,
        room: &ReadRoom,
    ) -> Result<Self, Lost> {
        let url = Url::parse(&http.url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        let Some(url) = url else {
            return Err(Lost::Broken(
                "the URL is none that can be connected to\n\
                 hint: it starts with `http://` or `https://` and names a host, like `https://example.com/mcp`"
                    .to_owned(),
            ));
        };
        let mut headers = HeaderMap::new();
        for (name, value) in &http.headers {
            let Ok(key) = HeaderName::try_from(name.as_str()) else {
                // Some write the whole header there, with its value.
                let end = name.bytes().position(|byte| !is_header_byte(byte));
                let begins = name.get(..end.unwrap_or(name.len())).unwrap_or_default();
                return Err(Lost::Broken(format!(
                    "what begins with `{begins}` cannot be the name of an HTTP header\n\
                     hint: letters, digits and hyphens make one"
                )));
            };
            let Ok(mut value) = HeaderValue::try_from(value.expose()) else {
                return Err(Lost::Broken(format!(
                    "the value of the header `{name}` holds what no header may\n\
                     hint: look for a line break in it"
                )));
            };
            value.set_sensitive(true);
            // How long the body is, is ours to say.
            if key != CONTENT_LENGTH && key != TRANSFER_ENCODING {
                headers.append(key, value);
            }
        }
        let secrets = match &auth {
            Some(auth) => auth.secrets(),
            None => ServerSecrets::new(
                url.host_str().unwrap_or_default(),
                &Launch::Http(http.clone()),
            ),
        };
        Ok(Self {
            url,
            headers,
            auth: auth.filter(|_| !http.oauth.off),
            secrets,
            off: http.oauth.off,
            odd_events: Once::new(),
            large_batches: Once::new(),
            read_room: room.clone(),
        })
    }

    /// Returns the URL that is configured.
    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Returns the messages in an event. Junk between the messages is no reason to lose those
    /// around it, and is logged once for a connection.
    pub(super) fn messages(&self, event: ReceivedEvent) -> Vec<Box<RawValue>> {
        let messages = event
            .messages(self.read_room.batch_messages())
            .unwrap_or_else(|why| {
                self.odd_events.call_once(|| {
                    let (shown, why) = (self.redact(&shown_url(&self.url)), reading_error(&why));
                    tracing::warn!(
                        "`{shown}` sends events that are no messages, which are ignored: {why}"
                    );
                });
                ReceivedMessages::default()
            });
        self.taken(messages)
    }

    /// Returns the messages that are taken of a batch. That there were more is logged once for a
    /// connection.
    pub(super) fn taken(&self, messages: ReceivedMessages) -> Vec<Box<RawValue>> {
        if messages.left_out > 0 {
            self.large_batches.call_once(|| {
                let most = self.read_room.batch_messages();
                let shown = self.redact(&shown_url(&self.url));
                tracing::warn!(
                    "`{shown}` sends more than {most} messages as one; the rest is ignored \
                     (`batch` in its `limits` says how many are taken)"
                );
            });
        }
        messages.messages
    }

    /// Returns the session that an answer opens, if it does.
    pub(super) fn session(response: &Response) -> Option<EndpointSession> {
        let mut id = response.headers().get(headers::SESSION)?.clone();
        id.set_sensitive(true);
        let origin = response.url().origin().ascii_serialization();
        Some(EndpointSession { id, origin })
    }

    /// Returns the error without secrets of this entry.
    pub(super) fn redacted(&self, lost: Lost) -> Lost {
        match lost {
            Lost::Broken(why) => Lost::Broken(self.redact(&why)),
            // What says where to log in is read, and shown to nobody.
            lost => lost,
        }
    }

    /// Takes this entry's secrets out of a server's text, should the server have repeated one of
    /// them.
    pub(super) fn redact(&self, text: &str) -> String {
        self.secrets.redact(text)
    }
}

#[cfg(test)]
mod tests {
    use dormouse_launch::Secret;

    use super::*;

    #[test]
    fn an_entry_that_leads_nowhere_says_so_without_its_secrets() {
        for url in [
            "",
            "example.com/mcp",
            "ftp://example.com/",
            "http://",
            "file:///x",
            "mailto:a@b",
        ] {
            let http = Http {
                url: url.to_owned(),
                ..Http::default()
            };
            assert!(
                matches!(UpstreamEndpoint::new(&http, None, &ReadRoom::default()), Err(Lost::Broken(why)) if why.contains("hint:")),
                "{url}"
            );
        }
        // Of a name only as much is told as can be one: people write whole headers there.
        for (name, value, told) in [
            ("a b", "secret", "`a`"),
            ("a: secret", "b", "`a`"),
            ("X-Key", "secret\nX: y", "`X-Key`"),
        ] {
            let http = Http {
                url: "http://localhost/".to_owned(),
                headers: [(name.to_owned(), Secret::new(value))].into(),
                ..Http::default()
            };
            let Err(Lost::Broken(why)) = UpstreamEndpoint::new(&http, None, &ReadRoom::default())
            else {
                panic!("{name}");
            };
            assert!(why.contains(told) && !why.contains("secret"), "{why}");
        }
    }
}
