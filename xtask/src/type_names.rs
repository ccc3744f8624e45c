//! Names of the host's types: each is the name of one type.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Types that there are once for each kind of system, of which only one is compiled.
const ONE_PER_SYSTEM: [&str; 4] = ["CachedDevice", "FileStatus", "PathWatch", "Signals"];

/// Returns the source files of a folder and of those in it, but for tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            files.extend(sources(&path));
        } else if name.ends_with(".rs") && name != "tests.rs" {
            files.push(path);
        }
    }
    files
}

/// Returns the name of the type that a line declares.
fn declared(line: &str) -> Option<&str> {
    let text = line.trim_start();
    let text = match text.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => text,
    };
    let (keyword, rest) = text.split_once(' ')?;
    let is_type = match keyword {
        "struct" | "enum" | "trait" | "union" => true,
        // Those of a trait have the trait's names.
        "type" => !line.starts_with(' '),
        _ => false,
    };
    let name = rest.split(|c: char| !c.is_alphanumeric()).next()?;
    (is_type && name.starts_with(|c: char| c.is_ascii_uppercase())).then_some(name)
}

#[test]
fn each_name_of_a_type_of_the_host_means_one_thing() {
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("../host");
    let mut folders = vec![host.join("src")];
    for entry in fs::read_dir(&host).unwrap() {
        let folder = entry.unwrap().path().join("src");
        folders.extend(Some(folder).filter(|folder| folder.is_dir()));
    }
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in folders.iter().flat_map(|folder| sources(folder)) {
        let text = fs::read_to_string(&file).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let shown = file.strip_prefix(&host).unwrap().display().to_string();
        for name in text.lines().filter_map(declared) {
            places
                .entry(name.to_owned())
                .or_default()
                .push(shown.clone());
        }
    }
    assert!(places.len() > 1000, "{}", places.len());
    places.retain(|name, files| files.len() > 1 && !ONE_PER_SYSTEM.contains(&name.as_str()));
    assert!(
        places.is_empty(),
        "these names have more than one type, in files of host/: {places:#?}\n\
         hint: say in the name what it is: `SlotState`, not `State`"
    );
}
