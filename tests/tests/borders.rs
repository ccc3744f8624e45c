//! ARCHITECTURE.md: its column "knows nothing of", held against the dependency tree and, where a row is
//! no crate, against the sources; and the files, modules and types that it names.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use dormouse_tests::artifacts;

/// Prefixes of crate names that an entry of the column stands for. Entries of one row are separated
/// by commas.
const MEANINGS: &[(&str, &[&str])] = &[
    ("MCP", &["rmcp", "dormouse-protocol"]),
    ("configuration", &["dormouse-config"]),
    ("connections", &["dormouse-upstream", "hyper", "reqwest"]),
    ("everything else here", &["dormouse"]),
    ("files of components", &["dormouse-catalog"]),
    ("plugins", &["dormouse-runtime"]),
    (
        "the host",
        &[
            "dormouse-catalog",
            "dormouse-config",
            "dormouse-egress",
            "dormouse-files",
            "dormouse-jsonrpc",
            "dormouse-launch",
            "dormouse-policy",
            "dormouse-protocol",
            "dormouse-runtime",
            "dormouse-search",
            "dormouse-secrets",
            "dormouse-text",
            "dormouse-tokens",
            "dormouse-upstream",
        ],
    ),
    ("the wire", &["rmcp", "hyper"]),
    ("tokio", &["tokio"]),
    ("wasmtime", &["wasmtime", "cranelift"]),
];

/// A row of the table.
struct Row {
    /// A folder or a file, as the table names it.
    place: String,
    /// Name of the crate; none where the row is about no crate.
    package: Option<String>,
    /// Entries that it knows nothing of.
    unknown: Vec<String>,
}

/// Returns the rows that know nothing of something.
fn rows(text: &str) -> Vec<Row> {
    let table = text.split_once("## The tree").unwrap().1;
    let table = table.split("\n## ").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    let rows = rows.map(|line| {
        let cells: Vec<_> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        assert!((2..=3).contains(&cells.len()), "{line}");
        let names: Vec<_> = cells[0].split('`').skip(1).step_by(2).collect();
        let unknown = cells
            .get(2)
            .map_or("", |cell| cell.trim_matches('|').trim());
        let unknown = unknown.split(", ").filter(|entry| !entry.is_empty());
        Row {
            place: names[0].to_owned(),
            package: names.get(1).map(|&name| name.to_owned()),
            unknown: unknown.map(str::to_owned).collect(),
        }
    });
    rows.filter(|row| !row.unknown.is_empty()).collect()
}

fn meaning(entry: &str) -> &'static [&'static str] {
    let found = MEANINGS.iter().find(|(name, _)| *name == entry);
    found
        .unwrap_or_else(|| panic!("nothing says what `{entry}` is"))
        .1
}

/// Returns all crates that a package is built of, directly or not, without those of its tests.
fn tree(package: &str) -> BTreeSet<String> {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["tree", "--locked", "--prefix", "none"])
        .args(["--edges", "normal,build", "--format", "{p}"])
        .args(["--package", package])
        .current_dir(artifacts::workspace())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let names = lines.lines().filter_map(|line| line.split(' ').next());
    let others = names.filter(|name| !name.is_empty() && *name != package);
    others.map(str::to_owned).collect()
}

/// Returns the packages of a tree that an entry of the column stands for.
fn known<'t>(tree: &'t BTreeSet<String>, entry: &str) -> Vec<&'t str> {
    // It decides features of what others depend on, and has nothing in it.
    let others = tree
        .iter()
        .filter(|name| *name != "dormouse-workspace-features");
    others
        .filter(|name| meaning(entry).iter().any(|begin| name.starts_with(begin)))
        .map(String::as_str)
        .collect()
}

/// Adds the crates that the sources in a place name.
fn named(place: &Path, names: &mut BTreeSet<String>) {
    if place.is_dir() {
        for entry in fs::read_dir(place).unwrap() {
            named(&entry.unwrap().path(), names);
        }
    } else if place.extension().is_some_and(|extension| extension == "rs") {
        let text = fs::read_to_string(place).unwrap();
        let code = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        for line in code {
            for (at, _) in line.match_indices("::") {
                let before = &line[..at];
                let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
                let start = before.rfind(|c| !is_of_name(c)).map_or(0, |last| last + 1);
                names.insert(before[start..].replace('_', "-"));
            }
        }
    }
}

#[test]
fn nobody_knows_more_than_architecture_says() {
    let workspace = artifacts::workspace();
    let text = fs::read_to_string(workspace.join("ARCHITECTURE.md")).unwrap();
    let rows = rows(&text);
    let mut problems = Vec::new();
    for row in &rows {
        let names = match &row.package {
            Some(package) => tree(package),
            None => {
                let mut names = BTreeSet::new();
                named(&workspace.join(&row.place), &mut names);
                assert!(names.contains("crate"), "`{}` has no sources", row.place);
                names
            }
        };
        for entry in &row.unknown {
            for name in known(&names, entry) {
                problems.push(format!("{}: {entry}, and it has `{name}`", row.place));
            }
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");

    // Every crate of the host has a row, and a border.
    for entry in fs::read_dir(workspace.join("host")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        if folder.join("Cargo.toml").is_file() {
            let package = Some(format!("dormouse-{name}"));
            assert!(rows.iter().any(|row| row.package == package), "{name}");
        }
    }
}

/// The rules refuse a row that is not true.
#[test]
fn whoever_knows_something_is_found() {
    let runtime = tree("dormouse-runtime");
    for entry in ["wasmtime", "tokio", "MCP", "connections", "the host"] {
        assert!(!known(&runtime, entry).is_empty(), "{entry}");
    }
    assert!(known(&runtime, "configuration").is_empty());
    let mut names = BTreeSet::new();
    named(&artifacts::workspace().join("host/src/mcp"), &mut names);
    assert!(!known(&names, "MCP").is_empty());
    let rows = rows("## The tree\n| `a/` (`b`) | c | MCP, tokio |\n| `d` | e | |\n\n## F\n| `g` |");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].package.as_deref(), Some("b"));
    assert_eq!(rows[0].unknown, ["MCP", "tokio"]);
}

/// Names in ARCHITECTURE.md of what other crates have.
const OF_OTHER_CRATES: [&str; 1] = ["set_hostcall_fuel"];

/// Words before the name of what they define.
const DEFINITIONS: [&str; 8] = [
    "const", "enum", "fn", "mod", "static", "struct", "trait", "type",
];

/// Files of the workspace, and the names that are defined in its sources.
#[derive(Default)]
struct Sources {
    files: Vec<String>,
    names: BTreeSet<String>,
}

impl Sources {
    fn read(&mut self, workspace: &Path, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            if name.starts_with('.') || name == "target" || name == "node_modules" {
                continue;
            }
            let within = path.strip_prefix(workspace).unwrap();
            self.files.push(format!("/{}", within.display()));
            self.names
                .insert(path.file_stem().unwrap().to_string_lossy().into_owned());
            if path.is_dir() {
                self.read(workspace, &path);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let mut words = text
                    .split(|c: char| !c.is_alphanumeric() && c != '_')
                    .filter(|word| !word.is_empty());
                while let Some(word) = words.next() {
                    if DEFINITIONS.contains(&word) {
                        self.names.extend(words.next().map(str::to_owned));
                    }
                }
            }
        }
    }

    /// Returns what a name stands for that is not there.
    fn missing<'t>(&self, text: &'t str) -> Option<&'t str> {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if text.ends_with(".rs") || text.contains('/') && text.ends_with('/') {
            let path = format!("/{}", text.trim_end_matches('/'));
            let is_there = self.files.iter().any(|file| file.ends_with(&path));
            return (!is_there).then_some(text);
        }
        let mut parts = text.split("::");
        // What comes first may be the short name of a crate.
        parts.next().filter(|first| first.chars().all(is_word))?;
        let mut parts = parts.filter(|part| part.chars().all(is_word));
        parts.find(|part| !self.names.contains(*part) && !OF_OTHER_CRATES.contains(part))
    }
}

#[test]
fn what_architecture_names_is_there() {
    let workspace = artifacts::workspace();
    let mut sources = Sources::default();
    sources.read(&workspace, &workspace);
    for page in ["ARCHITECTURE.md", "docs/terms.md"] {
        let text = fs::read_to_string(workspace.join(page)).unwrap();
        let spans = text
            .lines()
            .flat_map(|line| line.split('`').skip(1).step_by(2));
        let missing: Vec<_> = spans.filter_map(|span| sources.missing(span)).collect();
        assert!(missing.is_empty(), "{page}: {missing:#?}");
    }
    for (name, is_missing) in [
        ("host/src/roster/names.rs", false),
        ("host/src/roster/none.rs", true),
        ("roster::Snapshot", false),
        ("roster::Snapshots", true),
        ("discovery/formats/", false),
        ("discovery/none/", true),
        ("tools/list", false),
    ] {
        assert_eq!(sources.missing(name).is_some(), is_missing, "{name}");
    }
}
