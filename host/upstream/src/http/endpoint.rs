//! HTTP endpoint of one upstream, with the secrets that are sent there and to nobody else.

use std::sync::{Arc, Once};
use std::time::Duration;

use bytes::Bytes;
use dormouse_egress::{Reach, causes, client, redirect_target, shown_url};
use dormouse_launch::{Http, Launch, is_header_byte};
use reqwest::header::{
    AUTHORIZATION, CONTENT_LENGTH, HeaderMap, HeaderName, HeaderValue, LOCATION, TRANSFER_ENCODING,
    WWW_AUTHENTICATE,
};
use reqwest::{Method, Response, StatusCode, Url};
use serde_json::value::RawValue;

use super::Credentials;
use super::events::Event;
use super::headers;
use super::message::{Messages, excerpt};
use super::reading_threads::on_reading_thread;
use crate::Lost;
use crate::messages::read_room::ReadRoom;
use crate::server_secrets::ServerSecrets;

/// Most redirects that a request follows.
const REDIRECTS: usize = 5;

/// An endpoint as it is configured.
pub(super) struct Endpoint {
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

/// Request to an endpoint.
pub(super) struct Ask<'a> {
    pub(super) method: Method,
    /// URL that the server has named; the configured one, if none.
    pub(super) url: Option<&'a Url>,
    /// Headers that the protocol wants. They hold no secret.
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// Session, which only the origin that has opened it is sent.
    pub(super) session: Option<&'a Session>,
    /// Time that the first bytes of the answer may take; any, if none.
    pub(super) patience: Option<Duration>,
}

/// A session, which is worth as much as a password.
#[derive(Debug, Clone)]
pub(super) struct Session {
    /// Its id (`Mcp-Session-Id`).
    pub(super) id: HeaderValue,
    /// The origin that has opened it.
    origin: String,
}

impl Endpoint {
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
    pub(super) fn messages(&self, event: Event) -> Vec<Box<RawValue>> {
        let messages = event
            .messages(self.read_room.batch_messages())
            .unwrap_or_else(|why| {
                self.odd_events.call_once(|| {
                    let (shown, why) = (self.redact(&shown_url(&self.url)), excerpt(&why));
                    tracing::warn!(
                        "`{shown}` sends events that are no messages, which are ignored: {why}"
                    );
                });
                Messages::default()
            });
        self.taken(messages)
    }

    /// Returns the messages that are taken of a batch. That there were more is logged once for a
    /// connection.
    pub(super) fn taken(&self, messages: Messages) -> Vec<Box<RawValue>> {
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

    /// Sends a request, follows redirects, and sends it once more with another token where the
    /// upstream refuses the first. Returns any answer but a redirect that can be followed and a
    /// wish for a login.
    ///
    /// # Errors
    /// There is no answer, or [`Lost::Auth`].
    pub(super) async fn ask(&self, ask: &Ask<'_>) -> Result<Response, Lost> {
        let mut again = true;
        loop {
            let response = self.follow(ask).await?;
            let challenge = challenge(response.headers());
            let refused = match response.status() {
                StatusCode::UNAUTHORIZED => true,
                StatusCode::FORBIDDEN => challenge
                    .as_deref()
                    .is_some_and(|text| text.contains("insufficient_scope")),
                _ => false,
            };
            if !refused {
                return Ok(response);
            }
            if !self.is_ours(response.url()) {
                // To log in there would be to tell a stranger who the user is.
                return Err(Lost::Broken(format!(
                    "`{}` redirects to `{}`, which wants a login\n\
                     hint: if you trust it, configure that URL",
                    shown_url(&self.url),
                    shown_url(response.url())
                )));
            }
            if self.off {
                return Err(Lost::Broken(format!(
                    "`{}` wants a login ({}), which is off for it (`oauth = false`)\n\
                     hint: put its key into `headers` of the server, or remove `oauth`",
                    shown_url(&self.url),
                    response.status().as_u16()
                )));
            }
            if let Some(auth) = &self.auth
                && std::mem::take(&mut again)
                && auth.rejected(challenge.as_deref()).await?
            {
                continue;
            }
            return Err(Lost::Auth { challenge });
        }
    }

    /// Returns the session that an answer opens, if it does.
    pub(super) fn session(response: &Response) -> Option<Session> {
        let mut id = response.headers().get(headers::SESSION)?.clone();
        id.set_sensitive(true);
        let origin = response.url().origin().ascii_serialization();
        Some(Session { id, origin })
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

    fn is_ours(&self, url: &Url) -> bool {
        url.origin() == self.url.origin()
    }

    async fn follow(&self, ask: &Ask<'_>) -> Result<Response, Lost> {
        let mut url = ask.url.unwrap_or(&self.url).clone();
        // What it names before it has answered leads to the internet, or to its own kind.
        let mut reach = Reach::of_named_by(&self.url, None);
        for _ in 0..=REDIRECTS {
            let ours = self.is_ours(&url);
            let within = if ours { Reach::Configured } else { reach };
            let response = self.once(ask, &url, within).await?;
            if ours {
                let peer = response.remote_addr().map(|peer| peer.ip());
                reach = Reach::of_named_by(&self.url, peer);
            }
            let status = response.status();
            // 303 would have us fetch a page instead of saying what we came to say;
            // the others are followed as the request that it is, because a POST that
            // turns into a GET is no use to anybody here.
            let followed = matches!(status.as_u16(), 301 | 302 | 307 | 308);
            let location = response.headers().get(LOCATION);
            let Some(location) = location.filter(|_| followed) else {
                return Ok(response);
            };
            url = redirect_target(&url, location)?;
        }
        Err(Lost::Broken(format!(
            "`{}` redirects more than {REDIRECTS} times, at last to `{}`",
            shown_url(&self.url),
            shown_url(&url)
        )))
    }

    async fn once(&self, ask: &Ask<'_>, url: &Url, reach: Reach) -> Result<Response, Lost> {
        let client = client(url, reach)?;
        // This turns a user name and password of the URL into the header that they stand for.
        // In the URL they would be logged by whoever makes the connection.
        let request = client.request(ask.method.clone(), url.clone()).build();
        let mut request = request.map_err(|error| Lost::Broken(causes(error)))?;
        let headers = request.headers_mut();
        if self.is_ours(url) {
            headers.extend(self.headers.clone());
            // What the user has written down himself goes before what was found out.
            if !headers.contains_key(AUTHORIZATION)
                && let Some(auth) = &self.auth
                && let Some(token) = auth.bearer().await?
            {
                let value = format!("Bearer {}", token.expose());
                let Ok(mut value) = HeaderValue::try_from(value) else {
                    return Err(Lost::Broken(
                        "the token holds what no header may".to_owned(),
                    ));
                };
                value.set_sensitive(true);
                headers.insert(AUTHORIZATION, value);
            }
        }
        for (name, value) in &ask.headers {
            headers.insert(name, value.clone());
        }
        if let Some(session) = ask.session
            && session.origin == url.origin().ascii_serialization()
        {
            headers.insert(headers::SESSION, session.id.clone());
        }
        if ask.method == Method::POST {
            *request.body_mut() = Some(ask.body.clone().into());
        }
        let sent = on_reading_thread(self.secrets.server(), client.execute(request));
        let answer = match ask.patience {
            Some(patience) => tokio::time::timeout(patience, sent).await.map_err(|_| {
                Lost::Broken(format!(
                    "`{}` has not answered within {} s",
                    shown_url(url),
                    patience.as_secs()
                ))
            })?,
            None => sent.await,
        };
        answer.map_err(|error| {
            let connecting = error.is_connect();
            let causes = causes(error);
            let hint = match connecting {
                true if causes.contains("certificate") => {
                    "\nhint: if an authority of your own has signed it, name a file with that authority's certificate in `SSL_CERT_FILE`"
                }
                true => "\nhint: check the URL, and that the server runs",
                false => "",
            };
            let what = match connecting {
                true => "cannot be reached",
                false => "has not answered",
            };
            Lost::Broken(format!("`{}` {what}: {causes}{hint}", shown_url(url)))
        })
    }
}

/// Returns the challenge that says how to log in: the one for bearer tokens, if there are several.
fn challenge(headers: &HeaderMap) -> Option<String> {
    let all = || {
        let values = headers.get_all(WWW_AUTHENTICATE).iter();
        values.filter_map(|value| value.to_str().ok())
    };
    let bearer = |text: &&str| text.to_ascii_lowercase().contains("bearer");
    all()
        .find(bearer)
        .or_else(|| all().next())
        .map(str::to_owned)
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
                matches!(Endpoint::new(&http, None, &ReadRoom::default()), Err(Lost::Broken(why)) if why.contains("hint:")),
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
            let Err(Lost::Broken(why)) = Endpoint::new(&http, None, &ReadRoom::default()) else {
                panic!("{name}");
            };
            assert!(why.contains(told) && !why.contains("secret"), "{why}");
        }
    }
}
