//! Prompts, resources and templates.

use super::*;

mod prompts;
mod resources;

/// A world with one interface that holds `items` and knows the contract's types.
fn with_types(items: &str) -> String {
    interface(&format!(
        "use dormouse:plugin/types@0.1.0.{{content, prompt-message, embedded-resource}}; {items}"
    ))
}

/// The MCP object of the only item.
fn object(items: &[DeclaredItem]) -> Value {
    let [item] = items else { panic!("{items:?}") };
    serde_json::from_str(item.object.get()).unwrap()
}

fn keys(items: &[DeclaredItem]) -> Vec<&str> {
    items.iter().map(|item| item.key.as_str()).collect()
}

fn result(items: &[DeclaredItem]) -> Type {
    let [item] = items else { panic!("{items:?}") };
    item.function.clone().unwrap().result.unwrap()
}

#[test]
fn what_they_answer_with() {
    let string = || Some(Box::new(Type::String));
    let table = [
        ("@prompt", "string", Type::String),
        ("@prompt", "list<prompt-message>", Type::Messages),
        (
            "@prompt",
            "result<string>",
            Type::Result {
                ok: string(),
                err: None,
            },
        ),
        (
            "@prompt",
            "result<list<prompt-message>, string>",
            Type::Result {
                ok: Some(Box::new(Type::Messages)),
                err: string(),
            },
        ),
        ("@resource a:b", "string", Type::String),
        ("@resource a:b", "list<u8>", Type::Bytes),
        ("@resource a:b", "list<embedded-resource>", Type::Embedded),
        (
            "@resource a:b",
            "result<list<embedded-resource>, u8>",
            Type::Result {
                ok: Some(Box::new(Type::Embedded)),
                err: Some(Box::new(Type::U8)),
            },
        ),
    ];
    for (tag, wit, ty) in table {
        let declaration = sound(&with_types(&format!("/// {tag}\n f: func() -> {wit};")));
        let all = [declaration.prompts, declaration.resources].concat();
        assert_eq!(result(&all), ty, "{tag} {wit}");
    }
    // To a tool, these are lists like any other.
    for name in ["prompt-message", "embedded-resource"] {
        let declaration = sound(&with_types(&format!("f: func() -> list<{name}>;")));
        let function = declaration.tools[0].function.as_ref().unwrap();
        assert!(matches!(function.result, Some(Type::List(_))));
    }
}

#[test]
fn what_a_text_cannot_say_is_no_argument() {
    let fine = [
        "string",
        "char",
        "bool",
        "u8",
        "s64",
        "f32",
        "e",
        "option<e>",
        "option<string>",
    ];
    for ty in fine {
        sound(&with_types(&format!(
            "enum e {{ a }} /** @prompt */ f: func(x: {ty}) -> string;"
        )));
    }
    let bad = [
        "list<u8>",
        "list<string>",
        "tuple<u8>",
        "option<r>",
        "fl",
        "v",
        "result",
        "option<list<string>>",
    ];
    for ty in bad {
        for tag in ["@prompt", "@resource a:{x}"] {
            let (declaration, findings) = declare(&with_types(&format!(
                "record r {{ a: u8 }} flags fl {{ a }} variant v {{ a }}
                /// {tag}
                f: func(x: {ty}, y: string) -> string;"
            )));
            assert!(declaration.prompts.is_empty() && declaration.templates.is_empty());
            assert!(declaration.tools.is_empty());
            let told = messages(&findings);
            assert!(
                told[0].starts_with("error: a:b/i#f: `x` is of type `"),
                "{told:?}"
            );
            assert!(told[0].contains("is a string\nhint: "), "{told:?}");
        }
    }
}

#[test]
fn a_broken_rule_is_an_error_and_the_others_stay() {
    let table = [
        ("@prompt now", "() -> string", "no text belongs after it"),
        (
            "@prompt\n/// @name a b",
            "() -> string",
            "`@name a b` is no prompt name",
        ),
        (
            "@prompt\n/// @readonly",
            "() -> string",
            "there is no tag `@readonly` here",
        ),
        (
            "@prompt\n/// @example {}",
            "() -> string",
            "there is no tag `@example` here",
        ),
        (
            "@prompt\n/// @subscribe",
            "() -> string",
            "there is no tag `@subscribe` here",
        ),
        (
            "@prompt\n/// @resource a:b",
            "() -> string",
            "there is no tag `@resource` here",
        ),
        (
            "@resource a:b\n/// @prompt",
            "() -> string",
            "there is no tag `@prompt` here",
        ),
        (
            "@resource a:b\n/// @idempotent",
            "() -> string",
            "there is no tag `@idempotent` here",
        ),
        (
            "@resource a:{x}\n/// @param x y",
            "(x: u8) -> string",
            "there is no tag `@param` here",
        ),
        (
            "@resource a:b\n/// @resource a:c",
            "() -> string",
            "`@resource` is there twice",
        ),
        (
            "@resource a:b\n/// @mimetype text",
            "() -> string",
            "`@mimetype text` is no media type",
        ),
        (
            "@resource a:b\n/// @subscribe yes",
            "() -> string",
            "takes `true` or `false`",
        ),
        ("@promt", "() -> string", "there is no tag `@promt` here"),
        (
            "@mimetype text/plain",
            "() -> string",
            "there is no tag `@mimetype` here",
        ),
        ("@prompt", "()", "a prompt cannot answer with `nothing`"),
        ("@prompt", "() -> u8", "a prompt cannot answer with `u8`"),
        (
            "@prompt",
            "() -> list<content>",
            "a prompt cannot answer with `list`",
        ),
        (
            "@prompt",
            "() -> result<_, string>",
            "a prompt cannot answer with `nothing`",
        ),
        (
            "@prompt",
            "() -> list<embedded-resource>",
            "a prompt cannot answer with `list`",
        ),
        (
            "@prompt\n/// @param that text",
            "(x: u8) -> string",
            "`@param that`: there is no such",
        ),
        ("@resource a:b", "()", "a resource cannot contain `nothing`"),
        (
            "@resource a:b",
            "() -> list<string>",
            "a resource cannot contain `list`",
        ),
        (
            "@resource a:b",
            "() -> list<prompt-message>",
            "a resource cannot contain `list`",
        ),
        (
            "@resource",
            "() -> string",
            "`@resource` needs a text after it",
        ),
        (
            "@resource all",
            "() -> string",
            "it does not begin with a scheme",
        ),
        ("@resource a:b c", "() -> string", "` ` cannot be in a URI"),
        ("@resource a:{x", "(x: u8) -> string", "`{x` has no `}`"),
        (
            "@resource a:b",
            "(x: u8) -> string",
            "the parameter `x` is no variable of its URI",
        ),
        (
            "@resource a:{x}",
            "() -> string",
            "has the variable `x`, and no parameter",
        ),
        (
            "@resource a:{x}",
            "(x: option<u8>) -> string",
            "`x` is an `option`",
        ),
        (
            "@resource a:{x}",
            "(x: u8, y: u8) -> string",
            "the parameter `y` is no variable",
        ),
    ];
    for (tags, signature, expected) in table {
        let (declaration, findings) = declare(&with_types(&format!(
            "/// {tags}\n f: func{signature}; good: func(); /** @prompt */ fine: func() -> string;"
        )));
        let [finding] = findings.as_slice() else {
            panic!("{tags}: {findings:?}")
        };
        assert_eq!(finding.severity, Severity::Error);
        assert_eq!(finding.item, "a:b/i#f");
        assert!(finding.message.contains(expected), "{expected}: {finding}");
        assert!(names(&declaration).contains(&"good"), "{tags}");
        assert!(keys(&declaration.prompts).contains(&"fine"), "{tags}");
    }
    // Both a variable and a parameter are wrong where their names differ.
    let (_, findings) = declare(&with_types(
        "/// @resource a:{id}\n f: func(ident: u8) -> string;",
    ));
    assert_eq!(findings.len(), 2, "{findings:?}");
}

#[test]
fn a_tagged_function_that_no_agent_can_use_is_an_error() {
    for (tag, noun) in [("@prompt", "prompt"), ("@resource a:b", "resource")] {
        let (declaration, findings) = declare(&interface(&format!(
            "/// {tag}\n f: async func() -> string; good: func();"
        )));
        assert_eq!(names(&declaration), ["good"]);
        let [finding] = findings.as_slice() else {
            panic!("{findings:?}")
        };
        assert_eq!(finding.severity, Severity::Error);
        let start = format!("not a {noun}: `async func`");
        assert!(finding.message.starts_with(&start), "{finding}");
    }
}

#[test]
fn constraints_on_what_is_only_a_text_are_a_warning() {
    for tag in ["@prompt", "@resource a:{x}"] {
        let (declaration, findings) = declare(&interface(&format!(
            "/** @maximum 9 */ type digit = u8;
            /// {tag}
            f: func(x: digit) -> string;"
        )));
        let [finding] = findings.as_slice() else {
            panic!("{findings:?}")
        };
        assert_eq!(finding.severity, Severity::Warning);
        assert!(finding.message.contains("constraints on `x`"), "{finding}");
        assert_eq!(declaration.prompts.len() + declaration.templates.len(), 1);
    }
}

#[test]
fn completion_is_an_export() {
    let world = |export: &str| format!("package a:b; world w {{ export f: func(); {export} }}");
    assert!(!sound(&world("")).completion);
    assert!(!sound(&world("export dormouse:plugin/prompts@0.1.0;")).completion);
    let declaration = sound(&world("export dormouse:plugin/completion@0.1.0;"));
    assert!(declaration.completion);
    assert_eq!(names(&declaration), ["f"]);
}
