//! Servers that an import takes over, and those that it leaves where they are.

use super::*;
use crate::install::{ImportPlan, ImportRequest, Program, import};
use crate::{Config, file};

const CLAUDE: &str = "home/.claude.json";
const SETTINGS: &str = "home/.claude/settings.json";
const CURSOR: &str = "home/.cursor/mcp.json";
const WINDSURF: &str = "home/.codeium/windsurf/mcp_config.json";
const OPENCODE: &str = "home/.config/opencode/opencode.json";

/// Makes a file one that nobody is writing.
fn quiet(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
    file.set_modified(past).unwrap();
}

/// Plans an import into a configuration with this text. Clients are to have Dormouse in place of
/// what is taken over, where it `replaces` that.
fn plan(home: &Home, around: &Surroundings, own: &str, replaces: bool) -> ImportPlan {
    let clients: Vec<_> = Client::all().collect();
    let path = home.path("home").join("dormouse.toml");
    home.write("home/dormouse.toml", own);
    quiet(&path);
    let discovery = discover_all(around, &clients, &Inputs::new());
    let program = Program {
        command: "dormouse".to_owned(),
        options: Vec::new(),
        variables: Vec::new(),
    };
    let wanted = ImportRequest {
        clients: &clients,
        replace: replaces.then_some(&program),
        longest_call: std::time::Duration::ZERO,
        force: false,
    };
    let config = file::parse_usable(&path, own).unwrap();
    assert!(config.problems.is_empty() && config.refused.is_empty());
    import(&discovery, around, &config, &path, wanted).unwrap()
}

/// Returns the text of the configuration after an import.
fn own_text(import: &ImportPlan, before: &str) -> String {
    let own = import.changes.iter().find(|change| change.own);
    own.map_or_else(|| before.to_owned(), |change| change.after.clone())
}

fn parsed(home: &Home, text: &str) -> Config {
    file::parse_usable(&home.path("home").join("dormouse.toml"), text).unwrap()
}

/// Whether any client's file is changed.
fn leaves(import: &ImportPlan) -> bool {
    import.changes.iter().any(|change| !change.own)
}

fn servers(server: &str) -> String {
    format!(r#"{{"mcpServers": {{"gh": {server}}}}}"#)
}

#[test]
fn what_a_client_comes_to_deny_is_added_to_its_rules() {
    const KEY: &str = "clients.claude-code";
    for (rule, denied, shown, is_changed) in [
        (String::new(), "b", "acd", true),
        (format!("{KEY}.exclude_tools = ['b']\n"), "b", "acd", false),
        (format!("{KEY}.exclude_tools = ['b']\n"), "bc", "ad", true),
        (format!("{KEY}.exclude_tools = ['a']\n"), "b", "cd", true),
        (
            format!("{KEY}.exclude_tools = ['b', 'c']\n"),
            "b",
            "ad",
            false,
        ),
        (
            format!("{KEY}.include_tools = ['b', 'a']\n"),
            "b",
            "a",
            true,
        ),
        (
            format!("{KEY}.include_tools = ['b', 'a']\n"),
            "",
            "ab",
            false,
        ),
        ("exclude_tools = ['b']\n".to_owned(), "bc", "ad", true),
        (format!("{KEY}.enabled = false\n"), "b", "", true),
    ] {
        let home = Home::empty();
        home.write(CLAUDE, servers(r#"{"command": "run"}"#));
        let rules = denied.chars().map(|tool| format!("mcp__gh__{tool}"));
        let rules: Vec<_> = rules.collect();
        let settings = serde_json::json!({ "permissions": { "deny": rules } });
        home.write(SETTINGS, settings.to_string());
        let from = "from = ['claude-code']\n";
        let own = format!("[servers.gh]\ncommand = 'run'\n{from}{rule}");
        let text = own_text(&plan(&home, &home.around(), &own, false), &own);
        assert_eq!(text != own, is_changed, "{rule}{denied}: {text}");
        let config = parsed(&home, &text);
        let server = config.servers["gh"].for_client(Some(Client::ClaudeCode));
        let filter = &server.bridge().unwrap().filter;
        let tools = ["a", "b", "c", "d"].into_iter();
        let tools = tools.filter(|tool| server.enabled && filter.shows(tool));
        assert_eq!(tools.collect::<String>(), shown, "{rule}{denied}: {text}");
        // A second time there is nothing new.
        let again = own_text(&plan(&home, &home.around(), &text, false), &text);
        assert_eq!(again, text, "{rule}{denied}");
    }
}

#[test]
fn what_only_comes_to_the_same_here_is_another_server() {
    let env = |value: &str| servers(&format!(r#"{{"command": "x", "env": {{"T": "{value}"}}}}"#));
    let arg = |value: &str| servers(&format!(r#"{{"command": "x", "args": ["{value}"]}}"#));
    for (files, own, kept, count) in [
        // A value, and a variable that has it now.
        (
            vec![
                (CURSOR, env("${env:API_KEY}")),
                (WINDSURF, env("SECRET-KEY")),
            ],
            "",
            ["${API_KEY}", "SECRET-KEY"],
            2,
        ),
        (
            vec![
                (CURSOR, env("SECRET-KEY")),
                (WINDSURF, env("${env:API_KEY}")),
            ],
            "",
            ["${API_KEY}", "SECRET-KEY"],
            2,
        ),
        (
            vec![(CLAUDE, arg("${HOME_FOLDER}")), (CURSOR, arg("/a folder"))],
            "",
            ["${HOME_FOLDER}", "\"/a folder\""],
            2,
        ),
        (
            vec![(CLAUDE, arg("${NOT_SET:-usual}")), (CURSOR, arg("usual"))],
            "",
            ["${NOT_SET:-usual}", "\"usual\""],
            2,
        ),
        // Two variables of the same value.
        (
            vec![
                (CURSOR, env("${env:WORK}")),
                (WINDSURF, env("${env:PRIVATE}")),
            ],
            "",
            ["${WORK}", "${PRIVATE}"],
            2,
        ),
        (
            vec![(CLAUDE, arg("${HOME_FOLDER}"))],
            "[servers.gh]\ncommand = 'x'\nargs = ['/a folder']\n",
            ["${HOME_FOLDER}", "'/a folder'"],
            2,
        ),
        (
            vec![(CURSOR, arg("/a folder"))],
            "[servers.gh]\ncommand = 'x'\nargs = ['${HOME_FOLDER}']\n",
            ["${HOME_FOLDER}", "\"/a folder\""],
            2,
        ),
        // The same variable, as each client names it.
        (
            vec![(CLAUDE, env("${API_KEY}")), (CURSOR, env("${env:API_KEY}"))],
            "",
            ["${API_KEY}", "x"],
            1,
        ),
        (
            vec![(CURSOR, env("${env:API_KEY}"))],
            "[servers.gh]\ncommand = 'x'\nenv = { T = '${API_KEY}' }\n",
            ["${API_KEY}", "x"],
            1,
        ),
    ] {
        let home = Home::empty();
        for (file, text) in &files {
            home.write(file, text);
        }
        let mut around = home.around();
        for name in ["WORK", "PRIVATE"] {
            around.env.insert(name.to_owned(), "same".to_owned());
        }
        let import = plan(&home, &around, own, true);
        let text = own_text(&import, own);
        for kept in kept {
            assert!(text.contains(kept), "{kept}: {files:?}\n{text}");
        }
        let config = parsed(&home, &text);
        assert_eq!(config.servers.len(), count, "{files:?}\n{text}");
    }
}

#[test]
fn rules_that_cannot_be_read_keep_their_clients_servers_where_they_are() {
    let denied = r#""permissions": {"deny": ["mcp__gh__b"]}, "permission": {"gh_b": "deny"}}"#;
    let deep = format!("{{\"x\": {}{}, {denied}", "[".repeat(150), "]".repeat(150));
    let in_opencode = r#"{"mcp": {"gh": {"type": "local", "command": ["x"]}}}"#;
    let opencode = "home/.config/opencode/opencode.jsonc";
    for (client, file, text, rules) in [
        (
            Client::ClaudeCode,
            CLAUDE,
            servers(r#"{"command": "x"}"#),
            SETTINGS,
        ),
        (Client::OpenCode, OPENCODE, in_opencode.to_owned(), opencode),
    ] {
        for (broken, is_empty) in [
            (Vec::new(), true),
            (b" \n".to_vec(), true),
            (
                b"{\"permissions\": {\"deny\": [\"mcp__gh__b\"]".to_vec(),
                false,
            ),
            ([b"{\"x\": \"\xe9\", ", denied.as_bytes()].concat(), false),
            (
                format!("{{\"x\": \"\\ud800\", {denied}").into_bytes(),
                false,
            ),
            (deep.clone().into_bytes(), false),
        ] {
            let home = Home::empty();
            home.write(file, &text);
            home.write(rules, &broken);
            let shown = String::from_utf8_lossy(&broken).into_owned();
            let before = discover_all(&home.around(), &[client], &Inputs::new());
            // Nobody knows what is denied of it.
            let server = &before.found[0].server;
            assert_eq!(server.enabled, is_empty, "{client} {shown}");
            assert_eq!(server.denied.is_none(), is_empty, "{client} {shown}");
            for problem in before.problems() {
                assert!(!problem.to_string().contains("own client"), "{problem}");
            }
            for own in ["", "[servers.gh]\ncommand = 'x'\n"] {
                let import = plan(&home, &home.around(), own, true);
                assert!(!leaves(&import), "{client} {shown}");
                let text = own_text(&import, own);
                assert_eq!(text.contains("[servers."), !own.is_empty(), "{text}");
                let told = import.left.join("\n");
                assert!(told.contains("may deny it"), "{client} {shown}: {told}");
            }
            // Once it can be read, it counts.
            home.write(rules, format!("{{{denied}"));
            let import = plan(&home, &home.around(), "", true);
            assert!(leaves(&import) && import.left.is_empty(), "{client}");
            let text = own_text(&import, "");
            assert!(text.contains("exclude_tools = [\"b\"]"), "{client} {text}");
        }
    }
}

#[test]
fn a_server_that_dormouse_would_not_show_stays() {
    let plain = r#"{"command": "x"}"#;
    let table = "[servers.gh]\ncommand = 'x'\n";
    for (server, own, why) in [
        (plain, "enabled = false\n", "is switched off"),
        (
            plain,
            "clients.windsurf.enabled = false\n",
            "is off for windsurf",
        ),
        (plain, "include_tools = []\n", "shows no tools to windsurf"),
        (
            plain,
            "exclude_tools = ['*']\n",
            "shows no tools to windsurf",
        ),
        (
            plain,
            "clients.windsurf.include_tools = []\n",
            "shows no tools to windsurf",
        ),
        (plain, "clients.cursor.enabled = false\n", ""),
        (plain, "include_tools = ['a']\n", ""),
        // The client has nothing of it now, either.
        (
            r#"{"command": "x", "disabled": true}"#,
            "enabled = false\n",
            "",
        ),
    ] {
        for own in [format!("{table}{own}"), format!("[servers.gh]\n{own}")] {
            let home = Home::empty();
            home.write(WINDSURF, servers(server));
            let import = plan(&home, &home.around(), &own, true);
            assert_eq!(leaves(&import), why.is_empty(), "{server} {own}");
            let told = import.left.join("\n");
            assert_eq!(told.contains("\nhint: "), !why.is_empty(), "{own} {told}");
            assert!(told.contains(why), "{own} {told}");
        }
    }
}

#[test]
fn what_changes_after_it_was_read_is_not_counted_on() {
    let claude = servers(r#"{"command": "x"}"#);
    let other = servers(r#"{"command": "y"}"#);
    let own = "[servers.gh]\ncommand = 'x'\nfrom = ['claude-code']\n";
    for (file, text, is_seen) in [
        (CLAUDE, other.as_str(), true),
        (
            SETTINGS,
            r#"{"permissions": {"deny": ["mcp__gh__b"]}}"#,
            true,
        ),
        (SETTINGS, "", true),
        ("home/dormouse.toml", "", true),
        ("home/.gemini/settings.json", "{}", false),
    ] {
        let home = Home::empty();
        home.write(CLAUDE, &claude);
        home.write(SETTINGS, "{}");
        let import = plan(&home, &home.around(), own, true);
        assert!(leaves(&import));
        import.check_unchanged().unwrap();
        home.write(file, text);
        quiet(&home.path(file));
        let checked = import.check_unchanged().map_err(|error| error.to_string());
        assert_eq!(checked.is_err(), is_seen, "{file} {checked:?}");
        if let Err(told) = checked {
            assert!(told.contains("\nhint: try again"), "{told}");
        }
    }
}

#[test]
fn a_configuration_of_which_a_part_was_read_is_not_counted_on() {
    let home = Home::empty();
    home.write(CURSOR, servers(r#"{"command": "x"}"#));
    let path = home.path("home").join("dormouse.toml");
    let whole = "[servers.a]\ncommand = 'a'\n[servers.gh]\ncommand = 'own'\n";
    fs::write(&path, whole).unwrap();
    quiet(&path);
    let config = parsed(&home, "[servers.a]\ncommand = 'a'\n");
    let discovery = discover_all(&home.around(), &[Client::Cursor], &Inputs::new());
    let wanted = ImportRequest {
        clients: &[Client::Cursor],
        replace: None,
        longest_call: std::time::Duration::ZERO,
        force: false,
    };
    let told = import(&discovery, &home.around(), &config, &path, wanted);
    let told = told.unwrap_err().to_string();
    assert!(told.contains("\nhint: try again"), "{told}");
}
