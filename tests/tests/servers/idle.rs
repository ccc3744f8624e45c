//! Servers that nobody calls for a while.

use std::thread;
use std::time::Duration;

use anyhow::ensure;
use dormouse_tests::{Client, wait};
use serde_json::json;

use super::scripted::Scripted;

/// Who was only asked what it has does not run on for ever.
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

/// However often others come and go.
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

/// Who hears no such logs is told beside the next result, once.
#[test]
fn who_hears_no_logs_is_told_with_the_next_result() {
    for is_stateless in [false, true] {
        let all = Scripted::new();
        all.offers("notes", &[("add", "Adds a note.")]);
        all.own("notes", "limits = { idle = \"1s\" }\n");
        all.run(&["sync"]);
        let mut host = match is_stateless {
            true => Client::spawn(&mut all.home.command(&["serve"])).unwrap(),
            false => all.serve(&[]),
        };
        let mut call = || {
            let result = match is_stateless {
                true => host.call_stateless("notes__add", json!({})),
                false => {
                    host.request("logging/setLevel", json!({ "level": "error" }))
                        .unwrap();
                    host.call("notes__add", json!({}))
                }
            };
            let result = result.unwrap();
            result["content"].as_array().unwrap().clone()
        };
        assert_eq!(call().len(), 1, "{is_stateless}");
        wait::until("it sleeps", || {
            let status = all.home.server_status("notes")?;
            ensure!(status["state"] == "idle", "{status}");
            Ok(())
        })
        .unwrap();
        let content = call();
        let told = content[1]["text"].as_str().unwrap();
        assert!(
            told.starts_with("[dormouse] server `notes` was stopped, because it was not called"),
            "{is_stateless}: {told}"
        );
        assert_eq!(call().len(), 1, "{is_stateless}");
    }
}
