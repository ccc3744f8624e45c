//! Tool as it was when a call of it was judged.

use std::path::{Path, PathBuf};

use dormouse_catalog::Stamp;
use dormouse_config::Fingerprint;
use dormouse_policy::exposure::ToolAccess;
use dormouse_policy::{Grants, HttpSecret};
use serde_json::{Map, Value};

use crate::roster::Server;
use crate::roster::snapshot::access_of;

/// Tool as it was when a call of it was judged: what was decided then is for that alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::roster) struct JudgedTool {
    /// Access that it has.
    pub(in crate::roster) access: ToolAccess,
    /// Hash of its declaration; none where nobody is shown it.
    pub(super) declaration: Option<blake3::Hash>,
    /// Launch of its upstream.
    pub(super) launch: Option<Fingerprint>,
    /// Component that it is of, and the stamp of its file.
    pub(super) component: Option<(PathBuf, Option<Stamp>)>,
    /// What the server has been given: it decides what the tool reads and changes.
    pub(super) given: JudgedInputs,
}

/// Inputs that a server has been given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct JudgedInputs {
    pub(super) grants: Grants,
    pub(super) settings: Map<String, Value>,
    pub(super) secrets: Vec<HttpSecret>,
}

impl JudgedTool {
    /// Returns the tool of a server as the server is known now. Whose names other servers take from it
    /// depends on the profile, and makes no difference.
    pub(in crate::roster) fn of(server: Option<&Server>, tool: &str) -> Self {
        let config = server.map(Server::config);
        let component = config.and_then(|config| config.component());
        let declared = server.and_then(|server| server.declared_tool(tool));
        Self {
            // Of one that waits for its user it is not known.
            access: declared.map_or(ToolAccess::Destructive, access_of),
            declaration: declared.map(|declared| blake3::hash(declared.tool.get().as_bytes())),
            launch: config.and_then(|config| Some(config.bridge()?.fingerprint.clone())),
            component: component.map(|path: &Path| {
                let stamp = server.and_then(|server| server.stamp().copied());
                (path.to_owned(), stamp)
            }),
            given: config.map_or_else(JudgedInputs::default, |config| JudgedInputs {
                grants: config.grants.clone(),
                settings: config.settings.clone(),
                secrets: config.secrets.clone(),
            }),
        }
    }

    /// Whether a call of it that runs already may go on, as its server is known now.
    ///
    /// A component's file may be replaced meanwhile: what runs is the one that was judged, and what the
    /// other declares is not asked of it. What its upstream says of the access counts all the same. Nor
    /// is it asked what its server was given meanwhile: what runs has what it had when it began.
    pub(in crate::roster) fn runs_as(&self, now: &Self) -> bool {
        if self.component.is_some() && self.component != now.component {
            return self.launch == now.launch && self.access >= now.access;
        }
        let given = self.given.clone();
        *self
            == Self {
                given,
                ..now.clone()
            }
    }
}
