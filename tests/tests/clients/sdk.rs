//! A client: an SDK, the era that it speaks, and the way it reaches the host.

use std::process::{Command, Stdio};

use dormouse_tests::{Home, artifacts};
use serde_json::Value;

/// One of the clients of `tests/clients`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sdk {
    /// `python`, `fastmcp`, or the major version of TypeScript's.
    name: &'static str,
    /// `legacy`, `auto`, or a version of the protocol.
    mode: &'static str,
    /// Whether it reaches the host over HTTP.
    http: bool,
}

impl Sdk {
    pub(crate) const fn new(name: &'static str, mode: &'static str) -> Self {
        Self {
            name,
            mode,
            http: false,
        }
    }

    pub(crate) const fn over_http(mut self) -> Self {
        self.http = true;
        self
    }

    /// The era without sessions, which every client but those told otherwise
    /// has to find by itself.
    pub(crate) fn is_modern(self) -> bool {
        self.mode != "legacy"
    }

    /// Told which version to speak, Python's SDK begins at once with what it wants,
    /// and never asks who the server is.
    pub(crate) fn asks_who_it_is(self) -> bool {
        !(self.name == "python" && self.mode.starts_with("20"))
    }

    /// The first version of TypeScript's SDK does not tell which it is.
    pub(crate) fn tells_protocol(self) -> bool {
        self.name != "v1"
    }

    /// With which code its user hears that there is no such resource: each era has
    /// one of its own, and TypeScript's second version makes the newer one of both.
    pub(crate) fn not_found(self) -> i64 {
        if self.is_modern() || self.name == "v2" {
            -32602
        } else {
            -32002
        }
    }

    /// Takes these steps in a session of its own with `dormouse serve` there, and
    /// gives the outcome of each.
    pub(crate) fn run<const STEPS: usize>(
        self,
        home: &Home,
        steps: &[Value; STEPS],
    ) -> [Value; STEPS] {
        let scripts = artifacts::workspace().join("tests/clients");
        let mut client = if self.name.starts_with('v') {
            let mut node = Command::new(artifacts::node().unwrap());
            node.arg(scripts.join("ts/features.mjs"));
            node
        } else {
            let mut python = Command::new(artifacts::python("clients", "python").unwrap());
            python.arg(scripts.join("python/features.py"));
            python
        };
        let server = self.http.then(|| home.serve_http(&[]).unwrap());
        let place = match &server {
            Some(server) => vec![format!("http://{}/mcp", server.address())],
            None => home.launch(),
        };
        let output = client
            .args([self.name, self.mode])
            .arg(Value::from(steps.as_slice()).to_string())
            .args(place)
            .envs(home.environment())
            .env("DORMOUSE_TEST_NPM", artifacts::npm())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stdout = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{self:?}: {stdout}{stderr}");
        let outcomes: Vec<Value> = serde_json::from_str(&stdout)
            .unwrap_or_else(|error| panic!("{self:?}: {error}: {stdout}{stderr}"));
        outcomes.try_into().unwrap()
    }

    /// Takes one step.
    pub(crate) fn step(self, home: &Home, step: Value) -> Value {
        let [outcome] = self.run(home, &[step]);
        outcome
    }
}
