//! The table of the mapping, row by row.

use super::*;

/// Definitions that the rows use.
const TYPES: &str = "
    enum an-enum { one, two-three }
    flags some-flags { read, write-all }
    variant a-variant { none, some-text(string), number(f64) }
    record a-record { a-field: u8, maybe: option<string>, ratio: f32 }
";

fn integer(minimum: i64, maximum: impl Into<Value>) -> Value {
    json!({"type": "integer", "minimum": minimum, "maximum": maximum.into()})
}

fn object(properties: Value, required: &[&str]) -> Value {
    let mut object = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object["additionalProperties"] = json!(false);
    object
}

fn or_null(schema: Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}

fn tuple(items: &[Value]) -> Value {
    let n = items.len();
    json!({"type": "array", "prefixItems": items, "minItems": n, "maxItems": n})
}

/// Each WIT type, its schema as an argument, and that as a result where it is
/// another.
fn rows() -> Vec<(&'static str, Value, Option<Value>)> {
    let number = || json!({"type": "number"});
    let number_or_null = || json!({"type": ["number", "null"]});
    let string = || json!({"type": "string"});
    let case = |name: &str, value: Value| {
        object(
            json!({"tag": {"const": name}, "value": value}),
            &["tag", "value"],
        )
    };
    let variant = |number: Value| {
        let none = object(json!({"tag": {"const": "none"}}), &["tag"]);
        json!({"oneOf": [none, case("some_text", string()), case("number", number)]})
    };
    let result = |ok: Value, err: Value| json!({"oneOf": [object(json!({"ok": ok}), &["ok"]), object(json!({"err": err}), &["err"])]});
    let null = || json!({"type": "null"});
    let flags = json!({"type": "string", "enum": ["read", "write_all"]});
    let three =
        json!({"type": "array", "items": integer(0, u16::MAX), "minItems": 3, "maxItems": 3});
    vec![
        ("bool", json!({"type": "boolean"}), None),
        ("string", string(), None),
        (
            "char",
            json!({"type": "string", "minLength": 1, "maxLength": 1}),
            None,
        ),
        ("u8", integer(0, u8::MAX), None),
        ("s8", integer(-128, 127), None),
        ("u16", integer(0, u16::MAX), None),
        ("s16", integer(-32768, 32767), None),
        ("u32", integer(0, u32::MAX), None),
        ("s32", integer(i32::MIN.into(), i32::MAX), None),
        ("u64", integer(0, u64::MAX), None),
        ("s64", integer(i64::MIN, i64::MAX), None),
        ("f32", number(), Some(number_or_null())),
        ("f64", number(), Some(number_or_null())),
        (
            "list<u8>",
            json!({"type": "string", "contentEncoding": "base64"}),
            None,
        ),
        (
            "list<string>",
            json!({"type": "array", "items": string()}),
            None,
        ),
        ("list<u16, 3>", three, None),
        (
            "tuple<string, f64>",
            tuple(&[string(), number()]),
            Some(tuple(&[string(), number_or_null()])),
        ),
        (
            "an-enum",
            json!({"type": "string", "enum": ["one", "two_three"]}),
            None,
        ),
        (
            "some-flags",
            json!({"type": "array", "items": flags, "uniqueItems": true}),
            None,
        ),
        (
            "a-variant",
            variant(number()),
            Some(variant(number_or_null())),
        ),
        (
            "list<option<bool>>",
            json!({"type": "array", "items": or_null(json!({"type": "boolean"}))}),
            None,
        ),
        (
            "tuple<result<u8, string>>",
            tuple(&[result(integer(0, 255), string())]),
            None,
        ),
        ("tuple<result>", tuple(&[result(null(), null())]), None),
        (
            "map<string, u8>",
            json!({"type": "object", "additionalProperties": integer(0, 255)}),
            None,
        ),
        (
            "map<u8, string>",
            json!({"type": "array", "items": tuple(&[integer(0, 255), string()])}),
            None,
        ),
    ]
}

#[test]
fn every_row_as_an_argument_and_as_a_result() {
    for (ty, argument, result) in rows() {
        let declaration = sound(&interface(&format!(
            "{TYPES} f: func(x: {ty}, y: bool) -> {ty};"
        )));
        let tool = tool(&declaration, "f");
        let expected = object(
            json!({"x": argument, "y": {"type": "boolean"}}),
            &["x", "y"],
        );
        assert_eq!(tool["inputSchema"], expected, "{ty}");
        let output = match ty {
            "string" => Value::Null,
            _ => object(json!({"result": result.unwrap_or(argument)}), &["result"]),
        };
        assert_eq!(tool["outputSchema"], output, "{ty}");
        let function = declaration.tools[0].function.as_ref().unwrap();
        assert!(!function.spread);
        assert_eq!(
            Some(&function.params[0].ty),
            function.result.as_ref(),
            "{ty}"
        );
    }
}

#[test]
fn the_public_schema_says_what_converts() {
    for (ty, argument, result) in rows() {
        let declaration = sound(&interface(&format!("{TYPES} f: func(x: {ty}, y: bool);")));
        let ty = &declaration.tools[0].function.as_ref().unwrap().params[0].ty;
        assert_eq!(crate::schema::schema(ty), argument);
        assert_eq!(crate::schema::result_schema(ty), result.unwrap_or(argument));
    }
    // Here, unlike in what agents are told, null is what an option may be.
    let declaration = sound(&interface(&format!("{TYPES} f: func(x: a-record);")));
    let ty = &declaration.tools[0].function.as_ref().unwrap().params[0].ty;
    assert_eq!(
        crate::schema::schema(ty)["properties"]["maybe"],
        or_null(json!({"type": "string"}))
    );
}

#[test]
fn optional_arguments() {
    let declaration = sound(&interface("f: func(a: option<u8>, b: string);"));
    let schema = &tool(&declaration, "f")["inputSchema"];
    assert_eq!(
        *schema,
        object(
            json!({"a": integer(0, 255), "b": {"type": "string"}}),
            &["b"]
        )
    );
    let none = sound(&interface("f: func();"));
    assert_eq!(tool(&none, "f")["inputSchema"], object(json!({}), &[]));
}

#[test]
fn a_single_record_spreads() {
    let record = |maybe: Value, ratio: Value| {
        object(
            json!({"a_field": integer(0, 255), "maybe": maybe, "ratio": ratio}),
            &["a_field", "ratio"],
        )
    };
    let string = json!({"type": "string"});
    let declaration = sound(&interface(&format!(
        "{TYPES} one: func(x: a-record) -> a-record; two: func(x: a-record, y: u8); three: func(x: option<a-record>);"
    )));
    let one = tool(&declaration, "one");
    let argument = record(string.clone(), json!({"type": "number"}));
    assert_eq!(one["inputSchema"], argument);
    assert_eq!(
        one["outputSchema"],
        record(or_null(string), json!({"type": ["number", "null"]}))
    );
    assert_eq!(
        tool(&declaration, "two")["inputSchema"]["properties"]["x"],
        argument
    );
    assert_eq!(
        tool(&declaration, "three")["inputSchema"],
        object(json!({"x": argument}), &[])
    );
    let spread: Vec<_> = declaration
        .tools
        .iter()
        .map(|tool| tool.function.as_ref().unwrap().spread)
        .collect();
    assert_eq!(spread, [true, false, false]);
}

#[test]
fn results() {
    let table = [
        ("", None),
        (" -> string", None),
        (" -> result", None),
        (" -> result<_, string>", None),
        (" -> result<string, string>", None),
        (" -> list<content>", None),
        (" -> result<list<content>, string>", None),
        (
            " -> result<u8, string>",
            Some(json!({"result": integer(0, 255)})),
        ),
        (
            " -> option<u8>",
            Some(json!({"result": or_null(integer(0, 255))})),
        ),
        (
            " -> list<string>",
            Some(json!({"result": {"type": "array", "items": {"type": "string"}}})),
        ),
    ];
    for (result, expected) in table {
        let declaration = sound(&interface(&format!(
            "use dormouse:plugin/types@0.1.0.{{content}}; f: func(){result};"
        )));
        let tool = tool(&declaration, "f");
        let expected = expected.map(|properties| object(properties, &["result"]));
        assert_eq!(tool.get("outputSchema"), expected.as_ref(), "{result}");
    }
    let declaration = sound(&interface(&format!(
        "{TYPES} f: func() -> result<a-record, string>;"
    )));
    let tool = tool(&declaration, "f");
    assert_eq!(
        tool["outputSchema"]["required"],
        json!(["a_field", "ratio"])
    );
}

#[test]
fn contents_are_only_those_of_the_contract() {
    let declaration = sound(&interface(
        "variant content { text(string) } f: func() -> list<content>;",
    ));
    assert!(matches!(
        declaration.tools[0].function.as_ref().unwrap().result,
        Some(Type::List(_))
    ));
    let declaration = sound(&interface(
        "use dormouse:plugin/types@0.1.0.{content as block}; type blocks = list<block>; f: func() -> result<blocks, string>;",
    ));
    let Some(Type::Result { ok: Some(ok), .. }) =
        &declaration.tools[0].function.as_ref().unwrap().result
    else {
        panic!("{declaration:?}");
    };
    assert_eq!(**ok, Type::Contents);
}

#[test]
fn content_is_a_block_as_an_answer_and_json_elsewhere() {
    let uses = "use dormouse:plugin/types@0.1.0.{content};";
    let result = |function: &str| {
        let declaration = sound(&interface(&format!("{uses} f: {function};")));
        let tool = &declaration.tools[0];
        assert!(!tool.tool.get().contains("outputSchema"), "{:?}", tool.tool);
        tool.function.as_ref().unwrap().result.clone().unwrap()
    };
    assert_eq!(result("func() -> content"), Type::Content);
    for (err, expected) in [
        ("content", Type::Content),
        ("list<content>", Type::Contents),
    ] {
        let found = result(&format!("func() -> result<string, {err}>"));
        let Type::Result { err: Some(err), .. } = found else {
            panic!("{found:?}");
        };
        assert_eq!(*err, expected);
    }
    for function in [
        "func() -> option<content>",
        "func() -> option<list<content>>",
        "func(x: list<content>)",
        "func() -> tuple<content, content>",
    ] {
        let (declaration, findings) = declare(&interface(&format!("{uses} f: {function};")));
        assert_eq!(names(&declaration), ["f"], "it is a tool all the same");
        let [told] = messages(&findings).try_into().unwrap();
        let expected = "warning: a:b/i#f: `content` is plain JSON to agents in this place\nhint: ";
        assert!(told.starts_with(expected), "{told}");
    }
}

#[test]
fn a_pattern_is_a_regular_expression() {
    let pattern = |pattern: &str| {
        let (_, findings) = declare(&interface(&format!(
            "/// @pattern {pattern}\ntype t = string; f: func(x: t);"
        )));
        messages(&findings)
    };
    assert_eq!(pattern(r"^[a-z\d]+\.(rs|wit)$"), [""; 0]);
    assert_eq!(
        pattern("("),
        ["error: t: `@pattern (` is no regular expression that the host knows: unclosed group"]
    );
    // The host matches in linear time.
    assert_eq!(pattern("(?!x)").len(), 1);
}

/// Each of these patterns is allowed by itself.
#[test]
fn patterns_of_a_component_have_a_limit_together() {
    let fields = |count: usize| {
        let pattern = format!("(?i){}", "[^[^a]]".repeat(12));
        let field = |number| format!("/// @pattern {pattern}\nf{number}: string,");
        let fields: String = (0..count).map(field).collect();
        let (_, findings) = declare(&interface(&format!(
            "record r {{ {fields} }} f: func(x: r);"
        )));
        messages(&findings)
    };
    assert_eq!(fields(10), [""; 0]);
    let told = fields(30);
    assert!(told.len() > 5 && told.len() < 20, "{told:?}");
    assert!(
        told[0].contains("those before it take too long"),
        "{told:?}"
    );
}
