//! Results of tools, prompts and resources.

use dormouse_jsonrpc::{Object, ObjectError, check_numbers, without_half_characters};
use serde_json::json;

use super::object::{FieldType, ItemValidator, ObjectType, ValidationOutcome, object, wrong};
use super::text::string;
use super::{ANNOTATIONS, RESOURCE, What};

static TEXT: ObjectType = ObjectType {
    members: &[
        ("text", FieldType::Text),
        ("annotations", FieldType::Record(&ANNOTATIONS)),
        ("_meta", FieldType::Object),
    ],
    needs: &["text"],
};

/// An image or a sound.
static MEDIA: ObjectType = ObjectType {
    members: &[
        ("data", FieldType::Text),
        ("mimeType", FieldType::Text),
        ("annotations", FieldType::Record(&ANNOTATIONS)),
        ("_meta", FieldType::Object),
    ],
    needs: &["data", "mimeType"],
};

static EMBEDDED: ObjectType = ObjectType {
    members: &[
        ("resource", FieldType::Contents),
        ("annotations", FieldType::Record(&ANNOTATIONS)),
        ("_meta", FieldType::Object),
    ],
    needs: &["resource"],
};

static CONTENTS: [ObjectType; 2] = [contents(&["uri", "text"]), contents(&["uri", "blob"])];

const fn contents(needs: &'static [&'static str]) -> ObjectType {
    ObjectType {
        members: &[
            ("uri", FieldType::Text),
            ("mimeType", FieldType::Text),
            ("text", FieldType::Text),
            ("blob", FieldType::Text),
            ("_meta", FieldType::Object),
        ],
        needs,
    }
}

static CALLED: ObjectType = ObjectType {
    members: &[
        ("content", FieldType::All(&FieldType::Block)),
        ("_meta", FieldType::Object),
    ],
    needs: &["content"],
};

static GOT: ObjectType = ObjectType {
    members: &[
        ("description", FieldType::Text),
        ("messages", FieldType::All(&FieldType::Record(&MESSAGE))),
        ("_meta", FieldType::Object),
    ],
    needs: &["messages"],
};

static MESSAGE: ObjectType = ObjectType {
    members: &[
        ("role", FieldType::One(&["user", "assistant"])),
        ("content", FieldType::Block),
    ],
    needs: &["role", "content"],
};

static READ: ObjectType = ObjectType {
    members: &[
        ("contents", FieldType::All(&FieldType::Contents)),
        ("_meta", FieldType::Object),
    ],
    needs: &["contents"],
};

/// Checks the result of a request for an item (MCP `CallToolResult`, `GetPromptResult`,
/// `ReadResourceResult`). Returns it in a form that clients can read, with the mended faults; none
/// where it stays unchanged.
///
/// # Errors
/// It is no such result, with the fault.
pub fn answer(what: What, text: &str) -> Result<(Option<String>, Vec<String>), String> {
    check_numbers(text).map_err(|error| error.to_string())?;
    let Some(whole) = without_half_characters(text) else {
        return checked(what, text);
    };
    let (instead, mended) = checked(what, &whole)?;
    Ok((instead.or(Some(whole)), mended))
}

/// The same, where the text is made of whole characters.
fn checked(what: What, text: &str) -> Result<(Option<String>, Vec<String>), String> {
    let mut judge = ItemValidator::default();
    let known = match Object::read(text) {
        Err(error @ ObjectError::TooManyMembers { .. }) => return Err(error.to_string()),
        known => known.unwrap_or_default(),
    };
    let of = |name: &str| known.get(name);
    let kind = of("resultType").filter(|kind| string(kind).is_none_or(|kind| kind != "complete"));
    let flag = of("isError").filter(|is| !["true", "false"].contains(is));
    let refused = [
        ("isError", flag.filter(|_| what == What::Tool)),
        // A plugin asks questions through its host, which seals them.
        ("resultType", kind),
    ];
    for (name, value) in refused {
        if let Some(ValidationOutcome::Wrong(why)) = value.map(|value| wrong(name, value)) {
            return Err(why);
        }
    }
    let (record, completed) = match what {
        What::Tool => {
            // A result that has structured content only gets its text as a content block, as MCP
            // recommends.
            let blocks = match of("structuredContent") {
                Some(text) => json!([{ "type": "text", "text": text }]),
                None => json!([]),
            };
            let completed = judge.completed(text, "content", blocks.to_string());
            // This is no fault.
            judge.mended.clear();
            (&CALLED, completed)
        }
        What::Prompt => (&GOT, None),
        What::Resource | What::Template => (&READ, None),
    };
    let text = completed.as_deref().unwrap_or(text);
    match judge.record(record, text, "") {
        ValidationOutcome::Fine => Ok((completed, judge.mended)),
        ValidationOutcome::Instead(text) => Ok((Some(text), judge.mended)),
        ValidationOutcome::Wrong(why) => Err(why),
    }
}

impl ItemValidator {
    /// Checks a content block.
    pub(super) fn block(&mut self, text: &str, place: &str) -> ValidationOutcome {
        let Some(block) = object(text) else {
            return wrong(place, text);
        };
        let Some(kind) = block.get("type") else {
            return ValidationOutcome::Wrong(format!("`{place}` has no `type`"));
        };
        let record = match string(kind).as_deref() {
            Some("text") => &TEXT,
            Some("image" | "audio") => &MEDIA,
            Some("resource_link") => &RESOURCE,
            Some("resource") => &EMBEDDED,
            _ => return wrong(&format!("{place}.type"), kind),
        };
        self.record(record, text, place)
    }

    /// Checks the contents of a resource: a text or bytes.
    pub(super) fn contents(&mut self, text: &str, place: &str) -> ValidationOutcome {
        let [of_text, of_bytes] = &CONTENTS;
        let has = |name| object(text).is_some_and(|all| all.get(name).is_some());
        self.record(if has("blob") { of_bytes } else { of_text }, text, place)
    }
}
