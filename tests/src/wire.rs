//! Child process that speaks one JSON message a line.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

/// The newest version of the protocol that starts with `initialize`.
pub const LEGACY: &str = "2025-11-25";

/// The version of the protocol that has no handshake.
pub const MODERN: &str = "2026-07-28";

/// Running server and the two ends of its pipes, with nothing in between: a bench that writes and
/// reads here measures the server and the kernel.
#[derive(Debug)]
pub struct Wire {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<BufReader<ChildStdout>>,
}

impl Wire {
    /// Starts a server. Its stderr is the caller's, unless the command says
    /// something else.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn spawn(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{}`", command.get_program().display()))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().map(BufReader::new);
        Ok(Self {
            child,
            stdin,
            stdout,
        })
    }

    /// Sends a message.
    ///
    /// # Errors
    /// The server no longer reads.
    pub fn send(&mut self, message: &Value) -> Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.send_raw(&line)
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// The server no longer reads.
    pub fn send_raw(&mut self, bytes: &[u8]) -> Result<()> {
        let stdin = self
            .stdin
            .as_mut()
            .context("the server's stdin is closed")?;
        stdin
            .write_all(bytes)
            .context("the server no longer reads")?;
        Ok(())
    }

    /// Reads the next line of the server, as it is.
    ///
    /// # Errors
    /// It has closed its stdout.
    pub fn receive_raw(&mut self) -> Result<Vec<u8>> {
        let stdout = self
            .stdout
            .as_mut()
            .context("the server's stdout is read elsewhere")?;
        let mut line = Vec::new();
        ensure!(
            stdout.read_until(b'\n', &mut line)? > 0,
            "the server has closed its stdout"
        );
        Ok(line)
    }

    /// Reads the next message of the server.
    ///
    /// # Errors
    /// It has closed its stdout, or written something that is no JSON.
    pub fn receive(&mut self) -> Result<Value> {
        let line = self.receive_raw()?;
        serde_json::from_slice(&line)
            .with_context(|| format!("the server wrote `{}`", String::from_utf8_lossy(&line)))
    }

    /// Sends a request and waits for its answer; messages before that are dropped. Returns the
    /// result.
    ///
    /// # Errors
    /// The server answers with an error, or not at all.
    pub fn request(&mut self, id: u64, method: &str, params: Value) -> Result<Value> {
        self.send(&request(id, method, params))?;
        loop {
            let mut message = self.receive()?;
            if message.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            return match message.get_mut("result") {
                Some(result) => Ok(result.take()),
                None => bail!("`{method}` was answered with {message}"),
            };
        }
    }

    /// Does the `initialize` handshake.
    ///
    /// # Errors
    /// The server does not speak MCP.
    pub fn initialize(&mut self) -> Result<Value> {
        self.initialize_able(json!({}))
    }

    /// Does the `initialize` handshake of a client with these capabilities.
    ///
    /// # Errors
    /// The server does not speak MCP.
    pub fn initialize_able(&mut self, capabilities: Value) -> Result<Value> {
        let answer = self.request(0, "initialize", initialize(capabilities))?;
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(answer)
    }

    /// Takes out the reading end, for a thread of its own.
    pub fn take_stdout(&mut self) -> Option<BufReader<ChildStdout>> {
        self.stdout.take()
    }

    /// Closes the server's stdin, which is how a client says that it is done.
    pub fn close(&mut self) {
        self.stdin = None;
    }

    /// Waits for the server to exit.
    ///
    /// # Errors
    /// It is still there after that time.
    pub fn wait(&mut self, at_most: Duration) -> Result<ExitStatus> {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            ensure!(
                start.elapsed() < at_most,
                "the server has not exited within {at_most:?}"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Returns the server's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.close();
        // Most servers leave at the end of their input, and some do not.
        if self.wait(Duration::from_secs(2)).is_err() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Makes a JSON-RPC request.
#[must_use]
pub fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Adds to the parameters of a request what the era without a handshake wants, with what its client
/// can be asked. The members of `_meta` are kept.
#[must_use]
pub fn stateless(mut params: Value, capabilities: Value) -> Value {
    if let Some(members) = params.as_object_mut() {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {
                "name": "dormouse-tests", "version": env!("CARGO_PKG_VERSION")
            },
            "io.modelcontextprotocol/clientCapabilities": capabilities
        });
        let mut all = members.remove("_meta").unwrap_or_else(|| json!({}));
        if let (Some(all), Value::Object(meta)) = (all.as_object_mut(), meta) {
            all.extend(meta);
        }
        members.insert("_meta".into(), all);
    }
    params
}

/// Makes the parameters of `initialize`.
#[must_use]
pub fn initialize(capabilities: Value) -> Value {
    json!({
        "protocolVersion": LEGACY,
        "capabilities": capabilities,
        "clientInfo": { "name": "dormouse-tests", "version": env!("CARGO_PKG_VERSION") }
    })
}
