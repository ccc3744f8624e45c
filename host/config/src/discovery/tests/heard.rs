//! Members that count for trust in files in which clients keep more than their servers.

use super::places::Syntax;
use super::*;
use crate::discovery::library::heard::{SHARED_SETTINGS, hook};

/// Servers and rules under every key that a reader knows, and what none knows between them.
const ALL_KEYS: &str = r#"{
    "theme": "dark", "permissions": {"allow": ["mcp__a__x"], "deny": ["mcp__a__y", "Mcp(a:z)"]},
    "mcpServers": {"a": {"command": "x"}, "b": {"command": "y", "enabled": false}},
    "mcp": {"a": {"type": "local", "command": ["x"]}, "allowed": ["a"], "excluded": ["b"]},
    "amp.mcpServers": {"a": {"command": "x"}}, "amp.tools.disable": ["mcp__a__z"],
    "amp.permissions": [{"tool": "mcp__a__x", "action": "reject"}], "amp.mcpPermissions": [],
    "chatmd.mcpServers": {"a": {"command": "x"}}, "editor.tabSize": 2,
    "context_servers": {"a": {"command": "x"}}, "tab_size": 4,
    "agent": {"tool_permissions": {"default": "deny"}, "p": {"tools": {"a_x": false}}},
    "mode": {"p": {"permission": {"a_x": "deny"}}}, "permission": {"a_x": "deny", "b_*": "ask"},
    "tools": {"exclude": ["a__x"], "a_*": false}, "excludeTools": ["mcp_a_x"],
    "allowMCPServers": ["a"], "excludeMCPServers": ["b"],
    "deniedMcpServers": [{"serverName": "b"}], "allowedMcpServers": [{"serverName": "a"}],
    "allowManagedMcpServersOnly": true, "disabledMcpServers": ["a"], "disabled_mcp_servers": ["b"],
    "enabledMcpjsonServers": ["a"], "disabledMcpjsonServers": ["b"],
    "enableAllProjectMcpServers": true, "projects": {"PROJECT": {"disabledMcpServers": ["a"]}},
    "servers": {"a": {"command": "x"}}, "inputs": [], "a": {"command": "x"}, "user": {}, "rule": []
}"#;

/// Returns the texts of the files in a folder and below it.
fn texts(folder: &Path, all: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => texts(&path, all),
            false => all.extend(fs::read_to_string(path)),
        }
    }
}

/// Returns all that is found, but the hashes of what it is made of.
fn found_in(around: &Surroundings, everything: bool) -> String {
    hook::read_everything(everything);
    let clients: Vec<_> = Client::all().collect();
    let mut found = discover_all(around, &clients, &Inputs::new());
    hook::read_everything(false);
    found.contents.clear();
    format!("{found:#?}")
}

#[test]
fn what_does_not_count_for_trust_has_no_say() {
    let mut all = vec![
        ALL_KEYS.to_owned(),
        // Of what is there twice, the last one counts.
        r#"{"permissions": "x", "permissions": {"allow": []}}"#.to_owned(),
        r#"{"permissions": {"deny": ["mcp__a"], "deny": []}}"#.to_owned(),
        r#"{"permissions": {"deny": ["mcp__a"]}, "permissions": {"deny": []}}"#.to_owned(),
        r#"{"permissions": {"Deny": ["mcp__a"]}, "MCPSERVERS": {"n": {"command": "x"}}}"#
            .to_owned(),
        r#"{"permissions": [], "tools": [], "mcp": []}"#.to_owned(),
        r#"{"permissions": {"deny": {"a": 1}}, "agent": 1}"#.to_owned(),
    ];
    all.extend(["[]", "1", "null", "\"x\"", "{", "", "// x", "true"].map(str::to_owned));
    let own = all.len();
    texts(&homes(), &mut all);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for folder in ["documents", "edits", "configuration"] {
        texts(&corpus.join(folder), &mut all);
    }
    let mut different = 0;
    for file in SHARED_SETTINGS {
        let home = Home::of(&["claude-code"]);
        let servers = r#"{"a": {"command": "x"}, "b": {"url": "https://b.example/"}}"#;
        let of_claude = format!(r#"{{"mcpServers": {servers}}}"#);
        for own in [".mcp.json", ".gemini/settings.json", ".cursor/mcp.json"] {
            home.write(&format!("project/{own}"), &of_claude);
        }
        let shown = format!("project/{file}");
        for (index, text) in all.iter().enumerate() {
            let text = match Syntax::of(Path::new(file)) {
                Syntax::Toml if text == ALL_KEYS => {
                    "mcp_oauth_callback_port = 80\nmodel = 'x'\n[mcp_servers.a]\ncommand = 'x'\n"
                        .to_owned()
                }
                _ => text.replace("PROJECT", home.path("project").to_str().unwrap()),
            };
            home.write(&shown, &text);
            let mut around = home.around();
            let whole = found_in(&around, true);
            assert_eq!(found_in(&around, false), whole, "{file}: {text}");
            different += usize::from(whole.contains("`permissions.deny` names it"));
            if index >= own {
                continue;
            }
            // One client may be told to read the file of another, or to have its own ones there.
            let path = home.path(&shown);
            let folder = path.parent().unwrap().to_str().unwrap();
            let path = path.to_str().unwrap();
            for (variable, value) in [
                ("AMP_SETTINGS_FILE", path),
                ("OPENCODE_CONFIG", path),
                ("COPILOT_HOME", folder),
                ("CLAUDE_CONFIG_DIR", folder),
            ] {
                around.env.insert(variable.to_owned(), value.to_owned());
            }
            let whole = found_in(&around, true);
            assert_eq!(found_in(&around, false), whole, "{file}: {text}");
        }
    }
    assert!(different > 0);
}

#[test]
fn only_what_is_heard_counts_for_trust() {
    let server = |key: &str| format!(r#""{key}": {{"a": {{"command": "x"}}}}"#);
    let deny = r#""permissions": {"deny": ["mcp__a__y"]}"#;
    let mcp = server("mcpServers");
    let chatmd = server("chatmd.mcpServers");
    let zed = server("context_servers");
    let changed = |text: &str| text.replace(r#""x""#, r#""y""#);
    let claude = ".claude/settings.local.json";
    for (file, before, after, is_same) in [
        // Claude Code makes the file at the first tool that need not be asked about any more.
        (
            claude,
            None,
            Some(r#""permissions": {"allow": ["mcp__a__x"], "deny": []}"#.to_owned()),
            true,
        ),
        (
            claude,
            None,
            Some(r#""permissions": {"allow": ["Bash"]}"#.to_owned()),
            true,
        ),
        (
            claude,
            Some(deny.to_owned()),
            Some(deny.replace("{", r#"{"allow": ["Bash"], "#)),
            true,
        ),
        (
            claude,
            Some(deny.to_owned()),
            Some(deny.replace("__y", "__z")),
            false,
        ),
        (
            claude,
            Some(deny.to_owned()),
            Some(format!(r#"{deny}, "permissions": {{}}"#)),
            false,
        ),
        (claude, Some(deny.to_owned()), None, false),
        (claude, None, Some(r#""permissions": []"#.to_owned()), false),
        (
            claude,
            None,
            Some(r#""enabledMcpjsonServers": ["b"]"#.to_owned()),
            false,
        ),
        (claude, None, Some("\"model\": ".to_owned()), false),
        (
            ".vscode/settings.json",
            Some(chatmd.clone()),
            Some(format!(r#""editor.tabSize": 2, {chatmd}"#)),
            true,
        ),
        (
            ".vscode/settings.json",
            Some(chatmd.clone()),
            Some(changed(&chatmd)),
            false,
        ),
        (
            ".gemini/settings.json",
            Some(mcp.clone()),
            Some(format!(r#"{mcp}, "theme": "x""#)),
            true,
        ),
        (
            ".gemini/settings.json",
            Some(mcp.clone()),
            Some(format!(r#"{mcp}, "excludeTools": ["x"]"#)),
            false,
        ),
        (
            ".gemini/settings.json",
            Some(mcp.clone()),
            Some(changed(&mcp)),
            false,
        ),
        (
            ".zed/settings.json",
            Some(zed.clone()),
            Some(format!(r#""tab_size": 2, {zed}, // x"#)),
            true,
        ),
        (
            ".zed/settings.json",
            Some(zed.clone()),
            Some(changed(&zed)),
            false,
        ),
        // What is about servers alone counts by its bytes.
        (
            ".cursor/mcp.json",
            Some(mcp.clone()),
            Some(format!(r#"{mcp}, "theme": "x""#)),
            false,
        ),
    ] {
        let home = Home::empty();
        home.write("project/.mcp.json", format!("{{{mcp}}}"));
        let content = |text: &Option<String>| {
            match text {
                Some(text) => home.write(&format!("project/{file}"), format!("{{\n{text}\n}}")),
                None => drop(fs::remove_file(home.path("project").join(file))),
            }
            let clients: Vec<_> = Client::all().collect();
            let found = discover_all(&home.around(), &clients, &Inputs::new());
            found.content_of(&home.path("project")).cloned().unwrap()
        };
        let (one, other) = (content(&before), content(&after));
        assert!(!one.changed && !other.changed);
        assert_eq!(one == other, is_same, "{file}: {before:?} {after:?}");
    }
}

/// A file that is filled into a server counts with all that is in it.
#[test]
fn what_is_filled_in_counts_by_its_bytes() {
    let home = Home::empty();
    let contents = ["1", "2"].map(|theme| {
        let servers = r#"{"a": {"type": "local", "command": ["{file:./opencode.json}"]}}"#;
        home.write(
            "project/opencode.json",
            format!(r#"{{"mcp": {servers}, "theme": "{theme}"}}"#),
        );
        let found = discover_all(&home.around(), &[Client::OpenCode], &Inputs::new());
        found.content_of(&home.path("project")).cloned().unwrap()
    });
    let [one, other] = &contents;
    assert!(!one.changed && !other.changed);
    assert_eq!(one.own_files, other.own_files);
    assert_ne!(one.with_filled_in, other.with_filled_in);
}
