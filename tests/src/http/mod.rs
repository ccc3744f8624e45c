//! `dormouse serve --http`, and a client for it that does no more than it is told: one request a
//! connection, every byte of it chosen by the test.

mod answer;
mod request;
mod session;

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

pub use answer::{Answer, Exchange};
pub use request::Request;
pub use session::Session;

use crate::client::PATIENCE;

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
