//! JSON with a line for each member and item, for people who compare two texts.

/// Indents a JSON text. Numbers and characters of strings are kept as they are written: two
/// spellings that are the same to a parser may not be the same to other readers.
pub(super) fn indented(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    let mut letters = json.chars().peekable();
    let mut depth: usize = 0;
    let mut is_in_string = false;
    while let Some(letter) = letters.next() {
        if is_in_string {
            text.push(letter);
            match letter {
                '\\' => text.extend(letters.next()),
                '"' => is_in_string = false,
                _ => {}
            }
            continue;
        }
        match letter {
            ' ' | '\t' | '\r' | '\n' => {}
            '{' | '[' => {
                text.push(letter);
                while letters.next_if(char::is_ascii_whitespace).is_some() {}
                match letters.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => text.push(end),
                    None => {
                        depth += 1;
                        begin_line(&mut text, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                begin_line(&mut text, depth);
                text.push(letter);
            }
            ',' => {
                text.push(letter);
                begin_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            _ => {
                is_in_string = letter == '"';
                text.push(letter);
            }
        }
    }
    text
}

fn begin_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn it_is_as_others_write_it() {
        for json in [
            r#"{"a":[1,{"b":"c,{[\"\\"},[]],"d":{},"e":[ ]}"#,
            "[]",
            " 1 ",
            r#""a\u0041""#,
            r#"{ "a" : [ true , null ] }"#,
        ] {
            let value: Value = serde_json::from_str(json).unwrap();
            let expected = format!("{value:#}");
            let text = indented(json).replace("\\u0041", "A");
            assert_eq!(text, expected, "{json}");
        }
        assert_eq!(
            indented("[9007199254740993, 1.10]"),
            "[\n  9007199254740993,\n  1.10\n]"
        );
    }
}
