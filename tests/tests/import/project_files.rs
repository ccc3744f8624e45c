//! Files that clients take for the user's, and that are in the folder of a project.

use std::fs;

use dormouse_tests::Home;

#[cfg(unix)]
use crate::read;
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

/// Of a server whose file is not read, nothing is known: neither that it is gone, nor what it needs.
#[cfg(unix)]
#[test]
fn what_is_not_read_in_a_projects_folder_stays_installed() {
    const SERVERS: &str = r#"{"mcpServers": {
        "mine": {"command": "my-program"},
        "keyed": {"command": "keyed-program", "env": {"KEY": "${env:KEY_OF_MINE}"}}
    }}"#;
    let home = Home::new().unwrap();
    let project = home.path().join("dotfiles");
    fs::create_dir_all(project.join(".git")).unwrap();
    write(&project.join("cursor.json"), SERVERS);
    fs::create_dir(home.path().join(".cursor")).unwrap();
    let link = home.path().join(".cursor/mcp.json");
    std::os::unix::fs::symlink(project.join("cursor.json"), link).unwrap();
    write(&home.config(), "[servers.other]\ncommand = [\"other\"]\n");
    let install = |folder: &std::path::Path, words: &[&str]| {
        let mut command = home.command(&[&["install", "--no-sync"], words].concat());
        command.env("KEY_OF_MINE", "k");
        command.stdin(std::process::Stdio::null());
        let output = command.current_dir(folder).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", said(&output));
        said(&output)
    };
    let entries = || read(&home, ".codeium/windsurf/mcp_config.json");
    let codex = || read(&home, ".codex/config.toml");
    install(home.path(), &["windsurf", "--each"]);
    install(home.path(), &["codex"]);
    let before = (entries(), codex());
    assert!(before.0.contains("--server=mine"), "{}", before.0);
    assert!(before.1.contains("\"KEY_OF_MINE\""), "{}", before.1);

    let told = install(&project, &["windsurf", "--each"]);
    assert!(
        told.contains("is a file of the project that you are in"),
        "{told}"
    );
    assert!(
        told.contains("`mine`") && told.contains("would go, and stays"),
        "{told}"
    );
    let told = install(&project, &["codex"]);
    assert!(
        told.contains("is a file of the project that you are in"),
        "{told}"
    );
    assert_eq!((entries(), codex()), before);

    // What is gone from a file that is read goes.
    write(&project.join("cursor.json"), "{}");
    install(home.path(), &["windsurf", "--each"]);
    assert!(!entries().contains("--server=mine"), "{}", entries());
    assert!(entries().contains("--server=other"), "{}", entries());
}
