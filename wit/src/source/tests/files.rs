//! Files that WIT is read from, and what is said of those that cannot be read.

use super::*;
use crate::CONTRACT_WIT;

/// Errors about the contract's types and package have a hint on naming them.
#[test]
fn what_the_parser_says_of_the_contract_has_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.wit");
    let error = |wit: &str| {
        std::fs::write(&path, wit).unwrap();
        from_wit(&[&path], None).unwrap_err().to_string()
    };
    let told = error("package a:b; world w { export f: func() -> list<content>; }");
    assert!(
        told.contains("\nhint: it is one of the contract's: write `use dormouse:plugin/types@0.1.0.{content};`"),
        "{told}"
    );
    let told = error("package a:b; world w { use dormouse:plugin/types.{content}; }");
    assert!(
        told.contains("\nhint: name it with its version, like `dormouse:plugin/types@0.1.0`"),
        "{told}"
    );
    assert!(!error("package a:b; world w { export f: func() -> x; }").contains("hint"));
    // Of a folder, the parser says twice where it is.
    std::fs::write(&path, "package a:b; world w { export f: func() -> x; }").unwrap();
    let told = from_wit(&[folder.path()], None).unwrap_err().to_string();
    let expected = format!(
        "cannot read the WIT in `{}`: name `x` does not exist",
        folder.path().display()
    );
    assert!(told.starts_with(&expected), "{told}");
    let missing = folder.path().join("wit");
    let told = from_wit(&[&missing], None).unwrap_err().to_string();
    let expected = format!(
        "cannot read the WIT in `{}`: there is no such file or folder",
        missing.display()
    );
    assert_eq!(told, expected);
}

#[test]
fn a_plugin_may_bring_the_contract_itself() {
    let folder = tempfile::tempdir().unwrap();
    let deps = folder.path().join("deps");
    std::fs::create_dir(&deps).unwrap();
    std::fs::write(deps.join("plugin.wit"), CONTRACT_WIT).unwrap();
    std::fs::write(
        folder.path().join("main.wit"),
        "package a:b; world w { use dormouse:plugin/types@0.1.0.{content}; export f: func() -> list<content>; }",
    )
    .unwrap();
    let declared = from_wit(&[folder.path()], None).unwrap();
    assert_eq!(
        declared.declaration.tools[0]
            .function
            .as_ref()
            .unwrap()
            .result,
        Some(Type::Contents)
    );
    assert_eq!(declared.files.len(), 2, "{:?}", declared.files);

    // As a path of its own, too; but not twice.
    let contract = folder.path().join("contract.wit");
    let main = folder.path().join("other.wit");
    std::fs::write(&contract, CONTRACT_WIT).unwrap();
    std::fs::write(&main, "package c:d; world w { export f: func(); }").unwrap();
    let declared = from_wit(&[&contract, &main], None).unwrap();
    assert_eq!(names(&declared.declaration), ["f"]);
    let error = from_wit(&[&contract, &contract, &main], None)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`dormouse:plugin@0.1.0` is there twice"),
        "{error}"
    );
}

#[test]
fn bad_wit_is_an_error_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.wit");
    std::fs::write(&path, "package a:b;\nworld w { export f: fnc(); }").unwrap();
    let error = from_wit(&[&path], None).unwrap_err().to_string();
    assert!(error.contains("bad.wit:2"), "{error}");
    let missing = folder.path().join("missing.wit");
    let error = from_wit(&[&missing], None).unwrap_err().to_string();
    assert!(error.contains("missing.wit"), "{error}");
    assert!(from_wit(&[], None).is_err());
}

/// A stranger's folder may have links to devices in it, which the parser would read without an end.
#[cfg(unix)]
#[test]
fn only_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("deps/x")).unwrap();
    let text = "package a:b;\nworld c {}\n";
    std::fs::write(folder.path().join("a.wit"), text).unwrap();
    std::fs::write(folder.path().join("deps/x/x.wit"), "package x:y;\n").unwrap();
    from_wit(&[folder.path()], None).unwrap();
    for place in ["b.wit", "deps/b.wit", "deps/x/b.wit"] {
        let link = folder.path().join(place);
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        let error = from_wit(&[folder.path()], None).unwrap_err().to_string();
        assert!(
            error.contains(place) && error.contains("is no file"),
            "{error}"
        );
        let error = from_wit(&[&link], None).unwrap_err().to_string();
        assert!(error.contains("is no file"), "{error}");
        std::fs::remove_file(link).unwrap();
    }
}
