//! Files that are no plugins, or not the plugins that they claim to be. Each is
//! told of where it can be, and takes nothing else down.

use std::time::Duration;

use dormouse_tests::{Home, artifacts, component};
use serde_json::json;

fn guest(name: &str) -> Vec<u8> {
    artifacts::read(&artifacts::guest(name).unwrap()).unwrap()
}

/// Checks what a host with this file as server `odd` says of it, in `dormouse list` or at the first
/// call of its first tool: all of `parts`. The host serves another server meanwhile.
fn is_refused(bytes: &[u8], parts: &[&str]) {
    let home = Home::new().unwrap();
    let file = home.plugin_file("odd.wasm", bytes).unwrap();
    home.server("odd", &file).unwrap();
    home.server("good", &artifacts::guest("echo").unwrap())
        .unwrap();
    let mut client = home.serve().unwrap();
    let tools = client.tools().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "good__echo"));
    let odd = tools.iter().find_map(|tool| {
        tool["name"]
            .as_str()
            .filter(|name| name.starts_with("odd__"))
    });
    let told = match odd {
        Some(tool) => client.error(tool, json!({})).unwrap(),
        None => {
            let status = home.server_status("odd").unwrap();
            assert_eq!(status["state"], "failed");
            status["error"].as_str().unwrap().to_owned()
        }
    };
    for part in parts {
        assert!(told.contains(part), "no `{part}` in `{told}`");
    }
    assert_eq!(
        client
            .text("good__echo", json!({ "text": "well" }))
            .unwrap(),
        "well"
    );
    assert!(client.close(Duration::from_secs(6)).unwrap().success());

    // `check` comes to the same verdict, without a host.
    let check = home.run(&["check", file.to_str().unwrap()]).unwrap();
    assert_eq!(check.status.code(), Some(1), "{check:?}");
}

#[test]
fn a_core_module() {
    is_refused(
        &wat::parse_str("(module (func (export \"run\")))").unwrap(),
        &["core", "component"],
    );
}

#[test]
fn nothing_at_all() {
    is_refused(b"", &["odd.wasm"]);
}

#[test]
fn something_else() {
    is_refused(b"#!/bin/sh\necho hello\n", &["odd.wasm"]);
}

/// A function that claims a length of four gigabytes is not believed: there would be no room.
#[test]
#[cfg(unix)]
fn a_length_of_four_gigabytes() {
    let mut bytes = wat::parse_str("(component (core module (func (nop) (nop) (nop))))").unwrap();
    let code = [0x0a, 0x07, 0x01, 0x05, 0x00, 0x01, 0x01, 0x01, 0x0b];
    let at = bytes.windows(code.len()).position(|found| found == code);
    let length = at.unwrap() + 3;
    bytes[length..length + 5].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0x0f]);
    let home = Home::new().unwrap();
    let file = home.plugin_file("odd.wasm", &bytes).unwrap();
    for verb in ["check", "inspect", "pack"] {
        let dormouse = home.command(&[verb, file.to_str().unwrap()]);
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", "ulimit -v 3000000; exec \"$@\"", "sh"]);
        limited
            .arg(dormouse.get_program())
            .args(dormouse.get_args());
        for (name, value) in dormouse.get_envs() {
            match value {
                Some(value) => limited.env(name, value),
                None => limited.env_remove(name),
            };
        }
        let output = limited.output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{verb}: {output:?}");
        let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(
            told.contains("damaged") || told.contains("end-of-file"),
            "{verb}: {told}"
        );
    }
}

#[test]
fn a_truncated_file() {
    let whole = guest("echo");
    // In the preamble, in the core module, and just before the end.
    for length in [4, 100, whole.len() / 2, whole.len() - 1] {
        is_refused(&whole[..length], &[]);
    }
}

/// A component with an import that no host has.
#[test]
fn a_missing_import() {
    let bytes = wat::parse_str(
        r#"(component
            (import "acme:teleport/beam@1.0.0" (instance $beam (export "go" (func))))
            (alias export $beam "go" (func $go))
            (core func $lowered (canon lower (func $go)))
            (core module $m (import "" "go" (func $go)) (func (export "run") call $go))
            (core instance $i (instantiate $m (with "" (instance (export "go" (func $lowered))))))
            (func (export "run") (canon lift (core func $i "run")))
        )"#,
    );
    is_refused(&bytes.unwrap(), &["acme:teleport/beam@1.0.0"]);
}

/// A component that was made for a later contract.
#[test]
fn another_version_of_the_contract() {
    let bytes = wat::parse_str(
        r#"(component
            (import "dormouse:plugin/call@9.0.0" (instance $call (export "is-cancelled" (func (result bool)))))
            (alias export $call "is-cancelled" (func $is))
            (core func $lowered (canon lower (func $is)))
            (core module $m (import "" "is" (func $is (result i32))) (func (export "run") call $is drop))
            (core instance $i (instantiate $m (with "" (instance (export "is" (func $lowered))))))
            (func (export "run") (canon lift (core func $i "run")))
        )"#,
    );
    is_refused(&bytes.unwrap(), &["dormouse:plugin/call@9.0.0", "0.1"]);
}

/// A component that is fine, and of no use to any agent.
#[test]
fn one_that_offers_nothing() {
    let home = Home::new().unwrap();
    let bytes = wat::parse_str("(component)").unwrap();
    let file = home.plugin_file("odd.wasm", &bytes).unwrap();
    let file = file.to_str().unwrap();
    for words in [&["check", file][..], &["add", "odd", file], &["pack", file]] {
        let refused = home.run(words).unwrap();
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        let told = [refused.stdout, refused.stderr].concat();
        let told = String::from_utf8(told).unwrap();
        assert!(
            told.contains("it offers nothing") && told.contains("hint: export functions"),
            "{words:?}: {told}"
        );
    }
    home.server("odd", &home.path().join("plugins/odd.wasm"))
        .unwrap();
    let doctor = home.run(&["doctor"]).unwrap();
    assert_eq!(doctor.status.code(), Some(1), "{doctor:?}");
    let told = String::from_utf8(doctor.stdout).unwrap();
    assert!(told.contains("it offers nothing"), "{told}");
}

/// A section that declares the tools of another plugin.
#[test]
fn a_section_that_lies() {
    let home = Home::new().unwrap();
    // Packed, its section is in front, and the first of the file.
    let honest = home.plugin_file("honest.wasm", &guest("counter")).unwrap();
    let packed = home.path().join("packed.wasm");
    let pack = home
        .run(&[
            "pack",
            honest.to_str().unwrap(),
            "--output",
            packed.to_str().unwrap(),
        ])
        .unwrap();
    assert!(pack.status.success(), "{pack:?}");
    let packed = artifacts::read(&packed).unwrap();
    let section = first_section(&packed);
    // `spin` exports a function, but it is neither called `count` nor gives a number.
    let liar = component::with_section_in_front(&guest("spin"), "dormouse:declaration", section);
    is_refused(&liar, &["count"]);
}

/// Returns the data of the custom section right behind the preamble.
fn first_section(component: &[u8]) -> &[u8] {
    fn leb128(bytes: &mut &[u8]) -> usize {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let (byte, rest) = bytes.split_first().unwrap();
            *bytes = rest;
            value |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return value;
            }
        }
        unreachable!()
    }
    let mut rest = &component[8..];
    assert_eq!(rest[0], 0, "not a custom section");
    rest = &rest[1..];
    let size = leb128(&mut rest);
    let mut section = &rest[..size];
    let name = leb128(&mut section);
    assert_eq!(&section[..name], b"dormouse:declaration");
    &section[name..]
}

/// A section full of rubbish is neither believed nor crashed on.
#[test]
fn a_section_of_rubbish() {
    for rubbish in [
        &b""[..],
        b"{",
        b"\xff\xff\xff\xff\xff",
        &[0xff; 4096],
        b"null",
        b"[]",
    ] {
        let bytes =
            component::with_section_in_front(&guest("spin"), "dormouse:declaration", rubbish);
        is_refused(&bytes, &["dormouse:declaration"]);
    }
}

/// The validator of wasm-tools takes what we build for what it is, and its printer has
/// the WIT of it.
#[test]
fn every_component_is_valid_and_has_wit() {
    let guests = dormouse_guests::NAMES
        .iter()
        .map(|name| artifacts::guest(name).unwrap());
    let plugins = ["filesystem", "time"]
        .iter()
        .map(|name| artifacts::plugin(name).unwrap());
    let home = Home::new().unwrap();
    let wit = artifacts::workspace().join("tests/foreign/wit");
    let foreign = ["js", "py"].iter().map(|name| {
        let packed = home.path().join(format!("{name}.wasm"));
        let component = artifacts::foreign(name).unwrap();
        let [component, wit, output] =
            [&component, &wit, &packed].map(|path| path.to_str().unwrap());
        let pack = home.run(&["pack", component, "--wit", wit, "--output", output]);
        assert!(pack.unwrap().status.success());
        packed
    });
    for component in guests.chain(plugins).chain(foreign) {
        let bytes = artifacts::read(&component).unwrap();
        let features = wasmparser::WasmFeatures::default();
        let verdict = wasmparser::Validator::new_with_features(features).validate_all(&bytes);
        assert_eq!(
            verdict.err().map(|error| error.to_string()),
            None,
            "{}",
            component.display()
        );

        let decoded = wit_component::decode(&bytes).unwrap();
        let mut printer = wit_component::WitPrinter::default();
        printer
            .print(decoded.resolve(), decoded.package(), &[])
            .unwrap();
        assert!(
            printer.output.to_string().contains("world"),
            "{}",
            component.display()
        );
    }
}

/// `check` finds nothing wrong with what is right.
#[test]
fn every_good_component_passes_the_check() {
    let home = Home::new().unwrap();
    // Some of its schemas are none, and are there to be refused.
    let good = dormouse_guests::NAMES
        .iter()
        .filter(|name| **name != "adapter");
    let guests = good.map(|name| artifacts::guest(name).unwrap());
    let plugins = ["filesystem", "time"]
        .iter()
        .map(|name| artifacts::plugin(name).unwrap());
    for component in guests.chain(plugins) {
        let output = home.run(&["check", component.to_str().unwrap()]).unwrap();
        assert!(
            output.status.success(),
            "{}: {output:?}",
            component.display()
        );
    }
}
