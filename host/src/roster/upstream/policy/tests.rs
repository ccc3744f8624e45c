//! Judgements of requests over several connections that were told different things.

use dormouse_policy::exposure::ToolAccess;
use dormouse_runtime::Arguments;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::roster::approval::{CallTarget, JudgedTool};
use crate::roster::call_under_rules::CallUnderRules;
use crate::roster::tests::Home;
use crate::roster::{AgentCall, CallContext};

/// Client of a call that is judged by a tool, or by none.
struct Client(Option<String>);

impl Listener for Client {
    fn progress(&self, _: f64, _: Option<f64>, _: Option<String>) {}

    fn log(&self, _: &'static str, _: Option<String>, _: Value) {}

    fn judged_tools(&self) -> Vec<String> {
        self.0.clone().into_iter().collect()
    }
}

/// Form in which a connection is told a tool and a prompt.
#[derive(Clone, Copy)]
enum Told {
    Reads,
    Destroys,
}

/// Server `a`, with connections of clients of one kind.
struct Connected {
    _home: Home,
    roster: Arc<Roster>,
    policy: Arc<dyn UpstreamPolicy>,
}

impl Connected {
    fn new(config: &str) -> Self {
        let home = Home::new();
        home.write("dormouse.toml", config.as_bytes());
        let roster = home.open();
        let server = roster.server("a").unwrap();
        let fingerprint = &server.config().bridge().unwrap().fingerprint;
        let policy = roster.upstream_policy("a", fingerprint);
        Self {
            _home: home,
            roster,
            policy,
        }
    }

    /// Has a connection told its tools, and a prompt `p`.
    fn told(&self, connection: u64, told: Told, tools: &[&str]) {
        let (words, reads) = match told {
            Told::Reads => ("Reads.", true),
            Told::Destroys => ("Destroys.", false),
        };
        let tools = tools.iter().map(|name| {
            raw(&json!({
                "name": name, "description": words, "inputSchema": { "type": "object" },
                "annotations": { "readOnlyHint": reads, "destructiveHint": !reads },
            }))
        });
        self.policy.opened(Offered {
            connection,
            tools: tools.collect(),
            prompts: vec![raw(&json!({ "name": "p", "description": words }))],
            ..Offered::default()
        });
    }

    /// Returns the connections, of the first two, whose request is judged by what they were told.
    fn judged(&self, method: &str, name: &str, caller: &Arc<dyn Listener>) -> [bool; 2] {
        let items = self.policy.judged_items(method, Some(name), caller);
        [1, 2].map(|connection| self.policy.is_recorded(connection, &items))
    }

    fn shown(&self, tool: &str) -> Option<String> {
        let server = self.roster.server("a").unwrap();
        Some(server.declared_tool(tool)?.tool.get().to_owned())
    }
}

fn raw(object: &Value) -> Box<RawValue> {
    to_raw_value(object).unwrap()
}

/// What `on_change` keeps back.
#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_judged_as_its_own_connection_was_told() {
    for (mode, method, name) in [
        ("block", "tools/call", "x"),
        ("ask", "tools/call", "x"),
        ("block", "prompts/get", "p"),
        ("freeze", "tools/call", "x"),
    ] {
        let config = format!("[servers.a]\ncommand = 'not-started'\non_change = '{mode}'\n");
        let all = Connected::new(&config);
        let caller: Arc<dyn Listener> = Arc::new(Client(None));
        let admitted = async || all.policy.admit(method, Some(name), &caller).await.is_ok();
        let is_judged = mode != "freeze";
        all.told(1, Told::Reads, &["x"]);
        all.told(1, Told::Destroys, &["x"]);
        assert_eq!(all.judged(method, name, &caller), [true, true], "{mode}");
        assert_eq!(admitted().await, !is_judged, "{mode} {method}");
        // Another one is offered what is approved: for the first one that says nothing.
        all.told(2, Told::Reads, &["x"]);
        assert_eq!(
            all.judged(method, name, &caller),
            [!is_judged, true],
            "{mode}"
        );
        assert!(admitted().await);
        all.told(1, Told::Destroys, &["x"]);
        assert_eq!(
            all.judged(method, name, &caller),
            [true, !is_judged],
            "{mode}"
        );
        assert_eq!(admitted().await, !is_judged, "{mode} {method}");
    }
}

/// What `confirm` has asked about, and what is called as what only reads.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_tool_may_do_is_judged_as_its_own_connection_was_told() {
    let confirmed = "exposure.confirm = ['destructive']\n";
    for (config, called_as) in [(confirmed, None), ("", Some(ToolAccess::Read)), ("", None)] {
        let all = Connected::new(&format!("{config}[servers.a]\ncommand = 'not-started'\n"));
        let context = CallContext {
            session: None,
            profile: None,
            cancel: CancellationToken::new(),
            listener: Arc::new(Client(None)),
        };
        let agent = AgentCall {
            name: "a__x".to_owned(),
            arguments: Arguments::default(),
            called_as,
            is_discover: false,
        };
        let call = CallUnderRules::of_agent(("a", "x"), agent, &context);
        let is_judged = !config.is_empty() || called_as.is_some();
        let judged = call.judged_tool(&Arc::downgrade(&all.roster));
        assert_eq!(judged.is_some(), is_judged);
        let caller: Arc<dyn Listener> = Arc::new(Client(judged));
        all.told(1, Told::Reads, &["x"]);
        all.told(1, Told::Destroys, &["x"]);
        all.told(2, Told::Reads, &["x"]);
        assert_eq!(all.judged("tools/call", "x", &caller), [!is_judged, true]);
        // A resource is read in the call, too.
        assert_eq!(
            all.judged("resources/read", "y:", &caller),
            [!is_judged, true]
        );
        let access = || {
            let server = all.roster.server("a").unwrap();
            JudgedTool::of(Some(&server), CallTarget::Server, "x").access
        };
        // It is as careful as each open connection needs it, and is shown so.
        let is_shown_to_read = || all.shown("x").unwrap().contains("\"readOnlyHint\":true");
        assert_eq!(
            (access(), is_shown_to_read()),
            (ToolAccess::Destructive, false)
        );
        let may = all.roster.check_call(&call).unwrap();
        assert_eq!(may.is_err(), called_as.is_some(), "{may:?}");
        all.policy.closed(1);
        assert_eq!((access(), is_shown_to_read()), (ToolAccess::Read, true));
        assert!(all.roster.check_call(&call).unwrap().is_ok());
    }
}

/// An agent may know it by its name.
#[tokio::test(flavor = "multi_thread")]
async fn what_one_connection_takes_back_keeps_its_name_as_long_as_another_one_has_it() {
    let all = Connected::new("[servers.a]\ncommand = 'not-started'\n");
    let is_kept = |tool: &str| {
        let server = all.roster.server("a").unwrap();
        let is_withheld = server.withheld(Gated::Tool).any(|item| item.name == tool);
        assert_eq!(server.has_tool(tool), is_withheld);
        is_withheld
    };
    all.told(1, Told::Reads, &["x", "y"]);
    all.told(2, Told::Reads, &["x", "y"]);
    assert!(all.shown("y").is_some());
    for _ in 0..2 {
        all.told(2, Told::Reads, &["x"]);
        assert!(all.shown("y").is_none() && is_kept("y"));
    }
    // It is there again once it is told again.
    all.told(1, Told::Reads, &["x", "y"]);
    assert!(all.shown("y").is_some());
    all.told(2, Told::Reads, &["x"]);
    assert!(all.shown("y").is_none() && is_kept("y"));
    all.policy.closed(1);
    assert!(all.shown("y").is_none() && !is_kept("y"));
}
