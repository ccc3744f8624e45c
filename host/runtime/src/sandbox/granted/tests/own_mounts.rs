//! Own places that are mounted where they are granted.

use super::*;

/// By a bind mount a folder has another path, and its parents say nothing of the first.
#[test]
fn an_own_place_that_is_mounted_in_a_folder_is_noticed_at_once() {
    let name = "an_own_place_that_is_mounted_in_a_folder_is_noticed_at_once";
    if !is_in_own_mounts(name) {
        return;
    }
    let place = Place::new(&["own/part", "files/sub", "other"]);
    for file in ["own/file", "files/file"] {
        std::fs::write(place.root.join(file), "").unwrap();
    }
    let mount = |words: &[&str]| {
        let status = std::process::Command::new("mount").args(words).status();
        assert!(status.unwrap().success(), "{words:?}");
    };
    for (what, at, is_own) in [
        ("other", "files/sub", false),
        ("own", "files", true),
        ("own/part", "files", true),
        ("own", "files/sub", true),
        ("own/part", "files/sub", true),
        ("own/file", "files/file", true),
        (".", "files/sub", true),
        ("files", "own/part", true),
        ("files/sub", "own/part", true),
    ] {
        let open = place.open(&["files"]).unwrap();
        open.preopens().unwrap();
        let [what, at] = [what, at].map(|name| place.root.join(name).display().to_string());
        mount(&["--bind", &what, &at]);
        for judged in [open.preopens().map(drop), place.open(&["files"]).map(drop)] {
            let is_refused = matches!(judged, Err(GrantError::Own { .. }));
            assert_eq!(is_refused, is_own, "{what} at {at}: {judged:?}");
        }
        let unmounted = std::process::Command::new("umount")
            .args(["-l", &at])
            .status();
        assert!(unmounted.unwrap().success());
        open.preopens().unwrap();
    }
}

/// Runs a test once more where it can mount something that nobody else sees, and returns whether this is
/// there. Where that cannot be done, the test fails under CI and is skipped elsewhere.
fn is_in_own_mounts(test: &str) -> bool {
    const INSIDE: &str = "DORMOUSE_TESTS_OWN_MOUNTS";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let unshare = |words: &[&str]| {
        let mut command = std::process::Command::new("unshare");
        command.args(words).stdin(std::process::Stdio::null());
        command
    };
    let works = |words: &&&[&str]| {
        let output = unshare(words).arg("true").output();
        output.is_ok_and(|output| output.status.success())
    };
    let ways: [&[&str]; 2] = [&["--map-root-user", "--mount"], &["--mount"]];
    let Some(words) = ways.iter().find(works) else {
        assert!(
            std::env::var_os("CI").is_none(),
            "`unshare` makes no mount namespace here, which this test needs"
        );
        eprintln!("skipped: `unshare` makes no mount namespace here");
        return false;
    };
    let name = format!("sandbox::granted::tests::own_mounts::{test}");
    let mut command = unshare(words);
    command.arg(std::env::current_exe().unwrap());
    command
        .args(["--exact", &name, "--nocapture"])
        .env(INSIDE, "1");
    let output = command.output().unwrap();
    let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    let said = said.concat();
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}"
    );
    false
}
