//! Files of a project that change while they are read: servers are made of what is hashed.

use std::cell::Cell;
use std::rc::Rc;

use super::*;
use crate::discovery::files::hook;

/// Gives a file another text, by its number, each time before it is read.
fn changing(home: &Home, file: &str, text: impl Fn(usize) -> String + 'static) -> Rc<Cell<usize>> {
    let reads = Rc::new(Cell::new(0));
    let file = home.path(file);
    fs::write(&file, text(0)).unwrap();
    let count = Rc::clone(&reads);
    hook::set(move |read| {
        if read == file {
            count.set(count.get() + 1);
            fs::write(&file, text(count.get())).unwrap();
        }
    });
    reads
}

/// The words of all programs.
fn programs(discovery: &Discovery) -> Vec<String> {
    let bridges = discovery
        .found
        .iter()
        .filter_map(|found| found.server.bridge());
    let programs = bridges.map(|bridge| match &bridge.launch {
        Launch::Stdio(stdio) => {
            let env = stdio
                .env
                .iter()
                .map(|(name, value)| format!("{name}={}", value.expose()));
            let words = stdio.args.iter().cloned().chain(env);
            format!("{} {}", stdio.command, words.collect::<Vec<_>>().join(" "))
        }
        Launch::Http(http) => http.url.clone(),
    });
    programs.collect()
}

#[test]
fn a_file_that_is_filled_in_is_read_once_however_many_servers_name_it() {
    let home = Home::empty();
    let server = r#"{"type": "stdio", "command": "x", "envFile": "${workspaceFolder}/.env"}"#;
    home.write(
        "project/.cursor/mcp.json",
        format!(r#"{{"mcpServers": {{"a": {server}, "b": {server}}}}}"#),
    );
    home.write(
        "project/.vscode/mcp.json",
        format!(r#"{{"servers": {{"c": {server}}}}}"#),
    );
    // One of the user's own.
    home.write(
        "home/.cursor/mcp.json",
        format!(r#"{{"mcpServers": {{"u": {server}}}}}"#),
    );
    home.write(
        "project/opencode.json",
        r#"{"mcp": {"d": {"type": "local", "command": ["{file:./.env}"]},
                   "e": {"type": "local", "command": ["{file:./.env}"]}}}"#,
    );
    for name in ["f", "g"] {
        home.write(
            &format!("project/.continue/mcpServers/{name}.yaml"),
            format!(
                "name: n\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - name: {name}\n    \
                 command: ${{{{ secrets.CMD }}}}\n"
            ),
        );
    }
    let clients: Vec<_> = Client::all().collect();
    let all = || discover_all(&home.around(), &clients, &Inputs::new());
    let reads = changing(&home, "project/.env", |number| {
        format!("CMD=content-{number}\n")
    });
    let found = all();
    assert_eq!(reads.get(), 1);
    let programs_found = programs(&found);
    assert_eq!(programs_found.len(), 8, "{programs_found:?}");
    for program in &programs_found {
        assert!(program.contains("content-1"), "{programs_found:?}");
    }
    // What people are shown is of the same look, and the hash is of what was read.
    let shown = found
        .found
        .iter()
        .filter_map(|found| found.server.bridge()?.shown.as_ref());
    let shown: Vec<_> = shown.map(|shown| shown.command.as_str()).collect();
    assert!(
        shown.contains(&"content-1") && shown.contains(&"CMD=content-1"),
        "{shown:?}"
    );
    hook::set(|_| {});
    let content = found.content_of(&home.path("project")).unwrap();
    assert!(!content.changed);
    home.write("project/.env", "CMD=content-1\n");
    assert_eq!(all().content_of(&home.path("project")), Some(content));
    home.write("project/.env", "CMD=content-2\n");
    assert_ne!(all().content_of(&home.path("project")), Some(content));
}

#[test]
fn a_file_that_is_not_the_same_at_two_looks_makes_its_project_one_that_has_changed() {
    let home = Home::empty();
    let text = |number: usize| {
        let server = r#"{"type": "local", "command": ["{file:./opencode.json}"]}"#;
        format!(r#"{{"mcp": {{"a": {server}}}, "n": {number}}}"#)
    };
    // Once as what servers are written in, and once as what is filled into them.
    home.write("project/opencode.json", text(0));
    let all = || discover_all(&home.around(), &[Client::OpenCode], &Inputs::new());
    let is_changed = |found: &Discovery| {
        let content = found.content_of(&home.path("project"));
        content.unwrap().changed
    };
    assert!(!is_changed(&all()));
    let reads = changing(&home, "project/opencode.json", text);
    let found = all();
    hook::set(|_| {});
    assert_eq!(reads.get(), 2);
    assert!(is_changed(&found));
}

/// A project's settings, which say what is on and what is denied, are read once as well.
#[test]
fn each_configuration_of_a_project_is_read_once() {
    let home = Home::empty();
    for file in ["project/.mcp.json", "project/.claude/settings.json"] {
        home.write(
            "project/.mcp.json",
            r#"{"mcpServers": {"a": {"command": "x"}}}"#,
        );
        home.write("project/.claude/settings.json", "{}");
        let text = fs::read_to_string(home.path(file)).unwrap();
        let reads = changing(&home, file, move |number| {
            format!("{text}{}", " ".repeat(number))
        });
        let clients: Vec<_> = Client::all().collect();
        let found = discover_all(&home.around(), &clients, &Inputs::new());
        hook::set(|_| {});
        assert_eq!(reads.get(), 1, "{file}");
        let content = found.content_of(&home.path("project")).unwrap();
        assert!(!content.changed);
    }
}
