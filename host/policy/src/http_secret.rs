//! Secrets of a plugin's HTTP requests, which the host puts in and the plugin never sees: where
//! each comes from, which hosts it goes to, and where it stands in a request.

mod provider_login;
mod secret_file;
mod secret_host;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use dormouse_text::visible::{visible_line, visible_path};
use url::Url;

pub use self::provider_login::ProviderLogin;
pub use self::secret_file::SecretFile;
pub use self::secret_host::{SecretHost, SecretHostError};

/// Place of the secret in the value of a header.
const PLACE: &str = "{}";

/// A secret of a plugin's HTTP requests, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpSecret {
    /// Its name among those of its server.
    pub name: String,
    /// Source of its text.
    pub source: SecretSource,
    /// The only hosts that get it.
    pub hosts: Vec<SecretHost>,
    /// Place that it has in a request.
    pub placement: SecretPlacement,
}

/// Source of a secret's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// A variable of the host's environment, by name.
    Variable(String),
    /// A file.
    File(SecretFile),
    /// Output of a program.
    Command {
        /// The program: a name that is looked for as a shell does, or an absolute path.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// The folder that it works in: never that of whoever started the host, which may be a
        /// project that nobody trusts.
        folder: PathBuf,
        /// Whether it gets of the host's environment only what every child gets: a project has named
        /// it.
        is_confined: bool,
    },
    /// The user's own store of secrets, by name there.
    Keyring(String),
    /// The access token of a login.
    Login(Box<ProviderLogin>),
}

/// Place of a secret in a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretPlacement {
    /// A header of its own.
    Header {
        /// The header's name.
        name: String,
        /// Its value.
        value: ValueTemplate,
    },
    /// A parameter of the query, by name.
    Query(String),
    /// Wherever the plugin has written a placeholder in one header.
    Placeholder {
        /// The environment variable in which the plugin sees the placeholder.
        variable: String,
        /// The only header in which it is replaced.
        header: String,
    },
}

/// Value of a header, with a place for a secret in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValueTemplate {
    before: String,
    after: String,
}

/// Reason why a text is no value of a header with a place for a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ValueTemplateError {
    /// No place for the secret, or several.
    #[error("it has to have one `{{}}`, in whose place the secret is written")]
    Places,
    /// Characters that no header has.
    #[error("it may have only letters, digits, signs and spaces of ASCII")]
    Characters,
}

impl HttpSecret {
    /// Whether a request to a URL may have it.
    #[must_use]
    pub fn goes_to(&self, url: &Url) -> bool {
        self.hosts.iter().any(|host| host.is_host_of(url))
    }

    /// Whether another one is the same secret, wherever its text comes from: of that name, for the same
    /// hosts, at the same place in requests.
    #[must_use]
    pub fn is_same_but_for_source(&self, other: &Self) -> bool {
        (&self.name, &self.hosts, &self.placement) == (&other.name, &other.hosts, &other.placement)
    }

    /// Returns the login whose token it is, where it is one.
    #[must_use]
    pub fn login(&self) -> Option<&ProviderLogin> {
        match &self.source {
            SecretSource::Login(login) => Some(login),
            SecretSource::Variable(_)
            | SecretSource::File(_)
            | SecretSource::Command { .. }
            | SecretSource::Keyring(_) => None,
        }
    }

    /// Returns the source of the text that the host looks up for it: its own, or that of the client
    /// that logs in, where that has one.
    #[must_use]
    pub fn looked_up(&self) -> Option<&SecretSource> {
        match self.login() {
            Some(login) => login.client_secret.as_ref(),
            None => Some(&self.source),
        }
    }

    /// Returns the file that the host looks its text up in, where there is one.
    #[must_use]
    pub fn file(&self) -> Option<&SecretFile> {
        let SecretSource::File(file) = self.looked_up()? else {
            return None;
        };
        Some(file)
    }

    /// Returns the file that the host looks its text up in, to say where it is read.
    #[must_use]
    pub fn file_mut(&mut self) -> Option<&mut SecretFile> {
        let SecretSource::File(file) = self.looked_up_mut()? else {
            return None;
        };
        Some(file)
    }

    /// Has a program that says the text get of the host's environment only what every child gets, but for
    /// the one that reads a reference of 1Password's and nothing else.
    pub fn confine(&mut self) {
        if let Some(SecretSource::Command {
            program,
            arguments,
            is_confined,
            ..
        }) = self.looked_up_mut()
        {
            let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
            let is_reference = matches!(
                arguments[..],
                ["read", "--no-newline", reference] if reference.starts_with("op://")
            );
            *is_confined = program != "op" || !is_reference;
        }
    }

    fn looked_up_mut(&mut self) -> Option<&mut SecretSource> {
        match &mut self.source {
            SecretSource::Login(login) => login.client_secret.as_mut(),
            source => Some(source),
        }
    }

    /// Returns the environment variable that the plugin sees for it, where there is one.
    #[must_use]
    pub fn placeholder_variable(&self) -> Option<&str> {
        match &self.placement {
            SecretPlacement::Placeholder { variable, .. } => Some(variable),
            SecretPlacement::Header { .. } | SecretPlacement::Query(_) => None,
        }
    }
}

impl ValueTemplate {
    /// Returns the value with a secret in its place.
    #[must_use]
    pub fn with(&self, secret: &str) -> String {
        format!("{}{secret}{}", self.before, self.after)
    }
}

impl FromStr for ValueTemplate {
    type Err = ValueTemplateError;

    fn from_str(text: &str) -> Result<Self, ValueTemplateError> {
        let (before, after) = text.split_once(PLACE).ok_or(ValueTemplateError::Places)?;
        if after.contains(PLACE) {
            return Err(ValueTemplateError::Places);
        }
        match text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            true => Ok(Self {
                before: before.to_owned(),
                after: after.to_owned(),
            }),
            false => Err(ValueTemplateError::Characters),
        }
    }
}

impl fmt::Display for ValueTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with(PLACE))
    }
}

impl fmt::Display for SecretSource {
    /// Names it in words. The arguments of a command are left out: one may be a secret by mistake.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Variable(name) => {
                write!(f, "the environment variable `{}`", visible_line(name))
            }
            Self::File(file) => write!(f, "the file `{}`", visible_path(&file.path)),
            Self::Command { program, .. } => {
                write!(f, "the command `{}`", visible_line(program))
            }
            Self::Keyring(name) => write!(f, "your secret `{}`", visible_line(name)),
            Self::Login(login) => {
                write!(f, "the login at `{}`", visible_line(&login.provider))
            }
        }
    }
}

#[cfg(test)]
mod tests;
