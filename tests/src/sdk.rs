//! A client: an SDK, the era that it speaks, and the way it reaches the host.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result, anyhow};
use serde_json::{Value, json};

use crate::Home;
use crate::sdk_process::SdkProcess;

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
        let environment: BTreeMap<_, _> = home.environment().into_iter().collect();
        let session = json!({
            "mode": self.mode,
            "steps": steps.as_slice(),
            "place": place,
            "environment": environment,
            "token": token,
        });
        let outcomes = SdkProcess::run(self.name, &session).with_context(|| format!("{self:?}"))?;
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
