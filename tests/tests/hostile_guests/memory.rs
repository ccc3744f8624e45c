//! A guest that looks for its secret in all of its own memory: the secret, wherever it comes from, is
//! nowhere but on the wire to its host.

use std::ffi::OsString;
use std::fs::File;
use std::path::Path;

use dormouse_tests::keyring::Keyring;
use dormouse_tests::recording_host::RecordingHost;
use dormouse_tests::{Client, Home, artifacts, kept_login, oauth};

use super::Hostile;
use super::secrets::{CANARY, canary, repeating};

/// Returns the files below a folder that have a text in them.
fn files_with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = path.symlink_metadata().unwrap().file_type();
        if kind.is_dir() {
            found.extend(files_with(&path, text));
        } else if kind.is_file() {
            let bytes = std::fs::read(&path).unwrap();
            let mut windows = bytes.windows(text.len());
            if windows.any(|window| window == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// Checks that a secret of a guest goes out, and is in nothing else: the guest's memory, what it and
/// commands say, the log at its finest, and each file that Dormouse has written. `canary` is its text
/// in two parts; `more` is the environment in which it is found.
fn goes_out_and_is_nowhere_else(
    home: Home,
    own: &RecordingHost,
    canary: (&str, &str),
    more: &[(&str, OsString)],
) {
    let whole = format!("{}{}", canary.0, canary.1);
    let log = home.path().join("log");
    let mut serve = home.command(&["serve", "-vv"]);
    serve
        .envs(more.iter().cloned())
        .env("DORMOUSE_LOG", "trace")
        .stderr(File::create(&log).unwrap());
    let client = Client::start(&mut serve).unwrap();
    let mut guest = Hostile { home, client };
    let parts = format!("{},{}", canary.0, canary.1);
    let said = guest.attempt(&own.authority(), &parts);
    let came = |tried: &str| {
        let found = said.iter().find(|one| one.tried == tried).unwrap();
        found.came.clone().unwrap()
    };
    // It was sent, said back, and hidden in that.
    let expected = format!("authorization: Bearer {whole}");
    let received = own.received();
    assert_eq!(received.len(), 2);
    for request in received {
        assert!(request.contains(&expected), "{request}");
    }
    for path in ["/", "/again"] {
        let hidden = "*".repeat(whole.len());
        assert!(
            came(path).contains(&format!("Bearer {hidden}")),
            "{}",
            came(path)
        );
        assert!(!came(path).contains(&whole));
    }
    assert_eq!(came("places of the secret"), "0");
    assert_ne!(came("places of the placeholder"), "0");
    for words in [
        &["status"][..],
        &["status", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["grants", "guest"],
        &["list", "--json"],
        &["secret", "list", "--json"],
    ] {
        let mut command = guest.home.command(words);
        let output = command.envs(more.iter().cloned()).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        assert!(!said.contains(&whole), "{words:?}: {said}");
    }
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    std::fs::write(&kept, &whole).unwrap();
    assert_eq!(files_with(folder.path(), &whole).len(), 1);
    assert_eq!(files_with(guest.home.path(), &whole), [""; 0]);
    let traced = std::fs::read_to_string(&log).unwrap();
    assert!(traced.contains("TRACE"), "{traced}");
    guest.ends_well(&own.authority());
}

/// A home whose guest looks for its secret, which comes from this source, in all of its memory.
fn home_from(own: &RecordingHost, source: &str) -> Home {
    let home = Home::new().unwrap();
    let component = artifacts::hostile_guest("secret_in_memory").unwrap();
    let own = own.authority();
    let more = format!(
        "grants.http = ['http://{own}']\n\
         secrets.token = {{ {source}, hosts = ['http://{own}'], placeholder = 'TOKEN' }}\n"
    );
    home.server_with("guest", &component, &more).unwrap();
    home
}

#[test]
pub(super) fn secret_in_memory() {
    let own = repeating();
    let command = format!(
        "command = ['printf', '%s%s', '{}', '{}']",
        CANARY.0, CANARY.1
    );
    goes_out_and_is_nowhere_else(home_from(&own, &command), &own, CANARY, &[]);
}

#[test]
fn secret_of_a_variable() {
    let own = repeating();
    let home = home_from(&own, "env = 'CANARY_OF_TEST'");
    let more = [("CANARY_OF_TEST", canary().into())];
    goes_out_and_is_nowhere_else(home, &own, CANARY, &more);
}

#[test]
fn secret_of_a_file() {
    use std::os::unix::fs::PermissionsExt as _;

    let own = repeating();
    // Of its user's, and so none that Dormouse has written.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, canary()).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let home = home_from(&own, &format!("file = '{}'", file.display()));
    goes_out_and_is_nowhere_else(home, &own, CANARY, &[]);
}

#[test]
fn secret_of_an_encrypted_file() {
    let own = repeating();
    let home = home_from(&own, "keyring = 'mine'");
    home.secret("mine", &canary(), &[]).unwrap();
    goes_out_and_is_nowhere_else(home, &own, CANARY, &[]);
}

#[test]
fn secret_of_the_keyring() {
    let Some(keyring) = Keyring::start().unwrap() else {
        return;
    };
    let own = repeating();
    let home = home_from(&own, "keyring = 'mine'");
    let more = keyring.environment();
    home.secret("mine", &canary(), &more).unwrap();
    goes_out_and_is_nowhere_else(home, &own, CANARY, &more);
}

/// 1Password's own program is looked for as any other is.
#[test]
fn secret_of_one_password() {
    use std::os::unix::fs::PermissionsExt as _;

    let own = repeating();
    let home = home_from(&own, "op = 'op://Private/API/token'");
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("op");
    let script = format!(
        "#!/bin/sh\n[ \"$*\" = 'read --no-newline op://Private/API/token' ] && printf '%s%s' {} {}\n",
        CANARY.0, CANARY.1
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.path().to_owned()).chain(std::env::split_paths(&path));
    let more = [("PATH", std::env::join_paths(folders).unwrap())];
    goes_out_and_is_nowhere_else(home, &own, CANARY, &more);
}

#[test]
fn secret_of_a_login() {
    let own = repeating();
    let provider = oauth::Server::start(&["--provider", "--client", "mine"]).unwrap();
    let home = home_from(&own, "login = 'work', scopes = ['notes']");
    let table = format!(
        "[providers.work]\nissuer = '{}'\nclient_id = 'mine'\n",
        provider.base()
    );
    let config = std::fs::read_to_string(home.config()).unwrap();
    std::fs::write(home.config(), table + &config).unwrap();
    oauth::log_in(&home, "guest").unwrap();

    let folder = home.path().join("cache/data/dormouse/tokens");
    let files = std::fs::read_dir(folder).unwrap();
    let mut files = files.map(|file| file.unwrap().path());
    let file = files.find(|file| file.extension().is_some_and(|end| end == "json"));
    let kept = kept_login::read(&file.unwrap()).unwrap();
    let token = kept["credentials"]["token_response"]["access_token"].as_str();
    let token = token.unwrap().to_owned();
    let halves = token.split_at(token.len() / 2);
    goes_out_and_is_nowhere_else(home, &own, halves, &[]);
}
