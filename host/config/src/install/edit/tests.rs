use serde_json::json;

use super::*;

fn shape(syntax: Syntax, keys: &[&str], list: bool) -> Shape {
    Shape {
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
fn adds(shape: &Shape, table: &[(&str, &str)]) {
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
fn yaml_is_added_to() {
    let goose = shape(Syntax::Yaml, &["extensions"], false);
    let block = "  dormouse:\n    command: /bin/dormouse\n    args:\n      - serve\n";
    let crlf = block.replace('\n', "\r\n");
    let deep = "    dormouse:\n      command: /bin/dormouse\n      args:\n        - serve\n";
    adds(
        &goose,
        &[
            ("", &format!("extensions:\n{block}")),
            ("# mine", &format!("# mine\nextensions:\n{block}")),
            ("---\n", &format!("---\nextensions:\n{block}")),
            (
                "a: 1\n# end\n",
                &format!("a: 1\nextensions:\n{block}# end\n"),
            ),
            ("a: 1", &format!("a: 1\nextensions:\n{block}")),
            (
                "\u{feff}a: ä\r\n",
                &format!("\u{feff}a: ä\r\nextensions:\r\n{crlf}"),
            ),
            (
                "extensions:\nz: 1\n",
                &format!("extensions:\n{block}z: 1\n"),
            ),
            (
                "extensions: {} # none\nz: 1\n",
                &format!("extensions: # none\n{block}z: 1\n"),
            ),
            (
                "extensions:\n    t:\n        cmd: |\n            a\n            # b\n\n    # about\nz: 1\n",
                &format!(
                    "extensions:\n    t:\n        cmd: |\n            a\n            # b\n{deep}\n    # about\nz: 1\n"
                ),
            ),
            (
                "extensions:\n  t:\n    args: [a,\n      b] # c\n    env:\nz: 1\n",
                &format!("extensions:\n  t:\n    args: [a,\n      b] # c\n    env:\n{block}z: 1\n"),
            ),
            (
                "extensions:\n  dormouse:\n    cmd: old\n    # mine\n  t: {}\n",
                &format!("extensions:\n{block}    # mine\n  t: {{}}\n"),
            ),
            (
                "x: &a [1]\ny: *a\nextensions:\n  t: {}\n",
                &format!("x: &a [1]\ny: *a\nextensions:\n  t: {{}}\n{block}"),
            ),
        ],
    );
    let list = shape(Syntax::Yaml, &["mcpServers"], true);
    let item = "  - name: dormouse\n    command: /bin/dormouse\n    args:\n      - serve\n";
    let flush = item.replace("\n  ", "\n");
    let flush = flush.trim_start();
    adds(
        &list,
        &[
            ("name: x\n", &format!("name: x\nmcpServers:\n{item}")),
            (
                "mcpServers: []\nz: 1\n",
                &format!("mcpServers:\n{item}z: 1\n"),
            ),
            (
                "mcpServers:\n  - name: t\n    command: 't' # t\nz: 1\n",
                &format!("mcpServers:\n  - name: t\n    command: 't' # t\n{item}z: 1\n"),
            ),
            (
                "mcpServers:\n- name: t\n  env:\n    A: \"b\\\n      c\"\n",
                &format!("mcpServers:\n- name: t\n  env:\n    A: \"b\\\n      c\"\n{flush}"),
            ),
            (
                "mcpServers:\n  - command: old\n    name: dormouse\n  - name: t\n",
                &format!("mcpServers:\n{item}  - name: t\n"),
            ),
        ],
    );
}

#[test]
fn yaml_is_removed_from() {
    let goose = shape(Syntax::Yaml, &["extensions"], false);
    for (before, after) in [
        ("", ""),
        ("extensions:\n", "extensions:\n"),
        (
            "extensions:\n  x:\n    a: 1\nb: 2\n",
            "extensions: {}\nb: 2\n",
        ),
        (
            "extensions:\n  # about x\n  x: # x\n    a: >\n      1\n\n      2\n  y: {}",
            "extensions:\n  # about x\n  y: {}",
        ),
        ("extensions:\n  y:\n  x:\n    - 1\n", "extensions:\n  y:\n"),
    ] {
        assert_eq!(remove(before, &goose, "x").unwrap(), after, "{before}");
    }
    let list = shape(Syntax::Yaml, &["mcpServers"], true);
    for (before, after) in [
        (
            "mcpServers:\n  - name: x\n    a: 1\n  - name: y\n",
            "mcpServers:\n  - name: y\n",
        ),
        ("mcpServers:\n- a: 1\n  name: x", "mcpServers: []\n"),
    ] {
        assert_eq!(remove(before, &list, "x").unwrap(), after, "{before}");
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

mod properties {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn name() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z]{1,3}",
            "[a-zA-Z0-9 ./@_-]{1,6}",
            Just("ä\"\\".to_owned())
        ]
    }

    fn value() -> impl Strategy<Value = Json> {
        let text = prop_oneof!["[a-z]{0,4}", "[ -~]{0,8}", Just("é\n\t#: - {".to_owned())];
        let leaf = prop_oneof![
            text.prop_map(Json::from),
            any::<bool>().prop_map(Json::from),
            any::<i32>().prop_map(Json::from),
        ];
        leaf.prop_recursive(2, 6, 3, |inner| {
            prop_oneof![
                vec(inner.clone(), 0..3).prop_map(Json::from),
                vec((name(), inner), 0..3)
                    .prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    fn entries() -> impl Strategy<Value = Vec<(String, Json)>> {
        let entry = vec((name(), value()), 1..4)
            .prop_map(|members| Json::Object(members.into_iter().collect()));
        vec((name(), entry), 0..4)
    }

    /// A file with some entries, made by adding one after the other, and with blank
    /// lines and comments strewn over it.
    fn file(shape: &Shape, head: &str, entries: &[(String, Json)], comment: &str) -> String {
        let mut text = head.to_owned();
        for (name, entry) in entries {
            text = add(&text, shape, name, entry).unwrap();
            if text.ends_with('\n') && shape.syntax != Syntax::Json {
                text.push_str(comment);
            }
        }
        text
    }

    /// Whether one text is what is left of another when bytes are taken out.
    fn is_within(part: &str, whole: &str) -> bool {
        let mut whole = whole.bytes();
        part.bytes().all(|byte| whole.any(|other| other == byte))
    }

    fn shapes() -> [(Shape, &'static str, &'static str); 5] {
        [
            (
                shape(Syntax::Json, &["mcpServers"], false),
                "// a\n{\n\t\"b\": [1] // c\n}\n",
                "",
            ),
            (
                shape(Syntax::Json, &["a", "b.c"], false),
                "{\"a\": {}, \"z\": 0}",
                "",
            ),
            (
                shape(Syntax::Toml, &["mcp_servers"], false),
                "a = 1 # b\r\n",
                "\r\n# c\r\n",
            ),
            (
                shape(Syntax::Yaml, &["extensions"], false),
                "a: 1 # b\n",
                "\n# c\n",
            ),
            (
                shape(Syntax::Yaml, &["mcpServers"], true),
                "a: 1\r\n",
                "\r\n# c\r\n",
            ),
        ]
    }

    proptest! {
        // That everything else is what it was, each edit sees to itself; so here it
        // is that no edit is refused, and that each byte which stays is the same.
        #[test]
        fn entries_come_and_go(entries in entries(), name in name(), entry in value(), which in 0..5usize) {
            let (shape, head, comment) = &shapes()[which];
            let entry = json!({ "command": "x", "y": entry });
            let before = file(shape, head, &entries, comment);
            prop_assume!(!entries.iter().any(|(other, _)| *other == name));
            let added = add(&before, shape, &name, &entry).unwrap();
            prop_assert_eq!(
                get(&added, shape, &name).unwrap().map(|found| found["y"].clone()),
                get(&file(shape, "", &[(name.clone(), entry.clone())], ""), shape, &name)
                    .unwrap()
                    .map(|found| found["y"].clone())
            );
            prop_assert_eq!(&add(&added, shape, &name, &entry).unwrap(), &added);
            // Each byte that was there is still there, in its place among the others.
            prop_assert!(is_within(&before, &added), "{} is not in {}", before, added);
            let removed = remove(&added, shape, &name).unwrap();
            // The last of a YAML table leaves `{}` or `[]`.
            let emptied = shape.syntax == Syntax::Yaml && entries.is_empty();
            prop_assert!(emptied || is_within(&removed, &added), "{} is not in {}", removed, added);
            prop_assert_eq!(get(&removed, shape, &name).unwrap(), None);
            for (other, _) in &entries {
                prop_assert_eq!(
                    get(&removed, shape, other).unwrap(),
                    get(&before, shape, other).unwrap()
                );
            }
        }

        #[test]
        fn any_text_is_edited_or_left_alone(text in "[\\[\\]{}\":, \nab#/-]{0,24}", which in 0..5usize) {
            let (shape, ..) = &shapes()[which];
            if let Ok(added) = add(&text, shape, "x", &entry()) {
                prop_assert!(get(&added, shape, "x").unwrap().is_some());
            }
            let _ = remove(&text, shape, "x");
        }
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
