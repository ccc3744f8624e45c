//! A client: an SDK, the era that it speaks, and the way it reaches the host.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, anyhow, ensure};
use serde_json::Value;

use crate::{Home, artifacts};

/// Client of `tests/clients`.
#[derive(Debug, Clone, Copy)]
pub struct Sdk {
    /// `python`, `fastmcp`, or the major version of TypeScript's.
    name: &'static str,
    /// `legacy`, `auto`, or a version of the protocol.
    mode: &'static str,
    /// Whether it reaches the host over HTTP.
    http: bool,
}

impl Sdk {
    /// Makes a client that starts the server itself.
    #[must_use]
    pub const fn new(name: &'static str, mode: &'static str) -> Self {
        Self {
            name,
            mode,
            http: false,
        }
    }

    /// Makes the client reach a host that listens.
    #[must_use]
    pub const fn over_http(mut self) -> Self {
        self.http = true;
        self
    }

    /// Whether it speaks the era without sessions, which every client but those told otherwise has
    /// to find by itself.
    #[must_use]
    pub fn is_modern(self) -> bool {
        self.mode != "legacy"
    }

    /// Whether it asks the server for its name: Python's SDK does not where it is told which
    /// version to speak, but begins at once with its requests.
    #[must_use]
    pub fn asks_who_it_is(self) -> bool {
        !(self.name == "python" && self.mode.starts_with("20"))
    }

    /// Whether it tells its protocol version: the first version of TypeScript's SDK does not.
    #[must_use]
    pub fn tells_protocol(self) -> bool {
        self.name != "v1"
    }

    /// Returns the code with which its user hears that there is no such resource: each era has one
    /// of its own, and TypeScript's second version turns both into the newer one.
    #[must_use]
    pub fn not_found(self) -> i64 {
        if self.is_modern() || self.name == "v2" {
            -32602
        } else {
            -32002
        }
    }

    /// Takes these steps in a session of its own with `dormouse serve` there, and returns the
    /// outcome of each.
    ///
    /// # Errors
    /// The host cannot be started, or the client fails.
    pub fn run<const STEPS: usize>(
        self,
        home: &Home,
        steps: &[Value; STEPS],
    ) -> Result<[Value; STEPS]> {
        if self.http {
            let server = home.serve_http(&[])?;
            self.run_with_token(home, &[server.url()], server.token(), steps)
        } else {
            self.run_at(home, &home.launch(), steps)
        }
    }

    /// Takes the steps with any server: its URL, or the words that start it.
    ///
    /// # Errors
    /// The client fails.
    pub fn run_at<const STEPS: usize>(
        self,
        home: &Home,
        place: &[String],
        steps: &[Value; STEPS],
    ) -> Result<[Value; STEPS]> {
        self.run_with_token(home, place, None, steps)
    }

    /// Takes the steps with a server that wants a token.
    ///
    /// # Errors
    /// The client fails.
    pub fn run_with_token<const STEPS: usize>(
        self,
        home: &Home,
        place: &[String],
        token: Option<&str>,
        steps: &[Value; STEPS],
    ) -> Result<[Value; STEPS]> {
        let scripts = artifacts::workspace().join("tests/clients");
        let mut client = if self.name.starts_with('v') {
            let mut node = Command::new(artifacts::node()?);
            node.arg(scripts.join("ts/features.mjs"));
            node
        } else {
            let mut python = Command::new(artifacts::python("clients", "python")?);
            python.arg(scripts.join("python/features.py"));
            python
        };
        let output = client
            .args([self.name, self.mode])
            .arg(Value::from(steps.as_slice()).to_string())
            .args(place)
            .envs(home.environment())
            .env("DORMOUSE_TEST_NPM", artifacts::npm())
            .envs(token.map(|token| ("DORMOUSE_TEST_TOKEN", token)))
            .stdin(Stdio::null())
            .output()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let stdout = String::from_utf8_lossy(&output.stdout);
        ensure!(output.status.success(), "{self:?}: {stdout}{stderr}");
        let outcomes: Vec<Value> =
            serde_json::from_str(&stdout).with_context(|| format!("{self:?}: {stdout}{stderr}"))?;
        outcomes
            .try_into()
            .map_err(|outcomes| anyhow!("{self:?} has not taken every step: {outcomes:?}"))
    }

    /// Takes one step.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn step(self, home: &Home, step: Value) -> Result<Value> {
        let [outcome] = self.run(home, &[step])?;
        Ok(outcome)
    }
}
