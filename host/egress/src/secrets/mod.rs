//! Secrets of one plugin's HTTP requests: put in as a request goes out to one of their hosts, and
//! hidden in what comes back.

mod error;
mod forms;
mod masked_body;
mod masker;
mod placement;
mod source;

use std::sync::Arc;

use dormouse_launch::Secret;
use dormouse_policy::{HttpSecret, SecretPlacement};
use http::HeaderMap;
use tokio::sync::OnceCell;
use url::Url;

pub use self::error::SecretError;
pub use self::masked_body::MaskedBody;
pub(crate) use self::masker::Mask;
use self::masker::Pattern;

/// Beginning of a placeholder, by which its reader knows what it is.
const PLACEHOLDER: &str = "dormouse-placeholder-";

/// Secrets of one plugin's HTTP requests.
#[derive(Default)]
pub struct PluginSecrets {
    server: String,
    secrets: Vec<PluginSecret>,
}

/// A secret, and its text from the first request on that needs it.
struct PluginSecret {
    secret: HttpSecret,
    /// What the plugin sees in its place; none where it sees nothing.
    placeholder: Option<String>,
    resolved: OnceCell<ResolvedSecret>,
}

/// Text of a secret, and what it is known by in a response.
struct ResolvedSecret {
    text: Secret,
    patterns: Vec<Arc<Pattern>>,
}

impl PluginSecrets {
    /// Returns the secrets of a server's plugin. Their texts are looked up when a request needs them.
    #[must_use]
    pub fn new(server: &str, secrets: &[HttpSecret]) -> Self {
        let secrets = secrets.iter().map(|secret| PluginSecret {
            placeholder: secret.placeholder_variable().and_then(|_| placeholder()),
            secret: secret.clone(),
            resolved: OnceCell::new(),
        });
        Self {
            server: server.to_owned(),
            secrets: secrets.collect(),
        }
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

    /// Returns the texts that were looked up so far.
    pub fn resolved(&self) -> impl Iterator<Item = &Secret> {
        let all = self.secrets.iter().filter_map(|one| one.resolved.get());
        all.map(|resolved| &resolved.text)
    }

    /// Puts the secrets that go to a URL's host into a request to it. Returns what has to be hidden
    /// in the response.
    ///
    /// # Errors
    /// One of these secrets has no value, or one that cannot stand where it belongs.
    pub(crate) async fn put_into(
        &self,
        url: &mut Url,
        headers: &mut HeaderMap,
    ) -> Result<Mask, SecretError> {
        let mut patterns = Vec::new();
        for one in &self.secrets {
            if !one.secret.goes_to(url) {
                continue;
            }
            one.put_into(&self.server, url, headers).await?;
            // Its host may repeat what an earlier request has brought.
            let resolved = one.resolved.get().into_iter();
            patterns.extend(resolved.flat_map(|resolved| resolved.patterns.clone()));
        }
        Ok(Mask::new(patterns))
    }
}

impl PluginSecret {
    async fn put_into(
        &self,
        server: &str,
        url: &mut Url,
        headers: &mut HeaderMap,
    ) -> Result<(), SecretError> {
        let failed = |why| SecretError::new(server, &self.secret.name, why);
        match &self.secret.placement {
            SecretPlacement::Header { name, value } => {
                let value = value.with(self.text(server).await?);
                placement::set_header(headers, name, &value).map_err(failed)
            }
            SecretPlacement::Query(name) => {
                placement::set_parameter(url, name, self.text(server).await?);
                Ok(())
            }
            SecretPlacement::Placeholder { header, .. } => {
                let Some(placeholder) = &self.placeholder else {
                    return Ok(());
                };
                if !placement::has_placeholder(headers, header, placeholder) {
                    return Ok(());
                }
                let text = self.text(server).await?;
                placement::replace_placeholder(headers, header, placeholder, text).map_err(failed)
            }
        }
    }

    /// Returns its text, looked up by the first one that needs it. A failure is not kept.
    async fn text(&self, server: &str) -> Result<&str, SecretError> {
        let resolved = self.resolved.get_or_try_init(|| async {
            let text = source::text_of(&self.secret.source).await;
            let text = text.map_err(|why| SecretError::new(server, &self.secret.name, why))?;
            let forms = forms::of(text.expose(), &self.secret.placement);
            Ok(ResolvedSecret {
                patterns: forms.iter().filter_map(|form| Pattern::new(form)).collect(),
                text,
            })
        });
        Ok(resolved.await?.text.expose())
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
