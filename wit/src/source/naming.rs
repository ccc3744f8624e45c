//! Naming of tools and prompts.

use std::collections::HashMap;

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

use super::tags::note;
use crate::declaration::{Export, Function};
use crate::error::Finding;
use crate::types::snake_case;

/// Longest tool name that MCP allows, in characters; prompts are held to the same.
const MAX_NAME: usize = 128;

/// A tool or a prompt that has no name yet.
pub(crate) struct Nameless {
    /// `@name`, if the author gave it one.
    pub(crate) name: Option<String>,
    /// The exported function behind it.
    pub(crate) function: Function,
    /// Its MCP object without the name.
    pub(crate) members: Map<String, Value>,
}

impl Nameless {
    fn export(&self) -> &Export {
        &self.function.export
    }
}

/// A tool or a prompt with its name.
pub(crate) struct Named {
    pub(crate) name: String,
    /// Its MCP object.
    pub(crate) object: Box<RawValue>,
    pub(crate) function: Function,
}

/// An item to be named, and the name of its interface.
pub(crate) type Candidate = (Nameless, Option<String>);

/// Names tools or prompts. Where two interfaces have functions of one name, each gets its
/// interface's name in front.
pub(crate) fn name(candidates: Vec<Candidate>, findings: &mut Vec<Finding>) -> Vec<Named> {
    let mut uses: HashMap<String, usize> = HashMap::new();
    for (one, _) in candidates.iter().filter(|(one, _)| one.name.is_none()) {
        *uses.entry(snake_case(&one.export().function)).or_default() += 1;
    }
    let mut taken: HashMap<String, String> = HashMap::new();
    let mut named = Vec::new();
    for (one, interface) in candidates {
        let export = one.export().to_string();
        let short = snake_case(&one.export().function);
        let name = match (one.name, interface) {
            (Some(name), _) => name,
            (None, Some(interface)) if uses.get(&short).is_some_and(|uses| *uses > 1) => {
                format!("{interface}_{short}")
            }
            (None, _) => short,
        };
        if let Some(other) = taken.get(&name) {
            let finding = Finding::error(
                export,
                format!("its name `{name}` is that of `{other}` already"),
            );
            findings.push(finding.hint("give one of them a `@name`"));
            continue;
        }
        taken.insert(name.clone(), export.clone());
        let mut object = Map::new();
        object.insert("name".into(), Value::from(name.as_str()));
        object.extend(one.members);
        match to_raw_value(&object) {
            Ok(object) => named.push(Named {
                name,
                object,
                function: one.function,
            }),
            Err(error) => findings.push(Finding::error(export, error.to_string())),
        }
    }
    named
}

/// Checks whether a `@name` is one that a tool or a prompt (`what`) may have.
pub(crate) fn is_name(name: &str, what: &str, item: &str, findings: &mut Vec<Finding>) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let fits = name.len() <= MAX_NAME && name.chars().all(allowed);
    if !fits {
        note(
            findings,
            Finding::error(item, format!("`@name {name}` is no {what} name"))
                .hint(format!("use at most {MAX_NAME} of `A-Z a-z 0-9 _ - .`")),
        );
    }
    fits
}
