//! `dormouse login` and `dormouse logout`, at a real server that wants its users to log in
//! (`tests/servers/oauth.py`). The protocol itself is tested beside its code.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

mod hostile_answers;
mod hostile_login;
mod hostile_redirects;
mod hostile_servers;
mod hostile_site;
mod unusable_tokens;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use dormouse_tests::oauth::{self, Server};
use dormouse_tests::{Home, artifacts, client};
use serde_json::{Value, json};

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

#[test]
fn a_login_and_a_logout() {
    let server = Server::start(&[]).unwrap();
    let home = home(&server);
    // Not even who wants to know everything is told a secret.
    let mut command = home.command(&["login", "notes", "-vvv"]);
    let login = Waiting::start(command.env("DORMOUSE_LOG", "trace"));
    let (_, redirect) = oauth::once("GET", &login.link).unwrap();
    let redirect = redirect.unwrap();
    let page = oauth::get(&redirect).unwrap();
    assert!(page.text.contains("You are logged in"), "{page:?}");
    let (success, said) = login.end();
    assert!(success, "{said}");
    assert!(said.contains("logged in to `notes`"), "{said}");
    assert!(said.contains("DEBUG"), "nothing was logged: {said}");

    let files = logins(&home);
    assert_eq!(files.len(), 1);
    let kept: Value = serde_json::from_slice(&std::fs::read(&files[0]).unwrap()).unwrap();
    let tokens = &kept["credentials"]["token_response"];
    let code = redirect.split_once("code=").unwrap().1;
    let code = code.split('&').next().unwrap();
    for secret in [
        tokens["access_token"].as_str().unwrap(),
        tokens["refresh_token"].as_str().unwrap(),
        code,
    ] {
        assert!(!said.contains(secret), "`{secret}` was logged: {said}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &std::path::Path| {
            let metadata = std::fs::metadata(path).unwrap();
            metadata.permissions().mode() & 0o777
        };
        assert_eq!(mode(&files[0]), 0o600);
        assert_eq!(mode(files[0].parent().unwrap()), 0o700);
    }

    for (revoked, words) in [
        (1, "logged out of `notes`"),
        (1, "you were not logged in to `notes`"),
    ] {
        let output = home.run(&["logout", "notes"]).unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert!(said.contains(words), "{said}");
        assert_eq!(server.count("revocations").unwrap(), revoked);
    }
    assert_eq!(logins(&home).len(), 0);
}

#[test]
fn a_browser_elsewhere() {
    let server = Server::start(&[]).unwrap();
    let home = home(&server);
    let mut login = Waiting::start(&mut home.command(&["login", "notes"]));
    let (_, redirect) = oauth::once("GET", &login.link).unwrap();
    let stdin = login.child.stdin.as_mut().unwrap();
    writeln!(stdin, "what?\n\n{}", redirect.unwrap()).unwrap();
    let (success, said) = login.end();
    assert!(success, "{said}");
    assert!(said.contains("`what?` is no URL"), "{said}");
    assert_eq!(logins(&home).len(), 1);
}

#[test]
fn a_user_who_says_no() {
    let server = Server::start(&["--deny"]).unwrap();
    let home = home(&server);
    let login = Waiting::start(&mut home.command(&["login", "notes"]));
    oauth::get(&login.link).unwrap();
    let (success, said) = login.end();
    assert!(!success);
    assert!(said.contains("was refused: the user has said no"), "{said}");
    assert_eq!(logins(&home).len(), 0);
}

#[test]
fn a_client_that_was_registered_by_hand() {
    const SECRET: &str = "hush-hush-hush";
    let options = ["--no-registration", "--client", "mine"];
    let options = [&options[..], &["--client-secret", SECRET]].concat();
    let server = Server::start(&options).unwrap();
    let home = home(&server);
    let (success, said) = run(&home, &["login", "notes"]);
    assert!(!success);
    assert!(
        said.contains("hint: register a client there by hand"),
        "{said}"
    );

    let mut config = std::fs::read_to_string(home.config()).unwrap();
    config.push_str("[servers.notes.oauth]\nclient_id = \"mine\"\nscopes = [\"notes\"]\nclient_secret = \"${NOTES_SECRET}\"\n");
    std::fs::write(home.config(), config).unwrap();
    let (success, said) = run(&home, &["login", "notes"]);
    assert!(!success);
    assert!(said.contains("`NOTES_SECRET` is not set"), "{said}");

    let mut command = home.command(&["login", "notes", "-vvv"]);
    command.env("NOTES_SECRET", SECRET);
    let login = Waiting::start(command.env("DORMOUSE_LOG", "trace"));
    oauth::get(&login.link).unwrap();
    let (success, said) = login.end();
    assert!(success, "{said}");
    assert!(said.contains("DEBUG"), "nothing was logged: {said}");
    assert!(!said.contains(SECRET), "{said}");
    assert_eq!(server.count("registrations").unwrap(), 0);
}

#[test]
fn no_secret_of_a_login_is_said_wherever_a_server_repeats_it() {
    for wrong in ["code", "refresh", "call", "status", "list", "log"] {
        let server = Server::repeating(wrong).unwrap();
        let home = home(&server);
        let command = |words: &[&str]| {
            let mut command = home.command(words);
            command.env("DORMOUSE_LOG", "trace");
            command
        };
        let mut said = Vec::new();
        let login = Waiting::start(&mut command(&["login", "notes"]));
        let (_, redirect) = oauth::once("GET", &login.link).unwrap();
        let page = oauth::get(&redirect.unwrap()).unwrap();
        said.push(page.text);
        said.push(login.end().1);
        // A token that lives for a second has ended.
        std::thread::sleep(std::time::Duration::from_millis(1500));
        let log = home.path().join("log");
        let mut serve = command(&["serve"]);
        let mut host =
            client::Client::start(serve.stderr(std::fs::File::create(&log).unwrap())).unwrap();
        host.request("logging/setLevel", json!({ "level": "debug" }))
            .unwrap();
        for name in ["notes__discover", "notes__x"] {
            let params = json!({ "name": name, "arguments": {}, "_meta": { "progressToken": 7 } });
            let outcome = host.outcome("tools/call", params).unwrap();
            said.push(outcome.to_string());
        }
        if wrong == "log" {
            for method in ["notifications/message", "notifications/progress"] {
                let told = host.notification(method, client::PATIENCE).unwrap();
                said.push(told.to_string());
            }
        }
        for words in [
            &["status", "--json"][..],
            &["sync", "notes"],
            &["doctor", "--connect"],
            &["call", "notes", "x", "{}"],
            &["logout", "notes"],
        ] {
            let output = command(words).output().unwrap();
            said.push(String::from_utf8_lossy(&output.stdout).into_owned());
            said.push(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        drop(host);
        said.push(std::fs::read_to_string(log).unwrap());
        let all = said.join("\n").to_lowercase();
        assert!(all.contains('…'), "{wrong}: nothing was repeated: {all}");
        for secret in SECRETS_OF_A_LOGIN {
            let at = all.find(&secret.to_lowercase());
            let around = at.map(|at| {
                let from = all.floor_char_boundary(at.saturating_sub(300));
                &all[from..all.ceil_char_boundary((at + 100).min(all.len()))]
            });
            assert_eq!(around, None, "{wrong}: `{secret}` is said");
        }
        for verifier in all.split("code_verifier=").skip(1) {
            assert!(verifier.starts_with('…'), "{wrong}: {verifier}");
        }
    }
}

/// Beginnings of the secrets of a login at `repeating_oauth.py`, as they are and in Base64.
const SECRETS_OF_A_LOGIN: [&str; 4] = ["canary-", "Y2FuYXJ5", "NhbmFyeS", "jYW5hcn"];

/// Runs a command. Returns whether it succeeds, and its output on both streams.
fn run(home: &Home, words: &[&str]) -> (bool, String) {
    let output = home.run(words).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = text(&output.stdout) + &text(&output.stderr);
    (output.status.success(), said)
}

#[test]
fn a_login_as_a_client_has_it() {
    let port = {
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().port()
    };
    let redirect = format!("http://localhost:{port}/callback");
    let options = ["--no-registration", "--client", "mine", "--redirect"];
    let server = Server::start(&[&options[..], &[&redirect]].concat()).unwrap();
    let home = Home::new().unwrap();
    let entry = json!({ "mcpServers": { "notes": {
        "type": "http",
        "url": server.url(),
        "oauth": { "clientId": "mine", "callbackPort": port, "scopes": "notes", "xaa": true },
    }}});
    std::fs::write(home.path().join(".claude.json"), entry.to_string()).unwrap();
    let (_, said) = run(&home, &["doctor"]);
    assert!(
        said.contains("its `oauth.xaa` is not carried over"),
        "{said}"
    );
    assert!(said.contains("no login is kept"), "{said}");

    // As it is found, and when it is taken over.
    let taken = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    for import in [false, true] {
        if import {
            let (success, said) = run(&home, &["import", "claude-code"]);
            assert!(success, "{said}");
            let config = std::fs::read_to_string(home.config()).unwrap();
            let lines = format!(
                "[servers.notes.oauth]\nclient_id = \"mine\"\nredirect_uri = \"{redirect}\"\nscopes = [\"notes\"]\n"
            );
            assert!(config.contains(&lines), "{config}");
        }
        let (success, said) = run(&home, &["login", "notes"]);
        assert!(!success);
        assert!(
            said.contains(&format!("port {port} of this machine")),
            "{said}"
        );
    }
    drop(taken);
    let login = Waiting::start(&mut home.command(&["login", "notes"]));
    oauth::get(&login.link).unwrap();
    let (success, said) = login.end();
    assert!(success, "{said}");

    let kept: Value = serde_json::from_slice(&std::fs::read(&logins(&home)[0]).unwrap()).unwrap();
    let tokens = &kept["credentials"]["token_response"];
    let (_, said) = run(&home, &["doctor"]);
    assert!(
        said.contains("a login is kept: its token is good for another"),
        "{said}"
    );
    assert!(said.contains("and is renewed then"), "{said}");
    let (_, listed) = run(&home, &["list", "--json"]);
    let (_, status) = run(&home, &["status", "--json"]);
    for token in ["access_token", "refresh_token"] {
        let token = tokens[token].as_str().unwrap();
        for said in [&said, &listed, &status] {
            assert!(!said.contains(token), "{said}");
        }
    }
    assert!(run(&home, &["logout", "notes"]).0);
    assert!(run(&home, &["doctor"]).1.contains("no login is kept"));
}

#[test]
fn a_call_that_needs_more_than_was_allowed() {
    let server = Server::start(&[]).unwrap();
    let home = home(&server);
    let login = Waiting::start(&mut home.command(&["login", "notes"]));
    oauth::get(&login.link).unwrap();
    assert!(login.end().0);
    assert!(home.run(&["sync", "notes"]).unwrap().status.success());

    let mut host = home.serve().unwrap();
    let answer = host.call("notes__whoami", json!({})).unwrap();
    assert_eq!(answer["structuredContent"]["scopes"], json!(["notes"]));
    let refused = host.call("notes__admin", json!({})).unwrap();
    assert_eq!(refused["isError"], json!(true), "{refused}");
    let text = client::text(&refused).unwrap();
    let link = text.lines().find(|line| line.starts_with("http")).unwrap();
    // What there was is asked for again: the new token takes the old one's place.
    assert!(link.contains("scope=notes+admin"), "{link}");
    // What there was is still good, until the user has decided.
    let answer = host.call("notes__whoami", json!({})).unwrap();
    assert_eq!(answer["structuredContent"]["scopes"], json!(["notes"]));
    oauth::get(link).unwrap();
    let answer = host.call("notes__admin", json!({})).unwrap();
    assert_eq!(
        answer["structuredContent"]["scopes"],
        json!(["notes", "admin"])
    );
    assert_eq!(server.count("authorizations").unwrap(), 2);
}

#[test]
fn a_server_that_nobody_may_log_in_to() {
    let server = Server::start(&[]).unwrap();
    let home = home(&server);
    let mut config = std::fs::read_to_string(home.config()).unwrap();
    config.push_str("oauth = false\n");
    std::fs::write(home.config(), config).unwrap();
    for words in [&["login", "notes"][..], &["sync", "notes"]] {
        let (success, said) = run(&home, words);
        assert!(!success, "{said}");
        assert!(said.contains("`oauth = false`"), "{said}");
    }
    let mut host = home.serve().unwrap();
    let refused = host.call("notes__discover", json!({})).unwrap();
    let text = client::text(&refused).unwrap();
    assert!(text.contains("`oauth = false`"), "{text}");
    assert!(!text.contains("dormouse login"), "{text}");
    assert_eq!(server.count("registrations").unwrap(), 0);
}

#[test]
fn what_nobody_logs_in_to() {
    let home = Home::new().unwrap();
    let gone = "http://127.0.0.1:9/mcp";
    let config = format!(
        "[servers.gone]\nurl = \"{gone}\"\n[servers.child]\ncommand = \"true\"\n[servers.keyed]\nurl = \"{gone}\"\nheaders = {{ Authorization = \"Bearer hush\" }}\n"
    );
    std::fs::write(home.config(), config).unwrap();
    home.server("plugin", &artifacts::guest("echo").unwrap())
        .unwrap();
    for (server, words) in [
        ("gone", gone),
        ("child", "`child` is a program of this machine"),
        ("keyed", "the `Authorization` header that is configured"),
        ("plugin", "`plugin` is a plugin"),
        ("gnoe", "did you mean `gone`?"),
    ] {
        let output = home.run(&["login", server]).unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(words), "{server}: {said}");
        assert!(!said.contains("hush"), "{said}");
    }
}

#[test]
fn a_call_that_needs_a_login() {
    let server = Server::start(&[]).unwrap();
    let home = home(&server);
    let output = home.run(&["sync", "notes"]).unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(!output.status.success());
    assert!(told.contains("`dormouse login notes`"), "{told}");
    // Whoever looks later is sent to the same command.
    for command in ["list", "status", "doctor"] {
        let (_, told) = run(&home, &[command]);
        assert!(told.contains("`dormouse login notes`"), "{command}: {told}");
        assert!(!told.contains("never asked"), "{command}: {told}");
        assert!(!told.contains("`dormouse sync notes`"), "{command}: {told}");
    }
    // Nobody has begun anything: that is for a call, or for the user.
    assert_eq!(server.count("registrations").unwrap(), 0);

    // A link of a command that has ended leads back to nobody.
    let is_sent_to_login = |tool: &str| {
        let output = home.run(&["call", "notes", tool]).unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
        let words = "`dormouse login notes` gives a link and waits";
        assert!(said.contains(words), "{said}");
        assert!(
            !said.contains("redirect_uri") && !said.contains("open this link"),
            "{said}"
        );
    };
    is_sent_to_login("discover");
    assert_eq!(server.count("registrations").unwrap(), 0);

    let mut host = home.serve().unwrap();
    assert_eq!(server.count("registrations").unwrap(), 0);
    let refused = host.call("notes__discover", json!({})).unwrap();
    assert_eq!(refused["isError"], json!(true), "{refused}");
    let text = client::text(&refused).unwrap();
    let link = text.lines().find(|line| line.starts_with("http")).unwrap();
    oauth::get(link).unwrap();
    let found = host.call("notes__discover", json!({})).unwrap();
    assert_ne!(found["isError"], json!(true), "{found}");
    let answer = host.call("notes__whoami", json!({})).unwrap();
    assert_eq!(answer["structuredContent"]["scopes"], json!(["notes"]));
    drop(host);
    assert!(home.run(&["logout", "notes"]).unwrap().status.success());
    is_sent_to_login("whoami");
}

#[test]
fn two_hosts_at_once_renew_a_token_once() {
    let server = Server::start(&[]).unwrap();
    let home = home(&server);
    let login = Waiting::start(&mut home.command(&["login", "notes"]));
    oauth::get(&login.link).unwrap();
    assert!(login.end().0);
    assert!(home.run(&["sync", "notes"]).unwrap().status.success());

    let file = &logins(&home)[0];
    let mut kept: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    kept["credentials"]["token_received_at"] = json!(0);
    std::fs::write(file, kept.to_string()).unwrap();
    let calls = [0, 1, 2].map(|_| {
        let mut call = home.command(&["call", "notes", "whoami"]);
        call.stdout(Stdio::piped()).stderr(Stdio::piped());
        call.spawn().unwrap()
    });
    for call in calls {
        let output = call.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(server.count("refreshes").unwrap(), 1);
    assert_eq!(server.count("refused refreshes").unwrap(), 0);
}
