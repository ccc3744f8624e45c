//! Home of a user, for one test: configuration, cache and runtime folders that no other test has.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use crate::client::PATIENCE;
use crate::{Client, Upstream, artifacts, compiled, http};

/// A home with a `dormouse.toml` in it.
#[derive(Debug)]
pub struct Home {
    folder: TempDir,
    program: PathBuf,
    /// Whether it is given components that are compiled already.
    takes_compiled: bool,
}

impl Home {
    /// Makes an empty home, in whose cache are [compiled] components as far as they are known
    /// to be wanted: the bridge, and those of servers that are added.
    ///
    /// # Errors
    /// It cannot be made, or Dormouse has not been built.
    pub fn new() -> Result<Self> {
        let mut home = Self::with_empty_cache()?;
        home.takes_compiled = true;
        compiled::give(&home, compiled::BRIDGE)?;
        Ok(home)
    }

    /// Makes an empty home in which everything is compiled that is called, for what is about
    /// that, or about the cache.
    ///
    /// # Errors
    /// It cannot be made, or Dormouse has not been built.
    pub fn with_empty_cache() -> Result<Self> {
        Self::of(artifacts::program("dormouse")?)
    }

    /// Makes an empty home in which this `dormouse` is run, with an empty cache.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn of(program: PathBuf) -> Result<Self> {
        // Short, because the control socket lies in it, and a socket's path may
        // have no more than a hundred characters.
        let folder = tempfile::Builder::new().prefix("dm-").tempdir()?;
        for name in ["config", "cache", "run", "plugins"] {
            std::fs::create_dir(folder.path().join(name))?;
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::set_permissions(
                folder.path().join("run"),
                std::fs::Permissions::from_mode(0o700),
            )?;
        }
        let home = Self {
            folder,
            program,
            takes_compiled: false,
        };
        std::fs::write(home.config(), "")?;
        Ok(home)
    }

    /// Returns the folder itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the configuration file.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.path().join("config/dormouse.toml")
    }

    /// Adds a server for a component.
    ///
    /// # Errors
    /// The configuration cannot be written.
    pub fn server(&self, name: &str, component: &Path) -> Result<&Self> {
        self.server_with(name, component, "")
    }

    /// Adds a server for a component, with more lines of TOML in its table.
    ///
    /// # Errors
    /// The configuration cannot be written.
    pub fn server_with(&self, name: &str, component: &Path, more: &str) -> Result<&Self> {
        if self.takes_compiled
            && let Some(name) = component.file_stem().and_then(OsStr::to_str)
        {
            compiled::give(self, name)?;
        }
        // A TOML literal string takes backslashes as they are.
        let component = component.display();
        self.table(name, &format!("component = '{component}'\n{more}"))
    }

    /// Adds a server that a bridge stands in front of, with more lines of TOML.
    ///
    /// # Errors
    /// The configuration cannot be written.
    pub fn upstream(&self, name: &str, upstream: &Upstream, more: &str) -> Result<&Self> {
        self.table(name, &format!("{}{more}", upstream.toml()))
    }

    /// Adds a server with these lines of TOML in its table.
    ///
    /// # Errors
    /// The configuration cannot be written.
    pub fn table(&self, name: &str, lines: &str) -> Result<&Self> {
        let mut config = std::fs::read_to_string(self.config())?;
        writeln!(config, "[servers.{name}]\n{lines}\n")?;
        std::fs::write(self.config(), config)?;
        Ok(self)
    }

    /// Has all tools in the list of every agent, however much they cost.
    ///
    /// # Errors
    /// The configuration cannot be written.
    pub fn lists_all(&self) -> Result<&Self> {
        let config = std::fs::read_to_string(self.config())?;
        std::fs::write(
            self.config(),
            format!("[exposure]\nmode = \"direct\"\n\n{config}"),
        )?;
        Ok(self)
    }

    /// Adds servers for guests of `tests/guests`, each under its own name.
    ///
    /// # Errors
    /// One has not been built, or the configuration cannot be written.
    pub fn guests(&self, names: &[&str]) -> Result<&Self> {
        for name in names {
            self.server(name, &artifacts::guest(name)?)?;
        }
        Ok(self)
    }

    /// Has `dormouse secret set` keep a secret, with more variables of the environment.
    ///
    /// # Errors
    /// It is not kept.
    pub fn secret(&self, name: &str, text: &str, more: &[(&str, OsString)]) -> Result<&Self> {
        let mut command = self.command(&["secret", "set", name]);
        command.envs(more.iter().cloned()).stdin(Stdio::piped());
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let mut stdin = child.stdin.take().context("there is no stdin")?;
        stdin.write_all(text.as_bytes())?;
        drop(stdin);
        let output = child.wait_with_output()?;
        ensure!(output.status.success(), "it is not kept: {output:?}");
        Ok(self)
    }

    /// Puts a plugin's bytes into a file of this home.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn plugin_file(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.path().join("plugins").join(name);
        std::fs::write(&path, bytes)?;
        Ok(path)
    }

    /// Replaces a file at once, as an installer does.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let next = path.with_extension("next");
        std::fs::write(&next, bytes)?;
        std::fs::rename(&next, path)?;
        Ok(())
    }

    /// Returns the environment that makes a process live in this home.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, PathBuf)> {
        let path = self.path();
        vec![
            ("HOME", path.to_owned()),
            ("XDG_CONFIG_HOME", path.join("config")),
            ("XDG_CACHE_HOME", path.join("cache")),
            ("XDG_STATE_HOME", path.join("cache/state")),
            ("XDG_DATA_HOME", path.join("cache/data")),
            ("XDG_RUNTIME_DIR", path.join("run")),
            // Not that of whoever runs the tests.
            ("DORMOUSE_KEYRING", "off".into()),
        ]
    }

    /// Returns the command of `dormouse` with arguments, in this home.
    #[must_use]
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .arg("--config")
            .arg(self.config())
            .args(arguments)
            .envs(self.environment())
            .env_remove("DORMOUSE_LOG")
            .current_dir(self.path());
        command
    }

    /// Returns the words with which an MCP client starts `dormouse serve` in this home.
    #[must_use]
    pub fn launch(&self) -> Vec<String> {
        let config = self.config();
        [
            self.program.as_path(),
            Path::new("--config"),
            &config,
            Path::new("serve"),
        ]
        .iter()
        .map(|word| word.display().to_string())
        .collect()
    }

    /// Makes Dormouse learn what a server offers, so that the next host knows it without starting
    /// the server.
    ///
    /// # Errors
    /// The server does not tell.
    pub fn synced(&self, server: &str) -> Result<&Self> {
        self.json(&["sync", server, "--json"])?;
        Ok(self)
    }

    /// Starts `dormouse serve` and shakes hands with it.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn serve(&self) -> Result<Client> {
        Client::start(&mut self.command(&["serve"]))
    }

    /// Starts `dormouse serve --http` at a free port, with more options.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn serve_http(&self, options: &[&str]) -> Result<http::Server> {
        let mut words = vec!["serve", "--http", "127.0.0.1:0"];
        words.extend_from_slice(options);
        http::Server::start(&mut self.command(&words))
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn run(&self, arguments: &[&str]) -> Result<Output> {
        let output = self.command(arguments).stdin(Stdio::null()).output()?;
        Ok(output)
    }

    /// Runs a command that has to succeed and print JSON.
    ///
    /// # Errors
    /// It does not.
    pub fn json(&self, arguments: &[&str]) -> Result<Value> {
        let output = self.run(arguments)?;
        let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
        ensure!(
            output.status.success(),
            "`dormouse {}` failed: {}",
            arguments.join(" "),
            said.concat()
        );
        serde_json::from_slice(&output.stdout).with_context(|| {
            format!(
                "`dormouse {}` printed `{}`",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stdout)
            )
        })
    }

    /// Returns the names of all subcommands, as `--help` lists them, but for `help`.
    ///
    /// # Errors
    /// It does not list any.
    pub fn subcommands(&self) -> Result<BTreeSet<String>> {
        let output = self.run(&["--help"])?;
        let help = String::from_utf8(output.stdout)?;
        let (_, commands) = help.split_once("Commands:\n").context("no commands")?;
        let lines = commands.lines().take_while(|line| !line.is_empty());
        // What is said of a command may go on in the next line, below where it has begun.
        let lines = lines.filter(|line| !line.starts_with("   "));
        let names = lines.filter_map(|line| line.split_whitespace().next());
        let names = names.filter(|name| *name != "help").map(str::to_owned);
        let names: BTreeSet<_> = names.collect();
        ensure!(names.len() > 10, "hardly any commands: {names:?}");
        Ok(names)
    }

    /// Returns the status of the one host that runs in this home. The host listens once its first
    /// answer is out, which may be a moment from now.
    ///
    /// # Errors
    /// There is not exactly one.
    pub fn status(&self) -> Result<Value> {
        let start = Instant::now();
        loop {
            match self.status_now() {
                Err(_) if start.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                status => return status,
            }
        }
    }

    fn status_now(&self) -> Result<Value> {
        let mut status = self.json(&["status", "--json"])?;
        let hosts = status
            .as_array_mut()
            .context("`status --json` is no array of hosts")?;
        ensure!(
            hosts.len() == 1,
            "there is not one host but {}",
            hosts.len()
        );
        let host = hosts.pop().context("there is no host")?;
        // Where none runs, what is configured is told instead.
        ensure!(
            !host.get("pid").is_none_or(Value::is_null),
            "there is no host"
        );
        Ok(host)
    }

    /// Returns the status of one server of that host.
    ///
    /// # Errors
    /// There is no such server.
    pub fn server_status(&self, name: &str) -> Result<Value> {
        let status = self.status()?;
        let servers = status
            .get("servers")
            .and_then(Value::as_array)
            .context("no `servers` in the status")?;
        let found = servers
            .iter()
            .find(|server| server.get("name").and_then(Value::as_str) == Some(name));
        found
            .cloned()
            .with_context(|| format!("no server `{name}` in {status}"))
    }
}
