//! Secrets of the user's own store in requests of a plugin, as they are set, changed and removed.

use std::ffi::OsString;
use std::sync::Mutex;
use std::time::Instant;

use dormouse_tests::artifacts;
use dormouse_tests::keyring::{HangingBus, Keyring};
use dormouse_tests::recording_host::{self, RecordingHost};

use super::*;

/// A home whose guest has a secret of the store for a host, in a header.
fn home(host: &RecordingHost) -> Home {
    home_with(host, "header = 'Authorization', value = 'Bearer {}'")
}

/// The same with the secret in that place.
fn home_with(host: &RecordingHost, place: &str) -> Home {
    let home = Home::new().unwrap();
    let host = host.authority();
    let more = format!(
        "grants.http = ['http://{host}']\n\
         [servers.http.secrets]\n\
         auth = {{ keyring = 'token', hosts = ['http://{host}'], {place} }}"
    );
    let guest = artifacts::guest("http").unwrap();
    home.server_with("http", &guest, &more).unwrap();
    home.guests(&["echo"]).unwrap();
    home
}

fn serve(home: &Home, environment: &[(&str, OsString)]) -> Client {
    let mut serve = home.command(&["serve"]);
    Client::start(serve.envs(environment.iter().cloned())).unwrap()
}

fn request(host: &RecordingHost) -> Value {
    json!({
        "method": "GET", "scheme": "http", "authority": host.authority(), "path": "/",
        "headers": [], "body": "",
    })
}

/// Checks that the requests of a running host follow what its user does with the secret.
fn follow(environment: &[(&str, OsString)], place: &str) {
    let api = RecordingHost::answering("{}").unwrap();
    let home = home(&api);
    let mut host = serve(&home, environment);
    let has_none = |host: &mut Client| {
        let before = api.received().len();
        let error = host.error("http__send", request(&api)).unwrap();
        for part in [
            "secret `auth` of server `http` has no value: you have no secret `token`",
            "hint: `dormouse secret set token` asks you for it",
        ] {
            assert!(error.contains(part), "no `{part}` in {error}");
        }
        assert_eq!(api.received().len(), before);
    };
    has_none(&mut host);
    for text in ["canary-first-text", "canary-second-text"] {
        home.secret("token", text, environment).unwrap();
        host.text("http__send", request(&api)).unwrap();
        let received = api.received().pop().unwrap();
        let expected = format!("authorization: Bearer {text}\r\n");
        assert!(received.contains(&expected), "{received}");
    }
    let run = |words: &[&str]| {
        let mut command = home.command(words);
        command.envs(environment.iter().cloned()).output().unwrap()
    };
    let listed = run(&["secret", "list", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed, json!([{ "name": "token", "place": place }]));
    assert!(run(&["secret", "remove", "token"]).status.success());
    has_none(&mut host);
    assert!(host.close(Duration::from_secs(6)).unwrap().success());
}

#[test]
fn requests_follow_what_is_set_changed_and_removed() {
    follow(&[], "file");
}

#[cfg(target_os = "linux")]
#[test]
fn requests_follow_what_is_in_the_keyring() {
    if let Some(keyring) = Keyring::start().unwrap() {
        follow(&keyring.environment(), "keyring");
    }
}

/// Its host may repeat what an earlier process has sent it, also to a request that does not have it.
#[test]
fn a_host_is_sent_nothing_while_its_secret_cannot_be_looked_up() {
    let so_far = Mutex::new(String::new());
    let api = RecordingHost::start(move |request| {
        let mut so_far = so_far.lock().unwrap();
        so_far.push_str(request);
        recording_host::http("200 OK", "", so_far.as_str())
    })
    .unwrap();
    let home = home_with(&api, "placeholder = 'TOKEN', header = 'X-Token'");
    home.secret("token", "canary-of-the-store", &[]).unwrap();
    let mut host = serve(&home, &[]);
    let variable = host.text("http__variable", json!({ "name": "TOKEN" }));
    let variable: Value = serde_json::from_str(&variable.unwrap()).unwrap();
    let mut with_placeholder = request(&api);
    let placeholder = variable["result"].as_str().unwrap();
    with_placeholder["headers"] = json!([format!("x-token: {placeholder}")]);
    host.text("http__send", with_placeholder).unwrap();
    let received = api.received().pop().unwrap();
    let expected = "x-token: canary-of-the-store\r\n";
    assert!(received.contains(expected), "{received}");
    assert!(host.close(Duration::from_secs(6)).unwrap().success());

    let mut host = serve(&home, &[]);
    let said = host.text("http__send", request(&api)).unwrap();
    assert!(said.contains("x-token: ***"), "{said}");
    assert!(!said.contains("canary"), "{said}");
    assert!(host.close(Duration::from_secs(6)).unwrap().success());

    // It is there, and cannot be read.
    let key = home.path().join("cache/data/dormouse/age-identity.txt");
    std::fs::write(key, "no key").unwrap();
    let mut host = serve(&home, &[]);
    let error = host.error("http__send", request(&api)).unwrap();
    let part = "secret `auth` of server `http` has no value: ";
    assert!(error.contains(part), "{error}");
    assert_eq!(api.received().len(), 2);

    // A plugin may do without one that its user does not have.
    let removed = home.run(&["secret", "remove", "token"]).unwrap();
    assert!(removed.status.success(), "{removed:?}");
    host.text("http__send", request(&api)).unwrap();
    assert_eq!(api.received().len(), 3);
    assert!(host.close(Duration::from_secs(6)).unwrap().success());
}

/// A call that needs the keyring waits for it half a minute, and nobody else waits.
#[cfg(target_os = "linux")]
#[test]
fn a_keyring_that_hangs_keeps_no_other_server_waiting() {
    let api = RecordingHost::answering("{}").unwrap();
    let home = home(&api);
    // As one that was put into the keyring when that ran.
    let folder = home.path().join("cache/data/dormouse/secrets");
    std::fs::create_dir_all(&folder).unwrap();
    for private in [home.path().join("cache/data/dormouse"), folder.clone()] {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(private, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
    let record = json!({
        "name": "token", "version": "1", "keyring": { "user": "secret token 1", "parts": 1 },
    });
    let file = format!("{}.json", blake3::hash(b"token").to_hex());
    std::fs::write(folder.join(file), record.to_string()).unwrap();

    let bus = HangingBus::start(home.path()).unwrap();
    let mut host = serve(&home, &bus.environment());
    let start = Instant::now();
    let calls = [(); 3].map(|()| {
        let call = json!({ "name": "http__send", "arguments": request(&api) });
        host.send("tools/call", call).unwrap()
    });
    // They wait for it now.
    std::thread::sleep(Duration::from_secs(1));
    for text in ["one", "two"] {
        let said = host.text("echo__echo", json!({ "text": text })).unwrap();
        assert_eq!(said, text);
    }
    assert!(!host.tools().unwrap().is_empty());
    let mut status = home.command(&["status"]);
    let status = status.envs(bus.environment()).output().unwrap();
    assert!(status.status.success(), "{status:?}");
    let mut list = home.command(&["secret", "list"]);
    let list = list.envs(bus.environment()).output().unwrap();
    assert!(
        String::from_utf8_lossy(&list.stdout).contains("keyring"),
        "{list:?}"
    );
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_secs(15), "{elapsed:?}");
    for call in calls {
        let answer = host.answer(call).unwrap();
        let error = client::text(&answer["result"]).unwrap();
        for part in [
            "secret `auth` of server `http` has no value: the secret `token` cannot be read: the \
             system's keyring has not answered within 30 seconds",
            "hint: unlock it",
        ] {
            assert!(error.contains(part), "no `{part}` in {error}");
        }
    }
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_secs(50), "{elapsed:?}");
    assert_eq!(api.received(), [""; 0]);
    assert!(host.close(Duration::from_secs(6)).unwrap().success());
}
