use serde_json::json;

use super::*;

/// Returns the target of the only reference of a schema, that of its property `a`.
fn target(schema: &Value) -> Result<ReferenceTarget, String> {
    let references = References::of(schema);
    if let Some(why) = references.broken() {
        return Err(why.to_owned());
    }
    let part = schema["properties"]["a"].as_object().unwrap();
    let keyword = ["$ref", "$dynamicRef", "$recursiveRef"]
        .into_iter()
        .find(|keyword| part.contains_key(*keyword));
    Ok(references.target(part, keyword.unwrap()).unwrap().clone())
}

#[test]
fn references_lead_to_parts_of_the_schema_only() {
    let of = |reference: &str| {
        target(&json!({
            "$id": "https://example.com/schemas/own.json",
            "properties": { "a": { "$ref": reference } },
            "$defs": {
                "a b": { "type": "string" },
                "named": { "$anchor": "name" },
                "inner": { "$id": "inner", "$defs": { "deep": { "$anchor": "deep" } } },
                "urn": { "$id": "urn:example:one" }
            }
        }))
    };
    let pointer = |pointer: &str| Ok(ReferenceTarget::Pointer(pointer.to_owned()));
    for (good, leads) in [
        ("#", pointer("")),
        ("#/$defs/a%20b", pointer("/$defs/a b")),
        ("#name", pointer("/$defs/named")),
        (
            "https://example.com/schemas/own.json#/$defs/named",
            pointer("/$defs/named"),
        ),
        ("own.json", pointer("")),
        ("own.json#/$defs/named", pointer("/$defs/named")),
        ("../schemas/own.json#name", pointer("/$defs/named")),
        ("inner", pointer("/$defs/inner")),
        ("inner#/$defs/deep", pointer("/$defs/inner/$defs/deep")),
        ("inner#deep", pointer("/$defs/inner/$defs/deep")),
        ("urn:example:one", pointer("/$defs/urn")),
        (
            "https://json-schema.org/draft/2020-12/schema",
            Ok(ReferenceTarget::MetaSchema),
        ),
        (
            "https://json-schema.org/draft/2020-12/meta/core",
            Ok(ReferenceTarget::MetaSchema),
        ),
        (
            "https://json-schema.org/draft/2019-09/meta/format",
            Ok(ReferenceTarget::MetaSchema),
        ),
    ] {
        assert_eq!(of(good), leads, "{good}");
    }
    for bad in [
        "#/$defs/none",
        "#none",
        // It is a name in another resource.
        "#deep",
        "other",
        "https://example.com/other",
        "https://json-schema.org/draft/2020-12/meta/format",
        "#/%zz",
        "#%",
    ] {
        let why = of(bad).unwrap_err();
        assert!(why.contains("leads nowhere"), "{bad}: {why}");
    }
}

#[test]
fn what_stands_below_an_unknown_keyword_need_not_be_a_reference() {
    let of = |keyword: &str| {
        target(&json!({
            "properties": { "a": {
                "$ref": "#/x-types/Known",
                keyword: { "$ref": "#/components/schemas/Pet" },
            } },
            "x-types": { "Known": { "type": "string" } },
        }))
    };
    let known = ReferenceTarget::Pointer("/x-types/Known".to_owned());
    assert_eq!(of("x-doc"), Ok(known));
    assert!(of("items").unwrap_err().contains("leads nowhere"));
}

#[test]
fn references_in_a_part_with_a_url_are_relative_to_that() {
    let schema = json!({
        "$defs": {
            "tree": {
                "$id": "https://example.com/tree",
                "properties": { "a": { "$ref": "#/$defs/leaf" } },
                "$defs": { "leaf": { "type": "string" } }
            },
            "leaf": { "type": "integer" }
        }
    });
    let references = References::of(&schema);
    let part = schema["$defs"]["tree"]["properties"]["a"]
        .as_object()
        .unwrap();
    let leads = ReferenceTarget::Pointer("/$defs/tree/$defs/leaf".to_owned());
    assert_eq!(references.target(part, "$ref"), Some(&leads));
    assert!(references.has_to_be_rewritten());
}

#[test]
fn a_dynamic_reference_is_followed_where_it_leads_to_one_place() {
    let of = |other: Value| {
        target(&json!({
            "$dynamicAnchor": "node",
            "properties": { "a": { "$dynamicRef": "#node" } },
            "$defs": { "other": other }
        }))
    };
    assert_eq!(of(json!({})), Ok(ReferenceTarget::Pointer(String::new())));
    let other = json!({ "$id": "urn:other", "$dynamicAnchor": "node" });
    assert_eq!(of(other), Ok(ReferenceTarget::Unknown));
    let recursive = |anchor: bool| {
        target(&json!({
            "$schema": "https://json-schema.org/draft/2019-09/schema",
            "$recursiveAnchor": true,
            "properties": { "a": { "$recursiveRef": "#" } },
            "$defs": { "other": { "$id": "urn:other", "$recursiveAnchor": anchor } }
        }))
    };
    assert_eq!(
        recursive(false),
        Ok(ReferenceTarget::Pointer(String::new()))
    );
    assert_eq!(recursive(true), Ok(ReferenceTarget::Unknown));
}

#[test]
fn two_parts_of_one_name_are_nobody_knows_which() {
    let of = |reference: &str| {
        target(&json!({
            "properties": { "a": { "$ref": reference } },
            "$defs": {
                "one": { "$anchor": "name" }, "two": { "$anchor": "name" },
                "three": { "$id": "urn:x" }, "four": { "$id": "urn:x" }
            }
        }))
    };
    assert_eq!(of("#name"), Ok(ReferenceTarget::Unknown));
    assert_eq!(of("urn:x"), Ok(ReferenceTarget::Unknown));
}

#[test]
fn data_has_no_names_and_is_a_schema_where_a_reference_leads_there() {
    let schema = json!({
        "const": { "$id": "urn:const", "$ref": "#/none" },
        "default": { "properties": { "b": { "$ref": "#/$defs/c" } } },
        "properties": {
            "a": { "$ref": "#/default" },
            "default": { "$ref": "#/$defs/c" }
        },
        "$defs": { "c": {} }
    });
    let references = References::of(&schema);
    assert_eq!(references.broken(), None);
    let leads = ReferenceTarget::Pointer("/$defs/c".to_owned());
    for part in [
        &schema["properties"]["default"],
        &schema["default"]["properties"]["b"],
    ] {
        let part = part.as_object().unwrap();
        assert_eq!(references.target(part, "$ref"), Some(&leads));
    }
}

/// Following a reference takes time proportional to its length, for each value again.
#[test]
fn references_have_a_length() {
    let schema = |length: usize| {
        let name = "k".repeat(length);
        let reference = format!("#/$defs/{name}");
        json!({ "properties": { "a": { "$ref": reference } }, "$defs": { name: {} } })
    };
    assert!(target(&schema(1000)).is_ok());
    assert!(target(&schema(300_000)).is_err());
}

/// Each name would keep a pointer of that length.
#[test]
fn what_is_far_from_the_root_is_not_referred_to_by_its_name() {
    let of = |length: usize| {
        target(&json!({
            "properties": { "a": { "$ref": "#name" } },
            "$defs": { "k".repeat(length): { "$anchor": "name" } }
        }))
    };
    assert!(matches!(of(100), Ok(ReferenceTarget::Pointer(_))));
    assert_eq!(of(100_000), Ok(ReferenceTarget::Unknown));
}

/// A validator keeps the pointer to each part.
#[test]
fn pointers_that_are_too_long_together_are_not_compiled() {
    let schema = |length: usize| {
        let properties: Map<_, _> = (0..5000)
            .map(|one| (format!("p{one}"), json!({ "minLength": 1 })))
            .collect();
        let outer = json!({ "properties": properties });
        json!({ "properties": { "k".repeat(length): outer } })
    };
    assert!(References::of(&schema(100)).can_be_compiled());
    assert!(!References::of(&schema(100_000)).can_be_compiled());
    let validator = crate::validator(&schema(100_000)).unwrap();
    let value = json!({ "k".repeat(100_000): { "p1": "" } });
    assert!(validator.problems(&value, 1).unwrap().is_empty());
    let validator = crate::validator(&schema(100)).unwrap();
    let value = json!({ "k".repeat(100): { "p1": "" } });
    assert!(!validator.problems(&value, 1).unwrap().is_empty());
}

#[test]
fn schemas_with_references_are_judged_and_compiled_in_linear_time() {
    let inputs: [(&str, &dyn Fn(usize) -> Value); 5] = [
        ("resources", &|size| {
            let parts = (0..size).map(|one| {
                let part = json!({ "$id": format!("urn:{one}"), "items": { "$ref": "urn:0" } });
                (format!("d{one}"), part)
            });
            json!({ "$defs": Map::from_iter(parts) })
        }),
        ("anchors", &|size| {
            let parts = (0..size).map(|one| {
                let part = json!({ "$anchor": format!("a{one}"), "items": { "$ref": "#a0" } });
                (format!("d{one}"), part)
            });
            json!({ "$defs": Map::from_iter(parts) })
        }),
        ("what several refer to at each level", &|size| {
            let parts = (0..size).map(|one| {
                let next = json!({ "$ref": format!("#/$defs/d{}", (one + 1).min(size - 1)) });
                let part = json!({ "properties": { "a": next, "b": next, "c": next } });
                (format!("d{one}"), part)
            });
            json!({ "$ref": "#/$defs/d0", "$defs": Map::from_iter(parts) })
        }),
        ("resources that lead to one another", &|size| {
            let parts = (0..size).map(|one| {
                let to = |step: usize| json!({ "$ref": format!("urn:{}", (one * step + 1) % size) });
                let part = json!({
                    "$id": format!("urn:{one}"), "$dynamicAnchor": format!("a{one}"),
                    "properties": { "a": to(1), "b": to(3), "c": { "$dynamicRef": format!("#a{one}") } }
                });
                (format!("d{one}"), part)
            });
            json!({ "$ref": "urn:0", "$defs": Map::from_iter(parts) })
        }),
        ("pointers", &|size| {
            let parts = (0..size).map(|one| {
                let next = (one + 1) % size;
                let part = json!({ "items": { "$ref": format!("#/$defs/d{next}") } });
                (format!("d{one}"), part)
            });
            json!({ "$defs": Map::from_iter(parts) })
        }),
    ];
    for (what, input) in inputs {
        dormouse_tests::growth::is_linear(what, 500, input, |schema: &Value| {
            std::hint::black_box(crate::too_costly(schema));
            std::hint::black_box(crate::validator(schema).unwrap());
        });
    }
}

#[test]
fn long_urls_are_kept_by_nobody() {
    let parts = (0..1000).map(|index| (format!("p{index}"), json!({ "$id": format!("b{index}") })));
    let parts = Value::Object(parts.collect());
    let long = "x".repeat(2 * MAX_REFERENCE_BYTES);
    let schema = json!({
        "$id": format!("https://example.com/{long}/"),
        "properties": { "a": { "$ref": "b1" } },
        "$defs": parts
    });
    let references = References::of(&schema);
    let kept: usize = references.by_url.keys().map(String::len).sum();
    assert!(kept < 100_000, "{kept}");
    let long = references
        .resources
        .iter()
        .filter_map(|one| one.url.as_ref());
    assert!(long.map(|url| url.as_str().len()).max() <= Some(MAX_REFERENCE_BYTES));
}
