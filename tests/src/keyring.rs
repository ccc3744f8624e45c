//! Keyrings for `dormouse` in a test: GNOME's, in a session bus of its own, and one that hangs.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

/// Programs that make a keyring, which `.ci/run` installs.
const PROGRAMS: [&str; 2] = ["gnome-keyring-daemon", "dbus-run-session"];

/// Unlocks a keyring, tells its bus, and ends when nobody holds its stdin any more.
const SCRIPT: &str = "printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null \
                      && echo \"$DBUS_SESSION_BUS_ADDRESS\" && read -r _";

/// A keyring that is unlocked, until this is dropped.
#[derive(Debug)]
pub struct Keyring {
    session: Child,
    bus: String,
    /// Files of the keyring.
    _folder: TempDir,
}

impl Keyring {
    /// Starts a keyring; none where its programs are not installed, which is said.
    ///
    /// # Errors
    /// It does not start, or this is CI, where its programs have to be.
    pub fn start() -> Result<Option<Self>> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there =
            |name: &&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
        if let Some(missing) = PROGRAMS.iter().find(|name| !is_there(name)) {
            ensure!(
                std::env::var_os("CI").is_none(),
                "`{missing}` is not in the PATH"
            );
            eprintln!("skipped: `{missing}` is not in the PATH");
            return Ok(None);
        }
        let folder = tempfile::tempdir()?;
        let mut session = Command::new("dbus-run-session")
            .args(["--", "sh", "-c", SCRIPT])
            .env("HOME", folder.path())
            .env("XDG_DATA_HOME", folder.path().join("share"))
            .env("XDG_RUNTIME_DIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = session.stdout.take().context("there is no stdout")?;
        let mut bus = String::new();
        BufReader::new(stdout).read_line(&mut bus)?;
        ensure!(!bus.trim().is_empty(), "the keyring does not start");
        Ok(Some(Self {
            session,
            bus: bus.trim().to_owned(),
            _folder: folder,
        }))
    }

    /// Returns the environment in which `dormouse` uses it.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        environment(&self.bus)
    }
}

impl Drop for Keyring {
    fn drop(&mut self) {
        drop(self.session.stdin.take());
        let _ = self.session.wait();
    }
}

/// A session bus that takes connections and never answers, until this is dropped.
#[cfg(unix)]
#[derive(Debug)]
pub struct HangingBus {
    _listener: std::os::unix::net::UnixListener,
    address: String,
}

#[cfg(unix)]
impl HangingBus {
    /// Starts it at a socket in a folder.
    ///
    /// # Errors
    /// The socket cannot be made.
    pub fn start(folder: &Path) -> Result<Self> {
        let socket = folder.join("bus");
        Ok(Self {
            _listener: std::os::unix::net::UnixListener::bind(&socket)?,
            address: format!("unix:path={}", socket.display()),
        })
    }

    /// Returns the environment in which `dormouse` asks it.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        environment(&self.address)
    }
}

fn environment(bus: &str) -> Vec<(&'static str, OsString)> {
    vec![
        ("DORMOUSE_KEYRING", OsString::new()),
        ("DBUS_SESSION_BUS_ADDRESS", bus.into()),
    ]
}
