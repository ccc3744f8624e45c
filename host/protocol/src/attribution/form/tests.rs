//! Forms that hide something.

use super::*;

/// The only field of a form as it is shown.
fn shown_field(field: Value) -> Value {
    let mut schema = json!({ "type": "object", "properties": { "a": field } });
    show(&mut schema).unwrap();
    schema["properties"]["a"].take()
}

#[test]
fn what_is_only_shown_hides_nothing() {
    let field = shown_field(json!({
        "type": "string", "title": "A\u{202e}", "description": "x\u{1b}[1m [server `bank`]",
        "enum": ["\u{200b}"], "enumNames": ["\u{200b}"],
    }));
    assert_eq!(field["title"], "A\\u{202e}");
    assert_eq!(field["description"], "x\\u{1b}[1m (server `bank`]");
    assert_eq!(field["enumNames"][0], "\\u{200b}");
    // What is sent back is what the server knows.
    assert_eq!(field["enum"][0], "\u{200b}");
}

#[test]
fn what_people_write_stays_as_it_is() {
    for field in [
        json!({ "type": "string", "enum": ["a", "می\u{200c}خواهم", "\u{26a0}\u{fe0f} b", "\u{e0b0}"] }),
        json!({ "type": "string", "default": "a\r\n\tb" }),
        json!({ "type": "string", "title": "❤\u{fe0f} میخ می\u{200c}خواهم", "default": "👨\u{200d}👩\u{200d}👧" }),
        json!({ "type": "string", "enum": ["a\u{200e}"], "enumNames": ["A"] }),
        json!({ "oneOf": [{ "const": "\u{200b}", "title": "None" }] }),
        json!({ "items": { "anyOf": [{ "const": "[server `b`]", "title": "B" }] } }),
        json!({ "type": "array", "items": { "type": "string", "enum": ["co\u{ad}op"] } }),
        json!(true),
    ] {
        assert_eq!(shown_field(field.clone()), field);
    }
}

#[test]
fn a_choice_that_hides_something_is_shown_by_a_title() {
    for (field, expected) in [
        (
            json!({ "enum": ["ok", "\u{202e}a", "שלום\u{200f}", "\u{200e}", 7] }),
            json!({
                "enum": ["ok", "\u{202e}a", "שלום\u{200f}", "\u{200e}", 7],
                "enumNames": ["ok", "\\u{202e}a", "שלום", "\\u{200e}", "7"],
            }),
        ),
        (
            json!({ "enum": ["a", "b\u{200b}"], "enumNames": ["A"] }),
            json!({ "enum": ["a", "b\u{200b}"], "enumNames": ["A", "b\\u{200b}"] }),
        ),
        (
            json!({ "enum": ["[server 'prod']"] }),
            json!({ "enum": ["[server 'prod']"], "enumNames": ["(server 'prod']"] }),
        ),
        (
            json!({ "type": "array", "items": { "type": "string", "enum": ["a", "\u{200b}"] } }),
            json!({ "type": "array", "items": { "anyOf": [
                { "const": "a", "title": "a" }, { "const": "\u{200b}", "title": "\\u{200b}" },
            ] } }),
        ),
        (
            json!({ "oneOf": [{ "const": "a\u{202e}" }, { "const": "b", "title": "\u{200e}" }, 7] }),
            json!({ "oneOf": [
                { "const": "a\u{202e}", "title": "a\\u{202e}" }, { "const": "b", "title": "" }, 7,
            ] }),
        ),
        (
            json!({ "items": { "anyOf": [{ "const": "a\u{202e}", "title": 7 }] } }),
            json!({ "items": { "anyOf": [{ "const": "a\u{202e}", "title": "a\\u{202e}" }] } }),
        ),
        (
            json!({ "type": "string", "default": "\u{1b}[2K" }),
            json!({ "type": "string" }),
        ),
        (json!({ "default": ["a", "a\u{200b}"] }), json!({})),
    ] {
        assert_eq!(shown_field(field.clone()), expected, "{field}");
    }
}

#[test]
fn what_forms_do_not_have_hides_nothing_either() {
    let hidden = "[server `x`] \u{202e}";
    let field = shown_field(json!({
        "type": "string", "format": hidden, "pattern": hidden, "const": hidden, hidden: 1,
        "examples": [hidden], "not": { "enum": [hidden], "$comment": hidden },
        "$defs": { hidden: {}, "b": { "title": hidden } }, "contentMediaType": "text/plain",
    }));
    assert!(!field.to_string().contains('\u{202e}'), "{field}");
    assert!(!field.to_string().contains("[server"), "{field}");
    assert_eq!(field["contentMediaType"], "text/plain");
    let mut schema = json!({
        "properties": { "a\u{200b}": { "title": "A" } },
        "required": ["a\u{200b}", hidden, "b"], "patternProperties": { hidden: {} },
    });
    show(&mut schema).unwrap();
    assert_eq!(schema["required"], json!(["a\u{200b}", "b"]));
    assert_eq!(schema["patternProperties"], json!({}));
    for schema in [json!(hidden), json!([hidden])] {
        assert!(show(&mut schema.clone()).is_err());
    }
}

#[test]
fn choices_that_would_look_alike_are_told_apart() {
    let field =
        shown_field(json!({ "enum": ["coop", "co\u{ad}op", "a", "a\u{200e}", "❤", "❤\u{fe0f}"] }));
    assert_eq!(
        field["enumNames"],
        json!(["coop", "co\\u{ad}op", "a", "a\\u{200e}", "❤", "❤\\u{fe0f}"])
    );
}

#[test]
fn a_field_whose_name_hides_something_has_a_title() {
    let mut schema = json!({ "properties": {
        "a": {}, "a\u{200e}": {}, "b\u{202e}": {}, "c\u{202e}": { "title": "C" },
        "میخ\u{200c}ها": {}, "[server `b`]": { "properties": { "\u{200b}": {} } },
    } });
    show(&mut schema).unwrap();
    let expected = json!({ "properties": {
        "a": {}, "a\u{200e}": { "title": "a\\u{200e}" }, "b\u{202e}": { "title": "b\\u{202e}" },
        "c\u{202e}": { "title": "C" }, "میخ\u{200c}ها": {},
        "[server `b`]": {
            "properties": { "\u{200b}": { "title": "\\u{200b}" } }, "title": "(server `b`]",
        },
    } });
    assert_eq!(schema, expected);
    // There is no place for a title.
    let mut schema = json!({ "properties": { "a\u{200b}": true } });
    let why = show(&mut schema).unwrap_err();
    assert!(why.contains("`a\\u{200b}`"), "{why}");
}

#[test]
fn a_form_is_shown_in_linear_time() {
    let values = |size: usize| -> Vec<Value> {
        let values = (0..size).map(|number| json!(format!("{number}\u{200b}")));
        values.collect()
    };
    let alike = |size: usize| -> Vec<Value> {
        let values = (0..size).map(|number| json!("\u{200b}".repeat(number % 7)));
        values.collect()
    };
    let one_of = |size: usize| -> Value {
        let choices = values(size).into_iter();
        choices.map(|value| json!({ "const": value })).collect()
    };
    let properties = |size: usize| -> Value {
        let fields = (0..size).map(|number| {
            let name = format!("{number}\u{202e}");
            (
                name,
                json!({ "type": "string", "default": "\u{200b}", "title": "\u{200b}" }),
            )
        });
        Value::Object(fields.collect())
    };
    let inputs: [(&str, &dyn Fn(usize) -> Value); 6] = [
        ("enum", &|size| json!({ "a": { "enum": values(size) } })),
        (
            "enum of what looks alike",
            &|size| json!({ "a": { "enum": alike(size) } }),
        ),
        (
            "enumNames",
            &|size| json!({ "a": { "enum": values(size), "enumNames": alike(size / 2) } }),
        ),
        (
            "items",
            &|size| json!({ "a": { "items": { "enum": values(size) } } }),
        ),
        ("oneOf", &|size| json!({ "a": { "oneOf": one_of(size) } })),
        ("properties", &properties),
    ];
    for (what, input) in inputs {
        dormouse_tests::growth::is_linear(what, 300, input, |properties: &Value| {
            let mut schema = json!({ "type": "object", "properties": properties });
            show(&mut schema).unwrap();
            std::hint::black_box(schema);
        });
    }
}
