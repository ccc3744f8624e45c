//! Entries with which Dormouse would front itself.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use dormouse_tests::{Client, Home, artifacts};
use serde_json::{Value, json};

use crate::scripted::{comes_to, write};

/// Returns an entry of a client's file, and makes a folder of its own for a host's socket.
fn entry(words: &[&str], runtime: &Path) -> Value {
    fs::create_dir_all(runtime).unwrap();
    fs::set_permissions(runtime, fs::Permissions::from_mode(0o700)).unwrap();
    json!({
        "command": words[0], "args": words[1..],
        "env": { "XDG_RUNTIME_DIR": runtime }
    })
}

/// The program need not be called `dormouse`, and entries name it in many ways.
#[test]
fn dormouse_under_another_name_is_itself_and_is_not_started() {
    let folder = tempfile::Builder::new().prefix("dm-").tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    let program = folder.join("dormouse-bin");
    fs::copy(artifacts::program("dormouse").unwrap(), &program).unwrap();
    let link = folder.join("another-name");
    symlink(&program, &link).unwrap();
    let home = Home::of(program.clone()).unwrap();
    let config = home.config();
    let [program, link, config] =
        [&program, &link, &config].map(|path| path.to_str().unwrap().to_owned());
    let entries = [
        ("whole", &[program.as_str(), "serve"][..]),
        ("linked", &[&link, "serve", "--client", "cursor"]),
        ("searched", &["dormouse-bin", "serve"]),
        ("optioned", &[&program, "--config", &config, "serve"]),
        ("hosted", &[&program, "serve", "--client=cursor", "-v"]),
    ];
    // The same program with something else to do is none of them.
    let others = [("other", &[program.as_str(), "list"][..])];
    let all = entries.iter().chain(&others);
    let all = all.map(|(name, words)| ((*name).to_owned(), entry(words, &folder.join(name))));
    let servers: serde_json::Map<String, Value> = all.collect();
    write(
        &home.path().join(".cursor/mcp.json"),
        &json!({ "mcpServers": servers }).to_string(),
    );
    // A host asks by itself whatever it finds.
    write(&home.config(), "[discovery]\nfetch = \"background\"\n");
    let path = std::env::var("PATH").unwrap();
    let command = |words: &[&str]| {
        let mut command = home.command(words);
        command.env("PATH", format!("{}:{path}", folder.display()));
        command
    };
    let said = |words: &[&str]| {
        let output = command(words).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&output.stdout) + &text(&output.stderr)
    };
    let listed: Value = {
        let output = command(&["list", "--json"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let names: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|row| &row["name"])
        .collect();
    assert_eq!(names, ["other"], "{listed}");
    let doctor = said(&["doctor"]);
    for (name, words) in entries {
        let line = doctor
            .lines()
            .find(|line| line.contains(&format!("`{name}` of")));
        let line = line.unwrap_or_else(|| panic!("no `{name}` in {doctor}"));
        assert!(line.contains("it is Dormouse itself"), "{line}");
        let is_told = words.iter().any(|word| word.starts_with("--client"));
        assert_eq!(
            line.contains("without `--client cursor`"),
            !is_told,
            "{line}"
        );
    }
    let mut host = Client::start(&mut command(&["serve"])).unwrap();
    comes_to(&mut host, &["other__discover"]);
    for (name, _) in entries {
        for words in [
            &["sync", name][..],
            &["call", name, "discover", "{}"],
            &["restart", name],
        ] {
            said(words);
        }
        let call = json!({ "name": format!("{name}__discover"), "arguments": {} });
        let answer = host.outcome("tools/call", call).unwrap();
        assert!(answer["error"].is_object(), "{answer}");
    }
    said(&["sync"]);
    for (name, _) in entries {
        let made = fs::read_dir(folder.join(name)).unwrap().count();
        assert_eq!(made, 0, "{name} was started");
    }
}
