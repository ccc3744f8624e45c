//! Edits of `dormouse.toml`.

mod grants;
mod plugin_inputs;

use std::fs;

use dormouse_policy::{FsGrant, FsMode, Grants};

use super::*;

/// Table of a plugin that is granted nothing.
fn plugin(file: &str) -> Table {
    component_table(Path::new(file), &Grants::default(), None).unwrap()
}

struct Fixture {
    folder: tempfile::TempDir,
    editor: Editor,
}

fn fixture(text: &str) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("dormouse.toml");
    fs::write(&file, text).unwrap();
    let lock = folder.path().join("run/edit.lock");
    Fixture {
        editor: Editor { file, lock },
        folder,
    }
}

impl Fixture {
    fn text(&self) -> String {
        fs::read_to_string(&self.editor.file).unwrap()
    }
}

const FULL: &str = r#"# My servers.
# Two of them.

# The clock.
[servers.time]   # the best
component = "time.wasm"
enabled = true # for now

  [servers.time.grants]
  env = ["TZ"]   # home

# ---

# Files, but only notes.
[servers.files]
component   =   'files.wasm'
# not yet: enabled = false

[servers.files.grants]
fs = [
  { path = "~/notes", mode = "rw" }, # all of them
]

# [servers.later]
# component = "later.wasm"
"#;

#[test]
fn switching_changes_one_line() {
    let f = fixture(FULL);
    assert!(f.editor.set_enabled("time", false, false).unwrap());
    let off = FULL.replace("enabled = true # for now", "enabled = false # for now");
    assert_eq!(f.text(), off);
    assert!(!f.editor.set_enabled("time", false, false).unwrap());
    assert!(f.editor.set_enabled("time", true, false).unwrap());
    assert_eq!(f.text(), FULL);
    // Where nothing is said, on is no change and off is a new line.
    assert!(!f.editor.set_enabled("files", true, false).unwrap());
    assert!(f.editor.set_enabled("files", false, false).unwrap());
    assert_eq!(
        f.text(),
        FULL.replace("'files.wasm'\n", "'files.wasm'\nenabled = false\n")
    );
}

#[test]
fn adding_appends() {
    let f = fixture(FULL);
    f.editor.add("new", plugin("/opt/new.wasm"), false).unwrap();
    assert_eq!(
        f.text(),
        format!("{FULL}\n[servers.new]\ncomponent = \"/opt/new.wasm\"\n")
    );
    let (config, problems) = file::parse(&f.editor.file, &f.text());
    assert_eq!(problems, []);
    assert_eq!(
        config.servers["new"].component(),
        Some(Path::new("/opt/new.wasm"))
    );
}

#[test]
fn grants_are_written_as_they_are_read() {
    let f = fixture("");
    let grants = Grants {
        fs: vec![
            FsGrant {
                path: "/a \"b\"".into(),
                real: None,
                mode: FsMode::ReadOnly,
            },
            FsGrant {
                path: "/c".into(),
                real: None,
                mode: FsMode::ReadWrite,
            },
        ],
        env: vec!["TZ".to_owned()],
        http: vec!["GET https://a.example:8443/v1 private".parse().unwrap()],
    };
    f.editor
        .add(
            "x",
            component_table(Path::new("/x.wasm"), &grants, None).unwrap(),
            false,
        )
        .unwrap();
    assert_eq!(
        f.text(),
        r#"[servers.x]
component = "/x.wasm"

[servers.x.grants]
fs = [{ path = '/a "b"', mode = "ro" }, { path = "/c", mode = "rw" }]
env = ["TZ"]
http = ["GET https://a.example:8443/v1 private"]
"#
    );
    let (config, problems) = file::parse(&f.editor.file, &f.text());
    assert_eq!(problems, []);
    assert_eq!(config.servers["x"].grants, grants);
}

#[test]
fn a_name_that_is_taken_is_replaced_only_on_demand_and_with_its_grants() {
    let f = fixture(FULL);
    let add = |replace| f.editor.add("time", plugin("/t.wasm"), replace);
    assert_eq!(
        add(false).unwrap_err().to_string(),
        "there is a server `time` already\nhint: choose another name, or replace it with `--force`"
    );
    assert_eq!(f.text(), FULL);
    add(true).unwrap();
    let expected = FULL.replace(
        "component = \"time.wasm\"\nenabled = true # for now\n\n  [servers.time.grants]\n  env = [\"TZ\"]   # home\n",
        "component = \"/t.wasm\"\n",
    );
    assert_eq!(f.text(), expected);
}

#[test]
fn removing_takes_a_server_and_what_is_attached_to_it() {
    let f = fixture(FULL);
    f.editor.remove("time").unwrap();
    let expected = format!(
        "# My servers.\n# Two of them.\n\n{}",
        &FULL[FULL.find("# ---").unwrap()..]
    );
    assert_eq!(f.text(), expected);
    f.editor.remove("files").unwrap();
    assert_eq!(
        f.text(),
        "# My servers.\n# Two of them.\n\n# ---\n\n# [servers.later]\n# component = \"later.wasm\"\n"
    );
    let error = f.editor.remove("files").unwrap_err().to_string();
    assert!(error.starts_with("no server is called `files`"), "{error}");
}

#[test]
fn other_ways_to_write_it_are_edited_too() {
    let f = fixture("servers = { a = { component = \"a.wasm\" } } # all\n");
    f.editor.set_enabled("a", false, false).unwrap();
    assert_eq!(
        f.text(),
        "servers = { a = { component = \"a.wasm\" , enabled = false } } # all\n"
    );
    f.editor.add("b", plugin("/b.wasm"), false).unwrap();
    f.editor.remove("a").unwrap();
    let (config, problems) = file::parse(&f.editor.file, &f.text());
    assert_eq!(problems, []);
    assert_eq!(config.servers.keys().collect::<Vec<_>>(), ["b"]);

    let f = fixture("servers.a.component = \"a.wasm\" # dotted\n");
    f.editor.set_enabled("a", false, false).unwrap();
    f.editor.add("b", plugin("/b.wasm"), false).unwrap();
    let (config, problems) = file::parse(&f.editor.file, &f.text());
    assert_eq!(problems, []);
    assert!(!config.servers["a"].enabled);
    assert!(config.servers.contains_key("b"));
}

#[test]
fn a_broken_file_is_left_alone() {
    let text = "[servers.a\n";
    let f = fixture(text);
    let error = f.editor.remove("a").unwrap_err();
    let told = format!("{error:#}");
    assert!(
        told.contains("dormouse.toml:1:11: this is not TOML"),
        "{told}"
    );
    assert_eq!(f.text(), text);
    // One that is TOML can be mended by an edit.
    let f = fixture("[servers.a]\nwhat = 1\n");
    f.editor.remove("a").unwrap();
    assert_eq!(f.text(), "");
}

#[test]
fn a_missing_file_is_made_with_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let editor = Editor {
        file: folder.path().join("a/b/dormouse.toml"),
        lock: folder.path().join("edit.lock"),
    };
    editor.add("x", plugin("/x.wasm"), false).unwrap();
    assert_eq!(
        fs::read_to_string(&editor.file).unwrap(),
        "[servers.x]\ncomponent = \"/x.wasm\"\n"
    );
}

#[cfg(unix)]
#[test]
fn links_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let f = fixture(FULL);
    let real = f.folder.path().join("real.toml");
    fs::rename(&f.editor.file, &real).unwrap();
    symlink("real.toml", &f.editor.file).unwrap();
    let mode = |mode| fs::set_permissions(&real, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o640);
    f.editor.set_enabled("time", false, false).unwrap();
    assert!(fs::symlink_metadata(&f.editor.file).unwrap().is_symlink());
    assert_eq!(
        fs::metadata(&real).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert!(f.text().contains("enabled = false # for now"));

    mode(0o440);
    let error = f.editor.set_enabled("time", true, false).unwrap_err();
    assert!(
        format!("{error:#}").contains("it is read-only"),
        "{error:#}"
    );
}

/// An argument and a URL may hold a key as well as a variable may.
#[cfg(unix)]
#[test]
fn who_may_not_read_values_does_not_read_the_file_that_they_are_added_to() {
    use std::os::unix::fs::PermissionsExt as _;
    for (key, value, is_private) in [
        (
            "command",
            Some(Value::from_iter(["x", "--api-key", "k"])),
            true,
        ),
        ("url", Some("https://h.example/mcp?key=k".into()), true),
        ("component", None, false),
    ] {
        let f = fixture(FULL);
        let set = fs::Permissions::from_mode(0o644);
        fs::set_permissions(&f.editor.file, set).unwrap();
        let mut table = match value {
            Some(_) => Table::new(),
            None => plugin("/opt/new.wasm"),
        };
        if let Some(value) = value {
            table.insert(key, Item::Value(value));
        }
        f.editor.add("new", table, false).unwrap();
        let mode = fs::metadata(&f.editor.file).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode == 0o600, is_private, "{key}: {mode:o}");
    }
}

#[test]
fn edits_at_once_lose_nothing() {
    let f = fixture("");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let editor = &f.editor;
            scope.spawn(move || {
                for number in 0..5 {
                    editor
                        .add(&format!("s{thread}-{number}"), plugin("/x.wasm"), false)
                        .unwrap();
                }
            });
        }
    });
    let (config, problems) = file::parse(&f.editor.file, &f.text());
    assert_eq!(problems, []);
    assert_eq!(config.servers.len(), 40);
}

#[test]
fn ends_of_lines_and_the_mark_of_windows_stay() {
    let text = format!("\u{feff}{}", FULL.replace('\n', "\r\n"));
    let f = fixture(&text);
    f.editor.set_enabled("time", false, false).unwrap();
    assert_eq!(
        f.text(),
        text.replace("enabled = true #", "enabled = false #")
    );
}

#[test]
fn servers_are_put_beside_what_is_there() {
    let table = |text: &str| {
        let document: DocumentMut = text.parse().unwrap();
        ServerTableChange::Table(Box::new(document.as_table().clone()))
    };
    let changes = vec![
        (
            "time".to_owned(),
            ServerTableChange::From(vec![Client::Cursor, Client::Codex]),
        ),
        (
            "git".to_owned(),
            table("command = \"git\"\nenabled = true\n"),
        ),
        ("files".to_owned(), table("command = \"files\"\n")),
    ];
    // What was said of a server that was configured elsewhere is still said.
    let before = format!("{FULL}[servers.git] # not yet\nenabled = false\n");
    let after = with_servers(Path::new("/x"), &before, changes).unwrap();
    let files = "component   =   'files.wasm'\n# not yet: enabled = false\n\n[servers.files.grants]\nfs = [\n  { path = \"~/notes\", mode = \"rw\" }, # all of them\n]\n";
    assert!(before.contains(files));
    let expected = before
        .replace(files, "command = \"files\"\n")
        .replace(
            "enabled = true # for now\n",
            "enabled = true # for now\nfrom = [\"cursor\", \"codex\"]\n",
        )
        .replace(
            "not yet\nenabled = false\n",
            "not yet\ncommand = \"git\"\nenabled = false\n",
        );
    assert_eq!(after, expected);
    let changes = vec![("time".to_owned(), ServerTableChange::From(Vec::new()))];
    let again = with_servers(Path::new("/x"), &after, changes).unwrap();
    assert_eq!(again, after.replace("from = [\"cursor\", \"codex\"]\n", ""));
}

#[test]
fn servers_are_changed_in_linear_time() {
    let changes = |size: usize,
                   what: &dyn Fn(usize) -> ServerTableChange|
     -> Vec<(String, ServerTableChange)> {
        let changes = (0..size).map(|number| (format!("s{number}"), what(number)));
        changes.collect()
    };
    let table = |_| {
        let document: DocumentMut = "command = \"x\"\n".parse().unwrap();
        ServerTableChange::Table(Box::new(document.as_table().clone()))
    };
    let from = |_| ServerTableChange::From(vec![Client::Cursor]);
    let text = |size: usize| {
        let servers = (0..size).map(|number| format!("[servers.s{number}]\ncommand = \"y\"\n"));
        servers.collect::<String>()
    };
    type Input<'i> = &'i dyn Fn(usize) -> (String, Vec<(String, ServerTableChange)>);
    let inputs: [(&str, Input<'_>); 4] = [
        ("servers that are added", &|size| {
            (String::new(), changes(size, &table))
        }),
        ("the same below a comment", &|size| {
            ("# mine\n".to_owned(), changes(size, &table))
        }),
        ("servers that are replaced", &|size| {
            (text(size), changes(size, &table))
        }),
        ("servers that are marked", &|size| {
            (text(size), changes(size, &from))
        }),
    ];
    for (what, input) in inputs {
        dormouse_tests::growth::is_linear(what, 60, input, |(text, changes)| {
            let after = with_servers(Path::new("/x"), text, changes.clone()).unwrap();
            assert_ne!(after, *text);
        });
    }
}
