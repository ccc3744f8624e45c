//! Components that no toolchain makes: code that runs before or around the function that is called,
//! and lies about memory.

mod imports;

use super::*;

/// Returns a component with one function `f` of a text that answers with a text. The parts are code
/// of its core module: further items, the allocator, the function itself, and the clean-up after
/// it.
fn component(more: &str, realloc: &str, function: &str, post_return: &str) -> Vec<u8> {
    let text = format!(
        r#"(component
          (core module $m
            (memory (export "memory") 1)
            {more}
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) {realloc})
            (func (export "f") (param i32 i32) (result i32) {function})
            (func (export "after") (param i32) {post_return})
          )
          (core instance $i (instantiate $m))
          (func (export "f") (param "text" string) (result string)
            (canon lift (core func $i "f") (memory (core memory $i "memory"))
              (realloc (core func $i "realloc"))
              (post-return (core func $i "after"))))
        )"#
    );
    wat::parse_str(text).unwrap()
}

const LOOP: &str = "(loop br 0) unreachable";

/// Returns code that answers with a text: its place and length.
fn answers(place: u32, length: u32) -> String {
    format!(
        "(i32.store (i32.const 8) (i32.const {place}))
         (i32.store (i32.const 12) (i32.const {length})) (i32.const 8)"
    )
}

/// Calls the function of such a component, with half a second for it. Returns whether that fails,
/// and the text.
fn called(component: &[u8]) -> (bool, String) {
    let home = Home::new().unwrap();
    let file = home.plugin_file("bad.wasm", component).unwrap();
    home.server_with("bad", &file, "[servers.bad.limits]\ntimeout = \"500ms\"")
        .unwrap();
    home.guests(&["echo"]).unwrap();
    let mut client = home.serve().unwrap();
    let arguments = json!({ "text": "x".repeat(100) });
    let result = client.call("bad__f", arguments).unwrap();
    let text = client::text(&result).unwrap().to_owned();
    assert_eq!(
        client
            .text("echo__echo", json!({ "text": "good" }))
            .unwrap(),
        "good"
    );
    let status = client.close(dormouse_tests::client::PATIENCE).unwrap();
    assert!(status.success());
    (result["isError"] == true, text)
}

#[test]
fn what_is_sound_answers() {
    let (failed, text) = called(&component(
        "(data (i32.const 32) \"fine\")",
        "(i32.const 1024)",
        &answers(32, 4),
        "",
    ));
    assert_eq!((failed, text.as_str()), (false, "fine"));
}

/// Code that runs when the instance is made, when it is handed a value, and when it has answered.
#[test]
fn what_loops_anywhere_ends_at_the_deadline() {
    let start = "(func $start (loop br 0)) (start $start)";
    let place = "(i32.const 1024)";
    for (what, component) in [
        ("start", component(start, place, &answers(32, 4), "")),
        ("realloc", component("", LOOP, &answers(32, 4), "")),
        ("function", component("", place, LOOP, "")),
        (
            "post-return",
            component("", place, &answers(32, 4), "(loop br 0)"),
        ),
    ] {
        let (failed, text) = called(&component);
        assert!(
            failed && text.contains("longer than 0.5 s"),
            "{what}: {text}"
        );
    }
}

#[test]
fn what_lies_about_memory_fails() {
    let place = "(i32.const 1024)";
    let fine = answers(32, 4);
    for (what, component) in [
        (
            "realloc far outside",
            component("", "(i32.const -1)", &fine, ""),
        ),
        (
            "realloc at the end",
            component("", "(i32.const 65530)", &fine, ""),
        ),
        (
            "realloc that traps",
            component("", "unreachable", &fine, ""),
        ),
        (
            "a start that traps",
            component("(func $s unreachable) (start $s)", place, &fine, ""),
        ),
        (
            "a text outside",
            component("", place, &answers(65_535, 4), ""),
        ),
        (
            "a text of 4 GiB",
            component("", place, &answers(0, u32::MAX), ""),
        ),
        (
            "a text that wraps around",
            component("", place, &answers(u32::MAX - 3, 8), ""),
        ),
        (
            "a result outside",
            component("", place, "(i32.const 65536)", ""),
        ),
        (
            "a result at an odd place",
            component("", place, "(i32.const 9)", ""),
        ),
        (
            "a text that is no UTF-8",
            component(
                "(data (i32.const 32) \"\\ff\\ff\\ff\\ff\")",
                place,
                &fine,
                "",
            ),
        ),
        (
            "a post-return that traps",
            component("", place, &fine, "unreachable"),
        ),
    ] {
        let (failed, text) = called(&component);
        assert!(failed && text.contains("`bad`"), "{what}: {text}");
    }
}

/// The argument and the result share one place: one overwrites the other, in that plugin alone.
#[test]
fn memory_that_is_given_twice_harms_nobody_else() {
    let twice = component("", "(i32.const 8)", &answers(8, 8), "");
    let (failed, text) = called(&twice);
    assert!(!failed, "{text}");
    assert_eq!(text.len(), 8);
}

#[test]
fn thirty_thousand_exports_are_cut_and_told() {
    let exports: String = (0..30_000)
        .map(|number| format!("(export \"f{number}\" (func $f))"))
        .collect();
    let text = format!(
        r#"(component
          (core module $m (func (export "f")))
          (core instance $i (instantiate $m))
          (func $f (canon lift (core func $i "f")))
          {exports}
        )"#
    );
    let home = Home::new().unwrap();
    let file = home
        .plugin_file("bad.wasm", &wat::parse_str(text).unwrap())
        .unwrap();
    home.server("bad", &file).unwrap();
    home.guests(&["echo"]).unwrap();
    let mut client = home.serve().unwrap();
    let tools = client.tools().unwrap();
    assert!(tools.len() <= 10_010, "{}", tools.len());
    assert_eq!(
        client
            .text("echo__echo", json!({ "text": "good" }))
            .unwrap(),
        "good"
    );
    let status = home.server_status("bad").unwrap().to_string();
    assert!(status.contains("10000"), "{status:.2000}");
}

/// Reading a component follows the components within it, down to a limit.
#[test]
fn components_nested_ten_thousand_deep_harm_nobody() {
    const PREAMBLE: &[u8] = b"\0asm\x0d\0\x01\0";
    const COMPONENT_SECTION: u8 = 4;
    let mut component = PREAMBLE.to_vec();
    for _ in 0..10_000 {
        let mut length = component.len();
        let mut outer = PREAMBLE.to_vec();
        outer.push(COMPONENT_SECTION);
        while length >= 0x80 {
            outer.push((length as u8 & 0x7f) | 0x80);
            length >>= 7;
        }
        outer.push(length as u8);
        outer.append(&mut component);
        component = outer;
    }
    let home = Home::new().unwrap();
    let file = home.plugin_file("bad.wasm", &component).unwrap();
    for arguments in [&["inspect"][..], &["check"], &["tools"]] {
        let mut arguments = arguments.to_vec();
        let path = file.display().to_string();
        arguments.push(&path);
        let output = home.command(&arguments).output().unwrap();
        assert!(output.status.code().is_some(), "{arguments:?}: {output:?}");
    }
    home.server("bad", &file).unwrap();
    home.guests(&["echo"]).unwrap();
    let mut client = home.serve().unwrap();
    client.tools().unwrap();
    let good = json!({ "text": "good" });
    assert_eq!(client.text("echo__echo", good).unwrap(), "good");
    let status = home.server_status("bad").unwrap();
    assert_eq!(status["tools"], 0, "{status}");
}

/// Code that reads a type with all types in it would take all of a thread's stack.
#[test]
fn types_nested_a_hundred_thousand_deep_harm_nobody() {
    const TYPE_SECTION: u8 = 7;
    let mut types = vec![1];
    types.extend([0x41, 1, 1].repeat(100_000));
    // A set of flags.
    types.extend([0x6e, 1, 1, b'a']);
    let mut section = vec![TYPE_SECTION];
    let mut length = types.len();
    while length >= 0x80 {
        section.push((length as u8 & 0x7f) | 0x80);
        length >>= 7;
    }
    section.push(length as u8);
    section.extend(types);
    // One that declares nothing, and one whose declaration is in front of it.
    let mut component = b"\0asm\x0d\0\x01\0".to_vec();
    component.extend(&section);
    let home = Home::new().unwrap();
    let packed = home.path().join("packed.wasm");
    let counter = dormouse_tests::artifacts::guest("counter").unwrap();
    let mut pack = home.command(&["pack", "-o"]);
    assert!(pack.args([&packed, &counter]).status().unwrap().success());
    let mut declared = std::fs::read(packed).unwrap();
    declared.extend(&section);
    for (name, component) in [("bad", component), ("declared", declared)] {
        let file = home
            .plugin_file(&format!("{name}.wasm"), &component)
            .unwrap();
        for arguments in [&["inspect"][..], &["check"], &["tools"]] {
            let mut arguments = arguments.to_vec();
            let path = file.display().to_string();
            arguments.push(&path);
            let output = home.command(&arguments).output().unwrap();
            assert!(output.status.code().is_some(), "{arguments:?}: {output:?}");
        }
        home.server(name, &file).unwrap();
    }
    home.guests(&["echo"]).unwrap();
    let mut client = home.serve().unwrap();
    client.tools().unwrap();
    let called = client.error("declared__count", json!({})).unwrap();
    assert!(called.contains("`declared`"), "{called}");
    let good = json!({ "text": "good" });
    assert_eq!(client.text("echo__echo", good).unwrap(), "good");
    let status = home.server_status("bad").unwrap();
    assert_eq!(status["tools"], 0, "{status}");
}

/// A function that is called by its name has the parameters and results of the contract, by which
/// its values are counted.
#[test]
fn functions_of_the_contract_are_what_the_contract_says() {
    let core = r#"(core module $m
            (memory (export "mem") 1)
            (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
            (func (export "f") (param i32 i32 i32 i32) (result i32) (i32.const 0))
            (func (export "begin") (param i32 i32 i32 i32) (result i32) (i32.const 0))
            (func (export "back") (param i32 i32 i32) (result i32) (i32.const 0)))
          (core instance $i (instantiate $m))"#;
    let lift = r#"(memory (core memory $i "mem")) (realloc (core func $i "realloc"))"#;
    for (function, told) in [
        (
            format!(
                r#"(func $f (param "name" string) (param "arguments" string) (result (list string))
                  (canon lift (core func $i "f") {lift}))"#
            ),
            "has other types than in `dormouse wit`",
        ),
        (
            format!(
                r#"(func $f async (param "name" string) (param "arguments" string)
                    (result (result string (error string)))
                  (canon lift (core func $i "begin") async (callback (core func $i "back")) {lift}))"#
            ),
            "is an `async func`, which cannot be called yet",
        ),
    ] {
        let text = format!(
            r#"(component {core} {function}
              (instance $adapter (export "call-tool" (func $f)))
              (export "dormouse:plugin/adapter@0.1.0" (instance $adapter)))"#
        );
        let home = Home::new().unwrap();
        let file = home.plugin_file("odd.wasm", &wat::parse_str(text).unwrap());
        let file = file.unwrap();
        let tools = home.path().join("tools.json");
        let tool = json!([{ "name": "t", "inputSchema": { "type": "object" } }]);
        std::fs::write(&tools, tool.to_string()).unwrap();
        let [packed, tools] = [&file, &tools].map(|path| path.to_str().unwrap());
        let output = home.run(&["pack", packed, "--tools", tools]).unwrap();
        assert!(output.status.success(), "{output:?}");
        home.server("odd", &file).unwrap();
        let mut client = home.serve().unwrap();
        let error = client.error("odd__t", json!({})).unwrap();
        assert!(error.contains(told), "{error}");
    }
}
