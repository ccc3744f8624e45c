//! Every function of WASI that changes something, in folders that may be read alone, and paths that
//! would lead out of folders.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;

use super::{Granted, run, stays_well};

/// Steps that change something in a folder in which there are files `a` and `b`, and folders
/// `empty` and `full`.
const CHANGES: &[&str] = &[
    "write|@/a|new",
    "write|@/new|new",
    "create|@/new",
    "create-to-read|@/new",
    "truncate|@/a",
    "truncate-to-read|@/a",
    "resize|@/a",
    "append|@/a",
    "stream|@/a",
    "rename|@/a|@/c",
    "rename|@/a|@/b",
    "rename|@/empty|@/moved",
    "rename|@/a|@/full/a",
    "link|@/a|@/c",
    "symlink|a|@/c",
    "touch|@/a",
    "touch|@/empty",
    "touch-opened|@/a",
    "touch-opened|@/empty",
    "unlink|@/a",
    "unlink|@/link",
    "mkdir|@/c",
    "rmdir|@/empty",
];

/// Steps that no plugin may take, whatever it may do in a folder.
const REFUSED: &[&str] = &[
    "resize-what-is-read|@/a",
    "write-what-is-read|@/a",
    "append-to-what-is-read|@/a",
    "stream-to-what-is-read|@/a",
];

/// Content of a folder: of each path its kind, its size, the time of its last change, its links,
/// and its content.
type Tree = BTreeMap<String, (u32, u64, i64, u64, Vec<u8>)>;

fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        for path in paths.chain([folder.clone()]) {
            let stat = path.symlink_metadata().unwrap();
            let content = match stat.is_file() {
                true => std::fs::read(&path).unwrap(),
                false => Vec::new(),
            };
            let is_new = path != folder && stat.is_dir();
            let size = if stat.is_dir() { 0 } else { stat.size() };
            let told = (
                stat.mode(),
                size,
                stat.mtime_nsec() + stat.mtime() * 1_000_000_000,
            );
            let told = (told.0, told.1, told.2, stat.nlink(), content);
            found.insert(path.display().to_string(), told);
            if is_new {
                folders.push(path);
            }
        }
    }
    found
}

/// Makes the folder for the steps anew.
fn make(folder: &Path) {
    for old in std::fs::read_dir(folder).unwrap() {
        let old = old.unwrap().path();
        match old.symlink_metadata().unwrap().is_dir() {
            true => std::fs::remove_dir_all(old).unwrap(),
            false => std::fs::remove_file(old).unwrap(),
        }
    }
    for name in ["a", "b"] {
        std::fs::write(folder.join(name), "of the folder").unwrap();
    }
    for name in ["empty", "full", "full/inner"] {
        std::fs::create_dir(folder.join(name)).unwrap();
    }
    std::fs::write(folder.join("full/x"), "x").unwrap();
    symlink("a", folder.join("link")).unwrap();
}

#[test]
fn nothing_changes_what_may_be_read_alone() {
    let place = Granted::new(&["rw", "ro/sub"]);
    place
        .server("rw", &[("rw", "rw")])
        .server("ro", &[("ro", "ro")]);
    let mut client = place.serve();
    // What a step does it does, where it may.
    let rw = place.at("rw");
    for step in CHANGES {
        for (within, at) in [("", rw.to_str().unwrap()), ("in|", "sub")] {
            make(&rw);
            let before = tree(&rw);
            let within = match within {
                "" => String::new(),
                within => format!("{within}{}|", rw.display()),
            };
            let step = format!("{within}{}", step.replace('@', at));
            let said = run(&mut client, "rw", std::slice::from_ref(&step));
            assert_eq!(said, ["ok"], "{step}");
            assert_ne!(tree(&rw), before, "{step}");
        }
    }
    make(&rw);
    let before = tree(&rw);
    for step in REFUSED {
        let step = step.replace('@', rw.to_str().unwrap());
        let said = run(&mut client, "rw", std::slice::from_ref(&step));
        assert!(said[0].starts_with("error: "), "{step}: {said:?}");
        assert_eq!(tree(&rw), before, "{step}");
    }
    let ro = place.at("ro/sub");
    make(&ro);
    let before = tree(&place.at("ro"));
    // A folder within can be opened to be changed, and is not.
    for step in CHANGES.iter().chain(REFUSED) {
        let outer = place.at("ro");
        for step in [
            step.replace('@', ro.to_str().unwrap()),
            format!("in|{}|{}", outer.display(), step.replace('@', "sub/sub")),
            format!("in|{}|{}", ro.display(), step.replace('@', "sub")),
        ] {
            let said = run(&mut client, "ro", std::slice::from_ref(&step));
            assert!(said[0].starts_with("error: "), "{step}: {said:?}");
            assert_eq!(tree(&outer), before, "{step}");
        }
    }
    stays_well(&mut client);
}

#[test]
fn no_path_leads_out_of_a_folder() {
    let place = Granted::new(&["work/in/deep", "secret/inner"]);
    let (work, secret) = (place.at("work"), place.at("secret"));
    std::fs::write(secret.join("key"), "CANARY").unwrap();
    std::fs::write(work.join("a"), "of the folder").unwrap();
    let up = place.at("");
    for (target, name) in [
        ("../secret", "out"),
        ("../secret/key", "out-file"),
        ("..", "up"),
        (".", "self"),
        ("in/../../secret", "round"),
        (secret.to_str().unwrap(), "absolute"),
        ("/", "root"),
        ("/proc/self/root", "proc"),
        ("loop", "loop"),
        ("out", "chain"),
    ] {
        symlink(target, work.join(name)).unwrap();
    }
    symlink("../../secret", work.join("in/out")).unwrap();
    place.server("files", &[("work", "rw")]);
    let mut client = place.serve();
    let absolute = secret.display().to_string();
    let mut folders: Vec<String> = [
        "../secret",
        "./../secret",
        "in/../../secret",
        "in/deep/../../../secret",
        "in/./.././../secret",
        "in//..//..//secret",
        "/../secret",
        "//../secret",
        "../work/../secret",
        "out",
        "out/",
        "out/.",
        "out/inner/..",
        "./out",
        "in/../out",
        "in/out",
        "in/deep/../out",
        "up/secret",
        "up/work/../secret",
        "self/../secret",
        "self/self/out",
        "self/up/secret",
        "round",
        "absolute",
        "absolute/inner/..",
        "chain",
        "chain/inner/..",
        "loop/../../secret",
        "none/../../secret",
        "a/../../secret",
        "..",
        "../",
        "../.",
        "../..",
        "../../../../../../../..",
        "up",
        "up/.",
        "root",
        "proc",
        "%2e%2e/secret",
        "..%2fsecret",
        "..\\secret",
        "in\\..\\..\\secret",
        "\u{2025}/secret",
        "\u{ff0e}\u{ff0e}/secret",
        "..\0/secret",
        "out\0",
        "~/secret",
        "file:../secret",
    ]
    .map(str::to_owned)
    .to_vec();
    folders.push(absolute.clone());
    folders.push(format!("/{absolute}"));
    folders.push(format!("root{absolute}"));
    folders.push(format!("proc{absolute}"));
    folders.push(format!("/proc/self/root{absolute}"));
    folders.push(format!("{}/secret", "in/../".repeat(2000)) + "/../../secret");
    let before = tree(&secret);
    let above = std::fs::read_dir(&up).unwrap().count();
    // `work//x` is `/x` within the folder.
    let at = work.display();
    for folder in &folders {
        let path = format!("{at}/{folder}");
        let mut steps: Vec<String> = [
            "list|@",
            "count|@",
            "read|@/key",
            "stat|@/key",
            "hash|@/key",
            "readlink|@/key",
            "write|@/key|x",
            "write|@/new|x",
            "create|@/new",
            "create-to-read|@/new",
            "truncate|@/key",
            "resize|@/key",
            "append|@/key",
            "stream|@/key",
            "mkdir|@/new",
            "rmdir|@/inner",
            "unlink|@/key",
            "touch|@/key",
            "touch-opened|@/key",
            "symlink|a|@/new",
            "open-to-change|@/inner",
            "in|@|read|sub/key",
        ]
        .map(|step| step.replace('@', &path))
        .to_vec();
        steps.push(format!("rename|{path}/key|{at}/stolen"));
        steps.push(format!("rename|{at}/a|{path}/a"));
        steps.push(format!("link|{path}/key|{at}/stolen"));
        steps.push(format!("link|{at}/a|{path}/a"));
        steps.push(format!("in|{at}/in|read|sub/../{folder}/key"));
        let said = run(&mut client, "files", &steps);
        for (step, said) in steps.iter().zip(said) {
            let is_told = ["CANARY", "key", "6 bytes"]
                .iter()
                .any(|part| said.contains(part));
            assert!(!is_told, "{step}: {said}");
        }
        assert_eq!(tree(&secret), before, "{folder}");
        assert_eq!(std::fs::read_dir(&up).unwrap().count(), above, "{folder}");
        assert!(!work.join("stolen").exists(), "{folder}");
        assert_eq!(std::fs::read(work.join("a")).unwrap(), b"of the folder");
    }
    stays_well(&mut client);
}
