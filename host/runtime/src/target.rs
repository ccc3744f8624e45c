//! Servers as the runtime knows them, and their components.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_catalog::{Stamp, read};
use dormouse_egress::SentSecrets;
use dormouse_files::ownership;
use dormouse_files::regular::open_and_read_regular_file;
use dormouse_policy::{Grants, HttpSecret, Limits};
use dormouse_protocol::{QuestionLimit, SessionClients};
use dormouse_text::visible::visible_path;
use dormouse_upstream::Upstream;
use dormouse_upstream::auth::Auth;
use dormouse_wit::{Function, Instance};
use serde_json::{Map, Value};

use crate::grant_questions::GrantQuestions;

/// A server as the runtime knows it: one configured plugin at one content of its file. Edited
/// configuration or a changed file makes a new one; running calls keep theirs.
pub struct Target {
    /// The server's name.
    pub server: String,
    /// The component.
    pub code: ComponentLocation,
    /// The only upstream that it may reach, if it is to stand in front of one.
    pub upstream: Option<Arc<Upstream>>,
    /// Lifetime of its instances: as the plugin declares, unless overridden.
    pub instance: Instance,
    /// The functions that the declaration claims, to be compared with the code
    /// when it is loaded.
    pub functions: Vec<Function>,
    /// Grants of the user.
    pub grants: Grants,
    /// Requests that its user may be asked for while it runs; none where nobody is asked.
    pub grant_questions: Option<Arc<GrantQuestions>>,
    /// Secrets that are put into its HTTP requests.
    pub secrets: Vec<HttpSecret>,
    /// Texts of secrets that were sent in requests of this server before, which stay hidden.
    pub sent_secrets: Arc<SentSecrets>,
    /// Logins at providers whose tokens are such secrets, by the providers' names.
    pub logins: BTreeMap<String, Auth>,
    /// Limits on its resources.
    pub limits: Limits,
    /// Limit on its questions, and its upstream's, that wait for an answer.
    pub questions: QuestionLimit,
    /// Settings that it gets through `dormouse:plugin/settings`.
    pub settings: Map<String, Value>,
    /// Clients that are told when a session loses an instance or a connection that was kept for it.
    pub clients: Arc<dyn SessionClients>,
}

/// Location of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComponentLocation {
    /// In a file, with its stamp when its declaration was read; none where nothing is known of it but
    /// what the file has.
    File(PathBuf, Option<Stamp>),
    /// In this program: the bridge, which passes everything on to its upstream.
    Bridge,
}

/// The bridge, as a component.
const BRIDGE: &[u8] = include_bytes!(env!("DORMOUSE_BRIDGE"));

impl ComponentLocation {
    /// Returns the size of the component, in bytes.
    ///
    /// # Errors
    /// Its file is not there, or is larger than any component may be.
    pub(crate) fn size(&self) -> io::Result<u64> {
        match self {
            Self::File(path, _) => match std::fs::metadata(path)?.len() {
                size if size <= read::LIMIT => Ok(size),
                size => Err(io::Error::new(
                    io::ErrorKind::FileTooLarge,
                    format!(
                        "it has {size} bytes, more than the {} that a component may have",
                        read::LIMIT
                    ),
                )),
            },
            Self::Bridge => Ok(BRIDGE.len() as u64),
        }
    }

    /// Returns the component's bytes.
    ///
    /// # Errors
    /// Its file cannot be read, is not there, has more than `max_bytes`, or is another one than its
    /// declaration was read of: what its user has agreed to, they have agreed to for that one.
    pub fn bytes(&self, max_bytes: u64) -> io::Result<Cow<'static, [u8]>> {
        match self {
            Self::File(path, known) => {
                let read = open_and_read_regular_file(path, max_bytes)?;
                let (file, bytes) = read.ok_or(io::ErrorKind::NotFound)?;
                // It may have been put there after its declaration was read.
                let metadata = file.metadata()?;
                ownership::check_program(path, &metadata)?;
                if known.is_some_and(|known| known != Stamp::of(&metadata)) {
                    return Err(io::Error::other(
                        "it has changed since its declaration was read\nhint: call it again",
                    ));
                }
                Ok(Cow::Owned(bytes))
            }
            Self::Bridge => Ok(Cow::Borrowed(BRIDGE)),
        }
    }
}

impl fmt::Display for ComponentLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, _) => write!(f, "`{}`", visible_path(path)),
            Self::Bridge => f.write_str("the bridge"),
        }
    }
}
