//! Client for tests: many calls at once, and all messages of the server are kept.

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use crate::wire::{self, Wire};

/// Time that an answer may take. Long enough for a machine under load that has to compile a
/// component first; a test that is about time measures for itself.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A session with a server.
#[derive(Debug)]
pub struct Client {
    wire: Wire,
    lines: Receiver<Vec<u8>>,
    next: u64,
    /// Answers that nobody has asked for yet, by the id of their request.
    answers: BTreeMap<u64, Value>,
    /// Notifications so far, in the order of arrival.
    pub notifications: Vec<Value>,
    /// Result of `initialize`.
    pub hello: Value,
    /// Results for requests of the server that are answered without a test's doing, by method.
    answering: BTreeMap<String, Value>,
    /// Requests of the server that were answered so.
    pub asked: Vec<Value>,
}

impl Client {
    /// Starts a server and shakes hands with it.
    ///
    /// # Errors
    /// It cannot be started or does not speak MCP.
    pub fn start(command: &mut Command) -> Result<Self> {
        Self::start_able(command, json!({}))
    }

    /// Starts a server and says in the handshake what this client can be asked.
    ///
    /// # Errors
    /// It cannot be started or does not speak MCP.
    pub fn start_able(command: &mut Command, capabilities: Value) -> Result<Self> {
        Self::start_saying(command, wire::initialize(capabilities))
    }

    /// Starts a server and shakes hands with it as the client of that name.
    ///
    /// # Errors
    /// It cannot be started or does not speak MCP.
    pub fn start_as(command: &mut Command, name: &str) -> Result<Self> {
        let mut said = wire::initialize(json!({}));
        if let Some(said) = said.pointer_mut("/clientInfo/name") {
            *said = json!(name);
        }
        Self::start_saying(command, said)
    }

    fn start_saying(command: &mut Command, initialize: Value) -> Result<Self> {
        let mut client = Self::spawn(command)?;
        client.hello = client.request("initialize", initialize)?;
        client.notify("notifications/initialized", json!({}))?;
        Ok(client)
    }

    /// Starts a server and says nothing to it yet.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn spawn(command: &mut Command) -> Result<Self> {
        let mut wire = Wire::spawn(command)?;
        let mut stdout = wire.take_stdout().context("the server has no stdout")?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                match stdout.read_until(b'\n', &mut line) {
                    Ok(read) if read > 0 && sender.send(line).is_ok() => {}
                    _ => return,
                }
            }
        });
        Ok(Self {
            wire,
            lines,
            next: 0,
            answers: BTreeMap::new(),
            notifications: Vec::new(),
            hello: Value::Null,
            answering: BTreeMap::new(),
            asked: Vec::new(),
        })
    }

    /// Waits for the server to ask something, and answers it.
    ///
    /// # Errors
    /// The server asks nothing of that kind.
    pub fn answers(&mut self, method: &str, result: Value) -> Result<Value> {
        let mut asked = self.notification(method, PATIENCE)?;
        self.reply(&asked, result)?;
        Ok(asked.get_mut("params").map(Value::take).unwrap_or_default())
    }

    /// Answers requests of a method with this result from now on, whenever they come while
    /// something is waited for.
    pub fn always_answers(&mut self, method: &str, result: Value) {
        self.answering.insert(method.to_owned(), result);
    }

    /// Answers a request of the server.
    ///
    /// # Errors
    /// `asked` is no request, or the server no longer reads.
    pub fn reply(&mut self, asked: &Value, result: Value) -> Result<()> {
        let id = asked.get("id");
        let id = id.with_context(|| format!("this is no request: {asked}"))?;
        self.wire
            .send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }))
    }

    /// Sends a request; the answer is fetched with [`answer`](Self::answer).
    ///
    /// # Errors
    /// The server no longer reads.
    pub fn send(&mut self, method: &str, params: Value) -> Result<u64> {
        let id = self.next;
        self.next += 1;
        self.wire.send(&wire::request(id, method, params))?;
        Ok(id)
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// The server no longer reads.
    pub fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        self.wire
            .send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    /// Waits for the whole answer to a request.
    ///
    /// # Errors
    /// There is none within that time, or the server has written a line that is
    /// no JSON-RPC message.
    pub fn answer_within(&mut self, id: u64, at_most: Duration) -> Result<Value> {
        let deadline = Instant::now() + at_most;
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return Ok(answer);
            }
            self.receive(deadline)
                .with_context(|| format!("no answer to request {id} within {at_most:?}"))?;
        }
    }

    /// Whether the answer to a request has come while something else was waited for.
    #[must_use]
    pub fn has_answer(&self, id: u64) -> bool {
        self.answers.contains_key(&id)
    }

    /// Waits for the whole answer to a request.
    ///
    /// # Errors
    /// As [`answer_within`](Self::answer_within).
    pub fn answer(&mut self, id: u64) -> Result<Value> {
        self.answer_within(id, PATIENCE)
    }

    /// Sends a request, and returns its result.
    ///
    /// # Errors
    /// There is no answer, or it is an error.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.send(method, params)?;
        let mut answer = self.answer(id)?;
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => bail!("`{method}` was answered with {answer}"),
        }
    }

    /// Sends a request, and returns its outcome: an object with `result` or with `error`.
    ///
    /// # Errors
    /// There is no answer.
    pub fn outcome(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.send(method, params)?;
        let mut answer = self.answer(id)?;
        if let Some(members) = answer.as_object_mut() {
            members.remove("jsonrpc");
            members.remove("id");
        }
        Ok(answer)
    }

    /// Returns all tools, over all pages.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn tools(&mut self) -> Result<Vec<Value>> {
        self.list("tools/list", "tools")
    }

    /// Returns all items that a method lists under a key, over all pages.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn list(&mut self, method: &str, key: &str) -> Result<Vec<Value>> {
        let mut items = Vec::new();
        let mut params = json!({});
        loop {
            let mut page = self.request(method, params)?;
            match page.get_mut(key).map(Value::take) {
                Some(Value::Array(page)) => items.extend(page),
                _ => bail!("`{method}` was answered without `{key}`: {page}"),
            }
            match page.get("nextCursor") {
                Some(cursor) if !cursor.is_null() => params = json!({ "cursor": cursor }),
                _ => return Ok(items),
            }
        }
    }

    /// Calls a tool and waits for its result.
    ///
    /// # Errors
    /// There is no answer, or it is a protocol error. An error of the tool is a
    /// result.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        self.request(
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Calls a tool by a request of the era without a handshake, which may come after a handshake,
    /// and returns its result.
    ///
    /// # Errors
    /// As [`call`](Self::call).
    pub fn call_stateless(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", wire::stateless(params, json!({})))
    }

    /// Calls a tool, and returns the text of its first content block.
    ///
    /// # Errors
    /// As [`call`](Self::call), and where the tool fails.
    pub fn text(&mut self, tool: &str, arguments: Value) -> Result<String> {
        let result = self.call(tool, arguments)?;
        ensure!(
            result.get("isError") != Some(&Value::Bool(true)),
            "`{tool}` failed: {result}"
        );
        text(&result)
            .map(str::to_owned)
            .with_context(|| format!("`{tool}` answered without text: {result}"))
    }

    /// Calls a tool that has to fail, and returns its error.
    ///
    /// # Errors
    /// As [`call`](Self::call), and where the tool does not fail.
    pub fn error(&mut self, tool: &str, arguments: Value) -> Result<String> {
        let result = self.call(tool, arguments)?;
        ensure!(
            result.get("isError") == Some(&Value::Bool(true)),
            "`{tool}` did not fail: {result}"
        );
        text(&result)
            .map(str::to_owned)
            .with_context(|| format!("`{tool}` failed without text: {result}"))
    }

    /// Waits for a notification of that method, among those that nobody has taken.
    ///
    /// # Errors
    /// There is none within that time.
    pub fn notification(&mut self, method: &str, at_most: Duration) -> Result<Value> {
        let deadline = Instant::now() + at_most;
        loop {
            let is_it =
                |message: &Value| message.get("method").and_then(Value::as_str) == Some(method);
            if let Some(place) = self.notifications.iter().position(is_it) {
                return Ok(self.notifications.remove(place));
            }
            self.receive(deadline)
                .with_context(|| format!("no `{method}` within {at_most:?}"))?;
        }
    }

    /// Closes the server's input, and waits for the server to exit.
    ///
    /// # Errors
    /// It is still there after that time.
    pub fn close(mut self, at_most: Duration) -> Result<ExitStatus> {
        self.wire.close();
        self.wire.wait(at_most)
    }

    /// Waits for the server to exit, without closing its input.
    ///
    /// # Errors
    /// It is still there after that time.
    pub fn wait(mut self, at_most: Duration) -> Result<ExitStatus> {
        self.wire.wait(at_most)
    }

    /// Returns the server's process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.wire.pid()
    }

    fn receive(&mut self, deadline: Instant) -> Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        let line = self.lines.recv_timeout(left)?;
        let message: Value = serde_json::from_slice(&line)
            .with_context(|| format!("the server wrote `{}`", String::from_utf8_lossy(&line)))?;
        ensure!(
            message.get("jsonrpc") == Some(&json!("2.0")),
            "the server wrote {message}"
        );
        if let Some(method) = message.get("method").and_then(Value::as_str) {
            match self.answering.get(method).cloned() {
                Some(result) if message.get("id").is_some() => {
                    self.reply(&message, result)?;
                    self.asked.push(message);
                }
                _ => self.notifications.push(message),
            }
        } else {
            let id = message.get("id").and_then(Value::as_u64);
            let id = id.with_context(|| format!("an answer without an id of ours: {message}"))?;
            // An id is answered once. A second answer to it was forged.
            ensure!(
                id < self.next,
                "an answer to a request that was never sent: {message}"
            );
            let twice = self.answers.insert(id, message);
            ensure!(twice.is_none(), "request {id} was answered twice");
        }
        Ok(())
    }
}

/// Returns the text of a result's first content block.
#[must_use]
pub fn text(result: &Value) -> Option<&str> {
    result.get("content")?.get(0)?.get("text")?.as_str()
}
