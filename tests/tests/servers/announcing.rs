//! A home with a server that says what it offers in both eras of the protocol, and tells of its
//! changes while it is connected; and an agent of either era.

use std::fs;

use anyhow::{Result, ensure};
use dormouse_tests::client::{self, PATIENCE};
use dormouse_tests::wire::stateless;
use dormouse_tests::{Client, artifacts, wait};
use serde_json::{Value, json};

use crate::scripted::Scripted;

/// Lists of MCP, each with the member of its result.
const LISTS: [(&str, &str); 4] = [
    ("tools/list", "tools"),
    ("prompts/list", "prompts"),
    ("resources/list", "resources"),
    ("resources/templates/list", "resourceTemplates"),
];

/// Home with a server `post` of that kind.
pub(crate) struct Announcing(pub(crate) Scripted);

impl Announcing {
    /// Makes a home with a server that offers this, and whose user knows it.
    pub(crate) fn known(offer: &Value, more: &str) -> Self {
        let all = Self(Scripted::new());
        all.offers(offer);
        all.0.home.table("post", &all.table(more)).unwrap();
        all.0.home.synced("post").unwrap();
        all
    }

    /// Returns the words that start the server.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = self.0.words("post");
        let script = artifacts::workspace().join("tests/servers/announcing.py");
        words[1] = script.display().to_string();
        words
    }

    fn table(&self, more: &str) -> String {
        format!("command = {}\n{more}", json!(self.words()))
    }

    /// Makes the server offer this from now on.
    pub(crate) fn offers(&self, offer: &Value) {
        self.0.offers_just("post", offer);
    }

    /// Returns all that has reached the server, over all of its starts.
    pub(crate) fn got(&self) -> Vec<String> {
        let file = self.0.home.path().join("post.starts.got");
        let got = fs::read_to_string(file).unwrap_or_default();
        got.lines().map(str::to_owned).collect()
    }

    /// Waits until just these items wait for their user.
    #[track_caller]
    pub(crate) fn comes_to_wait(&self, waits: &Value) {
        wait::until("the change to be known", || {
            let status = self.0.home.server_status("post")?;
            ensure!(status["changed"] == *waits, "{status}");
            Ok(())
        })
        .unwrap();
    }

    pub(crate) fn approve(&self) {
        self.0.run(&["approve", "post", "--yes"]);
    }

    /// Starts an agent of the era without sessions, or of the other one, that can be asked this.
    pub(crate) fn agent(&self, is_stateless: bool, able: Value) -> Agent {
        let mut command = self.0.home.command(&["serve"]);
        let mut agent = Agent {
            host: match is_stateless {
                true => Client::spawn(&mut command).unwrap(),
                false => Client::start_able(&mut command, able.clone()).unwrap(),
            },
            able: is_stateless.then_some(able),
        };
        if is_stateless {
            let wanted = json!({ "notifications": {
                "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
            } });
            let wanted = agent.params(wanted);
            agent.host.send("subscriptions/listen", wanted).unwrap();
            let acknowledged = "notifications/subscriptions/acknowledged";
            agent.host.notification(acknowledged, PATIENCE).unwrap();
        }
        agent
    }
}

/// Session with a host, in one of the eras.
pub(crate) struct Agent {
    pub(crate) host: Client,
    /// Capabilities of a client without sessions.
    able: Option<Value>,
}

impl Agent {
    fn params(&self, params: Value) -> Value {
        match &self.able {
            Some(able) => stateless(params, able.clone()),
            None => params,
        }
    }

    /// Sends a request, and returns its outcome: an object with `result` or with `error`.
    pub(crate) fn outcome(&mut self, method: &str, params: Value) -> Value {
        let params = self.params(params);
        self.host.outcome(method, params).unwrap()
    }

    /// Returns the text of a call's result.
    #[track_caller]
    pub(crate) fn text(&mut self, tool: &str, arguments: Value) -> String {
        let called = json!({ "name": tool, "arguments": arguments });
        let outcome = self.outcome("tools/call", called);
        let text = client::text(&outcome["result"]);
        text.unwrap_or_else(|| panic!("{outcome}")).to_owned()
    }

    /// Makes the server announce that these lists have changed, once it has a way to.
    #[track_caller]
    pub(crate) fn announced(&mut self, lists: &[&str]) {
        wait::until("a listener", || -> Result<()> {
            let told = self.text("post__announce", json!({ "lists": lists }));
            ensure!(told == "called announce", "{told}");
            Ok(())
        })
        .unwrap();
    }

    /// Returns the text of the first message of a prompt, or the error.
    pub(crate) fn prompt(&mut self, name: &str, arguments: Value) -> Result<String, String> {
        let params = json!({ "name": name, "arguments": arguments });
        let outcome = self.outcome("prompts/get", params);
        told(&outcome, "/result/messages/0/content/text")
    }

    /// Returns the text of a resource, or the error.
    pub(crate) fn read(&mut self, uri: &str) -> Result<String, String> {
        let outcome = self.outcome("resources/read", json!({ "uri": uri }));
        told(&outcome, "/result/contents/0/text")
    }

    /// Returns all lists, by the member of their results.
    pub(crate) fn lists(&mut self) -> Value {
        let lists = LISTS.map(|(method, member)| {
            let listed = self.outcome(method, json!({}));
            assert!(listed["result"][member].is_array(), "{listed}");
            (member.to_owned(), listed["result"][member].clone())
        });
        Value::Object(lists.into_iter().collect())
    }

    /// Waits for the announcement that a list has changed.
    #[track_caller]
    pub(crate) fn is_told(&mut self, list: &str) {
        let method = format!("notifications/{list}/list_changed");
        self.host.notification(&method, PATIENCE).unwrap();
    }

    /// Returns the methods of the notifications that no test has taken.
    pub(crate) fn told(&self) -> Vec<Value> {
        let told = self.host.notifications.iter();
        told.map(|one| one["method"].clone()).collect()
    }
}

fn told(outcome: &Value, place: &str) -> Result<String, String> {
    let text = outcome.pointer(place).and_then(Value::as_str);
    text.map(str::to_owned).ok_or_else(|| outcome.to_string())
}
