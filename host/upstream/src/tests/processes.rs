//! Processes of servers, and their end.

use std::time::Instant;

use super::odd_server::watched;
use super::*;
use crate::reaper;

/// Variable that names the reaper for the host that is to be killed.
const REAPER: &str = "DORMOUSE_TEST_REAPER";

#[cfg(unix)]
pub(super) fn lives(pid: u32) -> bool {
    // A process that has ended and is not yet waited for is no life.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[cfg(unix)]
pub(super) async fn gone(pid: u32) -> Duration {
    let begun = Instant::now();
    while lives(pid) {
        assert!(begun.elapsed() < LIMIT, "{pid} lives");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    begun.elapsed()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_dies_mid_call_says_why_and_is_started_again() {
    let odd = odd(&[]);
    let first = odd.pid().await;
    let why = why(odd.call("die", json!({})).await);
    assert!(why.contains("exit code 7"), "{why}");
    assert!(why.contains("> I am dying\n> of this"), "{why}");
    assert_ne!(odd.pid().await, first);
    // One that does nothing else is left alone for a while.
    for _ in 0..2 {
        let _ = odd.call("die", json!({})).await;
    }
    let again = super::why(odd.call("echo", json!({})).await);
    assert!(again.contains("tried again in"), "{again}");
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_have_processes_of_their_own_unless_shared() {
    for share in [false, true] {
        let odd = odd(if share { &["shared"] } else { &[] });
        let pid = async |session: Option<SessionId>| {
            let listener = Arc::new(RecordingListener::default());
            let answer = odd.call_as(session, listener, "pid", json!({})).await;
            text(&answer.unwrap()).parse::<u32>().unwrap()
        };
        let (one, two) = (Some(ONE), Some(SessionId(2)));
        let pids = [pid(one).await, pid(two).await, pid(None).await];
        assert_eq!(pids[0] == pids[1], share);
        // What is of no session would else start one each time.
        assert_eq!(pids[0] == pids[2], share);
        assert_eq!(pid(None).await, pids[2]);
        odd.upstream.end_session(ONE);
        assert_eq!(pid(two).await, pids[1]);
        assert_eq!(pid(None).await, pids[2]);
        #[cfg(unix)]
        if !share {
            gone(pids[0]).await;
        }
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn all_ends_with_the_hub() {
    let odd = odd(&[]);
    let pid = odd.pid().await;
    odd.connector.close().await;
    assert!(!lives(pid));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn what_is_stopped_ends_with_all_that_it_has_started() {
    for (odds, most) in [(&["family"][..], 5), (&["family", "stubborn"], 10)] {
        let odd = odd(odds);
        let pid = odd.pid().await;
        let stats: Value = serde_json::from_str(&odd.text("stats").await).unwrap();
        let child = u32::try_from(stats["child"].as_u64().unwrap()).unwrap();
        assert!(lives(pid) && lives(child));
        odd.upstream.stop();
        let took = gone(pid).await + gone(child).await;
        assert!(took < Duration::from_secs(most), "{odds:?} {took:?}");
        odd.connector.close().await;
        assert!(odd.upstream.status().connections.is_empty());
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_killed_leaves_nothing_behind() {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, Signal, kill_process};

    let dir = tempfile::TempDir::new().unwrap();
    let this = std::env::current_exe().unwrap();
    let part = |name: &str| format!("--exact tests::processes::{name} --ignored --nocapture");
    let (script, noted) = (dir.path().join("reaper"), dir.path().join("pid"));
    let text = format!(
        "#!/bin/sh\necho $$ > '{}'\nexec '{}' {}\n",
        noted.display(),
        this.display(),
        part("the_reaper_of_another_test")
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut host = Command::new(&this)
        .args(part("the_host_of_another_test").split(' '))
        .env(REAPER, &script)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(host.stdout.take().unwrap()).lines();
    let mut said = said.map_while(Result::ok);
    let pids = said.find_map(|line| Some(line.split_once("pids:")?.1.to_owned()));
    let pids = pids.expect("the host has started nothing");
    let mut pids: Vec<u32> = pids.split(' ').map(|pid| pid.parse().unwrap()).collect();
    pids.push(
        std::fs::read_to_string(noted)
            .unwrap()
            .trim()
            .parse()
            .unwrap(),
    );
    assert!(pids.iter().all(|pid| lives(*pid)), "{pids:?}");
    // What comes from the terminal, or means all processes of a name, ends no reaper.
    let reaper = Pid::from_raw(i32::try_from(pids[2]).unwrap()).unwrap();
    kill_process(reaper, Signal::TERM).unwrap();
    kill_process(reaper, Signal::INT).unwrap();
    host.kill().unwrap();
    host.wait().unwrap();
    for pid in pids {
        assert!(gone(pid).await < Duration::from_secs(10));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a process of another test"]
async fn the_host_of_another_test() {
    let reaper = std::env::var_os(REAPER).unwrap();
    let odd = watched(&["stubborn", "family"], LIMIT, Some(reaper.into()));
    let pid = odd.pid().await;
    let stats: Value = serde_json::from_str(&odd.text("stats").await).unwrap();
    println!("pids:{pid} {}", stats["child"]);
    std::future::pending::<()>().await;
}

#[test]
#[ignore = "a process of another test"]
fn the_reaper_of_another_test() {
    reaper::run().unwrap();
}
