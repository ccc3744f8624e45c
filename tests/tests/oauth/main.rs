//! `dormouse login` and `dormouse logout`, at a real server that wants its users to log in
//! (`tests/servers/oauth.py`). The protocol itself is tested beside its code.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod calls;
mod logged_in;
mod provider_logins;
mod provider_user;
mod secrets;

mod hostile_answers;
mod hostile_login;
mod hostile_providers;
mod hostile_redirects;
mod hostile_servers;
mod hostile_site;
mod unusable_tokens;

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use dormouse_tests::Home;
use dormouse_tests::oauth::Server;

fn home(server: &Server) -> Home {
    let home = Home::new().unwrap();
    let config = format!("[servers.notes]\nurl = \"{}\"\n", server.url());
    std::fs::write(home.config(), config).unwrap();
    home
}

/// Returns the files with logins.
fn logins(home: &Home) -> Vec<PathBuf> {
    let tokens = home.path().join("cache/data/dormouse/tokens");
    let Ok(files) = std::fs::read_dir(tokens) else {
        return Vec::new();
    };
    let files = files.map(|file| file.unwrap().path());
    let login = |file: &PathBuf| file.extension().is_some_and(|end| end == "json");
    files.filter(login).collect()
}

/// `login` that waits.
struct Waiting {
    child: Child,
    link: String,
}

impl Waiting {
    fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut link = String::new();
        let stdout = child.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut link).unwrap();
        let link = link.trim().to_owned();
        assert!(link.starts_with("http://127.0.0.1:"), "{link}");
        Self { child, link }
    }

    /// Waits for its end. Returns whether it succeeds, and its output.
    fn end(self) -> (bool, String) {
        let (code, said) = self.end_with_code();
        (code == Some(0), said)
    }

    /// Waits for its end. Returns its exit code, and its output.
    fn end_with_code(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        let stderr = self.child.stderr.as_mut().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command. Returns whether it succeeds, and its output on both streams.
fn run(home: &Home, words: &[&str]) -> (bool, String) {
    let output = home.run(words).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout) + &text(&output.stderr);
    (output.status.success(), said)
}
