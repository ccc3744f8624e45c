//! Shape of the items of a list: which ones are shown, mended or left out.
//!
//! Many clients validate a whole list with the schema of their version of MCP, and discard it where
//! one item is invalid: one odd tool would cost their user all tools of all servers. So each item
//! is checked once, when it is learnt. An item that can be mended without changing its meaning is
//! mended, any other invalid item is left out, and both are reported. A valid item stays unchanged,
//! byte for byte.

mod answer;
mod nonconforming_items;
mod object;
mod schema;
mod sound;
mod text;

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

pub use answer::answer;
pub(crate) use nonconforming_items::NonconformingItems;
use object::{FieldType, ItemValidator, ObjectType, ValidationOutcome};
pub use text::is_moment;

/// Kind of an item of a list.
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

/// An item that does not conform to MCP.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NonconformingItem {
    /// Its kind.
    pub what: What,
    /// Its own name, its URI or its URI template.
    pub name: String,
    /// Text on its faults.
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
            false if self.why == TASK_ALONE => write!(f, "{what} `{name}` is not shown: {why}"),
            false => write!(
                f,
                "{what} `{name}` is not shown: {why}\n\
                 hint: whoever wrote the server has to mend it"
            ),
        }
    }
}

/// Reason of a tool that can be called as a task alone.
const TASK_ALONE: &str =
    "it is called as a task alone (`taskSupport` is `required`), and Dormouse has no tasks";

impl NonconformingItem {
    /// Returns the reason why it is not shown, as models are told it: nothing that it says of itself,
    /// which nobody has approved.
    #[must_use]
    pub fn why_for_models(&self) -> &'static str {
        match self.why == TASK_ALONE {
            true => TASK_ALONE,
            false => "how it is declared is not what MCP has there",
        }
    }
}

/// Longest name of an odd item that is shown in full, in characters.
const MAX_NAME_CHARACTERS: usize = 128;

/// Longest reason that is shown in full, in characters.
const MAX_REASON_CHARACTERS: usize = 500;

/// Returns the first `characters` of a text.
pub(crate) fn beginning(text: &str, characters: usize) -> &str {
    let mut ends = text.char_indices().map(|(at, _)| at);
    match ends.nth(characters) {
        None => text,
        Some(end) => text.get(..end).unwrap_or_default(),
    }
}

/// Limits on listed items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemLimits {
    /// Longest item, in bytes.
    pub bytes: usize,
    /// Most members of one item, at all levels together.
    pub members: usize,
    /// Most levels of nesting of one item. Many clients read nothing deeper than 128, and around an
    /// item there are a list, a result and a message.
    pub depth: usize,
    /// Most items of one list; those behind them are left out.
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

/// An item in the form in which agents may be shown it.
#[derive(Debug)]
pub(crate) struct Shape {
    /// The object.
    pub(crate) object: Box<RawValue>,
    /// The object for clients of the versions with sessions, where that has to differ: an output
    /// schema has to be of type `object` there.
    pub(crate) legacy: Option<Box<RawValue>>,
    /// Mended faults; empty where the item is unchanged.
    pub(crate) mended: Vec<String>,
}

/// Members of an icon (2025-11-25 and 2026-07-28, `Icon`).
static ICON: ObjectType = ObjectType {
    members: &[
        ("src", FieldType::Text),
        ("mimeType", FieldType::Text),
        ("sizes", FieldType::Texts),
        ("theme", FieldType::One(&["light", "dark"])),
    ],
    needs: &["src"],
};

/// Annotations of a tool, all of them hints (`ToolAnnotations`).
static HINTS: ObjectType = ObjectType {
    members: &[
        ("title", FieldType::Text),
        ("readOnlyHint", FieldType::Flag),
        ("destructiveHint", FieldType::Flag),
        ("idempotentHint", FieldType::Flag),
        ("openWorldHint", FieldType::Flag),
    ],
    needs: &[],
};

/// Annotations of a resource (`Annotations`).
static ANNOTATIONS: ObjectType = ObjectType {
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

/// Execution of a tool (2025-11-25, `ToolExecution`).
static EXECUTION: ObjectType = ObjectType {
    members: &[(
        "taskSupport",
        FieldType::One(&["forbidden", "optional", "required"]),
    )],
    needs: &[],
};

static ARGUMENT: ObjectType = ObjectType {
    members: &[
        ("name", FieldType::Text),
        ("title", FieldType::Text),
        ("description", FieldType::Text),
        ("required", FieldType::Flag),
    ],
    needs: &["name"],
};

static TOOL: ObjectType = ObjectType {
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

static PROMPT: ObjectType = ObjectType {
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

static RESOURCE: ObjectType = ObjectType {
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

static TEMPLATE: ObjectType = ObjectType {
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
    /// Returns the shape of the item with the name or URI `key`.
    ///
    /// # Errors
    /// It cannot be shown, with the reason.
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
        if what == What::Tool && is_task(object) {
            return Err(TASK_ALONE.to_owned());
        }
        let mut judge = ItemValidator {
            is_listed: true,
            ..ItemValidator::default()
        };
        // An item that is requested by URI has a name for people only.
        let name = || Value::from(key).to_string();
        let (record, needed, value) = match what {
            What::Tool => (&TOOL, "inputSchema", schema::ANY.to_owned()),
            What::Prompt => (&PROMPT, "name", name()),
            What::Resource => (&RESOURCE, "name", name()),
            What::Template => (&TEMPLATE, "name", name()),
        };
        let completed = judge.completed(object.get(), needed, value);
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

/// Returns an MCP object with the name or URI `key` as agents are shown it, if they can be.
#[must_use]
pub fn shown(what: What, key: &str, object: &RawValue) -> Option<Box<RawValue>> {
    Shape::of(what, key, object).map(|shape| shape.object).ok()
}

/// Checks whether a tool can be called as a task alone.
fn is_task(tool: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct ToolAsTask {
        #[serde(default)]
        execution: Value,
    }
    let tool = serde_json::from_str::<ToolAsTask>(tool.get());
    tool.is_ok_and(|tool| {
        let support = tool.execution.get("taskSupport");
        support.is_some_and(|support| support == "required")
    })
}

fn raw(text: String) -> Result<Box<RawValue>, String> {
    RawValue::from_string(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests;
