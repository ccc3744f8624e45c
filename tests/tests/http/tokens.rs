//! Tokens, by which a host knows its clients.

use dormouse_tests::http::{Request, Server, write_token};
use serde_json::json;

use crate::home;

#[test]
fn who_does_not_know_the_token_is_sent_away() {
    let home = home(&["echo"]);
    let file = write_token(home.path(), "s3cret\n").unwrap();
    let server = home
        .serve_http(&["--token-file", &file.display().to_string()])
        .unwrap();
    let list = || Request::stateless(1, "tools/list", json!({}));
    for (token, status) in [
        ("", 401),
        ("Bearer wrong", 401),
        ("Basic s3cret", 401),
        ("Bearer s3cret", 200),
    ] {
        let answer = server.ask(&list().header("authorization", token)).unwrap();
        assert_eq!(answer.status, status, "{token}");
        let challenged = answer
            .header("www-authenticate")
            .is_some_and(|c| c.starts_with("Bearer"));
        assert_eq!(challenged, status == 401, "{token}");
    }
    // Whoever watches it knows no token.
    for path in ["/ready", "/health"] {
        let open = Request::get(path).header("authorization", "");
        assert_eq!(server.ask(&open).unwrap().status, 200, "{path}");
    }
    // The answer does not wait for a body that nobody will read.
    let mut long = list().header("content-length", "1000000");
    long = long.header("authorization", "Bearer wrong");
    long.body.clear();
    assert_eq!(server.ask(&long).unwrap().status, 401);

    std::fs::write(&file, " \n").unwrap();
    let file = file.display().to_string();
    let output = home.run(&["serve", "--http", "127.0.0.1:0", "--token-file", &file]);
    let said = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(said.contains("empty"), "{said}");
}

#[test]
fn a_token_is_made_where_none_is_given() {
    let home = home(&["echo"]);
    let server = home.serve_http(&[]).unwrap();
    let token = server.token().unwrap().to_owned();
    assert_eq!(token.len(), 64, "256 bits");
    let list = || Request::stateless(1, "tools/list", json!({}));
    assert_eq!(server.ask(&list()).unwrap().status, 200);
    let mut refused = server.ask(&list().header("authorization", "")).unwrap();
    assert_eq!(refused.status, 401);
    // What to send, and where it is; and no way to log in.
    let challenge = refused.header("www-authenticate").unwrap().to_owned();
    let text = String::from_utf8(refused.body().unwrap()).unwrap();
    let file = home.path().join("cache/data/dormouse/http-token");
    assert!(text.contains("`Authorization: Bearer TOKEN`"), "{text}");
    assert!(text.contains(file.to_str().unwrap()), "{text}");
    for said in [&challenge, &text] {
        assert!(!said.contains("resource_metadata"), "{said}");
        assert!(!said.contains(&token), "{said}");
    }
    // Another way to write the path, or another place for the token, is no way in.
    let elsewhere = [
        "//mcp",
        "/MCP",
        "/mcp/",
        "/./mcp",
        "/x/../mcp",
        "/%6dcp",
        "/mcp;x",
        "/mcp%00",
    ];
    let elsewhere = elsewhere.map(str::to_owned).into_iter();
    let queries = ["token", "access_token", "authorization", "key"];
    let queries = queries.map(|name| format!("/mcp?{name}={token}"));
    for path in elsewhere.chain(queries) {
        let mut request = list().header("authorization", "");
        request.line = format!("POST {path}");
        let status = server.ask(&request).unwrap().status;
        assert!([400, 401, 404].contains(&status), "{path}: {status}");
    }
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/register",
        "/authorize",
        "/token",
    ] {
        let nothing = Request::get(path).header("authorization", "");
        assert_eq!(server.ask(&nothing).unwrap().status, 404, "{path}");
    }
    // Not on a terminal, its file is named and it is not shown.
    assert!(server.said().contains(file.to_str().unwrap()));
    assert!(!server.said().contains(&token), "{}", server.said());
    // Another host of the same user has the same one.
    let other = home.serve_http(&[]).unwrap();
    assert_eq!(other.token(), Some(token.as_str()));
}

/// A user at a terminal is shown the token itself.
#[cfg(unix)]
#[test]
fn a_token_is_shown_to_a_person_at_a_terminal() {
    let home = home(&["echo"]);
    let script = dormouse_tests::artifacts::workspace().join("tests/clients/python/terminal.py");
    // Control and C end it.
    let steps = json!([["listening on ", "\u{3}"]]);
    let serve = home.command(&["serve", "--http", "127.0.0.1:0"]);
    let mut command = std::process::Command::new("python3");
    command.arg(script).arg(steps.to_string());
    command.arg(serve.get_program()).args(serve.get_args());
    command.envs(home.environment()).current_dir(home.path());
    let output = command.output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let file = home.path().join("cache/data/dormouse/http-token");
    let token = std::fs::read_to_string(&file).unwrap();
    let line = format!("Authorization: Bearer {}", token.trim());
    assert!(shown.contains(&line), "{shown}");
    assert!(shown.contains(&format!("`{}`", file.display())), "{shown}");
    assert!(output.status.success(), "{shown}");
}

#[test]
fn another_token_is_made_where_somebody_may_know_it() {
    let home = home(&["echo"]);
    let old = home.serve_http(&[]).unwrap();
    let known = old.token().unwrap().to_owned();
    let address = old.address().to_string();
    let serve = |more: &[&str]| {
        let words = [&["serve", "--http", &address][..], more].concat();
        let output = home.run(&words).unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    // Whoever has the port is sent the token by all clients that were told of it.
    let taken = serve(&[]);
    assert!(taken.contains("may have been sent the token"), "{taken}");
    assert!(
        taken.contains(&format!("dormouse serve --http {address} --new-token")),
        "{taken}"
    );
    // No new one, for as long as a host of the user's own may have that port.
    serve(&["--new-token"]);
    let file = home.path().join("cache/data/dormouse/http-token");
    let kept = || std::fs::read_to_string(&file).unwrap().trim().to_owned();
    assert_eq!(kept(), known);

    let http = ["--http", "127.0.0.1:8137"];
    let install = || {
        let words = [&["install", "cursor", "--no-sync"][..], &http].concat();
        assert!(home.run(&words).unwrap().status.success());
        std::fs::read_to_string(home.path().join(".cursor/mcp.json")).unwrap()
    };
    assert!(install().contains(&known));
    let new = home.serve_http(&["--new-token"]).unwrap();
    let token = new.token().unwrap().to_owned();
    assert_eq!(token.len(), 64);
    assert_ne!(token, known);
    assert_eq!(kept(), token);
    let list = || Request::stateless(1, "tools/list", json!({}));
    let with = |token: &str| list().header("authorization", &format!("Bearer {token}"));
    assert_eq!(new.ask(&with(&known)).unwrap().status, 401);
    assert_eq!(new.ask(&with(&token)).unwrap().status, 200);
    let text = install();
    assert!(text.contains(&token) && !text.contains(&known), "{text}");

    // It would make one that nobody asks for.
    let mut command = home.command(&["serve", "--http", "127.0.0.1:0", "--new-token"]);
    let output = command
        .env("DORMOUSE_TOKEN", "x".repeat(64))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("`DORMOUSE_TOKEN`"), "{told}");
}

#[test]
fn without_a_token_it_serves_this_machine_alone() {
    let home = home(&["echo"]);
    let server = home.serve_http(&["--no-token"]).unwrap();
    assert_eq!(server.token(), None);
    let list = Request::stateless(1, "tools/list", json!({}));
    assert_eq!(server.ask(&list).unwrap().status, 200);
    let said = server.said();
    assert!(
        said.contains("warning: without a token, every program"),
        "{said}"
    );
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:0.0.0.0]:0"] {
        let output = home
            .run(&["serve", "--http", address, "--no-token"])
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{address}: {said}");
        assert!(said.contains("leave out `--no-token`"), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn a_token_file_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = home(&[]);
    let file = write_token(home.path(), "s3cret").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let name = file.display().to_string();
    let output = home.run(&["serve", "--http", "127.0.0.1:0", "--token-file", &name]);
    let said = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(
        said.contains("`644`") && said.contains("chmod 600"),
        "{said}"
    );
}

#[test]
fn a_token_is_taken_from_the_environment() {
    let home = home(&["echo"]);
    let mut command = home.command(&["serve", "--http", "127.0.0.1:0"]);
    command.env("DORMOUSE_TOKEN", "s3cret-of-mine");
    let server = Server::start(&mut command).unwrap();
    let list = || Request::stateless(1, "tools/list", json!({}));
    for (token, status) in [("Bearer wrong", 401), ("Bearer s3cret-of-mine", 200)] {
        let answer = server.ask(&list().header("authorization", token)).unwrap();
        assert_eq!(answer.status, status, "{token}");
    }
    assert!(!home.path().join("cache/data/dormouse/http-token").exists());
}
