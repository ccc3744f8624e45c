//! The Inspector, which checks a server against the specification: its command line, which makes a
//! session for one request, and `mcpdo`, which keeps one open and answers the server's questions.
//! Neither shows progress to its user.

mod exposure;

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use dormouse_tests::{Home, artifacts, client, http};
use serde_json::{Map, Value, json};

use exposure::{loads_and_calls, searches_describes_and_calls};

/// A way to reach the host.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// Whether the host is reached over HTTP.
    http: bool,
    /// `legacy` or `modern`.
    era: &'static str,
}

/// Inspector, and the home of its host.
struct Inspector {
    home: Home,
    era: &'static str,
    /// Host over HTTP; over stdio the Inspector starts one itself.
    _server: Option<http::Server>,
}

impl Inspector {
    fn new(way: Way, home: Home) -> Self {
        let server = way.http.then(|| home.serve_http(&[]).unwrap());
        let entry = match &server {
            Some(server) => {
                let bearer = format!("Bearer {}", server.token().unwrap());
                json!({
                    "type": "streamable-http",
                    "url": server.url(),
                    "headers": { "Authorization": bearer },
                })
            }
            None => {
                let launch = home.launch();
                // It passes on little of the environment that it has itself.
                let env: Map<_, _> = home
                    .environment()
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), json!(value)))
                    .collect();
                json!({ "command": launch[0], "args": launch[1..], "env": env })
            }
        };
        let config = json!({ "mcpServers": { "dormouse": entry } });
        std::fs::write(home.path().join("inspector.json"), config.to_string()).unwrap();
        Self {
            home,
            era: way.era,
            _server: server,
        }
    }

    fn guests(way: Way, guests: &[&str]) -> Self {
        let home = Home::new().unwrap();
        home.guests(guests).unwrap();
        Self::new(way, home)
    }

    /// Returns a program of the Inspector, in the home, and with its configuration.
    fn program(&self, program: &str) -> Command {
        let mut command = Command::new(artifacts::node().unwrap());
        command
            .arg(artifacts::npm_file("@modelcontextprotocol/inspector", program).unwrap())
            .envs(self.home.environment())
            // The daemon of this home, and of nobody else.
            .env("MCP_INSPECTOR_DAEMON_DIR", self.home.path().join("run/i"))
            .env("MCP_INSPECTOR_DAEMON_TOKEN", "of-this-test")
            .env("MCP_INSPECTOR_SECRET_STORE", "memory")
            .stdin(Stdio::null());
        command
    }

    /// Returns the command line, which reads a server from a file: among its arguments, Dormouse's
    /// own `--config` would be taken for the Inspector's.
    fn command_line(&self, arguments: &[&str]) -> Command {
        let mut command = self.program("clients/launcher/build/index.js");
        command
            .args(["--cli", "--server", "dormouse", "--config"])
            .arg(self.home.path().join("inspector.json"))
            .args(["--protocol-era", self.era])
            .args(arguments);
        command
    }

    fn inspect(&self, arguments: &[&str]) -> Value {
        printed(&self.command_line(arguments).output().unwrap())
    }

    fn mcpdo(&self, arguments: &[&str]) -> Value {
        let mut command = self.program("clients/mcpdo/build/mcp-bin.js");
        command.args(["--format", "json"]).args(arguments);
        printed(&command.output().unwrap())
    }
}

fn printed(output: &Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

/// The daemon of `mcpdo`, which ends with the test even if that fails.
struct Daemon<'a>(&'a Inspector);

impl<'a> Daemon<'a> {
    fn start(inspector: &'a Inspector) -> Self {
        let daemon = Self(inspector);
        let config = inspector.home.path().join("inspector.json");
        let config = config.to_str().unwrap();
        let connected = inspector.mcpdo(&[
            "connect",
            "dormouse",
            "--config",
            config,
            "--era",
            inspector.era,
        ]);
        assert_eq!(connected["protocolEra"], inspector.era);
        daemon
    }

    fn call(&self, tool: &str, arguments: &str) -> Value {
        let call = ["--connection", "dormouse", "tools/call", tool, arguments];
        self.0.mcpdo(&call)
    }

    /// Answers the question with which a call has come back.
    fn answer(&self, asked: &Value, answer: &str) -> Value {
        let id = asked["elicitationPending"]["elicitationId"].as_str();
        let id = id.unwrap_or_else(|| panic!("nothing asked in {asked}"));
        self.0.mcpdo(&["elicitation/respond", id, answer])
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        let mut stop = self.0.program("clients/mcpdo/build/mcp-bin.js");
        let _ = stop.args(["daemon", "stop"]).output();
    }
}

/// Every schema that is made from WIT is accepted, of every guest and plugin.
fn strictly_accepts_every_tool(way: Way) {
    let home = Home::new().unwrap();
    let names = dormouse_guests::NAMES.iter().copied();
    // Its schemas are made by hand.
    let names: Vec<_> = names.filter(|name| *name != "adapter").collect();
    home.guests(&names).unwrap();
    for plugin in ["conformance", "filesystem", "time"] {
        home.server(plugin, &artifacts::plugin(plugin).unwrap())
            .unwrap();
    }
    home.lists_all().unwrap();
    let inspector = Inspector::new(way, home);
    let list = inspector.inspect(&["--method", "tools/list", "--strict"]);
    assert!(list["tools"].as_array().unwrap().len() > 40);
}

fn gets_prompts_and_resources(way: Way) {
    let inspector = Inspector::guests(way, &["library"]);
    let list = |method: &str| inspector.inspect(&["--method", method]);
    let prompts = list("prompts/list");
    assert_eq!(prompts["prompts"][1]["name"], "library__talk");
    let talk = ["--method", "prompts/get", "--prompt-name", "library__talk"];
    let talk = inspector.inspect(&[&talk[..], &["--prompt-args", "topic=dormice"]].concat());
    assert_eq!(
        talk["messages"][0]["content"]["text"],
        "What do you know of dormice?"
    );
    let resources = list("resources/list");
    assert_eq!(resources["resources"][0]["uri"], "library://today");
    let templates = list("resources/templates/list");
    assert_eq!(
        templates["resourceTemplates"][0]["uriTemplate"],
        "library://zeros/{n}"
    );
    let read = ["--method", "resources/read", "--uri", "library://zeros/3"];
    assert_eq!(inspector.inspect(&read)["contents"][0]["blob"], "AAAA");
}

fn calls_and_answers(way: Way) {
    let inspector = Inspector::guests(way, &["echo", "reporter", "asker"]);
    let daemon = Daemon::start(&inspector);
    let added = daemon.call("echo__add", r#"{"a":2,"b":3}"#);
    assert_eq!(added["structuredContent"]["result"], 5);
    let worked = daemon.call("reporter__work", r#"{"steps":3}"#);
    assert_eq!(client::text(&worked), Some("did 3 steps"));

    let asked = daemon.call("asker__greet", "{}");
    assert_eq!(
        asked["elicitationPending"]["message"],
        "[server `asker`] What is your name?"
    );
    let greeted = daemon.answer(&asked, r#"{"name":"Ada"}"#);
    assert_eq!(client::text(&greeted), Some("Hello, Ada!"));
    let asked = daemon.call("asker__greet", "{}");
    let declined = daemon.answer(&asked, "--decline");
    assert_eq!(client::text(&declined), Some("declined"));
    let asked = daemon.call("asker__add", r#"{"count":2}"#);
    let again = daemon.answer(&asked, r#"{"number":40}"#);
    let sum = daemon.answer(&again, r#"{"number":2}"#);
    assert_eq!(client::text(&sum), Some("42"));
}

/// The command line is interrupted, which is how its user cancels a call.
fn cancels_a_call(way: Way) {
    let inspector = Inspector::guests(way, &["spin"]);
    let call = ["--method", "tools/call", "--tool-name", "spin__spin"];
    let mut call = inspector
        .command_line(&call)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until(|| spins(&inspector.home));
    call.kill().unwrap();
    call.wait().unwrap();
    until(|| !spins(&inspector.home));
}

/// Whether a call of `spin` runs, in any host.
fn spins(home: &Home) -> bool {
    let hosts = home.json(&["status", "--json"]).unwrap();
    hosts.as_array().unwrap().iter().any(|host| {
        let servers = host["servers"].as_array().unwrap();
        servers.iter().any(|server| {
            server["name"] == "spin" && server["instances"].as_u64().is_some_and(|now| now > 0)
        })
    })
}

fn until(done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < client::PATIENCE, "it takes too long");
        std::thread::sleep(Duration::from_millis(20));
    }
}

macro_rules! ways {
    ($($module:ident = $http:literal $era:literal;)*) => {
        $(mod $module {
            const WAY: crate::inspector::Way = crate::inspector::Way { http: $http, era: $era };
            ways!(strictly_accepts_every_tool gets_prompts_and_resources calls_and_answers
                cancels_a_call searches_describes_and_calls loads_and_calls);
        })*
    };
    ($($feature:ident)*) => {
        $(#[test]
        fn $feature() {
            crate::inspector::$feature(WAY);
        })*
    };
}

ways! {
    stdio = false "modern";
    stdio_legacy = false "legacy";
    over_http = true "modern";
    over_http_legacy = true "legacy";
}
