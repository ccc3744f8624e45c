//! Dormouse in the files of clients.

use std::fs;

use dormouse_tests::Home;

use crate::{files, home, read, run, said, write};

#[test]
fn dormouse_takes_the_place_of_servers() {
    let home = home();
    let before = files(&home);
    let dry = run(&home, &["import", "--replace", "--dry-run"]);
    assert_eq!(files(&home), before);
    assert!(dry.contains("-    \"github\": {"), "{dry}");
    assert!(!dry.contains("secret"), "{dry}");

    let told = run(&home, &["import", "--replace", "--no-sync"]);
    assert!(!told.contains("secret"), "{told}");
    assert!(told.contains("`gh` stays in"), "{told}");
    let words = home.launch();
    let (program, config) = (&words[0], &words[2]);
    let entry = |client: &str, indent: &str, newline: &str| {
        [
            "\"dormouse\": {".to_owned(),
            "+\"type\": \"stdio\",".to_owned(),
            format!("+\"command\": \"{program}\","),
            format!(
                "+\"args\": [\"--config\", \"{config}\", \"serve\", \"--client\", \"{client}\"]"
            ),
            "}".to_owned(),
        ]
        .map(|line| format!("{indent}{indent}{}", line.replace('+', indent)))
        .join(newline)
    };
    assert_eq!(
        read(&home, ".cursor/mcp.json"),
        format!(
            "{{\n  // my servers\n  \"mcpServers\": {{\n    // the other one\n{},\n  }},\n}}\n",
            entry("cursor", "  ", "\n")
        )
    );
    assert_eq!(
        read(&home, "config/Code/User/mcp.json"),
        format!(
            "{{\r\n\t\"servers\": {{\r\n\t\t\"gh\": {{ \"type\": \"stdio\", \"command\": \"npx\", \"env\": {{ \"TOKEN\": \"${{input:tok}}\" }} }},\r\n{}\r\n\t}},\r\n\t\"inputs\": [{{ \"id\": \"tok\", \"type\": \"promptString\", \"description\": \"Token\" }}]\r\n}}",
            entry("vscode", "\t", "\r\n")
        )
    );
    // It passes the variables that it is told to, which are those that servers need.
    let codex = read(&home, ".codex/config.toml");
    let (entry_of_codex, rest) = codex.split_once("env_vars = [").unwrap();
    assert_eq!(
        entry_of_codex,
        format!(
            "model = \"gpt-5\" # mine\n\n[tui]\ntheme = \"x\"\n\n[mcp_servers.dormouse]\ncommand = \"{program}\"\nargs = [\"--config\", \"{config}\", \"serve\", \"--client\", \"codex\"]\n"
        )
    );
    let (variables, rest) = rest.split_once("]\n").unwrap();
    assert_eq!(rest, "tool_timeout_sec = 21660\n");
    for name in ["FOO", "TOK", "FETCH_KEY"] {
        let name = format!("\"{name}\"");
        assert!(variables.contains(&name), "{variables}");
    }
    assert!(!variables.contains("\"HOME\""), "{variables}");
    let goose = read(&home, "config/goose/config.yaml");
    assert!(
        goose.contains("  dormouse:\n    name: dormouse\n"),
        "{goose}"
    );
    assert!(goose.ends_with("    timeout: 21660\n# end\n"), "{goose}");
    assert!(!goose.contains("mcp-server-fetch"), "{goose}");
    let block = read(&home, ".continue/config.yaml");
    assert!(
        block.contains("mcpServers:\n  - name: dormouse\n    type: stdio\n"),
        "{block}"
    );
    assert!(!block.contains("mcp-sql"), "{block}");
    // Only what is still in a client's file is loaded by it.
    let config = fs::read_to_string(home.config()).unwrap();
    let from: Vec<_> = config
        .lines()
        .filter(|line| line.starts_with("from"))
        .collect();
    assert_eq!(from, ["from = [\"vscode\"]"]);

    // What is edited afterwards is not lost by undoing, and its servers come back.
    let continues = home.path().join(".continue/config.yaml");
    fs::write(&continues, format!("{block}# more\n")).unwrap();
    let told = run(&home, &["import", "--undo"]);
    let stays = "config.yaml had; what has been written into it since stays";
    assert!(told.contains(stays), "{told}");
    let merged = read(&home, ".continue/config.yaml");
    assert!(merged.ends_with("# more\n"), "{merged}");
    assert!(merged.contains("mcp-sql"), "{merged}");
    assert!(!merged.contains("name: dormouse"), "{merged}");
    let mut expected = before.clone();
    expected.insert(continues.clone(), merged);
    assert_eq!(files(&home), expected);

    // Where it cannot be edited, Dormouse keeps its servers, until it is put back by force.
    run(&home, &["import", "--replace", "--no-sync"]);
    let config = fs::read_to_string(home.config()).unwrap();
    let broken = format!("{}: [\n", read(&home, ".continue/config.yaml"));
    fs::write(&continues, &broken).unwrap();
    let output = home.run(&["import", "--undo"]).unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told = said(&output);
    assert!(told.contains("has been edited since"), "{told}");
    assert!(told.contains("dormouse.toml` stays"), "{told}");
    let mut left = expected.clone();
    left.insert(continues, broken);
    left.insert(home.config(), config);
    assert_eq!(files(&home), left);
    run(&home, &["import", "--undo", "--force"]);
    assert_eq!(files(&home), expected);
}

#[test]
fn one_client_at_a_time() {
    let home = home();
    run(&home, &["import", "codex"]);
    let config = fs::read_to_string(home.config()).unwrap();
    // VS Code loads it, too, and is not to be shown it twice.
    assert!(config.contains("[servers.time]\ncommand = \"uvx\"\nargs = [\"mcp-server-time\"]\nfrom = [\"vscode\", \"codex\"]\n"), "{config}");
    assert!(
        config.contains("[servers.github]\ncommand = \"other\"\n"),
        "{config}"
    );
    assert!(!config.contains("servers.gh]"), "{config}");
    // The name is taken by another server now, unless that one is to go.
    run(&home, &["import", "cursor"]);
    let config = fs::read_to_string(home.config()).unwrap();
    assert!(
        config.contains("[servers.github-cursor]\ncommand = \"npx\"\n"),
        "{config}"
    );
    run(&home, &["import", "--undo"]);
    run(&home, &["import", "cursor", "--force"]);
    let config = fs::read_to_string(home.config()).unwrap();
    assert!(
        config.contains("[servers.github]\ncommand = \"npx\"\n"),
        "{config}"
    );
    assert!(!config.contains("github-cursor"), "{config}");
    let output = home.run(&["import", "clippy"]).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("`claude-code`"), "{}", said(&output));
}

#[test]
fn dormouse_is_installed_into_every_client() {
    let home = Home::new().unwrap();
    // Each in its own words, in a file that was not there.
    for (client, file, part) in [
        ("claude-code", ".claude.json", r#""type": "stdio","#),
        (
            "claude-desktop",
            "config/Claude/claude_desktop_config.json",
            r#""mcpServers": {"#,
        ),
        ("copilot", ".copilot/mcp-config.json", r#""tools": ["*"]"#),
        ("vscode", "config/Code/User/mcp.json", r#""servers": {"#),
        ("cursor", ".cursor/mcp.json", r#""mcpServers": {"#),
        (
            "opencode",
            "config/opencode/opencode.json",
            r#""enabled": true"#,
        ),
        ("codex", ".codex/config.toml", "[mcp_servers.dormouse]"),
        ("gemini", ".gemini/settings.json", r#""mcpServers": {"#),
        ("zed", "config/zed/settings.json", r#""context_servers": {"#),
        (
            "windsurf",
            ".codeium/windsurf/mcp_config.json",
            r#""mcpServers": {"#,
        ),
        (
            "continue",
            ".continue/config.yaml",
            "schema: v1\nmcpServers:\n  - name: dormouse\n",
        ),
        ("amp", "config/amp/settings.json", r#""amp.mcpServers": {"#),
        ("forge", "forge/.mcp.json", r#""mcpServers": {"#),
        (
            "chatmd",
            "config/Code/User/settings.json",
            r#""chatmd.mcpServers": {"#,
        ),
        (
            "goose",
            "config/goose/config.yaml",
            "extensions:\n  dormouse:\n",
        ),
    ] {
        let before = files(&home);
        let dry = run(&home, &["install", client, "--dry-run"]);
        assert!(dry.contains("+++ "), "{dry}");
        assert_eq!(files(&home), before, "{client}");
        run(&home, &["install", client, "--no-sync"]);
        let text = read(&home, file);
        assert!(text.contains(part), "{client}: {text}");
        assert!(
            text.contains("serve") && text.contains(client),
            "{client}: {text}"
        );
        let again = run(&home, &["install", client]);
        assert!(again.contains("already"), "{client}: {again}");
        assert_eq!(read(&home, file), text);
        run(&home, &["import", "--undo"]);
        assert_eq!(files(&home), before, "{client}");
        run(&home, &["install", client, "--no-sync"]);
    }
    // All of it is Dormouse, which is not to front itself.
    assert!(run(&home, &["import"]).contains("no servers that could be taken over"));
}

#[test]
fn a_client_is_given_back_what_it_had_when_dormouse_leaves_it() {
    let home = home();
    let before = files(&home);
    let nothing = run(&home, &["uninstall", "cursor"]);
    assert!(nothing.contains("does not load Dormouse"), "{nothing}");
    // One that has no file yet, one that has been installed to, and one whose servers were
    // replaced afterwards, which is what became of them over two changes.
    for client in ["zed", "goose", "cursor"] {
        run(&home, &["install", client, "--no-sync"]);
    }
    run(
        &home,
        &["import", "cursor", "codex", "--replace", "--no-sync"],
    );
    let installed = files(&home);
    assert!(!read(&home, ".cursor/mcp.json").contains("server-github"));
    // Nothing is changed where somebody only looks.
    let dry = run(&home, &["uninstall", "cursor", "--dry-run"]);
    assert!(
        dry.contains("+++ ") && dry.contains("`github`, `remote`"),
        "{dry}"
    );
    assert!(!dry.contains("ghp_secret"), "{dry}");
    assert_eq!(files(&home), installed);
    // Nothing is asked, as `install` and `import --replace` ask nothing.
    for client in ["cursor", "zed", "goose"] {
        run(&home, &["uninstall", client]);
        let again = run(&home, &["uninstall", client]);
        assert!(
            again.contains("does not load Dormouse"),
            "{client}: {again}"
        );
    }
    let now = files(&home);
    for file in [".cursor/mcp.json", "config/goose/config.yaml"] {
        let path = home.path().join(file);
        assert_eq!(now[&path], before[&path], "{file}");
    }
    assert!(!home.path().join("config/zed/settings.json").exists());
    // What its user has written since stays, and the servers come back beside it.
    let codex = home.path().join(".codex/config.toml");
    let edited = format!(
        "{}\n[mine]\nx = 1 # mine\n",
        read(&home, ".codex/config.toml")
    );
    let edited = edited.replace("gpt-5", "gpt-6");
    write(&codex, &edited);
    let said = run(&home, &["uninstall", "codex"]);
    assert!(
        said.contains("`github`") && !said.contains("sk-secret"),
        "{said}"
    );
    let back = read(&home, ".codex/config.toml");
    for part in [
        "gpt-6",
        "x = 1 # mine",
        "[mcp_servers.time]",
        "[mcp_servers.github]",
        "sk-secret",
    ] {
        assert!(back.contains(part), "{part}: {back}");
    }
    assert!(!back.contains("dormouse"), "{back}");
    // It is undone like any other change, and may come and go again.
    run(&home, &["import", "--undo"]);
    assert_eq!(read(&home, ".codex/config.toml"), edited);
    run(&home, &["uninstall", "codex"]);
    assert_eq!(read(&home, ".codex/config.toml"), back);
    run(&home, &["install", "codex", "--no-sync"]);
    run(&home, &["uninstall", "codex"]);
    assert_eq!(read(&home, ".codex/config.toml"), back);
}

#[test]
fn whoever_has_servers_twice_is_told() {
    let home = home();
    let http = ["install", "cursor", "--http", "127.0.0.1:8137", "--no-sync"];
    let told = run(&home, &http);
    assert!(
        told.contains("cursor loads `github`, `remote` itself"),
        "{told}"
    );
    assert!(
        told.contains("`dormouse import cursor --replace`"),
        "{told}"
    );
    let codex = home.path().join(".codex/config.toml");
    let plain = "[mcp_servers.dormouse]\ncommand = \"dormouse\"\nargs = [\"serve\"]\n";
    fs::write(&codex, plain).unwrap();
    let doctor = said(&home.run(&["doctor"]).unwrap());
    assert!(doctor.contains("without `--client codex`"), "{doctor}");
    run(&home, &["install", "codex", "--no-sync"]);
    let doctor = said(&home.run(&["doctor"]).unwrap());
    assert!(!doctor.contains("without `--client codex`"), "{doctor}");
}
