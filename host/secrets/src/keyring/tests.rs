//! Secrets in a real keyring: GNOME's, in a session bus of each test's own. What is done there is
//! done by this program, started once more.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Instant;

use dormouse_launch::Secret;

use crate::{SecretPlace, SecretStore};

/// Environment variable with the data folder, for what runs in the session.
const DATA: &str = "DORMOUSE_TEST_DATA";

const TEXT: &str = "canary-91d0c3";

/// Whether the keyring's programs are there, which `.ci/run` installs.
fn is_there() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let missing = ["gnome-keyring-daemon", "dbus-run-session", "dbus-send"]
        .into_iter()
        .find(|name| !std::env::split_paths(&path).any(|folder| folder.join(name).is_file()));
    if let Some(name) = missing {
        assert!(
            std::env::var_os("CI").is_none(),
            "`{name}` is not in the PATH\nhint: install Debian's packages `gnome-keyring` and `dbus`"
        );
        eprintln!("skipped: `{name}` is not in the PATH");
    }
    missing.is_none()
}

/// Runs a test of this file that is for a session, in one whose keyring is unlocked. The keyring's
/// own files are those of the folder.
fn in_session(folder: &Path, test: &str) {
    in_session_with(folder, &[], test);
}

/// Does the same as [`in_session`], with further options of the session.
fn in_session_with(folder: &Path, options: &[&str], test: &str) {
    let run = folder.join("run");
    std::fs::create_dir_all(&run).unwrap();
    // The daemon returns before it has its name on the bus.
    let script = "printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null \
                  && for _ in $(seq 100); do dbus-send --session --print-reply \
                  --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner \
                  string:org.freedesktop.secrets >/dev/null 2>&1 && break; sleep 0.1; done \
                  && exec \"$0\" --exact \"$1\" --ignored --nocapture";
    let mut command = Command::new("dbus-run-session");
    command
        .args(options)
        .args(["--", "sh", "-c", script])
        .env("HOME", folder)
        .env("XDG_DATA_HOME", folder.join("share"))
        .env("XDG_RUNTIME_DIR", &run)
        .env(super::KEYRING_VARIABLE, "");
    succeeds(&command_of(&mut command, folder, test).output().unwrap());
}

/// Runs a test of this file that is for a session where there is none.
fn without_session(folder: &Path, test: &str) {
    at_bus("unix:path=/nowhere/bus", folder, test);
}

/// Runs a test of this file where the environment names a session bus.
fn at_bus(address: &str, folder: &Path, test: &str) {
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec \"$0\" --exact \"$1\" --ignored --nocapture"])
        .env("DBUS_SESSION_BUS_ADDRESS", address)
        .env(super::KEYRING_VARIABLE, "");
    succeeds(&command_of(&mut command, folder, test).output().unwrap());
}

fn command_of<'c>(command: &'c mut Command, folder: &Path, test: &str) -> &'c mut Command {
    command
        .arg(std::env::current_exe().unwrap())
        .arg(format!("keyring::tests::{test}"))
        .env(DATA, folder.join("data"))
        .stdin(Stdio::null())
}

fn succeeds(output: &Output) {
    let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    let said = said.concat();
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}

fn store() -> SecretStore {
    SecretStore::open(Path::new(&std::env::var_os(DATA).unwrap()))
}

fn text(store: &SecretStore, name: &str) -> Option<String> {
    let text = store.get(name).unwrap();
    text.map(|text| text.expose().to_owned())
}

/// Sends the keyring a message, and returns its answer.
fn dbus_send(path: &str, words: &[&str]) -> String {
    let output = Command::new("dbus-send")
        .args([
            "--session",
            "--print-reply",
            "--dest=org.freedesktop.secrets",
        ])
        .arg(path)
        .args(words)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the number of Dormouse's items in the keyring.
fn items() -> usize {
    let search = "org.freedesktop.Secret.Service.SearchItems";
    let found = dbus_send(
        "/org/freedesktop/secrets",
        &[search, "dict:string:string:service,dormouse"],
    );
    found.matches("object path").count()
}

#[test]
#[ignore = "runs in a session of another test"]
fn session_keeps_changes_and_removes() {
    let store = store();
    for (name, text) in [("token", "old"), ("token", TEXT), ("other", TEXT)] {
        let place = store.set(name, &Secret::new(text)).unwrap();
        assert_eq!(place, SecretPlace::Keyring);
    }
    // The old text is not left behind.
    assert_eq!(items(), 2);
    assert_eq!(text(&store, "token").as_deref(), Some(TEXT));
    assert!(store.remove("other").unwrap());
    assert_eq!(text(&store, "other"), None);
    assert_eq!(items(), 1);
    let all = store.list().unwrap();
    assert_eq!(all.len(), 1);
    assert_eq!(all[0].place, SecretPlace::Keyring);
}

#[test]
#[ignore = "runs without a session, in another test"]
fn nothing_runs_and_a_file_has_to_do() {
    let store = store();
    let error = store.get("token").err().unwrap().to_string();
    assert!(error.contains("cannot be reached"), "{error}");
    assert!(error.contains("\nhint: "), "{error}");
    // It is told where it is, and not lost.
    assert_eq!(store.list().unwrap()[0].place, SecretPlace::Keyring);
    assert!(store.remove("token").is_err());
    let place = store.set("file", &Secret::new(TEXT)).unwrap();
    assert_eq!(place, SecretPlace::File);
    assert_eq!(text(&store, "file").as_deref(), Some(TEXT));
}

#[test]
#[ignore = "runs in a session of another test"]
fn session_has_both_and_moves_what_is_set_anew() {
    let store = store();
    assert_eq!(text(&store, "token").as_deref(), Some(TEXT));
    assert_eq!(text(&store, "file").as_deref(), Some(TEXT));
    let place = store.set("file", &Secret::new("new")).unwrap();
    assert_eq!(place, SecretPlace::Keyring);
    assert_eq!(text(&store, "file").as_deref(), Some("new"));
}

#[test]
#[ignore = "runs in a session of another test"]
fn session_locks_its_keyring() {
    let store = store();
    store.set("token", &Secret::new(TEXT)).unwrap();
    dbus_send(
        "/org/freedesktop/secrets",
        &[
            "org.freedesktop.Secret.Service.Lock",
            "array:objpath:/org/freedesktop/secrets/aliases/default",
        ],
    );
    let start = Instant::now();
    for error in [
        store.get("token").err().unwrap().to_string(),
        store
            .set("token", &Secret::new("new"))
            .unwrap_err()
            .to_string(),
    ] {
        assert!(error.contains("the secret `token` cannot be"), "{error}");
        assert!(error.contains("\nhint: unlock it"), "{error}");
        assert!(!error.contains(TEXT), "{error}");
    }
    assert!(start.elapsed() < 2 * super::WAIT + super::WAIT / 2);
    assert_eq!(store.list().unwrap()[0].place, SecretPlace::Keyring);
    // What nobody can give again is kept all the same.
    let data = std::env::var_os(DATA).unwrap();
    let data = Path::new(&data);
    let login = crate::StoredSecret::new(data, &data.join("tokens/x.json"), "login", "x");
    let place = login.set_anywhere(&Secret::new(TEXT), "").unwrap();
    assert_eq!(place, SecretPlace::File);
    assert_eq!(login.get().unwrap().unwrap().expose(), TEXT);
}

#[test]
fn a_keyring_that_comes_and_goes_loses_nothing() {
    if !is_there() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    in_session(folder.path(), "session_keeps_changes_and_removes");
    without_session(folder.path(), "nothing_runs_and_a_file_has_to_do");
    in_session(folder.path(), "session_has_both_and_moves_what_is_set_anew");
    let secrets = std::fs::read_dir(folder.path().join("data/secrets")).unwrap();
    for file in secrets {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains(TEXT), "{text}");
    }
}

#[test]
fn a_locked_keyring_is_an_error_in_time() {
    if is_there() {
        let folder = tempfile::tempdir().unwrap();
        in_session(folder.path(), "session_locks_its_keyring");
    }
}

#[test]
#[ignore = "runs in a session of another test"]
fn session_hangs() {
    let store = store();
    store.set("token", &Secret::new(TEXT)).unwrap();
    let output = Command::new("dbus-send")
        .args([
            "--session",
            "--print-reply=literal",
            "--dest=org.freedesktop.DBus",
        ])
        .args(["/", "org.freedesktop.DBus.GetConnectionUnixProcessID"])
        .arg("string:org.freedesktop.secrets")
        .output()
        .unwrap();
    let answer = String::from_utf8(output.stdout).unwrap();
    let daemon = answer.split_whitespace().last().unwrap().to_owned();
    let signal = |signal: &str| {
        let sent = Command::new("kill").args([signal, &daemon]).status();
        assert!(sent.unwrap().success());
    };
    signal("-STOP");
    let start = Instant::now();
    let error = store.get("token").err().unwrap().to_string();
    let waited = start.elapsed();
    // It still is at that, so nobody else waits for as long.
    let again = store.get("token").err().unwrap().to_string();
    let all = start.elapsed();
    let is_listed = store.list().unwrap().len() == 1;
    signal("-CONT");
    assert!(is_listed);
    assert!(
        error.contains("has not answered within 30 seconds\nhint: "),
        "{error}"
    );
    assert_eq!(again, error);
    assert!(waited < super::WAIT * 3 / 2, "{waited:?}");
    assert!(all - waited < super::WAIT / 2, "{all:?}");
    // It goes on where it has stopped.
    let end = Instant::now() + super::WAIT;
    while store.get("token").is_err() {
        assert!(Instant::now() < end);
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    assert_eq!(text(&store, "token").as_deref(), Some(TEXT));
}

#[test]
fn a_keyring_that_hangs_is_an_error_in_time() {
    if is_there() {
        let folder = tempfile::tempdir().unwrap();
        in_session(folder.path(), "session_hangs");
    }
}

/// Writes the configuration of a bus that lets everybody in.
fn open_bus(folder: &Path, address: &str) -> String {
    let file = folder.join("bus.conf");
    let text = format!(
        "<busconfig><type>session</type><listen>{address}</listen><policy context=\"default\">\
         <allow user=\"*\"/><allow send_destination=\"*\" eavesdrop=\"true\"/>\
         <allow eavesdrop=\"true\"/><allow own=\"*\"/></policy></busconfig>"
    );
    std::fs::write(&file, text).unwrap();
    format!("--config-file={}", file.display())
}

#[test]
#[ignore = "runs in a session of another test"]
fn session_keeps() {
    let place = store().set("token", &Secret::new(TEXT)).unwrap();
    assert_eq!(place, SecretPlace::Keyring);
    assert_eq!(text(&store(), "token").as_deref(), Some(TEXT));
}

#[test]
fn a_bus_without_a_file_is_used_where_it_is_this_users() {
    if is_there() {
        let folder = tempfile::tempdir().unwrap();
        let name = format!("unix:abstract=dormouse-test-{}", std::process::id());
        let option = open_bus(folder.path(), &name);
        in_session_with(folder.path(), &[&option], "session_keeps");
    }
}

#[test]
#[ignore = "runs in a session of another test"]
fn somebody_elses_keyring_is_none() {
    let place = store().set("token", &Secret::new(TEXT)).unwrap();
    assert_eq!(place, SecretPlace::File);
    assert_eq!(text(&store(), "token").as_deref(), Some(TEXT));
}

/// Whoever becomes root by `su` keeps an environment that names the bus of whom they were, and a bus in
/// a folder for all may be another user's by now.
#[test]
fn a_keyring_of_another_user_is_not_used() {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::fs::{PermissionsExt as _, chown};
    use std::os::unix::process::CommandExt as _;

    /// The user `nobody` of most systems.
    const OTHER: u32 = 65_534;

    let is_root = dormouse_files::ownership::effective_user() == 0;
    if !is_there() || !is_root {
        // Only root can become another user.
        return;
    }
    let (folder, theirs) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    chown(theirs.path(), Some(OTHER), Some(OTHER)).unwrap();
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(theirs.path(), mode).unwrap();
    let name = format!("dormouse-test-of-another-{}", std::process::id());
    for address in [
        format!("unix:path={}", theirs.path().join("bus").display()),
        format!("unix:abstract={name}"),
    ] {
        let option = open_bus(theirs.path(), &address);
        let script = "printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null \
                      && echo \"$DBUS_SESSION_BUS_ADDRESS\" && read end";
        let mut session = Command::new("dbus-run-session")
            .args([&option, "--", "sh", "-c", script])
            .env("HOME", theirs.path())
            .env("XDG_DATA_HOME", theirs.path().join("share"))
            .env("XDG_RUNTIME_DIR", theirs.path())
            .uid(OTHER)
            .gid(OTHER)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let stdout = session.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut said).unwrap();
        assert!(said.starts_with(&address), "{said}");
        at_bus(said.trim(), folder.path(), "somebody_elses_keyring_is_none");
        at_bus(&address, folder.path(), "somebody_elses_keyring_is_none");
        drop(session.stdin.take());
        session.wait().unwrap();
    }
}
