//! Items of an upstream that a user knows from other folders than the one that it is started in.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::value::RawValue;

use super::Record;
use crate::store::item::Gated;

/// Items of an upstream that its user has approved in folders where it was started before.
#[derive(Debug, Clone)]
pub(in super::super) struct KnownElsewhere {
    /// Folder that it is started in; none where no folder decides it.
    folder: Option<PathBuf>,
    /// Texts as models are told them, with a placeholder for the folder of each.
    approved: BTreeMap<(Gated, String), BTreeSet<String>>,
    /// Whether some are missing: of records that cannot be read, or are too many.
    is_partial: bool,
}

impl KnownElsewhere {
    /// Makes the knowledge of an upstream, before any record is [added](Self::add): `folder` is the
    /// one that it is started in, and `is_partial` whether some records are left out.
    pub(in super::super) fn new(folder: Option<&Path>, is_partial: bool) -> Self {
        Self {
            folder: folder.map(Path::to_owned),
            approved: BTreeMap::new(),
            is_partial,
        }
    }

    /// Notes that a record cannot be read.
    pub(in super::super) fn miss(&mut self) {
        self.is_partial = true;
    }

    /// Adds what is approved in the record of one folder.
    pub(in super::super) fn add(&mut self, record: &Record) {
        let folder = record.folder();
        for ((kind, name), object) in record.approved_by_name() {
            let told = told_without_folder(kind, &name, &object, folder.as_deref());
            self.approved.entry((kind, name)).or_default().extend(told);
        }
    }

    /// Checks whether its user knows, or may know, something of that name in one of the folders.
    pub(super) fn may_know(&self, kind: Gated, name: &str) -> bool {
        self.is_partial || self.approved.contains_key(&(kind, name.to_owned()))
    }

    /// Checks whether an object was approved in one of the folders, apart from the folder's name.
    pub(super) fn has(&self, kind: Gated, name: &str, object: &RawValue) -> bool {
        let told = told_without_folder(kind, name, object, self.folder.as_deref());
        let approved = self.approved.get(&(kind, name.to_owned()));
        approved
            .zip(told)
            .is_some_and(|(approved, told)| approved.contains(&told))
    }
}

/// Returns an object as a model is told it, with a placeholder for the name of its folder: a server
/// may name its folder.
pub(in super::super) fn told_without_folder(
    kind: Gated,
    name: &str,
    object: &RawValue,
    folder: Option<&Path>,
) -> Option<String> {
    let told = kind.told(name, object)?;
    let folder = folder.map(Path::to_string_lossy);
    // What JSON writes in another way is no name there: it could end a string, and be members.
    let is_plain = |folder: &str| {
        serde_json::Value::from(folder).to_string().len() == folder.len() + "\"\"".len()
    };
    let folder = folder.filter(|folder| folder.len() > 1 && is_plain(folder));
    Some(match folder {
        Some(folder) => told.replace(&*folder, "\u{1}"),
        None => told,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(folder: &str, tool: &str) -> String {
        let tool = RawValue::from_string(tool.to_owned()).unwrap();
        told_without_folder(Gated::Tool, "t", &tool, Some(Path::new(folder))).unwrap()
    }

    #[test]
    fn what_a_server_says_of_its_folder_is_the_same_in_each() {
        let tool = |text: &str| {
            serde_json::json!({ "name": "t", "description": text, "inputSchema": {} }).to_string()
        };
        let one = told("/w/one", &tool("Works in /w/one."));
        assert_eq!(told("/w/two", &tool("Works in /w/two.")), one);
        assert_ne!(told("/w/two", &tool("Works in /w/one.")), one);
    }

    /// The name of a folder can be more than a part of a string.
    #[test]
    fn names_of_folders_add_no_members() {
        let folder = r#"/w/q","description":"EVIL"#;
        let one = r#"{"name":"t","inputSchema":{"default":"/w/one"}}"#;
        let other = r#"{"name":"t","inputSchema":{"default":"/w/q","description":"EVIL"}}"#;
        assert_ne!(told(folder, other), told("/w/one", one));
    }
}
