//! Folders whose paths are no text: no other path stands for them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use dormouse_launch::Stdio;

use super::*;
use crate::{Fingerprint, Need};

/// The name of a folder that is no UTF-8, and the text that is nearest to it.
const ODD: &[u8] = b"p\xff";
const NEAREST: &str = "p\u{fffd}";

/// Returns the surroundings in a project whose path is no text.
fn around(home: &Home) -> Surroundings {
    let project = home.path("project").join(OsStr::from_bytes(ODD));
    Surroundings {
        folder: Some(project.clone()),
        project: Some(project),
        ..home.around()
    }
}

/// Returns the only server that is found, and the places of what it needs.
fn only(discovery: &Discovery) -> (&FoundServer, Vec<&str>) {
    let [found] = &discovery.found[..] else {
        panic!("{:?}", discovery.found);
    };
    let needs = found.server.bridge().unwrap().needs.iter();
    let told = |need: &&Need| need.text.contains("`") && need.text.contains("p\\xff");
    let needs = needs.filter(told);
    (
        found,
        needs.filter_map(|need| need.place.as_deref()).collect(),
    )
}

#[test]
fn what_a_users_server_takes_from_such_a_folder_is_told_and_taken_from_no_other() {
    let home = Home::empty();
    home.write(&format!("project/{NEAREST}/.env"), "EVIL=1\nPATH=/evil\n");
    for (server, place) in [
        (
            r#""command": "x", "envFile": "${workspaceFolder}/.env""#,
            "envFile",
        ),
        (r#""command": "${workspaceFolder}/tool""#, "command"),
        (
            r#""command": "x", "args": ["${workspaceFolderBasename}"]"#,
            "args[0]",
        ),
        (r#""command": "x", "cwd": "${workspaceFolder}""#, "cwd"),
        (
            r#""command": "x", "env": {"A": "${workspaceRoot}/a"}"#,
            "env.A",
        ),
        (r#""command": "./tool", "cwd": "sub""#, "command"),
    ] {
        let text = format!(r#"{{"servers": {{"a": {{{server}}}}}}}"#);
        home.write("home/.config/Code/User/mcp.json", text);
        let clients = [Client::VsCode];
        let discovery = discover_all(&around(&home), &clients, &Inputs::new());
        let (found, needs) = only(&discovery);
        assert_eq!(needs, [place], "{server}");
        let launch = format!("{:?}", found.server.bridge().unwrap().launch);
        assert!(
            !launch.contains(NEAREST) && !launch.contains("EVIL"),
            "{launch}"
        );
    }
}

#[test]
fn the_program_of_a_project_in_such_a_folder_is_no_other_projects() {
    let home = Home::empty();
    let project = around(&home).project.unwrap();
    // Not all systems have such folders.
    if fs::create_dir_all(&project).is_err() {
        return;
    }
    let server = r#"{"mcpServers": {"a": {"command": "./tool"}}}"#;
    fs::write(project.join(".mcp.json"), server).unwrap();
    let clients = [Client::ClaudeCode];
    let discovery = discover_all(&around(&home), &clients, &Inputs::new());
    let (found, needs) = only(&discovery);
    assert_eq!(needs, ["command"]);
    let Launch::Stdio(launch) = &found.server.bridge().unwrap().launch else {
        panic!();
    };
    assert_eq!(
        (&*launch.command, launch.cwd.as_ref()),
        ("./tool", Some(&project))
    );
    let missing = &found.own.missing;
    assert!(
        missing.is_empty() || missing[0].contains("p\\xff"),
        "{missing:?}"
    );
}

#[test]
fn what_a_users_file_says_of_the_nearest_folder_is_not_for_it() {
    let home = Home::empty();
    let nearest = home.path("project").join(NEAREST);
    let text = serde_json::json!({"projects": {nearest.to_str().unwrap(): {
        "mcpServers": {"a": {"command": "x"}}
    }}});
    home.write("home/.claude.json", text.to_string());
    let found = |around: &Surroundings| {
        let clients = [Client::ClaudeCode];
        discover_all(around, &clients, &Inputs::new()).found.len()
    };
    assert_eq!(found(&around(&home)), 0);
    let of_nearest = Surroundings {
        project: Some(nearest),
        ..home.around()
    };
    assert_eq!(found(&of_nearest), 1);
}

#[test]
fn no_two_paths_have_one_hash() {
    let paths = [
        OsStr::from_bytes(b"/p\xff"),
        OsStr::from_bytes(b"/p\xfe"),
        OsStr::new("/p\u{fffd}"),
    ];
    let fingerprints = paths.map(|cwd| {
        Fingerprint::of(&Launch::Stdio(Stdio {
            cwd: Some(cwd.into()),
            ..Stdio::default()
        }))
    });
    let contents = paths.map(|file| {
        let files = BTreeMap::from([(file.into(), blake3::hash(b"x"))]);
        ContentHash::of(Path::new("/"), &files)
    });
    assert_eq!(BTreeSet::from(fingerprints).len(), paths.len());
    assert_eq!(BTreeSet::from(contents).len(), paths.len());
}

#[test]
fn an_import_says_which_folder_it_cannot_write_down() {
    let home = Home::empty();
    let server = r#"{"servers": {"a": {"command": "x", "cwd": "sub"}}}"#;
    home.write("home/.config/Code/User/mcp.json", server);
    let clients = [Client::VsCode];
    let discovery = discover_all(&around(&home), &clients, &Inputs::new());
    let (found, needs) = only(&discovery);
    assert_eq!(needs, [""; 0]);
    let [missing] = &found.own.missing[..] else {
        panic!("{:?}", found.own);
    };
    assert!(
        missing.contains("`cwd`") && missing.contains("p\\xff/sub"),
        "{missing}"
    );
    assert!(!format!("{:?}", found.own.launch).contains(NEAREST));
}
