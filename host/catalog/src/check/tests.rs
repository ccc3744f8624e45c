use dormouse_wit::section;
use serde_json::{Value, json};

use super::*;
use crate::tests::{
    adapter, back, by_name, by_name_export, front, resources, tool, typed, with_items, words,
};

mod items;
mod schemas;

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

/// Its author is told by its place: their text stands nowhere.
#[test]
fn a_request_that_nobody_can_give_is_found() {
    let mut declaration = words("Adds.");
    declaration.grants = serde_json::from_value(json!([
        { "kind": "env", "name": "TZ" },
        { "kind": "env", "name": "TZ` (checked by Dormouse) `X" },
    ]))
    .unwrap();
    let bytes = front(&typed(), &declaration);
    assert_eq!(errors(&bytes), [""; 0], "it works without");
    let findings: Vec<_> = check(&bytes).iter().map(ToString::to_string).collect();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(
        findings[0].contains("request 2 is for a variable"),
        "{findings:#?}"
    );
    assert!(!findings[0].contains("checked"), "{findings:#?}");
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
    assert!(crate::component::listing::bytes(&bytes).is_err());
    assert!(dormouse_tests::growth::cpu_time() - start < std::time::Duration::from_secs(1));
}
