//! Folders of projects, and what their content is.

use super::*;

#[test]
fn a_project_is_the_nearest_marked_folder_below_home() {
    let home = Home::empty();
    let folder = home.path("home/work/a/src/deep");
    fs::create_dir_all(&folder).unwrap();
    let user = home.path("home");
    assert_eq!(project_of(&folder, &user), None);
    fs::create_dir_all(home.path("home/.git")).unwrap();
    home.write("home/.mcp.json", "{}");
    assert_eq!(project_of(&folder, &user), None);
    assert_eq!(project_of(&user, &user), None);
    fs::create_dir_all(home.path("home/work/.git")).unwrap();
    assert_eq!(project_of(&folder, &user), Some(home.path("home/work")));
    home.write("home/work/a/.cursor/mcp.json", "{}");
    assert_eq!(project_of(&folder, &user), Some(home.path("home/work/a")));
    // Outside of the home folder, too; but nothing above it.
    home.write("project/.mcp.json", "{}");
    let inside = home.path("project/x");
    assert_eq!(project_of(&inside, &user), Some(home.path("project")));
    home.write(".mcp.json", "{}");
    assert_eq!(project_of(&home.path("home/other"), &user), None);
}

#[cfg(unix)]
#[test]
fn a_home_is_no_project_by_whatever_links_it_is_reached() {
    let home = Home::empty();
    home.write("real/.cursor/mcp.json", "{}");
    home.write("real/work/.mcp.json", "{}");
    for link in ["linked", "other"] {
        std::os::unix::fs::symlink(home.path("real"), home.path(link)).unwrap();
    }
    let links = ["real", "linked", "other"].map(|name| home.path(name));
    for user in &links {
        for folder in &links {
            assert_eq!(project_of(folder, user), None);
            assert_eq!(project_of(&folder.join("deep/er"), user), None);
            let work = folder.join("work");
            assert_eq!(project_of(&work, user), Some(work));
        }
    }
}

#[test]
fn what_marks_a_project_is_what_clients_keep_in_one() {
    let home = Home::empty();
    fs::create_dir_all(home.path("project/.continue/mcpServers")).unwrap();
    home.write("project/.continue/mcpServers/a.yaml", "");
    for client in Client::all() {
        for place in places::files(client, &home.around()) {
            let Ok(file) = place.file.strip_prefix(home.path("project")) else {
                continue;
            };
            let marks = places::PROJECT_MARKS;
            let marked = marks.iter().any(|mark| file.starts_with(mark));
            // Many a folder that is no project has settings of an editor.
            assert!(
                marked || file.ends_with("settings.json"),
                "{}",
                file.display()
            );
        }
    }
}

#[test]
fn a_content_is_of_all_files_of_a_project() {
    let home = Home::of(&["vscode", "claude-code"]);
    let clients: Vec<_> = Client::all().collect();
    let content = || {
        let discovery = discover_all(&home.around(), &clients, &Inputs::new());
        discovery.content_of(&home.path("project")).cloned()
    };
    let first = content().unwrap();
    assert_eq!(content(), Some(first.clone()));
    let mut seen = vec![first];
    for file in [
        ".mcp.json",
        ".vscode/mcp.json",
        // What servers are made of counts like the files that name them.
        ".env",
        ".cursor/mcp.json",
        ".continue/mcpServers/new.yaml",
    ] {
        let path = home.path("project").join(file);
        let mut text = fs::read_to_string(&path).unwrap_or_default();
        text.push_str("\n\n");
        home.write(&format!("project/{file}"), text);
        let now = content().unwrap();
        assert!(!seen.contains(&now), "{file}");
        seen.push(now);
    }
    home.write("home/.claude.json", "{}");
    assert_eq!(content(), seen.last().cloned());
    let elsewhere = Home::of(&["vscode"]);
    let here = Home::of(&["vscode"]);
    let of = |home: &Home| {
        let discovery = discover_all(&home.around(), &clients, &Inputs::new());
        discovery.content_of(&home.path("project")).cloned()
    };
    assert_eq!(of(&elsewhere), of(&here));
    let discovery = discover_all(&home.around(), &clients, &Inputs::new());
    assert_eq!(discovery.content_of(&home.path("home")), None);
}

#[test]
fn servers_of_a_folder_without_a_project() {
    let home = Home::empty();
    let mut around = home.around();
    around.project = None;
    around.folder = Some(home.path("home"));
    let folder = home.path("home");
    home.write(
        "home/.claude.json",
        serde_json::json!({"projects": {folder.to_str().unwrap(): {
            "mcpServers": {"a": {"command": "b"}, "off": {"command": "c"}},
            "disabledMcpServers": ["off"],
        }}})
        .to_string(),
    );
    home.write("home/.claude/settings.json", "{}");
    let discovery = discover_all(&around, &[Client::ClaudeCode], &Inputs::new());
    let found = discovery.found.iter().map(|found| {
        let scope = found.server.origin.scope.clone();
        (scope, found.server.enabled)
    });
    let local = Scope::Local(folder);
    assert_eq!(
        found.collect::<Vec<_>>(),
        [(local.clone(), true), (local, false)]
    );
    assert_eq!(discovery.projects().count(), 0);
}

/// Whoever takes a server over is told: their `dormouse.toml` has no switch for single folders.
#[test]
fn switches_of_claude_code_for_single_folders_are_told() {
    let home = Home::empty();
    home.write(
        "home/.claude.json",
        serde_json::json!({
            "mcpServers": {"hub": {"command": "hub"}, "other": {"command": "other"}},
            "projects": {
                "/a": {"disabledMcpServers": ["hub", "hub", 7]},
                "/b": {"disabledMcpServers": ["hub", "gone"]},
                "/c": {"disabledMcpServers": {"other": true}},
            },
        })
        .to_string(),
    );
    let discovery = discover_all(&home.around(), &[Client::ClaudeCode], &Inputs::new());
    let notes = |name: &str| {
        let mut found = discovery.found.iter();
        let found = found.find(|found| found.written_name == name).unwrap();
        assert!(found.server.enabled, "{found:?}");
        found.own.notes.clone()
    };
    let expected = "Claude Code has it switched off in 2 folder(s), by `disabledMcpServers`; \
                    here it is on in all";
    assert_eq!(notes("hub"), [expected]);
    assert_eq!(notes("other"), [""; 0]);
}
