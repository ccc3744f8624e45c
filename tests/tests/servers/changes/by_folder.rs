//! Servers of the user's without a folder of their own: their program is decided by the folder that
//! an agent is in.

use std::fs;
use std::path::{Path, PathBuf};

use dormouse_tests::{Client, artifacts};
use serde_json::{Value, json};

use crate::scripted::{Scripted, comes_to, tools, write};

/// Server `t` of the user's, whose program depends on the folder that it is started in.
struct Decided(Scripted);

impl Decided {
    fn new() -> Self {
        Self::with("")
    }

    /// Makes such a server, with more lines in its table.
    fn with(more: &str) -> Self {
        let all = Scripted::new();
        let script = artifacts::workspace().join("tests/servers/scripted.py");
        let starts = all.home.path().join("t.starts");
        let command = json!(["python3", script, starts, "t.tools"]);
        all.home
            .table("t", &format!("command = {command}\n{more}"))
            .unwrap();
        Self(all)
    }

    /// Makes a folder of that name whose program has these tools and these instructions.
    fn folder(&self, name: &str, tools: &[(&str, &str)], instructions: &str) -> PathBuf {
        let folder = self.0.home.path().join(name);
        fs::create_dir_all(folder.join(".git")).unwrap();
        let tools = tools.iter().map(|(name, description)| {
            let schema = json!({ "type": "object" });
            json!({ "name": name, "description": description, "inputSchema": schema })
        });
        let tools: Vec<Value> = tools.collect();
        let lists = json!({ "tools": tools, "instructions": instructions });
        fs::write(folder.join("t.tools"), lists.to_string()).unwrap();
        folder
    }

    fn serve(&self, folder: &Path) -> Client {
        let mut command = self.0.home.command(&["serve"]);
        Client::start(command.current_dir(folder)).unwrap()
    }

    /// Makes an agent in a folder connect the server, and checks that it sees these tools.
    #[track_caller]
    fn discover(&self, folder: &Path, wanted: &[&str]) -> String {
        let mut host = self.serve(folder);
        assert_eq!(tools(&mut host), ["t__discover"]);
        let told = host.text("t__discover", json!({})).unwrap();
        comes_to(&mut host, wanted);
        told
    }
}

/// Returns all that a model is told at first.
fn told(host: &mut Client) -> String {
    let listed = host.tools().unwrap();
    let status = host.request("resources/read", json!({ "uri": "dormouse://status" }));
    format!("{} {listed:?} {}", host.hello, status.unwrap())
}

#[test]
fn what_a_program_says_in_one_folder_is_told_in_no_other() {
    let all = Decided::new();
    let evil = all.folder("evil", &[("evil", "EVIL"), ("add", "EVIL")], "EVIL");
    let mine = all.folder("mine", &[("add", "Adds."), ("own", "Is mine.")], "Be good.");
    let next = all.folder("next", &[("add", "Adds."), ("own", "Is mine.")], "Be good.");
    all.discover(&evil, &["t__add", "t__evil"]);
    // Not before the program of another folder was asked, and not after.
    let mut host = all.serve(&mine);
    assert!(!told(&mut host).contains("EVIL"), "{}", told(&mut host));
    // Something else is known of that server, so what it says here waits for its user.
    let said = host.text("t__discover", json!({})).unwrap();
    assert!(
        !said.contains("EVIL") && !said.contains("Is mine."),
        "{said}"
    );
    let (is_done, said) = all.0.run_in(&mine, &["approve", "t", "--yes"]);
    assert!(
        is_done && said.contains("Is mine.") && !said.contains("EVIL"),
        "{said}"
    );
    comes_to(&mut host, &["t__add", "t__own"]);
    drop(host);
    fs::remove_dir_all(&evil).unwrap();
    let mut host = all.serve(&mine);
    let said = told(&mut host);
    assert!(said.contains("Adds.") && !said.contains("EVIL"), "{said}");
    // Nothing waits there because another folder's is another.
    assert!(all.0.home.server_status("t").unwrap()["waiting"].is_null());
    let (_, said) = all.0.run_in(&mine, &["diff", "t"]);
    assert!(said.contains("nothing of `t` has changed"), "{said}");
    all.discover(&next, &["t__add", "t__own"]);
}

/// A user who starts the same program in a hundred folders reads a change of it once.
#[test]
fn what_was_approved_in_one_folder_is_approved_in_all() {
    let all = Decided::new();
    let folders = ["one", "two", "three"];
    // A server may say where it works.
    let works = |name: &str, more: &str| {
        let folder = all.0.home.path().join(name);
        let text = format!(
            "Adds{more} in {}.",
            folder.canonicalize().unwrap_or(folder).display()
        );
        all.folder(name, &[("add", &text)], "")
    };
    for name in folders {
        works(name, "");
        let folder = works(name, "");
        all.discover(&folder, &["t__add"]);
    }
    for name in folders {
        works(name, " up");
    }
    for name in folders {
        let mut host = all.serve(&all.0.home.path().join(name));
        host.text("t__add", json!({})).unwrap();
        let said = told(&mut host);
        assert!(
            said.contains("Adds in") && !said.contains("Adds up"),
            "{said}"
        );
    }
    let home = all.0.home.path().to_owned();
    let (_, elsewhere) = all.0.run_in(&home, &["approve", "t", "--yes"]);
    assert!(
        elsewhere.contains("in `") && elsewhere.contains("/two`"),
        "{elsewhere}"
    );
    // Nobody was shown anything there, and nothing is allowed.
    assert!(!told(&mut all.serve(&home.join("two"))).contains("Adds up"));
    let (is_done, said) = all.0.run_in(&home.join("two"), &["approve", "t", "--yes"]);
    assert!(is_done && said.contains("+ Adds up"), "{said}");
    for name in folders {
        let said = told(&mut all.serve(&home.join(name)));
        assert!(said.contains("Adds up"), "{name}: {said}");
    }
}

/// Offers of another folder, or of the home folder, are no approval where others are known, and do
/// not replace those that are known already.
#[test]
fn another_folder_is_no_way_past_what_was_approved() {
    let folders = [
        &["next", "more"][..],
        &["repository/a", "repository/b"],
        &["."],
    ];
    let shows = "new_tools = 'show'\n";
    for (more, others) in ["", shows]
        .into_iter()
        .flat_map(|more| folders.map(|others| (more, others)))
    {
        let all = Decided::with(more);
        let first = all.folder("first", &[("add", "Adds.")], "Be good.");
        all.discover(&first, &["t__add"]);
        let evil = [("add", "EVIL"), ("evil", "EVIL")];
        // What is new by its name is shown where its user says so.
        let evil = if more.is_empty() {
            &evil[..]
        } else {
            &evil[..1]
        };
        all.folder("first", evil, "EVIL");
        for other in others {
            let other = all.folder(other, evil, "EVIL");
            if other.ends_with(".") {
                fs::remove_dir(other.join(".git")).unwrap();
            }
            let mut host = all.serve(&other);
            host.text("t__discover", json!({})).unwrap();
            assert!(!told(&mut host).contains("EVIL"), "{}", told(&mut host));
            let (_, said) = all.0.run_in(&other, &["diff", "t"]);
            assert!(said.contains("EVIL"), "{said}");
        }
        for _ in 0..2 {
            let mut host = all.serve(&first);
            let said = told(&mut host);
            assert!(said.contains("Adds.") && !said.contains("EVIL"), "{said}");
            host.text("t__add", json!({})).unwrap();
        }
        let (_, said) = all.0.run_in(&first, &["diff", "t"]);
        assert!(said.contains("EVIL"), "{said}");
    }
}

/// An upstream decides what it lists first, and what later.
#[test]
fn what_comes_later_in_another_folder_is_no_newer_than_what_comes_first() {
    for (folder, mode) in [(".", "block"), ("other", "block"), (".", "freeze")] {
        let all = Decided::with(&format!("new_tools = 'show'\non_change = '{mode}'"));
        let first = all.folder("first", &[("add", "Adds.")], "");
        all.discover(&first, &["t__add"]);
        let evil = [("add", "EVIL")];
        // What is gone there is known all the same.
        all.folder("first", &[("sum", "Sums.")], "");
        all.serve(&first).text("t__add", json!({})).ok();
        all.folder("first", &evil, "");
        for tools in [&[("sum", "Sums.")][..], &evil, &[], &evil] {
            let other = all.folder(folder, tools, "");
            if folder == "." {
                fs::remove_dir(other.join(".git")).unwrap();
            }
            let (_, said) = all.0.run_in(&other, &["sync", "t"]);
            assert!(!told(&mut all.serve(&other)).contains("EVIL"), "{said}");
        }
        let (_, said) = all
            .0
            .run_in(&all.0.home.path().join(folder), &["diff", "t"]);
        assert!(said.contains("EVIL"), "{said}");
        all.0.run_in(&first, &["sync", "t"]);
        let mut host = all.serve(&first);
        assert_eq!(host.text("t__add", json!({})).is_ok(), mode == "freeze");
        assert!(!told(&mut host).contains("EVIL"));
    }
}

/// Projects may write the same entry, with a folder of their own or without one.
#[test]
fn what_one_project_says_is_told_in_no_other_and_of_no_server_of_the_users() {
    let all = Decided::new();
    let script = artifacts::workspace().join("tests/servers/scripted.py");
    let starts = all.0.home.path().join("t.starts");
    for (file, cwd) in [("dormouse.toml", "."), (".vscode/mcp.json", "/tmp")] {
        let tools = match cwd {
            "/tmp" => "${workspaceFolder}/t.tools",
            _ => "t.tools",
        };
        // The last word makes it another server than the user's own, and is not read.
        let words = json!(["python3", script, starts, tools, "of-the-project"]);
        let [good, evil] = [("good", "Adds."), ("evil", "EVIL")].map(|(name, text)| {
            let folder = all.folder(name, &[("add", text)], text);
            let text = match file {
                "dormouse.toml" => format!("[servers.p]\ncommand = {words}\ncwd = '{cwd}'\n"),
                _ => {
                    let server = json!({ "command": words[0], "args": &words.as_array().unwrap()[1..], "cwd": cwd });
                    json!({ "servers": { "p": server } }).to_string()
                }
            };
            write(&folder.join(file), &text);
            let (is_done, said) = all.0.run_in(&folder, &["trust", "--yes"]);
            assert!(is_done, "{said}");
            folder
        });
        let mut host = all.serve(&evil);
        host.text("p__discover", json!({})).unwrap();
        comes_to(&mut host, &["p__add", "t__discover"]);
        let mut host = all.serve(&good);
        let said = told(&mut host);
        assert!(!said.contains("EVIL"), "{file} {cwd}: {said}");
        host.text("p__discover", json!({})).unwrap();
        comes_to(&mut host, &["p__add", "t__discover"]);
        let said = told(&mut host);
        assert!(
            said.contains("Adds.") && !said.contains("EVIL"),
            "{file} {cwd}: {said}"
        );
        for folder in [good, evil] {
            fs::remove_dir_all(folder).unwrap();
        }
    }
}

/// The approval of one text in a folder allows no other text elsewhere.
#[test]
fn what_was_approved_is_the_text_and_not_the_name() {
    let all = Decided::new();
    let home = all.folder(".", &[("add", "Adds.")], "");
    fs::remove_dir(home.join(".git")).unwrap();
    all.0.home.synced("t").unwrap();
    let one = all.folder("one", &[("add", "Harmless.")], "");
    all.folder(".", &[("add", "EVIL")], "");
    fs::remove_dir(home.join(".git")).unwrap();
    for folder in [&one, &home] {
        let mut host = all.serve(folder);
        host.text("t__add", json!({})).unwrap();
        let said = told(&mut host);
        assert!(said.contains("Adds."), "{said}");
    }
    let (is_done, said) = all.0.run_in(&one, &["approve", "t", "--yes"]);
    assert!(is_done && said.contains("+ Harmless."), "{said}");
    assert!(told(&mut all.serve(&one)).contains("Harmless."));
    let (_, said) = all.0.run_in(&home, &["diff", "t"]);
    assert!(said.contains("+ EVIL"), "{said}");
    let said = told(&mut all.serve(&home));
    assert!(said.contains("Adds.") && !said.contains("EVIL"), "{said}");
}

/// A text that its user has replaced by another waits when it comes back, in projects as at home.
#[test]
fn what_was_replaced_is_approved_no_longer() {
    let all = Decided::with("on_change = \"block\"");
    let text = |text| all.folder("one", &[("add", text)], "");
    let one = text("First.");
    all.discover(&one, &["t__add"]);
    for now in ["Second.", "Third."] {
        text(now);
        assert!(all.serve(&one).text("t__add", json!({})).is_err());
        let (is_done, said) = all.0.run_in(&one, &["approve", "t", "--yes"]);
        assert!(is_done && said.contains(now), "{said}");
        let mut host = all.serve(&one);
        host.text("t__add", json!({})).unwrap();
        assert!(told(&mut host).contains(now));
    }
    text("Second.");
    let refused = all.serve(&one).text("t__add", json!({}));
    refused.expect_err("its user has approved another one since");
    let (_, said) = all.0.run_in(&one, &["diff", "t"]);
    assert!(said.contains("+ Second."), "{said}");
}

/// Offers of two folders of one repository are told in no other folder.
#[test]
fn what_two_folders_say_alike_is_told_in_no_third() {
    let all = Decided::new();
    for name in ["repository/a", "repository/b"] {
        let folder = all.folder(name, &[("evil", "EVIL")], "EVIL");
        all.discover(&folder, &["t__evil"]);
    }
    fs::remove_dir_all(all.0.home.path().join("repository")).unwrap();
    let mine = all.folder("mine", &[("add", "Adds.")], "");
    let mut host = all.serve(&mine);
    assert!(!told(&mut host).contains("EVIL"), "{}", told(&mut host));
    host.text("t__discover", json!({})).unwrap();
    assert!(!told(&mut host).contains("EVIL"), "{}", told(&mut host));
    // Something else was known: so it waits, and is what its user allows.
    let (is_done, said) = all.0.run_in(&mine, &["approve", "t", "--yes"]);
    assert!(
        is_done && said.contains("Adds.") && !said.contains("EVIL"),
        "{said}"
    );
    comes_to(&mut host, &["t__add"]);
}

/// A user who syncs in a project is told that this is for that project, and what to do about it.
#[test]
fn sync_says_where_it_is_known() {
    let all = Decided::new();
    let one = all.folder("one", &[("add", "Adds.")], "");
    let home = all.folder(".", &[("add", "Adds.")], "");
    fs::remove_dir(home.join(".git")).unwrap();
    for (folder, is_alone) in [(&one, true), (&home, false), (&one, false)] {
        let (synced, said) = all.0.run_in(folder, &["sync", "t"]);
        let is_told = said.contains("is known in this folder alone");
        assert!(synced && is_told == is_alone, "{said}");
    }
    let other = all.folder("other", &[("add", "Adds.")], "");
    assert_eq!(tools(&mut all.serve(&other)), ["t__add"]);
}

/// Offers that no project decides are known everywhere at once.
#[test]
fn what_is_known_in_the_home_folder_is_known_in_all() {
    let all = Decided::new();
    let home = all.folder(".", &[("add", "Adds.")], "");
    fs::remove_dir(home.join(".git")).unwrap();
    let one = all.folder("one", &[("add", "EVIL")], "");
    all.0.home.synced("t").unwrap();
    let mut host = all.serve(&one);
    assert_eq!(tools(&mut host), ["t__add"]);
    host.text("t__add", json!({})).unwrap();
    let said = told(&mut host);
    assert!(said.contains("Adds.") && !said.contains("EVIL"), "{said}");
    let (_, said) = all.0.run_in(&one, &["diff", "t"]);
    assert!(said.contains("+ EVIL"), "{said}");
    drop(host);
    let said = all.0.run(&["diff", "t"]);
    assert!(said.contains("/one`") && !said.contains("EVIL"), "{said}");
    // What is forgotten at home is forgotten there.
    all.0.run(&["forget", "t"]);
    let mut host = all.serve(&one);
    assert_eq!(tools(&mut host), ["t__discover"]);
    host.text("t__discover", json!({})).unwrap();
    comes_to(&mut host, &["t__add"]);
    assert!(!told(&mut host).contains("EVIL"));
}
