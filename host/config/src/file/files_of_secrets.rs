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

/// Keys of servers that have names of their users' choice below them, and no secrets in wrong places.
const OF_NAMES: &[&str] = &["settings", "env"];

/// Keys of servers and providers that have no files of secrets below them where they are in order, and
/// those of grants, which may be in a wrong place.
const OF_OTHERS: &[&[&str]] = &[SERVER, PROVIDER, GRANTS];

/// Keys that are written for a file's path, or may have been meant for one.
const OF_FILE: &[&str] = &["file", "path"];

/// Meaning of a key below a server or a provider, as far as files of secrets may be named below it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyMeaning {
    /// All is of secrets there.
    Secrets,
    /// Something else is there, and secrets where these are misplaced.
    Other,
    /// Nothing there is of secrets.
    Names,
    /// Nobody knows what is there.
    Unknown,
}

impl KeyMeaning {
    fn of(key: &str) -> Self {
        if SERVER.contains(&key) && !OF_SECRETS.contains(&key) && !OF_NAMES.contains(&key) {
            return Self::Other;
        }
        match key {
            _ if is_meant(key, OF_SECRETS) => Self::Secrets,
            _ if is_meant(key, OF_NAMES) => Self::Names,
            _ if OF_OTHERS.iter().any(|of| is_meant_for_other(key, of)) => Self::Other,
            _ => Self::Unknown,
        }
    }
}

/// Whether a key is one of these, or may have been meant for one.
fn is_meant(key: &str, keys: &[&str]) -> bool {
    keys.iter().any(|of| is_within_one_edit(key, of))
}

/// Whether a key is one of these, or may have been meant for one. Too many names are like the shortest
/// keys.
fn is_meant_for_other(key: &str, keys: &[&str]) -> bool {
    let mut keys = keys.iter();
    keys.any(|of| key == *of || of.len() > 3 && is_within_one_edit(key, of))
}

/// Returns the tables that are written in the place of one: itself, or those of an array.
fn tables(item: &Item) -> impl Iterator<Item = &dyn TableLike> {
    let inline = item.as_array().into_iter().flatten();
    let inline = inline.filter_map(|value| value.as_inline_table());
    let all = item.as_array_of_tables().into_iter().flatten();
    let all = all.map(|table| table as &dyn TableLike);
    let all = all.chain(inline.map(|table| table as &dyn TableLike));
    item.as_table_like().into_iter().chain(all)
}

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
            for (name, item) in tables(item).flat_map(TableLike::iter) {
                let takes = named(what, name);
                for table in tables(item) {
                    self.add_below(KeyMeaning::Unknown, table, &takes, &mut files);
                }
            }
        }
        files
    }

    /// Adds the files that are named by the keys of a table, below a key of this meaning. How deep that is,
    /// the parser limits.
    fn add_below(
        &self,
        above: KeyMeaning,
        table: &dyn TableLike,
        takes: &str,
        files: &mut NamedFiles,
    ) {
        for (key, item) in table.iter() {
            let is_scalar = |value: &Value| !value.is_array() && !value.is_inline_table();
            if item.as_value().is_some_and(is_scalar) && !is_meant(key, OF_FILE) {
                continue;
            }
            // The names of secrets are their users' choice.
            let meaning = match (above, KeyMeaning::of(key)) {
                (KeyMeaning::Secrets, _) | (_, KeyMeaning::Secrets) => KeyMeaning::Secrets,
                (KeyMeaning::Other, KeyMeaning::Unknown) => KeyMeaning::Other,
                (_, meaning) => meaning,
            };
            match item {
                _ if meaning == KeyMeaning::Names => {}
                Item::Value(value) => self.add_value(meaning, key, value, takes, files),
                _ => {
                    for table in tables(item) {
                        self.add_below(meaning, table, takes, files);
                    }
                }
            }
        }
    }

    /// Adds the files that are named by the value of a key of this meaning, or below it.
    fn add_value(
        &self,
        meaning: KeyMeaning,
        key: &str,
        value: &Value,
        takes: &str,
        files: &mut NamedFiles,
    ) {
        if let Value::InlineTable(table) = value {
            self.add_below(meaning, table, takes, files);
        }
        for value in value.as_array().into_iter().flatten() {
            self.add_value(meaning, key, value, takes, files);
        }
        if let Value::String(text) = value
            && matches!(meaning, KeyMeaning::Secrets | KeyMeaning::Unknown)
            && is_meant(key, OF_FILE)
        {
            let base = self.file.parent().unwrap_or(Path::new(""));
            if let Ok(path) = paths::expand(text.value(), base) {
                files.add(path, takes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever writes a project decides how deep its values are.
    #[test]
    fn nested_values_are_read_in_linear_time() {
        let input = |size: usize| {
            let (begin, end) = ("[".repeat(size), "]".repeat(size));
            let files = "\"/a\",".repeat(50 * size);
            let text = format!("servers.t.secrets.s.file = {begin}{files}{end}");
            Document::parse(text).unwrap()
        };
        dormouse_tests::growth::is_linear("nested values", 4, input, |document| {
            let (file, variables) = (Path::new("/d/dormouse.toml"), VariableHandling::Kept);
            let reader = DocumentReader::new(file, document.raw(), variables);
            let files = reader.files_of_secrets(document.as_table());
            assert_eq!(files.iter().count(), 1);
        });
    }
}
