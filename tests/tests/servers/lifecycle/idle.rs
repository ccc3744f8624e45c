//! Servers that nobody calls for a while.

use std::thread;
use std::time::Duration;

use anyhow::ensure;
use dormouse_tests::http::{Server, Session};
use dormouse_tests::{Client, wait};
use serde_json::json;

use crate::over_http::without_session;
use crate::scripted::{Scripted, asks};

/// A server that was only asked for its lists does not run on for ever.
#[test]
fn asked_ones_fall_asleep() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds a note.")]);
    all.own("notes", "limits = { idle = \"1s\" }\n");
    let mut host = all.serve(&[]);
    host.text("notes__discover", json!({})).unwrap();
    let status = all.home.server_status("notes").unwrap();
    assert_eq!(status["state"], "ready", "{status}");
    wait::until("sleep", || {
        let status = all.home.server_status("notes")?;
        ensure!(status["state"] == "idle", "{status}");
        ensure!(status["pids"] == json!([]), "{status}");
        Ok(())
    })
    .unwrap();
    host.text("notes__add", json!({})).unwrap();
    assert_eq!(all.starts("notes"), 2);
}

/// A server with `idle = "never"` stays however often others come and go.
#[test]
fn what_is_never_idle_stays_when_others_are_stopped() {
    let all = Scripted::new();
    for (name, idle) in [("stays", "never"), ("goes", "1s"), ("follows", "2s")] {
        all.offers(name, &[("add", "Adds a note.")]);
        all.own(name, &format!("limits = {{ idle = \"{idle}\" }}\n"));
    }
    all.run(&["sync"]);
    let mut host = all.serve(&[]);
    host.text("stays__add", json!({})).unwrap();
    let pids = all.home.server_status("stays").unwrap()["pids"].clone();
    assert_eq!(pids.as_array().map(Vec::len), Some(1), "{pids}");
    for _ in 0..2 {
        for name in ["goes", "follows"] {
            host.text(&format!("{name}__add"), json!({})).unwrap();
        }
        wait::until("the others sleep", || {
            for name in ["goes", "follows"] {
                let status = all.home.server_status(name)?;
                ensure!(status["state"] == "idle", "{status}");
            }
            Ok(())
        })
        .unwrap();
        let status = all.home.server_status("stays").unwrap();
        assert_eq!(status["state"], "ready", "{status}");
        assert_eq!(status["pids"], pids, "{status}");
    }
    host.text("stays__add", json!({})).unwrap();
    assert_eq!(all.starts("stays"), 2, "to know it, and to call it");
    assert_eq!(all.starts("goes"), 3);
    // A session is told of what was stopped.
    let told = json!(host.notifications).to_string();
    assert!(told.contains("server `goes` was stopped"), "{told}");
    assert!(!told.contains("`stays`"), "{told}");
}

/// A browser or a shell that a session has started is of use only as long as it is there.
#[cfg(target_os = "linux")]
#[test]
fn what_a_session_has_started_goes_on_while_the_session_does() {
    let all = Scripted::new();
    all.offers("shell", &[("start", "Starts."), ("end", "Ends.")]);
    all.own("shell", "limits = { idle = \"1s\" }\n");
    all.run(&["sync"]);
    let before = all.starts("shell");
    let mut host = all.serve(&[]);
    let pid = host.text("shell__start", json!({})).unwrap();
    let lives = |pid: &str| std::path::Path::new("/proc").join(pid).exists();
    thread::sleep(Duration::from_secs(4));
    let status = all.home.server_status("shell").unwrap();
    assert_eq!(status["state"], "ready", "{status}");
    assert!(lives(&pid));
    host.text("shell__end", json!({})).unwrap();
    let told = host
        .notification("notifications/message", Duration::from_secs(30))
        .unwrap();
    let text = told["params"]["data"].as_str().unwrap();
    assert!(
        text.contains("server `shell` was stopped") && text.contains("[servers.shell.limits]"),
        "{told}"
    );
    assert_eq!(all.starts("shell"), before + 1);
    let pid = host.text("shell__start", json!({})).unwrap();
    assert_eq!(all.starts("shell"), before + 2);
    drop(host);
    wait::until("end what the session has started", || {
        ensure!(!lives(&pid), "{pid} is there");
        Ok(())
    })
    .unwrap();
}

/// A client without a session does not tell that it has gone: processes that it has started go on
/// for as long as a call may take.
#[cfg(target_os = "linux")]
#[test]
fn what_a_client_without_a_session_has_started_goes_on_for_a_while() {
    let all = Scripted::new();
    all.offers("shell", &[("start", "Starts."), ("end", "Ends.")]);
    let limits = "limits = { idle = \"1s\", timeout = \"2s\", total_timeout = \"8s\" }\n";
    all.own("shell", limits);
    all.run(&["sync"]);
    let server = all.home.serve_http(&[]).unwrap();
    let lives = |pid: &str| std::path::Path::new("/proc").join(pid).exists();
    let sleeps = || {
        wait::until("it sleeps", || {
            let status = all.home.server_status("shell")?;
            ensure!(status["state"] == "idle", "{status}");
            Ok(())
        })
        .unwrap();
    };
    let pid = server.text("shell__start", json!({})).unwrap();
    thread::sleep(Duration::from_secs(4));
    assert!(lives(&pid));
    let status = all.home.server_status("shell").unwrap();
    assert_eq!(status["state"], "ready", "{status}");
    // What has ended is not waited for.
    server.text("shell__end", json!({})).unwrap();
    let ended = std::time::Instant::now();
    sleeps();
    assert!(ended.elapsed() < Duration::from_secs(6));
    // Nor is anything for ever.
    let pid = server.text("shell__start", json!({})).unwrap();
    sleeps();
    wait::until("end what was started", || {
        ensure!(!lives(&pid), "{pid} is there");
        Ok(())
    })
    .unwrap();
}

/// A connection of clients without a session which has processes running is not the first to end.
#[cfg(target_os = "linux")]
#[test]
fn what_a_client_without_a_session_has_started_makes_no_room_for_others() {
    let all = Scripted::new();
    all.offers("shell", &[("start", "Starts."), ("add", "Adds.")]);
    all.own("shell", "limits = { connections = 2 }\n");
    all.run(&["sync"]);
    let before = all.starts("shell");
    let server = all.home.serve_http(&[]).unwrap();
    let lives = |pid: &str| std::path::Path::new("/proc").join(pid).exists();
    let pid = server.text("shell__start", json!({})).unwrap();
    for _ in 0..2 {
        let session = Session::open(&server).unwrap();
        let call = json!({ "name": "shell__add", "arguments": {} });
        let mut answer = server.ask(&session.request(1, "tools/call", call)).unwrap();
        answer.result().unwrap();
    }
    assert_eq!(all.starts("shell") - before, 3);
    server.text("shell__add", json!({})).unwrap();
    assert_eq!(all.starts("shell") - before, 3);
    assert!(lives(&pid));
}

/// Way in which a client that hears no logs calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deaf {
    /// In a session, at level `error`.
    Legacy,
    /// Without a session over stdio.
    Stateless,
    /// In a session over HTTP, at level `error`.
    HttpSession,
    /// Over HTTP without a session, over the connection that all such clients share.
    Http,
    /// Over HTTP without a session, as one that can be asked something.
    HttpAble,
}

/// A client that hears no such logs is told beside the next result, once.
#[test]
fn who_hears_no_logs_is_told_with_the_next_result() {
    use Deaf::{Http, HttpAble, HttpSession, Legacy, Stateless};
    for deaf in [Legacy, Stateless, HttpSession, Http, HttpAble] {
        let all = Scripted::new();
        all.offers("notes", &[("add", "Adds a note.")]);
        all.own("notes", "limits = { idle = \"1s\" }\n");
        all.run(&["sync"]);
        let over_stdio = || match deaf {
            Legacy => Some(all.serve(&[])),
            Stateless => Some(Client::spawn(&mut all.home.command(&["serve"])).unwrap()),
            _ => None,
        };
        let mut host = over_stdio();
        let server = host.is_none().then(|| all.home.serve_http(&[]).unwrap());
        let level = json!({ "level": "error" });
        let ask = |session: &Session, server: &Server, method: &str, params| {
            let request = session.request(1, method, params);
            server.ask(&request).unwrap().result().unwrap()
        };
        let session = server.as_ref().filter(|_| deaf == HttpSession);
        let session = session.map(|server| {
            let session = Session::open(server).unwrap();
            ask(&session, server, "logging/setLevel", level.clone());
            session
        });
        let mut call = || {
            let params = json!({ "name": "notes__add", "arguments": {} });
            let result = match (&mut host, &server) {
                (Some(host), _) if deaf == Stateless => {
                    host.call_stateless("notes__add", json!({})).unwrap()
                }
                (Some(host), _) => {
                    host.request("logging/setLevel", level.clone()).unwrap();
                    host.call("notes__add", json!({})).unwrap()
                }
                (None, Some(server)) => match (&session, deaf) {
                    (Some(session), _) => ask(session, server, "tools/call", params),
                    (None, HttpAble) => {
                        let (method, able) = ("tools/call", asks());
                        without_session(server, "one", method, params, able)
                    }
                    _ => server.stateless("tools/call", params).unwrap(),
                },
                (None, None) => unreachable!(),
            };
            result["content"].as_array().unwrap().clone()
        };
        assert_eq!(call().len(), 1, "{deaf:?}");
        wait::until("it sleeps", || {
            let status = all.home.server_status("notes")?;
            ensure!(status["state"] == "idle", "{status}");
            Ok(())
        })
        .unwrap();
        // What is to be told is put down right after it.
        std::thread::sleep(Duration::from_millis(500));
        let content = call();
        let told = content.get(1).map(|block| block["text"].as_str().unwrap());
        let told = told.unwrap_or_else(|| panic!("{deaf:?} is told nothing"));
        let is_stopped =
            told.starts_with("[dormouse] server `notes` was stopped, because it was not called");
        // The session of a client that has none may have ended before.
        let is_ended = deaf == HttpAble
            && told.starts_with("[dormouse] a connection to server `notes` was ended");
        assert!(is_stopped || is_ended, "{deaf:?}: {told}");
        assert_eq!(call().len(), 1, "{deaf:?}");
    }
}
