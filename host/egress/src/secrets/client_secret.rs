//! Secret of a client at a provider, which is not put into the requests of plugins.

use dormouse_launch::Secret;
use dormouse_policy::SecretSource;

use super::error::SecretFault;
use super::shared_lookup::SharedLookup;
use super::source;

/// Secret of the client that Dormouse is at a provider. It is looked up once in a call, however often
/// a plugin has its login renewed there: its source may be a command, or ask its user.
pub struct ClientSecret {
    source: SecretSource,
    lookup: SharedLookup<Secret>,
}

impl ClientSecret {
    /// Returns the secret of that source, which was not looked up yet.
    #[must_use]
    pub fn new(source: SecretSource) -> Self {
        Self {
            source,
            lookup: SharedLookup::keeping(|_| true),
        }
    }

    /// Returns the text, looked up for the first one that needs it since a call has begun.
    ///
    /// # Errors
    /// There is none; with the source, what to do about it, and nothing of the text.
    pub async fn text(&self) -> Result<Secret, String> {
        let begin = || {
            let source = self.source.clone();
            async move { source::text_of(&source).await }
        };
        let text = self.lookup.outcome(begin).await;
        text.map_err(SecretFault::into_text)
    }

    /// Forgets the text, or that there was none, because a call begins: either may be another now.
    pub fn forget(&self) {
        self.lookup.forget();
    }
}

impl PartialEq for ClientSecret {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Each renewal needs it, and a host has them as often as it refuses a token.
    #[tokio::test]
    async fn its_command_is_run_once_in_a_call() {
        let folder = tempfile::tempdir().unwrap();
        let runs = || {
            let runs = std::fs::read_to_string(folder.path().join("runs"));
            runs.unwrap_or_default().lines().count()
        };
        let of = |script: &str| {
            ClientSecret::new(SecretSource::Command {
                program: "sh".to_owned(),
                arguments: vec!["-c".to_owned(), format!("echo >> runs; {script}")],
                folder: folder.path().to_owned(),
                is_confined: false,
            })
        };
        let secret = of("echo text");
        for begun in [1, 2] {
            let texts = [secret.text().await, secret.text().await];
            assert_eq!(
                texts.map(|text| text.unwrap().expose().to_owned()),
                ["text"; 2]
            );
            assert_eq!(runs(), begun);
            secret.forget();
        }
        // What could not be had is not asked for at each request, either.
        let secret = of("exit 1");
        for begun in [3, 4] {
            for _ in 0..2 {
                let why = secret.text().await.unwrap_err();
                assert!(
                    why.contains("has failed") && why.contains("\nhint: "),
                    "{why}"
                );
            }
            assert_eq!(runs(), begun);
            secret.forget();
        }
    }
}
