//! Servers that are taken out of their clients' files, and come back.

use super::*;
use crate::install::backup::{self, Undo};
use crate::install::{
    FileChange, ImportRequest, Program, import, uninstall, without_earlier_change,
};
use crate::{Config, file};

/// Replaces the servers of clients by Dormouse, as its command does. Returns the changes, and what
/// is left where it is.
fn replace(home: &Home, clients: &[Client]) -> (Vec<FileChange>, Vec<String>) {
    let discovery = discover_all(&home.around(), clients, &Inputs::new());
    let program = Program {
        command: "dormouse".to_owned(),
        options: Vec::new(),
        variables: Vec::new(),
    };
    let wanted = ImportRequest {
        clients,
        replace: Some(&program),
        longest_call: std::time::Duration::ZERO,
        force: false,
    };
    let own = home.path("home").join("dormouse.toml");
    let config = Config::default();
    let import = import(&discovery, &home.around(), &config, &own, wanted).unwrap();
    let changes: Vec<_> = import.changes.iter().collect();
    let backups = home.path("").join("backups");
    backup::keep(&backups, "dormouse import --replace", &changes).unwrap();
    for change in changes {
        fs::write(&change.file, &change.after).unwrap();
    }
    (import.changes, import.left)
}

/// Plans to undo the last run.
fn undo(home: &Home) -> (backup::Run, Vec<Undo>) {
    let around = home.around();
    let run = backup::last(&home.path("").join("backups")).unwrap();
    let merge = |file: &Path, earlier: &_| without_earlier_change(earlier, file, &around);
    let steps = run.undo(false, &merge).unwrap();
    (run, steps)
}

fn text(home: &Home, file: &str) -> String {
    fs::read_to_string(home.path("home").join(file)).unwrap()
}

#[test]
fn each_edition_of_a_client_has_its_servers_or_dormouse() {
    for (client, name, key) in [
        (Client::VsCode, "mcp.json", "servers"),
        (Client::ChatMd, "settings.json", "chatmd.mcpServers"),
    ] {
        let home = Home::empty();
        let release = format!(".config/Code/User/{name}");
        let insiders = format!(".config/Code - Insiders/User/{name}");
        let servers = |servers: &[(&str, &str)]| {
            let servers = servers.iter().map(|(name, program)| {
                (
                    (*name).to_owned(),
                    serde_json::json!({ "command": program }),
                )
            });
            let servers: serde_json::Map<_, _> = servers.collect();
            serde_json::json!({ key: servers }).to_string()
        };
        let of_release = servers(&[("s", "release"), ("both", "both")]);
        let of_insiders = servers(&[("s", "insiders"), ("both", "both"), ("t", "t")]);
        home.write(&format!("home/{release}"), &of_release);
        home.write(&format!("home/{insiders}"), &of_insiders);
        let (_, left) = replace(&home, &[client]);
        for name in ["s", "both", "t"] {
            let table = format!("[servers.{name}]");
            assert!(text(&home, "dormouse.toml").contains(&table), "{name}");
        }
        let now = |file: &str| -> Vec<String> {
            let root: serde_json::Value = serde_json::from_str(&text(&home, file)).unwrap();
            root[key].as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(now(&release), ["dormouse"]);
        let mut others = now(&insiders);
        others.sort();
        assert_eq!(others, ["dormouse", "s"]);
        assert!(text(&home, &insiders).contains("\"insiders\""));
        assert_eq!(left.len(), 1, "{left:?}");
        let told = home.shown(&left[0]);
        assert!(
            told.starts_with(&format!("`s` stays in /home/{insiders}, because another")),
            "{told}"
        );
        // Both ways back lead to what there was.
        let backups = home.path("").join("backups");
        let all = uninstall(client, &home.around(), &backups).unwrap();
        let (_, steps) = undo(&home);
        let steps = steps.iter().filter_map(|step| match step {
            Undo::Back(change) => Some(change),
            _ => None,
        });
        let steps: Vec<_> = steps.cloned().collect();
        for changes in [&all.changes, &steps] {
            for (file, before) in [(&release, &of_release), (&insiders, &of_insiders)] {
                let file = home.path("home").join(file);
                let change = changes.iter().find(|change| change.file == file);
                assert_eq!(change.unwrap().after, *before);
            }
        }
    }
}

/// A client reads several files, and Dormouse is in one of them.
#[test]
fn what_was_taken_out_of_any_file_of_a_client_comes_back() {
    let home = Home::empty();
    let files = [".github/mcp-config.json", ".copilot/mcp-config.json"];
    for (file, name) in files.into_iter().zip(["a", "b"]) {
        let servers = serde_json::json!({ "mcpServers": { name: { "command": name } } });
        home.write(&format!("home/{file}"), servers.to_string());
    }
    let before = files.map(|file| text(&home, file));
    replace(&home, &[Client::Copilot]);
    assert!(!text(&home, files[0]).contains("\"a\""));
    let backups = home.path("").join("backups");
    let all = uninstall(Client::Copilot, &home.around(), &backups).unwrap();
    assert_eq!(all.put_back, ["a", "b"]);
    for (file, before) in files.into_iter().zip(before) {
        let file = home.path("home").join(file);
        let change = all.changes.iter().find(|change| change.file == file);
        assert_eq!(change.unwrap().after, before);
    }
}

#[cfg(unix)]
#[test]
fn one_file_of_two_clients_is_changed_once() {
    use std::os::unix::fs::symlink;

    let home = Home::empty();
    let before = r#"{"mcpServers": {"s": {"command": "s"}}}"#;
    home.write("home/dot/mcp.json", before);
    let links = [".cursor/mcp.json", ".codeium/windsurf/mcp_config.json"];
    for link in links {
        let link = home.path("home").join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(home.path("home/dot/mcp.json"), link).unwrap();
    }
    let clients = [Client::Cursor, Client::Windsurf];
    let (changes, left) = replace(&home, &clients);
    assert_eq!((changes.len(), left.len()), (2, 0), "{left:?}");
    let now = text(&home, links[1]);
    assert!(now.contains("dormouse") && !now.contains("\"s\""), "{now}");
    let taken = text(&home, "dormouse.toml");
    assert!(!taken.contains("from"), "{taken}");
    let backups = home.path("").join("backups");
    for client in clients {
        let all = uninstall(client, &home.around(), &backups).unwrap();
        assert_eq!(all.changes[0].after, before);
    }
    let (_, steps) = undo(&home);
    assert!(
        matches!(&steps[..], [Undo::Back(change), Undo::Remove(..)] if change.after == before),
        "{steps:?}"
    );
}

#[test]
fn a_server_that_its_client_does_not_get_back_stays_where_it_is() {
    let home = Home::empty();
    let file = ".cursor/mcp.json";
    home.write(
        &format!("home/{file}"),
        r#"{"mcpServers": {"s": {"command": "mine"}, "t": {"command": "t"}}}"#,
    );
    replace(&home, &[Client::Cursor]);
    // Its user writes another one of that name.
    let edited = text(&home, file).replace(
        r#""mcpServers": {"#,
        r#""mcpServers": { "s": {"command": "other"}, "#,
    );
    home.write(&format!("home/{file}"), edited);
    for _ in 0..2 {
        let (mut run, steps) = undo(&home);
        let (client, own) = match &steps[..] {
            [Undo::MergePart(change, names), Undo::Needed(own)] => {
                assert_eq!(*names, ["s"]);
                (change, own)
            }
            steps => panic!("{steps:?}"),
        };
        assert!(client.after.contains(r#""other""#) && client.after.contains(r#""t""#));
        assert!(!client.after.contains("dormouse"), "{}", client.after);
        fs::write(&client.file, &client.after).unwrap();
        assert!(text(&home, "dormouse.toml").contains("\"mine\""));
        run.undone(&[client.file.clone(), own.clone()]).unwrap();
    }
    // Without the other one it comes back, and nothing needs the rest.
    let edited = text(&home, file).replace("\"s\"", "\"mine-too\"");
    home.write(&format!("home/{file}"), edited);
    let (_, steps) = undo(&home);
    let [Undo::Merge(client), Undo::Remove(own, _)] = &steps[..] else {
        panic!("{steps:?}");
    };
    assert!(client.after.contains(r#""mine""#), "{}", client.after);
    assert_eq!(*own, home.path("home").join("dormouse.toml"));
    assert!(file::read(own).unwrap().is_some());
}
