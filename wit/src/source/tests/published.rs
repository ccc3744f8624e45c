//! WIT that declares what published servers publish.
//!
//! The schemas are those of `@modelcontextprotocol/server-filesystem` 0.2.0, as
//! captured in <https://github.com/athakur3/mcp-context-cost> (MIT), without
//! `$schema`.

use super::*;

const WIT: &str = r#"
package example:filesystem;
interface tools {
    record read {
        path: string,
        /// If provided, returns only the last N lines of the file
        tail: option<f64>,
        /// If provided, returns only the first N lines of the file
        head: option<f64>,
    }
    /// @title Read Text File
    /// @readonly
    /// @openworld false
    read-text-file: func(arguments: read) -> result<string, string>;

    record many {
        /// Array of file paths to read. Each path must be a string pointing to a
        /// valid file within allowed directories.
        /// @minimum 1
        paths: list<string>,
    }
    read-multiple-files: func(arguments: many) -> result<string, string>;

    record replacement {
        /// Text to search for - must match exactly
        /// @name oldText
        old-text: string,
        /// Text to replace with
        /// @name newText
        new-text: string,
    }
    record edit {
        path: string,
        edits: list<replacement>,
        /// Preview changes using git-style diff format
        /// @name dryRun
        /// @default false
        dry-run: bool,
    }
    /// Make line-based edits to a text file. Each edit replaces exact line
    /// sequences with new content. Returns a git-style diff showing the changes
    /// made. Only works within allowed directories.
    /// @title Edit File
    /// @readonly false
    /// @idempotent false
    /// @destructive
    /// @openworld false
    edit-file: func(arguments: edit) -> result<string, string>;

    enum key { name, size }
    record listing {
        path: string,
        /// Sort entries by name or size
        /// @name sortBy
        /// @default "name"
        sort-by: key,
    }
    list-directory-with-sizes: func(arguments: listing) -> result<string, string>;
}
world filesystem { export tools; }
"#;

/// Removes the `additionalProperties` of records: these servers, which silently drop unknown
/// arguments, publish none.
fn open(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            assert_ne!(
                members.get("additionalProperties"),
                Some(&Value::Bool(true))
            );
            members.shift_remove("additionalProperties");
            members.values_mut().for_each(open);
        }
        Value::Array(items) => items.iter_mut().for_each(open),
        _ => {}
    }
}

#[test]
fn input_schemas_are_reproduced() {
    let published = [
        (
            "read_text_file",
            r#"{"type":"object","properties":{"path":{"type":"string"},"tail":{"description":"If provided, returns only the last N lines of the file","type":"number"},"head":{"description":"If provided, returns only the first N lines of the file","type":"number"}},"required":["path"]}"#,
        ),
        (
            "read_multiple_files",
            r#"{"type":"object","properties":{"paths":{"minItems":1,"type":"array","items":{"type":"string"},"description":"Array of file paths to read. Each path must be a string pointing to a valid file within allowed directories."}},"required":["paths"]}"#,
        ),
        (
            "edit_file",
            r#"{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","items":{"type":"object","properties":{"oldText":{"type":"string","description":"Text to search for - must match exactly"},"newText":{"type":"string","description":"Text to replace with"}},"required":["oldText","newText"]}},"dryRun":{"default":false,"description":"Preview changes using git-style diff format","type":"boolean"}},"required":["path","edits"]}"#,
        ),
        (
            "list_directory_with_sizes",
            r#"{"type":"object","properties":{"path":{"type":"string"},"sortBy":{"default":"name","description":"Sort entries by name or size","type":"string","enum":["name","size"]}},"required":["path"]}"#,
        ),
    ];
    let declaration = sound(WIT);
    for (name, published) in published {
        let published: Value = serde_json::from_str(published).unwrap();
        let mut ours = tool(&declaration, name)["inputSchema"].clone();
        open(&mut ours);
        assert_eq!(ours, published, "{name}");
        // The order of the arguments is part of what a model reads.
        let order = |schema: &Value| {
            schema["properties"]
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(order(&ours), order(&published));
    }
}

#[test]
fn the_rest_of_a_tool_is_reproduced() {
    let declaration = sound(WIT);
    let read = tool(&declaration, "read_text_file");
    assert_eq!(read["title"], "Read Text File");
    assert_eq!(
        read["annotations"],
        json!({"readOnlyHint": true, "openWorldHint": false})
    );
    assert!(read.get("outputSchema").is_none() && read.get("description").is_none());
    let edit = tool(&declaration, "edit_file");
    assert_eq!(
        edit["description"],
        "Make line-based edits to a text file. Each edit replaces exact line sequences with new content. Returns a \
         git-style diff showing the changes made. Only works within allowed directories."
    );
    assert_eq!(
        edit["annotations"],
        json!({"readOnlyHint": false, "idempotentHint": false, "destructiveHint": true, "openWorldHint": false})
    );
}
