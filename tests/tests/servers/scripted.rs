//! A home with servers whose tools a test can change.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Result, ensure};
use dormouse_tests::client::PATIENCE;
use dormouse_tests::wire::stateless;
use dormouse_tests::{Client, Home, artifacts, wait};
use serde_json::{Map, Value, json};

/// Returns the capabilities of a client that can show its user a form.
pub(crate) fn asks() -> Value {
    json!({ "elicitation": { "form": {} } })
}

/// Returns the answer of a user who agrees.
pub(crate) fn agreed() -> Value {
    json!({ "action": "accept", "content": { "agree": true } })
}

/// Calls a tool where there is no handshake and a question is the answer to a call. Returns the
/// question, and the result of the call that goes on with that answer.
pub(crate) fn call_and_answer(host: &mut Client, tool: &str, answer: &Value) -> (Value, Value) {
    let call = |more: Value| {
        let mut params = json!({ "name": tool, "arguments": {} });
        let members = params.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        stateless(params, asks())
    };
    let first = host.request("tools/call", call(json!({}))).unwrap();
    assert_eq!(first["resultType"], "input_required", "{first}");
    let questions = first["inputRequests"].as_object().unwrap();
    let (id, question) = questions.iter().next().unwrap();
    let again = json!({
        "requestState": first["requestState"], "inputResponses": { id: answer }
    });
    let last = host.request("tools/call", call(again)).unwrap();
    (question.clone(), last)
}

/// Home, with a folder of a project below it.
pub(crate) struct Scripted {
    pub(crate) home: Home,
}

impl Scripted {
    pub(crate) fn new() -> Self {
        let home = Home::new().unwrap();
        fs::create_dir_all(home.path().join("project/.git")).unwrap();
        Self { home }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.home.path().join("project")
    }

    fn file(&self, name: &str, what: &str) -> PathBuf {
        self.home.path().join(format!("{name}.{what}"))
    }

    /// Makes a server have these tools from now on, with their descriptions.
    pub(crate) fn offers(&self, name: &str, tools: &[(&str, &str)]) {
        let tools = tools.iter().map(|(name, description)| {
            let properties = json!({ "text": { "type": "string" } });
            let schema = json!({ "type": "object", "properties": properties });
            json!({ "name": name, "description": description, "inputSchema": schema })
        });
        let tools: Vec<_> = tools.collect();
        self.offers_just(name, &json!(tools));
    }

    /// Makes a server have just these tools from now on, whatever they are.
    pub(crate) fn offers_just(&self, name: &str, tools: &Value) {
        fs::write(self.file(name, "tools"), tools.to_string()).unwrap();
    }

    /// Returns the words that start a server.
    pub(crate) fn words(&self, name: &str) -> Vec<String> {
        let script = artifacts::workspace().join("tests/servers/scripted.py");
        let files = [script, self.file(name, "starts"), self.file(name, "tools")];
        let files = files.iter().map(|file| file.display().to_string());
        std::iter::once("python3".to_owned()).chain(files).collect()
    }

    /// Returns the number of starts of a server.
    pub(crate) fn starts(&self, name: &str) -> usize {
        let starts = fs::read_to_string(self.file(name, "starts")).unwrap_or_default();
        starts.lines().count()
    }

    /// Returns a client's file with these servers, as most clients write it.
    pub(crate) fn client_file(&self, names: &[&str]) -> String {
        let servers = names.iter().map(|name| {
            let words = self.words(name);
            let server = json!({
                "command": words[0], "args": words[1..],
                "env": { "SECRET": "hunter-two" }
            });
            ((*name).to_owned(), server)
        });
        let servers: Map<String, Value> = servers.collect();
        let text = serde_json::to_string_pretty(&json!({ "mcpServers": servers })).unwrap();
        format!("// my servers\n{text}\n")
    }

    /// Writes a client's file with these servers.
    pub(crate) fn configure(&self, file: &Path, names: &[&str]) {
        write(file, &self.client_file(names));
    }

    pub(crate) fn cursor(&self) -> PathBuf {
        self.home.path().join(".cursor/mcp.json")
    }

    /// Adds a server to the user's own file, with more lines of TOML.
    pub(crate) fn own(&self, name: &str, more: &str) {
        let command = format!("command = {}\n{more}", json!(self.words(name)));
        self.home.table(name, &command).unwrap();
    }

    /// Starts a session in the home folder, which is no project.
    pub(crate) fn serve(&self, options: &[&str]) -> Client {
        let mut words = vec!["serve"];
        words.extend_from_slice(options);
        Client::start(&mut self.home.command(&words)).unwrap()
    }

    /// Starts a session in the project, of a client that can be asked this.
    pub(crate) fn serve_project(&self, able: Value) -> Client {
        let mut command = self.home.command(&["serve"]);
        Client::start_able(command.current_dir(self.project()), able).unwrap()
    }

    /// Runs a command in a folder. Returns whether it has succeeded, and its output on both
    /// streams.
    pub(crate) fn run_in(&self, folder: &Path, words: &[&str]) -> (bool, String) {
        let mut command = self.home.command(words);
        command
            .current_dir(folder)
            .stdin(std::process::Stdio::null());
        let output = command.output().unwrap();
        (output.status.success(), said(&output))
    }

    /// Runs a command that has to succeed.
    #[track_caller]
    pub(crate) fn run(&self, words: &[&str]) -> String {
        let (succeeded, said) = self.run_in(self.home.path(), words);
        assert!(succeeded, "{words:?}: {said}");
        said
    }

    /// Runs a command that has to fail.
    #[track_caller]
    pub(crate) fn fails(&self, words: &[&str]) -> String {
        let (succeeded, said) = self.run_in(self.home.path(), words);
        assert!(!succeeded, "{words:?}: {said}");
        said
    }
}

pub(crate) fn write(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// Returns the names of the tools that an agent sees.
pub(crate) fn tools(host: &mut Client) -> Vec<String> {
    let tools = host.tools().unwrap().into_iter();
    let mut names: Vec<String> = tools
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

/// Waits until an agent that is told of changes sees these tools.
#[track_caller]
pub(crate) fn comes_to(host: &mut Client, wanted: &[&str]) {
    wait::until("the tools", || -> Result<()> {
        let now = tools(host);
        ensure!(now == wanted, "{now:?} instead of {wanted:?}");
        Ok(())
    })
    .unwrap();
}

/// Waits for the announcement that the tools have changed.
pub(crate) fn told_of_change(host: &mut Client) {
    host.notification("notifications/tools/list_changed", PATIENCE)
        .unwrap();
}
