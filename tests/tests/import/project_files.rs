//! Files that clients take for the user's, and that are in the folder of a project.

use std::fs;

use dormouse_tests::Home;

use crate::{said, write};

/// A variable, or a link, may lead into a repository: who has written that has no server taken over.
#[test]
fn nothing_of_a_project_is_taken_over_whatever_leads_there() {
    const EVIL: &str = "[mcp_servers.evil]\ncommand = \"evil-program\"\n";
    const EVIL_JSON: &str = r#"{"mcpServers": {"evil": {"command": "evil-program"}}}"#;
    const MINE: &str = r#"{"mcpServers": {"mine": {"command": "my-program"}}}"#;
    for client in ["codex", "cursor"] {
        if client == "cursor" && cfg!(windows) {
            continue;
        }
        let home = Home::new().unwrap();
        let project = home.path().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        write(&home.path().join(".codeium/windsurf/mcp_config.json"), MINE);
        write(&project.join("of-codex/config.toml"), EVIL);
        write(&project.join("cursor.json"), EVIL_JSON);
        #[cfg(unix)]
        if client == "cursor" {
            fs::create_dir(home.path().join(".cursor")).unwrap();
            let link = home.path().join(".cursor/mcp.json");
            std::os::unix::fs::symlink(project.join("cursor.json"), link).unwrap();
        }
        let run = |folder: &std::path::Path, words: &[&str]| {
            let mut command = home.command(words);
            if client == "codex" {
                command.env("CODEX_HOME", project.join("of-codex"));
            }
            command.stdin(std::process::Stdio::null());
            let output = command.current_dir(folder).output().unwrap();
            assert!(output.status.success(), "{words:?}: {}", said(&output));
            said(&output)
        };
        for words in [
            &["import", client, "--dry-run"][..],
            &["import", "--dry-run"],
            &["import", client, "--no-sync"],
            &["import", "--no-sync"],
        ] {
            let told = run(&project, words);
            assert!(!told.contains("evil"), "{words:?}: {told}");
            let hint = "is a file of the project that you are in";
            assert!(told.contains(hint), "{words:?}: {told}");
        }
        let config = fs::read_to_string(home.config()).unwrap();
        assert!(config.contains("[servers.mine]"), "{config}");
        assert!(!config.contains("evil"), "{config}");
        let each = run(&project, &["install", client, "--each", "--dry-run"]);
        assert!(each.contains("--server=mine"), "{each}");
        assert!(!each.contains("--server=evil"), "{each}");
        // Elsewhere it is the user's, as the client takes it.
        run(home.path(), &["import", client, "--no-sync"]);
        let config = fs::read_to_string(home.config()).unwrap();
        assert!(config.contains("[servers.evil]"), "{config}");
    }
}
