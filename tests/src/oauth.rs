//! MCP server that wants its users to log in (`tests/servers/oauth.py`), and a browser for it that
//! does no more than follow redirects.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::client::PATIENCE;
use crate::{Home, artifacts};

/// Most redirects that the browser follows.
const REDIRECTS: usize = 5;

/// The server, with its authorization server.
#[derive(Debug)]
pub struct Server {
    child: Child,
    url: String,
}

/// Page at which the browser has ended.
#[derive(Debug)]
pub struct Page {
    /// Its address.
    pub url: String,
    /// The HTTP status.
    pub status: u16,
    /// Text that the user sees.
    pub text: String,
}

impl Server {
    /// Starts a server, with options of the script.
    ///
    /// # Errors
    /// It is not installed, or does not start.
    pub fn start(options: &[&str]) -> Result<Self> {
        let python = artifacts::python("clients", "python")?;
        Self::run(&python, "oauth.py", options)
    }

    /// Starts a server that repeats the secrets of a login wherever it goes wrong as `wrong` says
    /// (`tests/servers/repeating_oauth.py`).
    ///
    /// # Errors
    /// It does not start.
    pub fn repeating(wrong: &str) -> Result<Self> {
        Self::run(Path::new("python3"), "repeating_oauth.py", &[wrong])
    }

    fn run(python: &Path, script: &str, options: &[&str]) -> Result<Self> {
        let script = artifacts::workspace().join("tests/servers").join(script);
        let mut child = std::process::Command::new(python)
            .arg(script)
            .args(options)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().context("there is no stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let url = line.trim().strip_prefix("listening on ");
        let url = url.with_context(|| format!("the server has said `{line}`"))?;
        Ok(Self {
            url: url.to_owned(),
            child,
        })
    }

    /// Returns the URL of the MCP endpoint.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the number of requests of a kind: `registrations`, `authorizations`, `refreshes`,
    /// `refused refreshes`, `revocations`, `tokens for a resource`, and `tokens for us` (which have said that they are for
    /// this server, RFC 8707).
    ///
    /// # Errors
    /// The server has ended.
    pub fn count(&self, what: &str) -> Result<u64> {
        let page = get(&format!("{}/counts", self.base()))?;
        let counts: Value = serde_json::from_str(&page.text)?;
        Ok(counts.get(what).and_then(Value::as_u64).unwrap_or(0))
    }

    /// Makes the server do something to its tokens: `expire` or `forget`.
    ///
    /// # Errors
    /// The server has ended.
    pub fn make(&self, what: &str) -> Result<()> {
        let (page, _) = once("POST", &format!("{}/{what}", self.base()))?;
        ensure!(page.status == 200, "`{what}` has failed: {page:?}");
        Ok(())
    }

    /// Whether it takes a token for one that is good, as the value of a header.
    ///
    /// # Errors
    /// The server has ended.
    pub fn takes(&self, authorization: &str) -> Result<bool> {
        let mut stream = TcpStream::connect(self.base().trim_start_matches("http://"))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "GET /introspect HTTP/1.1\r\nhost: localhost\r\nauthorization: {authorization}\r\nconnection: close\r\n\r\n"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer.contains(r#""active":true"#))
    }

    /// Returns its URL as an issuer of tokens.
    #[must_use]
    pub fn base(&self) -> &str {
        self.url.strip_suffix("/mcp").unwrap_or(&self.url)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Logs the user of a home in at what `server` needs, by the link that `dormouse login` gives.
///
/// # Errors
/// It gives none, or the login fails.
pub fn log_in(home: &Home, server: &str) -> Result<()> {
    let mut login = home.command(&["login", server]);
    let login = login.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut login = login.spawn()?;
    let mut link = String::new();
    let stdout = login.stdout.as_mut().context("it has no stdout")?;
    BufReader::new(stdout).read_line(&mut link)?;
    get(link.trim())?;
    ensure!(login.wait()?.success(), "`dormouse login {server}` failed");
    Ok(())
}

/// Opens a page, and follows redirects.
///
/// # Errors
/// No server answers, or there are too many redirects.
pub fn get(url: &str) -> Result<Page> {
    let mut url = url.to_owned();
    for _ in 0..REDIRECTS {
        match once("GET", &url)? {
            (_, Some(next)) => url = next,
            (page, None) => return Ok(page),
        }
    }
    anyhow::bail!("`{url}` redirects for ever")
}

/// Opens a page, and returns the URL of its redirect, if it has one.
///
/// # Errors
/// No server answers.
pub fn once(method: &str, url: &str) -> Result<(Page, Option<String>)> {
    let rest = url.strip_prefix("http://").context("no URL of a test")?;
    let (authority, path) = rest.split_once('/').context("no path in the URL")?;
    let mut stream = TcpStream::connect(authority)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    write!(
        stream,
        "{method} /{path} HTTP/1.1\r\nhost: {authority}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, text) = answer.split_once("\r\n\r\n").context("no head")?;
    let status = head.split(' ').nth(1).context("no status")?.parse()?;
    let location = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let found = name.eq_ignore_ascii_case("location");
        found.then(|| value.to_owned())
    });
    let page = Page {
        url: url.to_owned(),
        status,
        text: text.to_owned(),
    };
    Ok((page, location))
}
