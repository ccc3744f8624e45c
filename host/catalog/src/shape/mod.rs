//! What an item of a list may look like, and what becomes of one that does not.
//!
//! Many clients hold a whole list against the schema of their version of MCP, and read
//! nothing of it where one item is not what that says: one odd tool would cost their
//! user all tools of all servers. So each item is judged once, where it is learnt. What
//! can be mended without another meaning is mended, an item that cannot be is left out,
//! and either is told. One that is in order stays byte for byte what it was.

mod answer;
mod object;
mod schema;
mod sound;
mod text;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

pub use answer::answer;
use object::{FieldType, ItemValidator, Record, ValidationOutcome};
pub use text::is_moment;

/// What an item of a list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// MCP `Tool`.
    Tool,
    /// MCP `Prompt`.
    Prompt,
    /// MCP `Resource`.
    Resource,
    /// MCP `ResourceTemplate`.
    Template,
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Template => "resource template",
        })
    }
}

/// An item that is not what MCP has there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NonconformingItem {
    /// What it is.
    pub what: What,
    /// What it is called by: its own name, its URI or its URI template.
    pub name: String,
    /// What is odd about it.
    pub why: String,
    /// Whether agents are shown it all the same, mended.
    pub shown: bool,
}

impl fmt::Display for NonconformingItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what, name, why, ..
        } = self;
        // Both are the server's, which may make them as long as a whole item.
        let name = beginning(name, MAX_NAME_CHARACTERS).escape_debug();
        let why = beginning(why, MAX_REASON_CHARACTERS);
        match self.shown {
            true => write!(
                f,
                "{what} `{name}` is shown without what MCP does not have: {why}"
            ),
            false => write!(
                f,
                "{what} `{name}` is not shown: {why}\n\
                 hint: whoever wrote the server has to mend it"
            ),
        }
    }
}

/// Longest name of an odd item that is said whole, in characters.
const MAX_NAME_CHARACTERS: usize = 128;

/// Longest reason that is said whole, in characters.
const MAX_REASON_CHARACTERS: usize = 500;

/// The first so many characters of a text.
fn beginning(text: &str, characters: usize) -> &str {
    let mut ends = text.char_indices().map(|(at, _)| at);
    match ends.nth(characters) {
        None => text,
        Some(end) => text.get(..end).unwrap_or_default(),
    }
}

/// Caps on what is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemLimits {
    /// The length of one item, in bytes.
    pub bytes: usize,
    /// The members that one item may have, at all levels together.
    pub members: usize,
    /// The levels of nesting that one item may have. Many clients read nothing that is
    /// deeper than 128, and around an item there are a list, a result and a message.
    pub depth: usize,
    /// The items of one list; those behind them are left out.
    pub items: usize,
}

impl Default for ItemLimits {
    fn default() -> Self {
        Self {
            bytes: 1 << 20,
            members: 65_536,
            depth: 100,
            items: 10_000,
        }
    }
}

/// An item as agents may be shown it.
#[derive(Debug)]
pub(crate) struct Shape {
    /// The object.
    pub(crate) object: Box<RawValue>,
    /// The object for clients of the versions with sessions, where that has to be
    /// another: an output schema has to be of type `object` there.
    pub(crate) legacy: Option<Box<RawValue>>,
    /// What of it has been mended; nothing where it is as it came.
    pub(crate) mended: Vec<String>,
}

/// The members that an icon may have (2025-11-25 and 2026-07-28, `Icon`).
static ICON: Record = Record {
    members: &[
        ("src", FieldType::Text),
        ("mimeType", FieldType::Text),
        ("sizes", FieldType::Texts),
        ("theme", FieldType::One(&["light", "dark"])),
    ],
    needs: &["src"],
};

/// What is said of a tool, hints all of it (`ToolAnnotations`).
static HINTS: Record = Record {
    members: &[
        ("title", FieldType::Text),
        ("readOnlyHint", FieldType::Flag),
        ("destructiveHint", FieldType::Flag),
        ("idempotentHint", FieldType::Flag),
        ("openWorldHint", FieldType::Flag),
    ],
    needs: &[],
};

/// What is said of a resource (`Annotations`).
static ANNOTATIONS: Record = Record {
    members: &[
        (
            "audience",
            FieldType::Each(&FieldType::One(&["user", "assistant"])),
        ),
        ("priority", FieldType::Share),
        ("lastModified", FieldType::Moment),
    ],
    needs: &[],
};

/// How a tool may be run (2025-11-25, `ToolExecution`).
static EXECUTION: Record = Record {
    members: &[(
        "taskSupport",
        FieldType::One(&["forbidden", "optional", "required"]),
    )],
    needs: &[],
};

static ARGUMENT: Record = Record {
    members: &[
        ("name", FieldType::Text),
        ("title", FieldType::Text),
        ("description", FieldType::Text),
        ("required", FieldType::Flag),
    ],
    needs: &["name"],
};

static TOOL: Record = Record {
    members: &[
        ("name", FieldType::Text),
        ("title", FieldType::Text),
        ("description", FieldType::Text),
        ("inputSchema", FieldType::Input),
        ("outputSchema", FieldType::Output),
        ("annotations", FieldType::Record(&HINTS)),
        ("execution", FieldType::Record(&EXECUTION)),
        ("icons", FieldType::Each(&FieldType::Record(&ICON))),
        ("_meta", FieldType::Object),
    ],
    needs: &["name", "inputSchema"],
};

static PROMPT: Record = Record {
    members: &[
        ("name", FieldType::Text),
        ("title", FieldType::Text),
        ("description", FieldType::Text),
        ("arguments", FieldType::Each(&FieldType::Record(&ARGUMENT))),
        ("icons", FieldType::Each(&FieldType::Record(&ICON))),
        ("_meta", FieldType::Object),
    ],
    needs: &["name"],
};

static RESOURCE: Record = Record {
    members: &[
        ("uri", FieldType::Uri),
        ("name", FieldType::Text),
        ("title", FieldType::Text),
        ("description", FieldType::Text),
        ("mimeType", FieldType::Text),
        ("size", FieldType::Whole),
        ("annotations", FieldType::Record(&ANNOTATIONS)),
        ("icons", FieldType::Each(&FieldType::Record(&ICON))),
        ("_meta", FieldType::Object),
    ],
    needs: &["uri", "name"],
};

static TEMPLATE: Record = Record {
    members: &[
        ("uriTemplate", FieldType::Text),
        ("name", FieldType::Text),
        ("title", FieldType::Text),
        ("description", FieldType::Text),
        ("mimeType", FieldType::Text),
        ("annotations", FieldType::Record(&ANNOTATIONS)),
        ("icons", FieldType::Each(&FieldType::Record(&ICON))),
        ("_meta", FieldType::Object),
    ],
    needs: &["uriTemplate", "name"],
};

impl Shape {
    /// The shape of an item that is called by `key`.
    ///
    /// # Errors
    /// It cannot be shown; why.
    pub(crate) fn of(what: What, key: &str, object: &RawValue) -> Result<Self, String> {
        Self::within(&ItemLimits::default(), what, key, object)
    }

    fn within(
        limits: &ItemLimits,
        what: What,
        key: &str,
        object: &RawValue,
    ) -> Result<Self, String> {
        sound::sound(object.get(), limits)?;
        let mut judge = ItemValidator::default();
        // What is found by a URI has a name for people only.
        let name = || ("name", Value::from(key).to_string());
        let (record, missing) = match what {
            What::Tool => (&TOOL, ("inputSchema", schema::ANY.to_owned())),
            What::Prompt => (&PROMPT, name()),
            What::Resource => (&RESOURCE, name()),
            What::Template => (&TEMPLATE, name()),
        };
        let completed = judge.completed(object.get(), missing);
        let text = completed.as_deref().unwrap_or(object.get());
        let judged = match judge.record(record, text, "") {
            ValidationOutcome::Fine => completed,
            ValidationOutcome::Instead(text) => Some(text),
            ValidationOutcome::Wrong(why) => return Err(why),
        };
        let object = match judged {
            Some(text) => raw(text)?,
            None => object.to_owned(),
        };
        let legacy = judge.of_old.then(|| schema::legacy(object.get()));
        Ok(Self {
            legacy: legacy.flatten().map(raw).transpose()?,
            object,
            mended: judge.mended,
        })
    }
}

/// An MCP object that is called by `key` as agents are shown it, where they can be.
#[must_use]
pub fn shown(what: What, key: &str, object: &RawValue) -> Option<Box<RawValue>> {
    Shape::of(what, key, object).map(|shape| shape.object).ok()
}

fn raw(text: String) -> Result<Box<RawValue>, String> {
    RawValue::from_string(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
