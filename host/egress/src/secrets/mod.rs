//! Secrets of one plugin's HTTP requests: put in as a request goes out to one of their hosts, and
//! hidden in what comes back.

mod client_secret;
mod error;
mod escape_reading;
mod forms;
mod found_texts;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod kept_tail;
mod known_texts;
mod login_token;
mod masked_body;
mod masked_body_error;
mod masker;
mod notation;
mod pattern;
mod placement;
mod plugin_secret;
mod response_mask;
mod sent_secrets;
mod shared_lookup;
mod source;
mod stored_text;
mod text_search;

use std::sync::Arc;

use dormouse_launch::Secret;
use dormouse_policy::{HttpSecret, ProviderLogin};
use http::HeaderMap;
use url::Url;

pub use self::client_secret::ClientSecret;
pub use self::error::SecretError;
use self::error::SecretFault;
pub(crate) use self::found_texts::FoundTexts;
use self::known_texts::KnownTexts;
pub use self::login_token::{LoginFuture, LoginToken};
pub use self::masked_body::MaskedBody;
pub use self::masked_body_error::MaskedBodyError;
pub(crate) use self::masker::Mask;
use self::plugin_secret::{PluginSecret, SecretText, needs_login};
pub(crate) use self::response_mask::ResponseMask;
pub use self::sent_secrets::SentSecrets;
pub use self::source::secret_text;

/// Secrets of one plugin's HTTP requests.
#[derive(Default)]
pub struct PluginSecrets {
    server: String,
    secrets: Vec<PluginSecret>,
    /// Texts that were looked up so far, also for those that have had the server's name before.
    sent: Arc<SentSecrets>,
}

/// Secrets that were put into a request.
#[derive(Default)]
pub(crate) struct PutSecrets {
    /// Logins whose tokens were put in, each with the secret's name and the token.
    tokens: Vec<(String, Arc<dyn LoginToken>, Secret)>,
}

impl PluginSecrets {
    /// Returns the secrets of a server's plugin. Their texts are looked up when a request needs them.
    #[must_use]
    pub fn new(server: &str, secrets: &[HttpSecret]) -> Self {
        Self {
            server: server.to_owned(),
            secrets: secrets.iter().map(PluginSecret::new).collect(),
            sent: Arc::default(),
        }
    }

    /// Keeps texts where those are that were sent for the same server before, which stay hidden.
    #[must_use]
    pub fn with_sent(self, sent: Arc<SentSecrets>) -> Self {
        Self { sent, ..self }
    }

    /// Takes tokens from the user's logins at providers, which `login` returns.
    #[must_use]
    pub fn with_logins(
        mut self,
        login: impl Fn(&ProviderLogin) -> Option<Arc<dyn LoginToken>>,
    ) -> Self {
        for one in &mut self.secrets {
            if let Some(at) = one.secret.login() {
                *one.text.get_mut() = Arc::new(SecretText::Token {
                    login: login(at),
                    known: KnownTexts::default(),
                });
            }
        }
        self
    }

    /// Returns the environment variables that the plugin sees, each with its placeholder.
    pub fn placeholders(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.secrets.iter();
        all.filter_map(|one| {
            Some((
                one.secret.placeholder_variable()?,
                one.placeholder.as_deref()?,
            ))
        })
    }

    /// Returns the logins whose tokens a request with that URL and these headers would have.
    pub fn logins<'s>(
        &'s self,
        url: &'s Url,
        headers: &'s HeaderMap,
    ) -> impl Iterator<Item = &'s ProviderLogin> {
        let wanted = self.secrets.iter();
        let wanted = wanted.filter(|one| one.secret.goes_to(url) && one.stands_in(headers));
        wanted.filter_map(|one| one.secret.login())
    }

    /// Returns the number of texts that were looked up so far, by which others than before are
    /// noticed.
    #[must_use]
    pub fn looked_up(&self) -> usize {
        self.sent.added()
    }

    /// Returns the texts that were looked up for its server so far, of each secret the last ones.
    #[must_use]
    pub fn resolved(&self) -> Vec<Secret> {
        self.sent.texts()
    }

    /// Whether a request with that URL and these headers would have a secret whose text was not looked
    /// up yet; tokens of logins aside.
    pub fn is_any_unknown(&self, url: &Url, headers: &HeaderMap) -> bool {
        self.unknown(url, headers).next().is_some()
    }

    /// Looks up the secrets that a request with that URL and these headers would have, for the first
    /// time. Returns what is wrong with the first that has no text; tokens of logins aside.
    pub async fn missing(&self, url: &Url, headers: &HeaderMap) -> Option<SecretError> {
        for one in self.unknown(url, headers) {
            match one.resolve(&self.server).await {
                Ok(resolved) => self.sent.add(&one.secret, &resolved),
                Err(why) => return Some(SecretError::new(&self.server, &one.secret.name, why)),
            }
        }
        None
    }

    /// Forgets which commands of secrets have failed, and the secrets with which logins are renewed: each
    /// is looked up once more where a request needs it.
    pub fn forget_failures(&self) {
        for one in &self.secrets {
            one.text().forget_failure();
        }
    }

    fn unknown<'s>(
        &'s self,
        url: &'s Url,
        headers: &'s HeaderMap,
    ) -> impl Iterator<Item = &'s PluginSecret> {
        self.secrets.iter().filter(|one| {
            one.secret.login().is_none()
                && one.secret.goes_to(url)
                && one.stands_in(headers)
                && one.resolved().is_empty()
        })
    }

    /// Takes the text of a secret from where its user says now, where it had none so far. Its hosts and
    /// its place in requests stay those that it has.
    pub fn rebind(&self, now: &HttpSecret) {
        let mut secrets = self.secrets.iter();
        let found = secrets.find(|one| one.secret.is_same_but_for_source(now));
        if let Some(one) = found
            && now.login().is_none()
            && one.secret.login().is_none()
        {
            let mut text = one.text.write();
            // What was sent once has to be hidden to the end.
            if text.resolved().is_empty() {
                *text = Arc::new(SecretText::of(&now.source));
            }
        }
    }

    /// Puts the secrets that go to a URL's host into a request to it, and looks those up, too, that are
    /// not in it: its host may repeat what another process has sent it before, which has to be hidden.
    ///
    /// # Errors
    /// One of these secrets is in the request and has no value, or one that cannot stand where it belongs;
    /// or one that is not in it cannot be looked up.
    pub(crate) async fn put_into(
        &self,
        url: &mut Url,
        headers: &mut HeaderMap,
    ) -> Result<PutSecrets, SecretError> {
        let mut put = PutSecrets::default();
        for one in &self.secrets {
            if !one.secret.goes_to(url) {
                continue;
            }
            let stands_in = one.stands_in(headers);
            let failed = |why| SecretError::new(&self.server, &one.secret.name, why);
            let resolved = match one.resolve(&self.server).await {
                // A plugin may do without a secret that its user does not have.
                Err(fault) if fault.is_absent && !stands_in => continue,
                resolved => resolved.map_err(failed)?,
            };
            self.sent.add(&one.secret, &resolved);
            if !stands_in {
                continue;
            }
            one.put(resolved.text.expose(), url, headers)
                .map_err(failed)?;
            if let SecretText::Token {
                login: Some(login), ..
            } = &*one.text()
            {
                let (name, login) = (one.secret.name.clone(), Arc::clone(login));
                put.tokens.push((name, login, resolved.text.clone()));
            }
        }
        Ok(put)
    }

    /// Whether the host of a URL gets any of them, or has got one for the same server before: what it
    /// answers has to be readable, to hide them in it.
    pub(crate) fn goes_any_to(&self, url: &Url) -> bool {
        self.secrets.iter().any(|one| one.secret.goes_to(url)) || self.sent.has_any_of(url)
    }

    /// Returns the texts that the host of a URL was given so far, which have to be hidden in what it
    /// answers.
    pub(crate) fn mask(&self, url: &Url) -> Mask {
        self.sent.mask(url)
    }

    /// Tells the logins whose tokens a request had that its host has refused them. Returns whether
    /// there are others now.
    ///
    /// # Errors
    /// One of them has none any more, and needs a new login.
    pub(crate) async fn are_replaced(&self, put: &PutSecrets) -> Result<bool, SecretError> {
        let mut is_any_replaced = false;
        for (name, login, token) in &put.tokens {
            if login.is_replaced(token).await {
                is_any_replaced = true;
            } else if let Ok(None) = login.token().await {
                let why = self.needs_login(name);
                return Err(SecretError::new(&self.server, name, why));
            }
        }
        Ok(is_any_replaced)
    }

    /// Returns what is wrong with a secret whose login has no token.
    fn needs_login(&self, name: &str) -> SecretFault {
        let found = self.secrets.iter().find(|one| one.secret.name == name);
        let login = found.and_then(|one| one.secret.login());
        needs_login(&self.server, login)
    }
}

#[cfg(test)]
mod tests;
