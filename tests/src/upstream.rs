//! Real MCP servers, started as their users' clients start them: in the same words for a client
//! that has them itself and for a Dormouse that stands in front of them.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::{artifacts, processes, wait};

/// Command that starts a server which speaks over its standard streams.
#[derive(Debug, Clone)]
pub struct Upstream {
    words: Vec<String>,
    env: Vec<(String, String)>,
    cwd: Option<PathBuf>,
}

impl Upstream {
    /// Takes a program, without arguments yet.
    #[must_use]
    pub fn new(program: &Path) -> Self {
        Self {
            words: vec![program.display().to_string()],
            env: Vec::new(),
            cwd: None,
        }
    }

    /// Takes a JavaScript program of an npm package.
    ///
    /// # Errors
    /// It is not installed.
    pub fn npm(package: &str, file: &str) -> Result<Self> {
        let script = artifacts::npm_file(package, file)?;
        Ok(Self::new(&artifacts::node()?).arg(script.display()))
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl ToString) -> Self {
        self.words.push(argument.to_string());
        self
    }

    /// Adds a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl ToString) -> Self {
        self.env.push((name.to_owned(), value.to_string()));
        self
    }

    /// Sets the folder in which it runs.
    #[must_use]
    pub fn cwd(mut self, folder: &Path) -> Self {
        self.cwd = Some(folder.to_owned());
        self
    }

    /// Returns the command that starts it. Its output on stderr is dropped.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut words = self.words.iter();
        let mut command = Command::new(words.next().map_or("", String::as_str));
        command
            .args(words)
            .envs(self.env.iter().cloned())
            .stderr(Stdio::null());
        if let Some(folder) = &self.cwd {
            command.current_dir(folder);
        }
        command
    }

    /// Returns its words, as an SDK's client is given them.
    #[must_use]
    pub fn launch(&self) -> Vec<String> {
        self.words.clone()
    }

    /// Returns the lines of a server's table in `dormouse.toml`.
    #[must_use]
    pub fn toml(&self) -> String {
        // Texts and arrays of them are written in TOML as in JSON.
        let mut lines = format!("command = {}\n", json!(self.words));
        if let Some(folder) = &self.cwd {
            let _ = writeln!(lines, "cwd = {}", json!(folder));
        }
        if !self.env.is_empty() {
            let env = self.env.iter();
            let env = env.map(|(name, value)| format!("{} = {}", json!(name), json!(value)));
            let env: Vec<String> = env.collect();
            let _ = writeln!(lines, "env = {{ {} }}", env.join(", "));
        }
        lines
    }
}

/// Returns the server that has every feature of the protocol.
///
/// # Errors
/// It is not installed.
pub fn everything() -> Result<Upstream> {
    Upstream::npm("@modelcontextprotocol/server-everything", "dist/index.js")
}

/// Returns a server for the files of a folder.
///
/// # Errors
/// It is not installed.
pub fn filesystem(folder: &Path) -> Result<Upstream> {
    let server = Upstream::npm("@modelcontextprotocol/server-filesystem", "dist/index.js")?;
    Ok(server.arg(folder.display()))
}

/// Returns a server for a graph of knowledge, kept in a file.
///
/// # Errors
/// It is not installed.
pub fn memory(file: &Path) -> Result<Upstream> {
    let server = Upstream::npm("@modelcontextprotocol/server-memory", "dist/index.js")?;
    Ok(server.env("MEMORY_FILE_PATH", file.display()))
}

/// Returns a server for a browser, which keeps files in that folder only.
///
/// # Errors
/// It is not installed.
pub fn playwright(chromium: &Path, folder: &Path) -> Result<Upstream> {
    let server = Upstream::npm("@playwright/mcp", "cli.js")?;
    Ok(server
        .arg("--headless")
        .arg("--isolated")
        // Where tests run, the kernel may keep a browser from making its sandbox.
        .arg("--no-sandbox")
        .arg("--executable-path")
        .arg(chromium.display())
        .arg("--output-dir")
        .arg(folder.display())
        .cwd(folder))
}

/// Returns a server for clocks.
///
/// # Errors
/// It is not installed.
pub fn time() -> Result<Upstream> {
    let server = Upstream::new(&artifacts::python("reference", "mcp-server-time")?);
    Ok(server.arg("--local-timezone").arg("Europe/Zurich"))
}

/// Returns a server for pages of the web.
///
/// # Errors
/// It is not installed.
pub fn fetch() -> Result<Upstream> {
    Ok(Upstream::new(&artifacts::python(
        "servers",
        "mcp-server-fetch",
    )?))
}

/// Returns a server for a repository.
///
/// # Errors
/// It is not installed.
pub fn git(repository: &Path) -> Result<Upstream> {
    let server = Upstream::new(&artifacts::python("servers", "mcp-server-git")?);
    Ok(server.arg("--repository").arg(repository.display()))
}

/// Returns a server that repeats what it is told (`tests/servers/mirror.py`), in both eras or in
/// the older one only.
///
/// # Errors
/// It is not installed.
pub fn mirror(legacy: bool) -> Result<Upstream> {
    let script = artifacts::workspace().join("tests/servers/mirror.py");
    let server = Upstream::new(&artifacts::python("clients", "python")?).arg(script.display());
    Ok(if legacy {
        server.arg("--legacy")
    } else {
        server
    })
}

/// Returns a server that asks its client and logs (`tests/servers/asking_*`), of that SDK:
/// `python`, `fastmcp`, or the major version of TypeScript's.
///
/// # Errors
/// It is not installed.
pub fn asking(sdk: &str) -> Result<Upstream> {
    let servers = artifacts::workspace().join("tests/servers");
    Ok(if sdk.starts_with('v') {
        let script = servers.join(format!("asking_{sdk}.mjs"));
        let server = Upstream::new(&artifacts::node()?).arg(script.display());
        server.env("DORMOUSE_TEST_NPM", artifacts::npm().display())
    } else {
        let script = servers.join(format!("asking_{sdk}.py"));
        Upstream::new(&artifacts::python("clients", "python")?).arg(script.display())
    })
}

/// Server that listens, and ends with this.
#[derive(Debug)]
pub struct Listening {
    child: Child,
    address: SocketAddr,
}

impl Listening {
    /// Starts `server-everything` over HTTP: `streamableHttp`, or `sse` for the transport before
    /// that.
    ///
    /// # Errors
    /// It is not installed, or does not listen.
    pub fn everything(transport: &str) -> Result<Self> {
        Self::start(&everything()?.arg(transport).env("PORT", 0))
    }

    /// Starts a server that listens at a port of its own choice.
    ///
    /// # Errors
    /// It cannot be started, or does not listen.
    pub fn start(server: &Upstream) -> Result<Self> {
        let child = server
            .command()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {:?}", server.words))?;
        let pid = child.id();
        // From here on it is ended, whatever happens.
        let mut server = Self {
            child,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
        };
        // It may say the port that it was told, and the one that it got only the
        // system knows.
        let port = wait::until("the port of the server", || {
            let listening = processes::listening(pid)?;
            listening.first().copied().context("it does not listen")
        })?;
        server.address.set_port(port);
        Ok(server)
    }

    /// Returns the address at which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
