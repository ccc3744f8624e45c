//! Logins of users, with a browser and without.

use std::io::Write as _;

use dormouse_tests::oauth::{self, Server};
use dormouse_tests::{Home, artifacts, client, kept_login};
use serde_json::json;

use crate::{Waiting, home, logins, run};

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
    let kept = kept_login::read(&files[0]).unwrap();
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

    let kept = kept_login::read(&logins(&home)[0]).unwrap();
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
