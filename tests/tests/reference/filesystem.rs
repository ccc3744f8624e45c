//! The plugin `filesystem` beside `@modelcontextprotocol/server-filesystem`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine as _;
use dormouse_tests::{Client, Home, artifacts, client};
use serde_json::{Value, json};

use super::{is_error, signatures};

fn reference(root: &Path) -> Client {
    let script =
        artifacts::npm_file("@modelcontextprotocol/server-filesystem", "dist/index.js").unwrap();
    let mut server = Command::new(artifacts::node().unwrap());
    server
        .arg(script)
        .arg(root)
        .env("TZ", "UTC")
        .stderr(Stdio::null());
    Client::start(&mut server).unwrap()
}

fn ours(home: &Home, root: &Path) -> Client {
    let more = format!(
        "prefix = \"\"\n[servers.filesystem.grants]\nenv = [\"TZ\"]\nfs = [{{ path = '{}', mode = \"rw\" }}]",
        root.display()
    );
    home.server_with(
        "filesystem",
        &artifacts::plugin("filesystem").unwrap(),
        &more,
    )
    .unwrap();
    Client::start(home.command(&["serve"]).env("TZ", "UTC")).unwrap()
}

/// Returns the table of calls, which lies with the plugin, and says itself how it is read.
fn table() -> Value {
    let file = artifacts::workspace().join("plugins/filesystem/tests/calls.json");
    serde_json::from_slice(&artifacts::read(&file).unwrap()).unwrap()
}

#[test]
fn has_the_same_tools() {
    let home = Home::new().unwrap();
    let root = home.path().join("root");
    std::fs::create_dir(&root).unwrap();
    assert_eq!(
        signatures(&ours(&home, &root).tools().unwrap()),
        signatures(&reference(&root).tools().unwrap())
    );
}

#[test]
#[cfg(unix)]
fn answers_alike() {
    let home = Home::new().unwrap();
    // Real, because the reference server names real paths in its answers.
    let root = home.path().canonicalize().unwrap().join("root");
    let table = table();
    let run = |start: &dyn Fn() -> Client| {
        if root.exists() {
            std::fs::remove_dir_all(&root).unwrap();
        }
        std::fs::create_dir(&root).unwrap();
        make_files(&root, &table);
        let mut client = start();
        let answers: Vec<_> = calls(&table, &root)
            .map(|call| {
                let name = call["tool"].as_str().unwrap();
                client
                    .call(name, call["arguments"].clone())
                    .unwrap_or_else(|error| panic!("{call}: {error:#}"))
            })
            .collect();
        (answers, snapshot(&root, &root))
    };
    let (theirs, their_files) = run(&|| reference(&root));
    let (ours, our_files) = run(&|| ours(&home, &root));
    let mut wrong = Vec::new();
    for (call, (ours, theirs)) in calls(&table, &root).zip(ours.iter().zip(&theirs)) {
        if let Err(why) = compare(&call, ours, theirs) {
            wrong.push(format!(
                "{call}\n  {why}\n  ours:   {ours}\n  theirs: {theirs}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} calls differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(our_files, their_files);
}

/// Returns the calls, with the folder's path put in.
fn calls<'a>(table: &'a Value, root: &Path) -> impl Iterator<Item = Value> + use<'a> {
    let root = serde_json::to_string(root).unwrap();
    let root = root.trim_matches('"').to_owned();
    table["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(move |call| serde_json::from_str(&call.to_string().replace("{root}", &root)).unwrap())
}

fn compare(call: &Value, ours: &Value, theirs: &Value) -> Result<(), &'static str> {
    let same = |so: bool, why| if so { Ok(()) } else { Err(why) };
    let told = |result: &Value| client::text(result).unwrap_or_default().to_owned();
    let (text, their_text) = (told(ours), told(theirs));
    let contains = || text.contains(call["contains"].as_str().unwrap_or_default());
    let errors = is_error(ours) == is_error(theirs);
    match call["compare"].as_str().unwrap_or("same") {
        "same" => same(
            errors && ours["content"] == theirs["content"],
            "not the same",
        ),
        "first-line" => same(
            errors && text.lines().next() == their_text.lines().next(),
            "another first line",
        ),
        "ignoring" => {
            let ignored: Vec<_> = call["ignoring"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it.as_str().unwrap())
                .collect();
            let kept = |text: &str| -> Vec<String> {
                let lines = text
                    .lines()
                    .filter(|line| !ignored.iter().any(|start| line.starts_with(start)));
                lines.map(str::to_owned).collect()
            };
            same(errors && kept(&text) == kept(&their_text), "other lines")
        }
        "error" => same(
            is_error(ours) && is_error(theirs) && contains(),
            "not both errors, or without that text",
        ),
        "differs" => same(
            contains() && ours["content"] != theirs["content"],
            "without that text, or not different",
        ),
        _ => Err("no such way to compare"),
    }
}

fn make_files(root: &Path, table: &Value) {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    for file in table["files"].as_array().unwrap() {
        let path = root.join(file["path"].as_str().unwrap());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Some(target) = file["link"].as_str() {
            symlink(target, &path).unwrap();
            continue;
        }
        if file["directory"] == json!(true) {
            std::fs::create_dir_all(&path).unwrap();
            continue;
        }
        let bytes = match (&file["base64"], &file["repeat"]) {
            (Value::String(text), _) => base64::engine::general_purpose::STANDARD
                .decode(text)
                .unwrap(),
            (_, Value::Array(repeat)) => {
                let times = usize::try_from(repeat[1].as_u64().unwrap()).unwrap();
                repeat[0].as_str().unwrap().repeat(times).into_bytes()
            }
            _ => file["text"].as_str().unwrap().as_bytes().to_vec(),
        };
        std::fs::write(&path, bytes).unwrap();
        if let Some(mode) = file["mode"].as_str() {
            let mode = u32::from_str_radix(mode, 8).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        if let Some(seconds) = file["mtime"].as_u64() {
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            std::fs::File::options()
                .write(true)
                .open(&path)
                .unwrap()
                .set_modified(time)
                .unwrap();
        }
    }
}

/// Returns the kind and the content of everything in a folder.
fn snapshot(folder: &Path, root: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let what = if path.is_symlink() {
            format!("link to {}", std::fs::read_link(&path).unwrap().display())
        } else if path.is_dir() {
            all.extend(snapshot(&path, root));
            "folder".to_owned()
        } else {
            String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned()
        };
        all.insert(name, what);
    }
    all
}
