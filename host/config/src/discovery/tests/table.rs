//! Every rule by which something is filled in, client by client.

use super::*;

/// Writes a server with a value in it into a client's file.
fn write_server(client: Client, around: &Surroundings, header: bool, value: &str) {
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
    write_entry(client, around, &entry);
}

/// Writes a server with these members into a client's file.
fn write_entry(client: Client, around: &Surroundings, entry: &str) {
    let place = places::files(client, around)
        .into_iter()
        .find(|place| place.scope == Scope::User)
        .unwrap();
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
}

/// Returns what a value becomes in a client's file; `needs` where the server cannot be started with
/// it.
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
    write_server(client, &around, header, value);
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

/// Lists what of the user's a launch names, with a home in which all of it is there, or none.
fn named(client: Client, is_there: bool, write: &dyn Fn(&Surroundings)) -> Vec<String> {
    let home = Home::empty();
    let mut around = home.around();
    let mut inputs = Inputs::new();
    if is_there {
        home.write("home/.continue/.env", "THE_NAME=of a file\n");
        home.write("home/a.file", "A=1\n");
        around.env.insert("THE_NAME".to_owned(), "value".to_owned());
        let answer = crate::Input::Value(dormouse_launch::Secret::new("answer"));
        inputs.insert("THE_NAME".to_owned(), answer);
    } else {
        around.env.remove("THE_NAME");
    }
    write(&around);
    let discovery = discover_all(&around, &[client], &inputs);
    let bridge = discovery.found[0].server.bridge().unwrap();
    let named = bridge.filled_in.iter();
    named
        .map(|filled| home.shown(&format!("{:?} in {}", filled.source, filled.place)))
        .collect()
}

/// Trust is given to what is named, and what is named may come to be there later.
#[test]
fn what_is_filled_in_is_noted_whether_it_is_there_or_not() {
    use crate::discovery::filling::expansion::ExpansionForm;
    let mut seen = 0;
    for client in Client::all() {
        let expansion = formats::dialect(client).expansion;
        for form in expansion.forms {
            let texts = match *form {
                ExpansionForm::Variable {
                    open,
                    close,
                    default,
                    ..
                } => {
                    let mut texts = vec![format!("{open}THE_NAME{close}")];
                    texts.extend(default.then(|| format!("{open}THE_NAME:-d{close}")));
                    texts
                }
                ExpansionForm::Bare { mark, .. } => vec![format!("{mark}THE_NAME")],
                ExpansionForm::Input { open, close } => vec![format!("{open}THE_NAME{close}")],
                ExpansionForm::File { open, close } => vec![format!("{open}~/a.file{close}")],
                // The value is the client's, or nothing but a path.
                ExpansionForm::Exact { .. } | ExpansionForm::Own { .. } => continue,
            };
            for text in texts {
                for header in [false, true] {
                    if expansion.headers_only && !header {
                        continue;
                    }
                    let write = |around: &Surroundings| write_server(client, around, header, &text);
                    let [there, absent] = [true, false].map(|is| named(client, is, &write));
                    assert_eq!(there, absent, "{client} {text}");
                    let is_named = |name: &String| {
                        name.contains("\"THE_NAME\"") || name.contains("home/a.file")
                    };
                    assert!(there.iter().any(is_named), "{client} {text}: {there:?}");
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 30, "{seen}");
}

/// Keys that name a variable or a file by themselves.
#[test]
fn variables_and_files_that_keys_name_are_noted_whether_they_are_there_or_not() {
    use Client::*;
    let variable = |place: &str| format!("Variable(\"THE_NAME\") in {place}");
    let (stdio, http) = (r#""command": "c""#, r#""url": "https://a.example""#);
    for (client, launch, key, expected) in [
        (
            Codex,
            stdio,
            r#""env_vars": ["THE_NAME"]"#,
            vec![variable("env.THE_NAME")],
        ),
        (
            Codex,
            http,
            r#""bearer_token_env_var": "THE_NAME""#,
            vec![variable("headers.Authorization")],
        ),
        (
            Codex,
            http,
            r#""env_http_headers": { "X": "THE_NAME" }"#,
            vec![variable("headers.X")],
        ),
        (
            Goose,
            r#""cmd": "c""#,
            r#""env_keys": ["THE_NAME"]"#,
            vec![variable("env.THE_NAME")],
        ),
        (
            Goose,
            r#""uri": "https://a.example""#,
            r#""env_keys": ["THE_NAME"], "headers": {"X": "$THE_NAME"}"#,
            vec![variable("env.THE_NAME"), variable("headers.X")],
        ),
        (
            VsCode,
            stdio,
            r#""envFile": "${userHome}/a.file""#,
            vec!["File(\"/home/a.file\") in envFile".to_owned()],
        ),
        (
            Cursor,
            stdio,
            r#""envFile": "${userHome}/a.file""#,
            vec!["File(\"/home/a.file\") in envFile".to_owned()],
        ),
    ] {
        let write = |around: &Surroundings| {
            write_entry(client, around, &format!("{launch}, {key}"));
        };
        for is_there in [true, false] {
            assert_eq!(named(client, is_there, &write), expected, "{client} {key}");
        }
    }
}

/// A value that is long now may be short where the agent starts.
#[test]
fn what_comes_after_too_much_is_noted_as_well() {
    let home = Home::empty();
    let mut around = home.around();
    around.env.insert("LONG".to_owned(), "x".repeat(2 << 20));
    write_server(Client::Gemini, &around, false, "$LONG$THE_NAME");
    let discovery = discover_all(&around, &[Client::Gemini], &Inputs::new());
    let bridge = discovery.found[0].server.bridge().unwrap();
    assert!(
        bridge.needs[0].text.starts_with("shorten it"),
        "{:?}",
        bridge.needs
    );
    let named = format!("{:?}", bridge.filled_in);
    assert!(named.contains("\"THE_NAME\""), "{named}");
}

/// A server that cannot be used may be usable with other variables.
#[test]
fn what_would_be_filled_into_an_unused_server_is_noted() {
    for (client, launch, is_skipped) in [
        (
            Client::Gemini,
            r#""httpUrl": "$PLACE", "headers": {"X": "$THE_NAME"}"#,
            false,
        ),
        (
            Client::ClaudeCode,
            r#""url": "${PLACE:-ws://a.example}", "type": "http", "headers": {"X": "${THE_NAME}"}"#,
            true,
        ),
        (
            Client::Copilot,
            r#""command": "${PLACE:-dormouse}", "args": ["serve"], "env": {"X": "$THE_NAME"}"#,
            true,
        ),
    ] {
        let home = Home::empty();
        let mut around = home.around();
        around.env.insert("OTHER".to_owned(), String::new());
        write_entry(client, &around, launch);
        let discovery = discover_all(&around, &[client], &Inputs::new());
        assert_eq!(discovery.found, [], "{client}");
        let named = match is_skipped {
            true => format!(
                "{:?}",
                discovery.skipped[0].unused.as_ref().unwrap().filled_in
            ),
            false => format!("{:?}", discovery.refused[0].filled_in),
        };
        assert!(named.contains("\"THE_NAME\""), "{client}: {named}");
    }
}
