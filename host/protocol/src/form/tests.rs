use serde_json::json;

use super::*;

fn form(fields: &Value) -> Value {
    json!({ "type": "object", "properties": fields })
}

/// A field of each kind that the schema of 2025-11-25 has, with all that it may say.
fn all() -> Value {
    json!({
        "text": {
            "type": "string", "title": "T", "description": "D", "minLength": 1,
            "maxLength": 5, "pattern": "^[a-z]+$", "default": "ab"
        },
        "email": { "type": "string", "format": "email" },
        "uri": { "type": "string", "format": "uri" },
        "date": { "type": "string", "format": "date", "default": "2026-07-28" },
        "time": { "type": "string", "format": "date-time" },
        "number": { "type": "number", "minimum": 0.5, "maximum": 9.5, "default": 1.5 },
        "integer": { "type": "integer", "default": 3 },
        "boolean": { "type": "boolean", "default": true },
        "one": { "type": "string", "enum": ["x", "y"], "default": "y" },
        "named": { "type": "string", "enum": ["x", "y"], "enumNames": ["X", "Y"] },
        "titled": {
            "type": "string",
            "oneOf": [{ "const": "x", "title": "X" }, { "const": "y", "title": "Y" }]
        },
        "several": {
            "type": "array", "items": { "type": "string", "enum": ["x", "y"] },
            "minItems": 1, "maxItems": 2, "default": ["x"]
        },
        "several_titled": {
            "type": "array",
            "items": { "anyOf": [{ "const": "x", "title": "X" }, { "const": "y", "title": "Y" }] }
        },
    })
}

#[test]
fn every_kind_of_field_is_read() {
    let mut schema = form(&all());
    schema["required"] = json!(["text", "several"]);
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["additionalProperties"] = json!(false);
    let read = Form::read(&schema).unwrap();
    let plain = |value: &str| FieldChoice {
        value: value.into(),
        title: None,
    };
    let titled = |value: &str| FieldChoice {
        value: value.into(),
        title: Some(value.to_uppercase()),
    };
    let plain = vec![plain("x"), plain("y")];
    let titled = vec![titled("x"), titled("y")];
    let kinds: Vec<_> = read.fields.iter().map(|field| field.kind.clone()).collect();
    assert_eq!(
        kinds,
        [
            FieldKind::Text,
            FieldKind::Text,
            FieldKind::Text,
            FieldKind::Text,
            FieldKind::Text,
            FieldKind::Number,
            FieldKind::Integer,
            FieldKind::Boolean,
            FieldKind::One(plain.clone()),
            FieldKind::One(titled.clone()),
            FieldKind::One(titled.clone()),
            FieldKind::Several(plain),
            FieldKind::Several(titled),
        ]
    );
    let required = read.fields.iter().filter(|field| field.required);
    let required: Vec<_> = required.map(|field| field.name.as_str()).collect();
    assert_eq!(required, ["text", "several"]);
    // A form with nothing to fill in asks for agreement only.
    assert!(Form::read(&form(&json!({}))).unwrap().fields.is_empty());
}

#[test]
fn what_no_client_can_show_is_refused_with_the_reason() {
    for (schema, said) in [
        (json!([1]), "it is `[1]`"),
        (json!({}), "it has no `type`"),
        (json!({ "type": "array" }), "its `type` is `array`"),
        (json!({ "type": "object" }), "it has no `properties`"),
        (
            json!({ "type": "object", "properties": 7 }),
            "its `properties` are `7`",
        ),
        (
            json!({ "type": "object", "properties": {}, "allOf": [] }),
            "it has `allOf`",
        ),
        (
            json!({ "type": "object", "properties": {}, "required": ["a"] }),
            "`a` is required, and there is no such field",
        ),
        (
            json!({ "type": "object", "properties": {}, "required": [1] }),
            "its `required` has `1`",
        ),
        (
            json!({ "type": "object", "properties": {}, "additionalProperties": 7 }),
            "`7`",
        ),
    ] {
        let why = Form::read(&schema).unwrap_err();
        assert!(why.contains(said), "{schema}: {why}");
    }
}

/// Whoever has written a form decides what it costs to read it and to check its answers.
#[test]
fn a_form_costs_little_whatever_is_in_it() {
    let many = |times: usize| -> Map<String, Value> {
        let field = |n| {
            (
                format!("f{n}"),
                json!({ "type": "string", "pattern": "^a$" }),
            )
        };
        (0..times).map(field).collect()
    };
    assert!(Form::read(&form(&many(MAX_PATTERNS).into())).is_ok());
    let why = Form::read(&form(&many(MAX_PATTERNS + 1).into())).unwrap_err();
    assert!(
        why.starts_with("`17` of its fields have a `pattern`"),
        "{why}"
    );
    let long = json!({ "it": { "type": "string", "enum": ["x".repeat(MAX_FORM_BYTES)] } });
    let why = Form::read(&form(&long)).unwrap_err();
    assert!(
        why.contains("bytes, and a form has 262144 at most"),
        "{why}"
    );
    // Nothing is compiled that no form has.
    let costly = json!({ "type": "string", "pattern": "[a-y]{60000}0" });
    let hidden = json!({
        "type": "string",
        "$id": "x",
        "$defs": { "a": costly },
        "properties": { "a": costly },
        "items": { "pattern": "(", "properties": { "a": costly } },
        "contentSchema": costly,
        "dependentSchemas": { "a": { "$ref": "#/nowhere" } },
    });
    let mut schema = form(&json!({ "it": hidden }));
    schema["patternProperties"] = json!({ "(": costly });
    schema["additionalProperties"] = costly.clone();
    assert!(Form::read(&schema).is_ok());
    assert_eq!(fits(&schema, &json!({ "it": "x" })), Ok(()));
    assert!(fits(&schema, &json!({ "it": 1 })).is_err());
    // And a pattern that is none of those is told.
    let why = Form::read(&form(&json!({ "it": costly }))).unwrap_err();
    assert!(why.starts_with("its field `it` is no schema"), "{why}");
}

#[test]
fn a_field_that_no_client_can_show_is_refused_with_its_name() {
    for (field, said) in [
        (json!(true), "is `true`"),
        (
            json!({ "type": "object", "properties": {} }),
            "has the type `object`",
        ),
        (
            json!({ "type": ["string", "null"] }),
            "has the type `[\"string\",\"null\"]`",
        ),
        (json!({ "title": "T" }), "has no `type`"),
        (json!({ "anyOf": [{ "type": "string" }] }), "has `anyOf`"),
        (json!({ "$ref": "http://127.0.0.1:9/x" }), "has `$ref`"),
        (
            json!({ "type": "string", "format": "hostname" }),
            "has the format `hostname`",
        ),
        (
            json!({ "type": "string", "minLength": -1 }),
            "at `/minLength`: `-1` is less",
        ),
        (json!({ "type": "string", "pattern": "(" }), "is no schema"),
        (
            json!({ "type": "string", "minLength": 5, "maxLength": 1 }),
            "has a `minLength` of `5` and a `maxLength` of `1`",
        ),
        (
            json!({ "type": "string", "default": 7 }),
            "has a `default` that does not fit: `7`",
        ),
        (
            json!({ "type": "string", "format": "email", "default": "nope" }),
            "does not fit: `nope`",
        ),
        (
            json!({ "type": "integer", "default": 1.5 }),
            "does not fit: `1.5`",
        ),
        (
            json!({ "type": "integer", "enum": [1, 2] }),
            "only a `string` may",
        ),
        (
            json!({ "type": "string", "enum": [] }),
            "nothing to choose from",
        ),
        (
            json!({ "type": "string", "enum": ["a", 1] }),
            "has `1` in its `enum`",
        ),
        (
            json!({ "type": "string", "enum": ["a"], "default": "b" }),
            "does not fit",
        ),
        (
            json!({ "type": "string", "enum": ["a"], "enumNames": ["A", "B"] }),
            "`2` of `enumNames` for `1`",
        ),
        (
            json!({ "type": "string", "oneOf": [{ "const": "a" }] }),
            "has `{\"const\":\"a\"}` in its `oneOf`",
        ),
        (json!({ "type": "array" }), "has no `items`"),
        (
            json!({ "type": "array", "items": { "type": "string" } }),
            "as its `items`",
        ),
        (
            json!({ "type": "array", "items": { "type": "integer", "enum": [1] } }),
            "as its `items`",
        ),
    ] {
        let why = Form::read(&form(&json!({ "it": field }))).unwrap_err();
        assert!(why.starts_with("its field `it` "), "{field}: {why}");
        assert!(why.contains(said), "{field}: {why}");
    }
}

#[test]
fn fields_are_filled_with_what_fits() {
    let read = Form::read(&form(&all())).unwrap();
    for (name, good, bad) in [
        ("text", json!("abc"), json!("abcdef")),
        ("email", json!("a@b.c"), json!("nope")),
        ("uri", json!("http://x"), json!("no uri")),
        ("date", json!("2026-07-28"), json!("2026-02-30")),
        ("time", json!("2026-07-28T00:00:00Z"), json!("noon")),
        ("number", json!(1), json!(10)),
        ("integer", json!(3), json!(3.5)),
        ("boolean", json!(false), json!("no")),
        ("one", json!("x"), json!("z")),
        ("titled", json!("y"), json!("Y")),
        ("several", json!(["x", "y"]), json!([])),
        ("several_titled", json!([]), json!(["X"])),
    ] {
        let field = read.fields.iter().find(|field| field.name == name).unwrap();
        assert_eq!(field.check(&good), Ok(()), "{name}");
        assert!(field.check(&bad).is_err(), "{name}: {bad}");
    }
}

/// Matching takes time in proportion to the text and to the states of the pattern: defaults are a
/// stranger's, and answers could be, too.
#[test]
fn little_text_is_matched_with_patterns() {
    let form = |default: &str| {
        let field =
            json!({ "type": "string", "pattern": "^[ab]*a[ab]{100}c?$", "default": default });
        json!({ "type": "object", "properties": { "a": field, "b": { "type": "string" } } })
    };
    let short = "a".repeat(200);
    let long = "a".repeat(MAX_MATCHED_BYTES + 1);
    let read = |form: &Value| Form::read(form).map(drop);
    assert_eq!(read(&form(&short)), Ok(()));
    let why = read(&form(&long)).unwrap_err();
    assert!(why.contains("`default`s") && why.contains("8192"), "{why}");
    let asked = form(&short);
    assert_eq!(fits(&asked, &json!({ "a": short, "b": long })), Ok(()));
    let why = fits(&asked, &json!({ "a": long })).unwrap_err();
    assert!(why.contains("8192"), "{why}");
    // A pattern of very many states is none.
    let mut large = form(&short);
    large["properties"]["a"]["pattern"] = json!("^[ab]*a[ab]{8000}c$");
    assert!(read(&large).is_err());
}
