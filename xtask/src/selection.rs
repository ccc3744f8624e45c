//! Features of the selections of the build: none compiles a dependency once more for other features.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::members::Members;
use crate::step;

/// Part of a package that is compiled: an id, a kind of target and a mode.
type Unit = String;

/// Returns what a selection compiles, each with the choices of features that it is compiled with.
///
/// Of `cargo tree` it cannot be learnt: it does not show what build scripts are compiled with.
fn units(selection: &[&str]) -> BTreeMap<Unit, BTreeSet<String>> {
    let mut build = step::cargo();
    build
        .args(["build", "--release", "--locked", "--unit-graph"])
        .args(["-Z", "unstable-options"])
        .args(selection)
        // It is not stable, and of no use but here.
        .env("RUSTC_BOOTSTRAP", "1");
    let output = build.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let graph: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut units: BTreeMap<Unit, BTreeSet<String>> = BTreeMap::new();
    for unit in graph["units"].as_array().unwrap() {
        let name = format!(
            "{} {} {}",
            unit["pkg_id"], unit["target"]["kind"], unit["mode"]
        );
        // It is empty: to compile it for each choice of its features costs nothing.
        if !name.contains("dormouse-workspace-features") {
            let features = unit["features"].to_string();
            units.entry(name).or_default().insert(features);
        }
    }
    units
}

/// Whether nobody builds a package by itself who needs the rest, too.
fn stands_alone(name: &str) -> bool {
    matches!(
        name,
        "dormouse-floor" | "dormouse-sdk" | "dormouse-sdk-macro" | "dormouse-workspace-features"
    )
}

#[test]
fn dependencies_have_the_same_features_in_each_selection() {
    let whole = units(&["--workspace", "--bins", "--tests"]);
    let members = Members::read().unwrap();
    let mut linted = vec!["--workspace", "--all-targets"];
    linted.extend(members.guests.iter().flat_map(|name| ["--exclude", name]));
    let mut selections = vec![vec!["--workspace", "--bins"], linted];
    for member in members.native.iter().filter(|name| !stands_alone(name)) {
        selections.push(vec!["--package", member, "--all-targets"]);
    }
    selections.push(vec!["--package", "dormouse"]);
    selections.push(vec!["--package", "xtask"]);
    assert!(selections.len() > 15, "{selections:?}");
    for selection in selections {
        let mut others = Vec::new();
        for (unit, features) in units(&selection) {
            let known = whole.get(&unit);
            let known = known.into_iter().flatten().collect::<BTreeSet<_>>();
            let other = features.iter().find(|features| !known.contains(features));
            if let Some(features) = other.filter(|_| !known.is_empty()) {
                others.push(format!("{unit} with {features}, and not {known:?}"));
            }
        }
        assert_eq!(
            others, [""; 0],
            "{selection:?} compiles these once more\n\
             hint: name their features in workspace-features/Cargo.toml, and depend on it"
        );
    }
}

#[test]
fn the_lock_file_of_the_fuzz_targets_is_up_to_date() {
    let mut metadata = step::cargo();
    metadata.args(["metadata", "--format-version", "1", "--locked"]);
    metadata.args(["--manifest-path", "fuzz/Cargo.toml"]);
    let output = metadata.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{errors}\nhint: `cargo update --workspace --manifest-path fuzz/Cargo.toml`"
    );
}
