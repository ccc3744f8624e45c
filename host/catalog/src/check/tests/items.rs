//! Prompts, resources and templates.

use super::*;

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

/// Items of a server are passed on by an adapter of it, whatever anybody thinks of them.
#[test]
fn what_is_only_passed_on_is_no_error() {
    for (list, key, object, warns) in [
        ("templates", "a:{x}/{p*}", template("a:{x}/{p*}"), false),
        ("templates", "a:{?x,y}", template("a:{?x,y}"), false),
        ("templates", "{+x}", template("{+x}"), true),
        ("resources", "a:{x}", resource("a:{x}"), true),
        ("resources", "a:b c", resource("a:b c"), true),
    ] {
        let declared = with_items(list, &[(key, object)]);
        let component = resources("failed");
        assert_eq!(errors(&front(&component, &declared)), [""; 0]);
        let findings = check(&front(&component, &declared));
        let warned = findings.iter().any(|finding| finding.item == key);
        assert_eq!(warned, warns, "{key}: {findings:#?}");
    }
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
