//! Tokens, of logins and of hosts.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dormouse_tests::http::{Request, Server, write_token};
use dormouse_tests::{Client, Home, kept_login, oauth};
use serde_json::json;

use crate::agents::asked_by_hand;
use crate::commands::command;
use crate::full_home::home;
use crate::hidden::Hidden;

/// Returns the tokens of a login, and those that it got for them.
fn tokens(home: &Home) -> Vec<String> {
    let folder = home.path().join("cache/data/dormouse/tokens");
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|kind| kind == "json"));
    let mut found = Vec::new();
    for file in files {
        let kept = kept_login::read(&file).unwrap();
        let tokens = &kept["credentials"]["token_response"];
        for name in ["access_token", "refresh_token"] {
            found.push(tokens[name].as_str().unwrap().to_owned());
        }
    }
    found
}

/// Makes a home that is logged in at a server of its own, and the secrets of that login, which has
/// repeated none of them.
fn logged_in(server: &oauth::Server) -> (Home, Hidden) {
    let home = Home::new().unwrap();
    let oauth =
        "oauth = { client_id = \"mine\", client_secret = \"${IN_ENV}\", scopes = [\"notes\"] }";
    let table = format!("url = \"{}\"\n{oauth}", server.url());
    home.table("notes", &table).unwrap();
    home.table("web", "url = \"http://127.0.0.1:1/mcp\"")
        .unwrap();
    home.table("talks", "command = \"false\"").unwrap();
    let mut hidden = Hidden::written();
    let mut login = command(&home, &["login", "notes"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut link = String::new();
    let mut stdout = BufReader::new(login.stdout.take().unwrap());
    stdout.read_line(&mut link).unwrap();
    let (_, redirect) = oauth::once("GET", link.trim()).unwrap();
    let redirect = redirect.unwrap();
    let page = oauth::get(&redirect).unwrap();
    let output = login.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let code = redirect.split_once("code=").unwrap().1;
    hidden.and(code.split('&').next().unwrap());
    for token in tokens(&home) {
        hidden.and(&token);
    }
    hidden.are_not_in("the login", &String::from_utf8_lossy(&output.stderr));
    hidden.are_not_in("the page after the login", &page.text);
    (home, hidden)
}

#[test]
fn nobody_is_told_a_token_of_a_login() {
    let options = ["--no-registration", "--client", "mine"];
    let options = [&options[..], &["--client-secret", "canary-in-env"]].concat();
    let server = oauth::Server::start(&options).unwrap();
    let (home, mut hidden) = logged_in(&server);
    let runs = |words: &[&str], hidden: &Hidden| {
        let output = command(&home, words).stdin(Stdio::null()).output().unwrap();
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        hidden.are_not_in(&format!("`dormouse {}`", words.join(" ")), &text.concat());
        text.concat()
    };
    for words in [
        &["sync", "notes"][..],
        &["call", "notes", "whoami", "{}"],
        &["call", "notes", "admin", "{}"],
        &["status", "--json"],
        &["list", "--json"],
        &["doctor", "--connect"],
        &["adapt", "notes", "-o", "notes.wasm"],
        &["inspect", "notes.wasm"],
    ] {
        runs(words, &hidden);
    }
    // An agent, whose calls get others in place of tokens that are no longer good.
    let log = std::fs::File::create(home.path().join("log")).unwrap();
    let mut host = Client::start(command(&home, &["serve"]).stderr(log)).unwrap();
    let before = tokens(&home);
    let mut said = String::new();
    for make in [None, Some("expire"), Some("forget")] {
        make.into_iter().for_each(|what| server.make(what).unwrap());
        for tool in ["whoami", "admin", "nothing"] {
            let call = json!({ "name": format!("notes__{tool}"), "arguments": {} });
            said += &host.outcome("tools/call", call).unwrap().to_string();
        }
        let resource = json!({ "uri": "dormouse://status" });
        said += &host
            .outcome("resources/read", resource)
            .unwrap()
            .to_string();
        tokens(&home).iter().for_each(|token| hidden.and(token));
    }
    assert!(said.contains("mine"), "nobody was let in: {said}");
    assert!(tokens(&home) != before, "no token was made anew");
    said += &asked_by_hand(&home);
    hidden.are_not_in("an agent", &said);
    drop(host);
    let log = std::fs::read_to_string(home.path().join("log")).unwrap();
    assert!(log.contains("TRACE"), "nothing is logged: {log}");
    hidden.are_not_in("the log at trace", &log);
    hidden.are_not_kept(&home);
    runs(&["logout", "notes"], &hidden);
}

#[test]
fn nobody_is_told_the_token_of_a_host() {
    let home = home();
    let words = ["serve", "--http", "127.0.0.1:0"];
    let server = Server::start(&mut command(&home, &words)).unwrap();
    let token = server.token().unwrap().to_owned();
    is_not_told(&home, server, &token);
}

#[test]
fn nobody_is_told_a_token_that_is_given_to_a_host() {
    let home = home();
    let token = "canary-token-of-the-environment";
    let mut serve = command(&home, &["serve", "--http", "127.0.0.1:0"]);
    serve.env("DORMOUSE_TOKEN", token);
    is_not_told(&home, Server::start(&mut serve).unwrap(), token);
    let token = "canary-token-of-a-file";
    // Where nothing else is kept.
    let folder = tempfile::tempdir().unwrap();
    let file = write_token(folder.path(), &format!("{token}\n")).unwrap();
    let file = file.display().to_string();
    let words = ["serve", "--http", "127.0.0.1:0", "--token-file", &file];
    let server = Server::start(&mut command(&home, &words)).unwrap();
    is_not_told(&home, server, token);
}

/// Asks a host in many ways for its token, and checks all its answers.
fn is_not_told(home: &Home, server: Server, token: &str) {
    let mut hidden = Hidden::written();
    hidden.and(token);
    let list = || Request::stateless(1, "tools/list", json!({}));
    let twice = |mut request: Request| {
        let token = ("authorization".to_owned(), format!("Bearer {token}"));
        request.headers.extend([token.clone(), token]);
        request
    };
    let call = json!({ "name": "talks__discover", "arguments": {} });
    let right = format!("Bearer {token}");
    let right_list = || list().header("authorization", &right);
    let right_call = Request::stateless(1, "tools/call", call).header("authorization", &right);
    let mut statuses = Vec::new();
    for request in [
        right_list(),
        right_call,
        list().header("authorization", "Bearer canary-wrong-token"),
        list().header(
            "authorization",
            &format!("Basic {}", STANDARD.encode("u:canary-basic")),
        ),
        list().header("authorization", &format!("Bearer {token}x")),
        list().header("authorization", token),
        twice(list()),
        list()
            .header("host", "evil.example")
            .header("authorization", &right),
        list()
            .header("origin", "http://origin.example")
            .header("authorization", &right),
        Request::get(&format!("/mcp?token={token}")),
        Request::get(&format!("/{token}")).header("authorization", ""),
        Request::post(format!("{{\"token\":\"{token}\"")),
        Request::post("x").header("mcp-session-id", token),
    ] {
        let mut stream = server.connect().unwrap();
        let request = request.header("connection", "close");
        stream.write_all(&request.bytes(&server)).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        hidden.are_not_in(&request.line, &answer);
        statuses.push(answer.split(' ').nth(1).unwrap().to_owned());
    }
    assert_eq!(statuses[..2], ["200", "200"], "{statuses:?}");
    assert_eq!(statuses[2..6], ["401"; 4], "{statuses:?}");
    assert!(["400", "401"].contains(&&*statuses[6]), "{statuses:?}");
    for words in [&["status"][..], &["status", "--json"], &["doctor"]] {
        let output = command(home, words).output().unwrap();
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        hidden.are_not_in("the control socket", &text.concat());
    }
    let said = server.said();
    assert!(said.contains("DEBUG"), "nothing is logged: {said}");
    hidden.are_not_in("the log at trace", &said);
    drop(server);
    hidden.are_not_kept(home);
}
