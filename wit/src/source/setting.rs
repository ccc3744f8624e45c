//! `@setting` tags.

use super::requested_input::{Shape, input};
use super::tags::{Tag, note};
use crate::declaration::{SettingFormat, SettingRequest};
use crate::error::Finding;

const KEYS: [(&str, Shape); 7] = [
    ("description", Shape::Text),
    ("isRequired", Shape::Switch),
    (
        "format",
        Shape::OneOf(&["string", "number", "boolean", "filepath", "directory"]),
    ),
    ("default", Shape::Plain),
    ("choices", Shape::Plains),
    ("placeholder", Shape::Text),
    ("grant", Shape::OneOf(&["ro", "rw"])),
];

const EXAMPLE: &str = "NAME {\"description\": \"what it is for\", \"isRequired\": true}";

/// Returns the request of a `@setting`.
pub(super) fn setting(
    tag: &Tag,
    item: &str,
    findings: &mut Vec<Finding>,
) -> Option<SettingRequest> {
    let request: SettingRequest = input(tag, &KEYS, EXAMPLE, item, findings)?;
    let name = &request.name;
    let mut wrong = |message: String, hint: &str| {
        note(findings, Finding::error(item, message).hint(hint));
    };
    let mut is_sound = true;
    if request.grant.is_some() && request.format != SettingFormat::Directory {
        wrong(
            format!("`@setting {name}` has a `grant`, and is no folder"),
            "folders alone are granted: add `\"format\": \"directory\"`",
        );
        is_sound = false;
    }
    if request.grant.is_some() && !request.choices.is_empty() {
        wrong(
            format!("`@setting {name}` has a `grant`, and `choices`"),
            "which folder is granted its user says: leave the `choices` out",
        );
        is_sound = false;
    }
    if request.has_long_text() {
        wrong(
            format!(
                "`@setting {name}` has a choice or a `placeholder` that nobody reads in a line"
            ),
            "write each in at most 100 characters, without backticks and line breaks",
        );
        is_sound = false;
    }
    // A choice is a value of its format, whatever the choices are.
    let any = SettingRequest {
        choices: Vec::new(),
        ..request.clone()
    };
    let choices = request.choices.iter().map(|choice| any.check(choice));
    let default = request.default.iter().map(|value| request.check(value));
    for (key, checked) in choices
        .map(|checked| ("choices", checked))
        .chain(default.map(|checked| ("default", checked)))
    {
        if let Err(why) = checked {
            wrong(
                format!("`{key}` of `@setting {name}`: {why}"),
                "write it as its `format` says",
            );
            is_sound = false;
        }
    }
    is_sound.then_some(request)
}
