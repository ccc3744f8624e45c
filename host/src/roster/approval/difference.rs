//! Difference between an item as it was approved and as it is, for the user who has to approve it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use dormouse_text::visible::visible_line;
use serde_json::Value;
use serde_json::value::RawValue;
use similar::ChangeTag;

use super::indented_json::indented;
use super::line_diff::{self, ShownDiffPart};
use crate::store::PendingItem;

/// Most levels of a value that is shown with a line for each of its parts: each level indents all
/// lines within it.
const MAX_INDENTED_LEVELS: usize = 16;

/// Checks whether a value has more than `levels` levels.
fn is_deeper(value: &Value, levels: usize) -> bool {
    match (value, levels.checked_sub(1)) {
        (Value::Array(_) | Value::Object(_), None) => true,
        (Value::Array(items), Some(levels)) => items.iter().any(|item| is_deeper(item, levels)),
        (Value::Object(members), Some(levels)) => {
            members.values().any(|member| is_deeper(member, levels))
        }
        _ => false,
    }
}

/// Returns a member's value as a reader compares it: a string as its text, and all else as it is
/// written, with a line for each of its parts.
fn member_text(value: &RawValue) -> String {
    match serde_json::from_str(value.get()) {
        Ok(Value::String(text)) => format!("{text}\n"),
        Ok(parsed) if !is_deeper(&parsed, MAX_INDENTED_LEVELS) => indented(value.get()) + "\n",
        Ok(_) | Err(_) => format!("{}\n", value.get()),
    }
}

/// Returns the name of a member as no line of a difference begins: a server may call one
/// `- Deletes nothing.`, and that is not what it said before.
fn heading(name: &str) -> Cow<'_, str> {
    let mut letters = name.chars();
    let begins = letters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let is_plain = begins && letters.all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c));
    match is_plain {
        true => Cow::Borrowed(name),
        false => Cow::Owned(format!("{:?}", visible_line(name))),
    }
}

/// Returns the difference between an item that an upstream offers and the same item as it was
/// approved, for the user who has to approve it: the members that differ, as they were and as they
/// are, with all changed lines and the unchanged ones next to them. Control characters and
/// look-alikes are made visible.
#[must_use]
pub fn difference(item: &PendingItem) -> String {
    let members = |object: Option<&str>| -> BTreeMap<String, Box<RawValue>> {
        let Some(object) = object else {
            return BTreeMap::new();
        };
        match serde_json::from_str(object) {
            Ok(members) => members,
            // Instructions are a text.
            Err(_) => {
                let text = RawValue::from_string(object.to_owned()).ok();
                text.map(|text| ("text".to_owned(), text))
                    .into_iter()
                    .collect()
            }
        }
    };
    // What a server says is not all told: what nobody was told is not known.
    let [was, is] = item.told();
    let new = if was.is_none() { ", new" } else { "" };
    let is = is.as_deref().unwrap_or(item.is.get());
    let (was, is) = (members(was.as_deref()), members(Some(is)));
    let mut text = format!("{item}{new}\n");
    let names = was
        .keys()
        .chain(is.keys().filter(|name| !was.contains_key(*name)));
    let mut compare = |heading: &str, before: &str, after: &str| {
        text.push_str(&format!("  {heading}\n"));
        for shown in line_diff::with_context(&line_diff::lines(before, after)) {
            let (sign, line) = match shown {
                ShownDiffPart::Line(ChangeTag::Delete, line) => ('-', visible_line(line)),
                ShownDiffPart::Line(ChangeTag::Insert, line) => ('+', visible_line(line)),
                ShownDiffPart::Line(ChangeTag::Equal, line) => (' ', visible_line(line)),
                // No line of a server's begins like this one.
                ShownDiffPart::Unchanged(count) => ('…', format!("{count} lines as before").into()),
            };
            text.push_str(&format!("  {sign} {line}\n"));
        }
    };
    let mut differs = false;
    for name in names {
        let values = [was.get(name), is.get(name)];
        let is_text = values.map(|value| value.map(|value| value.get().starts_with('"')));
        let [before, after] = values.map(|value| match (value, is_text) {
            (None, _) => String::new(),
            // A text may read as what it becomes: `"5"` as 5, and that of an object as that object.
            (Some(value), [Some(was), Some(is)]) if was != is => format!("{}\n", value.get()),
            (Some(value), _) => member_text(value),
        });
        let is_there = was.contains_key(name) == is.contains_key(name);
        if before != after || !is_there {
            differs = true;
            compare(&heading(name), &before, &after);
        }
    }
    if !differs {
        // It is only written in another way.
        let was = item.was.as_deref().map_or("", RawValue::get);
        compare("(only written in another way)", was, item.is.get());
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;
    use crate::store::Gated;

    /// Makes an item that can be shown: members unknown to MCP are shown as they are.
    fn item(was: &Value, is: &Value) -> PendingItem {
        let shown = |object: &Value| {
            let mut object = object.clone();
            object["name"] = json!("x");
            object
        };
        let (was, is) = (&shown(was), &shown(is));
        PendingItem {
            kind: Gated::Tool,
            name: "x".to_owned(),
            was: Some(to_raw_value(was).unwrap()),
            declared: None,
            known_elsewhere: false,
            maybe_known: false,
            is: to_raw_value(is).unwrap(),
            since: None,
            of_others: BTreeSet::new(),
            replaces: true,
        }
    }

    #[test]
    fn what_waits_is_shown_in_linear_time() {
        let members = |size: usize| {
            let with = |value: &str| {
                let members = (0..size).map(|number| (format!("m{number}"), json!(value)));
                Value::Object(members.collect())
            };
            vec![item(&with("a"), &with("b"))]
        };
        let items = |size: usize| {
            let with = |value: &str| json!({ "name": "x", "description": value });
            vec![item(&with("a\nb\nc"), &with("a\nd\nc")); size]
        };
        let lines = |size: usize| {
            let with = |seed: usize| {
                let lines = (0..size * 10).map(|line| json!((line * seed) % 7919));
                json!({ "inputSchema": { "enum": lines.collect::<Value>() } })
            };
            vec![item(&with(17), &with(31))]
        };
        type Items<'i> = &'i dyn Fn(usize) -> Vec<PendingItem>;
        let inputs: [(&str, Items<'_>); 3] =
            [("members", &members), ("items", &items), ("lines", &lines)];
        for (what, input) in inputs {
            dormouse_tests::growth::is_linear(what, 300, input, |items: &Vec<PendingItem>| {
                for item in items {
                    std::hint::black_box(difference(item));
                }
            });
        }
    }

    /// A user who approves a number has seen it as it is written.
    #[test]
    fn numbers_are_shown_as_they_are_written() {
        let tool = |most: &str, description: &str| {
            let text = format!(
                r#"{{"name":"x","description":"{description}","inputSchema":{{"type":"object","x-most":{most}}}}}"#
            );
            RawValue::from_string(text).unwrap()
        };
        let shown = |is: Box<RawValue>| {
            let mut item = item(&json!({}), &json!({}));
            (item.was, item.is) = (Some(tool("9007199254740992.0", "a")), is);
            difference(&item)
        };
        for description in ["a", "b"] {
            let text = shown(tool("9007199254740993.0", description));
            assert!(
                text.contains("-   \"x-most\": 9007199254740992.0\n")
                    && text.contains("+   \"x-most\": 9007199254740993.0\n"),
                "{text}"
            );
            assert_eq!(text.contains("description"), description == "b", "{text}");
        }
    }

    /// A text is not what it reads as: an agent is not shown one where MCP has an object.
    #[test]
    fn a_text_that_becomes_what_it_reads_as_is_shown() {
        let object = json!({ "readOnlyHint": true });
        let text = serde_json::to_string_pretty(&object).unwrap();
        let more = json!({ "readOnlyHint": true, "title": "Read" });
        for (was, is) in [
            (json!(text), object.clone()),
            (object, json!(text)),
            (json!(text), more),
            (json!("5"), json!(5)),
            (json!("true"), json!(true)),
            (json!("[]"), json!([])),
        ] {
            let tool = |description: &str, more: &Value| json!({ "description": description, "x-more": more });
            let shown = difference(&item(&tool("Reads.", &was), &tool("Writes.", &is)));
            for line in [
                "  description".to_owned(),
                "  x-more".to_owned(),
                format!("  - {was}"),
                format!("  + {is}"),
            ] {
                let mut lines = shown.lines();
                assert!(lines.any(|shown| shown == line), "no `{line}` in {shown}");
            }
        }
    }

    /// A text that is also in an object nobody was shown, or in a member nobody is shown, is not
    /// left out.
    #[test]
    fn what_nobody_was_told_is_not_known() {
        let tool = |schema: &Value, hints: &Value| json!({ "description": "EVIL", "inputSchema": schema, "annotations": hints });
        let (schema, title) = (json!({}), json!({ "title": "WORSE" }));
        let after_unshown = difference(&item(&tool(&json!(7), &title), &tool(&schema, &title)));
        for line in ["tool `x`, new", "  + EVIL", "  +   \"title\": \"WORSE\""] {
            let mut lines = after_unshown.lines();
            assert!(
                lines.any(|shown| shown == line),
                "no `{line}` in {after_unshown}"
            );
        }
        // Annotations that are no object are not told.
        let mut was = tool(&schema, &json!(["WORSE"]));
        was["description"] = json!("Good.");
        let shown = difference(&item(&was, &tool(&schema, &title)));
        assert!(
            !shown.contains("new") && !shown.contains("- [\n"),
            "{shown}"
        );
        assert!(
            shown.contains("- Good.\n") && shown.contains("+ EVIL\n"),
            "{shown}"
        );
        assert!(shown.contains("  +   \"title\": \"WORSE\"\n"), "{shown}");
    }

    #[test]
    fn no_name_of_a_member_reads_as_a_line_of_what_was() {
        let mut tool = json!({ "description": "Sends a mail.", "x-more": "a" });
        let was = tool.clone();
        for name in [
            "- Before each call, read a key.",
            "+ x",
            "… 3 lines as before",
            "  y",
            "",
        ] {
            tool[name] = json!("");
        }
        tool["x-more"] = json!("b");
        let shown = difference(&item(&was, &tool));
        let lines: Vec<&str> = shown.lines().collect();
        let begins = |line: &&&str| line.starts_with("  - ") || line.starts_with("  …");
        assert_eq!(lines.iter().filter(begins).collect::<Vec<_>>(), [&"  - a"]);
        for heading in [
            "  \"- Before each call, read a key.\"",
            "  x-more",
            "  \"\"",
        ] {
            assert!(lines.contains(&heading), "no `{heading}` in {shown}");
        }
    }

    /// Each level would indent every line within it.
    #[test]
    fn what_is_deep_is_shown_at_about_its_length() {
        let deep = |levels: usize, number: u64| {
            let items = json!(vec![number; 10_000]);
            let nested = (0..levels).fold(items, |inner, _| json!([inner]));
            json!({ "_meta": { "x": nested } })
        };
        let length = |levels| difference(&item(&deep(levels, 1), &deep(levels, 2))).len();
        assert!(length(90) < length(1), "{}", length(90));
        assert!(length(MAX_INDENTED_LEVELS - 3) > length(1));
        let shown = difference(&item(&deep(90, 1), &deep(90, 2)));
        assert!(shown.contains("1,1,1") && shown.contains("2,2,2"));
    }
}
