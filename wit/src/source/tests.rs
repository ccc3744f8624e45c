//! Declarations of WIT, as source text and as components.

use serde_json::{Value, json};

use super::*;
use crate::error::Severity;
use crate::types::Type;
mod components;
mod files;
mod items;
mod mapping;
mod published;
mod tags;
mod unfit;
mod world;

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
    let requests = |number: usize| {
        let requests = (0..number).map(|one| {
            format!("/// @grant http GET,POST https://*.a{one}.example:8443/v1/{one} the API\n")
        });
        let requests = requests.collect::<String>();
        let methods = vec!["GET"; 10 * number].join(",");
        format!(
            "package a:b;\n{requests}/// @grant http {methods} https://a/\nworld w {{ export f: func(); }}\n"
        )
    };
    let inputs: [(&str, &dyn Fn(usize) -> String); 3] = [
        ("functions", &functions),
        ("fields", &fields),
        ("requests", &requests),
    ];
    for (what, input) in inputs {
        dormouse_tests::growth::is_linear(what, 200, input, |wit| {
            std::hint::black_box(declare(wit));
        });
    }
}
