use serde_json::{Value, json};

use super::*;
use crate::error::Severity;
use crate::types::Type;

mod items;
mod mapping;
mod published;

/// The declaration of WIT text that holds one package and one world.
fn declare(wit: &str) -> (Declaration, Vec<Finding>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.wit");
    std::fs::write(&path, wit).unwrap();
    let declared = from_wit(&[&path], None).unwrap();
    assert_eq!(declared.files, [path]);
    (declared.declaration, declared.findings)
}

/// Like [`declare`], for WIT in which nothing is wrong.
fn sound(wit: &str) -> Declaration {
    let (declaration, findings) = declare(wit);
    assert!(findings.is_empty(), "{findings:?}");
    declaration
}

/// The names of the tools.
fn names(declaration: &Declaration) -> Vec<&str> {
    declaration
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .collect()
}

/// The MCP `Tool` object of a tool.
fn tool(declaration: &Declaration, name: &str) -> Value {
    let tool = declaration
        .tools
        .iter()
        .find(|tool| tool.name == name)
        .unwrap();
    let tool: Value = serde_json::from_str(tool.tool.get()).unwrap();
    assert_eq!(tool["name"], name);
    for schema in ["inputSchema", "outputSchema"] {
        if let Some(schema) = tool.get(schema) {
            assert_eq!(schema["type"], "object");
            assert!(jsonschema::draft202012::meta::is_valid(schema), "{schema}");
        }
    }
    tool
}

/// A world with one interface that holds `items`.
fn interface(items: &str) -> String {
    format!("package a:b; interface i {{ {items} }} world w {{ export i; }}")
}

fn messages(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(ToString::to_string).collect()
}

#[test]
fn exported_functions_are_tools() {
    let declaration = sound(
        "package a:b@1.2.0;
        interface first { get-it: func() -> string; same: func(); }
        interface second { same: func(); set-URL: func(); }
        world w {
            import other: func();
            import first;
            export first;
            export second;
            export plain-one: func(the-arg: u8);
            export inline: interface { mine: func(); }
        }",
    );
    assert_eq!(
        names(&declaration),
        [
            "plain_one",
            "get_it",
            "first_same",
            "second_same",
            "set_url",
            "mine"
        ]
    );
    let exports: Vec<_> = declaration
        .tools
        .iter()
        .map(|tool| tool.function.as_ref().unwrap().export.to_string())
        .collect();
    assert_eq!(
        exports,
        [
            "plain-one",
            "a:b/first@1.2.0#get-it",
            "a:b/first@1.2.0#same",
            "a:b/second@1.2.0#same",
            "a:b/second@1.2.0#set-URL",
            "inline#mine",
        ]
    );
    let params = &declaration.tools[0].function.as_ref().unwrap().params;
    assert_eq!(
        (params[0].wit.as_str(), params[0].json.as_str()),
        ("the-arg", "the_arg")
    );
}

#[test]
fn exports_for_the_host_are_no_tools() {
    let folder = tempfile::tempdir().unwrap();
    let wasi = folder.path().join("wasi.wit");
    let main = folder.path().join("main.wit");
    std::fs::write(
        &wasi,
        "package wasi:cli@0.2.6; interface run { run: func() -> result; }",
    )
    .unwrap();
    std::fs::write(
        &main,
        "package a:b; world w { export wasi:cli/run@0.2.6; export dormouse:plugin/adapter@0.1.0; export f: func(); }",
    )
    .unwrap();
    let declared = from_wit(&[&wasi, &main], None).unwrap();
    assert_eq!(names(&declared.declaration), ["f"]);
    assert!(declared.findings.is_empty());
    assert_eq!(declared.files, [wasi, main]);
}

/// Errors about the contract's types and package have a hint on naming them.
#[test]
fn what_the_parser_says_of_the_contract_has_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wit");
    let error = |wit: &str| {
        std::fs::write(&path, wit).unwrap();
        from_wit(&[&path], None).unwrap_err().to_string()
    };
    let told = error("package a:b; world w { export f: func() -> list<content>; }");
    assert!(
        told.contains("\nhint: it is one of the contract's: write `use dormouse:plugin/types@0.1.0.{content};`"),
        "{told}"
    );
    let told = error("package a:b; world w { use dormouse:plugin/types.{content}; }");
    assert!(
        told.contains("\nhint: name it with its version, like `dormouse:plugin/types@0.1.0`"),
        "{told}"
    );
    assert!(!error("package a:b; world w { export f: func() -> x; }").contains("hint"));
    // Of a folder, the parser says twice where it is.
    std::fs::write(&path, "package a:b; world w { export f: func() -> x; }").unwrap();
    let told = from_wit(&[folder.path()], None).unwrap_err().to_string();
    let expected = format!(
        "cannot read the WIT in `{}`: name `x` does not exist",
        folder.path().display()
    );
    assert!(told.starts_with(&expected), "{told}");
    let missing = folder.path().join("wit");
    let told = from_wit(&[&missing], None).unwrap_err().to_string();
    let expected = format!(
        "cannot read the WIT in `{}`: there is no such file or folder",
        missing.display()
    );
    assert_eq!(told, expected);
}

#[test]
fn a_world_that_offers_nothing_is_told_what_it_has_instead() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wit");
    let nothing = |wit: &str| {
        std::fs::write(&path, wit).unwrap();
        let nothing = from_wit(&[&path], None).unwrap().nothing;
        nothing.map(|finding| finding.to_string())
    };
    for (wit, message, hint) in [
        (
            "package a:b; world w {}",
            "exports nothing",
            "each is a tool",
        ),
        (
            "package dormouse:greeter; interface i { f: func(); } world w { export i; }",
            "`dormouse:greeter/i` is in the namespace `dormouse`",
            "like `example:greeter`",
        ),
        (
            "package a:b; world w { export dormouse:plugin/prompts@0.1.0; }",
            "what `dormouse:plugin/prompts@0.1.0` is there for is not declared",
            "dormouse_sdk::adapter!",
        ),
        (
            "package a:b; interface i { resource r; f: func(x: r); } world w { export i; }",
            "there is no tool in what it exports, `a:b/i`",
            "tells why",
        ),
        (
            "package wasi:cli@0.2.6; interface run { run: func() -> result; } world w { export run; }",
            "it is a command",
            "crate-type",
        ),
        (
            "package wasi:http@0.2.6; interface handler { handle: func(); } world w { export handler; }",
            "`wasi:http/handler@0.2.6` is for a host of another kind",
            "functions of your own",
        ),
    ] {
        let told = nothing(wit).unwrap();
        let (first, second) = told.split_once("\nhint: ").unwrap();
        assert!(first.contains(message) && second.contains(hint), "{told}");
    }
    for wit in [
        "package a:b; world w { export f: func(); }",
        // What an upstream offers is declared nowhere.
        "package a:b; world w { import dormouse:plugin/upstream@0.1.0; export dormouse:plugin/adapter@0.1.0; }",
    ] {
        assert_eq!(nothing(wit), None, "{wit}");
    }
}

#[test]
fn a_plugin_may_bring_the_contract_itself() {
    let folder = tempfile::tempdir().unwrap();
    let deps = folder.path().join("deps");
    std::fs::create_dir(&deps).unwrap();
    std::fs::write(deps.join("plugin.wit"), CONTRACT_WIT).unwrap();
    std::fs::write(
        folder.path().join("main.wit"),
        "package a:b; world w { use dormouse:plugin/types@0.1.0.{content}; export f: func() -> list<content>; }",
    )
    .unwrap();
    let declared = from_wit(&[folder.path()], None).unwrap();
    assert_eq!(
        declared.declaration.tools[0]
            .function
            .as_ref()
            .unwrap()
            .result,
        Some(Type::Contents)
    );
    assert_eq!(declared.files.len(), 2, "{:?}", declared.files);

    // As a path of its own, too; but not twice.
    let contract = folder.path().join("contract.wit");
    let main = folder.path().join("other.wit");
    std::fs::write(&contract, CONTRACT_WIT).unwrap();
    std::fs::write(&main, "package c:d; world w { export f: func(); }").unwrap();
    let declared = from_wit(&[&contract, &main], None).unwrap();
    assert_eq!(names(&declared.declaration), ["f"]);
    let error = from_wit(&[&contract, &contract, &main], None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`dormouse:plugin@0.1.0` is there twice"),
        "{error}"
    );
}

#[test]
fn worlds_are_chosen_by_name_or_for_lack_of_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.wit");
    std::fs::write(
        &path,
        "package a:b; world one { export f: func(); } world two { export g: func(); }",
    )
    .unwrap();
    let error = from_wit(&[&path], None).unwrap_err().to_string();
    assert!(error.contains("there are `one`, `two`"), "{error}");
    let error = from_wit(&[&path], Some("onne")).unwrap_err().to_string();
    assert!(
        error.contains("there is no `onne` among `one`, `two`"),
        "{error}"
    );
    assert_eq!(
        names(&from_wit(&[&path], Some("two")).unwrap().declaration),
        ["g"]
    );
    let error = from_wit(&[&path], Some("three")).unwrap_err().to_string();
    assert!(error.contains("three"), "{error}");
}

#[test]
fn bad_wit_is_an_error_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.wit");
    std::fs::write(&path, "package a:b;\nworld w { export f: fnc(); }").unwrap();
    let error = from_wit(&[&path], None).unwrap_err().to_string();
    assert!(error.contains("bad.wit:2"), "{error}");
    let missing = folder.path().join("missing.wit");
    let error = from_wit(&[&missing], None).unwrap_err().to_string();
    assert!(error.contains("missing.wit"), "{error}");
    assert!(from_wit(&[], None).is_err());
}

#[test]
fn the_world_speaks_for_the_plugin() {
    let (declaration, findings) = declare(
        "package a:b;
        /// Knows the
        /// time.
        /// @name time
        /// @version 1.2.3
        /// @title The Time
        /// @instance per-session
        /// @grant env TZ the zone to
        /// start from
        /// @grant fs ro
        /// @grant http https://time.example
        world w { export f: func(); }",
    );
    // What nobody can grant yet is no secret to whoever asks for it.
    let told: Vec<_> = findings.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "warning: @grant http https://time.example: no version of Dormouse grants that yet: every HTTP request of a plugin is refused"
        ]
    );
    let mut json = serde_json::to_value(&declaration).unwrap();
    json.as_object_mut().unwrap().remove("tools");
    assert_eq!(
        json,
        json!({
            "format": 1, "mapping": 1, "name": "time", "version": "1.2.3", "title": "The Time",
            "description": "Knows the time.", "instance": "per-session",
            "grants": [
                {"kind": "env", "name": "TZ", "why": "the zone to start from"},
                {"kind": "fs", "write": false},
                {"kind": "http", "origin": "https://time.example"},
            ],
        })
    );
    let (declaration, findings) = declare(
        "package a:b;\n/// @instance forever\n/// @license MIT\nworld w { export f: func(); }",
    );
    assert_eq!(names(&declaration), ["f"]);
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(
        findings
            .iter()
            .all(|finding| finding.severity == Severity::Error && finding.item == "world w")
    );
}

#[test]
fn every_tag_of_a_function() {
    let declaration = sound(&interface(
        "
        /// Does it.
        /// @name do-It.2
        /// @title Do It
        /// @readonly false
        /// @destructive
        /// @idempotent true
        /// @openworld false
        /// @param what what to do
        /// @param how-often how many
        /// times
        /// @example {\"what\": \"a\", \"how_often\": 2}
        /// @example {\"what\": \"b\", \"how_often\": 3}
        do-it: func(what: string, how-often: u8);",
    ));
    assert_eq!(
        tool(&declaration, "do-It.2"),
        json!({
            "name": "do-It.2", "title": "Do It", "description": "Does it.",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "what": {"type": "string", "description": "what to do"},
                    "how_often": {"type": "integer", "minimum": 0, "maximum": 255, "description": "how many times"},
                },
                "required": ["what", "how_often"],
                "additionalProperties": false,
                "examples": [{"what": "a", "how_often": 2}, {"what": "b", "how_often": 3}],
            },
            "annotations": {
                "readOnlyHint": false, "destructiveHint": true, "idempotentHint": true, "openWorldHint": false,
            },
        })
    );
}

#[test]
fn every_tag_of_a_field() {
    let declaration = sound(&interface(
        "
        /// How much.
        /// @minimum 1
        /// @maximum 10
        type amount = u32;
        record args {
            /// The text.
            /// @name theText
            /// @pattern ^[a-z]+$
            /// @minimum 1
            /// @maximum 5
            text: string,
            /// @format date-time
            since: option<string>,
            /// @default 2.5
            /// @minimum 0.5
            ratio: f64,
            amount: amount,
            /// At most.
            /// @maximum 5
            less: option<amount>,
            /// @default null
            nothing: option<bool>,
            /// @minimum 1
            items: list<string>,
        }
        f: func(args: args);",
    ));
    let tool = tool(&declaration, "f");
    assert_eq!(
        tool["inputSchema"],
        json!({
            "type": "object",
            "properties": {
                "theText": {
                    "type": "string", "pattern": "^[a-z]+$", "minLength": 1, "maxLength": 5, "description": "The text.",
                },
                "since": {"type": "string", "format": "date-time"},
                "ratio": {"type": "number", "minimum": 0.5, "default": 2.5},
                "amount": {"type": "integer", "minimum": 1, "maximum": 10, "description": "How much."},
                "less": {"type": "integer", "minimum": 1, "maximum": 5, "description": "At most."},
                "nothing": {"anyOf": [{"type": "boolean"}, {"type": "null"}], "default": null},
                "items": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            },
            "required": ["theText", "amount", "items"],
            "additionalProperties": false,
        })
    );
    // The order of properties is that of the fields.
    let order: Vec<_> = tool["inputSchema"]["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(
        order,
        [
            "theText", "since", "ratio", "amount", "less", "nothing", "items"
        ]
    );
    let function = declaration.tools[0].function.as_ref().unwrap();
    assert!(function.spread);
    let Type::Record(fields) = &function.params[0].ty else {
        panic!("{function:?}")
    };
    assert_eq!(
        (fields[0].wit.as_str(), fields[0].json.as_str()),
        ("text", "theText")
    );
    assert_eq!(fields[2].default, Some(json!(2.5)));
    assert_eq!(
        fields[5].default, None,
        "null is what an option is without a default"
    );
}

#[test]
fn the_comments_of_cases_are_kept() {
    let declaration = sound(&interface(
        "
        enum order {
            /// A to Z
            /// @name byName
            by-name,
            by-size,
        }
        flags colors { /** like blood */ red, green }
        variant target {
            /// Everything.
            all,
            /// Only one.
            /// @name justOne
            one(u8),
        }
        record args {
            /// How to sort.
            sort: order,
            other: option<order>,
            /// Perhaps.
            third: option<order>,
            colors: colors,
            target: target,
        }
        f: func(args: args);",
    ));
    let properties = &tool(&declaration, "f")["inputSchema"]["properties"];
    let order = |description: &str| json!({"type": "string", "enum": ["byName", "by_size"], "description": description});
    assert_eq!(properties["sort"], order("How to sort.\n- byName: A to Z"));
    assert_eq!(properties["other"], order("- byName: A to Z"));
    assert_eq!(properties["third"], order("Perhaps.\n- byName: A to Z"));
    assert_eq!(properties["colors"]["description"], "- red: like blood");
    assert_eq!(
        properties["target"]["oneOf"],
        json!([
            {"type": "object", "properties": {"tag": {"const": "all"}}, "required": ["tag"],
             "additionalProperties": false, "description": "Everything."},
            {"type": "object",
             "properties": {"tag": {"const": "justOne"}, "value": {"type": "integer", "minimum": 0, "maximum": 255}},
             "required": ["tag", "value"], "additionalProperties": false, "description": "Only one."},
        ])
    );
}

#[test]
fn mistakes_in_tags_are_found_and_nothing_is_lost() {
    let field = |docs: &str, ty: &str| {
        format!(
            "enum e {{ a }} flags fl {{ x, y }} record args {{ {docs}\n it: {ty} }} f: func(args: args);"
        )
    };
    let function = |docs: &str| format!("{docs}\n f: func(it: string);");
    let table = [
        (field("/// @minimun 1", "u8"), "no tag `@minimun`"),
        (field("/// @minimum -1", "u8"), "outside what `u8` can hold"),
        (
            field("/// @maximum 256", "u8"),
            "outside what `u8` can hold",
        ),
        (
            field("/// @minimum 1.5", "s64"),
            "outside what `s64` can hold",
        ),
        (
            field("/// @minimum -1", "string"),
            "outside what `string` can hold",
        ),
        (field("/// @minimum x", "f64"), "is not a number"),
        (field("/// @minimum 1", "bool"), "does not go with `bool`"),
        (
            field("/// @minimum 5\n/// @maximum 4", "f32"),
            "leaves no value",
        ),
        (field("/// @pattern a", "u8"), "does not go with `u8`"),
        (
            field("/// @format uri", "list<string>"),
            "does not go with `list`",
        ),
        (field("/// @pattern", "string"), "needs a text"),
        (field("/// @name", "string"), "needs a text"),
        (field("/// @default name", "string"), "is not JSON"),
        (field("/// @default 300", "u8"), "not between"),
        (field("/// @default 1.5", "u8"), "not an integer"),
        (
            field("/// @default 1\n/// @minimum 2", "u8"),
            "below the minimum",
        ),
        (
            field("/// @default \"abc\"\n/// @maximum 2", "string"),
            "above the maxLength",
        ),
        (
            field("/// @default null", "u8"),
            "not an integer|is not of type `u8`",
        ),
        (field("/// @default \"b\"", "e"), "not of type `enum`"),
        (field("/// @default [\"x\", \"x\"]", "fl"), "twice"),
        (field("/// @default [\"z\"]", "fl"), "none of the flags"),
        (field("/// @default [1, \"a\"]", "tuple<u8, u8>"), "in [1]"),
        (
            field("/// @default [1]", "tuple<u8, u8>"),
            "not of type `tuple`",
        ),
        (
            field("/// @default {\"ok\": 1, \"err\": 2}", "result<u8, u8>"),
            "not of type `result`",
        ),
        (function("/// @name a b"), "no tool name"),
        (function("/// @readonly maybe"), "takes `true` or `false`"),
        (function("/// @param that text"), "no such parameter"),
        (function("/// @param it"), "needs a parameter and a text"),
        (function("/// @example {\"it\": 1}"), "`@example`: in `it`"),
        (function("/// @example {}"), "`it` is missing"),
        (
            function("/// @example {\"it\": \"\", \"other\": 1}"),
            "there is no `other`",
        ),
        (function("/// @since 1.0"), "no tag `@since`"),
    ];
    for (items, expected) in table {
        let (declaration, findings) = declare(&interface(&items));
        assert_eq!(names(&declaration), ["f"], "{items}");
        let [finding] = findings.as_slice() else {
            panic!("{items}: {findings:?}")
        };
        assert_eq!(finding.severity, Severity::Error);
        assert!(
            expected.split('|').any(|one| finding.message.contains(one)),
            "{expected}: {finding}"
        );
        let tool = tool(&declaration, "f");
        assert!(tool["inputSchema"]["properties"]["it"].is_object());
        assert!(
            tool["inputSchema"]["properties"]["it"]
                .get("default")
                .is_none(),
            "{tool}"
        );
    }
    let (_, findings) = declare(&interface(
        "record r { a: u8 }\n/// @param a text\nf: func(r: r);",
    ));
    assert!(
        messages(&findings)[0].contains("the arguments are a record's fields"),
        "{findings:?}"
    );
}

#[test]
fn defaults_of_every_type_are_taken() {
    let table = [
        ("bool", "true"),
        ("s8", "-128"),
        ("u64", "18446744073709551615"),
        ("u8", "5.0"),
        ("f32", "1"),
        ("char", "\"ä\""),
        ("string", "\"\""),
        ("list<u8>", "\"AAEC\""),
        ("list<string>", "[]"),
        ("tuple<u8, bool>", "[1, true]"),
        ("e", "\"a\""),
        ("fl", "[\"y\", \"x\"]"),
        ("v", "{\"tag\": \"n\", \"value\": 3}"),
        ("v", "{\"tag\": \"none\"}"),
        ("result<u8>", "{\"err\": null}"),
        ("result<u8>", "{\"ok\": 8}"),
        ("option<u8>", "7"),
        ("r", "{\"a\": 1}"),
    ];
    for (ty, default) in table {
        let declaration = sound(&interface(&format!(
            "enum e {{ a }} flags fl {{ x, y }} variant v {{ none, n(u8) }} record r {{ a: u8, b: option<u8> }}
            record args {{
                /// @default {default}
                it: {ty}
            }}
            f: func(args: args);"
        )));
        let tool = tool(&declaration, "f");
        let schema = &tool["inputSchema"];
        let expected: Value = serde_json::from_str(default).unwrap();
        assert_eq!(schema["properties"]["it"]["default"], expected);
        assert!(schema.get("required").is_none(), "{schema}");
        // The real validator is of the same mind about the value itself.
        assert!(
            jsonschema::draft202012::is_valid(schema, &json!({ "it": expected })),
            "{ty}: {default}"
        );
    }
}

#[test]
fn json_names_never_collide() {
    let (declaration, findings) = declare(&interface(
        "record r {
            /// @name b
            a: u8,
            b: u8,
        }
        f: func(r: r);",
    ));
    assert!(messages(&findings)[0].contains("named `b`"), "{findings:?}");
    let tool = tool(&declaration, "f");
    let keys: Vec<_> = tool["inputSchema"]["properties"]
        .as_object()
        .unwrap()
        .keys()
        .collect();
    assert_eq!(keys, ["a", "b"]);

    let (declaration, findings) = declare(&interface("a: func();\n/// @name a\nb: func();"));
    assert_eq!(names(&declaration), ["a"]);
    assert_eq!(findings.len(), 1);
    assert!(findings[0].message.contains("a:b/i#a"), "{findings:?}");
}

#[test]
fn what_is_no_tool_is_named_and_the_others_stay() {
    let table = [
        ("f: async func();", "async func"),
        ("f: func(x: option<option<u8>>);", "option<option<T>>"),
        (
            "type o = option<u8>; f: func() -> option<o>;",
            "option<option<T>>",
        ),
        ("f: func(x: stream<u8>);", "stream"),
        ("f: func() -> future<u8>;", "future"),
        ("resource res {} f: func(x: borrow<res>);", "borrow<res>"),
        ("resource res {} f: func() -> list<res>;", "own<res>"),
        (
            "resource res {} record r { x: res } f: func(r: r);",
            "own<res>",
        ),
        ("resource res {} f: func() -> result<u8, res>;", "own<res>"),
        ("f: func() -> error-context;", "error-context"),
    ];
    for (items, expected) in table {
        let (declaration, findings) = declare(&interface(&format!("{items} good: func() -> u8;")));
        assert_eq!(names(&declaration), ["good"], "{items}");
        let [finding] = findings.as_slice() else {
            panic!("{items}: {findings:?}")
        };
        assert_eq!(
            (finding.item.as_str(), finding.severity),
            ("a:b/i#f", Severity::Warning)
        );
        assert!(finding.message.contains(expected), "{finding}");
    }
    let (declaration, findings) = declare(&interface(
        "resource res { constructor(); get: func() -> u8; make: static func() -> u8; } good: func();",
    ));
    assert_eq!(names(&declaration), ["good"]);
    assert_eq!(findings.len(), 3, "{findings:?}");
}

#[test]
fn types_that_explode_are_refused_in_no_time() {
    let mut wide = String::from("record r0 { a: u8, b: u8 }");
    for i in 1..24 {
        wide += &format!("record r{i} {{ a: r{}, b: r{} }}", i - 1, i - 1);
    }
    let deep = format!("f: func(x: {}u8{});", "list<".repeat(60), ">".repeat(60));
    let many: String = (0..2000).map(|i| format!("g{i}: func(r: r9);")).collect();
    let start = dormouse_tests::growth::cpu_time();
    for (items, expected) in [
        (format!("{wide} f: func(r: r23);"), "KiB written out"),
        (deep, "nested deeper"),
        (format!("{wide} {many} f: func(r: r23);"), "MiB written out"),
    ] {
        let (declaration, findings) = declare(&interface(&format!("good: func(); {items}")));
        assert_eq!(declaration.tools[0].name, "good");
        assert!(
            findings
                .iter()
                .any(|finding| finding.message.contains(expected)),
            "{expected}"
        );
        assert!(
            findings
                .iter()
                .all(|finding| finding.severity == Severity::Warning)
        );
    }
    let time = dormouse_tests::growth::cpu_time().saturating_sub(start);
    assert!(time.as_secs() < 20, "{time:?}");
}

#[test]
fn the_deepest_types_survive_their_own_section() {
    // One level less than is refused, of the types with the deepest schemas.
    let mut items = String::from("variant v0 { a(u8) } record r0 { a: u8 }");
    for i in 1..24 {
        items += &format!(
            "variant v{i} {{ a(v{}) }} record r{i} {{ a: r{} }}",
            i - 1,
            i - 1
        );
    }
    let declaration = sound(&interface(&format!(
        "{items} v: func(v: v23) -> v23; r: func(r: r23) -> r23;"
    )));
    let section = crate::section::encode(&declaration).unwrap();
    let back = crate::section::decode(&section).unwrap();
    assert_eq!(names(&back), ["v", "r"]);
    tool(&back, "v");
    tool(&back, "r");
}

#[test]
fn a_component_declares_what_its_source_did_but_for_the_words() {
    // As toolchains write it: an inner component gives the instance its types.
    let component = wat::parse_str(
        r#"(component
            (core module $m
                (func (export "f") (param i32 i64) (result i32) i32.const 7))
            (core instance $i (instantiate $m))
            (type $order (enum "a-z" "z-a"))
            (func $f (param "sort-by" $order) (param "at-most" u64) (result u32)
                (canon lift (core func $i "f")))
            (component $shim
                (type $e (enum "a-z" "z-a"))
                (import "import-type-order" (type $order (eq $e)))
                (import "import-func-list-all"
                    (func $f (param "sort-by" $order) (param "at-most" u64) (result u32)))
                (export $o "order" (type $order))
                (export "list-all" (func $f)
                    (func (param "sort-by" $o) (param "at-most" u64) (result u32))))
            (instance $tools (instantiate $shim
                (with "import-type-order" (type $order))
                (with "import-func-list-all" (func $f))))
            (export "a:b/tools@1.0.0" (instance $tools)))"#,
    )
    .unwrap();
    let built = from_component(&component).unwrap();
    let declaration = sound(
        "package a:b@1.0.0;
        interface tools {
            enum order { a-z, z-a }
            /// Lists them all.
            list-all: func(sort-by: order, at-most: u64) -> u32;
        }
        world w { export tools; }",
    );
    let source = declaration.tools[0].function.as_ref().unwrap();
    let found = built.declaration.tools[0].function.as_ref().unwrap();
    assert_eq!(source, found);
    assert_eq!(names(&built.declaration), ["list_all"]);
    assert!(
        tool(&built.declaration, "list_all")
            .get("description")
            .is_none()
    );
}

#[test]
fn what_is_no_component_is_an_error() {
    for bytes in [
        &b""[..],
        b"junk",
        b"\0asm\x01\0\0\0",
        b"\0asm\x0d\0\x01\0\xff\xff",
    ] {
        let error = from_component(bytes).unwrap_err();
        assert!(matches!(error, Error::Component(_)), "{error}");
        assert!(error.to_string().contains("hint:"), "{error}");
    }
}

#[test]
fn the_examples_of_the_readme_are_sound() {
    let readme = include_str!("../../README.md");
    let mut examples = readme.split("```wit\n").skip(1);
    let mut next = || sound(examples.next().unwrap().split_once("```").unwrap().0);
    let declaration = next();
    assert_eq!(names(&declaration), ["convert_time", "now"]);
    assert_eq!(declaration.title.as_deref(), Some("Clock"));
    let declaration = next();
    assert_eq!(names(&declaration), [""; 0]);
    let keys = |items: &[DeclaredItem]| -> Vec<String> {
        items.iter().map(|item| item.key.clone()).collect()
    };
    assert_eq!(keys(&declaration.prompts), ["criticize", "summarize"]);
    assert_eq!(keys(&declaration.resources), ["notes://all"]);
    assert_eq!(
        keys(&declaration.templates),
        ["notes://by-id/{id}", "notes://folders/{+path}"]
    );
    assert!(declaration.completion);
}

#[test]
fn reading_takes_linear_time() {
    let functions = |number: usize| {
        let functions = (0..number).map(|one| {
            format!("/// Does {one}.\n///\n/// @readonly\n@F@tool{one}: func(a: string, b: u32) -> string;\n")
        });
        let functions = functions.collect::<String>().replace("@F@", "export ");
        format!("package a:b;\nworld w {{\n{functions}}}\n")
    };
    let fields = |number: usize| {
        let fields = (0..number).map(|one| format!("/// A field.\nfield{one}: u32,\n"));
        let fields = fields.collect::<String>();
        format!(
            "package a:b;\ninterface i {{\nrecord r {{\n{fields}}}\nf: func(r: r) -> r;\n}}\nworld w {{ export i; }}\n"
        )
    };
    let inputs: [(&str, &dyn Fn(usize) -> String); 2] =
        [("functions", &functions), ("fields", &fields)];
    for (what, input) in inputs {
        dormouse_tests::growth::is_linear(what, 200, input, |wit| {
            std::hint::black_box(declare(wit));
        });
    }
}

/// A stranger's folder may have links to devices in it, which the parser would read without an end.
#[cfg(unix)]
#[test]
fn only_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("deps/x")).unwrap();
    let text = "package a:b;\nworld c {}\n";
    std::fs::write(folder.path().join("a.wit"), text).unwrap();
    std::fs::write(folder.path().join("deps/x/x.wit"), "package x:y;\n").unwrap();
    from_wit(&[folder.path()], None).unwrap();
    for place in ["b.wit", "deps/b.wit", "deps/x/b.wit"] {
        let link = folder.path().join(place);
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let error = from_wit(&[folder.path()], None).unwrap_err().to_string();
        assert!(
            error.contains(place) && error.contains("is no file"),
            "{error}"
        );
        let error = from_wit(&[&link], None).unwrap_err().to_string();
        assert!(error.contains("is no file"), "{error}");
        std::fs::remove_file(link).unwrap();
    }
}
