//! Entries that come into files and go out of them.

mod properties;
mod yaml;

use serde_json::json;

use super::*;

fn shape(syntax: Syntax, keys: &[&str], list: bool) -> FileShape {
    FileShape {
        syntax,
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        list,
    }
}

fn entry() -> Json {
    json!({ "command": "/bin/dormouse", "args": ["serve"] })
}

/// Adds the entry to each text and compares it with what it should be; then
/// removes it again, whereupon no entry but that one may be missing.
fn adds(shape: &FileShape, table: &[(&str, &str)]) {
    for (before, after) in table {
        let added = add(before, shape, "dormouse", &entry()).unwrap();
        assert_eq!(added, *after, "{before}");
        assert_eq!(add(&added, shape, "dormouse", &entry()).unwrap(), *after);
        let removed = remove(&added, shape, "dormouse").unwrap();
        let (mut left, mut there) = (
            read(removed.trim_start_matches(BYTE_ORDER_MARK), shape.syntax).unwrap(),
            read(before.trim_start_matches(BYTE_ORDER_MARK), shape.syntax).unwrap(),
        );
        if let Some(servers) = servers(&mut there, shape, true) {
            set(servers, "dormouse", None);
        }
        // Making a table for the servers is not undone.
        servers(&mut left, shape, true);
        assert_eq!(left, there, "{before}");
    }
}

#[test]
fn json_is_added_to() {
    let shape = shape(Syntax::Json, &["mcpServers"], false);
    let pretty = "{\n  \"mcpServers\": {\n    \"dormouse\": {\n      \"command\": \"/bin/dormouse\",\n      \"args\": [\"serve\"]\n    }\n  }\n}";
    let whole = format!("{pretty}\n");
    let crlf = whole.replace('\n', "\r\n");
    adds(
        &shape,
        &[
            ("", &whole),
            ("  \n", &whole),
            ("{}", pretty),
            ("{}\n", &whole),
            ("{ }\r\n", &crlf),
            ("\u{feff}{}\r\n", &format!("\u{feff}{crlf}")),
            ("{\n}", pretty),
            ("{\n  \"mcpServers\": {}\n}\n", &whole),
            ("// mine\n", &format!("// mine\n{whole}")),
            (
                "{\n\t\"mcpServers\": {\n\t\t// none yet\n\t}, // end\n\t\"x\": 1\n}",
                "{\n\t\"mcpServers\": {\n\t\t// none yet\n\t\t\"dormouse\": {\n\t\t\t\"command\": \"/bin/dormouse\",\n\t\t\t\"args\": [\"serve\"]\n\t\t}\n\t}, // end\n\t\"x\": 1\n}",
            ),
            (
                "{\n    \"a\": [1,  2], // one\n\n    \"mcpServers\": {\n        \"t\": {\"command\": \"t\"} // time\n        // later: \"u\"\n\n    }\n}",
                "{\n    \"a\": [1,  2], // one\n\n    \"mcpServers\": {\n        \"t\": {\"command\": \"t\"}, // time\n        \"dormouse\": {\n            \"command\": \"/bin/dormouse\",\n            \"args\": [\"serve\"]\n        }\n        // later: \"u\"\n\n    }\n}",
            ),
            (
                "{\n  \"mcpServers\": {\n    \"t\": {\"command\": \"t\"}, /* time */ // t\n  },\n}",
                "{\n  \"mcpServers\": {\n    \"t\": {\"command\": \"t\"}, /* time */ // t\n    \"dormouse\": {\n      \"command\": \"/bin/dormouse\",\n      \"args\": [\"serve\"]\n    },\n  },\n}",
            ),
            (
                "{\"mcpServers\":{\"t\":{}}}",
                "{\"mcpServers\":{\"t\":{}, \"dormouse\": {\"command\":\"/bin/dormouse\",\"args\":[\"serve\"]}}}",
            ),
            (
                "{\"mcpServers\":{}}",
                "{\"mcpServers\":{\"dormouse\": {\"command\":\"/bin/dormouse\",\"args\":[\"serve\"]}}}",
            ),
            (
                "{\"a\":1 // one\n}",
                "{\"a\":1, // one\n\"mcpServers\": {\"dormouse\":{\"command\":\"/bin/dormouse\",\"args\":[\"serve\"]}}\n}",
            ),
            (
                "{\n  \"mcpServers\": {\n    \"dormouse\": { \"command\": \"old\" }, // mine\n    \"t\": {}\n  }\n}",
                "{\n  \"mcpServers\": {\n    \"dormouse\": {\n      \"command\": \"/bin/dormouse\",\n      \"args\": [\"serve\"]\n    }, // mine\n    \"t\": {}\n  }\n}",
            ),
        ],
    );
}

#[test]
fn json_is_removed_from() {
    let shape = shape(Syntax::Json, &["mcpServers"], false);
    for (before, after) in [
        ("{}", "{}"),
        ("", ""),
        ("{\"mcpServers\": {\"x\": 1}}", "{\"mcpServers\": {}}"),
        (
            "{\"mcpServers\": { \"x\": 1, \"y\": 2 }}",
            "{\"mcpServers\": { \"y\": 2 }}",
        ),
        (
            "{\"mcpServers\": { \"y\": 2, \"x\": 1 }}",
            "{\"mcpServers\": { \"y\": 2 }}",
        ),
        (
            "{\"mcpServers\": {\n  // about x\n  \"x\": {\n    // in x\n  }, // behind x\n  \"y\": 2 // y\n}}",
            "{\"mcpServers\": {\n  // about x\n  \"y\": 2 // y\n}}",
        ),
        (
            "{\"mcpServers\": {\r\n  \"y\": 2, // y\r\n  \"x\": 1 // x\r\n}}",
            "{\"mcpServers\": {\r\n  \"y\": 2 // y\r\n}}",
        ),
        (
            "{\"mcpServers\": {\n  \"y\": 2,\n  \"x\": 1,\n}}",
            "{\"mcpServers\": {\n  \"y\": 2,\n}}",
        ),
        (
            "{\"mcpServers\": {\n  \"x\": 1\n}}",
            "{\"mcpServers\": {\n}}",
        ),
        (
            "{\"mcpServers\": {\n  \"x\": 1}}",
            "{\"mcpServers\": {\n  }}",
        ),
    ] {
        assert_eq!(remove(before, &shape, "x").unwrap(), after, "{before}");
    }
}

#[test]
fn keys_are_keys_whatever_is_in_them() {
    let amp = shape(Syntax::Json, &["amp.mcpServers"], false);
    assert_eq!(
        add("{\n  \"amp\": {}\n}\n", &amp, "d", &json!({})).unwrap(),
        "{\n  \"amp\": {},\n  \"amp.mcpServers\": {\n    \"d\": {}\n  }\n}\n"
    );
    let local = shape(Syntax::Json, &["projects", "/a b", "mcpServers"], false);
    assert_eq!(
        add(
            "{\n\t\"projects\": {\n\t\t\"/a b\": {}\n\t}\n}",
            &local,
            "d",
            &json!({})
        )
        .unwrap(),
        "{\n\t\"projects\": {\n\t\t\"/a b\": {\n\t\t\t\"mcpServers\": {\n\t\t\t\t\"d\": {}\n\t\t\t}\n\t\t}\n\t}\n}"
    );
    let codex = shape(Syntax::Toml, &["mcp_servers"], false);
    assert_eq!(
        add("", &codex, "a b", &json!({ "x": { "y z": 1.5 } })).unwrap(),
        "[mcp_servers.\"a b\"]\nx = { \"y z\" = 1.5 }\n"
    );
}

#[test]
fn toml_is_added_to() {
    let shape = shape(Syntax::Toml, &["mcp_servers"], false);
    let block = "[mcp_servers.dormouse]\ncommand = \"/bin/dormouse\"\nargs = [\"serve\"]\n";
    let crlf = block.replace('\n', "\r\n");
    adds(
        &shape,
        &[
            ("", block),
            ("# mine\n", &format!("# mine\n\n{block}")),
            ("model = \"x\"", &format!("model = \"x\"\n\n{block}")),
            (
                "model = 'x' # y\r\n\r\n",
                &format!("model = 'x' # y\r\n\r\n{crlf}"),
            ),
            ("\u{feff}a = 1\r\n", &format!("\u{feff}a = 1\r\n\r\n{crlf}")),
            (
                "[mcp_servers.t]\ncommand = \"t\"\n\n[mcp_servers.t.env]\nA = \"1\"\n\n[tui]\n\ttheme = 1\n",
                &format!(
                    "[mcp_servers.t]\ncommand = \"t\"\n\n[mcp_servers.t.env]\nA = \"1\"\n\n[tui]\n\ttheme = 1\n\n{block}"
                ),
            ),
            (
                "mcp_servers.t.command = \"t\"\n",
                &format!("mcp_servers.t.command = \"t\"\n\n{block}"),
            ),
            (
                "[mcp_servers.dormouse]\ncommand = \"old\" # mine\n\n[tui]\n",
                &format!("[tui]\n\n{block}"),
            ),
        ],
    );
}

#[test]
fn toml_is_removed_from() {
    let shape = shape(Syntax::Toml, &["mcp_servers"], false);
    for (before, after) in [
        ("", ""),
        ("[mcp_servers.x]\na = 1\n", ""),
        (
            "a = 1\n\n# about x\n[mcp_servers.x]\na = [\n 1, # one\n] # a\n\n[mcp_servers.x.env]\nB = '''\n[c]\n'''\n\n# y\n[mcp_servers.y]\na = 1\n",
            "a = 1\n\n# about x\n\n# y\n[mcp_servers.y]\na = 1\n",
        ),
        (
            "[mcp_servers.y]\r\na = 1\r\n\r\n[mcp_servers.x]\r\na = 1\r\n\r\n[z]\r\n",
            "[mcp_servers.y]\r\na = 1\r\n\r\n[z]\r\n",
        ),
        (
            "[mcp_servers]\nx = { a = 1 }\ny = {}\n",
            "[mcp_servers]\ny = {}\n",
        ),
        (
            "mcp_servers.x.a = 1\nmcp_servers.x.b = 2\nc = 1\n",
            "c = 1\n",
        ),
        ("[mcp_servers.x]\na.b = 1\na.c = 2\n[z]\n", "[z]\n"),
        (
            "[mcp_servers.x]\na = 1\n# commented = 2\n",
            "# commented = 2\n",
        ),
    ] {
        assert_eq!(remove(before, &shape, "x").unwrap(), after, "{before}");
    }
}

#[test]
fn what_cannot_be_edited_is_left_alone() {
    use Syntax::{Json, Toml, Yaml};
    for (syntax, text, at, part) in [
        (Json, "{\"mcpServers\": {}", 0, "not JSON"),
        (Json, "{'mcpServers': {}}", 1, "not JSON"),
        (Json, "[]", 0, "the document is no table"),
        (Json, "{\"mcpServers\": 1}", 15, "`mcpServers` is no table"),
        (
            Json,
            "{\"mcpServers\": null}",
            15,
            "`mcpServers` is no table",
        ),
        (
            Json,
            "{\"mcpServers\": {\"d\": 1, \"d\": 2}}",
            0,
            "something unusual",
        ),
        (Toml, "[mcpServers", 11, "not TOML"),
        (Toml, "mcpServers = 1", 0, "`mcpServers` is no table"),
        (Toml, "mcpServers = { d = 1 }", 0, "an inline table"),
        (Yaml, "a: [", 4, "not YAML"),
        (Yaml, "mcpServers: {a: 1, d: 2}", 12, "flow style"),
        (Yaml, "{mcpServers: {}}", 0, "flow style"),
        (Yaml, "mcpServers: &a\n  d: 1\n", 12, "an anchor"),
        (Yaml, "x: &a {d: 1}\nmcpServers: *a\n", 25, "an alias"),
        (Yaml, "mcpServers: 1\n", 12, "`mcpServers` is no table"),
        (Yaml, "? mcpServers\n: d: 1\n", 2, "several things"),
    ] {
        let shape = shape(syntax, &["mcpServers"], false);
        let result = match text.contains("d\":") {
            true => remove(text, &shape, "d"),
            false => add(text, &shape, "d", &entry()),
        };
        let error = result.unwrap_err();
        assert!(error.message.contains(part), "{text}: {error}");
        assert_eq!(error.at, at, "{text}: {error}");
    }
}

#[test]
fn files_are_edited_in_linear_time() {
    let json_of = |size: usize| {
        let servers = (0..size)
            .map(|number| format!("    \"s{number}\": {{\"command\": \"x\"}} // {number}\n"));
        let servers: Vec<_> = servers.map(|line| line.replacen("}", "},", 1)).collect();
        format!("{{\n  \"mcpServers\": {{\n{}  }}\n}}\n", servers.concat())
    };
    let json_on_a_line = |size: usize| {
        let servers = (0..size).map(|number| format!("\"s{number}\":{{}}"));
        format!(
            "{{\"mcpServers\":{{{}}}}}",
            servers.collect::<Vec<_>>().join(",")
        )
    };
    let json_of_comments =
        |size: usize| format!("{{\"mcpServers\":{{\"a\":1 {} }}}}", "/* */ ".repeat(size));
    let toml_of = |size: usize| {
        let servers = (0..size).map(|number| format!("[mcpServers.s{number}]\ncommand = \"x\"\n"));
        servers.collect::<String>()
    };
    // The entry's own lines, between others, and blank lines behind all.
    let toml_between = |size: usize| {
        let tables = (0..size).map(|number| {
            format!("[mcpServers.dormouse.t{number}]\na = 1\n[mcpServers.s{number}]\nb = 2\n")
        });
        format!("{}{}", tables.collect::<String>(), "\n".repeat(400 * size))
    };
    let toml_of_keys = |size: usize| {
        let keys = (0..size).map(|number| format!("mcpServers.dormouse.k{number} = 1\n"));
        keys.collect::<String>()
    };
    let yaml_of = |size: usize| {
        let servers = (0..size).map(|number| format!("  s{number}:\n    command: x\n"));
        format!("mcpServers:\n{}", servers.collect::<String>())
    };
    type Text<'t> = &'t dyn Fn(usize) -> String;
    let of = |syntax| shape(syntax, &["mcpServers"], false);
    let inputs: [(&str, Syntax, Text<'_>); 7] = [
        ("JSON", Syntax::Json, &json_of),
        ("JSON on a line", Syntax::Json, &json_on_a_line),
        ("comments", Syntax::Json, &json_of_comments),
        ("TOML", Syntax::Toml, &toml_of),
        ("tables between others", Syntax::Toml, &toml_between),
        ("dotted keys", Syntax::Toml, &toml_of_keys),
        ("YAML", Syntax::Yaml, &yaml_of),
    ];
    for (what, syntax, input) in inputs {
        let shape = of(syntax);
        dormouse_tests::growth::is_linear(what, 150, input, |text| {
            let added = add(text, &shape, "dormouse", &entry());
            let added = added.as_ref().unwrap_or(text);
            let removed = remove(added, &shape, "dormouse").unwrap();
            assert_eq!(get(&removed, &shape, "dormouse"), Ok(None), "{what}");
        });
    }
}

/// Without the last one, the one before would count.
#[test]
fn one_of_several_entries_of_one_name_is_not_removed() {
    let shape = shape(Syntax::Yaml, &["mcpServers"], true);
    let entry = "  - name: dormouse\n    command: x\n";
    let text = format!("mcpServers:\n{entry}{entry}");
    let error = remove(&text, &shape, "dormouse").unwrap_err();
    assert!(
        error.message.contains("several entries of one name"),
        "{error}"
    );
    let one = format!("mcpServers:\n{entry}");
    assert_eq!(
        remove(&one, &shape, "dormouse").unwrap(),
        "mcpServers: []\n"
    );
}
