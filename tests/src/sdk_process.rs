//! Process of a client, which takes one session after the other: what it imports takes longer than
//! most sessions.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::artifacts;

thread_local! {
    /// Processes by the names of their SDKs. Threads of a test have sessions at the same time, and a
    /// process one at a time. All of them end with their thread.
    static STARTED: RefCell<BTreeMap<&'static str, SdkProcess>> =
        const { RefCell::new(BTreeMap::new()) };
}

/// Program of `tests/clients` that runs.
#[derive(Debug)]
pub(crate) struct SdkProcess {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl SdkProcess {
    /// Has the process of an SDK take a session, and returns the outcomes of its steps. The process
    /// is started where this thread has none that runs.
    ///
    /// # Errors
    /// It cannot be started, or the session fails. What else the client says is on this process's
    /// stderr.
    pub(crate) fn run(name: &'static str, session: &Value) -> Result<Vec<Value>> {
        let mut process = match STARTED.with_borrow_mut(|started| started.remove(name)) {
            Some(process) => process,
            None => Self::start(name)?,
        };
        let mut end = process.end_of(session)?;
        STARTED.with_borrow_mut(|started| started.insert(name, process));
        match end.get_mut("outcomes").map(Value::take) {
            Some(Value::Array(outcomes)) => Ok(outcomes),
            _ => match end.get("failed").and_then(Value::as_str) {
                Some(traceback) => bail!("the session has failed: {traceback}"),
                None => bail!("the client tells no outcomes but `{end}`"),
            },
        }
    }

    fn start(name: &str) -> Result<Self> {
        let scripts = artifacts::workspace().join("tests/clients");
        let mut client = if name.starts_with('v') {
            let mut node = Command::new(artifacts::node()?);
            node.arg(scripts.join("ts/features.mjs"));
            node
        } else {
            let mut python = Command::new(artifacts::python("clients", "python")?);
            python.arg(scripts.join("python/features.py"));
            python
        };
        let mut child = client
            .arg(name)
            .env("DORMOUSE_TEST_NPM", artifacts::npm())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {client:?}"))?;
        let stdout = child.stdout.take().context("there is no stdout")?;
        Ok(Self {
            child,
            stdout: BufReader::new(stdout),
        })
    }

    /// Sends a session, and reads what has become of it.
    fn end_of(&mut self, session: &Value) -> Result<Value> {
        let stdin = self.child.stdin.as_mut().context("there is no stdin")?;
        let sent = stdin.write_all(format!("{session}\n").as_bytes());
        let mut line = String::new();
        if sent.is_err() || self.stdout.read_line(&mut line)? == 0 {
            let status = self.child.wait()?;
            bail!("the client has ended before the session: {status}");
        }
        serde_json::from_str(&line).with_context(|| format!("the client says `{line}`"))
    }
}

impl Drop for SdkProcess {
    fn drop(&mut self) {
        // This closes its stdin, after which it has nothing more to do.
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{STARTED, SdkProcess};

    #[test]
    fn a_session_that_fails_ends_no_other() {
        let session = json!({
            "mode": "legacy", "place": ["/nowhere"], "environment": {}, "token": null, "steps": [],
        });
        let failed = || SdkProcess::run("v1", &session).unwrap_err().to_string();
        let process_that_fails = || {
            let why = failed();
            assert!(why.contains("spawn /nowhere"), "{why}");
            STARTED.with_borrow(|started| started.get("v1").map(|process| process.child.id()))
        };
        let first = process_that_fails();
        assert!(first.is_some());
        assert_eq!(process_that_fails(), first);

        // Nor does a client that ends, but for its own.
        STARTED.with_borrow_mut(|started| started.get_mut("v1").unwrap().child.kill().unwrap());
        let ended = failed();
        assert!(ended.contains("has ended"), "{ended}");
        assert_ne!(process_that_fails(), first);
    }
}
