//! SECURITY.md, compared with the tests: each promise names the tests that hold it, and each of
//! these tests exists.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use std::fs;
use std::path::{Path, PathBuf};

use dormouse_tests::artifacts;

/// Sections without promises.
const NO_PROMISES: &[&str] = &["What is trusted", "What this does not do"];

/// A paragraph of SECURITY.md, or an item of a list.
struct Promise {
    text: String,
    tests: Vec<String>,
}

/// Returns the paragraphs and items of lists in the sections that promise something.
fn promises(text: &str) -> Vec<Promise> {
    let mut found: Vec<String> = Vec::new();
    let (mut counts, mut goes_on) = (false, false);
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            counts = !NO_PROMISES.contains(&title.trim());
            goes_on = false;
        } else if line.trim().is_empty() || !counts {
            goes_on = false;
        } else if let Some(promise) = found.last_mut()
            && goes_on
            && !is_item(line)
        {
            promise.push(' ');
            promise.push_str(line.trim());
        } else {
            found.push(line.to_owned());
            goes_on = true;
        }
    }
    found
        .into_iter()
        .map(|text| Promise {
            tests: tests_of(&text),
            text,
        })
        .collect()
}

/// Whether a line begins an item of a list.
fn is_item(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("- ") || line.starts_with("* ")
}

/// Returns the names in `(test: …)` and `(tests: …)`.
fn tests_of(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in text.split("(test").skip(1) {
        let part = part.split(')').next().unwrap_or_default();
        names.extend(part.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    names
}

/// Returns the folder or file of a test binary or a crate.
fn root(binary: &str) -> Option<PathBuf> {
    let workspace = artifacts::workspace();
    let found = match binary {
        "dormouse" => workspace.join("host/src"),
        "dormouse-sdk" => workspace.join("guest-sdk/src"),
        "dormouse-wit" => workspace.join("wit/src"),
        binary if binary.starts_with("dormouse-") => workspace
            .join("host")
            .join(binary.trim_start_matches("dormouse-"))
            .join("src"),
        binary => {
            let folder = workspace.join("tests/tests").join(binary);
            if folder.is_dir() {
                folder
            } else {
                folder.with_extension("rs")
            }
        }
    };
    found.exists().then_some(found)
}

/// Adds the Rust files below a folder, with their modules.
fn files(folder: &Path, modules: &[String], found: &mut Vec<(Vec<String>, PathBuf)>) {
    if folder.is_file() {
        found.push((modules.to_vec(), folder.to_owned()));
        return;
    }
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let mut below = modules.to_vec();
        if path.is_dir() || !["lib", "main", "mod"].contains(&name.as_str()) {
            below.push(name);
        }
        if path.is_dir() || path.extension().is_some_and(|extension| extension == "rs") {
            files(&path, &below, found);
        }
    }
}

/// Whether there is a test function of this name.
fn exists(test: &str) -> bool {
    let mut path: Vec<&str> = test.split("::").collect();
    let Some(function) = path.pop() else {
        return false;
    };
    let Some((binary, modules)) = path.split_first() else {
        return false;
    };
    let Some(root) = root(binary) else {
        return false;
    };
    let mut all = Vec::new();
    files(&root, &[], &mut all);
    all.iter().any(|(of_file, file)| {
        // Modules that are no files are written out in one.
        modules.len() >= of_file.len()
            && of_file.iter().zip(modules).all(|(one, other)| one == other)
            && {
                let text = fs::read_to_string(file).unwrap();
                let inline = modules.iter().skip(of_file.len());
                inline
                    .clone()
                    .all(|module| text.contains(&format!("mod {module} {{")))
                    && is_test(&text, function)
            }
    })
}

/// Whether a source has this function, marked as a test that is run.
fn is_test(text: &str, function: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let named = format!("fn {function}(");
    lines.iter().enumerate().any(|(number, line)| {
        let above = lines.iter().take(number).rev();
        let above: Vec<_> = above
            .take_while(|above| above.starts_with('#') || above.starts_with("//"))
            .collect();
        let has = |attribute: &str| above.iter().any(|above| above.starts_with(attribute));
        line.contains(&named) && (has("#[test]") || has("#[tokio::test")) && !has("#[ignore")
    })
}

#[test]
fn every_promise_names_tests_that_exist() {
    let text = fs::read_to_string(artifacts::workspace().join("SECURITY.md")).unwrap();
    let promises = promises(&text);
    assert!(promises.len() > 10, "{} promises", promises.len());
    let mut problems = Vec::new();
    for promise in &promises {
        let start: String = promise.text.chars().take(70).collect();
        if promise.tests.is_empty() {
            problems.push(format!("names no test: {start}…"));
        }
        for test in promise.tests.iter().filter(|test| !exists(test)) {
            problems.push(format!("there is no test `{test}`: {start}…"));
        }
    }
    assert!(problems.is_empty(), "SECURITY.md: {problems:#?}");

    // The search finds what is there, and nothing else.
    assert!(exists("promises::every_promise_names_tests_that_exist"));
    assert!(!exists("promises::every_promise"));
    assert!(!exists("promises::tests_of"));
    assert!(!exists("nowhere::every_promise_names_tests_that_exist"));
}

#[test]
fn paragraphs_and_items_are_promises() {
    let text = "None.\n\n## What is trusted\n\nNone.\n\n## Some\n\nOne,\nstill one.\n- Two\n  \
        (test: `a::b`)\n  - three\n\nFour (tests: `a::c`, `a::d`).\n";
    let promises = promises(text);
    let found: Vec<_> = promises
        .iter()
        .map(|promise| (promise.text.as_str(), promise.tests.join(" ")))
        .collect();
    let expected = [
        ("One, still one.", ""),
        ("- Two (test: `a::b`)", "a::b"),
        ("  - three", ""),
        ("Four (tests: `a::c`, `a::d`).", "a::c a::d"),
    ];
    assert_eq!(
        found,
        expected.map(|(text, tests)| (text, tests.to_owned()))
    );
}

#[test]
fn what_is_not_run_is_no_test() {
    for (source, expected) in [
        ("#[test]\nfn x() {", true),
        ("/// Does.\n#[test]\n// Why.\nfn x() {", true),
        (
            "#[tokio::test(flavor = \"multi_thread\")]\nasync fn x() {",
            true,
        ),
        ("#[test]\n#[ignore]\nfn x() {", false),
        ("#[ignore = \"slow\"]\n#[test]\nfn x() {", false),
        ("fn x() {", false),
        ("#[test]\nfn y() {}\nfn x() {", false),
    ] {
        assert_eq!(is_test(source, "x"), expected, "{source}");
    }
}
