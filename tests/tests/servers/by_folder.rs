//! Servers of the user's without a folder of their own: what they are is decided by the folder that
//! an agent is in.

use std::fs;
use std::path::{Path, PathBuf};

use dormouse_tests::{Client, artifacts};
use serde_json::{Value, json};

use crate::scripted::{Scripted, comes_to, tools};

/// A server `t` of the user's, which is whatever the folder has that it is started in.
struct Decided(Scripted);

impl Decided {
    fn new() -> Self {
        let all = Scripted::new();
        let script = artifacts::workspace().join("tests/servers/scripted.py");
        let starts = all.home.path().join("t.starts");
        let command = json!(["python3", script, starts, "t.tools"]);
        all.home
            .table("t", &format!("command = {command}\n"))
            .unwrap();
        Self(all)
    }

    /// A folder of that name whose program has these tools, and says that of itself.
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

    /// Has an agent in a folder connect the server, and see these tools of it.
    #[track_caller]
    fn discover(&self, folder: &Path, wanted: &[&str]) -> String {
        let mut host = self.serve(folder);
        assert_eq!(tools(&mut host), ["t__discover"]);
        let told = host.text("t__discover", json!({})).unwrap();
        comes_to(&mut host, wanted);
        told
    }
}

/// All that a model is told at first.
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
    drop(host);
    let said = all.discover(&mine, &["t__add", "t__own"]);
    assert!(!said.contains("EVIL"), "{said}");
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

/// Who starts the same program in a hundred folders knows it after two, or after one look from
/// where no project decides, and reads a change once.
#[test]
fn what_is_the_same_in_two_folders_is_known_in_all_and_approved_once() {
    let all = Decided::new();
    let one = all.folder("one", &[("add", "Adds.")], "");
    let two = all.folder("two", &[("add", "Adds.")], "");
    let three = all.folder("three", &[("add", "Adds.")], "");
    // What is in a folder is no other one.
    let within = all.folder("one/within", &[("add", "Adds.")], "");
    let within_too = all.folder("one/within/too", &[("add", "Adds.")], "");
    for folder in [&one, &within, &within_too] {
        all.discover(folder, &["t__add"]);
    }
    let others = [&one, &two, &three];
    all.discover(&two, &["t__add"]);
    for folder in others {
        let mut host = all.serve(folder);
        assert_eq!(tools(&mut host), ["t__add"]);
        assert_eq!(host.text("t__add", json!({})).unwrap(), "add {}");
        assert_eq!(tools(&mut host), ["t__add"]);
    }
    // A change waits where it was met.
    for folder in others {
        let name = folder.file_name().unwrap().to_str().unwrap();
        all.folder(name, &[("add", "Adds up."), ("more", "More.")], "");
    }
    for folder in [&two, &three] {
        let mut host = all.serve(folder);
        host.text("t__add", json!({})).unwrap();
        let said = told(&mut host);
        assert!(said.contains("Adds.") && !said.contains("More."), "{said}");
    }
    let (_, elsewhere) = all.0.run_in(all.0.home.path(), &["approve", "t", "--yes"]);
    assert!(
        elsewhere.contains("in `") && elsewhere.contains("/two`"),
        "{elsewhere}"
    );
    // Nobody was shown anything there, and nothing is allowed.
    assert_eq!(tools(&mut all.serve(&two)), ["t__add"]);
    let (is_done, said) = all.0.run_in(&two, &["approve", "t", "--yes"]);
    assert!(is_done && said.contains("+ Adds up."), "{said}");
    for folder in others {
        let mut host = all.serve(folder);
        host.text("t__add", json!({})).unwrap();
        comes_to(&mut host, &["t__add", "t__more"]);
        let said = told(&mut host);
        assert!(said.contains("Adds up."), "{said}");
        host.text("t__more", json!({})).unwrap();
        assert_eq!(tools(&mut host), ["t__add", "t__more"]);
    }
    let folder = all.folder("four", &[("add", "Adds up."), ("more", "More.")], "");
    let mut host = all.serve(&folder);
    assert!(told(&mut host).contains("Adds up."));
}

/// Who syncs in a project is told that it is for that project, and what to do about it.
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

/// What nobody's project decides is known everywhere at once.
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
