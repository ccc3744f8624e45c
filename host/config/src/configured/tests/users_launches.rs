//! Launches of the user's servers in the files of a trusted project.

use super::*;

const CURSOR: &str = ".cursor/mcp.json";
const OF_U: &str = r#"{"mcpServers": {"s": {"command": "u"}}}"#;

/// The user's own table has taken the name of the server, which is neither shown nor free to be
/// shown under another name.
#[test]
fn what_has_lost_its_name_to_the_users_own_table_stays_off() {
    let off = OF_U.replace(r#""u""#, r#""u", "disabled": true"#);
    for table in [
        "[servers.s]\ncommand = 'w'\n",
        "[servers.s]\ncommand = 'w'\nenabled = false\n",
        "[servers.s]\ncommand = 'w'\nenabled = 'wrong'\n",
    ] {
        for of_project in [
            ("project/dormouse.toml", "[servers.z]\ncommand = 'u'\n"),
            (
                "project/.mcp.json",
                r#"{"mcpServers": {"z": {"command": "u"}}}"#,
            ),
        ] {
            let home = tempfile::tempdir().unwrap();
            let all = trusted_in_home(home.path(), &[(CURSOR, &off), of_project], table);
            assert_eq!(names(&all), ["s"], "{table} {of_project:?}");
            assert_ne!(program_of(&all, "s").as_deref(), Some("u"), "{table}");
        }
    }
}

/// Returns the command of a server that can be used.
fn program_of(all: &Configured, name: &str) -> Option<String> {
    let server = &all.servers[name];
    server.bridge().map(|_| program(all, name).0)
}

#[test]
fn a_projects_own_file_with_a_second_name_of_the_users_hides_nothing() {
    let second = OF_U.replace(r#""s""#, r#""z""#);
    let home = tempfile::tempdir().unwrap();
    let files = [
        (".claude.json", OF_U),
        (CURSOR, &second),
        ("project/dormouse.toml", "[servers.z]\ncommand = 'u'\n"),
    ];
    let all = trusted_in_home(home.path(), &files, "");
    assert_eq!(names(&all), ["s"]);
    assert!(all.servers["s"].enabled);
}

#[test]
fn a_projects_entry_under_the_name_of_a_wrong_table_switches_nothing_off() {
    let home = tempfile::tempdir().unwrap();
    let files = [
        (CURSOR, OF_U),
        (
            "project/.mcp.json",
            r#"{"mcpServers": {"wrong": {"command": "u", "args": ["other"]}, "w": {"command": "u"}}}"#,
        ),
        (
            "project/.gemini/settings.json",
            r#"{"mcpServers": {"wrong": {"command": "u"}}}"#,
        ),
    ];
    let own = "[servers.wrong]\ncommand = 'w'\nenabled = 'wrong'\n";
    let all = trusted_in_home(home.path(), &files, own);
    assert_eq!(names(&all), ["s", "wrong"]);
    assert_eq!(program_of(&all, "s").as_deref(), Some("u"));
}

/// Of several entries of a project's for one server, the name of the first counts, but not where the
/// user has an entry of that name which cannot be used.
#[test]
fn no_entry_of_a_project_gets_the_name_of_an_unusable_one() {
    let home = tempfile::tempdir().unwrap();
    let files = [
        (".codex/config.toml", "[mcp_servers.a]\ncommand = 5\n"),
        (
            "project/.mcp.json",
            r#"{"mcpServers": {"a": {"command": "v", "disabled": true}}}"#,
        ),
        (
            "project/.codex/config.toml",
            "[mcp_servers.s]\ncommand = 'v'\n",
        ),
    ];
    let all = trusted_in_home(home.path(), &files, "");
    let of_user = &all.servers["a"];
    assert!(of_user.refused().is_some() && !of_user.is_of_project());
}

/// Of two entries of one client, another client's is the same as the first, which may not be the one
/// that is shown.
#[test]
fn what_another_client_switches_off_is_off_in_whatever_order_entries_are() {
    for [first, second] in [["a", "s"], ["s", "a"]] {
        let claude = format!(
            r#"{{"mcpServers": {{"{first}": {{"command": "u"}}, "{second}": {{"command": "u"}}}}}}"#
        );
        let files = [
            (".claude.json", claude.as_str()),
            (
                CURSOR,
                r#"{"mcpServers": {"x": {"command": "u", "disabled": true}}}"#,
            ),
            (
                "project/.mcp.json",
                r#"{"mcpServers": {"q": {"command": "y"}}}"#,
            ),
        ];
        let home = tempfile::tempdir().unwrap();
        let all = trusted_in_home(home.path(), &files, "");
        assert_eq!(names(&all), ["a", "q"]);
        let is_on = |client| all.servers["a"].for_client(Some(client)).enabled;
        assert!(
            is_on(Client::ClaudeCode) && !is_on(Client::Cursor),
            "{first}"
        );
    }
}
