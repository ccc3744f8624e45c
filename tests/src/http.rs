//! `dormouse serve --http`, and a client for it that does no more than it is told: one request a
//! connection, every byte of it chosen by the test.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};

use crate::client::PATIENCE;
use crate::wire;

/// Host that listens.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: SocketAddr,
    token: Option<String>,
    said: Arc<Mutex<String>>,
}

impl Server {
    /// Starts a host that is told to listen at a port of its own choice. Requests get the host's
    /// token from the file that the host names.
    ///
    /// # Errors
    /// It does not listen, or its token cannot be read.
    pub fn start(command: &mut Command) -> Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut stderr = BufReader::new(child.stderr.take().context("there is no stderr")?);
        let said: Arc<Mutex<String>> = Arc::default();
        let mut line = String::new();
        let mut token = None;
        let address = loop {
            line.clear();
            ensure!(
                stderr.read_line(&mut line)? > 0,
                "the host has ended: {}",
                said.lock().unwrap_or_else(PoisonError::into_inner)
            );
            if let Some(url) = line.trim().strip_prefix("listening on http://") {
                let address = url.strip_suffix("/mcp").context("no `/mcp` in the URL")?;
                break address.parse()?;
            }
            if let Some(file) = token_file(&line) {
                token = Some(std::fs::read_to_string(file)?.trim().to_owned());
            }
            said.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push_str(&line);
        };
        let heard = said.clone();
        std::thread::spawn(move || {
            while stderr.read_line(&mut line).is_ok_and(|read| read > 0) {
                let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
                heard.push_str(&std::mem::take(&mut line));
            }
        });
        Ok(Self {
            child,
            address,
            token,
            said,
        })
    }

    /// Returns the address at which the host listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the URL at which clients speak MCP to the host.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Returns the token that the host wants, if it wants one.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// Returns the process id of the host.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns the host's output on stderr.
    #[must_use]
    pub fn said(&self) -> String {
        self.said
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Sends the host a signal by its name, such as `TERM`.
    ///
    /// # Errors
    /// It has ended.
    pub fn signal(&self, name: &str) -> Result<()> {
        let sent = Command::new("kill")
            .arg(format!("-{name}"))
            .arg(self.pid().to_string())
            .status()?;
        ensure!(sent.success(), "the host has ended");
        Ok(())
    }

    /// Waits for the host to exit.
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
                "the host has not exited within {at_most:?}"
            );
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Returns the memory of the host, in KiB.
    ///
    /// # Errors
    /// It has ended, or this system does not tell.
    pub fn memory(&self) -> Result<u64> {
        crate::processes::memory(self.pid())
    }

    /// Returns the time for which the host has kept processors busy, all its threads together, in
    /// steps of 10 ms. Unlike the time on the clock, others on the same machine hardly change it.
    ///
    /// # Errors
    /// It has ended, or this system does not tell.
    pub fn cpu_time(&self) -> Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid()))?;
        // The program's name, in brackets, may have spaces. After it come fields 3
        // and on; 14 and 15 are the time in the program and that in the kernel.
        let (_, fields) = stat.rsplit_once(") ").context("no name in the stat")?;
        let times = fields.split(' ').skip(11).take(2);
        let ticks: Vec<u64> = times.map(str::parse).collect::<Result<_, _>>()?;
        // To programs, Linux always says hundredths of a second.
        Ok(Duration::from_millis(10 * ticks.iter().sum::<u64>()))
    }

    /// Connects to the host.
    ///
    /// # Errors
    /// There is none to be had.
    pub fn connect(&self) -> Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Sends a request and reads the head of the answer.
    ///
    /// # Errors
    /// There is no answer.
    pub fn ask(&self, request: &Request) -> Result<Answer> {
        self.begin(request)?.answer()
    }

    /// Sends a request.
    ///
    /// # Errors
    /// There is no connection to be had.
    pub fn begin(&self, request: &Request) -> Result<Exchange> {
        let mut stream = self.connect()?;
        stream.write_all(&request.bytes(self))?;
        Ok(Exchange {
            stream: BufReader::new(stream),
        })
    }

    /// Sends a request of the stateless era, and returns its result.
    ///
    /// # Errors
    /// The answer is no result.
    pub fn stateless(&self, method: &str, params: Value) -> Result<Value> {
        self.ask(&Request::stateless(1, method, params))?.result()
    }

    /// Calls a tool in the stateless era, and returns the text of its answer.
    ///
    /// # Errors
    /// It does not answer with text.
    pub fn text(&self, tool: &str, arguments: Value) -> Result<String> {
        let params = json!({ "name": tool, "arguments": arguments });
        let result = self.stateless("tools/call", params)?;
        let text = crate::client::text(&result).map(str::to_owned);
        text.with_context(|| format!("`{tool}` answered {result}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the token file that a line of the host names.
fn token_file(line: &str) -> Option<&Path> {
    let (_, file) = line.split_once("with the token that is in `")?;
    Some(Path::new(file.trim_end().strip_suffix('`')?))
}

/// Makes a token file that only its user can read.
///
/// # Errors
/// It cannot be written.
pub fn write_token(folder: &Path, token: &str) -> Result<PathBuf> {
    let file = tempfile::Builder::new()
        .prefix("token")
        .tempfile_in(folder)?;
    let (mut file, path) = file.keep()?;
    file.write_all(token.as_bytes())?;
    Ok(path)
}

/// Request as it goes over the wire.
#[derive(Debug, Clone)]
pub struct Request {
    /// `POST /mcp`, and the like.
    pub line: String,
    /// Headers; one without a value is left away.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
}

impl Request {
    /// Makes a request without a body.
    #[must_use]
    pub fn get(path: &str) -> Self {
        Self {
            line: format!("GET {path}"),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Makes a request with a body for `/mcp`, with the headers that every client of MCP sends.
    #[must_use]
    pub fn post(body: impl Into<Vec<u8>>) -> Self {
        Self {
            line: "POST /mcp".into(),
            headers: Vec::new(),
            body: body.into(),
        }
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
    }

    /// Makes a request of the stateless era, with all that it has to have. The members of `_meta`
    /// in `params` are kept.
    #[must_use]
    pub fn stateless(id: u64, method: &str, params: Value) -> Self {
        let name = params.get("name").or_else(|| params.get("uri"));
        let name = name.and_then(Value::as_str).map(str::to_owned);
        let params = wire::stateless(params, json!({}));
        let request = Self::post(wire::request(id, method, params).to_string())
            .header("mcp-protocol-version", wire::MODERN)
            .header("mcp-method", method);
        match name {
            Some(name) => request.header("mcp-name", &name),
            None => request,
        }
    }

    /// Sets a header, instead of any of that name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Returns its bytes for that server, with the server's token, unless it has another one.
    #[must_use]
    pub fn bytes(&self, server: &Server) -> Vec<u8> {
        let mut text = format!("{} HTTP/1.1\r\n", self.line);
        let host = ("host".to_owned(), server.address.to_string());
        let length = ("content-length".to_owned(), self.body.len().to_string());
        let token = server.token.as_ref();
        let token = token.map(|token| ("authorization".to_owned(), format!("Bearer {token}")));
        let missing = [host, length]
            .into_iter()
            .chain(token)
            .filter(|(name, _)| !self.headers.iter().any(|(other, _)| other == name));
        for (name, value) in missing.chain(self.headers.iter().cloned()) {
            if !value.is_empty() {
                text.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// Request that was sent. Dropped, it closes its connection.
#[derive(Debug)]
pub struct Exchange {
    stream: BufReader<TcpStream>,
}

impl Exchange {
    /// Reads the head of the answer.
    ///
    /// # Errors
    /// There is no answer.
    pub fn answer(mut self) -> Result<Answer> {
        let mut line = String::new();
        self.stream.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.with_context(|| format!("this is no answer: `{line}`"))?;
        let mut headers = Vec::new();
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            match line.trim_end().split_once(':') {
                Some((name, value)) => {
                    headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
                }
                None => break,
            }
        }
        let mut answer = Answer {
            status,
            headers,
            stream: self.stream,
            left: 0,
            chunked: false,
            text: Vec::new(),
        };
        answer.chunked = answer.header("transfer-encoding") == Some("chunked");
        if let Some(length) = answer.header("content-length") {
            answer.left = length.parse()?;
        }
        Ok(answer)
    }
}

/// Answer, read as it comes. Dropped, it closes its connection.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    headers: Vec<(String, String)>,
    stream: BufReader<TcpStream>,
    /// Bytes that are still to come of the body, or of a chunk of it.
    left: usize,
    chunked: bool,
    /// Text that was read and is no whole event yet.
    text: Vec<u8>,
}

impl Answer {
    /// Returns the value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(other, _)| other == name)?;
        Some(value)
    }

    /// Reads the whole body.
    ///
    /// # Errors
    /// The connection breaks.
    pub fn body(&mut self) -> Result<Vec<u8>> {
        while self.read()? {}
        Ok(std::mem::take(&mut self.text))
    }

    /// Reads the body as JSON.
    ///
    /// # Errors
    /// The body is no JSON.
    pub fn json(&mut self) -> Result<Value> {
        let body = self.body()?;
        serde_json::from_slice(&body)
            .with_context(|| format!("the body is `{}`", String::from_utf8_lossy(&body)))
    }

    /// Reads the next message of a stream of events, and the event's id.
    ///
    /// # Errors
    /// The connection breaks, or an event is no JSON.
    pub fn event(&mut self) -> Result<Option<(String, Value)>> {
        let Some((id, data)) = self.event_text()? else {
            return Ok(None);
        };
        let message = match data.as_str() {
            "" => Value::Null,
            data => serde_json::from_str(data)?,
        };
        Ok(Some((id, message)))
    }

    /// Reads the same, with the message as it is written; empty where the event has only an id to
    /// come back with.
    ///
    /// # Errors
    /// The connection breaks.
    pub fn event_text(&mut self) -> Result<Option<(String, String)>> {
        loop {
            while let Some(end) = self.text.windows(2).position(|two| two == b"\n\n") {
                let event: Vec<u8> = self.text.drain(..end + 2).collect();
                let event = String::from_utf8(event)?;
                let field = |name| event.lines().find_map(|line| line.strip_prefix(name));
                let id = field("id: ").unwrap_or_default().to_owned();
                match field("data: ").map(str::trim) {
                    None => {}
                    Some("") if id.is_empty() => {}
                    Some(data) => return Ok(Some((id, data.to_owned()))),
                }
            }
            if !self.read()? {
                return Ok(None);
            }
        }
    }

    /// Reads all messages, whether they come as events or as the one body.
    ///
    /// # Errors
    /// The connection breaks, or something is no JSON.
    pub fn messages(&mut self) -> Result<Vec<Value>> {
        if self.header("content-type") == Some("application/json") {
            return Ok(vec![self.json()?]);
        }
        let mut messages = Vec::new();
        while let Some((_, message)) = self.event()? {
            if !message.is_null() {
                messages.push(message);
            }
        }
        Ok(messages)
    }

    /// Reads the result of the request, when all has come.
    ///
    /// # Errors
    /// There is no result.
    pub fn result(&mut self) -> Result<Value> {
        if self.status != 200 {
            let body = self.body()?;
            let body = String::from_utf8_lossy(&body);
            bail!("the answer is {}: {body}", self.status);
        }
        let mut messages = self.messages()?;
        match messages.last_mut().and_then(|last| last.get_mut("result")) {
            Some(result) => Ok(result.take()),
            None => bail!("there is no result in {messages:?}"),
        }
    }

    /// Reads some more of the body. False where there is no more.
    fn read(&mut self) -> Result<bool> {
        if self.left == 0 {
            if !self.chunked {
                return Ok(false);
            }
            let mut line = String::new();
            ensure!(self.stream.read_line(&mut line)? > 0, "the stream broke");
            self.left = usize::from_str_radix(line.trim(), 16)?;
            if self.left == 0 {
                self.chunked = false;
                return Ok(false);
            }
        }
        let mut some = vec![0; self.left.min(64 << 10)];
        let read = self.stream.read(&mut some)?;
        ensure!(read > 0, "the stream broke");
        self.text.extend(some.iter().take(read));
        self.left -= read;
        if self.left == 0 && self.chunked {
            self.stream.read_line(&mut String::new())?;
        }
        Ok(true)
    }
}

/// Session of the legacy era.
#[derive(Debug, Clone)]
pub struct Session {
    /// Its id.
    pub id: String,
}

impl Session {
    /// Opens a session.
    ///
    /// # Errors
    /// The server does not.
    pub fn open(server: &Server) -> Result<Self> {
        Self::open_able(server, json!({}))
    }

    /// Opens a session, and says what this client can be asked.
    ///
    /// # Errors
    /// The server does not.
    pub fn open_able(server: &Server, capabilities: Value) -> Result<Self> {
        let initialize = wire::request(0, "initialize", wire::initialize(capabilities));
        let mut answer = server.ask(&Request::post(initialize.to_string()))?;
        let id = answer.header("mcp-session-id").map(str::to_owned);
        let result = answer.result()?;
        ensure!(
            result.get("protocolVersion") == Some(&json!(wire::LEGACY)),
            "the handshake gave {result}"
        );
        let session = Self {
            id: id.context("there is no session id")?,
        };
        session.notify(server, "notifications/initialized", json!({}))?;
        Ok(session)
    }

    /// Makes a message in this session.
    #[must_use]
    pub fn message(&self, message: &Value) -> Request {
        self.with(Request::post(message.to_string()))
    }

    /// Makes a request in this session.
    #[must_use]
    pub fn request(&self, id: u64, method: &str, params: Value) -> Request {
        self.message(&wire::request(id, method, params))
    }

    /// Makes the request for the stream of messages that the server sends by itself.
    #[must_use]
    pub fn news(&self) -> Request {
        self.with(Request::get("/mcp").header("accept", "text/event-stream"))
    }

    /// Makes the request that ends this session.
    #[must_use]
    pub fn delete(&self) -> Request {
        let mut request = self.with(Request::get("/mcp"));
        request.line = "DELETE /mcp".into();
        request
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// It is not taken.
    pub fn notify(&self, server: &Server, method: &str, params: Value) -> Result<()> {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        let answer = server.ask(&self.message(&message))?;
        ensure!(answer.status == 202, "`{method}` got {}", answer.status);
        Ok(())
    }

    fn with(&self, request: Request) -> Request {
        request
            .header("mcp-session-id", &self.id)
            .header("mcp-protocol-version", wire::LEGACY)
    }
}
