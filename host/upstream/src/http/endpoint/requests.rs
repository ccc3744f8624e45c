//! Requests to an endpoint, with its secrets, wherever they are redirected to.

use std::time::Duration;

use bytes::Bytes;
use dormouse_egress::{
    Reach, causes, client, on_upstream_reading_thread, redirect_target, shown_url,
};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue, LOCATION, WWW_AUTHENTICATE};
use reqwest::{Method, Response, StatusCode, Url};

use super::{EndpointSession, UpstreamEndpoint};
use crate::Lost;
use crate::http::headers;

/// Most redirects that a request follows.
const REDIRECTS: usize = 5;

/// Request to an endpoint: a GET, unless said otherwise.
#[derive(Default)]
pub(in crate::http) struct EndpointRequest<'a> {
    pub(in crate::http) method: Method,
    /// URL that the server has named; the configured one, if none.
    pub(in crate::http) url: Option<&'a Url>,
    /// Headers that the protocol wants. They hold no secret.
    pub(in crate::http) headers: HeaderMap,
    pub(in crate::http) body: Bytes,
    /// Session, which only the origin that has opened it is sent.
    pub(in crate::http) session: Option<&'a EndpointSession>,
    /// Time that the first bytes of the answer may take; any, if none.
    pub(in crate::http) patience: Option<Duration>,
}

impl UpstreamEndpoint {
    /// Sends a request, follows redirects, and sends it once more with another token where the
    /// upstream refuses the first. Returns any answer but a redirect that can be followed and a
    /// wish for a login.
    ///
    /// # Errors
    /// There is no answer, or [`Lost::Auth`].
    pub(in crate::http) async fn ask(&self, ask: &EndpointRequest<'_>) -> Result<Response, Lost> {
        let (response, _) = self.ask_with_origin(ask).await?;
        Ok(response)
    }

    /// Does the same as [`ask`](Self::ask), and returns whether the answer and all redirects to it were
    /// of the configured origin.
    ///
    /// # Errors
    /// The errors of [`ask`](Self::ask).
    pub(in crate::http) async fn ask_with_origin(
        &self,
        ask: &EndpointRequest<'_>,
    ) -> Result<(Response, bool), Lost> {
        let mut again = true;
        loop {
            let (response, is_of_configured_origin) = self.follow(ask).await?;
            let challenge = challenge(response.headers());
            let refused = match response.status() {
                StatusCode::UNAUTHORIZED => true,
                StatusCode::FORBIDDEN => challenge
                    .as_deref()
                    .is_some_and(|text| text.contains("insufficient_scope")),
                _ => false,
            };
            if !refused {
                return Ok((response, is_of_configured_origin));
            }
            if !is_of_configured_origin {
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

    fn is_ours(&self, url: &Url) -> bool {
        url.origin() == self.url.origin()
    }

    /// Sends a request, and follows redirects. Returns whether all of these were of the configured origin:
    /// what has gone to another origin is given no secret from then on, wherever that leads.
    async fn follow(&self, ask: &EndpointRequest<'_>) -> Result<(Response, bool), Lost> {
        let (mut is_of_configured_origin, mut session) = (true, ask.session);
        let mut url = ask.url.unwrap_or(&self.url).clone();
        // What it names before it has answered leads to the internet, or to its own kind.
        let mut reach = Reach::of_named_by(&self.url, None);
        for _ in 0..=REDIRECTS {
            is_of_configured_origin &= self.is_ours(&url);
            let within = if is_of_configured_origin {
                Reach::Configured
            } else {
                reach
            };
            let response = self
                .once(ask, &url, within, session, is_of_configured_origin)
                .await?;
            if is_of_configured_origin {
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
                return Ok((response, is_of_configured_origin));
            };
            let next = redirect_target(&url, location)?;
            // The same of a session: it is for the way to its origin, and for none that comes from there.
            let is_of = |session: &EndpointSession, url: &Url| {
                session.origin == url.origin().ascii_serialization()
            };
            session = session.filter(|session| !is_of(session, &url) || is_of(session, &next));
            url = next;
        }
        Err(Lost::Broken(format!(
            "`{}` redirects more than {REDIRECTS} times, at last to `{}`",
            shown_url(&self.url),
            shown_url(&url)
        )))
    }

    async fn once(
        &self,
        ask: &EndpointRequest<'_>,
        url: &Url,
        reach: Reach,
        session: Option<&EndpointSession>,
        has_secrets: bool,
    ) -> Result<Response, Lost> {
        let client = client(url, reach)?;
        // This turns a user name and password of the URL into the header that they stand for.
        // In the URL they would be logged by whoever makes the connection.
        let request = client.request(ask.method.clone(), url.clone()).build();
        let mut request = request.map_err(|error| Lost::Broken(causes(error)))?;
        let headers = request.headers_mut();
        if has_secrets {
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
        if let Some(session) = session
            && session.origin == url.origin().ascii_serialization()
        {
            headers.insert(headers::SESSION, session.id.clone());
        }
        if ask.method == Method::POST {
            *request.body_mut() = Some(ask.body.clone().into());
        }
        let sent = on_upstream_reading_thread(self.secrets.server(), client.execute(request));
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
