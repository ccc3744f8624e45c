//! Files of the user's own that are in the folder of the project.

use super::*;

/// Servers as a client's file has them, and the file that its variable leads to.
const FILES: [(Client, &str, &str, &str); 6] = [
    (
        Client::Codex,
        "CODEX_HOME",
        "config.toml",
        "[mcp_servers.a]\ncommand = \"x\"\n",
    ),
    (
        Client::ClaudeCode,
        "CLAUDE_CONFIG_DIR",
        ".claude.json",
        JSON,
    ),
    (Client::Copilot, "COPILOT_HOME", "mcp-config.json", JSON),
    (
        Client::OpenCode,
        "OPENCODE_CONFIG",
        "",
        r#"{"mcp": {"a": {"type": "local", "command": ["x"]}}}"#,
    ),
    (
        Client::Amp,
        "AMP_SETTINGS_FILE",
        "",
        r#"{"amp.mcpServers": {"a": {"command": "x"}}}"#,
    ),
    (
        Client::Continue,
        "CONTINUE_GLOBAL_DIR",
        "config.yaml",
        "mcpServers:\n  - name: a\n    command: x\n",
    ),
];
const JSON: &str = r#"{"mcpServers": {"a": {"command": "x"}}}"#;

/// Returns what is found of a client whose variable has a value, where the project is trusted and
/// where it is not.
fn found(home: &Home, client: Client, variable: &str, value: &str) -> [Discovery; 2] {
    let mut around = home.around();
    around.env.insert(variable.to_owned(), value.to_owned());
    [true, false].map(|is_trusted| {
        let policy = FillPolicy {
            inputs: &Inputs::new(),
            may_fill: &|_, _| is_trusted,
            may_follow: &|_| is_trusted,
            max_bytes: MAX_FILLED_IN,
        };
        discover(&around, &[client], &policy)
    })
}

#[test]
fn a_users_file_in_the_project_is_the_projects() {
    for (client, variable, file, text) in FILES {
        let home = Home::empty();
        let mut folders = vec![("project/of-client", true), ("elsewhere", false)];
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("project", home.path("link")).unwrap();
            folders.push(("link/of-client", true));
        }
        for (folder, is_projects) in folders {
            let folder = home.path("").join(folder);
            let path = if file.is_empty() {
                "settings.json"
            } else {
                file
            };
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(path), text).unwrap();
            let value = if file.is_empty() {
                folder.join(path)
            } else {
                folder.clone()
            };
            let [trusted, untrusted] = found(&home, client, variable, value.to_str().unwrap());
            let [server] = &trusted.found[..] else {
                panic!("{client} {folder:?}: {:?}", trusted.found);
            };
            assert_eq!(
                server.server.is_of_project(),
                is_projects,
                "{client} {folder:?}"
            );
            let is_used = untrusted.found.len() == 1;
            assert_eq!(is_used, !is_projects, "{client} {folder:?}");
            let content = trusted.content_of(&home.path("project"));
            assert_eq!(content.is_some(), is_projects, "{client} {folder:?}");
        }
    }
}

#[test]
fn a_file_in_the_project_is_not_read_where_only_the_users_servers_are_looked_for() {
    for (client, variable, file, text) in FILES {
        let home = Home::empty();
        for (folder, is_projects) in [("project/of-client", true), ("elsewhere", false)] {
            let folder = home.path("").join(folder);
            let path = folder.join(if file.is_empty() {
                "settings.json"
            } else {
                file
            });
            fs::create_dir_all(&folder).unwrap();
            fs::write(&path, text).unwrap();
            let value = if file.is_empty() { &path } else { &folder };
            let mut around = home.around();
            let value = value.to_str().unwrap().to_owned();
            around.env.insert(variable.to_owned(), value);
            let policy = FillPolicy {
                inputs: &Inputs::new(),
                may_fill: &|_, _| true,
                may_follow: &|_| true,
                max_bytes: MAX_FILLED_IN,
            };
            let discovery = discover(&around.of_users_servers(), &[client], &policy);
            let is_found = discovery.found.len() == 1;
            assert_eq!(is_found, !is_projects, "{client} {folder:?}");
            let is_read = discovery.hashes.contains_key(&path);
            assert_eq!(is_read, !is_projects, "{client} {folder:?}");
            let is_left_out = discovery.left_out.contains(&(client, path));
            assert_eq!(is_left_out, is_projects, "{client} {folder:?}");
            assert_eq!(discovery.projects().count(), 0, "{client} {folder:?}");
        }
    }
}

#[test]
fn a_relative_path_of_a_variable_leads_nowhere() {
    for (client, variable, file, text) in FILES {
        let home = Home::empty();
        home.write(&format!("project/of-client/{file}x"), text);
        for value in [
            "of-client",
            "./of-client",
            "of-client/x",
            "project/of-client",
        ] {
            let [trusted, _] = found(&home, client, variable, value);
            assert_eq!(trusted.found, [], "{client} {value}");
            let mut sources = trusted.sources.iter();
            assert!(sources.all(|source| source.file.is_absolute()), "{client}");
        }
    }
}
