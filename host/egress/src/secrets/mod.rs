//! Secrets of one plugin's HTTP requests: put in as a request goes out to one of their hosts, and
//! hidden in what comes back.

mod error;
mod forms;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzz;
mod known_texts;
mod login_token;
mod masked_body;
mod masker;
mod placement;
mod source;
mod stored_text;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_launch::Secret;
use dormouse_policy::{HttpSecret, ProviderLogin, SecretPlacement, SecretSource};
use http::HeaderMap;
use parking_lot::RwLock;
use tokio::sync::OnceCell;
use url::Url;

pub use self::error::SecretError;
use self::error::Wrong;
use self::known_texts::KnownTexts;
pub use self::login_token::{LoginFuture, LoginToken};
pub use self::masked_body::MaskedBody;
pub(crate) use self::masker::Mask;
use self::masker::Pattern;
pub use self::source::secret_text;
use self::stored_text::StoredText;

/// Beginning of a placeholder, by which its reader knows what it is.
const PLACEHOLDER: &str = "dormouse-placeholder-";

/// Secrets of one plugin's HTTP requests.
#[derive(Default)]
pub struct PluginSecrets {
    server: String,
    secrets: Vec<PluginSecret>,
    /// Number of texts that were looked up so far.
    looked_up: AtomicUsize,
}

/// A secret, and its texts from the first request on that needs it.
struct PluginSecret {
    secret: HttpSecret,
    /// What the plugin sees in its place; none where it sees nothing.
    placeholder: Option<String>,
    /// Another one once its user has said that it comes from elsewhere.
    text: RwLock<Arc<SecretText>>,
}

/// Text of a secret: one for as long as the plugin runs, or the one that the user's store or a login
/// has just then.
enum SecretText {
    Lasting {
        source: SecretSource,
        cell: OnceCell<Arc<ResolvedSecret>>,
    },
    /// In the user's store, by name there.
    Stored { name: String, known: StoredText },
    Token {
        /// None where nobody has said who logs in.
        login: Option<Arc<dyn LoginToken>>,
        known: KnownTexts,
    },
}

/// Text of a secret, and what it is known by in a response.
struct ResolvedSecret {
    text: Secret,
    patterns: Vec<Arc<Pattern>>,
}

/// Secrets that were put into a request.
#[derive(Default)]
pub(crate) struct PutSecrets {
    /// Texts that have to be hidden in the response.
    pub(crate) mask: Mask,
    /// Logins whose tokens were put in, each with the secret's name and the token.
    tokens: Vec<(String, Arc<dyn LoginToken>, Secret)>,
}

impl PluginSecrets {
    /// Returns the secrets of a server's plugin. Their texts are looked up when a request needs them.
    #[must_use]
    pub fn new(server: &str, secrets: &[HttpSecret]) -> Self {
        let secrets = secrets.iter().map(|secret| PluginSecret {
            placeholder: secret.placeholder_variable().and_then(|_| placeholder()),
            text: RwLock::new(Arc::new(SecretText::of(&secret.source))),
            secret: secret.clone(),
        });
        Self {
            server: server.to_owned(),
            secrets: secrets.collect(),
            looked_up: AtomicUsize::new(0),
        }
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
        self.looked_up.load(Ordering::Acquire)
    }

    /// Returns the texts that were looked up so far, and of tokens the last ones.
    #[must_use]
    pub fn resolved(&self) -> Vec<Secret> {
        let all = self.secrets.iter().flat_map(PluginSecret::resolved);
        all.map(|resolved| resolved.text.clone()).collect()
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
                Ok((_, is_new)) => self.count_lookup(is_new),
                Err(why) => return Some(SecretError::new(&self.server, &one.secret.name, why)),
            }
        }
        None
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
        let found = self.secrets.iter().find(|one| {
            one.secret.name == now.name
                && one.secret.hosts == now.hosts
                && one.secret.placement == now.placement
        });
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

    /// Puts the secrets that go to a URL's host into a request to it.
    ///
    /// # Errors
    /// One of these secrets has no value, or one that cannot stand where it belongs.
    pub(crate) async fn put_into(
        &self,
        url: &mut Url,
        headers: &mut HeaderMap,
    ) -> Result<PutSecrets, SecretError> {
        let mut put = PutSecrets::default();
        let mut patterns = Vec::new();
        for one in &self.secrets {
            if !one.secret.goes_to(url) {
                continue;
            }
            if one.stands_in(headers) {
                let failed = |why| SecretError::new(&self.server, &one.secret.name, why);
                let (resolved, is_new) = one.resolve(&self.server).await.map_err(failed)?;
                self.count_lookup(is_new);
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
            // Its host may repeat what an earlier request has brought.
            let resolved = one.resolved();
            patterns.extend(resolved.iter().flat_map(|one| one.patterns.clone()));
        }
        put.mask = Mask::new(patterns);
        Ok(put)
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

    fn count_lookup(&self, is_new: bool) {
        if is_new {
            self.looked_up.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Returns what is wrong with a secret whose login has no token.
    fn needs_login(&self, name: &str) -> Wrong {
        let found = self.secrets.iter().find(|one| one.secret.name == name);
        let login = found.and_then(|one| one.secret.login());
        needs_login(&self.server, login)
    }
}

/// Returns what is wrong with a secret whose login has no token.
fn needs_login(server: &str, login: Option<&ProviderLogin>) -> Wrong {
    let provider = login.map_or("", |login| &login.provider);
    Wrong {
        why: format!("has no value: you are not logged in at `{provider}`, or not any more"),
        hint: format!(
            "`dormouse login {server}` gives a link and waits until you have followed it"
        )
        .into(),
    }
}

/// Returns what is wrong with a secret whose login has no token just now.
fn no_token(why: &str) -> Wrong {
    let (why, hint) = why
        .split_once("\nhint: ")
        .unwrap_or((why, "try again later"));
    Wrong {
        why: format!("has no value: {why}"),
        hint: hint.to_owned().into(),
    }
}

impl SecretText {
    /// Returns the text of a source, which was not looked up yet.
    fn of(source: &SecretSource) -> Self {
        match source {
            SecretSource::Login(_) => Self::Token {
                login: None,
                known: KnownTexts::default(),
            },
            SecretSource::Keyring(name) => Self::Stored {
                name: name.clone(),
                known: StoredText::default(),
            },
            SecretSource::Variable(_) | SecretSource::File(_) | SecretSource::Command { .. } => {
                Self::Lasting {
                    source: source.clone(),
                    cell: OnceCell::new(),
                }
            }
        }
    }

    /// Returns the texts that were looked up so far.
    fn resolved(&self) -> Vec<Arc<ResolvedSecret>> {
        match self {
            Self::Lasting { cell, .. } => cell.get().cloned().into_iter().collect(),
            Self::Stored { known, .. } => known.all(),
            Self::Token { known, .. } => known.all(),
        }
    }
}

impl PluginSecret {
    /// Whether it stands in a request with these headers: a placeholder only where the plugin has
    /// written it.
    fn stands_in(&self, headers: &HeaderMap) -> bool {
        match (&self.secret.placement, &self.placeholder) {
            (SecretPlacement::Placeholder { header, .. }, Some(placeholder)) => {
                placement::has_placeholder(headers, header, placeholder)
            }
            (SecretPlacement::Placeholder { .. }, None) => false,
            (SecretPlacement::Header { .. } | SecretPlacement::Query(_), _) => true,
        }
    }

    fn put(&self, text: &str, url: &mut Url, headers: &mut HeaderMap) -> Result<(), Wrong> {
        match (&self.secret.placement, &self.placeholder) {
            (SecretPlacement::Header { name, value }, _) => {
                placement::set_header(headers, name, &value.with(text))
            }
            (SecretPlacement::Query(name), _) => {
                placement::set_parameter(url, name, text);
                Ok(())
            }
            (SecretPlacement::Placeholder { header, .. }, Some(placeholder)) => {
                placement::replace_placeholder(headers, header, placeholder, text)
            }
            (SecretPlacement::Placeholder { .. }, None) => Ok(()),
        }
    }

    fn text(&self) -> Arc<SecretText> {
        Arc::clone(&self.text.read())
    }

    /// Returns the texts that were looked up so far.
    fn resolved(&self) -> Vec<Arc<ResolvedSecret>> {
        self.text.read().resolved()
    }

    /// Returns its text, looked up by the first one that needs it, or the token of its login. True
    /// where that is another one than before. A failure is not kept.
    async fn resolve(&self, server: &str) -> Result<(Arc<ResolvedSecret>, bool), Wrong> {
        match &*self.text() {
            SecretText::Lasting { source, cell } => {
                let is_new = cell.get().is_none();
                let resolved = cell.get_or_try_init(|| async {
                    let text = source::text_of(source).await?;
                    Ok(Arc::new(self.known_by(text)))
                });
                Ok((Arc::clone(resolved.await?), is_new))
            }
            SecretText::Stored { name, known } => {
                known.resolve(name, |text| self.known_by(text)).await
            }
            SecretText::Token { login, known } => {
                let token = match login {
                    Some(login) => login.token().await.map_err(|why| no_token(&why))?,
                    None => None,
                };
                let token = token.ok_or_else(|| needs_login(server, self.secret.login()))?;
                Ok(known.find_or_add(token, |token| self.known_by(token)))
            }
        }
    }

    fn known_by(&self, text: Secret) -> ResolvedSecret {
        let forms = forms::of(text.expose(), &self.secret.placement);
        ResolvedSecret {
            patterns: forms.iter().filter_map(|form| Pattern::new(form)).collect(),
            text,
        }
    }
}

/// Returns a text that stands for a secret, and is worth nothing; none where the system has no
/// random numbers.
fn placeholder() -> Option<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).ok()?;
    let random = u128::from_le_bytes(random);
    Some(format!("{PLACEHOLDER}{random:032x}"))
}

#[cfg(test)]
mod tests;
