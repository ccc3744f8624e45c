use dormouse_wit::section;

use super::*;

/// A component that exports `run: func() -> u32` and `other: func()`.
fn plugin() -> Vec<u8> {
    wat::parse_str(
        r#"(component
            (core module $m
                (func (export "run") (result i32) i32.const 1)
                (func (export "other")))
            (core instance $i (instantiate $m))
            (func (export "run") (result u32) (canon lift (core func $i "run")))
            (func (export "other") (canon lift (core func $i "other"))))"#,
    )
    .unwrap()
}

/// The findings for a file with these bytes, as (severity, item, message).
fn found(bytes: &[u8]) -> Vec<(Severity, String, String)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.wasm");
    std::fs::write(&path, bytes).unwrap();
    check(&path)
        .into_iter()
        .map(|finding| (finding.severity, finding.item, finding.message))
        .collect()
}

/// The plugin's declaration, changed.
fn packed(change: impl FnOnce(&mut Declaration)) -> Vec<u8> {
    let bytes = plugin();
    let mut declaration = source::from_component(&bytes).unwrap().declaration;
    change(&mut declaration);
    section::insert(&bytes, &section::encode(&declaration).unwrap()).unwrap()
}

#[test]
fn a_declaration_that_fits_the_code_is_fine() {
    assert_eq!(found(&packed(|_| {})), []);
    let derived = found(&plugin());
    assert_eq!(derived.len(), 1);
    assert_eq!(derived[0].0, Severity::Warning);
}

#[test]
fn a_declaration_that_does_not_fit_is_told_of() {
    let missing = found(&packed(|declaration| {
        let function = declaration.tools[0].function.as_mut().unwrap();
        function.export.function = "gone".to_owned();
    }));
    let told: Vec<_> = missing
        .iter()
        .map(|(_, item, message)| format!("{item}: {message}"))
        .collect();
    assert_eq!(
        told,
        [
            "tool `run`: its function `gone` is declared, but not exported",
            "function `run`: it is exported, but not declared",
        ]
    );
    let other_type = found(&packed(|declaration| {
        declaration.tools[0].function.as_mut().unwrap().result = Some(dormouse_wit::Type::String);
    }));
    assert_eq!(other_type.len(), 1);
    assert!(
        other_type[0]
            .2
            .starts_with("its function `run` is not what is declared: "),
        "{other_type:?}"
    );
    let undeclared = found(&packed(|declaration| declaration.tools.truncate(1)));
    assert_eq!(undeclared.len(), 1);
    assert_eq!(undeclared[0].1, "function `other`");
    let adapter = found(&packed(|declaration| declaration.tools[0].function = None));
    assert!(
        adapter
            .iter()
            .any(|(_, _, message)| message.contains("`dormouse:plugin/adapter` is not exported")),
        "{adapter:?}"
    );
}

#[test]
fn what_nobody_offers_is_told_of() {
    let importing = |name: &str| {
        let text = format!(r#"(component (import "{name}" (instance)))"#);
        let findings = found(&wat::parse_str(text).unwrap());
        findings.iter().any(|(severity, item, _)| {
            *severity == Severity::Error && *item == format!("import `{name}`")
        })
    };
    assert!(!importing("wasi:io/poll@0.2.12"));
    assert!(!importing("dormouse:plugin/call@0.1.0"));
    assert!(importing("acme:teleport/beam@1.0.0"));
    assert!(importing("wasi:cli/stdout@0.3.0"));
    assert!(importing("wasi:nn/graph@0.2.0"));
}

#[test]
fn code_that_is_not_valid_is_told_of_even_behind_a_good_declaration() {
    let mut bytes = packed(|_| {});
    // The body of `run` is `i32.const 1`, `end`.
    let at = bytes
        .windows(3)
        .rposition(|bytes| bytes == [0x41, 1, 0x0b])
        .unwrap();
    bytes[at] = 0x42;
    let findings = found(&bytes);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].0, Severity::Error);
    assert!(
        findings[0].2.starts_with("it is not valid at byte "),
        "{findings:?}"
    );
}

#[test]
fn files_that_are_no_components_are_told_of_once() {
    for bytes in [
        &b""[..],
        b"#!/bin/sh\n",
        b"\0asm\x01\0\0\0",
        &plugin()[..40],
    ] {
        let findings = found(bytes);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert_eq!(
            (findings[0].0, findings[0].1.as_str()),
            (Severity::Error, "file")
        );
    }
    let missing = check(Path::new("/nonexistent/x.wasm"));
    assert_eq!(
        missing[0].message,
        "`/nonexistent/x.wasm`: there is no such file"
    );
}

#[test]
fn wit_and_names_are_read() {
    let bytes = plugin();
    assert_eq!(names(&bytes).exports, ["run", "other"]);
    let wit = wit(&bytes).unwrap();
    assert!(wit.contains("export run: func() -> u32;"), "{wit}");
}
