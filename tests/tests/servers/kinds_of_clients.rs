//! Servers that offer other things to each kind of clients, by what these can be asked and by their
//! revision of the protocol.

use anyhow::ensure;
use dormouse_tests::http::{Server, Session};
use dormouse_tests::{Client, wait, wire};
use serde_json::{Value, json};

use crate::announcing::Announcing;
use crate::scripted::{asks, tools};

fn tool(name: &str, words: &str) -> Value {
    json!({ "name": name, "description": words, "inputSchema": { "type": "object" } })
}

/// What is offered to those who can be asked, to those of the era without sessions who cannot, and
/// to the rest: each with these words, and those who can be asked with a tool more.
fn offer([asked, modern, others]: [&str; 3]) -> Value {
    let prompts = |words: &str| json!([{ "name": "draft", "description": words }]);
    json!({
        "tools": [tool("pay", others)], "prompts": prompts(others),
        "to": {
            "stateless": { "tools": [tool("pay", modern)], "prompts": prompts(modern) },
            "elicitation": {
                "tools": [tool("pay", asked), tool("confirm", "Confirms.")],
                "prompts": prompts(asked),
            },
            // A host that passes this on would have a list for each client with pages of its own.
            "extensions": { "tools": [tool("page", "Shows.")], "prompts": [] },
        },
    })
}

/// One host with clients of all kinds.
struct Kinds {
    all: Announcing,
    server: Server,
    sessions: [Session; 3],
}

/// Clients, by their place among all.
const ASKED: usize = 0;
const MODERN: usize = 1;
const OTHERS: usize = 2;
const PAGES: usize = 3;
const ALL: [usize; 4] = [ASKED, MODERN, OTHERS, PAGES];

impl Kinds {
    fn of(words: [&str; 3]) -> Self {
        let all = Announcing::known(&offer(words), "");
        let server = all.0.home.serve_http(&[]).unwrap();
        let pages = json!({ "extensions": { "io.modelcontextprotocol/ui": {} } });
        let sessions = [asks(), json!({}), pages];
        let sessions = sessions.map(|able| Session::open_able(&server, able).unwrap());
        Self {
            all,
            server,
            sessions,
        }
    }

    fn request(&self, client: usize, method: &str, params: Value) -> Value {
        let session = match client {
            ASKED => &self.sessions[0],
            OTHERS => &self.sessions[1],
            PAGES => &self.sessions[2],
            _ => return self.server.stateless(method, params).unwrap(),
        };
        let mut answer = self
            .server
            .ask(&session.request(1, method, params))
            .unwrap();
        answer.result().unwrap()
    }

    /// Connects the server for that client, whose call passes.
    #[track_caller]
    fn pays(&self, client: usize) {
        let call = json!({ "name": "post__pay", "arguments": {} });
        let called = self.request(client, "tools/call", call);
        assert_eq!(called["content"][0]["text"], "called pay", "{called}");
    }

    /// Each client sees these words of the tool and of the prompt, and the tool that is only there
    /// for some.
    #[track_caller]
    fn all_see(&self, words: &str) {
        for client in ALL {
            let listed = self.request(client, "tools/list", json!({}));
            let tools = listed["tools"].as_array().unwrap().iter();
            let tools: Vec<_> = tools
                .map(|tool| json!([tool["name"], tool["description"]]))
                .collect();
            let wanted = [
                json!(["post__pay", words]),
                json!(["post__confirm", "Confirms."]),
            ];
            assert_eq!(tools, wanted, "{client}");
            let listed = self.request(client, "prompts/list", json!({}));
            assert_eq!(listed["prompts"][0]["description"], words, "{client}");
        }
    }

    /// No client's list is drift of another's: whoever comes, nothing waits, and all see what they
    /// have seen before.
    #[track_caller]
    fn is_at_rest(&self, words: &str) {
        for client in [ASKED, OTHERS, MODERN, PAGES, MODERN, OTHERS, ASKED] {
            self.all.0.run(&["restart", "post"]);
            let starts = self.all.0.starts("post");
            self.pays(client);
            assert_eq!(self.all.0.starts("post"), starts + 1);
            self.all.comes_to_wait(&json!([]));
            self.all_see(words);
        }
    }

    fn comes_to(&self, words: &str) {
        wait::until("the words", || {
            let listed = self.request(OTHERS, "tools/list", json!({})).to_string();
            ensure!(listed.contains(words), "{listed}");
            Ok(())
        })
        .unwrap();
        self.all_see(words);
    }
}

/// All are shown one text, that which was approved last.
#[test]
fn what_waits_of_one_kind_of_clients_is_shown_to_none_and_what_is_approved_is_no_drift() {
    let kinds = Kinds::of(["for asked", "for modern", "for others"]);
    let two = json!(["pay", "prompt `draft`"]);
    // It was known by one who can be asked all.
    kinds.pays(ASKED);
    kinds.all.comes_to_wait(&json!([]));
    kinds.all_see("for asked");
    let mut before = "for asked";
    for (client, words) in [(OTHERS, "for others"), (MODERN, "for modern")] {
        kinds.pays(client);
        kinds.all.comes_to_wait(&two);
        kinds.all_see(before);
        // It goes on waiting when others come.
        kinds.all.0.run(&["restart", "post"]);
        kinds.pays(ASKED);
        kinds.all.comes_to_wait(&two);
        kinds.all_see(before);
        let shown = kinds.all.0.run(&["diff", "post"]);
        assert!(shown.contains(&format!("+ {words}")), "{shown}");
        kinds.all.approve();
        kinds.comes_to(words);
        before = words;
    }
    kinds.is_at_rest("for modern");

    // What becomes of one kind's is shown to none before its user has seen it, and what the others
    // are offered is as it was approved.
    kinds
        .all
        .offers(&offer(["EVIL", "for modern", "for others"]));
    kinds.all.0.run(&["restart", "post"]);
    for client in [ASKED, OTHERS, MODERN, ASKED] {
        kinds.pays(client);
        kinds.all.comes_to_wait(&two);
        kinds.all_see("for modern");
    }
    kinds.all.approve();
    kinds.comes_to("EVIL");
    kinds.is_at_rest("EVIL");
    // Approved for one kind is not approved for all.
    kinds.all.offers(&offer(["EVIL", "for modern", "WORSE"]));
    kinds.all.0.run(&["restart", "post"]);
    kinds.pays(OTHERS);
    kinds.all.comes_to_wait(&two);
    kinds.all_see("EVIL");
}

/// A client of an older revision of the protocol is another kind, too: what it is offered is
/// approved once, and takes nothing from the others.
#[test]
fn what_one_revision_is_offered_is_no_change_of_what_another_one_is() {
    let newer = [tool("pay", "for newer"), tool("refund", "Pays back.")];
    let older = json!({ "2025-03-26": { "tools": [tool("pay", "for older")] } });
    let all = Announcing::known(&json!({ "tools": newer, "to": older }), "");
    let serve = |revision: &str| {
        let mut host = Client::spawn(&mut all.0.home.command(&["serve"])).unwrap();
        let mut hello = wire::initialize(json!({}));
        hello["protocolVersion"] = json!(revision);
        host.request("initialize", hello).unwrap();
        host.notify("notifications/initialized", json!({})).unwrap();
        host.text("post__pay", json!({})).unwrap();
        host
    };
    let first = serve("2025-03-26");
    all.comes_to_wait(&json!(["pay"]));
    drop(first);
    all.approve();
    for revision in ["2025-11-25", "2025-03-26", "2025-11-25", "2025-03-26"] {
        let mut host = serve(revision);
        all.comes_to_wait(&json!([]));
        let tools = host.tools().unwrap();
        let shown = tools.iter().map(|tool| &tool["description"]);
        assert!(
            shown.eq(&["for older", "Pays back."]),
            "{revision}: {tools:?}"
        );
    }
}

/// What waits for one kind of clients is shown as what it is: that another kind is offered the same
/// in a form that nobody is shown makes none of it known.
#[test]
fn what_nobody_was_shown_hides_nothing_of_what_is_to_be_approved() {
    let evil = |schema: Value| json!({ "name": "a", "description": "EVIL", "inputSchema": schema });
    let (pay, shown) = (tool("pay", "Pays."), json!({ "type": "object" }));
    let all = Announcing::known(&json!({ "tools": [pay] }), "");
    let serve = |able: Value| {
        let mut host = Client::start_able(&mut all.0.home.command(&["serve"]), able).unwrap();
        host.text("post__pay", json!({})).unwrap();
        host
    };
    all.offers(&json!({
        "tools": [pay, evil(shown)],
        "to": { "elicitation": { "tools": [pay, evil(json!(7))] } },
    }));
    for able in [json!({}), asks()] {
        let mut host = serve(able);
        all.comes_to_wait(&json!(["a"]));
        assert_eq!(tools(&mut host), ["post__pay"]);
    }
    for words in [&["diff", "post"][..], &["approve", "post", "--yes"]] {
        let told = all.0.run(words);
        assert!(told.contains("tool `a`, new"), "{told}");
        assert!(told.contains("  + EVIL"), "{told}");
    }
    let mut host = serve(json!({}));
    all.comes_to_wait(&json!([]));
    assert_eq!(tools(&mut host), ["post__a", "post__pay"]);
}
