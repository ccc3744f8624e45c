//! A secret of a plugin's HTTP requests, and its texts.

use std::sync::Arc;

use dormouse_launch::Secret;
use dormouse_policy::{HttpSecret, ProviderLogin, SecretPlacement, SecretSource};
use http::HeaderMap;
use parking_lot::RwLock;
use url::Url;

use super::error::SecretFault;
use super::known_texts::KnownTexts;
use super::login_token::LoginToken;
use super::pattern::Pattern;
use super::shared_lookup::{LookedUp, SharedLookup};
use super::stored_text::StoredText;
use super::{forms, placement, source};

/// Beginning of a placeholder, by which its reader knows what it is.
pub(super) const PLACEHOLDER: &str = "dormouse-placeholder-";

/// A secret, and its texts from the first request on that needs it.
pub(super) struct PluginSecret {
    pub(super) secret: HttpSecret,
    /// Text that the plugin sees in its place; none where it sees nothing.
    pub(super) placeholder: Option<String>,
    /// Another one once its user has said that it comes from elsewhere.
    pub(super) text: RwLock<Arc<SecretText>>,
}

/// Text of a secret: one for as long as the plugin runs, or the one that the user's store or a login
/// has just then.
pub(super) enum SecretText {
    Lasting {
        source: SecretSource,
        /// It keeps the failure of a command, too, which is not run again for each request of a call.
        lookup: SharedLookup<Arc<ResolvedSecret>>,
    },
    /// In the user's store, by name there.
    Stored {
        name: String,
        known: Arc<StoredText>,
        lookup: SharedLookup<Arc<ResolvedSecret>>,
    },
    Token {
        /// None where nobody has said who logs in.
        login: Option<Arc<dyn LoginToken>>,
        known: KnownTexts,
    },
}

/// Text of a secret, and what it is known by in a response.
pub(super) struct ResolvedSecret {
    pub(super) text: Secret,
    pub(super) patterns: Vec<Arc<Pattern>>,
}

impl ResolvedSecret {
    /// Returns a text that stands in that place.
    fn of(text: Secret, placement: &SecretPlacement) -> Self {
        let forms = forms::of(text.expose(), placement);
        Self {
            patterns: forms.iter().filter_map(Pattern::new).collect(),
            text,
        }
    }
}

impl SecretText {
    /// Returns the text of a source, which was not looked up yet.
    pub(super) fn of(source: &SecretSource) -> Self {
        match source {
            SecretSource::Login(_) => Self::Token {
                login: None,
                known: KnownTexts::default(),
            },
            SecretSource::Keyring(name) => Self::Stored {
                name: name.clone(),
                known: Arc::default(),
                // Whoever has dismissed its prompt would be shown another one for each request.
                lookup: SharedLookup::keeping(|looked_up| {
                    looked_up.as_ref().is_err_and(|fault| !fault.is_absent)
                }),
            },
            SecretSource::Variable(_) | SecretSource::File(_) => Self::Lasting {
                source: source.clone(),
                lookup: SharedLookup::keeping(Result::is_ok),
            },
            SecretSource::Command { .. } => Self::Lasting {
                source: source.clone(),
                lookup: SharedLookup::keeping(|_| true),
            },
        }
    }

    /// Forgets that its lookup has failed, which is begun again then, and the secret with which its login
    /// is renewed.
    pub(super) fn forget_failure(&self) {
        match self {
            Self::Lasting { lookup, .. } | Self::Stored { lookup, .. } => lookup.forget_failure(),
            Self::Token { login, .. } => {
                if let Some(login) = login {
                    login.forget_client_secret();
                }
            }
        }
    }

    /// Returns the texts that were looked up so far.
    pub(super) fn resolved(&self) -> Vec<Arc<ResolvedSecret>> {
        match self {
            Self::Lasting { lookup, .. } => lookup.kept().into_iter().collect(),
            Self::Stored { known, .. } => known.all(),
            Self::Token { known, .. } => known.all(),
        }
    }
}

impl PluginSecret {
    pub(super) fn new(secret: &HttpSecret) -> Self {
        Self {
            placeholder: secret.placeholder_variable().and_then(|_| placeholder()),
            text: RwLock::new(Arc::new(SecretText::of(&secret.source))),
            secret: secret.clone(),
        }
    }

    /// Whether it stands in a request with these headers: a placeholder only where the plugin has
    /// written it.
    pub(super) fn stands_in(&self, headers: &HeaderMap) -> bool {
        match (&self.secret.placement, &self.placeholder) {
            (SecretPlacement::Placeholder { header, .. }, Some(placeholder)) => {
                placement::has_placeholder(headers, header, placeholder)
            }
            (SecretPlacement::Placeholder { .. }, None) => false,
            (SecretPlacement::Header { .. } | SecretPlacement::Query(_), _) => true,
        }
    }

    pub(super) fn put(
        &self,
        text: &str,
        url: &mut Url,
        headers: &mut HeaderMap,
    ) -> Result<(), SecretFault> {
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

    pub(super) fn text(&self) -> Arc<SecretText> {
        Arc::clone(&self.text.read())
    }

    /// Returns the texts that were looked up so far.
    pub(super) fn resolved(&self) -> Vec<Arc<ResolvedSecret>> {
        self.text.read().resolved()
    }

    /// Returns its text, looked up for the first one that needs it, or the token of its login. Of
    /// failures, that of a command is kept until it is forgotten.
    pub(super) async fn resolve(&self, server: &str) -> LookedUp<Arc<ResolvedSecret>> {
        let placement = &self.secret.placement;
        match &*self.text() {
            SecretText::Lasting { source, lookup } => {
                let begin = || {
                    let (source, placement) = (source.clone(), placement.clone());
                    async move {
                        let text = source::text_of(&source).await?;
                        Ok(Arc::new(ResolvedSecret::of(text, &placement)))
                    }
                };
                lookup.outcome(begin).await
            }
            SecretText::Stored {
                name,
                known,
                lookup,
            } => {
                let begin = || {
                    let (name, known) = (name.clone(), Arc::clone(known));
                    let placement = placement.clone();
                    async move {
                        let make = |text| ResolvedSecret::of(text, &placement);
                        known.resolve(&name, make).await
                    }
                };
                lookup.outcome(begin).await
            }
            SecretText::Token { login, known } => {
                let token = match login {
                    Some(login) => login.token().await.map_err(|why| no_token(&why))?,
                    None => None,
                };
                let token = token.ok_or_else(|| needs_login(server, self.secret.login()))?;
                Ok(known.find_or_add(token, |token| ResolvedSecret::of(token, placement)))
            }
        }
    }
}

/// Returns what is wrong with a secret whose login has no token.
pub(super) fn needs_login(server: &str, login: Option<&ProviderLogin>) -> SecretFault {
    let provider = login.map_or("", |login| &login.provider);
    SecretFault {
        why: format!("has no value: you are not logged in at `{provider}`, or not any more"),
        hint: format!(
            "`dormouse login {server}` gives a link and waits until you have followed it"
        )
        .into(),
        is_absent: true,
    }
}

/// Returns what is wrong with a secret whose login has no token just now.
fn no_token(why: &str) -> SecretFault {
    let (why, hint) = why
        .split_once("\nhint: ")
        .unwrap_or((why, "try again later"));
    SecretFault {
        why: format!("has no value: {why}"),
        hint: hint.to_owned().into(),
        is_absent: false,
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
