//! SECURITY.md, held against the tests: each promise names the tests that hold it, and
//! each of these is there.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use std::fs;
use std::path::{Path, PathBuf};

use dormouse_tests::artifacts;

/// Sections whose items are no promises.
const NO_PROMISES: &[&str] = &["What is trusted", "What this does not do"];

/// An item of a list of SECURITY.md.
struct Promise {
    text: String,
    tests: Vec<String>,
}

/// Items of all lists in the sections that promise something.
fn promises() -> Vec<Promise> {
    let text = fs::read_to_string(artifacts::workspace().join("SECURITY.md")).unwrap();
    let mut items: Vec<String> = Vec::new();
    let (mut counts, mut in_item) = (false, false);
    for line in text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            counts = !NO_PROMISES.contains(&title.trim());
            in_item = false;
        } else if line.trim().is_empty() {
            in_item = false;
        } else if counts && line.starts_with("- ") {
            items.push(line.to_owned());
            in_item = true;
        } else if in_item && let Some(item) = items.last_mut() {
            item.push(' ');
            item.push_str(line.trim());
        }
    }
    items
        .into_iter()
        .map(|text| Promise {
            tests: tests_of(&text),
            text,
        })
        .collect()
}

/// Names in `(test: …)` and `(tests: …)`.
fn tests_of(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in text.split("(test").skip(1) {
        let part = part.split(')').next().unwrap_or_default();
        names.extend(part.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    names
}

/// The folder or file that a test binary or a crate is made of.
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

/// Rust files below a folder, with the modules that they are.
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

/// Whether a source has this function, marked as a test.
fn is_test(text: &str, function: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let named = format!("fn {function}(");
    lines.iter().enumerate().any(|(number, line)| {
        line.contains(&named)
            && lines
                .iter()
                .take(number)
                .rev()
                .take_while(|above| above.starts_with('#') || above.starts_with("//"))
                .any(|above| above.starts_with("#[test]") || above.starts_with("#[tokio::test"))
    })
}

#[test]
fn every_promise_names_tests_that_exist() {
    let promises = promises();
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
