//! Entries that lead to Dormouse itself: of the user's, and of a project's.

use super::*;

/// The programs of entries, whether the words alone say that each is Dormouse, and whether it is
/// one now.
const PROGRAMS: [(&str, bool, bool); 4] = [
    ("./tool", false, true),
    ("${D}", false, true),
    ("dormouse", true, true),
    ("other", false, false),
];

fn discovery(home: &Home, file: &str) -> Discovery {
    let mut servers = serde_json::Map::new();
    for (program, ..) in PROGRAMS {
        let entry = serde_json::json!({"command": program, "args": ["serve"]});
        servers.insert(format!("server {program}"), entry);
    }
    let text = serde_json::json!({ "mcpServers": servers });
    home.write(file, text.to_string());
    let mut around = home.around();
    around.env.insert("D".to_owned(), "dormouse".to_owned());
    discover_all(&around, &[Client::ClaudeCode], &Inputs::new())
}

/// What is shown as not used stays so when another program takes the place of this one.
#[cfg(unix)]
#[test]
fn a_projects_server_is_dormouse_by_its_words_alone_and_is_not_started_while_it_is() {
    let home = Home::empty();
    let tool = home.path("project/tool");
    std::os::unix::fs::symlink(std::env::current_exe().unwrap(), tool).unwrap();
    let discovery = discovery(&home, "project/.mcp.json");
    for (program, by_words, is_itself) in PROGRAMS {
        let name = format!("server {program}");
        let skipped = |one: &Skipped| one.written_name == name;
        assert_eq!(discovery.skipped.iter().any(skipped), by_words, "{name}");
        let mut found = discovery.found.iter();
        let found = found.find(|found| found.written_name == name);
        assert_eq!(found.is_none(), by_words, "{name}");
        let needs = found.map(|found| &found.server.bridge().unwrap().needs);
        let is_told = needs.is_some_and(|needs| {
            needs
                .iter()
                .any(|need| need.text.contains("Dormouse itself"))
        });
        let is_empty = needs.is_some_and(Vec::is_empty);
        assert_eq!(
            (is_told, is_empty),
            (is_itself && !by_words, !is_itself),
            "{name}"
        );
    }
}

#[test]
fn a_users_server_is_dormouse_by_its_file_and_by_what_is_filled_in() {
    let home = Home::empty();
    let discovery = discovery(&home, "home/.claude.json");
    let mut names: Vec<_> = discovery
        .skipped
        .iter()
        .map(|one| &*one.written_name)
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["server ${D}", "server dormouse"]);
}
