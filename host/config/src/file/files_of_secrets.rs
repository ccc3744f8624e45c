//! Files that secrets are in, by what is written alone: a table in which something is wrong names them as
//! well as another, and so does a provider that nothing logs in at.

use dormouse_files::paths;
use dormouse_text::nearest::is_within_one_edit;
use toml_edit::{Item, TableLike, Value};

use super::providers::PROVIDER;
use super::server_table::SERVER;
use super::*;
use crate::NamedFiles;
use crate::named_files::named;

/// Keys of the file that have neither servers nor providers below them.
const OTHERS: &[&str] = &["discovery", "limits", "exposure", "profiles"];

/// Keys of servers and providers below which secrets are.
const OF_SECRETS: &[&str] = &["secrets", "client_secret"];

/// Keys that are written for a file's path, or may have been meant for one.
const OF_FILE: &[&str] = &["file", "path"];

impl DocumentReader<'_> {
    /// Returns the files that are written in a document for secrets. What is in a table of an unknown
    /// name may be some, and what a known one has for something else is none.
    pub(super) fn files_of_secrets(&self, table: &dyn TableLike) -> NamedFiles {
        let mut files = NamedFiles::default();
        for (kind, item) in table.iter().filter(|(key, _)| !OTHERS.contains(key)) {
            let what = match kind {
                "providers" => "provider",
                _ => "server",
            };
            for (name, item) in item.as_table_like().iter().flat_map(|table| table.iter()) {
                let keys = item.as_table_like();
                for (key, item) in keys.iter().flat_map(|table| table.iter()) {
                    let is_known = SERVER.contains(&key) || PROVIDER.contains(&key);
                    if !is_known || OF_SECRETS.contains(&key) {
                        self.add_files(key, item, &named(what, name), &mut files);
                    }
                }
            }
        }
        files
    }

    /// Adds the files that are named by a key, or below it. How deep that is, the parser limits.
    fn add_files(&self, key: &str, item: &Item, takes: &str, files: &mut NamedFiles) {
        if let Some(table) = item.as_table_like() {
            for (key, item) in table.iter() {
                self.add_files(key, item, takes, files);
            }
        }
        for table in item.as_array_of_tables().into_iter().flatten() {
            for (key, item) in table.iter() {
                self.add_files(key, item, takes, files);
            }
        }
        for value in item.as_array().into_iter().flatten() {
            self.add_files(key, &Item::Value(value.clone()), takes, files);
        }
        let is_file = OF_FILE
            .iter()
            .any(|of_file| is_within_one_edit(key, of_file));
        if let Some(Value::String(text)) = item.as_value().filter(|_| is_file) {
            let base = self.file.parent().unwrap_or(Path::new(""));
            if let Ok(path) = paths::expand(text.value(), base) {
                files.add(path, takes);
            }
        }
    }
}
