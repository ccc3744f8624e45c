use serde_json::{Value, json};

use super::*;

mod answers;
mod limits;
mod schemas;

fn shape(what: What, text: &str) -> Result<Shape, String> {
    let object = RawValue::from_string(text.to_owned()).unwrap();
    Shape::of(what, "k", &object)
}

/// Checks whether a value matches a definition of a version of MCP.
fn is(version: &str, definition: &str, value: &str) -> bool {
    let schema = match version {
        "2025-06-18" => include_str!("tests/2025-06-18.json"),
        "2025-11-25" => include_str!("tests/2025-11-25.json"),
        _ => include_str!("tests/2026-07-28.json"),
    };
    let mut schema: Value = serde_json::from_str(schema).unwrap();
    let place = if schema.get("$defs").is_some() {
        "$defs"
    } else {
        "definitions"
    };
    schema["$ref"] = json!(format!("#/{place}/{definition}"));
    let value: Value = serde_json::from_str(value).unwrap();
    crate::validator(&schema)
        .unwrap()
        .problems(&value, 1)
        .unwrap()
        .is_empty()
}

/// Returns an item that all versions accept.
#[track_caller]
fn shown(what: What, text: &str) -> Shape {
    let shape = shape(what, text).unwrap();
    let definition = match what {
        What::Tool => "Tool",
        What::Prompt => "Prompt",
        What::Resource => "Resource",
        What::Template => "ResourceTemplate",
    };
    let stateless = shape.object.get();
    let legacy = shape.legacy.as_deref().map_or(stateless, RawValue::get);
    for (version, object) in [
        ("2025-06-18", legacy),
        ("2025-11-25", legacy),
        ("2026-07-28", stateless),
    ] {
        assert!(is(version, definition, object), "{version}: {object}");
    }
    shape
}

const FINE: [(What, &str); 6] = [
    (
        What::Tool,
        r#"{"name":"k","inputSchema":{"type":"object"}}"#,
    ),
    (
        What::Tool,
        r#"{ "title" : "T", "name":"k" ,"description":"\u00e9","inputSchema":{"properties":{"a":{"type":"any"}},"required":["a"],"type":"object","$schema":"urn:x","minimum":1.10},"outputSchema":{"type":"object","properties":{}},"annotations":{"readOnlyHint":true,"x":1},"icons":[{"src":"data:","sizes":["1x1"],"theme":"dark","mimeType":"image/png"}],"_meta":{"a":7},"x-odd":[null],"execution":{"taskSupport":"optional"} }"#,
    ),
    (
        What::Prompt,
        r#"{"name":"k","title":"T","description":"D","arguments":[{"name":"a","required":true,"title":"A","description":"d"}],"_meta":{}}"#,
    ),
    (
        What::Resource,
        r#"{"uri":"k:1","name":"n","mimeType":"text/plain","size":5.0,"annotations":{"audience":["user"],"priority":0.50,"lastModified":"2025-01-12T15:00:58Z"}}"#,
    ),
    (
        What::Resource,
        r#"{"name":"","uri":"file:///a%20b","size":18446744073709551616,"annotations":{"priority":1,"lastModified":"2025-01-12T15:00:58.123+02:00"}}"#,
    ),
    (
        What::Template,
        r#"{"uriTemplate":"k://{a}","name":"n","icons":[]}"#,
    ),
];

#[test]
fn what_is_in_order_stays_byte_for_byte() {
    for (what, text) in FINE {
        let shape = shown(what, text);
        assert_eq!(shape.object.get(), text);
        assert!(
            shape.legacy.is_none() && shape.mended.is_empty(),
            "{shape:?}"
        );
    }
}

#[test]
fn output_schemas_with_references_that_are_no_problem_stay() {
    for schema in [
        r#"{"type":"object","properties":{"a":{"$ref":"https://json-schema.org/draft/2020-12/meta/core"}}}"#,
        r##"{"type":"object","x-doc":{"$ref":"#/components/schemas/Pet"}}"##,
        r##"{"type":"object","properties":{"a":{"$ref":"#/x-types/A"}},"x-types":{"A":{"x-see":{"$ref":"other.json"}}}}"##,
    ] {
        let text =
            format!(r#"{{"name":"k","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}"#);
        let shape = shown(What::Tool, &text);
        assert_eq!(shape.mended, [""; 0]);
        assert_eq!(shape.object.get(), text);
    }
}

#[test]
fn what_says_nothing_is_left_out() {
    let start = r#"{"name":"k","inputSchema":{"type":"object"}"#;
    for (member, told) in [
        (r#""description":null"#, "`description` is `null`"),
        (r#""title":7"#, "`title` is `7`"),
        (r#""_meta":7"#, "`_meta` is `7`"),
        (r#""_meta":[]"#, "`_meta` is `[]`"),
        (r#""annotations":[]"#, "`annotations` is `[]`"),
        (r#""icons":{}"#, "`icons` is `{}`"),
        (r#""execution":"none""#, "`execution` is `\"none\"`"),
        (r#""outputSchema":true"#, "`outputSchema` is `true`"),
        (
            r##""outputSchema":{"$ref":"#/none"}"##,
            "`outputSchema` cannot be read: `#/none` leads nowhere in it",
        ),
        (r#""outputSchema":{"type":"any"}"#, "no JSON Schema"),
        (
            r#""outputSchema":{"type":["null","null"]}"#,
            "no JSON Schema",
        ),
        (
            r#""outputSchema":{"type":"object","properties":{"a":{"pattern":"("}}}"#,
            "no JSON Schema",
        ),
        (r#""outputSchema":{"$schema":"urn:x"}"#, "`urn:x`"),
    ] {
        let shape = shown(What::Tool, &format!("{start},{member}, \"x\":1.10}}"));
        assert_eq!(shape.object.get(), format!("{start}, \"x\":1.10}}"));
        assert_eq!(shape.mended.len(), 1, "{shape:?}");
        assert!(shape.mended[0].contains(told), "{shape:?}");
    }
}

/// Clients that read names whatever their case would take these for what their user has approved.
#[test]
fn names_that_differ_in_letter_case_alone_are_left_out() {
    let text = r#"{"name":"k","Name":"other","inputSchema":{"type":"object"},"INPUTSCHEMA":{},"de\u017fcription":"d","annotations":{"readOnlyHint":false,"ReadOnlyHint":true},"x-Name":1,"icons":[{"src":"data:","SRC":"https://x"}],"_meta":{"Name":1}}"#;
    let shape = shown(What::Tool, text);
    assert_eq!(
        shape.object.get(),
        r#"{"name":"k","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false},"x-Name":1,"icons":[{"src":"data:"}],"_meta":{"Name":1}}"#
    );
    assert_eq!(shape.mended.len(), 5, "{shape:?}");
    let is_told = |told: &String| told.ends_with("in letter case alone");
    assert!(shape.mended.iter().all(is_told), "{shape:?}");
    assert!(shape.mended[0].contains("has `Name`, which differs from `name`"));
    let prompt = r#"{"name":"k","arguments":[{"name":"a","Required":true}]}"#;
    let shape = shown(What::Prompt, prompt);
    assert_eq!(
        shape.object.get(),
        r#"{"name":"k","arguments":[{"name":"a"}]}"#
    );
    // In a result nothing was approved.
    let argument = r#"{"name":"a","Name":"b"}"#;
    let judged = ItemValidator::default().record(&ARGUMENT, argument, "");
    assert!(matches!(judged, ValidationOutcome::Fine));
}

#[test]
fn what_is_around_a_bad_part_is_kept() {
    for (what, text, mended) in [
        (
            What::Tool,
            r#"{"name":"k","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"yes","title":"T"}}"#,
            r#"{"name":"k","inputSchema":{"type":"object"},"annotations":{"title":"T"}}"#,
        ),
        (
            What::Tool,
            r#"{"name":"k","inputSchema":{"type":"object"},"icons":[{"url":"x"},{"src":"y","sizes":"1x1"}]}"#,
            r#"{"name":"k","inputSchema":{"type":"object"},"icons":[{"src":"y"}]}"#,
        ),
        (
            What::Tool,
            r#"{"name":"k","inputSchema":{"type":"object"},"execution":{"taskSupport":"maybe"}}"#,
            r#"{"name":"k","inputSchema":{"type":"object"},"execution":{}}"#,
        ),
        (
            What::Prompt,
            r#"{"name":"k","arguments":[{"description":"no name"},{"name":"a","required":"yes"},"b"]}"#,
            r#"{"name":"k","arguments":[{"name":"a"}]}"#,
        ),
        (
            What::Resource,
            r#"{"uri":"k:1","annotations":{"audience":["user","all"],"priority":9,"lastModified":"yesterday"},"size":1.5}"#,
            r#"{"uri":"k:1","annotations":{"audience":["user"]},"name":"k"}"#,
        ),
        (
            What::Template,
            r#"{"uriTemplate":"k:{a}","name":null}"#,
            r#"{"uriTemplate":"k:{a}","name":"k"}"#,
        ),
    ] {
        let shape = shown(what, text);
        assert_eq!(shape.object.get(), mended);
        assert!(!shape.mended.is_empty());
    }
}

#[test]
fn a_tool_that_is_called_as_a_task_alone_is_left_out() {
    for (support, is_left_out) in [
        ("required", true),
        ("optional", false),
        ("forbidden", false),
    ] {
        let text = format!(
            r#"{{"name":"k","inputSchema":{{"type":"object"}},"execution":{{"taskSupport":"{support}"}}}}"#
        );
        let object = RawValue::from_string(text).unwrap();
        let why = Shape::of(What::Tool, "k", &object)
            .err()
            .unwrap_or_default();
        assert_eq!(why.contains("as a task alone"), is_left_out, "{why}");
    }
}

#[test]
fn arguments_are_an_object() {
    let of = |schema: &str| format!(r#"{{"name":"k","inputSchema":{schema}}}"#);
    for (schema, mended) in [
        ("null", r#"{"type":"object"}"#),
        ("true", r#"{"type":"object"}"#),
        ("{}", r#"{"type":"object"}"#),
        (r#"{ "a":1.10}"#, r#"{"type":"object", "a":1.10}"#),
        (r#"{"type":null}"#, r#"{"type":"object"}"#),
        (r#"{"type":["object","null"]}"#, r#"{"type":"object"}"#),
        (
            r#"{"type":"object","properties":[]}"#,
            r#"{"type":"object"}"#,
        ),
        (
            r#"{"properties":null,"required":{}}"#,
            r#"{"type":"object"}"#,
        ),
        (
            r#"{"type":"object","$schema":7,"required":false}"#,
            r#"{"type":"object"}"#,
        ),
    ] {
        let shape = shown(What::Tool, &of(schema));
        assert_eq!(shape.object.get(), of(mended), "{schema}");
        assert!(!shape.mended.is_empty());
    }
    let none = shown(What::Tool, r#"{"name":"k"}"#);
    assert_eq!(none.object.get(), of(r#"{"type":"object"}"#));
    for bad in [
        "7",
        "false",
        "[]",
        r#"{"type":"string"}"#,
        r#"{"type":"object","properties":{"a":"string"}}"#,
        r#"{"type":"object","properties":[1]}"#,
        r#"{"type":"object","required":"a"}"#,
        r#"{"type":"object","required":[1]}"#,
    ] {
        let why = shape(What::Tool, &of(bad)).unwrap_err();
        assert!(why.contains("inputSchema"), "{why}");
    }
}

#[test]
fn what_no_client_could_read_is_left_out() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for (what, text) in [
        (
            What::Tool,
            r#"{"name":"k","description":"\ud83d"}"#.to_owned(),
        ),
        (What::Tool, r#"{"name":"k","x":{"\udc00":1}}"#.to_owned()),
        (What::Tool, r#"{"name":"k","x":1e400}"#.to_owned()),
        (What::Tool, format!(r#"{{"name":"k","x":{deep}}}"#)),
        (What::Tool, "[]".to_owned()),
        (What::Tool, r#"{"name":7}"#.to_owned()),
        (What::Resource, r#"{"uri":"readme","name":"n"}"#.to_owned()),
        (What::Resource, r#"{"uri":"1a:b","name":"n"}"#.to_owned()),
    ] {
        assert!(shape(what, &text).is_err(), "{text}");
    }
}

#[test]
fn old_versions_get_what_they_have() {
    let of = |input: &str, output: &str| {
        format!(r#"{{"name":"k","inputSchema":{input},"outputSchema":{output},"x":1}}"#)
    };
    let object = r#"{"type":"object"}"#;
    let without = format!(r#"{{"name":"k","inputSchema":{object},"x":1}}"#);
    for (input, output, legacy) in [
        (object, r#"{"type":"array","items":{}}"#, without.clone()),
        (object, "{}", without.clone()),
        (object, r#"{"oneOf":[{"type":"object"}]}"#, without.clone()),
        (object, r#"{"type":["object","null"]}"#, without),
        (
            r#"{"type":"object","properties":{"a":true,"b":false,"c":{}}}"#,
            r#"{"properties":{"a":true},"type":"object"}"#,
            of(
                r#"{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{}}}"#,
                r#"{"properties":{"a":{}},"type":"object"}"#,
            ),
        ),
    ] {
        let text = of(input, output);
        let shape = shown(What::Tool, &text);
        assert_eq!(
            shape.object.get(),
            text,
            "as it came, for those who have it"
        );
        assert_eq!(shape.legacy.unwrap().get(), legacy);
        assert!(shape.mended.is_empty());
    }
}

#[test]
fn whatever_comes_nothing_panics() {
    let values = [
        "null",
        "true",
        "0",
        "-1",
        "1e400",
        "\"\"",
        "\"x\"",
        "\"\\ud800\"",
        "[]",
        "[null]",
        "[{}]",
        "{}",
        "{\"type\":7}",
        "{\"\":[]}",
        "{\"a\":1,\"a\":null}",
        "{\"properties\":{\"a\":[]}}",
    ];
    for (what, record) in [
        (What::Tool, &TOOL),
        (What::Prompt, &PROMPT),
        (What::Resource, &RESOURCE),
        (What::Template, &TEMPLATE),
    ] {
        for (member, _) in record.members {
            for value in values {
                let name = if *member == "name" {
                    ""
                } else {
                    r#""name":"k","#
                };
                let text = format!(r#"{{{name}"{member}":{value}}}"#);
                if let Ok(shape) = shape(what, &text) {
                    // What was mended is in order.
                    let again = Shape::of(what, "k", &shape.object).unwrap();
                    assert_eq!(again.object.get(), shape.object.get());
                    assert!(again.mended.is_empty(), "{text}: {again:?}");
                }
            }
        }
    }
}

#[test]
fn odd_items_are_told() {
    let odd = |shown| NonconformingItem {
        what: What::Template,
        name: "a\u{7}b".to_owned(),
        why: "`title` is `7`".to_owned(),
        shown,
    };
    assert_eq!(
        odd(true).to_string(),
        "resource template `a\\u{7}b` is shown without what MCP does not have: `title` is `7`"
    );
    assert!(odd(false).to_string().contains("is not shown"));
    assert!(odd(false).to_string().contains("\nhint: "));
}
