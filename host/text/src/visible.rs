//! Text that strangers have written, made safe to show to a person: on a terminal, and
//! in the forms that clients show.
//!
//! Characters that would move a cursor, turn around the direction of what follows, or not be seen
//! at all are replaced by their escapes (`\u{1b}`), so that nobody reads something else than
//! what there is. Names are held to that strictly, because no two of them may look alike; in
//! prose, what belongs to the spelling of words and to emoji stays.

mod prose;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

pub use prose::{hides_something, visible_prose};

/// Makes a text safe to show. Line breaks and tabs stay.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |c| !matches!(c, '\n' | '\t') && is_hidden(c))
}

/// Makes a text safe to show within one line: line breaks and tabs are escaped, too.
#[must_use]
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden)
}

/// Makes a path safe to show within one line. Bytes that are no text are shown as `\xff`, so that no
/// two paths look alike.
#[must_use]
pub fn visible_path(path: &Path) -> String {
    shown_path(path, |text| visible_line(text).into_owned())
}

/// Returns a path as a text, of which `shown` makes the parts that are text safe to show.
#[must_use]
pub fn shown_path(path: &Path, shown: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    for part in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(&shown(part.valid()));
        for byte in part.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// Makes a JSON text safe to show: hidden characters in its strings are replaced by the escapes of
/// JSON, so that its value stays the same.
#[must_use]
pub fn visible_json(text: &str) -> Cow<'_, str> {
    // Of ASCII, JSON itself has nothing hidden in strings but this, and spaces between them.
    let hidden = |c: char| c >= '\u{7f}' && is_hidden(c);
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if !hidden(c) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    Cow::Owned(shown)
}

/// Most names that a message lists one by one.
const MAX_NAMES: usize = 3;

/// Longest name that a message shows whole, in characters.
const MAX_NAME_CHARACTERS: usize = 64;

/// Lists the first of some names, and how many more there are: strangers choose how many there are
/// and how long each is.
#[must_use]
pub fn first_names(names: &[impl AsRef<str>]) -> String {
    let first = names.iter().take(MAX_NAMES);
    let shown: Vec<_> = first
        .map(|name| format!("`{}`", short_name(name.as_ref())))
        .collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Returns a name on one line, cut where it is long.
#[must_use]
pub fn short_name(name: &str) -> String {
    line_beginning(name, MAX_NAME_CHARACTERS)
}

/// Returns the first so many characters of a text, on one line.
#[must_use]
pub fn line_beginning(text: &str, characters: usize) -> String {
    let mut ends = text.char_indices().map(|(at, _)| at);
    match ends.nth(characters) {
        None => visible_line(text).into_owned(),
        Some(end) => format!("{}…", visible_line(text.get(..end).unwrap_or_default())),
    }
}

/// Longest reason of an author that is shown beside words of Dormouse's own, in characters: a longer
/// one could fill lines that look like these.
const MAX_REASON_CHARACTERS: usize = 100;

/// Returns the reason that an author gives for what they ask for, as it is shown to whoever decides.
#[must_use]
pub fn authors_reason(text: &str) -> String {
    first_line(text, MAX_REASON_CHARACTERS)
}

/// Returns the first line of a stranger's prose, cut to a length in characters, with one space for many:
/// these could be wrapped into lines of their own.
#[must_use]
pub fn first_line(text: &str, longest: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let words: Vec<_> = line.split_whitespace().collect();
    let line = words.join(" ");
    let line = visible_prose(&line);
    if line.chars().count() <= longest {
        return line.into_owned();
    }
    let cut: String = line.chars().take(longest.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

/// Removes the characters that show nothing by themselves: texts that are equal then may look
/// alike.
#[must_use]
pub fn without_hidden(text: &str) -> Cow<'_, str> {
    match text.contains(is_hidden) {
        true => Cow::Owned(text.chars().filter(|c| !is_hidden(*c)).collect()),
        false => Cow::Borrowed(text),
    }
}

fn escaped(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if hidden(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Whether a character shows nothing by itself, or changes how others are shown.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    match c {
        ' '..='~' => false,
        // Spaces of other widths are seen as what they are.
        '\u{a0}' | '\u{202f}' | '\u{3000}' => false,
        // These count as letters or as parts of letters, and show nothing.
        '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{16fe4}'
        | '\u{fffc}'
        | '\u{13441}'
        | '\u{13442}'
        | '\u{1d159}'
        | '\u{e0100}'..='\u{e01ef}' => true,
        c => {
            // What Rust escapes in a text to debug is what cannot be printed: controls,
            // formats, unassigned ones. Behind another character, because a mark that
            // belongs to one would be escaped on its own.
            let mut bytes = [b'a'; 5];
            let length = bytes
                .get_mut(1..)
                .map_or(0, |rest| c.encode_utf8(rest).len());
            let pair = bytes.get(..=length).unwrap_or_default();
            let pair = std::str::from_utf8(pair).unwrap_or_default();
            pair.escape_debug().nth(1) != Some(c)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_says_the_same_without_what_is_hidden() {
        let value = serde_json::json!({
            "a\u{202e}b": ["\u{1b}[2K", "\u{e0041}", "äöü \n日本", "x\u{3164}", "\u{7f}"]
        });
        for text in [
            value.to_string(),
            serde_json::to_string_pretty(&value).unwrap(),
        ] {
            let shown = visible_json(&text);
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
                value
            );
            assert!(
                shown.contains(r"\u202e") && shown.contains(r"\udb40\udc41"),
                "{shown}"
            );
            assert!(
                shown.contains("äöü") && shown.contains(r"\u3164"),
                "{shown}"
            );
            assert_eq!(visible(&shown), shown);
        }
    }

    #[test]
    fn what_people_write_stays() {
        for text in [
            "",
            "plain \\ 'text' \"quoted\" ~",
            "äöü ÅÉ 日本語 한국어 עברית العربية हिन्दी ไทย",
            "e\u{301} (combined), non-breaking\u{a0}space, 漢字\u{3000}",
            "a → b … – “x” 🙂 ½ ©",
            "lines\n\tof text",
        ] {
            assert!(matches!(visible(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn what_deceives_is_escaped() {
        for (text, shown) in [
            (
                "\u{1b}[2Jx\u{7}\r\u{9b}\u{7f}",
                "\\u{1b}[2Jx\\u{7}\\r\\u{9b}\\u{7f}",
            ),
            (
                "\u{202e}abc\u{2066}\u{200e}\u{61c}",
                "\\u{202e}abc\\u{2066}\\u{200e}\\u{61c}",
            ),
            (
                "a\u{200b}b\u{200d}c\u{feff}\u{ad}",
                "a\\u{200b}b\\u{200d}c\\u{feff}\\u{ad}",
            ),
            (
                "\u{2028}\u{2029}\u{2060}\u{180e}",
                "\\u{2028}\\u{2029}\\u{2060}\\u{180e}",
            ),
            (
                "\u{e0041}\u{e0100}\u{fe0f}",
                "\\u{e0041}\\u{e0100}\\u{fe0f}",
            ),
            (
                "\u{3164}\u{115f}\u{2800}\u{34f}",
                "\\u{3164}\\u{115f}\\u{2800}\\u{34f}",
            ),
            ("\u{e000}\u{0}", "\\u{e000}\\u{0}"),
        ] {
            assert_eq!(visible(text), shown);
            assert_eq!(visible_line(text), shown);
        }
    }

    #[test]
    fn of_many_and_of_long_names_the_beginning_is_said() {
        assert_eq!(first_names(&["a", "b\nc"]), "`a`, `b\\nc`");
        let many = vec!["ü".repeat(1 << 10); 9000];
        let cut = format!("`{}…`", "ü".repeat(64));
        let said = format!("{cut}, {cut}, {cut} and 8997 more");
        assert_eq!(first_names(&many), said);
    }

    #[test]
    #[cfg(unix)]
    fn a_path_is_one_line_and_no_two_look_alike() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        for (path, shown) in [
            (&b"/p/\xc3\xa4 b"[..], "/p/ä b"),
            (b"/p\xff/x", "/p\\xff/x"),
            (b"/p\xef\xbf\xbd/x", "/p\u{fffd}/x"),
            (b"/a\n\x1b[31m", "/a\\n\\u{1b}[31m"),
        ] {
            assert_eq!(visible_path(Path::new(OsStr::from_bytes(path))), shown);
        }
    }

    #[test]
    fn of_prose_the_first_line_is_shown_and_cut() {
        assert_eq!(first_line("  one\ntwo", 10), "one");
        assert_eq!(first_line("one two three", 8), "one two…");
        assert_eq!(first_line("äöü", 3), "äöü");
        let padded = format!("to work{}The plugin wants nothing else.", " ".repeat(500));
        assert_eq!(
            authors_reason(&padded),
            "to work The plugin wants nothing else."
        );
        assert_eq!(authors_reason(&"x ".repeat(9000)).chars().count(), 100);
    }

    #[test]
    fn one_line_stays_one() {
        assert_eq!(visible("a\tb\nc"), "a\tb\nc");
        assert_eq!(visible_line("a\tb\nc\r"), "a\\tb\\nc\\r");
    }
}
