//! Clients that would not load Dormouse where it came in place of their servers: they keep them.

use super::*;
use crate::Config;
use crate::install::backup::{self, Undo};
use crate::install::{
    Import, ImportRequest, Program, Reach, import, install, uninstall, without_earlier_change,
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

fn plan(home: &Home, client: Client) -> Import {
    let discovery = discover_all(&home.around(), &[client], &Inputs::new());
    let wanted = ImportRequest {
        clients: &[client],
        replace: Some(&program()),
        longest_call: std::time::Duration::ZERO,
        force: false,
    };
    let own = home.path("home").join("dormouse.toml");
    let config = Config::default();
    import(&discovery, &home.around(), (&config, &own), wanted).unwrap()
}

fn installed(home: &Home, client: Client) -> anyhow::Result<crate::install::Change> {
    let reach = Reach::Program(program());
    install(client, &home.around(), &reach, std::time::Duration::ZERO)
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
        let mut change = crate::install::Change::of_client(&path, places::Syntax::Json).unwrap();
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
        let reach = Reach::Http {
            url: "http://192.0.2.1:8137/mcp".to_owned(),
            token: dormouse_launch::Secret::new("t"),
        };
        let around = home.around();
        let time = std::time::Duration::ZERO;
        let change = install(Client::Cursor, &around, &reach, time).unwrap();
        let backups = home.path("").join("backups");
        if is_known {
            backup::keep(&backups, "dormouse install cursor", &[&change]).unwrap();
        }
        let more = if edited { "\n\n" } else { "" };
        home.write(file, format!("{}{more}", change.after));
        install(Client::Cursor, &around, &reach, time).unwrap();
        let all = uninstall(Client::Cursor, &around, &backups).unwrap();
        assert_eq!(all.changes.len(), usize::from(is_known), "{edited}");
    }
}

/// What a client's own settings keep out of it does not come in place of its servers.
#[test]
fn a_client_that_would_not_load_dormouse_keeps_its_servers() {
    const GEMINI: &str = "home/.gemini/settings.json";
    const CLAUDE: &str = "home/.claude.json";
    const SETTINGS: &str = "home/.claude/settings.json";
    const OPENCODE: &str = "home/.config/opencode/opencode.json";
    const AMP: &str = "home/.config/amp/settings.json";
    let s = r#""mcpServers": {"s": {"command": "s"}}"#;
    let in_opencode = r#""mcp": {"s": {"type": "local", "command": ["s"]}}"#;
    let in_amp = r#""amp.mcpServers": {"s": {"command": "s"}}"#;
    for (client, file, servers, settings, key, why) in [
        (
            Client::Gemini,
            GEMINI,
            s,
            GEMINI,
            r#""mcp": {"allowed": ["s"]}"#,
            "`mcp.allowed`",
        ),
        (
            Client::Gemini,
            GEMINI,
            s,
            GEMINI,
            r#""mcp": {"excluded": ["dormouse"]}"#,
            "`mcp.excluded`",
        ),
        (
            Client::Gemini,
            GEMINI,
            s,
            GEMINI,
            r#""mcp": {"allowed": ["s", "dormouse"]}"#,
            "",
        ),
        (
            Client::Gemini,
            GEMINI,
            s,
            GEMINI,
            r#""allowMCPServers": ["s"]"#,
            "`allowMCPServers`",
        ),
        (
            Client::Gemini,
            GEMINI,
            s,
            GEMINI,
            r#""excludeMCPServers": ["dormouse"]"#,
            "`excludeMCPServers`",
        ),
        (
            Client::ClaudeCode,
            CLAUDE,
            s,
            SETTINGS,
            r#""allowedMcpServers": [{"serverName": "s"}]"#,
            "no `allowedMcpServers`",
        ),
        (
            Client::ClaudeCode,
            CLAUDE,
            s,
            SETTINGS,
            r#""deniedMcpServers": [{"serverName": "dormouse"}]"#,
            "`deniedMcpServers`",
        ),
        (
            Client::ClaudeCode,
            CLAUDE,
            s,
            SETTINGS,
            r#""permissions": {"deny": ["mcp__dormouse"]}"#,
            "`permissions.deny`",
        ),
        (
            Client::ClaudeCode,
            CLAUDE,
            s,
            SETTINGS,
            r#""permissions": {"deny": ["mcp__dormouse__s__x"]}"#,
            "",
        ),
        (
            Client::OpenCode,
            OPENCODE,
            in_opencode,
            OPENCODE,
            r#""tools": {"*": false, "s_*": true}"#,
            "`tools`",
        ),
        (
            Client::OpenCode,
            OPENCODE,
            in_opencode,
            OPENCODE,
            r#""tools": {"*": false, "s_*": true, "dormouse_*": true}"#,
            "",
        ),
        (
            Client::OpenCode,
            OPENCODE,
            in_opencode,
            OPENCODE,
            r#""permission": {"dormouse_*": "deny"}"#,
            "`permission`",
        ),
        (
            Client::Amp,
            AMP,
            in_amp,
            AMP,
            r#""amp.tools.disable": ["mcp__dormouse__*"]"#,
            "`amp.tools.disable`",
        ),
        (
            Client::Amp,
            AMP,
            in_amp,
            AMP,
            r#""amp.tools.disable": ["mcp__x__*"]"#,
            "",
        ),
    ] {
        let home = Home::empty();
        home.write(settings, format!("{{{key}}}"));
        let text = match file == settings {
            true => format!("{{{servers}, {key}}}"),
            false => format!("{{{servers}}}"),
        };
        home.write(file, text);
        let plan = plan(&home, client);
        let is_changed = plan.changes.iter().any(|change| !change.own);
        assert_eq!(is_changed, why.is_empty(), "{client} {key} {:?}", plan.left);
        let installed = installed(&home, client).map_err(|error| error.to_string());
        let told = plan.left.into_iter().chain(installed.err());
        let told: Vec<_> = told.collect();
        assert_eq!(told.len(), if why.is_empty() { 0 } else { 2 }, "{told:?}");
        for told in told {
            assert!(told.contains(why.trim_start_matches("no ")), "{told}");
            assert!(told.contains("\nhint: "), "{told}");
        }
    }
}

/// Nor does it come in place of servers that single agents or profiles have by their names: these
/// would have nothing then. Beside these servers it may come.
#[test]
fn an_agent_that_would_not_have_dormouse_keeps_its_servers() {
    const OPENCODE: &str = "home/.config/opencode/opencode.json";
    const ZED: &str = "home/.config/zed/settings.json";
    let in_opencode = r#""mcp": {"s": {"type": "local", "command": ["s"]}}"#;
    let in_zed = r#""context_servers": {"s": {"command": "s"}}"#;
    let of_agent = |tools: &str| format!(r#""agent": {{"build": {{"tools": {{{tools}}}}}}}"#);
    let of_profile = |profile: &str| format!(r#""agent": {{"profiles": {{"w": {{{profile}}}}}}}"#);
    let named = r#""context_servers": {"s": {"tools": {"a": true}}}"#;
    for (client, file, servers, settings, leaves) in [
        (
            Client::OpenCode,
            OPENCODE,
            in_opencode,
            of_agent(r#""*": false, "s_*": true"#),
            false,
        ),
        (
            Client::OpenCode,
            OPENCODE,
            in_opencode,
            of_agent(r#""*": false, "s_*": true, "dormouse_*": true"#),
            true,
        ),
        (
            Client::OpenCode,
            OPENCODE,
            in_opencode,
            of_agent(r#""*": false"#),
            true,
        ),
        (
            Client::Zed,
            ZED,
            in_zed,
            of_profile(&format!(r#""enable_all_context_servers": false, {named}"#)),
            false,
        ),
        (
            Client::Zed,
            ZED,
            in_zed,
            of_profile(&format!(r#""enable_all_context_servers": true, {named}"#)),
            true,
        ),
        (
            Client::Zed,
            ZED,
            in_zed,
            of_profile(r#""enable_all_context_servers": false"#),
            true,
        ),
    ] {
        let home = Home::empty();
        home.write(file, format!("{{{servers}, {settings}}}"));
        let plan = plan(&home, client);
        let is_changed = plan.changes.iter().any(|change| !change.own);
        assert_eq!(is_changed, leaves, "{client} {settings} {:?}", plan.left);
        let told = plan.left.join("\n");
        assert_eq!(told.contains("would keep Dormouse out"), !leaves, "{told}");
        installed(&home, client).unwrap();
    }
}

#[test]
fn a_client_that_takes_only_administrators_servers_gets_no_dormouse() {
    let home = Home::empty();
    let managed = places::claude_code_managed(&home.around());
    let file = managed.join(places::CLAUDE_CODE_MANAGED);
    fs::create_dir_all(&managed).unwrap();
    fs::write(file, r#"{"mcpServers": {"m": {"command": "m"}}}"#).unwrap();
    let told = installed(&home, Client::ClaudeCode)
        .unwrap_err()
        .to_string();
    assert!(told.contains("managed-mcp.json"), "{told}");
}
