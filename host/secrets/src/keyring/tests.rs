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
    let run = folder.join("run");
    std::fs::create_dir_all(&run).unwrap();
    let script = "printf password | gnome-keyring-daemon --unlock --components=secrets >/dev/null \
                  && exec \"$0\" --exact \"$1\" --ignored --nocapture";
    let mut command = Command::new("dbus-run-session");
    command
        .args(["--", "sh", "-c", script])
        .env("HOME", folder)
        .env("XDG_DATA_HOME", folder.join("share"))
        .env("XDG_RUNTIME_DIR", &run)
        .env(super::KEYRING_VARIABLE, "");
    succeeds(&command_of(&mut command, folder, test).output().unwrap());
}

/// Runs a test of this file that is for a session where there is none.
fn without_session(folder: &Path, test: &str) {
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec \"$0\" --exact \"$1\" --ignored --nocapture"])
        .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")
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
