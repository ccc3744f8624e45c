use dormouse_wit::section;
use serde_json::{Value, json};

use super::*;
use crate::tests::{
    adapter, back, by_name, by_name_export, front, resources, tool, typed, with_items, words,
};

const ADAPTER: &str = "dormouse:plugin/adapter@0.1.0";
const PROMPTS: &str = "dormouse:plugin/prompts@0.1.0";
const RESOURCES: &str = "dormouse:plugin/resources@0.1.0";

/// Returns the errors as a person reads them.
fn errors(bytes: &[u8]) -> Vec<String> {
    let findings = check(bytes);
    let errors = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error);
    errors.map(ToString::to_string).collect()
}

/// Returns the only error.
fn error(bytes: &[u8]) -> String {
    let errors = errors(bytes);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    errors.into_iter().next().unwrap()
}

#[test]
fn one_fault_is_one_finding() {
    let packed = front(&typed(), &words("Adds."));
    let mut damaged = packed.clone();
    let end = damaged.len();
    damaged[end - 40..].fill(0xff);
    // Valid to a parser, but not to a validator: an alias of what is not there.
    let invalid = wat::parse_str("(component (type $a (func)) (export \"a\" (func 7)))").unwrap();
    for bytes in [
        Vec::new(),
        b"#!/bin/sh".to_vec(),
        b"(component)".to_vec(),
        b"\0asm\x0e\0\x01\0".to_vec(),
        wat::parse_str("(module)").unwrap(),
        packed[..packed.len() - 1].to_vec(),
        packed[..30].to_vec(),
        damaged,
        front(&invalid, &by_name(&[])),
        invalid,
    ] {
        error(&bytes);
    }
}

#[test]
fn two_faults_are_two_findings() {
    // A damaged declaration on top of invalid code.
    let invalid = wat::parse_str("(component (type $a (func)) (export \"a\" (func 7)))").unwrap();
    let errors = errors(&section::insert(&invalid, b"no section").unwrap());
    assert_eq!(errors.len(), 2, "{errors:#?}");
    assert!(
        errors[0].contains("its declaration cannot be read"),
        "{errors:#?}"
    );
    assert!(errors[1].contains("(at byte "), "{errors:#?}");
}

#[test]
fn where_a_declaration_is_not_in_front_is_a_warning() {
    let warnings = |bytes: &[u8]| -> Vec<String> {
        let findings = check(bytes);
        assert!(findings.iter().all(|one| one.severity == Severity::Warning));
        findings.into_iter().map(|one| one.message).collect()
    };
    let content = section::encode(&words("Adds.")).unwrap();
    assert_eq!(warnings(&front(&typed(), &words("Adds."))), [""; 0]);
    let told = warnings(&back(&typed(), &content));
    assert!(
        told.len() == 1 && told[0].contains("not in front"),
        "{told:?}"
    );
    let told = warnings(&typed());
    assert!(
        told.len() == 1 && told[0].contains("there is none"),
        "{told:?}"
    );
}

#[test]
fn what_a_tool_is_for_is_told() {
    let warned = |tool: Value| {
        let findings = check(&front(&adapter(ADAPTER, 2), &by_name(&[("ask", tool)])));
        let told: Vec<_> = findings.iter().map(ToString::to_string).collect();
        told.iter()
            .any(|told| told.starts_with("warning: ask: it has no description"))
    };
    assert!(!warned(tool("ask")));
    for words in [Value::Null, json!(""), json!(" ")] {
        let mut silent = tool("ask");
        silent["description"] = words;
        assert!(warned(silent.clone()), "{silent}");
    }
}

#[test]
fn what_offers_nothing_is_no_plugin() {
    let empty = wat::parse_str("(component)").unwrap();
    for bytes in [empty.clone(), front(&empty, &by_name(&[]))] {
        let told = error(&bytes);
        assert!(
            told.starts_with("error: component: it offers nothing: its world exports nothing"),
            "{told}"
        );
        assert!(told.contains("\nhint: export functions"), "{told}");
        // Nothing to move to its front either.
        let refused = crate::pack(&bytes, None).unwrap_err().to_string();
        assert!(refused.starts_with("it offers nothing"), "{refused}");
    }
    let command = error(&by_name_export("wasi:cli/run@0.2.6", "run", 0));
    assert!(command.contains("it is a command"), "{command}");
    let ours = error(&by_name_export("dormouse:greeter/tools", "greet", 2));
    assert!(
        ours.contains("`dormouse:greeter/tools` is in the namespace `dormouse`"),
        "{ours}"
    );
    // What stands before an upstream offers what that does.
    let upstream = wat::parse_str(
        r#"(component (import "dormouse:plugin/upstream@0.1.0" (instance
            (export "request" (func (param "m" string) (result string))))))"#,
    );
    assert_eq!(errors(&upstream.unwrap()), [""; 0]);
}

#[test]
fn tools_without_functions_need_an_adapter() {
    let declared = by_name(&[("ask", tool("ask")), ("tell", tool("tell"))]);
    assert_eq!(errors(&front(&adapter(ADAPTER, 2), &declared)), [""; 0]);
    let without = front(&wat::parse_str("(component)").unwrap(), &declared);
    // The name alone is no adapter, nor is the function.
    let lies = front(&adapter(ADAPTER, 1), &declared);
    let elsewhere = front(&adapter("wasi:plugin/adapter@0.1.0", 2), &declared);
    for bytes in [without, lies, elsewhere] {
        let told = error(&bytes);
        assert!(told.contains("`ask`, `tell`"), "{told}");
        assert!(
            told.contains(&format!("does not export `{ADAPTER}`")),
            "{told}"
        );
        assert!(told.contains("\nhint: export the adapter"), "{told}");
    }
}

#[test]
fn declaration_and_code_agree() {
    let mut none = words("Adds.");
    none.tools.clear();
    let told = error(&front(&typed(), &none));
    assert!(
        told.contains("add: it is exported, but not declared"),
        "{told}"
    );
    let mut gone = words("Adds.");
    for tool in &mut gone.tools {
        let function = tool.function.as_mut().unwrap();
        function.export.function = "subtract".into();
    }
    let told = errors(&front(&typed(), &gone));
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(
        told[0].contains("`subtract`, which is not exported"),
        "{told:#?}"
    );
}

#[test]
fn names_are_fit_for_agents() {
    let long = "a".repeat(NAME + 1);
    let declared = by_name(&[(&long, tool(&long)), ("a b", tool("a b")), ("ä", tool("ä"))]);
    let findings = check(&front(&adapter(ADAPTER, 2), &declared));
    assert_eq!(findings.len(), 3, "{findings:#?}");
    assert!(findings.iter().all(|one| one.severity == Severity::Warning));
    let prompts = with_items("prompts", &[("a b", json!({ "name": "a b" }))]);
    let findings = check(&front(&by_name_export(PROMPTS, "get-prompt", 2), &prompts));
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(findings[0].message.contains("agents see another name"));
    let twice = by_name(&[("a", tool("a")), ("a", tool("a"))]);
    let told = error(&front(&adapter(ADAPTER, 2), &twice));
    assert!(told.contains("a: it is declared twice"), "{told}");
}

/// Returns the errors of an adapter's tool with such schemas.
fn of_schemas(input: Value, output: Option<Value>) -> Vec<String> {
    let mut tool = json!({ "name": "ask", "inputSchema": input });
    if let Some(output) = output {
        tool["outputSchema"] = output;
    }
    errors(&front(&adapter(ADAPTER, 2), &by_name(&[("ask", tool)])))
}

#[test]
fn good_schemas_are_none_of_its_business() {
    let rich = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "pattern": { "type": "string", "pattern": "^(?!x)\\p{L}+$", "default": "(" },
            "tree": { "$ref": "#/$defs/tree" },
            "pair": { "prefixItems": [{}, {}], "items": false },
            "any": true
        },
        "patternProperties": { "^x-": {} },
        "examples": [{ "pattern": "(" }],
        "$defs": { "tree": { "type": "array", "items": { "$ref": "#/$defs/tree" } } },
        "x-of-somebody": { "pattern": "(" }
    });
    assert_eq!(of_schemas(rich.clone(), Some(rich)), [""; 0]);
}

#[test]
fn a_schema_that_is_none_is_an_error_with_its_place() {
    let with = |property: Value| json!({ "type": "object", "properties": { "a": property } });
    let unused = json!({ "type": "object", "$defs": { "b": { "pattern": "[" } } });
    let key = json!({ "type": "object", "patternProperties": { "(": {} } });
    for (schema, place, what) in [
        (
            with(json!({ "pattern": "(" })),
            "/properties/a/pattern",
            "`(` is not a `regex`",
        ),
        (unused, "/$defs/b/pattern", "`[` is not a `regex`"),
        (key, "/patternProperties", "`(` is not a `regex`"),
        (
            with(json!({ "type": "text" })),
            "/properties/a/type",
            "`text` is not",
        ),
        (
            with(json!({ "minimum": "1" })),
            "/properties/a/minimum",
            "`1` is not of type `number`",
        ),
        (
            with(json!({ "items": [{}] })),
            "/properties/a/items",
            "is not of type",
        ),
        (with(json!({ "$ref": "#/$defs/none" })), "", "/$defs/none"),
        (
            with(json!({ "$ref": "https://example.com/a.json" })),
            "",
            "https://example.com/a.json",
        ),
        (
            with(json!({ "$ref": "file:///etc/passwd" })),
            "",
            "file:///etc/passwd",
        ),
    ] {
        for (which, told) in [
            ("inputSchema", of_schemas(schema.clone(), None)),
            (
                "outputSchema",
                of_schemas(json!({ "type": "object" }), Some(schema.clone())),
            ),
        ] {
            assert_eq!(told.len(), 1, "{told:#?}");
            let start = format!("error: ask: its `{which}` is no JSON Schema at `{place}");
            assert!(told[0].starts_with(&start), "{told:#?}");
            assert!(told[0].contains(what), "{told:#?}");
        }
    }
    let told = of_schemas(with(json!({ "minLength": -1, "pattern": ")" })), None);
    assert_eq!(told.len(), 2, "{told:#?}");
}

#[test]
fn an_input_is_an_object() {
    for schema in [json!({}), json!({ "type": "string" }), json!(true)] {
        let told = of_schemas(schema, None);
        assert_eq!(told.len(), 1, "{told:#?}");
        assert!(
            told[0].contains("ask: its `inputSchema` is not of type `object`"),
            "{told:#?}"
        );
    }
}

#[test]
fn a_schema_may_be_of_an_older_dialect() {
    let of = |dialect: &str| {
        json!({
            "$schema": dialect,
            "type": "object",
            "properties": { "pair": { "items": [{}, {}] } }
        })
    };
    let draft7 = of("http://json-schema.org/draft-07/schema#");
    assert_eq!(of_schemas(draft7.clone(), Some(draft7)), [""; 0]);
    let odd = of_schemas(of("urn:odd"), None);
    assert!(odd.len() == 1 && odd[0].contains("`urn:odd`"), "{odd:#?}");
}

/// Patterns that the host would leave out when it checks arguments are reported.
#[test]
fn the_host_can_match_the_patterns_of_typed_tools() {
    let with = |pattern: &str| {
        let mut declared = words("Adds.");
        for tool in &mut declared.tools {
            let mut object: Value = serde_json::from_str(tool.tool.get()).unwrap();
            object["inputSchema"]["properties"]["a"]["pattern"] = json!(pattern);
            tool.tool = serde_json::value::to_raw_value(&object).unwrap();
        }
        front(&typed(), &declared)
    };
    assert_eq!(errors(&with("^a+$")), [""; 0]);
    let told = error(&with("^(?!x)a+$"));
    assert!(told.contains("at `/properties/a/pattern`"), "{told}");
    assert!(
        told.contains("hint: the host matches in linear time"),
        "{told}"
    );
}

/// An MCP `Resource` that is in order.
fn resource(uri: &str) -> Value {
    json!({ "uri": uri, "name": "r" })
}

/// An MCP `ResourceTemplate` that is in order.
fn template(uri: &str) -> Value {
    json!({ "uriTemplate": uri, "name": "t" })
}

#[test]
fn prompts_and_resources_without_functions_need_an_export_too() {
    let prompts = with_items("prompts", &[("a", json!({ "name": "a" }))]);
    let listed = with_items("resources", &[("a:b", resource("a:b"))]);
    let templates = with_items("templates", &[("a:{x}", template("a:{x}"))]);
    let none = wat::parse_str("(component)").unwrap();
    let right = by_name_export(PROMPTS, "get-prompt", 2);
    assert_eq!(errors(&front(&right, &prompts)), [""; 0]);
    assert_eq!(errors(&front(&resources("failed"), &listed)), [""; 0]);
    assert_eq!(errors(&front(&resources("failed"), &templates)), [""; 0]);
    for (bytes, declared, name, interface) in [
        (none.clone(), &prompts, "`a`", PROMPTS),
        (
            by_name_export(PROMPTS, "get-prompt", 1),
            &prompts,
            "`a`",
            PROMPTS,
        ),
        (adapter(PROMPTS, 2), &prompts, "`a`", PROMPTS),
        (adapter(ADAPTER, 2), &prompts, "`a`", PROMPTS),
        (resources("failed"), &prompts, "`a`", PROMPTS),
        (none.clone(), &listed, "`a:b`", RESOURCES),
        (resources("broken"), &listed, "`a:b`", RESOURCES),
        (
            by_name_export(RESOURCES, "read-resource", 1),
            &listed,
            "`a:b`",
            RESOURCES,
        ),
        (none, &templates, "`a:{x}`", RESOURCES),
        (right, &templates, "`a:{x}`", RESOURCES),
    ] {
        let told = error(&front(&bytes, declared));
        let expected = format!(
            "no function is declared for {name}, and the component does not export `{interface}`"
        );
        assert!(told.contains(&expected), "{told}");
        assert!(
            told.contains("\nhint: export it, or declare functions"),
            "{told}"
        );
    }
}

/// Returns the declaration of [`typed`] as if its only function had another role.
fn as_item(list: &str, key: &str, object: Value) -> Declaration {
    let mut declared = words("Adds.");
    let tool = declared.tools.remove(0);
    let mut item = with_items(list, &[(key, object)]);
    for item in [&mut item.prompts, &mut item.resources, &mut item.templates] {
        for item in item {
            item.function.clone_from(&tool.function);
        }
    }
    Declaration {
        prompts: item.prompts,
        resources: item.resources,
        templates: item.templates,
        ..declared
    }
}

#[test]
fn items_and_code_agree() {
    let mut all = [
        (
            "prompt `a`",
            as_item("prompts", "a", json!({ "name": "a" })),
        ),
        (
            "resource `a:b`",
            as_item("resources", "a:b", resource("a:b")),
        ),
        (
            "resource template `a:{x}`",
            as_item("templates", "a:{x}", template("a:{x}")),
        ),
    ];
    for (what, declared) in &mut all {
        // What is declared in any role is declared.
        assert_eq!(errors(&front(&typed(), declared)), [""; 0]);
        for items in [
            &mut declared.prompts,
            &mut declared.resources,
            &mut declared.templates,
        ] {
            for item in items {
                item.function.as_mut().unwrap().params.pop();
            }
        }
        let told = error(&front(&typed(), declared));
        let expected = format!("{what}, `add`: the number of parameters is `1` in the declaration");
        assert!(told.contains(&expected), "{told}");
        let refused = crate::pack(&typed(), Some(declared.clone())).unwrap_err();
        assert!(refused.to_string().contains(&expected), "{refused}");
        let told = errors(&front(&wat::parse_str("(component)").unwrap(), declared));
        let expected = format!("{what} is declared by `add`, which is not exported");
        assert!(told[0].contains(&expected), "{told:?}");
    }
}

#[test]
fn completion_is_declared_and_exported_or_neither() {
    let completion = "dormouse:plugin/completion@0.1.0";
    let mut declared = by_name(&[]);
    let exporting = adapter(completion, 2);
    // There is nothing else in it, which is told, too.
    let error = |bytes: &[u8]| {
        let mut errors = errors(bytes);
        let nothing = errors.pop().unwrap();
        assert!(nothing.contains("it offers nothing"), "{nothing}");
        errors.pop().unwrap_or_default()
    };
    let told = error(&front(&exporting, &declared));
    assert!(
        told.contains(&format!("{completion}: it is exported, but not declared")),
        "{told}"
    );
    declared.completion = true;
    assert_eq!(error(&front(&exporting, &declared)), "");
    let told = error(&front(&wat::parse_str("(component)").unwrap(), &declared));
    assert!(
        told.contains(&format!("completed, and `{completion}` is not exported")),
        "{told}"
    );
}

#[test]
fn items_are_what_agents_can_use() {
    let prompt = |more: Value| {
        let mut object = json!({ "name": "a" });
        object
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        ("prompts", "a", object)
    };
    let good = [
        prompt(json!({})),
        prompt(json!({ "title": "A", "description": "B", "icons": [], "_meta": {} })),
        prompt(json!({ "arguments": [{ "name": "x", "required": true }, { "name": "y" }] })),
        (
            "resources",
            "a:b",
            json!({ "uri": "a:b", "name": "r", "mimeType": "a/b", "size": 3 }),
        ),
        ("templates", "a:{+x}", template("a:{+x}")),
    ];
    let mended = [
        (prompt(json!({ "title": 7 })), "`title` is `7`"),
        (prompt(json!({ "arguments": {} })), "`arguments` is `{}`"),
        (
            prompt(json!({ "arguments": [{}] })),
            "`arguments[0]` has no `name`",
        ),
        (
            prompt(json!({ "arguments": [{ "name": "x", "required": "yes" }] })),
            "`arguments[0].required` is",
        ),
        (
            ("resources", "a:b", json!({ "uri": "a:b" })),
            "it has no `name`",
        ),
        (
            (
                "resources",
                "a:b",
                json!({ "uri": "a:b", "name": "r", "size": 1.5 }),
            ),
            "`size` is `1.5`",
        ),
        (
            (
                "templates",
                "a:{x}",
                json!({ "uriTemplate": "a:{x}", "name": "t", "mimeType": 1 }),
            ),
            "`mimeType` is `1`",
        ),
    ];
    let bad = [
        (
            prompt(json!({ "arguments": [{ "name": "x" }, { "name": "x" }] })),
            "its argument `x` is there twice",
        ),
        (
            ("resources", "a b", resource("a b")),
            "it is no URI: ` ` cannot be in a URI",
        ),
        (
            ("resources", "a:{x}", resource("a:{x}")),
            "but its URI has variables",
        ),
        (
            ("templates", "a:{?x}", template("a:{?x}")),
            "no URI can be told to be one of this template: `{?x}` is no variable",
        ),
    ];
    for (list, key, object) in good {
        let declared = as_item(list, key, object);
        assert_eq!(errors(&front(&typed(), &declared)), [""; 0]);
    }
    for ((list, key, object), expected) in mended {
        let findings = check(&front(&typed(), &as_item(list, key, object)));
        assert_eq!(findings.len(), 1, "{findings:#?}");
        let told = findings[0].to_string();
        assert!(told.starts_with(&format!("warning: {key}: ")), "{told}");
        assert!(told.contains(expected), "{expected}: {told}");
    }
    for ((list, key, object), expected) in bad {
        let told = error(&front(&typed(), &as_item(list, key, object)));
        assert!(told.starts_with(&format!("error: {key}: ")), "{told}");
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let twice = [("a:b", resource("a:b")), ("a:b", resource("a:b"))];
    let told = error(&front(
        &resources("failed"),
        &with_items("resources", &twice),
    ));
    assert!(told.contains("a:b: it is declared twice"), "{told}");
}

#[test]
fn who_can_be_subscribed_to_has_to_tell() {
    let mut declared = as_item("resources", "a:b", resource("a:b"));
    declared.resources[0].subscribe = true;
    let findings = check(&front(&typed(), &declared));
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!(findings[0].severity, Severity::Warning);
    let told = findings[0].to_string();
    assert!(
        told.contains("does not import `dormouse:plugin/notify@0.1.0`"),
        "{told}"
    );
    let telling = wat::parse_str(
        r#"(component
            (import "dormouse:plugin/notify@0.1.0" (instance
                (export "resource-updated" (func (param "uri" string))))))"#,
    )
    .unwrap();
    let mut declared = by_name(&[]);
    declared.resources = as_item("resources", "a:b", resource("a:b")).resources;
    declared.resources[0].subscribe = true;
    declared.resources[0].function = None;
    let told = errors(&front(&telling, &declared));
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(told[0].contains("does not export"), "{told:#?}");
    assert_eq!(check(&front(&telling, &declared)).len(), 1);
}

/// A validator copies what a component exports for each of its instances.
#[test]
fn components_that_are_instantiated_too_often_are_refused_before_they_are_read() {
    let exports = (0..10_000).map(|n| format!(r#"(export "e{n}" (func $f))"#));
    let exports = exports.collect::<String>();
    let instances = r#"(instance (instantiate $c (with "f" (func $g))))"#.repeat(900);
    let wat = format!(
        r#"(component (import "g" (func $g))
            (component $c (import "f" (func $f)) {exports}) {instances})"#
    );
    let bytes = wat::parse_str(wat).unwrap();
    let start = dormouse_tests::growth::cpu_time();
    let findings = check(&bytes);
    assert!(
        findings
            .iter()
            .any(|found| found.message.contains("so many components")),
        "{findings:?}"
    );
    assert!(crate::read::bytes(&bytes).is_err());
    assert!(dormouse_tests::growth::cpu_time() - start < std::time::Duration::from_secs(1));
}
