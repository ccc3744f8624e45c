//! Features of the selections of the build: none compiles a dependency of the host once
//! more for other features.

use std::collections::BTreeSet;

use crate::members::Members;
use crate::step;

/// Packages that a selection builds, each with its features, as `NAME VERSION FEATURES`.
fn packages(selection: &[&str]) -> BTreeSet<String> {
    let mut tree = step::cargo();
    tree.args(["tree", "--locked", "--prefix", "none", "--no-dedupe"])
        .args(["--format", "{p} [{f}]"])
        .args(selection);
    let output = tree.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().map(str::to_owned).collect()
}

/// Whether a package is the host or one of its parts.
fn is_of_host(name: &str) -> bool {
    let others = [
        "dormouse-floor",
        "dormouse-guests",
        "dormouse-sdk",
        "dormouse-sdk-macro",
        "dormouse-tests",
        "dormouse-wit",
    ];
    name.starts_with("dormouse") && !others.contains(&name)
}

#[test]
fn the_hosts_dependencies_have_the_same_features_in_each_selection() {
    let tests = packages(&["--workspace", "--edges", "normal,build,dev"]);
    let mut linted = vec!["--workspace", "--edges", "normal,build,dev"];
    let members = Members::read().unwrap();
    linted.extend(members.guests.iter().flat_map(|name| ["--exclude", name]));
    // A crate by itself, with its tests.
    let parts = members.native.iter().filter(|name| is_of_host(name));
    let parts = parts.map(|name| ["--package", name, "--edges", "normal,build,dev"]);
    let parts: Vec<_> = parts.collect();
    let wholes = [
        &["--package", "dormouse", "--edges", "normal,build"][..],
        &["--workspace", "--edges", "normal,build"],
        &linted,
    ];
    assert!(parts.len() > 5, "{parts:?}");
    for selection in wholes
        .into_iter()
        .chain(parts.iter().map(<[_; 4]>::as_slice))
    {
        let others: Vec<_> = packages(selection).difference(&tests).cloned().collect();
        assert_eq!(others, [""; 0], "{selection:?} compiles these once more");
    }
}
