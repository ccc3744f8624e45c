//! The protocol's own conformance suite, which the plugin `conformance` answers
//! through `dormouse serve --http`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test is over when something is not as it should be"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use dormouse_tests::{Home, artifacts};
use serde_json::Value;

/// Length of the end of the name of a scenario's results: a moment, with `-` in front.
const STAMP: usize = "-2026-07-28T00-00-00-000Z".len();

fn suite(arguments: &[&str]) -> Command {
    let script = artifacts::npm_file("@modelcontextprotocol/conformance", "dist/index.js").unwrap();
    let mut suite = Command::new(artifacts::node().unwrap());
    suite.arg(script).args(arguments).stdin(Stdio::null());
    suite
}

/// Returns the scenarios for servers that a set consists of, as the suite lists them.
fn scenarios(set: [&str; 2]) -> Vec<String> {
    let listed = suite(&["list", "--server"]).args(set).output().unwrap();
    let text = String::from_utf8(listed.stdout).unwrap();
    let lines = text
        .lines()
        .skip_while(|line| !line.starts_with("Server scenarios"));
    lines
        .skip(1)
        .map_while(|line| line.strip_prefix("  - "))
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect()
}

/// Returns the checks of each scenario that has run, from the files that the suite leaves.
fn results(folder: &Path) -> BTreeMap<String, Vec<Value>> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let name = name.strip_prefix("server-").unwrap();
            let (name, _) = name.split_at(name.len() - STAMP);
            let checks = artifacts::read(&path.join("checks.json")).unwrap();
            (name.to_owned(), serde_json::from_slice(&checks).unwrap())
        })
        .collect()
}

/// Returns the errors of a scenario. A warning of the suite is an error here, too: it is about what
/// the specification says a server should do.
fn wrong(scenario: &str, checks: Option<&Vec<Value>>) -> Option<String> {
    let Some(checks) = checks else {
        return Some(format!("{scenario}: it has not run\n"));
    };
    let text =
        |check: &Value, name: &str| check.get(name).and_then(Value::as_str).map(str::to_owned);
    let mut passed = 0;
    let mut report = String::new();
    for check in checks {
        match text(check, "status").as_deref() {
            Some("SUCCESS") => passed += 1,
            Some("FAILURE" | "WARNING") => {
                let why = text(check, "errorMessage").unwrap_or_default();
                let id = text(check, "id").unwrap_or_default();
                writeln!(report, "{scenario}: {id}: {why}\n    {check}").unwrap();
            }
            _ => {}
        }
    }
    if passed == 0 {
        writeln!(report, "{scenario}: nothing has passed").unwrap();
    }
    (!report.is_empty()).then_some(report)
}

/// Runs a set of scenarios, each of which has to pass.
fn passes(set: [&str; 2], least: usize) {
    let required = scenarios(set);
    assert!(required.len() >= least, "{set:?}: {required:?}");

    let home = Home::new().unwrap();
    let plugin = artifacts::plugin("conformance").unwrap();
    // Without a prefix its things have the names that the suite knows.
    home.server_with("conformance", &plugin, "prefix = \"\"")
        .unwrap();
    // The suite has no option for a header.
    let server = home.serve_http(&["--no-token"]).unwrap();
    let url = server.url();
    let folder = home.path().join("results");
    let output = suite(&["server", "--url", &url, "--output-dir"])
        .arg(&folder)
        .args(set)
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let (_, summary) = printed.split_once("=== SUMMARY ===").unwrap_or_else(|| {
        panic!("there is no summary: {output:?}");
    });
    println!("{set:?}{summary}");

    let results = results(&folder);
    let wrong: String = required
        .iter()
        .filter_map(|scenario| wrong(scenario, results.get(scenario)))
        .collect();
    assert!(wrong.is_empty(), "{wrong}\n{}", server.said());
    assert!(output.status.success(), "{}", output.status);
}

#[test]
fn heavy_conformance_to_2026_07_28() {
    passes(["--requirements", "2026-07-28"], 37);
}

#[test]
fn heavy_conformance_to_2025_11_25() {
    passes(["--requirements", "2025-11-25"], 30);
}

/// There is no list of requirements for this version; so all scenarios that apply to it are run.
#[test]
fn heavy_conformance_to_2025_06_18() {
    passes(["--spec-version", "2025-06-18"], 27);
}
