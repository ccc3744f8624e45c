//! The entry of Dormouse in a client's file.

use std::fs;

use dormouse_tests::Home;

use crate::{files, read, run, said, write};

#[test]
fn a_token_that_leaves_this_machine_is_warned_of() {
    let home = Home::new().unwrap();
    let install = |address: &str| {
        let words = ["install", "cursor", "--http", address, "--dry-run"];
        let output = home.run(&words).unwrap();
        assert!(output.status.success(), "{address}");
        [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap())
    };
    for (address, url, leaves) in [
        ("127.0.0.1:8137", "http://127.0.0.1:8137/mcp", false),
        ("[::1]:8137", "http://[::1]:8137/mcp", false),
        ("0.0.0.0:8137", "http://127.0.0.1:8137/mcp", false),
        ("[::]:8137", "http://[::1]:8137/mcp", false),
        ("192.0.2.1:8137", "http://192.0.2.1:8137/mcp", true),
    ] {
        let [shown, said] = install(address);
        assert!(shown.contains(url), "{address}: {shown}");
        assert_eq!(said.contains("unencrypted"), leaves, "{address}: {said}");
    }
    let words = ["install", "cursor", "--http", "127.0.0.1:8137", "--no-sync"];
    let said = String::from_utf8(home.run(&words).unwrap().stderr).unwrap();
    assert!(said.contains("start that before the client"), "{said}");
}

#[test]
fn dormouse_is_installed_over_http_with_its_token() {
    let home = Home::new().unwrap();
    let address = ["--http", "127.0.0.1:8137"];
    let token_file = home.path().join("cache/data/dormouse/http-token");
    let mut token = String::new();
    for (client, file, header) in [
        (
            "claude-code",
            ".claude.json",
            r#""Authorization": "Bearer "#,
        ),
        (
            "copilot",
            ".copilot/mcp-config.json",
            r#""Authorization": "Bearer "#,
        ),
        (
            "vscode",
            "config/Code/User/mcp.json",
            r#""Authorization": "Bearer "#,
        ),
        ("cursor", ".cursor/mcp.json", r#""Authorization": "Bearer "#),
        (
            "opencode",
            "config/opencode/opencode.json",
            r#""Authorization": "Bearer "#,
        ),
        ("codex", ".codex/config.toml", r#"Authorization = "Bearer "#),
        (
            "gemini",
            ".gemini/settings.json",
            r#""Authorization": "Bearer "#,
        ),
        (
            "zed",
            "config/zed/settings.json",
            r#""Authorization": "Bearer "#,
        ),
        (
            "windsurf",
            ".codeium/windsurf/mcp_config.json",
            r#""Authorization": "Bearer "#,
        ),
        (
            "continue",
            ".continue/config.yaml",
            "Authorization: \"Bearer ",
        ),
        (
            "amp",
            "config/amp/settings.json",
            r#""Authorization": "Bearer "#,
        ),
        ("forge", "forge/.mcp.json", r#""Authorization": "Bearer "#),
        (
            "goose",
            "config/goose/config.yaml",
            "Authorization: \"Bearer ",
        ),
    ] {
        // What was there before started a host of its own.
        run(&home, &["install", client, "--no-sync"]);
        let before = files(&home);
        let dry = [&["install", client, "--dry-run"][..], &address].concat();
        let dry = run(&home, &dry);
        assert!(dry.contains("127.0.0.1:8137"), "{dry}");
        assert_eq!(files(&home), before, "{client}");
        let install = [&["install", client, "--no-sync"][..], &address].concat();
        let told = run(&home, &install);
        if token.is_empty() {
            token = fs::read_to_string(&token_file).unwrap().trim().to_owned();
        }
        let text = read(&home, file);
        assert!(
            text.contains("http://127.0.0.1:8137/mcp"),
            "{client}: {text}"
        );
        assert!(
            text.contains(&format!("{header}{token}")),
            "{client}: {text}"
        );
        assert!(!text.contains("--client"), "{client}: {text}");
        let path = home.path().join(file);
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&fs::metadata(path).unwrap().permissions())
                & 0o777,
            0o600
        );
        let again = run(&home, &[&["install", client][..], &address].concat());
        assert!(again.contains("already"), "{client}: {again}");
        for said in [&dry, &told, &again] {
            assert!(!said.contains(&token), "{said}");
        }
    }
    // All of it is Dormouse, which is not to front itself.
    assert!(run(&home, &["import"]).contains("no servers that could be taken over"));
    for client in ["claude-desktop", "chatmd"] {
        let output = home
            .run(&[&["install", client][..], &address].concat())
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        assert!(
            said(&output).contains("starts programs only"),
            "{}",
            said(&output)
        );
    }
}

#[test]
fn what_a_user_has_added_to_the_entry_stays() {
    let home = Home::new().unwrap();
    run(&home, &["install", "gemini", "--no-sync"]);
    let file = home.path().join(".gemini/settings.json");
    let text = fs::read_to_string(&file).unwrap();
    let mine = text.replace("\"args\"", "\"trust\": true,\n      \"args\"");
    fs::write(
        &file,
        mine.replace(home.launch()[0].as_str(), "/old/dormouse"),
    )
    .unwrap();
    run(&home, &["install", "gemini", "--no-sync"]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"trust\": true"), "{text}");
    assert!(text.contains(home.launch()[0].as_str()), "{text}");
}

#[test]
fn clients_wait_for_dormouse_as_long_as_their_servers_calls_may_take() {
    let home = Home::new().unwrap();
    write(
        &home.path().join(".codex/config.toml"),
        "[mcp_servers.crawl]\ncommand = \"uvx\"\ntool_timeout_sec = 7200\n",
    );
    let patient = r#"{"mcpServers": {"patient": {"command": "npx", "args": ["x"]}}}"#;
    write(&home.path().join(".claude.json"), patient);
    let wait = |file: &str, key: &str| {
        let text = read(&home, file);
        let line = text.lines().find(|line| line.contains(key)).map(str::trim);
        line.map(str::to_owned)
            .unwrap_or_else(|| panic!("no {key} in {text}"))
    };
    // Whoever has Dormouse can call that server, too, each in its own unit.
    run(&home, &["install", "gemini", "--no-sync"]);
    assert!(wait(".gemini/settings.json", "\"timeout\"").contains("7260000"));
    run(&home, &["import", "--replace", "--no-sync"]);
    assert_eq!(
        wait(".codex/config.toml", "tool_timeout_sec"),
        "tool_timeout_sec = 7260"
    );
    let config = fs::read_to_string(home.config()).unwrap();
    assert!(
        config.contains("[servers.crawl.limits]\ntimeout = \"7200s\"\n"),
        "{config}"
    );
    // Claude Code waits for half an hour where nobody has said for how long.
    assert!(
        config.contains("[servers.patient.limits]\ntimeout = \"1800s\"\n"),
        "{config}"
    );
    // What its user says stays.
    let file = home.path().join(".codex/config.toml");
    let text = fs::read_to_string(&file).unwrap().replace("7260", "30");
    fs::write(&file, text).unwrap();
    run(&home, &["install", "codex", "--no-sync"]);
    assert_eq!(
        wait(".codex/config.toml", "tool_timeout_sec"),
        "tool_timeout_sec = 30"
    );
}
