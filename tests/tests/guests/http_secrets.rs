//! Secrets of HTTP requests: the host puts them in, their hosts alone get them, and nobody else ever
//! sees them.

use std::fs::File;
use std::process::Command;
use std::sync::Mutex;

use dormouse_tests::artifacts;
use dormouse_tests::recording_host::{self, RecordingHost};

use super::*;

const TOKEN: &str = "t0ken-of-the-environment";
const KEY: &str = "k3y of/a+file";
const KEY_IN_QUERY: &str = "k3y%20of%2Fa%2Bfile";
const PASSWORD: &str = "p4ssword-of-a-command";
/// `me:` and the password, in Base64.
const CREDENTIALS: &str = "bWU6cDRzc3dvcmQtb2YtYS1jb21tYW5k";

/// All forms in which a secret of these tests goes out.
const FORMS: [&str; 5] = [TOKEN, KEY, KEY_IN_QUERY, PASSWORD, CREDENTIALS];

/// Starts a host that says in its headers and in its body what it was asked.
fn repeating() -> RecordingHost {
    RecordingHost::start(|request| {
        let lines = request.lines();
        let header = lines.filter(|line| line.starts_with("authorization: "));
        let header: String = header.map(|line| format!("x-{line}\r\n")).collect();
        recording_host::http("200 OK", &header, request)
    })
    .unwrap()
}

/// A home whose guest may reach both hosts, and has secrets for the first.
fn home(own: &RecordingHost, other: &RecordingHost) -> Home {
    let home = Home::new().unwrap();
    let (own, other) = (own.authority(), other.authority());
    let more = format!(
        "grants.http = ['http://{own}', 'http://{other}']\n\
         [servers.http.secrets]\n\
         token = {{ env = 'SECRET_TOKEN', hosts = ['http://{own}'], header = 'Authorization', value = 'Bearer {{}}' }}\n\
         key = {{ file = 'key', hosts = ['http://{own}'], query = 'appid' }}\n\
         pat = {{ command = ['printf', '{PASSWORD}'], hosts = ['http://{own}'], placeholder = 'PAT', header = 'X-Token' }}\n"
    );
    let guest = artifacts::guest("http").unwrap();
    home.server_with("http", &guest, &more).unwrap();
    write_key(&home);
    home
}

/// Puts the secret of the file where it is looked for.
fn write_key(home: &Home) {
    let file = home.path().join("config/key");
    std::fs::write(&file, format!("{KEY}\n")).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
}

fn command(home: &Home, words: &[&str]) -> Command {
    let mut command = home.command(words);
    command
        .env("SECRET_TOKEN", TOKEN)
        .env("DORMOUSE_LOG", "trace");
    command
}

/// Returns the arguments of a request with these headers.
fn request(to: &RecordingHost, path: &str, headers: &[String], body: &str) -> Value {
    json!({
        "method": "POST", "scheme": "http", "authority": to.authority(), "path": path,
        "headers": headers, "body": body,
    })
}

fn has_no_secret(what: &str, text: &str) {
    for form in FORMS {
        assert!(!text.contains(form), "{what} has `{form}`: {text}");
    }
}

#[test]
fn secrets_reach_their_hosts_and_neither_the_guest_nor_other_hosts_nor_the_log() {
    let (own, other) = (repeating(), repeating());
    let home = home(&own, &other);
    let log = home.path().join("log");
    let mut serve = command(&home, &["serve", "-vv"]);
    let mut host = Client::start(serve.stderr(File::create(&log).unwrap())).unwrap();
    let variable = host
        .text("http__variable", json!({ "name": "PAT" }))
        .unwrap();
    let variable: Value = serde_json::from_str(&variable).unwrap();
    let placeholder = variable["result"].as_str().unwrap().to_owned();
    assert!(
        placeholder.starts_with("dormouse-placeholder-"),
        "{placeholder}"
    );
    let hidden = host.text("http__variable", json!({ "name": "SECRET_TOKEN" }));
    assert!(!hidden.unwrap().contains(TOKEN));

    let headers = [
        "authorization: mine".to_owned(),
        "accept-encoding: gzip".to_owned(),
        // Parts of a response may begin within a secret.
        "range: bytes=0-1000".to_owned(),
        "if-range: \"tag\"".to_owned(),
        "accept-charset: utf-16".to_owned(),
        format!("x-token: token {placeholder}"),
        format!("x-other: {placeholder}"),
    ];
    let path = format!("/{placeholder}?appid=mine&x=%2f");
    let said = host
        .text("http__send", request(&own, &path, &headers, &placeholder))
        .unwrap();
    let received = own.received().pop().unwrap();
    for part in [
        &format!("POST /{placeholder}?x=%2f&appid={KEY_IN_QUERY} HTTP/1.1\r\n"),
        &format!("authorization: Bearer {TOKEN}\r\n"),
        &format!("x-token: token {PASSWORD}\r\n"),
        // These are worthless.
        &format!("x-other: {placeholder}\r\n"),
        "accept-encoding: identity\r\n",
        &format!("{placeholder}\r\n"),
    ] {
        assert!(received.contains(part), "no `{part}` in {received}");
    }
    assert!(!received.contains("mine"), "{received}");
    for part in ["range", "charset"] {
        assert!(!received.contains(part), "{received}");
    }
    has_no_secret("the guest's answer", &said);
    for part in [
        format!("x-authorization: Bearer {}", "*".repeat(TOKEN.len())),
        format!("x=%2f&appid={} HTTP/1.1", "*".repeat(KEY_IN_QUERY.len())),
        format!("x-token: token {}", "*".repeat(PASSWORD.len())),
        format!("x-other: {placeholder}"),
    ] {
        assert!(said.contains(&part), "no `{part}` in {said}");
    }

    let said = host
        .text("http__send", request(&other, &path, &headers, &placeholder))
        .unwrap();
    let received = other.received().pop().unwrap();
    has_no_secret("another host", &received);
    has_no_secret("its answer", &said);
    for part in [
        "appid=mine",
        "authorization: mine\r\n",
        "accept-encoding: gzip\r\n",
        "range: bytes=0-1000\r\n",
        &format!("x-token: token {placeholder}\r\n"),
    ] {
        assert!(received.contains(part), "no `{part}` in {received}");
    }
    assert!(said.contains(&placeholder), "{said}");

    let status = command(&home, &["status"]).output().unwrap();
    has_no_secret("`status`", &format!("{status:?}"));
    assert!(host.close(Duration::from_secs(6)).unwrap().success());
    let log = std::fs::read_to_string(&log).unwrap();
    assert!(log.contains("TRACE"), "{log}");
    has_no_secret("the log", &log);
}

/// What a host was sent stays valid there, whatever its user has said about it since.
#[test]
fn what_was_sent_is_hidden_when_secrets_are_revoked_and_the_plugin_is_replaced() {
    let so_far = Mutex::new(String::new());
    let own = RecordingHost::start(move |request| {
        let mut so_far = so_far.lock().unwrap();
        so_far.push_str(request);
        recording_host::http("200 OK", "", so_far.as_str())
    })
    .unwrap();
    let home = home(&own, &repeating());
    let bytes = artifacts::read(&artifacts::guest("http").unwrap()).unwrap();
    let file = home.plugin_file("http.wasm", &bytes).unwrap();
    let text = std::fs::read_to_string(home.config()).unwrap();
    let guest = artifacts::guest("http").unwrap();
    let moved = text.replace(guest.to_str().unwrap(), file.to_str().unwrap());
    assert_ne!(moved, text);
    std::fs::write(home.config(), moved).unwrap();
    let mut host = Client::start(&mut command(&home, &["serve"])).unwrap();
    let asks = request(&own, "/", &["accept-encoding: gzip".to_owned()], "");
    let said = host.text("http__send", asks.clone()).unwrap();
    has_no_secret("the guest's answer", &said);
    let words = [
        "revoke", "http", "--secret", "token", "--secret", "key", "--secret", "pat",
    ];
    let output = command(&home, &words).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    for _ in 0..2 {
        let said = host.text("http__send", asks.clone()).unwrap();
        let received = own.received().pop().unwrap();
        has_no_secret("a request without secrets", &received);
        // It has to be readable.
        assert!(
            received.contains("accept-encoding: identity\r\n"),
            "{received}"
        );
        has_no_secret("the guest's answer", &said);
        let hidden = format!("Bearer {}", "*".repeat(TOKEN.len()));
        assert!(said.contains(&hidden), "no `{hidden}` in {said}");
        home.replace(&file, &bytes).unwrap();
    }
}

#[test]
fn a_placeholder_in_credentials_is_replaced_where_they_are_encoded() {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    let (own, other) = (repeating(), repeating());
    let home = home(&own, &other);
    let mut host = Client::start(&mut command(&home, &["serve"])).unwrap();
    let variable = host
        .text("http__variable", json!({ "name": "PAT" }))
        .unwrap();
    let variable: Value = serde_json::from_str(&variable).unwrap();
    let placeholder = variable["result"].as_str().unwrap();
    let encoded = STANDARD.encode(format!("me:{placeholder}"));
    let headers = [format!("x-token: Basic {encoded}")];
    for (to, expected) in [(&own, CREDENTIALS), (&other, encoded.as_str())] {
        let said = host
            .text("http__send", request(to, "/", &headers, ""))
            .unwrap();
        let received = to.received().pop().unwrap();
        let expected = format!("x-token: Basic {expected}\r\n");
        assert!(received.contains(&expected), "{received}");
        has_no_secret("the guest's answer", &said);
    }
}

#[test]
fn a_secret_without_a_value_fails_its_requests_in_words_until_it_has_one() {
    let (own, other) = (repeating(), repeating());
    let home = home(&own, &other);
    let file = home.path().join("config/key");
    std::fs::remove_file(&file).unwrap();
    let mut host = Client::start(&mut command(&home, &["serve"])).unwrap();
    for _ in 0..2 {
        let error = host
            .error("http__send", request(&own, "/", &[], ""))
            .unwrap();
        let why = format!(
            "secret `key` of server `http` has no value: the file `{}` cannot be read: ",
            file.display()
        );
        for part in [why.as_str(), "name a file that only you can read"] {
            assert!(error.contains(part), "no `{part}` in {error}");
        }
        has_no_secret("the error", &error);
    }
    assert_eq!(own.received(), [""; 0]);
    assert!(
        host.text("http__send", request(&other, "/", &[], ""))
            .is_ok()
    );
    write_key(&home);
    assert!(host.text("http__send", request(&own, "/", &[], "")).is_ok());
}

#[test]
fn no_command_looks_a_secret_up_or_says_it() {
    let (own, other) = (repeating(), repeating());
    let home = home(&own, &other);
    let sends = request(&own, "/", &[], "").to_string();
    for words in [
        &["list"][..],
        &["list", "--json"],
        &["tools", "http"],
        &["status", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["grants", "http"],
        &["call", "http", "send", &sends, "--json"],
    ] {
        let output = command(&home, words).output().unwrap();
        has_no_secret(&words.join(" "), &format!("{output:?}"));
        let is_call = words.first() == Some(&"call");
        assert_eq!(own.received().len(), usize::from(is_call), "{words:?}");
    }
}
