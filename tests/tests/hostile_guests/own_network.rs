//! A network of a test's own: the test runs once more in a namespace that has no other network, where
//! the loopback has addresses of the internet and of private networks, and names are the test's.

use std::any::type_name_of_val;
use std::path::Path;
use std::process::{Command, Stdio};

/// Says that this process is in such a network.
const INSIDE: &str = "DORMOUSE_TESTS_OWN_NETWORK";

/// Gives the loopback its addresses.
const ADDRESSES: &str = include_str!("network.py");

/// Files that say how names are resolved.
const FILES: [(&str, &str); 3] = [
    (
        "resolv.conf",
        "nameserver 127.0.0.1\noptions timeout:5 attempts:1\n",
    ),
    ("nsswitch.conf", "hosts: files dns\n"),
    ("hosts", "127.0.0.1 localhost\n::1 localhost\n"),
];

/// Prepares the network, and becomes the program behind the first three words.
const PREPARE: &str = r#"
python3 -c "$1"
for file in resolv.conf nsswitch.conf hosts; do
    if [ -e "/etc/$file" ]; then mount --bind "$2/$file" "/etc/$file"; fi
done
shift 2
exec "$@"
"#;

/// Ways to a namespace: for everybody where the system allows that, and for root alone.
const NAMESPACES: [&[&str]; 2] = [
    &["--map-root-user", "--mount", "--net"],
    &["--mount", "--net"],
];

/// Runs the body of a test in a network of its own. Where there can be none, the test fails under CI
/// and is skipped elsewhere.
pub(super) fn in_own_network(body: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    let works = |words: &&&[&str]| {
        let mut command = Command::new("unshare");
        let output = command
            .args(**words)
            .arg("true")
            .stdin(Stdio::null())
            .output();
        output.is_ok_and(|output| output.status.success())
    };
    let Some(words) = NAMESPACES.iter().find(works) else {
        assert!(
            std::env::var_os("CI").is_none(),
            "`unshare` makes no network namespace here, which these tests need"
        );
        eprintln!("skipped: `unshare` makes no network namespace here");
        return;
    };
    let files = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        std::fs::write(files.path().join(name), text).unwrap();
    }
    let name = test_name(type_name_of_val(&body));
    let output = inside(words, files.path(), name).output().unwrap();
    let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    let said = said.concat();
    assert!(output.status.success(), "{name}: {said}");
    assert!(said.contains("1 passed"), "{name} was not run: {said}");
}

/// Returns the command that runs one test of this program inside.
fn inside(words: &[&str], files: &Path, name: &str) -> Command {
    let mut command = Command::new("unshare");
    command
        .args(words)
        .args(["sh", "-ec", PREPARE, "sh", ADDRESSES])
        .arg(files)
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(INSIDE, "1")
        .stdin(Stdio::null());
    for proxy in ["http_proxy", "https_proxy", "all_proxy", "no_proxy"] {
        command.env_remove(proxy).env_remove(proxy.to_uppercase());
    }
    command
}

/// Returns the name of the test that a closure is written in, from the name of its type.
fn test_name(of_type: &str) -> &str {
    let name = of_type.trim_end_matches("::{{closure}}");
    name.split_once("::").map_or(name, |(_, name)| name)
}
