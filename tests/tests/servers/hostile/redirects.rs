//! A server on the internet that redirects to addresses that only this machine reaches. That takes
//! addresses of the internet, so it happens in a network of its own, which root can make.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Command, Stdio};

use dormouse_tests::{Home, artifacts};

/// Whether a network of its own can be made; panics where root cannot.
fn has_networks() -> bool {
    let made = Command::new("unshare").args(["--net", "true"]).output();
    let made = made.is_ok_and(|made| made.status.success());
    if !made {
        let id = Command::new("id").arg("-u").output().unwrap();
        assert_ne!(
            id.stdout, b"0\n",
            "`unshare --net` fails although this is root"
        );
        eprintln!("skipped: a network of its own takes root");
    }
    made
}

/// Makes Dormouse ask a server for its offers that redirects to that host. Returns whether that
/// succeeds, the output, and the hosts that were asked.
fn synced(host: &str) -> (bool, String, String) {
    let home = Home::new().unwrap();
    let table = format!("url = \"http://8.8.8.8:8080/to/{host}\"\n");
    home.table("far", &table).unwrap();
    let log = home.path().join("asked");
    let script = artifacts::workspace().join("tests/servers/redirecting.py");
    let sync = home.command(&["sync", "far"]);
    let mut command = Command::new("unshare");
    command.args(["--net", "python3"]).arg(script).arg(&log);
    command.arg(sync.get_program()).args(sync.get_args());
    command.envs(home.environment()).current_dir(home.path());
    let output = command.stdin(Stdio::null()).output().unwrap();
    let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    let asked = fs::read_to_string(log).unwrap_or_default();
    (output.status.success(), said.concat(), asked)
}

#[test]
fn a_server_on_the_internet_leads_nobody_to_this_machine() {
    if !has_networks() {
        return;
    }
    // The control: elsewhere on the internet is followed.
    let (succeeded, said, asked) = synced("8.8.4.4");
    assert!(
        succeeded && asked.contains("8.8.4.4:8080"),
        "{said}\n{asked}"
    );
    for host in [
        "0.0.0.0",
        "0",
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "localhost",
        "LOCALHOST.",
        "[::1]",
        "[::]",
        "[::ffff:0.0.0.0]",
        "[::ffff:127.0.0.1]",
        "10.1.2.3",
        "[::ffff:10.1.2.3]",
        "169.254.169.254",
    ] {
        let (succeeded, said, asked) = synced(host);
        assert!(!succeeded, "{host}: {said}");
        assert_eq!(asked, "", "{host}: {said}");
        assert!(said.contains("far: "), "{host}: {said}");
    }
}
