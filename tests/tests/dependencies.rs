//! The dependency tree, compared with `deny.toml`: licences, sources and versions.
//!
//! The file is cargo-deny's, so that users of that program can run it. The test reads the same
//! lists, because cargo-deny takes minutes to compile and is in no registry built.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use std::collections::BTreeSet;
use std::process::Command;

use dormouse_tests::artifacts;
use serde_json::Value;
use spdx::{Expression, ParseMode};

/// Returns every package that any target of the workspace may be built with.
fn packages() -> Vec<Value> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(artifacts::workspace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// Returns the licences that `deny.toml` allows.
fn allowed() -> BTreeSet<String> {
    let policy = artifacts::read(&artifacts::workspace().join("deny.toml")).unwrap();
    let policy: toml::Table = toml::from_str(std::str::from_utf8(&policy).unwrap()).unwrap();
    let allowed = policy["licenses"]["allow"].as_array().unwrap();
    allowed
        .iter()
        .map(|licence| licence.as_str().unwrap().to_owned())
        .collect()
}

/// Returns the problem with the licence of a package: none where it can be used under one that is
/// allowed.
fn refused(expression: Option<&str>, allowed: &BTreeSet<String>) -> Option<String> {
    let Some(expression) = expression else {
        return Some("it names no licence".to_owned());
    };
    // Some crates of before 2018 write `MIT/Apache-2.0`.
    let parsed = match Expression::parse_mode(expression, ParseMode::LAX) {
        Ok(parsed) => parsed,
        Err(error) => return Some(format!("`{expression}` is no SPDX expression: {error}")),
    };
    let usable = parsed.evaluate(|requirement| allowed.contains(&requirement.to_string()));
    (!usable).then(|| format!("`{expression}` is not allowed by deny.toml"))
}

#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let allowed = allowed();
    let problems: Vec<_> = packages()
        .iter()
        .filter_map(|package| {
            let problem = refused(package["license"].as_str(), &allowed)?;
            Some(format!(
                "{} {}: {problem}",
                package["name"], package["version"]
            ))
        })
        .collect();
    assert!(problems.is_empty(), "{problems:#?}");

    // The rule refuses something.
    for licence in [
        None,
        Some("GPL-3.0-only"),
        Some("MIT AND GPL-3.0-only"),
        Some("nonsense"),
    ] {
        assert!(refused(licence, &allowed).is_some(), "{licence:?}");
    }
    assert_eq!(refused(Some("GPL-3.0-only OR MIT"), &allowed), None);
}

#[test]
fn every_dependency_comes_from_the_registry_and_names_a_version() {
    for package in packages() {
        let source = package["source"].as_str();
        assert!(
            source.is_none_or(|source| source.starts_with("registry+")),
            "`{}` comes from {source:?}",
            package["name"]
        );
        // Only what is ours has no source; what it depends on has to say a version, or to be
        // ours too.
        if source.is_some() {
            continue;
        }
        for dependency in package["dependencies"].as_array().unwrap() {
            assert!(
                dependency["req"] != "*" || dependency["path"].is_string(),
                "`{}` takes any version of `{}`",
                package["name"],
                dependency["name"]
            );
        }
    }
}

/// Authors of plugins in Rust have no clone of this repository: the crates of the SDK have all that
/// a registry wants. (A test of the SDK's README checks that the packages are whole.)
#[test]
fn what_plugins_are_written_with_can_be_published() {
    let packages = packages();
    let ours = ["dormouse-sdk", "dormouse-sdk-macro", "dormouse-wit"];
    for name in ours {
        let package = packages.iter().find(|package| package["name"] == name);
        let package = package.unwrap();
        assert_eq!(
            package["publish"],
            Value::Null,
            "`{name}` is not to be published"
        );
        for wanted in ["description", "license"] {
            let has = package[wanted]
                .as_str()
                .is_some_and(|text| !text.is_empty());
            assert!(has, "`{name}` has no {wanted}");
        }
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        for dependency in dependencies.filter(|one| one["kind"] != "dev" && one["path"].is_string())
        {
            let other = dependency["name"].as_str().unwrap();
            assert!(
                ours.contains(&other),
                "`{name}` needs `{other}`, which nobody can get"
            );
            assert_ne!(
                dependency["req"], "*",
                "`{name}` names no version of `{other}`"
            );
        }
    }
}
