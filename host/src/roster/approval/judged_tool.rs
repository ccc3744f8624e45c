//! Tool as it was when a call of it was judged.

use std::path::{Path, PathBuf};

use dormouse_catalog::Stamp;
use dormouse_config::Fingerprint;
use dormouse_policy::exposure::{ToolAccess, ToolHints};
use dormouse_policy::{Grants, HttpSecret};
use serde_json::{Map, Value};

use crate::roster::Server;
use crate::roster::snapshot::hints_of;

/// Target of a call: what says of the tool what it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::roster) enum CallTarget {
    /// A server, as agents are shown it.
    Server,
    /// The upstream of a server, which the component in front of it calls.
    Upstream,
}

/// Tool as it was when a call of it was judged: what was decided then is for that alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::roster) struct JudgedTool {
    /// Access that it has.
    pub(in crate::roster) access: ToolAccess,
    /// Hash of its declaration, which is what its user has approved; none where nobody is shown it.
    pub(super) declaration: Option<blake3::Hash>,
    /// Hash of what its upstream says of it now, approved or not; none where that has nothing to say of it.
    pub(super) offered: Option<blake3::Hash>,
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
    /// Returns the tool of a target as its server is known now. Whose names other servers take from it
    /// depends on the profile, and makes no difference.
    pub(in crate::roster) fn of(server: Option<&Server>, target: CallTarget, tool: &str) -> Self {
        let config = server.map(Server::config);
        let component = config.and_then(|config| config.component());
        let declared = server.and_then(|server| match target {
            CallTarget::Server => server.declared_tool(tool),
            CallTarget::Upstream => server.upstream_tool(tool),
        });
        // Of one that waits for its user they are not known.
        let said = declared.map_or_else(ToolHints::default, hints_of);
        let set = match (target, config) {
            // What is declared has them in it.
            (CallTarget::Server, _) | (_, None) => ToolHints::default(),
            (CallTarget::Upstream, Some(config)) => config.hints.of(tool),
        };
        Self {
            access: ToolAccess::of(set.or(said)),
            declaration: declared.map(|declared| blake3::hash(declared.tool.get().as_bytes())),
            offered: server.and_then(|server| server.offered_tool(tool)),
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

    /// Whether nothing that its server declares now is of a call of it that runs already: its component's
    /// file was replaced or removed, and there is no upstream that says what it does.
    pub(in crate::roster) fn is_of_replaced_file(&self, now: &Self) -> bool {
        let is_alone = self.launch.is_none() && now.launch.is_none();
        is_alone && self.component.is_some() && self.component != now.component
    }

    /// Whether a call of it that runs already may go on, as its server is known now.
    ///
    /// A component's file may be replaced meanwhile: what runs is the one that was judged, and what the
    /// other declares is not asked of it. What its upstream says of the access counts all the same. Nor
    /// is it asked what its server was given meanwhile: what runs has what it had when it began.
    pub(in crate::roster) fn runs_as(&self, now: &Self) -> bool {
        if self.is_of_replaced_file(now) {
            return true;
        }
        if self.component.is_some() && self.component != now.component {
            return self.launch == now.launch && self.access >= now.access;
        }
        let Self {
            access,
            declaration,
            offered,
            launch,
            component,
            given: _,
        } = now;
        self.access == *access
            && self.declaration == *declaration
            && self.offered == *offered
            && self.launch == *launch
            && self.component == *component
    }
}

#[cfg(test)]
mod tests {
    use dormouse_config::ChangePolicy;
    use dormouse_upstream::Offered;
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;
    use crate::roster::tests::{ADD, Home, component};

    #[test]
    fn what_runs_is_judged_by_its_own_file_and_by_its_upstream() {
        let tool = |access, file: &str, is_of_upstream: bool| JudgedTool {
            access,
            declaration: Some(blake3::hash(file.as_bytes())),
            offered: None,
            launch: is_of_upstream.then(Fingerprint::default),
            component: Some((file.into(), None)),
            given: JudgedInputs::default(),
        };
        let (read, more) = (ToolAccess::Read, ToolAccess::Destructive);
        for (was_of_upstream, now, runs) in [
            (false, tool(read, "a.wasm", false), true),
            // The same file declares more.
            (false, tool(more, "a.wasm", false), false),
            (false, tool(read, "b.wasm", false), true),
            (false, tool(more, "b.wasm", false), true),
            (false, tool(read, "b.wasm", true), false),
            (true, tool(read, "b.wasm", true), true),
            (true, tool(more, "b.wasm", true), false),
            (true, tool(read, "b.wasm", false), false),
        ] {
            let was = tool(read, "a.wasm", was_of_upstream);
            assert_eq!(was.runs_as(&now), runs, "{was:?} {now:?}");
        }
    }
    /// What is shown of it stays what its user has approved, and what it does need not.
    #[test]
    fn a_tool_is_another_one_once_its_upstream_says_so() {
        let home = Home::new();
        home.write("a.wasm", &component(&[ADD]));
        let config =
            "[servers.a]\ncommand = 'x'\n[servers.b]\ncommand = 'y'\ncomponent = 'a.wasm'\n";
        home.write("dormouse.toml", config.as_bytes());
        let roster = home.open();
        let changes = ChangePolicy::default();
        let learn = |server: &str, described: &str| {
            let tools = ["x", "add"].map(|name| {
                let tool = json!({
                    "name": name, "description": described, "inputSchema": { "type": "object" },
                });
                to_raw_value(&tool).unwrap()
            });
            let offered = Offered {
                tools: tools.into(),
                ..Offered::default()
            };
            let of = roster.judged_tool(server, "x").launch.unwrap();
            roster.store.learn(&of, offered, &changes, None).unwrap();
            roster.refresh(None);
            (
                roster.judged_tool(server, "x"),
                roster.judged_tool(server, "add"),
            )
        };
        let (was, _) = learn("a", "A");
        assert_eq!(learn("a", "A").0, was);
        let (now, _) = learn("a", "B");
        assert_eq!((now.declaration, now.access), (was.declaration, was.access));
        assert!(now != was && !was.runs_as(&now));
        assert_eq!(learn("a", "A").0, was);
        // A function of a component's own is what the component says.
        let ((was_used, was_own), (used, own)) = (learn("b", "A"), learn("b", "B"));
        assert_ne!(was_used, used);
        assert_eq!(was_own, own);
    }
}
