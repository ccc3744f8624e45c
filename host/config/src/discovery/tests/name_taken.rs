//! Clients that would not load Dormouse where it came in place of their servers: they keep them.

mod kept_out;

use super::*;
use crate::Config;
use crate::install::backup::{self, Undo};
use crate::install::{
    ClientReach, ImportPlan, ImportRequest, Program, import, install, uninstall,
    without_earlier_change,
};

/// Place of servers in a client's file, and the text of one with two servers, the first of which is
/// called as it is said.
struct Case {
    client: Client,
    file: &'static str,
    text: fn(&str, &str) -> String,
}

fn table(key: &str, name: &str, command: &str) -> String {
    let foreign = serde_json::json!({ "command": command, "env": { "TOKEN": "keep" } });
    serde_json::json!({ key: { name: foreign, "s": { "command": "s" } } }).to_string()
}

const CASES: [Case; 6] = [
    Case {
        client: Client::Cursor,
        file: "home/.cursor/mcp.json",
        text: |name, command| table("mcpServers", name, command),
    },
    Case {
        client: Client::Zed,
        file: "home/.config/zed/settings.json",
        text: |name, command| table("context_servers", name, command),
    },
    Case {
        client: Client::VsCode,
        file: "home/.config/Code/User/mcp.json",
        text: |name, command| table("servers", name, command),
    },
    Case {
        client: Client::Amp,
        file: "home/.config/amp/settings.json",
        text: |name, command| table("amp.mcpServers", name, command),
    },
    Case {
        client: Client::Codex,
        file: "home/.codex/config.toml",
        text: |name, command| {
            format!(
                "[mcp_servers.{name}]\ncommand = \"{command}\"\nenv.TOKEN = \"keep\"\n\n\
                 [mcp_servers.s]\ncommand = \"s\"\n"
            )
        },
    },
    Case {
        client: Client::Continue,
        file: "home/.continue/config.yaml",
        text: |name, command| {
            format!(
                "name: x\nmcpServers:\n- name: {name}\n  command: {command}\n  env:\n    \
                 TOKEN: keep\n- name: s\n  command: s\n"
            )
        },
    },
];

pub(super) fn program() -> Program {
    Program {
        command: "dormouse".to_owned(),
        options: Vec::new(),
        variables: Vec::new(),
    }
}

fn plan(home: &Home, client: Client) -> ImportPlan {
    let discovery = discover_all(&home.around(), &[client], &Inputs::new());
    let wanted = ImportRequest {
        clients: &[client],
        replace: Some(&program()),
        longest_call: std::time::Duration::ZERO,
        force: false,
    };
    let own = home.path("home").join("dormouse.toml");
    let config = Config::default();
    import(&discovery, &home.around(), &config, &own, wanted).unwrap()
}

fn installed(home: &Home, client: Client) -> anyhow::Result<crate::install::FileChange> {
    let reach = ClientReach::Program(program());
    let planned = install(
        client,
        &home.around(),
        &reach,
        &[],
        std::time::Duration::ZERO,
    )?;
    Ok(planned.change)
}

#[test]
fn a_server_that_has_only_dormouses_name_stays() {
    for Case { client, file, text } in CASES {
        let home = Home::empty();
        for (name, command, stays) in [
            ("dormouse", "/opt/start-dormouse.sh", true),
            ("other", "/opt/start-dormouse.sh", false),
        ] {
            home.write(file, text(name, command));
            let plan = plan(&home, client);
            let is_changed = plan.changes.iter().any(|change| !change.own);
            assert_eq!(is_changed, !stays, "{client} {name}");
            assert_eq!(plan.left.len(), usize::from(stays), "{:?}", plan.left);
            for left in plan.left {
                assert!(left.contains("is not Dormouse itself"), "{left}");
                assert!(left.contains("\nhint: "), "{left}");
            }
            let installed = installed(&home, client);
            assert_eq!(installed.is_err(), stays, "{client} {name}");
            let all = uninstall(client, &home.around(), &home.path("backups"));
            let all = all.unwrap();
            assert!(all.changes.is_empty() && all.removed.is_empty());
        }
        // Its program alone does not make it Dormouse.
        home.write(file, text("dormouse", "dormouse"));
        let told = installed(&home, client).unwrap_err().to_string();
        assert!(told.contains("is not Dormouse itself"), "{told}");
    }
}

#[test]
fn dormouse_of_its_users_own_hand_is_brought_up_to_date() {
    let home = Home::empty();
    let file = "home/.cursor/mcp.json";
    home.write(
        file,
        r#"{"mcpServers": {"dormouse": {"command": "npx", "args": ["dormouse", "serve"],
            "env": {"TOKEN": "keep"}}, "s": {"command": "s"}}}"#,
    );
    let plan = plan(&home, Client::Cursor);
    assert!(plan.left.is_empty(), "{:?}", plan.left);
    let change = plan.changes.iter().find(|change| !change.own).unwrap();
    assert!(change.after.contains("keep") && !change.after.contains("npx"));
    installed(&home, Client::Cursor).unwrap();
}

/// Older versions have put Dormouse over a server that has its name.
#[test]
fn a_server_that_dormouse_was_put_over_comes_back() {
    let foreign = r#""dormouse": {"command": "/opt/start-dormouse.sh"}"#;
    let own = r#""dormouse": {"command": "dormouse", "args": ["serve"]}"#;
    let file = "home/.cursor/mcp.json";
    for more in ["", r#", "t": {"command": "t"}"#] {
        let home = Home::empty();
        let text = |server: &str, more: &str| format!(r#"{{"mcpServers": {{{server}{more}}}}}"#);
        home.write(file, text(foreign, ""));
        let path = home.path(file);
        let mut change =
            crate::install::FileChange::of_client(&path, places::Syntax::Json).unwrap();
        change.after = text(own, "");
        let backups = home.path("").join("backups");
        backup::keep(&backups, "dormouse install cursor", &[&change]).unwrap();
        home.write(file, text(own, more));
        let all = uninstall(Client::Cursor, &home.around(), &backups).unwrap();
        let after = &all.changes[0].after;
        assert!(after.contains("/opt/start-dormouse.sh"), "{after}");
        assert_eq!(after.contains("\"t\""), !more.is_empty(), "{after}");
        let around = home.around();
        let merge = |file: &Path, earlier: &_| without_earlier_change(earlier, file, &around);
        let steps = backup::last(&backups).unwrap().undo(false, &merge).unwrap();
        let [Undo::Back(change) | Undo::Merge(change)] = &steps[..] else {
            panic!("{steps:?}");
        };
        assert!(change.after.contains("/opt/start-dormouse.sh"));
    }
}

/// A host at another machine's address is Dormouse where Dormouse has written it.
#[test]
fn a_host_elsewhere_is_taken_out_of_the_file_that_it_was_put_into() {
    let file = "home/.cursor/mcp.json";
    for (edited, is_known) in [(false, true), (true, true), (true, false)] {
        let home = Home::empty();
        home.write(file, r#"{"mcpServers": {}}"#);
        let reach = ClientReach::Http {
            url: "http://192.0.2.1:8137/mcp".to_owned(),
            token: dormouse_launch::Secret::new("t"),
        };
        let around = home.around();
        let time = std::time::Duration::ZERO;
        let plan = || install(Client::Cursor, &around, &reach, &[], time).unwrap();
        let change = plan().change;
        let backups = home.path("").join("backups");
        if is_known {
            backup::keep(&backups, "dormouse install cursor", &[&change]).unwrap();
        }
        let more = if edited { "\n\n" } else { "" };
        home.write(file, format!("{}{more}", change.after));
        plan();
        let all = uninstall(Client::Cursor, &around, &backups).unwrap();
        assert_eq!(all.changes.len(), usize::from(is_known), "{edited}");
    }
}
