//! Every rule by which something is filled in, client by client.

use super::*;

/// What a value becomes in a client's file; `needs` where the server cannot be
/// started with it.
fn filled(client: Client, header: bool, value: &str) -> String {
    let home = Home::empty();
    home.write("home/secret.txt", "  of a file\n");
    home.write("home/.continue/.env", "OF_FILE=from file\n");
    let mut around = home.around();
    for (name, value) in [
        ("SET", "value"),
        ("EMPTY", ""),
        ("NESTED", "${SET}$SET{env:SET}"),
    ] {
        around.env.insert(name.to_owned(), value.to_owned());
    }
    let place = places::files(client, &around)
        .into_iter()
        .find(|place| place.scope == Scope::User)
        .unwrap();
    let value = serde_json::to_string(value).unwrap();
    let (command, env, url, headers) = match client {
        Client::OpenCode => ("command", "environment", "url", "headers"),
        Client::Goose => ("cmd", "envs", "uri", "headers"),
        Client::Codex => ("command", "env", "url", "http_headers"),
        _ => ("command", "env", "url", "headers"),
    };
    // JSON is YAML as well.
    let entry = if header {
        format!(r#""{url}": "https://a.example", "{headers}": {{"X": {value}}}"#)
    } else {
        format!(r#""{command}": "c", "{env}": {{"X": {value}}}"#)
    };
    let mut text = if place.shape.list {
        format!(r#"[{{"name": "s", {entry}}}]"#)
    } else {
        format!(r#"{{"s": {{{entry}}}}}"#)
    };
    for key in place.shape.keys.iter().rev() {
        text = format!(r#"{{"{key}": {text}}}"#);
    }
    if place.shape.syntax == places::Syntax::Toml {
        let entry = entry.replace(": ", " = ");
        text = format!("[mcp_servers]\ns = {{ {entry} }}\n");
    }
    fs::create_dir_all(place.file.parent().unwrap()).unwrap();
    fs::write(&place.file, text).unwrap();
    let discovery = discover_all(&around, &[client], &Inputs::new());
    let problems: Vec<_> = discovery.problems().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "{problems:?}");
    let bridge = discovery.found[0].server.bridge().unwrap();
    if !bridge.needs.is_empty() {
        return "needs".to_owned();
    }
    let value = match &bridge.launch {
        Launch::Stdio(stdio) => stdio.env["X"].expose(),
        Launch::Http(http) => http.headers["X"].expose(),
    };
    home.shown(value)
}

#[test]
fn what_is_filled_in() {
    use Client::*;
    let nothing = [ClaudeDesktop, Codex, Zed, ChatMd];
    for client in nothing {
        for header in [false, true] {
            for value in ["$SET", "${SET}", "${env:SET}", "{env:SET}", "{{.env.SET}}"] {
                assert_eq!(filled(client, header, value), value, "{client}");
            }
        }
    }
    for (client, value, becomes) in [
        (ClaudeCode, "a${SET}b", "avalueb"),
        (ClaudeCode, "${SET}${SET}", "valuevalue"),
        (ClaudeCode, "${UNSET}", "needs"),
        (ClaudeCode, "${UNSET:-d}", "d"),
        (ClaudeCode, "${UNSET:-}", ""),
        (ClaudeCode, "${UNSET:-https://a:b/c}", "https://a:b/c"),
        (ClaudeCode, "${SET:-d}", "value"),
        (ClaudeCode, "${EMPTY:-d}", ""),
        (ClaudeCode, "$SET", "$SET"),
        (ClaudeCode, "${SET", "${SET"),
        (ClaudeCode, "${}", "${}"),
        (ClaudeCode, "${a b}", "${a b}"),
        (ClaudeCode, "${NESTED}", "${SET}$SET{env:SET}"),
        (ClaudeCode, "ä${SET}ö", "ävalueö"),
        (Copilot, "$SET/${SET}", "value/value"),
        (Copilot, "${UNSET:-d}", "d"),
        (Copilot, "${UNSET}", "needs"),
        (Copilot, "pa$$word$", "pa$$word$"),
        (VsCode, "${env:SET}", "value"),
        (VsCode, "${env:UNSET}", ""),
        (VsCode, "${SET}", "${SET}"),
        (VsCode, "${input:x}", "needs"),
        (VsCode, "${command:x}", "needs"),
        (VsCode, "${userHome}", "/home"),
        (VsCode, "${workspaceFolder}", "/project"),
        (
            VsCode,
            "${workspaceFolderBasename}${pathSeparator}",
            "project/",
        ),
        (Cursor, "${env:SET}", "value"),
        (Cursor, "${env:UNSET}", "needs"),
        (Cursor, "${userHome}${/}x", "/home/x"),
        (Cursor, "${workspaceFolder}", "/project"),
        (Cursor, "${workspaceFolderBasename}", "project"),
        (OpenCode, "{env:SET}", "value"),
        (OpenCode, "{env:UNSET}", ""),
        (OpenCode, "{file:~/secret.txt}", "of a file"),
        (OpenCode, "{file:../../secret.txt}", "of a file"),
        (OpenCode, "{file:gone}", "needs"),
        (OpenCode, "{file:/}", "needs"),
        (OpenCode, "{file:/dev/zero}", "needs"),
        (OpenCode, "${SET}", "${SET}"),
        (Gemini, "$SET/${SET}", "value/value"),
        (Gemini, "$UNSET/${UNSET}", "/"),
        (Windsurf, "${env:SET}", "value"),
        (Windsurf, "${env:UNSET}", "needs"),
        (Windsurf, "${file:~/secret.txt}", "of a file"),
        (Windsurf, "${file:/gone}", "needs"),
        (Continue, "${{ secrets.SET }}", "value"),
        (Continue, "${{secrets.SET}}", "value"),
        (Continue, "${{ secrets.OF_FILE }}", "from file"),
        (Continue, "${{ secrets.UNSET }}", "needs"),
        (Continue, "${{ inputs.x }}", "needs"),
        (Amp, "$SET/${SET}", "value/value"),
        (Amp, "${UNSET}", "needs"),
        (Amp, "$UNSET", "$UNSET"),
    ] {
        for header in [false, true] {
            assert_eq!(filled(client, header, value), becomes, "{client} {value}");
        }
    }
}

#[test]
fn what_is_filled_into_headers_alone() {
    use Client::*;
    for (client, value, becomes) in [
        (Forge, "{{.env.SET}}", "value"),
        (Forge, "{{ .env.SET }}", "value"),
        (Forge, "{{env.SET}}", "value"),
        (Forge, "{{.env.UNSET}}", "needs"),
        (Forge, "{{other}}", "{{other}}"),
        (Goose, "${SET}", "value"),
        (Goose, "$SET", "value"),
        (Goose, "${UNSET}", "needs"),
        (Goose, "$UNSET", "$UNSET"),
    ] {
        assert_eq!(filled(client, true, value), becomes, "{client} {value}");
        assert_eq!(filled(client, false, value), value, "{client} {value}");
    }
}
