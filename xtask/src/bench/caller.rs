//! Client over HTTP that costs next to nothing, so that the server is what is measured: one
//! connection that is kept, a request that is written once and then only numbered anew, and an
//! answer that is parsed only as far as its end needs.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use dormouse_tests::http::{Request, Server};

/// Id of the first call. All ids have as many digits, and so each request of a caller has the same
/// length.
pub(super) const FIRST: u64 = 10_000_000;

/// A client that makes the same call again and again.
#[derive(Debug)]
pub(super) struct Caller {
    stream: BufReader<TcpStream>,
    request: Vec<u8>,
    /// Place of the id in the request.
    id: Range<usize>,
    next: u64,
    /// Text that every answer has to contain.
    expected: String,
    line: String,
    body: Vec<u8>,
}

impl Caller {
    /// Connects. The request's id has to be [`FIRST`]; the text is what the tool
    /// answers with.
    pub(super) fn new(server: &Server, request: &Request, expected: &str) -> Result<Self> {
        let request = request.bytes(server);
        let id = format!("\"id\":{FIRST}");
        let place = request
            .windows(id.len())
            .position(|window| window == id.as_bytes())
            .with_context(|| format!("there is no `{id}` in the request"))?;
        Ok(Self {
            stream: BufReader::new(server.connect()?),
            request,
            id: place + "\"id\":".len()..place + id.len(),
            next: FIRST,
            expected: expected.to_owned(),
            line: String::new(),
            body: Vec::new(),
        })
    }

    /// Makes a call, and returns its time: until its answer's last byte, because before that the
    /// connection cannot be used again. The answer must not be an error.
    pub(super) fn call(&mut self) -> Result<Duration> {
        let id = self.next.to_string();
        self.next += 1;
        self.request
            .get_mut(self.id.clone())
            .filter(|place| place.len() == id.len())
            .context("there are no ids left")?
            .copy_from_slice(id.as_bytes());

        let start = Instant::now();
        self.stream.get_mut().write_all(&self.request)?;
        self.answer()?;
        let time = start.elapsed();

        let body = String::from_utf8_lossy(&self.body);
        ensure!(
            body.contains(&id)
                && body.contains(&self.expected)
                && !body.contains("\"isError\":true"),
            "call {id} was answered with `{body}`"
        );
        Ok(time)
    }

    /// Reads an answer into `body`.
    fn answer(&mut self) -> Result<()> {
        self.body.clear();
        self.line()?;
        let ok = self.line.starts_with("HTTP/1.1 200 ");
        let status = self.line.trim_end().to_owned();
        // Without a length the body is one of chunks, as streams of events are.
        let mut length = None;
        while !self.line()?.is_empty() {
            let Some((name, value)) = self.line.split_once(':') else {
                bail!("this is no header: `{}`", self.line);
            };
            if name.eq_ignore_ascii_case("content-length") {
                length = Some(value.trim().parse()?);
            }
        }
        match length {
            Some(length) => self.read(length)?,
            None => self.chunks()?,
        }
        ensure!(
            ok,
            "the answer is `{status}`: `{}`",
            String::from_utf8_lossy(&self.body)
        );
        Ok(())
    }

    fn chunks(&mut self) -> Result<()> {
        loop {
            let length = usize::from_str_radix(self.line()?, 16)
                .with_context(|| format!("this is no chunk: `{}`", self.line))?;
            self.read(length)?;
            self.line()?;
            if length == 0 {
                return Ok(());
            }
        }
    }

    /// Reads the next line, without its end.
    fn line(&mut self) -> Result<&str> {
        self.line.clear();
        ensure!(
            self.stream.read_line(&mut self.line)? > 0,
            "the server has closed the connection"
        );
        self.line.truncate(self.line.trim_end().len());
        Ok(&self.line)
    }

    fn read(&mut self, length: usize) -> Result<()> {
        let read = self
            .stream
            .by_ref()
            .take(length as u64)
            .read_to_end(&mut self.body)?;
        ensure!(read == length, "the answer broke off");
        Ok(())
    }
}
