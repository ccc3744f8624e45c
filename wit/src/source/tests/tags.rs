//! Tags in the comments on functions, fields and cases.

use super::*;

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
fn a_fields_title_is_in_a_tools_schema_too() {
    let declaration = sound(&interface(
        "record args {
            /// @title One
            one: string,
            /** Two.\n@title The Two */
            two: option<u8>,
        }
        f: func(args: args);",
    ));
    let properties = &tool(&declaration, "f")["inputSchema"]["properties"];
    assert_eq!(properties["one"], json!({"type": "string", "title": "One"}));
    assert_eq!(properties["two"]["title"], "The Two");
}
