//! Tool as it was when a call of it was judged.

use std::path::{Path, PathBuf};

use dormouse_catalog::Stamp;
use dormouse_config::Fingerprint;
use dormouse_policy::exposure::{ToolAccess, ToolHints};
use dormouse_policy::{Grants, HttpSecret};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::roster::Server;
use crate::roster::server::items::hash_of_forms;
use crate::roster::snapshot::hints_of;

/// Target of a call: what says of the tool what it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::roster) enum CallTarget {
    /// A server, as agents are shown it.
    Server,
    /// The upstream of a server, which the component in front of it calls.
    Upstream,
}

/// Tool as it was when a call of it was judged: what was decided then is for that alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::roster) struct JudgedTool {
    /// Target of the call.
    pub(super) target: CallTarget,
    /// Access that it has.
    pub(in crate::roster) access: ToolAccess,
    /// Hash of its declaration, or of all forms in which a component is offered it; none where there is
    /// none that counts.
    pub(super) declaration: Option<blake3::Hash>,
    /// Hash of what its upstream says of it now, approved or not; none where that has nothing to say of it.
    pub(super) offered: Option<blake3::Hash>,
    /// Launch of its upstream.
    pub(super) launch: Option<Fingerprint>,
    /// Component that it is of, and the stamp of its file.
    pub(super) component: Option<(PathBuf, Option<Stamp>)>,
    /// Grants of the server: they decide what the tool reads and changes.
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
        let forms = server.map_or_else(Vec::new, |server| forms_of(server, target, tool));
        let set = match (target, config) {
            // What is declared has them in it.
            (CallTarget::Server, _) | (_, None) => ToolHints::default(),
            (CallTarget::Upstream, Some(config)) => config.hints.of(tool),
        };
        Self {
            target,
            access: forms
                .iter()
                .map(|form| ToolAccess::of(set.or(hints_of(form))))
                .max()
                // Of one that waits for its user they are not known.
                .unwrap_or_else(|| ToolAccess::of(set)),
            declaration: hash_of_forms(forms.iter().map(|form| form.get())),
            // A function of a component's own is what the component says.
            offered: server
                .filter(|server| target == CallTarget::Upstream || !server.is_typed_tool(tool))
                .and_then(|server| server.offered_tool(tool)),
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
            target: _,
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

/// Returns the forms of a tool, as MCP objects, that say what it may do: its declaration, or of one that a
/// component calls without declaring it, and that nobody was asked about, all that its upstream offers. What
/// is seen first is taken at its word there, as it is of a server without a component.
fn forms_of<'s>(server: &'s Server, target: CallTarget, tool: &'s str) -> Vec<&'s RawValue> {
    let declared = match target {
        CallTarget::Server => server.declared_tool(tool),
        CallTarget::Upstream => server.upstream_tool(tool),
    };
    match (declared, target) {
        (Some(declared), _) => vec![&declared.tool],
        (None, CallTarget::Server) => Vec::new(),
        (None, CallTarget::Upstream) => server.unapproved_forms(tool).collect(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use dormouse_catalog::{CatalogEntry, Listing, Provenance};
    use dormouse_config::{ChangePolicy, OnChange, ServerConfig};
    use dormouse_upstream::Offered;
    use dormouse_wit::{Declaration, DeclaredTool, Function};
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;
    use crate::roster::server::ServerData;
    use crate::roster::tests::{ADD, Home, component};
    use crate::store::Store;

    /// Returns a server's configuration, with a component in front of an upstream.
    fn configured(home: &Home, more: &str) -> ServerConfig {
        home.write("a.wasm", &component(&[ADD]));
        let text = format!("[servers.a]\ncomponent = 'a.wasm'\ncommand = ['not-started']\n{more}");
        home.write("dormouse.toml", text.as_bytes());
        home.open().config().servers["a"].clone()
    }

    fn tool(reads: bool, description: &str) -> Box<RawValue> {
        let tool = json!({
            "name": "x", "description": description, "inputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": reads, "destructiveHint": false },
        });
        to_raw_value(&tool).unwrap()
    }

    /// Returns the declarations of a component: of `x`, where there is that.
    fn declaring(x: Option<(Box<RawValue>, Option<Function>)>) -> Arc<Listing> {
        let tools = x.map(|(tool, function)| DeclaredTool {
            name: "x".to_owned(),
            tool,
            function,
        });
        let declaration = Declaration {
            tools: tools.into_iter().collect(),
            ..Declaration::default()
        };
        Arc::new(Listing::new(declaration, Provenance::Section).unwrap())
    }

    fn of_its_own() -> Function {
        let function = json!({ "export": { "function": "x" }, "params": [] });
        serde_json::from_value(function).unwrap()
    }

    /// Servers of one home whose upstream offers what is learnt of it.
    struct Learning {
        home: Home,
        store: Store,
        config: ServerConfig,
    }

    impl Learning {
        fn new(more: &str) -> Self {
            let home = Home::new();
            Self {
                config: configured(&home, more),
                store: Store::new(home.path("servers")),
                home,
            }
        }

        /// Returns `x` of the upstream as a component calls it that declares this, after the upstream was
        /// asked what it offers, with the component in front of it or before it came.
        fn judged(
            &self,
            offered: Box<RawValue>,
            declared: &Arc<Listing>,
            seen: bool,
        ) -> JudgedTool {
            let of = &self.config.bridge().unwrap().fingerprint;
            let offered = Offered {
                tools: vec![offered],
                ..Offered::default()
            };
            let changes = ChangePolicy::from(OnChange::Block);
            let seen = seen.then_some(declared);
            self.store.learn(of, offered, &changes, seen).unwrap();
            let path = self.home.path("a.wasm");
            let stamp = Stamp::of(&fs::metadata(&path).unwrap());
            let listing = Arc::clone(declared);
            let read = ServerData {
                entry: Some(Ok(Arc::new(CatalogEntry {
                    path,
                    stamp,
                    listing,
                }))),
                known: self.store.known(of),
                failed_start: None,
            };
            let server = Server::next(None, self.config.clone(), read);
            JudgedTool::of(Some(&server), CallTarget::Upstream, "x")
        }
    }

    /// A user who searches does not want to be asked at each call.
    #[test]
    fn what_a_component_calls_and_does_not_declare_is_what_its_upstream_says() {
        let none = declaring(None);
        for (reads, access) in [(true, ToolAccess::Read), (false, ToolAccess::Write)] {
            let learning = Learning::new("");
            let first = learning.judged(tool(reads, "Looks."), &none, true);
            assert_eq!(first.access, access);
            // It is another one for whoever has agreed to calls of it, and says itself what it does.
            let other = learning.judged(tool(reads, "Looks elsewhere."), &none, true);
            assert_eq!(other.access, access);
            assert_ne!(first.declaration, other.declaration);
            assert!(first.declaration.is_some() && other.declaration.is_some());
        }
        let set = Learning::new("[servers.a.annotations]\nx = { readOnlyHint = false }\n");
        let judged = set.judged(tool(true, "Looks."), &none, true);
        assert_eq!(judged.access, ToolAccess::Write);
    }

    #[test]
    fn what_a_component_calls_is_judged_by_what_it_hands_on_or_its_user_has_approved() {
        let handed_on = declaring(Some((tool(false, "Looks."), None)));
        let judged = Learning::new("").judged(tool(true, "Looks."), &handed_on, true);
        assert_eq!(judged.access, ToolAccess::Write, "as it is declared");
        // Its own function of that name is another tool.
        let typed = declaring(Some((tool(true, "Looks."), Some(of_its_own()))));
        let judged = Learning::new("").judged(tool(false, "Writes."), &typed, true);
        assert_eq!(judged.access, ToolAccess::Write);
        // What was approved before the component came is as careful as what has taken its place.
        let (learning, none) = (Learning::new(""), declaring(None));
        let approved = learning.judged(tool(true, "Looks."), &none, false);
        assert_eq!(approved.access, ToolAccess::Read);
        let judged = learning.judged(tool(false, "Looks."), &none, true);
        assert_eq!(judged.access, ToolAccess::Write);
    }

    #[test]
    fn what_runs_is_judged_by_its_own_file_and_by_its_upstream() {
        let tool = |access, file: &str, is_of_upstream: bool| JudgedTool {
            target: CallTarget::Server,
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
            let judged = |tool| {
                JudgedTool::of(
                    roster.server(server).ok().as_deref(),
                    CallTarget::Server,
                    tool,
                )
            };
            let of = judged("x").launch.unwrap();
            roster.store.learn(&of, offered, &changes, None).unwrap();
            roster.refresh(None);
            (judged("x"), judged("add"))
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
