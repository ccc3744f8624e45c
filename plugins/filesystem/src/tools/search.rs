//! Finding files by a pattern.

use crate::error::{Error, MAX_BYTES};
use crate::glob::Glob;
use crate::paths::Folders;
use crate::walk::{Step, Walk};

/// `search_files`: full paths, one a line. Links that lead nowhere or out of the
/// granted folders are not found, and directories that cannot be read are
/// skipped, all as in the reference.
pub fn files(
    folders: &Folders,
    path: &str,
    pattern: &str,
    exclude: &[String],
) -> Result<String, Error> {
    let root = folders.resolve(path)?;
    let pattern = Glob::new(pattern)?;
    let excluded = exclude
        .iter()
        .map(|pattern| Glob::new(pattern))
        .collect::<Result<Vec<_>, _>>()?;
    let mut walk = Walk::new(&root)?;
    let mut results = String::new();
    while let Some(step) = walk.next() {
        let Step::Found(found) = step else { continue };
        if excluded.iter().any(|glob| glob.matches(&found.relative)) {
            continue;
        }
        if found.entry.is_link && folders.resolve(&found.real).is_err() {
            continue;
        }
        if pattern.matches(&found.relative) {
            if !results.is_empty() {
                results.push('\n');
            }
            results.push_str(&found.real);
            if results.len() as u64 > MAX_BYTES {
                return Err(Error::TooLarge {
                    path: root,
                    limit: MAX_BYTES,
                    hint: "search for a narrower pattern",
                });
            }
        }
        if found.entry.is_dir {
            // One directory that cannot be read does not spoil the search.
            let _ = walk.enter(found);
        }
    }
    Ok(if results.is_empty() {
        "No matches found".to_owned()
    } else {
        results
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::paths::Folder;

    #[test]
    fn matches_are_found_in_order() {
        let (_dir, root) = crate::fixture::folder();
        for directory in ["src/.hidden", "target"] {
            fs::create_dir_all(format!("{root}/{directory}")).unwrap();
        }
        for file in ["a.rs", "src/b.rs", "src/.hidden/c.rs", "target/d.rs"] {
            fs::write(format!("{root}/{file}"), "").unwrap();
        }
        std::os::unix::fs::symlink("/nowhere", format!("{root}/dead.rs")).unwrap();
        let folders = Folders::new(
            vec![Folder {
                path: root.clone(),
                writable: false,
            }],
            None,
        );
        let search = |pattern: &str, exclude: &[&str]| {
            let exclude: Vec<String> = exclude.iter().map(ToString::to_string).collect();
            files(&folders, "", pattern, &exclude)
                .unwrap()
                .replace(&format!("{root}/"), "")
        };
        assert_eq!(
            search("**/*.rs", &["target"]),
            "a.rs\nsrc/.hidden/c.rs\nsrc/b.rs"
        );
        assert_eq!(search("*.rs", &[]), "a.rs");
        assert_eq!(search("*.py", &[]), "No matches found");
    }
}
