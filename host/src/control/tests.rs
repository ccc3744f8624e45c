use std::path::Path;
use std::time::Duration;

use dormouse_config::FilledInFiles;
use interprocess::local_socket::traits::tokio::Listener as _;
use serde_json::{Value, json};

use super::ControlSocketGuard;
use super::client::{ask_each, hosts_in};
use super::methods::Methods;
use super::server::Socket;
use super::{RequestError, RpcError, place};
use crate::roster::{Places, Roster};

/// Says its name, after a while if asked to.
#[derive(Clone)]
struct Echo(&'static str);

/// A host that answers at once.
fn listen_in(folder: &Path, pid: u32, methods: impl Methods) -> ControlSocketGuard {
    Socket::bind_in(folder, pid).unwrap().answer_with(methods)
}

impl Methods for Echo {
    async fn call(&self, method: &str, params: Value) -> Result<Value, RpcError> {
        match method {
            "name" => Ok(json!({ "name": self.0, "params": params })),
            "slow" => {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                Ok(Value::Null)
            }
            "big" => Ok(json!("x".repeat(1 << 20))),
            _ => Err(RpcError::unknown_method(method)),
        }
    }
}

#[tokio::test]
async fn hosts_are_found_asked_and_gone_again() {
    let folder = tempfile::tempdir().unwrap();
    assert!(hosts_in(&folder.path().join("none")).await.is_empty());
    let one = listen_in(folder.path(), 11, Echo("one"));
    let two = listen_in(folder.path(), 7, Echo("two"));

    let mut hosts = hosts_in(folder.path()).await;
    assert_eq!(
        hosts.iter().map(|host| host.pid).collect::<Vec<_>>(),
        [7, 11]
    );
    for (host, name) in hosts.iter_mut().zip(["two", "one"]) {
        // More than once over one connection, with something large between.
        for params in [Value::Null, json!({ "a": [1, "ä"] })] {
            let answer = host.request("name", params.clone()).await.unwrap();
            assert_eq!(answer, json!({ "name": name, "params": params }));
            let big = host.request("big", Value::Null).await.unwrap();
            assert_eq!(big.as_str().unwrap().len(), 1 << 20);
        }
        let error = host.request("no\nsuch", Value::Null).await.unwrap_err();
        assert_eq!(error.to_string(), "there is no method `no\\nsuch`");
        assert!(matches!(error, RequestError::Refused(error) if error.code == -32601));
    }
    drop(one);
    let hosts = hosts_in(folder.path()).await;
    assert_eq!(hosts.iter().map(|host| host.pid).collect::<Vec<_>>(), [7]);
    drop(two);
    assert!(place::files(folder.path()).is_empty());
}

#[tokio::test]
async fn a_real_host_answers() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("dormouse.toml");
    std::fs::write(&config, "[servers.x]\ncomponent = \"x.wasm\"\n").unwrap();
    let roster = Roster::open(Places {
        config: config.clone(),
        cache: folder.path().join("cache"),
        data: folder.path().join("data"),
        token_file: None,
        around: None,
        program: None,
        client: None,
        filled_in: FilledInFiles::default(),
        exposure: crate::roster::ExposureChoice::default(),
    })
    .unwrap();
    let run = folder.path().join("run");
    let _guard = listen_in(&run, 1, roster);
    let mut host = hosts_in(&run).await.remove(0);
    let status = host.request("status", Value::Null).await.unwrap();
    assert_eq!(status["servers"][0]["name"], "x");
    assert_eq!(status["servers"][0]["state"], "failed");

    std::fs::write(&config, "").unwrap();
    let elsewhere = json!({ "config": "/nonexistent/dormouse.toml" });
    let answer = host.request("reload", elsewhere).await.unwrap();
    assert_eq!(answer, json!({ "reloaded": false }));
    let here = json!({ "config": config });
    let answer = host.request("reload", here).await.unwrap();
    assert_eq!(answer, json!({ "reloaded": true }));
    let status = host.request("status", Value::Null).await.unwrap();
    assert_eq!(status["servers"], json!([]));

    // A configuration that cannot be read is told of, and nothing is lost.
    std::fs::write(&config, "[servers.y\n").unwrap();
    let answer = host.request("reload", Value::Null).await.unwrap();
    let warning = answer["warning"].as_str().unwrap();
    assert!(warning.contains("dormouse.toml:1:11"), "{answer}");

    let restart = json!({ "server": "x" });
    let answer = host.request("restart", restart).await.unwrap();
    assert_eq!(answer, json!({ "restarted": false }));
    let error = host.request("restart", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("`server`"), "{error}");
    // Nothing was given there.
    let revoke = json!({ "server": "x", "revoked": { "all": true } });
    let answer = host.request("revoke", revoke).await.unwrap();
    assert_eq!(answer, json!({ "revoked": false }));
    let error = host.request("revoke", json!({ "server": "x" })).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("`revoked`"), "{error}");
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_user_gets_in() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("run");
    std::fs::create_dir(&inner).unwrap();
    std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o777)).unwrap();
    let _guard = listen_in(&inner, 1, Echo("x"));
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&inner), 0o700);
    if cfg!(target_os = "linux") {
        assert_eq!(mode(&place::file(&inner, 1)), 0o600);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn what_a_killed_host_leaves_is_swept() {
    let folder = tempfile::tempdir().unwrap();
    // A listener that is gone without its guard, as after a kill.
    let leave = |pid| {
        let file = place::file(folder.path(), pid);
        drop(std::os::unix::net::UnixListener::bind(&file).unwrap());
        file
    };
    let (old, fresh) = (leave(1), leave(2));
    let status = std::process::Command::new("touch")
        .arg("-d")
        .arg("1 hour ago")
        .arg(&old)
        .status();
    assert!(status.unwrap().success());
    assert!(hosts_in(folder.path()).await.is_empty());
    assert!(!old.exists());
    // It may be just about to listen.
    assert!(fresh.exists());
    // A host with the id of a dead one takes its place.
    let _guard = listen_in(folder.path(), 2, Echo("new"));
    assert_eq!(hosts_in(folder.path()).await.len(), 1);
}

#[tokio::test]
async fn a_host_that_ends_while_it_is_asked_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let _stays = listen_in(folder.path(), 1, Echo("stays"));
    // One whose connections end before its file is gone, as those of a runtime may
    // that is shut down.
    let file = place::file(folder.path(), 2);
    let ending = place::bind(&file).unwrap();
    // One that breaks off and goes on listening, which is a failure.
    let broken = place::bind(&place::file(folder.path(), 3)).unwrap();
    let hosts = hosts_in(folder.path()).await;
    assert_eq!(hosts.len(), 3);
    let ends = async {
        drop(ending.accept().await.unwrap());
        tokio::time::sleep(Duration::from_millis(100)).await;
        drop(ending);
        std::fs::remove_file(&file).unwrap();
    };
    let breaks = async {
        loop {
            drop(broken.accept().await.unwrap());
        }
    };
    let asked = ask_each(hosts, "name", Value::Null);
    let answers = tokio::select! {
        (answers, ()) = async { tokio::join!(asked, ends) } => answers,
        () = breaks => unreachable!(),
    };
    let outcomes: Vec<_> = answers
        .iter()
        .map(|answer| (answer.pid, answer.outcome.is_ok()))
        .collect();
    assert_eq!(outcomes, [(1, true), (3, false)]);
}

#[tokio::test]
async fn a_silent_host_is_given_up_on_and_others_are_not() {
    let folder = tempfile::tempdir().unwrap();
    let _guard = listen_in(folder.path(), 1, Echo("x"));
    let mut hosts = hosts_in(folder.path()).await;
    hosts[0].patience = Duration::from_millis(50);
    let error = hosts[0].request("slow", Value::Null).await.unwrap_err();
    assert!(matches!(error, RequestError::Silent(_)));
    assert_eq!(error.to_string(), "it does not answer within 50ms");
    let mut again = hosts_in(folder.path()).await;
    assert!(again[0].request("name", Value::Null).await.is_ok());
}

#[cfg(unix)]
#[tokio::test]
async fn nonsense_is_answered_and_the_connection_goes_on() {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    let folder = tempfile::tempdir().unwrap();
    let _guard = listen_in(folder.path(), 1, Echo("x"));
    let connect = || tokio::net::UnixStream::connect(place::file(folder.path(), 1));

    let mut stream = BufReader::new(connect().await.unwrap());
    stream
        .write_all(b"hello\n{\"jsonrpc\":\"2.0\",\"method\":\"name\"}\n{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"name\"}\n")
        .await
        .unwrap();
    let mut answers = Vec::new();
    for _ in 0..2 {
        let mut line = String::new();
        stream.read_line(&mut line).await.unwrap();
        answers.push(serde_json::from_str::<Value>(&line).unwrap());
    }
    assert_eq!(answers[0]["error"]["code"], -32700);
    assert_eq!(answers[0]["id"], Value::Null);
    // The notification between them got none.
    assert_eq!(answers[1]["id"], "q");

    // A line without end is not waited for, nor kept.
    let mut flood = connect().await.unwrap();
    let _ = flood.write_all(&vec![b'x'; 1 << 20]).await;
    let mut rest = String::new();
    let ended = BufReader::new(flood).read_line(&mut rest).await;
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?} {rest}");
    assert_eq!(hosts_in(folder.path()).await.len(), 1);
}

/// More connections than there may be say nothing, and whoever asks is answered.
#[tokio::test]
async fn silent_connections_and_many_requests_keep_nobody_out() {
    use interprocess::local_socket::tokio::{Stream, prelude::*};

    let folder = tempfile::tempdir().unwrap();
    let _guard = listen_in(folder.path(), 5, Echo("one"));
    let file = place::file(folder.path(), 5);
    let mut silent = Vec::new();
    for _ in 0..40 {
        let name = place::name(&file).unwrap();
        silent.push(Stream::connect(name).await.unwrap());
    }
    for _ in 0..30 {
        let mut host = hosts_in(folder.path()).await.remove(0);
        for number in 0..100 {
            let answer = host.request("name", json!({ "n": number })).await.unwrap();
            assert_eq!(answer["params"]["n"], number);
        }
    }
    // Who waits for an answer is not silent.
    let mut busy = hosts_in(folder.path()).await.remove(0);
    let asked = tokio::spawn(async move { busy.request("slow", Value::Null).await });
    for _ in 0..40 {
        let name = place::name(&file).unwrap();
        silent.push(Stream::connect(name).await.unwrap());
    }
    let mut host = hosts_in(folder.path()).await.remove(0);
    assert!(host.request("name", Value::Null).await.is_ok());
    assert!(!asked.is_finished());
}
