//! Features of the selections of the build: none compiles a dependency of the host once
//! more for other features.

use std::collections::BTreeSet;

use crate::members::Members;
use crate::step;

/// Packages that a selection builds, each with its features, as `NAME VERSION FEATURES`.
fn packages(selection: &[&str]) -> BTreeSet<String> {
    let mut tree = step::cargo();
    // Each is shown in full once: with what it depends on each time, it is ten million lines.
    tree.args(["tree", "--locked", "--prefix", "none"])
        .args(["--format", "{p} [{f}]"])
        .args(selection);
    let output = tree.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    // What was shown before is marked.
    let packages = lines.lines().map(|line| line.trim_end_matches(" (*)"));
    packages.map(str::to_owned).collect()
}

/// Whether a package is a part of the host.
fn is_part(name: &str) -> bool {
    let others = [
        "dormouse-floor",
        "dormouse-guests",
        "dormouse-hostile-guests",
        "dormouse-sdk",
        "dormouse-sdk-macro",
        "dormouse-tests",
        "dormouse-wit",
        "dormouse-workspace-features",
    ];
    name.starts_with("dormouse-") && !others.contains(&name)
}

#[test]
fn the_hosts_dependencies_have_the_same_features_in_each_selection() {
    let tests = packages(&["--workspace", "--edges", "normal,build,dev"]);
    let mut linted = vec!["--workspace", "--edges", "normal,build,dev"];
    let members = Members::read().unwrap();
    linted.extend(members.guests.iter().flat_map(|name| ["--exclude", name]));
    for selection in [
        &["--package", "dormouse", "--edges", "normal,build"][..],
        &["--workspace", "--edges", "normal,build"],
        &linted,
    ] {
        let others: Vec<_> = packages(selection).difference(&tests).cloned().collect();
        assert_eq!(others, [""; 0], "{selection:?} compiles these once more");
    }
    // A part by itself, with its tests: what it shares with the whole.
    let edges = ["--edges", "normal,build,dev"];
    let whole = packages(&[&["--package", "dormouse"][..], &edges].concat());
    let package = |line: &str| line.split(" [").next().map(str::to_owned);
    let mut shared: BTreeSet<_> = whole.iter().map(|line| package(line)).collect();
    // It is empty: to compile it for each choice of its features costs nothing.
    shared.retain(
        |name| !matches!(name, Some(name) if name.starts_with("dormouse-workspace-features ")),
    );
    let parts: Vec<_> = members.native.iter().filter(|name| is_part(name)).collect();
    assert!(parts.len() > 2, "{parts:?}");
    for part in parts {
        let found = packages(&[&["--package", part.as_str()][..], &edges].concat());
        let others = found.difference(&whole);
        let others: Vec<_> = others
            .filter(|line| shared.contains(&package(line)))
            .collect();
        assert_eq!(others, [""; 0], "{part} by itself compiles these once more");
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
