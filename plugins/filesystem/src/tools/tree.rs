//! A directory and all below it as JSON.

use crate::error::{Error, MAX_BYTES};
use crate::glob::Glob;
use crate::paths::Folders;
use crate::walk::{Step, Walk};

/// `directory_tree`. The JSON is written while walking, indented by two spaces
/// as `JSON.stringify(tree, null, 2)` does it.
pub fn of(folders: &Folders, path: &str, exclude: &[String]) -> Result<String, Error> {
    let real = folders.resolve(path)?;
    let excluded = exclusions(exclude)?;
    let mut walk = Walk::new(&real)?;
    let mut json = String::from("[");
    // Whether the innermost array has an element yet.
    let mut has_elements = false;
    while let Some(step) = walk.next() {
        match step {
            Step::Leave => {
                // One level of directories is two of JSON: array and object.
                let indent = 4 * walk.depth();
                if has_elements {
                    line(&mut json, indent);
                }
                json.push(']');
                if walk.depth() > 0 {
                    line(&mut json, indent - 2);
                    json.push('}');
                }
                has_elements = true;
            }
            Step::Found(found) if excluded.iter().any(|glob| glob.matches(&found.relative)) => {}
            Step::Found(found) => {
                let indent = 4 * walk.depth() - 2;
                if has_elements {
                    json.push(',');
                }
                line(&mut json, indent);
                json.push('{');
                line(&mut json, indent + 2);
                json.push_str("\"name\": ");
                json.push_str(&serde_json::to_string(&found.entry.name).unwrap_or_default());
                json.push(',');
                line(&mut json, indent + 2);
                has_elements = !found.entry.is_dir;
                if found.entry.is_dir {
                    json.push_str("\"type\": \"directory\",");
                    line(&mut json, indent + 2);
                    json.push_str("\"children\": [");
                    walk.enter(found)?;
                } else {
                    json.push_str("\"type\": \"file\"");
                    line(&mut json, indent);
                    json.push('}');
                }
            }
        }
        if json.len() as u64 > MAX_BYTES {
            let hint = "leave parts of the tree out with `excludePatterns`";
            return Err(Error::TooLarge {
                path: real,
                limit: MAX_BYTES,
                hint,
            });
        }
    }
    Ok(json)
}

fn line(json: &mut String, indent: usize) {
    json.push('\n');
    json.extend(std::iter::repeat_n(' ', indent));
}

/// Reads patterns of paths to leave out. One without `*` is also a name, wherever that is.
fn exclusions(patterns: &[String]) -> Result<Vec<Glob>, Error> {
    let mut globs = Vec::new();
    for pattern in patterns {
        globs.push(Glob::new(pattern)?);
        if !pattern.contains('*') {
            globs.push(Glob::new(&format!("**/{pattern}"))?);
            globs.push(Glob::new(&format!("**/{pattern}/**"))?);
        }
    }
    Ok(globs)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::paths::Folder;

    #[test]
    fn a_tree_is_json_with_two_spaces() {
        let (_dir, root) = crate::fixture::folder();
        fs::create_dir_all(format!("{root}/a/b/empty")).unwrap();
        fs::create_dir_all(format!("{root}/node_modules/x")).unwrap();
        fs::write(format!("{root}/a/\"q\"\t.txt"), "").unwrap();
        fs::write(format!("{root}/z.log"), "").unwrap();
        let folders = Folders::new(
            vec![Folder {
                path: root,
                writable: false,
            }],
            None,
        );
        let excluded = ["node_modules".to_owned(), "*.log".to_owned()];
        let tree = of(&folders, "", &excluded).unwrap();
        let expected = serde_json::json!([
            { "name": "a", "type": "directory", "children": [
                { "name": "\"q\"\t.txt", "type": "file" },
                { "name": "b", "type": "directory", "children": [
                    { "name": "empty", "type": "directory", "children": [] },
                ] },
            ] },
        ]);
        assert_eq!(tree, serde_json::to_string_pretty(&expected).unwrap());
        assert_eq!(of(&folders, "a/b/empty", &[]).unwrap(), "[]");
    }

    #[test]
    fn a_deep_tree_is_no_problem() {
        let (_dir, root) = crate::fixture::folder();
        fs::create_dir_all(format!("{root}{}", "/d".repeat(1500))).unwrap();
        let folders = Folders::new(
            vec![Folder {
                path: root,
                writable: false,
            }],
            None,
        );
        assert_eq!(
            of(&folders, "", &[]).unwrap().matches("\"d\"").count(),
            1500
        );
    }
}
