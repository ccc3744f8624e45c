//! Processes that a server has started, and that have left its process group.

use dormouse_tests::processes::{self, Process};
use dormouse_tests::{Client, wait};
use serde_json::json;

use crate::scripted::Scripted;

/// A program that leaves a process behind in a session of its own, whose parent is gone,
/// and then becomes a server.
const LEAVES: &str = r"
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(sys.argv[1], 'w') as file:
            file.write(str(os.getpid()))
        for stream in range(3):
            os.close(stream)
        time.sleep(600)
    os._exit(0)
os.wait()
os.execvp(sys.argv[2], sys.argv[2:])
";

/// Returns a host that has called such a server, and the process that the server has left behind.
fn called() -> (Scripted, Client, Process) {
    let all = Scripted::new();
    all.offers("daemon", &[("go", "Goes.")]);
    let noted = all.home.path().join("left.pid");
    let noted_at = noted.display().to_string();
    let mut words = ["python3", "-c", LEAVES, &noted_at]
        .map(str::to_owned)
        .to_vec();
    words.extend(all.words("daemon"));
    let command = format!("command = {}", json!(words));
    all.home.table("daemon", &command).unwrap();
    let mut host = all.serve(&[]);
    host.text("daemon__discover", json!({})).unwrap();
    let left = wait::until("a process that is left behind", || {
        let pid = std::fs::read_to_string(&noted)?.parse()?;
        Process::of(pid).ok_or_else(|| std::io::Error::other("it does not run").into())
    });
    (all, host, left.unwrap())
}

#[test]
fn what_has_left_its_group_ends_with_its_host() {
    let (_all, host, left) = called();
    assert!(left.runs());
    host.close(std::time::Duration::from_secs(6)).unwrap();
    processes::gone(&[left]).unwrap();
}

#[test]
fn what_has_left_its_group_ends_with_a_host_that_is_killed() {
    let (_all, host, left) = called();
    assert!(left.runs());
    let killed = std::process::Command::new("kill")
        .args(["-KILL", &host.pid().to_string()])
        .status();
    assert!(killed.unwrap().success());
    processes::gone(&[left]).unwrap();
}
