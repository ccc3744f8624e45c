//! Arguments of a call, for a person who is asked about it: each by its name, however many
//! characters the others have.

use std::borrow::Cow;

use dormouse_jsonrpc::{Object, on_one_line};
use dormouse_runtime::Arguments;
use dormouse_text::visible::{line_beginning, visible_json};

/// Most arguments that a person is asked with.
const MAX_ARGUMENTS: usize = 64;

/// Most characters of an argument's name.
const MAX_NAME_CHARACTERS: usize = 64;

/// Most characters of the beginning of an argument's value, as JSON.
const MAX_BEGINNING_CHARACTERS: usize = 384;

/// Most characters of the end of an argument's value that is longer. What matters of a command may be
/// there, behind as many blanks as there is room for before it.
const MAX_END_CHARACTERS: usize = 128;

/// Returns the arguments as they go to a server, one on a line, with beginning and end of those that are
/// long. None where there are too many for a person.
pub(super) fn shown_arguments(arguments: &Arguments) -> Option<String> {
    let text = match &arguments.text {
        Some(text) => Cow::Borrowed(text.get()),
        None => Cow::Owned(serde_json::to_string(&arguments.values).ok()?),
    };
    // Those of a name that is there twice are both shown: servers differ in which counts.
    let object = Object::parse(&text, MAX_ARGUMENTS).ok()?;
    if object.is_empty() {
        return Some("Arguments: none\n".to_owned());
    }
    let mut shown = "Arguments:\n".to_owned();
    for member in object.iter() {
        let name = line_beginning(&member.name, MAX_NAME_CHARACTERS);
        let value = shown_value(&member.value);
        shown.push_str(&format!("  {name}: {value}\n"));
    }
    Some(shown)
}

/// Returns a value, or its beginning and its end, and how much there is between them.
fn shown_value(json: &str) -> String {
    let line = on_one_line(json);
    let left_out = line.chars().count();
    let left_out = left_out.saturating_sub(MAX_BEGINNING_CHARACTERS + MAX_END_CHARACTERS);
    if left_out == 0 {
        return visible_json(&line).into_owned();
    }
    let places = || line.char_indices().map(|(at, _)| at);
    let beginning = places().nth(MAX_BEGINNING_CHARACTERS);
    let beginning = beginning.and_then(|at| line.get(..at)).unwrap_or_default();
    let end = places().nth_back(MAX_END_CHARACTERS - 1);
    let end = end.and_then(|at| line.get(at..)).unwrap_or_default();
    format!(
        "{} … (cut: {left_out} characters) … {}",
        visible_json(beginning),
        visible_json(end)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    fn shown(text: &str) -> Option<String> {
        let text = RawValue::from_string(text.to_owned()).unwrap();
        shown_arguments(&Arguments {
            text: Some(text),
            ..Arguments::default()
        })
    }

    #[test]
    fn each_argument_is_shown_by_its_name_and_cut_for_itself() {
        let long = format!("{}; rm -rf ~", " ".repeat(100_000));
        let text = format!(
            r#"{{"a":"{long}","b":{{"c":[1,
            1.10]}},"a":"last","e\n":"\u202e{}"}}"#,
            '\u{202e}'
        );
        let shown = shown(&text).unwrap();
        let lines: Vec<_> = shown.lines().collect();
        assert_eq!(lines[0], "Arguments:");
        assert!(lines[1].starts_with("  a: \"   "), "{shown}");
        assert!(
            lines[1].contains(" … (cut: 99500 characters) …  "),
            "{shown}"
        );
        assert!(lines[1].ends_with("  ; rm -rf ~\""), "{shown}");
        assert!(lines[2].starts_with(r#"  b: {"c":[1, "#), "{shown}");
        assert_eq!(lines[3], r#"  a: "last""#);
        assert_eq!(lines[4], r#"  e\n: "\u202e\u202e""#);
        assert_eq!(lines.len(), 5);
    }

    #[test]
    fn of_too_many_arguments_nobody_is_asked() {
        let arguments = |count: usize| {
            let members = (0..count).map(|n| format!(r#""a{n}":{n}"#));
            shown(&format!("{{{}}}", members.collect::<Vec<_>>().join(",")))
        };
        assert_eq!(arguments(0).unwrap(), "Arguments: none\n");
        assert_eq!(arguments(MAX_ARGUMENTS).unwrap().lines().count(), 65);
        assert_eq!(arguments(MAX_ARGUMENTS + 1), None);
    }

    #[test]
    fn long_arguments_are_shown_in_linear_time() {
        let text = |size: usize| format!(r#"{{"a":"{}"}}"#, "\u{202e}".repeat(size));
        dormouse_tests::growth::is_linear("arguments", 20_000, text, |text: &String| {
            assert!(shown(text).unwrap().len() < 8192);
        });
    }
}
