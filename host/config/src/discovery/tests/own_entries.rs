//! Entries that Dormouse has written into clients' files for single servers, and what their users have
//! made of them.

use serde_json::{Value as Json, json};

use super::name_taken::program;
use super::*;
use crate::Config;
use crate::install::backup::{self, Undo};
use crate::install::{
    ClientReach, EachInstall, EachServers, ImportRequest, Program, edit, import, install,
    install_each, uninstall, without_earlier_change,
};

const FILE: &str = "home/.cursor/mcp.json";
const TIME: std::time::Duration = std::time::Duration::ZERO;

fn of_config(config: &str) -> Program {
    Program {
        options: vec!["--config".to_owned(), config.to_owned()],
        ..program()
    }
}

fn servers(names: &[&str]) -> EachServers {
    EachServers {
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        may_lack_some: false,
    }
}

/// Plans entries of these servers, and writes them.
fn each(home: &Home, client: Client, program: &Program, servers: &EachServers) -> EachInstall {
    let each = install_each(client, &home.around(), program, servers, TIME).unwrap();
    fs::create_dir_all(each.change.file.parent().unwrap()).unwrap();
    fs::write(&each.change.file, &each.change.after).unwrap();
    each
}

fn entries(home: &Home) -> serde_json::Map<String, Json> {
    let text = fs::read_to_string(home.path(FILE)).unwrap();
    let root: Json = serde_json::from_str(&text).unwrap();
    root["mcpServers"].as_object().unwrap().clone()
}

fn write(home: &Home, entries: &serde_json::Map<String, Json>) {
    home.write(FILE, json!({ "mcpServers": entries }).to_string());
}

/// Writes members into an entry, as its user does.
fn add_to(home: &Home, name: &str, members: &Json) {
    let mut all = entries(home);
    let entry = all[name].as_object_mut().unwrap();
    entry.extend(members.as_object().unwrap().clone());
    write(home, &all);
}

#[test]
fn what_is_switched_off_in_a_client_stays_off() {
    let switches = [
        ("disabled", json!(true)),
        ("enabled", json!(false)),
        ("tools", json!([])),
    ];
    for client in Client::all() {
        for (key, off) in &switches {
            let home = Home::empty();
            let planned = each(&home, client, &program(), &servers(&["t"]));
            let (text, file) = (&planned.change.after, &planned.change.file);
            let places = places::files(client, &home.around());
            let mut here = places.iter().filter(|place| place.file == *file);
            let written = here.find_map(|place| {
                let entry = edit::get(text, &place.shape, "t").unwrap()?;
                Some((&place.shape, entry))
            });
            let (shape, mut entry) = written.unwrap();
            if *key == "tools" && entry.get("tools").is_none() {
                continue;
            }
            entry[*key] = off.clone();
            let switched = edit::add(text, shape, "t", &entry).unwrap();
            fs::write(file, switched).unwrap();
            let planned = each(&home, client, &program(), &servers(&["t", "u"]));
            let entry = edit::get(&planned.change.after, shape, "t").unwrap();
            assert_eq!(entry.unwrap()[*key], *off, "{client} {key}");
            assert_eq!(planned.entries, ["u"], "{client} {key}");
            let [said] = planned.left_out.as_slice() else {
                panic!("{client} {key}: {:?}", planned.left_out);
            };
            assert!(
                said.contains("`t`") && said.contains("switched off"),
                "{said}"
            );
        }
    }
}

#[test]
fn an_entry_with_other_arguments_is_its_users() {
    let others = json!({
        "t": { "command": "dormouse", "env": { "A": "b" },
            "args": ["--config", "/other.toml", "serve", "--server", "t", "--profile", "x"] },
        "gone": { "command": "dormouse", "env": { "A": "b" },
            "args": ["--config", "/other.toml", "serve", "--server", "gone"] },
        "off": { "command": "dormouse", "args": ["--config", "/other.toml", "serve", "--client",
            "cursor", "--server=off", "--own-names"] },
        "dormouse": { "command": "dormouse", "args": ["serve", "--profile", "mine"],
            "env": { "A": "b" } },
        "host": { "url": "http://127.0.0.1:9999/mcp" },
    });
    let others = others.as_object().unwrap();
    let home = Home::empty();
    write(&home, others);
    let planned = each(&home, Client::Cursor, &program(), &servers(&["t", "u"]));
    assert_eq!(planned.removed, Vec::<String>::new());
    assert_eq!(planned.entries, ["u"]);
    let mut now = entries(&home);
    assert!(now.remove("u").is_some());
    assert_eq!(now, *others);
    for name in ["`t` has no entry of its own", "the entry `dormouse` in"] {
        let mut left = planned.left_out.iter();
        assert!(
            left.any(|said| said.starts_with(name)),
            "{:?}",
            planned.left_out
        );
    }

    // One for all takes the place of what is its own, and of nothing else.
    let around = home.around();
    let reach = ClientReach::Program(program());
    let planned = install(Client::Cursor, &around, &reach, &[], TIME).unwrap();
    let [removed] = planned.removed.as_slice() else {
        panic!("{:?}", planned.removed);
    };
    assert!(removed.starts_with("the entry `u` "), "{removed}");
    assert!(planned.lost.unwrap().starts_with("the entry `dormouse` in"));
    fs::write(home.path(FILE), planned.change.after).unwrap();
    let mut now = entries(&home);
    assert_eq!(now["dormouse"]["env"], json!({ "A": "b" }));
    now.insert("dormouse".to_owned(), others["dormouse"].clone());
    assert_eq!(now, *others);

    // A URL has no use for variables.
    let reach = ClientReach::Http {
        url: "http://127.0.0.1:9/mcp".to_owned(),
        token: dormouse_launch::Secret::new("t"),
    };
    let lost = |reach: &ClientReach| {
        let planned = install(Client::Cursor, &around, reach, &[], TIME).unwrap();
        planned.lost
    };
    assert_eq!(lost(&ClientReach::Program(program())), None);
    assert!(lost(&reach).unwrap().contains("loses `env`"));
}

#[test]
fn entries_of_another_configuration_stay() {
    let home = Home::empty();
    each(&home, Client::Cursor, &program(), &servers(&["a", "both"]));
    let usual = entries(&home);
    let work = of_config("/work.toml");
    let planned = each(&home, Client::Cursor, &work, &servers(&["both", "w"]));
    assert_eq!((planned.removed.len(), planned.left_out.len()), (0, 1));
    let now = entries(&home);
    assert_eq!((&now["a"], &now["both"]), (&usual["a"], &usual["both"]));
    let planned = each(&home, Client::Cursor, &work, &servers(&[]));
    assert_eq!(planned.removed.len(), 1, "{:?}", planned.removed);
    assert_eq!(entries(&home), usual);
}

#[test]
fn nothing_goes_while_not_all_servers_are_known() {
    let home = Home::empty();
    each(&home, Client::Cursor, &program(), &servers(&["a", "b"]));
    add_to(
        &home,
        "b",
        &json!({ "env": { "TOKEN": "mine" }, "autoApprove": ["x"] }),
    );
    let before = entries(&home);
    let mut some = servers(&["a"]);
    some.may_lack_some = true;
    let planned = each(&home, Client::Cursor, &program(), &some);
    assert_eq!(entries(&home), before);
    let left = planned.left_out.join("\n");
    assert!(
        left.starts_with("`b` in ") && left.contains("stays"),
        "{left}"
    );
    some.may_lack_some = false;
    let planned = each(&home, Client::Cursor, &program(), &some);
    let removed = planned.removed.join("\n");
    assert!(removed.starts_with("the entry `b` "), "{removed}");
    assert!(
        removed.ends_with("with its `env`, `autoApprove`"),
        "{removed}"
    );
    assert!(!entries(&home).contains_key("b"));
}

#[test]
fn what_is_added_to_an_entry_stays_when_it_is_written_anew() {
    let home = Home::empty();
    let mine = json!({ "env": { "TOKEN": "mine" }, "autoApprove": ["x"] });
    // As it was written at first, in two words, by a program that is gone.
    let old = json!({ "-t": { "command": "/gone/dormouse",
        "args": ["serve", "--client", "cursor", "--server", "-t", "--own-names"] } });
    write(&home, old.as_object().unwrap());
    add_to(&home, "-t", &mine);
    let planned = each(&home, Client::Cursor, &program(), &servers(&["-t"]));
    assert_eq!(planned.entries, ["-t"]);
    let entry = &entries(&home)["-t"];
    assert_eq!(entry["command"], "dormouse");
    let args = json!(["serve", "--client", "cursor", "--server=-t", "--own-names"]);
    assert_eq!(entry["args"], args);
    for (key, value) in mine.as_object().unwrap() {
        assert_eq!(entry[key], *value);
    }
}

#[test]
fn servers_that_leave_take_the_entries_of_single_servers_with_them() {
    let home = Home::empty();
    let before = json!({ "s": { "command": "s" } });
    write(&home, before.as_object().unwrap());
    each(&home, Client::Cursor, &program(), &servers(&["a"]));
    let with_each = entries(&home);
    let clients = [Client::Cursor];
    let discovery = discover_all(&home.around(), &clients, &Inputs::new());
    let program = program();
    let wanted = ImportRequest {
        clients: &clients,
        replace: Some(&program),
        longest_call: TIME,
        force: false,
    };
    let own = home.path("home").join("dormouse.toml");
    let config = Config::default();
    let planned = import(&discovery, &home.around(), &config, &own, wanted).unwrap();
    assert_eq!(planned.removed.len(), 1, "{:?}", planned.removed);
    let changes: Vec<_> = planned.changes.iter().collect();
    let backups = home.path("").join("backups");
    backup::keep(&backups, "dormouse import --replace", &changes).unwrap();
    for change in changes {
        fs::write(&change.file, &change.after).unwrap();
    }
    let names: Vec<_> = entries(&home).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["dormouse"]);

    // Both are back where it is undone, also with what has been written since; where Dormouse is taken
    // out, the servers alone.
    add_to(&home, "dormouse", &json!({ "disabled": true }));
    let around = home.around();
    let merge = |file: &Path, earlier: &_| without_earlier_change(earlier, file, &around);
    let steps = backup::last(&backups).unwrap().undo(false, &merge).unwrap();
    let merged = steps.iter().find_map(|step| match step {
        Undo::Merge(change) => Some(&change.after),
        _ => None,
    });
    let all = uninstall(Client::Cursor, &around, &backups).unwrap();
    fs::write(home.path(FILE), merged.unwrap()).unwrap();
    assert_eq!(entries(&home), with_each);
    fs::write(home.path(FILE), &all.changes[0].after).unwrap();
    assert_eq!(entries(&home), *before.as_object().unwrap());
}

#[test]
fn what_is_added_to_an_entry_stays_when_it_is_undone() {
    let mine = json!({ "env": { "TOKEN": "mine" } });
    for (first, second, added_to, kept_out) in [
        // What came with the change and has more by now, and what was there before.
        (&[][..], &["a", "b"][..], "a", Some("a")),
        (&["a"], &["a", "b"], "a", None),
    ] {
        let home = Home::empty();
        write(&home, json!({}).as_object().unwrap());
        each(&home, Client::Cursor, &program(), &servers(first));
        let planned = each(&home, Client::Cursor, &program(), &servers(second));
        let backups = home.path("").join("backups");
        backup::keep(
            &backups,
            "dormouse install cursor --each",
            &[&planned.change],
        )
        .unwrap();
        add_to(&home, added_to, &mine);
        let kept = entries(&home)[added_to].clone();
        let around = home.around();
        let merge = |file: &Path, earlier: &_| without_earlier_change(earlier, file, &around);
        let steps = backup::last(&backups).unwrap().undo(false, &merge).unwrap();
        let (change, names) = match steps.as_slice() {
            [Undo::Merge(change)] => (change, None),
            [Undo::MergePart(change, names)] => (change, Some(names.join(" "))),
            _ => panic!("{steps:?}"),
        };
        assert_eq!(names.as_deref(), kept_out);
        fs::write(home.path(FILE), &change.after).unwrap();
        let now = entries(&home);
        assert_eq!(now.len(), 1, "{now:?}");
        assert_eq!(now[added_to], kept);
    }
}
