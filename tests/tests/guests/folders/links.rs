//! Links in the paths of granted folders, and those that guests make.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::*;
use crate::folders::{Granted, refused, run, step};

#[test]
fn a_link_in_place_of_a_granted_folder_is_refused() {
    let place = Granted::new(&["work/archive", "secret"]);
    std::fs::write(place.at("secret/key"), "CANARY").unwrap();
    place
        .server("outer", &[("work", "rw")])
        .server("inner", &[("work/archive", "rw")]);
    let mut client = place.serve();
    let (work, archive) = (place.at("work"), place.at("work/archive"));
    // Both are awake, and what they have is theirs.
    let key = step("read", &[&archive.join("key")]);
    assert_eq!(
        run(&mut client, "inner", std::slice::from_ref(&key)),
        ["error: no-entry"]
    );
    let swap = [
        step("rename", &[&work.join("./archive"), &work.join("old")]),
        step("symlink", &[Path::new("../secret"), &work.join("archive")]),
    ];
    // It may rename what is in its own folder, and can make no link that leads out.
    let said = run(&mut client, "outer", &swap);
    assert_eq!(said, ["ok", "error: not-permitted"]);
    // Whoever else may write there can.
    symlink("../secret", &archive).unwrap();
    for _ in 0..2 {
        let error = refused(&mut client, "inner");
        for part in [
            format!("`{}`", archive.display()),
            format!("`{}`", place.at("secret").display()),
            "dormouse grant inner".to_owned(),
        ] {
            assert!(error.contains(&part), "{error}");
        }
        assert!(!error.contains("CANARY"), "{error}");
        // Another host has only what is recorded.
        client.close(Duration::from_secs(10)).unwrap();
        client = place.serve();
    }
}

/// A plugin that could write to it would grant itself what it likes.
#[test]
fn a_hard_link_to_the_configuration_is_not_opened() {
    let place = Granted::new(&["files"]);
    place.server("files", &[("files", "rw")]);
    let files = place.at("files");
    let [mine, again, config] = ["mine", "again", "config"].map(|name| files.join(name));
    std::fs::write(&mine, "words").unwrap();
    std::fs::hard_link(&mine, &again).unwrap();
    let mut client = place.serve();
    let words = Path::new("words");
    // Its own files may have several names.
    let said = run(
        &mut client,
        "files",
        &[step("read", &[&again]), step("write", &[&again, words])],
    );
    assert_eq!(said, ["words", "ok"]);
    let before = std::fs::read_to_string(place.home.config()).unwrap();
    std::fs::hard_link(place.home.config(), &config).unwrap();
    let said = run(
        &mut client,
        "files",
        &[
            step("read", &[&config]),
            step("write", &[&config, words]),
            step("touch", &[&config]),
            step("read", &[&mine]),
        ],
    );
    let refused = "error: not-permitted";
    assert_eq!(said, [refused, refused, refused, "words"]);
    let after = std::fs::read_to_string(place.home.config()).unwrap();
    assert_eq!(after, before);
}

#[test]
fn a_link_in_a_path_leads_where_it_led_when_it_was_granted() {
    let place = Granted::new(&["real", "secret"]);
    std::fs::write(place.at("real/a"), "").unwrap();
    std::fs::write(place.at("secret/key"), "").unwrap();
    let link = place.at("link");
    symlink("real", &link).unwrap();
    place.server("files", &[("link", "ro")]);
    let list = step("list", &[&link]);
    let mut client = place.serve();
    // It is called what its user calls it.
    let said = run(&mut client, "files", &["granted".to_owned(), list.clone()]);
    assert_eq!(said, [link.to_str().unwrap(), "a"]);
    client.close(Duration::from_secs(10)).unwrap();
    std::fs::remove_file(&link).unwrap();
    symlink("secret", &link).unwrap();
    let mut client = place.serve();
    let error = refused(&mut client, "files");
    for path in ["link", "real", "secret"] {
        let path = format!("`{}`", place.at(path).display());
        assert!(error.contains(&path), "{error}");
    }
    // Nobody is asked without a terminal, and nothing is granted.
    let output = place.home.run(&["grant", "files"]).unwrap();
    assert!(!output.status.success());
    let shown = String::from_utf8(output.stdout).unwrap();
    for path in ["real", "secret"] {
        assert!(shown.contains(place.at(path).to_str().unwrap()), "{shown}");
    }
    refused(&mut client, "files");
    let decisions = place.at("cache/data/dormouse/decisions.jsonl");
    assert!(!decisions.exists(), "something was decided");
    let output = place.home.run(&["grant", "files", "--yes"]).unwrap();
    assert!(output.status.success(), "{output:?}");
    let decisions = std::fs::read_to_string(decisions).unwrap();
    let line: Value = serde_json::from_str(decisions.trim()).unwrap();
    for (member, value) in [("what", "grant"), ("subject", "files"), ("by", "flag")] {
        assert_eq!(line[member], value, "{line}");
    }
    client.close(Duration::from_secs(10)).unwrap();
    let mut client = place.serve();
    assert_eq!(run(&mut client, "files", &[list]), ["key"]);
}

#[test]
fn a_folder_that_is_made_anew_is_opened_and_judged_anew() {
    let place = Granted::new(&["notes"]);
    place.server("files", &[("notes", "rw")]);
    let mut client = place.serve();
    let list = step("list", &[&place.at("notes")]);
    std::fs::write(place.at("notes/one"), "").unwrap();
    assert_eq!(
        run(&mut client, "files", std::slice::from_ref(&list)),
        ["one"]
    );
    std::fs::rename(place.at("notes"), place.at("before")).unwrap();
    let error = refused(&mut client, "files");
    assert!(error.contains("cannot be opened"), "{error}");
    std::fs::create_dir(place.at("notes")).unwrap();
    std::fs::write(place.at("notes/two"), "").unwrap();
    assert_eq!(
        run(&mut client, "files", std::slice::from_ref(&list)),
        ["two"]
    );
    // What is in its place now is Dormouse's own.
    std::fs::remove_dir_all(place.at("notes")).unwrap();
    std::fs::rename(place.at("cache/dormouse"), place.at("notes")).unwrap();
    symlink(place.at("notes"), place.at("cache/dormouse")).unwrap();
    let error = refused(&mut client, "files");
    assert!(error.contains("overlaps"), "{error}");
}

#[test]
fn links_that_lead_out_are_not_made() {
    let place = Granted::new(&["notes/deep", "secret"]);
    place.server("files", &[("notes", "rw")]);
    std::fs::write(place.at("notes/deep/a"), "of a").unwrap();
    let mut client = place.serve();
    let notes = place.at("notes");
    for target in [
        "..",
        "../secret",
        "deep/../../secret",
        "/etc",
        "deep/../deep",
    ] {
        let made = step("symlink", &[Path::new(target), &notes.join("link")]);
        let said = run(&mut client, "files", &[made]);
        assert_eq!(said, ["error: not-permitted"], "{target}");
    }
    let said = run(
        &mut client,
        "files",
        &[
            step("symlink", &[Path::new("deep/a"), &notes.join("link")]),
            step("read", &[&notes.join("link")]),
        ],
    );
    assert_eq!(said, ["ok", "of a"]);
}

/// Such a link may lead to a place within the folder, as it does not from anywhere else.
#[test]
fn links_that_would_lead_out_from_elsewhere_stay_where_they_are() {
    let place = Granted::new(&["notes/a/b", "secret"]);
    place.server("files", &[("notes", "rw")]);
    let notes = place.at("notes");
    std::fs::write(place.at("notes/x"), "of x").unwrap();
    let (up, rooted) = (notes.join("a/b/up"), notes.join("rooted"));
    symlink("../../x", &up).unwrap();
    symlink("/etc", &rooted).unwrap();
    symlink("x", notes.join("beside")).unwrap();
    let mut client = place.serve();
    let slashed = PathBuf::from(format!("{}/", up.display()));
    let said = run(
        &mut client,
        "files",
        &[
            step("read", &[&up]),
            step("rename", &[&up, &notes.join("moved")]),
            step("rename", &[&slashed, &notes.join("moved")]),
            step("link", &[&up, &notes.join("moved")]),
            step("rename", &[&rooted, &notes.join("moved")]),
            step("rename", &[&notes.join("beside"), &notes.join("moved")]),
            step("read", &[&notes.join("moved")]),
            step("link", &[&notes.join("x"), &notes.join("y")]),
            step("read", &[&notes.join("y")]),
        ],
    );
    assert_eq!(said[0], "of x");
    assert_eq!(said[1..5], ["error: not-permitted"; 4]);
    assert_eq!(said[5..], ["ok", "of x", "ok", "of x"]);
    assert!(up.is_symlink() && rooted.is_symlink());
}
