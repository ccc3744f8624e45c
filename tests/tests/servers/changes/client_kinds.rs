//! A server that offers other tools to each kind of clients, and these clients.

use std::cell::Cell;

use anyhow::ensure;
use dormouse_tests::http::{Server, Session};
use dormouse_tests::wait;
use serde_json::{Value, json};

use crate::announcing::Announcing;
use crate::scripted::asks;

pub(super) fn tool(name: &str, words: &str) -> Value {
    json!({ "name": name, "description": words, "inputSchema": { "type": "object" } })
}

/// Returns the offers for clients that can be asked, for those of the era without sessions that
/// cannot, and for the rest: each with these words. Clients that can be asked have a tool, a prompt
/// and a template more, and those that show pages another tool.
pub(super) fn offer([asked, modern, others]: [&str; 3]) -> Value {
    let prompts = |words: &str| json!([{ "name": "draft", "description": words }]);
    let mut more = prompts(asked);
    let consent = json!({ "name": "consent", "description": "Asks first." });
    more.as_array_mut().unwrap().push(consent);
    let drawer = json!({ "uriTemplate": "post://{drawer}", "name": "drawer" });
    json!({
        "tools": [tool("pay", others)], "prompts": prompts(others),
        "to": {
            "stateless": { "tools": [tool("pay", modern)], "prompts": prompts(modern) },
            "elicitation": {
                "tools": [tool("pay", asked), tool("confirm", "Confirms.")],
                "prompts": more, "resourceTemplates": [drawer],
            },
            "extensions": { "tools": [tool("pay", others), tool("page", "Shows.")] },
        },
    })
}

/// Host with clients of all kinds.
pub(super) struct Kinds {
    pub(super) all: Announcing,
    pub(super) server: Server,
    pub(super) sessions: [Session; 3],
    /// Whether its user has approved the tool that only clients that show pages have.
    pub(super) knows_pages: Cell<bool>,
}

/// Clients, by their places among all.
pub(super) const ASKED: usize = 0;

pub(super) const MODERN: usize = 1;

pub(super) const OTHERS: usize = 2;

pub(super) const PAGES: usize = 3;

const ALL: [usize; 4] = [ASKED, MODERN, OTHERS, PAGES];

impl Kinds {
    pub(super) fn of(words: [&str; 3]) -> Self {
        let all = Announcing::known(&offer(words), "");
        let server = all.0.home.serve_http(&[]).unwrap();
        let pages = json!({ "extensions": { "io.modelcontextprotocol/ui": {} } });
        let sessions = [asks(), json!({}), pages];
        let sessions = sessions.map(|able| Session::open_able(&server, able).unwrap());
        Self {
            all,
            server,
            sessions,
            knows_pages: Cell::new(false),
        }
    }

    pub(super) fn request(&self, client: usize, method: &str, params: Value) -> Value {
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

    /// Makes a call of that client, which connects the server and passes.
    #[track_caller]
    pub(super) fn pays(&self, client: usize) {
        let call = json!({ "name": "post__pay", "arguments": {} });
        let called = self.request(client, "tools/call", call);
        assert_eq!(called["content"][0]["text"], "called pay", "{called}");
    }

    /// Checks that each client sees these words of the tool and of the prompt, and the tool that is
    /// only there for some.
    #[track_caller]
    pub(super) fn all_see(&self, words: &str) {
        for client in ALL {
            let listed = self.request(client, "tools/list", json!({}));
            let tools = listed["tools"].as_array().unwrap().iter();
            let tools: Vec<_> = tools
                .map(|tool| json!([tool["name"], tool["description"]]))
                .collect();
            let mut wanted = vec![
                json!(["post__pay", words]),
                json!(["post__confirm", "Confirms."]),
            ];
            wanted.extend(
                self.knows_pages
                    .get()
                    .then(|| json!(["post__page", "Shows."])),
            );
            assert_eq!(tools, wanted, "{client}");
            let listed = self.request(client, "prompts/list", json!({}));
            let prompts = [&listed["prompts"][0], &listed["prompts"][1]];
            let shown = prompts.map(|prompt| json!([prompt["name"], prompt["description"]]));
            let wanted = [
                json!(["post__draft", words]),
                json!(["post__consent", "Asks first."]),
            ];
            assert_eq!(shown, wanted, "{client}");
            let listed = self.request(client, "resources/templates/list", json!({}));
            let template = &listed["resourceTemplates"][0]["uriTemplate"];
            assert_eq!(template, "post://{drawer}", "{client}");
        }
    }

    /// Checks that no client's list is a change of another's: whichever client comes, nothing
    /// waits, and all see the same as before.
    #[track_caller]
    pub(super) fn is_at_rest(&self, words: &str) {
        for client in [ASKED, OTHERS, MODERN, PAGES, MODERN, OTHERS, ASKED] {
            self.all.0.run(&["restart", "post"]);
            let starts = self.all.0.starts("post");
            self.pays(client);
            assert_eq!(self.all.0.starts("post"), starts + 1);
            self.all.comes_to_wait(&json!([]));
            self.all_see(words);
        }
    }

    pub(super) fn comes_to(&self, words: &str) {
        wait::until("the words", || {
            let listed = self.request(OTHERS, "tools/list", json!({})).to_string();
            ensure!(listed.contains(words), "{listed}");
            Ok(())
        })
        .unwrap();
    }
}
