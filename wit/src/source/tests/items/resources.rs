//! Resources and templates.

use super::*;

#[test]
fn every_tag_of_a_resource() {
    let declaration = sound(&with_types(
        "
        /// All the notes.
        /// @resource notes://all%20of/them?x=1
        /// @name All of them
        /// @title Notes
        /// @mimetype text/markdown; charset=utf-8
        /// @subscribe
        all-notes: func() -> string;
        tool: func();",
    ));
    assert_eq!(names(&declaration), ["tool"]);
    assert_eq!(
        object(&declaration.resources),
        json!({
            "uri": "notes://all%20of/them?x=1", "name": "All of them", "title": "Notes",
            "description": "All the notes.", "mimeType": "text/markdown; charset=utf-8",
        })
    );
    assert!(declaration.resources[0].subscribe);
    assert_eq!(keys(&declaration.resources), ["notes://all%20of/them?x=1"]);

    let declaration = sound(&with_types(
        "
        /// One note.
        /// @resource notes://{folder_name}/by-id/{+id}
        /// @mimetype text/plain
        one-note: func(id: u32, folder-name: string) -> list<u8>;",
    ));
    assert_eq!(
        object(&declaration.templates),
        json!({
            "uriTemplate": "notes://{folder_name}/by-id/{+id}", "name": "one_note",
            "description": "One note.", "mimeType": "text/plain",
        })
    );
    assert!(!declaration.templates[0].subscribe);
    assert_eq!(result(&declaration.templates), Type::Bytes);
}

#[test]
fn variables_are_arguments_by_either_name() {
    let declaration = sound(&with_types(
        "record args {
            /// @name theId
            ID: u32,
            /// @name ID
            other: string,
            KIND: bool,
        }
        /// @resource a:{theId}/{ID}/{KIND}
        f: func(args: args) -> string;",
    ));
    let function = declaration.templates[0].function.as_ref().unwrap();
    let argument = |name: &str| function.argument(name).map(|field| field.wit.as_str());
    // The JSON name goes before the WIT name.
    assert_eq!(argument("theId"), Some("ID"));
    assert_eq!(argument("ID"), Some("other"));
    assert_eq!(argument("KIND"), Some("KIND"));
    assert_eq!(argument("kind"), Some("KIND"));
    assert_eq!(argument("none"), None);
}

#[test]
fn no_two_resources_have_one_uri() {
    let (declaration, findings) = declare(&interface(
        "/** @resource a:b */ f: func() -> string;
        /** @resource a:b */ g: func() -> string;
        /** @resource a:{x} */ h: func(x: u8) -> string;
        /** @resource a:{x} */ i: func(x: u8) -> string;",
    ));
    assert_eq!(keys(&declaration.resources), ["a:b"]);
    assert_eq!(keys(&declaration.templates), ["a:{x}"]);
    let told = messages(&findings);
    assert!(
        told[0].contains("its URI `a:b` is that of `a:b/i#f` already"),
        "{told:?}"
    );
    assert!(
        told[1].contains("its URI `a:{x}` is that of `a:b/i#h` already"),
        "{told:?}"
    );
}
