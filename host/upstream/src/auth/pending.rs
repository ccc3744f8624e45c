//! A login that waits for its user.

use std::sync::Arc;
use std::time::Duration;

use dormouse_egress::on_upstream_reading_thread;
use dormouse_launch::{Http, Redirect};
use reqwest::Url;
use tokio::sync::{Mutex, mpsc, oneshot, watch};

use super::LoginFailure;
use super::callback::{Arrival, Callback, RedirectOutcome};
use super::error_text::shown;
use super::server::Attempt;
use super::store::LoginStore;
use crate::server_secrets::ServerSecrets;

/// Time for which the link of a login is valid.
pub(super) const LIFE: Duration = Duration::from_secs(600);

/// Login that waits for its user to follow a link. It goes on by itself, also if nobody waits for
/// it, until they have, or for ten minutes.
pub struct PendingLogin {
    id: String,
    url: String,
    link: String,
    host_elsewhere: Option<String>,
    arrivals: mpsc::Sender<Arrival>,
    outcome: watch::Receiver<Option<Result<(), LoginFailure>>>,
    /// Ends the login when something is sent.
    decline: mpsc::Sender<()>,
    /// Held by the caller whose user is being asked.
    pub(super) asking: Mutex<()>,
}

impl PendingLogin {
    /// Opens a port for the redirect, and gets a link that leads there and is valid for `life`.
    pub(super) async fn begin(
        http: &Http,
        secrets: &Arc<ServerSecrets>,
        challenge: Option<&str>,
        store: LoginStore,
        life: Duration,
    ) -> Result<Arc<Self>, LoginFailure> {
        let (arrivals, arrived) = mpsc::channel(1);
        let (decline, declined) = mpsc::channel(1);
        let (sender, outcome) = watch::channel(None);
        let redirect = match http.oauth.redirect_uri.as_deref().map(Redirect::parse) {
            Some(Ok(redirect)) => redirect,
            // One that is wrong has been refused before.
            Some(Err(_)) | None => Redirect::default(),
        };
        let port = redirect.port;
        let listen = |error: std::io::Error| match port {
            0 => LoginFailure::Listen(error.to_string()),
            port => LoginFailure::Port {
                port,
                why: error.to_string(),
            },
        };
        let callback = Callback::open(redirect, arrivals.clone())
            .await
            .map_err(listen)?;
        let redirect = callback.url().map_err(listen)?;
        // A damaged file is of no use, and will be replaced.
        let granted = store.in_background(LoginStore::read).await.ok().flatten();
        let granted = granted.map_or_else(Vec::new, |login| login.credentials.granted_scopes);
        let attempt = Attempt::begin(http, secrets, challenge, &granted, &redirect);
        let attempt = on_upstream_reading_thread(secrets.server(), attempt).await?;
        let link = attempt.link.clone();
        let host_elsewhere = attempt.host_elsewhere.clone();
        // Not the state itself, which is for the browser alone.
        let id = blake3::hash(attempt.state.as_bytes()).to_hex().to_string();
        let waiting = LoginInBackground {
            attempt,
            store,
            url: http.shown(),
            life,
        };
        // Not the caller's own: whoever follows the link when the caller has gone is
        // logged in all the same, and no code is exchanged for a token that is lost.
        tokio::spawn(waiting.run(callback, arrived, declined, sender));
        Ok(Arc::new(Self {
            id,
            url: http.shown(),
            link,
            host_elsewhere,
            arrivals,
            outcome,
            decline,
            asking: Mutex::new(()),
        }))
    }

    /// Returns the link that the user has to follow.
    #[must_use]
    pub fn link(&self) -> &str {
        &self.link
    }

    /// Returns the host that gets what the user is given at the link's host, where that is another
    /// one.
    #[must_use]
    pub fn host_elsewhere(&self) -> Option<&str> {
        self.host_elsewhere.as_deref()
    }

    /// Returns the id of the login, for clients.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Whether the login still waits.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.outcome.borrow().is_none() && !self.arrivals.is_closed()
    }

    /// Waits until the user is logged in. The token is kept by then.
    ///
    /// # Errors
    /// The user is not logged in, and will not be with this link.
    pub async fn finish(&self) -> Result<(), LoginFailure> {
        let mut outcome = self.outcome.clone();
        let outcome = outcome.wait_for(Option::is_some).await;
        match outcome.as_deref() {
            Ok(Some(outcome)) => outcome.clone(),
            _ => Err(LoginFailure::Exchange {
                url: self.url.clone(),
                why: "the host is ending".into(),
            }),
        }
    }

    /// Takes the URL that a browser was sent to on a machine where Dormouse does not listen (over
    /// SSH), as the user has copied it.
    ///
    /// # Errors
    /// The text is not the URL of this login.
    pub async fn paste(&self, text: &str) -> Result<(), String> {
        let text = text.trim();
        let url = Url::parse(text).map_err(|error| format!("`{text}` is no URL: {error}"))?;
        let (answer, answered) = oneshot::channel();
        let query = url.query().unwrap_or_default().to_owned();
        if self.arrivals.send(Arrival { query, answer }).await.is_err() {
            return Err("the login is over".into());
        }
        match answered.await {
            Ok(RedirectOutcome::Foreign(why)) => Err(why),
            // Who waits for the outcome hears it.
            _ => Ok(()),
        }
    }

    /// Ends the login: its user does not want to log in.
    pub(super) fn decline(&self) {
        // If there is one already, that is enough.
        let _ = self.decline.try_send(());
    }
}

/// Part of a login that goes on by itself.
struct LoginInBackground {
    attempt: Attempt,
    store: LoginStore,
    url: String,
    life: Duration,
}

/// Parameters of a redirect.
struct Reply {
    state: String,
    outcome: Result<String, String>,
    issuer: Option<String>,
}

impl LoginInBackground {
    async fn run(
        self,
        mut callback: Callback,
        mut arrived: mpsc::Receiver<Arrival>,
        mut declined: mpsc::Receiver<()>,
        sender: watch::Sender<Option<Result<(), LoginFailure>>>,
    ) {
        let end = tokio::time::Instant::now() + self.life;
        let url = || self.url.clone();
        let (outcome, answer) = loop {
            let arrival = tokio::select! {
                Some(arrival) = arrived.recv() => arrival,
                () = callback.run() => continue,
                _ = declined.recv() => break (Err(LoginFailure::Declined { url: url() }), None),
                () = tokio::time::sleep_until(end) => {
                    let minutes = self.life.as_secs() / 60;
                    break (Err(LoginFailure::Late { url: url(), minutes }), None);
                }
            };
            // Nothing interrupts this: it may be about to get the only token there is.
            match self.take(&arrival.query).await {
                Some(outcome) => break (outcome, Some(arrival.answer)),
                None => drop(arrival.answer.send(RedirectOutcome::Foreign(
                    "This is not the answer to the login that Dormouse waits for.".into(),
                ))),
            }
        };
        // In this order, so that whoever hears of the end finds the port closed.
        let flushed = callback.close();
        drop(arrived);
        if let Some(answer) = answer {
            let _ = answer.send(match &outcome {
                Ok(()) => RedirectOutcome::Done(format!(
                    "You are logged in at {}. You can close this page.",
                    self.url
                )),
                Err(failure) => RedirectOutcome::Failed(failure.to_string()),
            });
        }
        sender.send_replace(Some(outcome));
        flushed.await;
    }

    /// Returns the outcome of a redirect; `None` where it is not of this login.
    async fn take(&self, query: &str) -> Option<Result<(), LoginFailure>> {
        let reply = parse(query, &self.attempt.secrets)?;
        // Whoever knows the state has the link, or has come from it.
        if reply.state != self.attempt.state {
            return None;
        }
        // Before anything that it says is heard: another server must not end the login either.
        if !self.attempt.may_be_from_server(reply.issuer.as_deref()) {
            return None;
        }
        let code = match reply.outcome {
            Ok(code) => code,
            Err(why) => {
                let url = self.url.clone();
                return Some(Err(LoginFailure::Denied { url, why }));
            }
        };
        let exchanged = self.attempt.exchange(&code, reply.issuer.as_deref());
        let exchanged = on_upstream_reading_thread(self.attempt.secrets.server(), exchanged);
        let login = match exchanged.await? {
            Ok(login) => login,
            Err(failure) => return Some(Err(failure)),
        };
        // A refresh of the old login, which may be going on, would replace this one.
        let kept = match self.store.lock().await {
            Ok(_lock) => {
                let write = move |store: &LoginStore| store.write(&login);
                self.store.in_background(write).await
            }
            Err(failure) => Err(failure),
        };
        Some(kept)
    }
}

fn parse(query: &str, secrets: &ServerSecrets) -> Option<Reply> {
    let clean = |text: &str| shown(secrets, text);
    let url = Url::parse(&format!("http://localhost/?{query}")).ok()?;
    let (mut state, mut code, mut error, mut issuer) = (None, None, None, None);
    let mut description = None;
    for (name, value) in url.query_pairs() {
        let place = match name.as_ref() {
            "state" => &mut state,
            "code" => &mut code,
            "error" => &mut error,
            "error_description" => &mut description,
            "iss" => &mut issuer,
            _ => continue,
        };
        *place = Some(value.into_owned());
    }
    let outcome = match (error, code) {
        (Some(error), _) => Err(match description {
            Some(description) => format!("{} (`{}`)", clean(&description), clean(&error)),
            None => format!("`{}`", clean(&error)),
        }),
        (None, Some(code)) => Ok(code),
        (None, None) => return None,
    };
    Some(Reply {
        state: state?,
        outcome,
        issuer,
    })
}
