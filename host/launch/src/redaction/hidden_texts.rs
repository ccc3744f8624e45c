//! Known secrets, removed from the words of a server.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD};
use dormouse_jsonrpc::{TextPart, text_parts};
use percent_encoding::percent_decode_str;
use serde::de::IgnoredAny;
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

use super::arguments::{secrets_in_arguments, secrets_in_line};
use super::secret_value::{is_setting, tells_nothing};
use super::unescaped::{Unescaped, may_have_escapes};
use super::url::secrets_in_url;
use super::{HIDDEN, SecretPart, is_secret_name};

/// Fewest bytes of a secret that is looked for: shorter ones occur in any text.
const MIN_HIDDEN_BYTES: usize = 4;

/// Fewest bytes of one of several lines of a secret that is looked for by itself.
const MIN_LINE_BYTES: usize = 8;

/// Most bytes of one text that is looked for. Longer ones are looked for in pieces.
const MAX_PIECE_BYTES: usize = 256;

/// Most bytes of such a piece as it may be written, with each of its characters escaped.
pub const MAX_WRITTEN_PIECE_BYTES: usize = 6 * MAX_PIECE_BYTES;

/// Most bytes of all texts that are looked for together.
const MAX_TOTAL_BYTES: usize = 1 << 20;

/// Fewest letters of Base64 that are looked for: fewer occur in any text of Base64.
const MIN_BASE64_LETTERS: usize = 8;

/// Most bytes of a secret that is looked for as Base64, too. Headers, which are written like
/// that, are no longer.
const MAX_BASE64_SECRET_BYTES: usize = 8 << 10;

/// Bytes of a secret that are looked for together as Base64: two such pieces are on each line of
/// Base64, which stands for 48 bytes or more.
const BASE64_PIECE_BYTES: usize = 16;

/// Bytes of a text that are looked at together.
const WINDOW_BYTES: usize = 64 << 10;

/// Bytes behind a window in which a secret may end that begins in it, with escapes of escapes.
const OVERLAP_BYTES: usize = 8 << 10;

/// Secrets that are being gathered.
#[derive(Default)]
pub struct HiddenTextsBuilder {
    /// The secrets, and whether each is one for sure.
    secrets: BTreeMap<String, bool>,
}

impl HiddenTextsBuilder {
    /// Adds a secret. Of one with several lines each line is looked for, as logs are read by
    /// lines.
    pub fn add(&mut self, secret: &str) {
        self.insert(secret, true);
    }

    /// Adds what may be a secret: of several lines, those that tell nothing are looked for with
    /// the others alone.
    pub fn add_possible(&mut self, secret: &str) {
        self.insert(secret, false);
    }

    fn insert(&mut self, secret: &str, is_certain: bool) {
        if secret.len() >= MIN_HIDDEN_BYTES {
            let known = self.secrets.entry(secret.to_owned()).or_default();
            *known |= is_certain;
        }
    }

    /// Adds a credential: `Bearer abc`, and `abc` by itself, too.
    pub fn add_credential(&mut self, credential: &str) {
        self.add(credential);
        if let Some((_, last)) = credential.rsplit_once(' ') {
            self.add(last);
        }
    }

    /// Adds what may be a credential: of several lines, those that tell nothing are looked for with
    /// the others alone.
    pub fn add_possible_credential(&mut self, credential: &str) {
        match credential.trim().contains(['\n', '\r']) {
            true => self.add_possible(credential),
            false => self.add_credential(credential),
        }
    }

    /// Adds a user name and a password, as they are written in a URL: they are sent as one
    /// header.
    pub fn add_user(&mut self, user: &str) {
        let decoded = percent_decode_str(user).decode_utf8_lossy();
        self.add(&STANDARD.encode(decoded.as_bytes()));
        // One without a password is sent with an empty one.
        self.add(&STANDARD.encode(format!("{decoded}:")));
        match user.split_once(':') {
            Some((name, password)) => {
                // `postgres` is said of more than of who asks.
                if !is_setting(name) {
                    self.add(name);
                }
                self.add(password);
            }
            None => self.add(user),
        }
    }

    /// Adds the secrets of a URL, but no setting such as `mode=http`, which occurs in other texts
    /// too.
    pub fn add_url(&mut self, url: &str) {
        for part in secrets_in_url(url) {
            if let Some(secret) = part.known_in(url) {
                self.add_user(secret);
            }
        }
    }

    /// Adds the secrets that are written out in the arguments of a program, or in a list that may
    /// be some.
    pub fn add_arguments(&mut self, program: &str, args: &[&str]) {
        for (text, parts) in args.iter().zip(secrets_in_arguments(program, args)) {
            self.add_parts(text, &parts);
        }
    }

    /// Adds the secrets that are written out in a command line, or in another text.
    pub fn add_line(&mut self, line: &str) {
        self.add_parts(line, &secrets_in_line(line));
    }

    fn add_parts(&mut self, text: &str, parts: &[SecretPart]) {
        let may_have_user = text.contains("://");
        for secret in parts.iter().filter_map(|part| part.known_in(text)) {
            self.add_credential(secret);
            if may_have_user {
                self.add_user(secret);
            }
        }
    }

    /// Adds the value of a variable, but for one that tells nothing.
    pub fn add_variable(&mut self, name: &str, value: &str) {
        if value.contains("://") {
            self.add_url(value);
        }
        match is_secret_name(name) {
            true => self.add_credential(value),
            false if tells_nothing(value) => {}
            false => self.add_possible_credential(value),
        }
    }

    /// Adds the secret of a client, also as the client sends it in a `Basic` header.
    pub fn add_client(&mut self, id: &str, secret: &str) {
        self.add(secret);
        for shown in basic_credentials(id, secret) {
            self.add(&shown);
        }
    }

    /// Builds the search for the secrets.
    #[must_use]
    pub fn build(self) -> HiddenTexts {
        let secrets = self.secrets.iter();
        let mut by_length: Vec<(&str, bool)> = secrets
            .map(|(secret, is_certain)| (secret.as_str(), *is_certain))
            .collect();
        by_length.sort_by_key(|(secret, _)| secret.len());
        let mut patterns = Patterns::default();
        for (secret, is_certain) in &by_length {
            patterns.add_lines(secret.as_bytes(), *is_certain);
        }
        for (secret, is_certain) in &by_length {
            let unescaped = Unescaped::of(secret);
            // One at the end takes what stands behind it along, such as a quote.
            let end = unescaped.bytes().strip_suffix(b"\\");
            let end = end.unwrap_or(unescaped.bytes());
            match is_of_lines(secret.as_bytes()) {
                true => patterns.add_lines(end, *is_certain),
                // What looks like a break in it (`C:\\new`) is none.
                false => patterns.add_pieces(end),
            }
        }
        let written = patterns.texts.len();
        for (secret, is_certain) in &by_length {
            patterns.add_base64(secret, *is_certain);
        }
        let automaton = AhoCorasick::builder()
            // A table for each byte would be large, and is slow to make.
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            // Another secret may be a part of one.
            .match_kind(MatchKind::LeftmostLongest)
            .build(&patterns.texts);
        HiddenTexts {
            is_empty: patterns.texts.is_empty(),
            // Where not all are looked for, nothing can be shown.
            automaton: automaton.ok().filter(|_| !patterns.is_full),
            written,
        }
    }
}

/// Returns what a client sends in a header (`Basic`), with its id and secret as they are, and with
/// both encoded first, as OAuth has it (RFC 6749, section 2.3.1).
pub fn basic_credentials(id: &str, secret: &str) -> [String; 2] {
    [
        STANDARD.encode(format!("{id}:{secret}")),
        STANDARD.encode(format!("{}:{}", in_form(id), in_form(secret))),
    ]
}

/// Returns a text as it is written in forms and queries.
fn in_form(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

/// Texts that are looked for.
#[derive(Default)]
struct Patterns {
    texts: Vec<Vec<u8>>,
    known: BTreeSet<Vec<u8>>,
    bytes: usize,
    /// Whether there were more than [`MAX_TOTAL_BYTES`].
    is_full: bool,
}

impl Patterns {
    /// Adds the lines of a secret, long ones in pieces, and of several all together.
    fn add_lines(&mut self, secret: &[u8], is_certain: bool) {
        lines(secret, is_certain).for_each(|line| self.add_pieces(line));
        if is_of_lines(secret) {
            self.add_pieces(secret.trim_ascii());
        }
    }

    /// Adds a line, in pieces if it is long.
    fn add_pieces(&mut self, line: &[u8]) {
        for piece in line.chunks(MAX_PIECE_BYTES) {
            self.add(piece);
        }
    }

    /// Adds the Base64 of a secret, for every position in the text that is encoded.
    fn add_base64(&mut self, secret: &str, is_certain: bool) {
        if secret.len() > MAX_BASE64_SECRET_BYTES {
            return;
        }
        let decoded = percent_decode_str(secret).decode_utf8_lossy();
        for secret in [secret, &decoded, &in_form(secret)] {
            // Short ones, for Base64 is often broken into lines: where one is found, the rest of its
            // line is hidden with it.
            let pieces = lines(secret.as_bytes(), is_certain);
            let pieces = pieces.flat_map(|line| line.chunks(BASE64_PIECE_BYTES));
            for piece in pieces {
                for before in 0..3 {
                    let letters = base64_within(before, piece);
                    if letters.len() < MIN_BASE64_LETTERS {
                        continue;
                    }
                    self.add(letters.as_bytes());
                    self.add(Unescaped::of(&letters).bytes());
                    let for_urls = letters.replace('+', "-").replace('/', "_");
                    self.add(for_urls.as_bytes());
                }
            }
        }
    }

    fn add(&mut self, text: &[u8]) {
        if text.len() < MIN_HIDDEN_BYTES || self.known.contains(text) {
            return;
        }
        if self.bytes + text.len() > MAX_TOTAL_BYTES {
            self.is_full = true;
            return;
        }
        self.bytes += text.len();
        self.known.insert(text.to_owned());
        self.texts.push(text.to_owned());
    }
}

/// Whether a secret has several lines.
fn is_of_lines(secret: &[u8]) -> bool {
    secret.trim_ascii().iter().any(|byte| is_break(*byte))
}

fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns the lines of a secret that are looked for. Of several lines of what may be a secret,
/// those that are short or tell nothing are left out: they are in many other texts.
fn lines(secret: &[u8], is_certain: bool) -> impl Iterator<Item = &[u8]> {
    let is_of_lines = is_of_lines(secret) && !is_certain;
    let lines = secret.split(|byte| is_break(*byte));
    lines.map(<[u8]>::trim_ascii).filter(move |line| {
        let tells =
            || line.len() >= MIN_LINE_BYTES && !tells_nothing(&String::from_utf8_lossy(line));
        !is_of_lines || tells()
    })
}

/// Returns the letters of Base64 that depend on a secret alone, where `before` bytes stand before
/// it.
fn base64_within(before: usize, secret: &[u8]) -> String {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(secret);
    let letters = STANDARD_NO_PAD.encode(&bytes);
    // A letter stands for six bits.
    let start = (before * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    letters.get(start..end).unwrap_or_default().to_owned()
}

/// Secrets that a text must not have in it. Looking for them takes the same time, however many
/// there are: whoever runs a server decides how much it says.
#[derive(Debug)]
pub struct HiddenTexts {
    is_empty: bool,
    /// None where there is more to look for than can be, so that nothing is shown.
    automaton: Option<AhoCorasick>,
    /// Number of texts that are looked for as they are written. The others are Base64.
    written: usize,
}

/// A part of a text that is hidden.
struct HiddenPart {
    range: Range<usize>,
    is_base64: bool,
}

impl HiddenTexts {
    /// Whether all secrets are looked for. Otherwise nothing is shown at all.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.automaton.is_some()
    }

    /// Removes the secrets from the texts, numbers and names of JSON. Names that are common words
    /// stay, so that readers find them. `null` where the JSON cannot be read: what cannot be
    /// checked does not pass.
    #[must_use]
    pub fn redact_json(&self, json: &str) -> String {
        if self.is_empty {
            return json.to_owned();
        }
        match serde_json::from_str::<IgnoredAny>(json) {
            Ok(_) => self.redact_read_json(json),
            Err(_) => "null".to_owned(),
        }
    }

    /// Removes the secrets from JSON that can be read, text by text: values would take many times
    /// its memory. The JSON stays as it was written, wherever there is nothing to hide.
    fn redact_read_json(&self, json: &str) -> String {
        let mut shown = String::with_capacity(json.len());
        let mut rest = json;
        while let Some(c) = rest.chars().next() {
            let bytes = match c {
                '"' => match text_parts(rest.as_bytes()).next() {
                    Some(TextPart::String(bytes)) => bytes,
                    Some(TextPart::Byte(_)) | None => 1,
                },
                '-' | '0'..='9' => rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c))
                    .unwrap_or(rest.len()),
                other => other.len_utf8(),
            };
            let (part, after) = rest.split_at_checked(bytes).unwrap_or((rest, ""));
            let redacted = match c {
                '"' => match serde_json::from_str::<Cow<'_, str>>(part) {
                    Ok(text) => {
                        let is_name = after.trim_ascii_start().starts_with(':');
                        let redacted = match is_name {
                            true => self.redact_name(&text),
                            false => self.redact(&text),
                        };
                        (redacted != *text).then_some(redacted)
                    }
                    // What cannot be looked at does not pass.
                    Err(_) => Some(HIDDEN.to_owned()),
                },
                '-' | '0'..='9' => Some(self.redact(part)).filter(|redacted| redacted != part),
                _ => None,
            };
            match redacted {
                Some(redacted) => shown.push_str(&Value::from(redacted).to_string()),
                None => shown.push_str(part),
            }
            rest = after;
        }
        shown
    }

    /// Removes the secrets from the texts, names and numbers of a value.
    #[must_use]
    pub fn redact_value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.redact(text).into(),
            Value::Number(number) => {
                let text = number.to_string();
                match self.redact(&text) {
                    same if same == text => value.clone(),
                    redacted => redacted.into(),
                }
            }
            Value::Array(items) => items.iter().map(|item| self.redact_value(item)).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| (self.redact_name(name), self.redact_value(member)))
                .collect(),
            other => other.clone(),
        }
    }

    /// Removes the secrets from a text.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        self.redact_beginning(text, text.len())
    }

    /// Returns the beginning of a text without the secrets, up to byte `end` or the end of the
    /// character there. A secret that goes on behind it is left out, too, where the text has
    /// [`MAX_WRITTEN_PIECE_BYTES`] more.
    #[must_use]
    pub fn redact_beginning(&self, text: &str, end: usize) -> String {
        self.without(text, 0..end, |_| true)
    }

    /// Returns the end of a text without the secrets, from byte `start` or the end of the character
    /// there. A secret that begins before it is left out, too, where the text has
    /// [`MAX_WRITTEN_PIECE_BYTES`] before it.
    #[must_use]
    pub fn redact_end(&self, text: &str, start: usize) -> String {
        self.without(text, start..text.len(), |_| true)
    }

    fn redact_name(&self, name: &str) -> String {
        self.without(name, 0..name.len(), |found| !tells_nothing(found))
    }

    /// Returns a part of a text without those secrets for which `is_hidden` is true.
    fn without(&self, text: &str, part: Range<usize>, is_hidden: impl Fn(&str) -> bool) -> String {
        let start = text.ceil_char_boundary(part.start.min(text.len()));
        let end = text.ceil_char_boundary(part.end.min(text.len()));
        let part = text.get(start..end).unwrap_or_default();
        if self.is_empty || part.is_empty() {
            return part.to_owned();
        }
        let Some(automaton) = &self.automaton else {
            return HIDDEN.to_owned();
        };
        let mut shown = String::with_capacity(part.len());
        // Where the last hidden part ends, and the last one of all that were found: what is found
        // within Base64 is not walked through once more for each place.
        let mut hidden_until = None;
        let mut found_until = 0;
        let mut from = 0;
        while from < end {
            let next = text.ceil_char_boundary(from + WINDOW_BYTES);
            let window_end = text.ceil_char_boundary(next + OVERLAP_BYTES);
            let window = text.get(from..window_end).unwrap_or_default();
            for part in self.parts(automaton, window) {
                let mut range = from + part.range.start..from + part.range.end;
                if range.start >= next.min(end) {
                    break;
                }
                if range.end <= found_until
                    || !is_hidden(text.get(range.clone()).unwrap_or_default())
                {
                    continue;
                }
                if part.is_base64 {
                    range = whole_base64(text, range, found_until);
                }
                found_until = range.end.max(found_until);
                if range.end <= start {
                    continue;
                }
                let shown_until = hidden_until.unwrap_or(start);
                if range.start > shown_until || hidden_until.is_none() {
                    shown.push_str(text.get(shown_until..range.start).unwrap_or_default());
                    shown.push_str(HIDDEN);
                }
                hidden_until = Some(range.end.max(shown_until));
            }
            from = next;
        }
        shown.push_str(
            text.get(hidden_until.unwrap_or(start)..end)
                .unwrap_or_default(),
        );
        shown
    }

    /// Finds the parts of a text that are hidden, sorted by where they begin.
    fn parts(&self, automaton: &AhoCorasick, text: &str) -> Vec<HiddenPart> {
        let part = |range: Range<usize>, pattern: usize| HiddenPart {
            range: text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end),
            is_base64: pattern >= self.written,
        };
        let mut parts: Vec<_> = automaton
            .find_iter(text)
            .map(|found| part(found.range(), found.pattern().as_usize()))
            .collect();
        if may_have_escapes(text) {
            let unescaped = Unescaped::of(text);
            let found = automaton.find_iter(unescaped.bytes());
            parts.extend(found.map(|found| {
                let range = unescaped.part_of_text(&found.range());
                part(range, found.pattern().as_usize())
            }));
            parts.sort_by_key(|part| part.range.start);
        }
        parts
    }
}

/// Extends a part of a text to all of the Base64 around it, but to nothing before byte `from`: the
/// letters around a secret have bits of it, too.
fn whole_base64(text: &str, part: Range<usize>, from: usize) -> Range<usize> {
    let before = text.get(from..part.start).unwrap_or_default();
    let is_before = |letter: char| letter.is_ascii_alphanumeric() || letter == '+';
    let before = before.len() - before.trim_end_matches(is_before).len();
    let after = text.get(part.end..).unwrap_or_default();
    let is_after = |letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '+' | '/' | '-' | '_' | '=')
    };
    let after = after.len() - after.trim_start_matches(is_after).len();
    part.start - before..part.end + after
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(secrets: &[&str]) -> HiddenTexts {
        let mut hidden = HiddenTextsBuilder::default();
        secrets.iter().for_each(|secret| hidden.add(secret));
        hidden.build()
    }

    #[test]
    fn base64_that_is_said_again_and_again_takes_linear_time() {
        let secret = "github_pat_aZ9kaZ9kaZ9kaZ9kaZ9k";
        let hidden = hidden(&[secret]);
        let encoded = STANDARD_NO_PAD.encode(secret);
        let input = |times: usize| encoded.repeat(times);
        dormouse_tests::growth::is_linear("Base64", 300, input, |text| {
            assert_eq!(hidden.redact(text), HIDDEN);
            // Of what stands before the part that is shown, nothing is looked at twice either.
            let long = format!("{text} {}", "x".repeat(64));
            assert_eq!(hidden.redact_end(&long, long.len() - 8), "x".repeat(8));
        });
    }

    #[test]
    fn base64_that_is_broken_into_lines_is_found() {
        let secret = format!("github_pat_{}", "aZ9k".repeat(21));
        let hidden = hidden(&[&secret]);
        for (before, width) in [("", 76), ("user:", 64), ("ab", 76), ("", 60), ("x", 48)] {
            let encoded = STANDARD.encode(format!("{before}{secret}"));
            let lines: Vec<&str> = (0..encoded.len())
                .step_by(width)
                .map(|at| &encoded[at..encoded.len().min(at + width)])
                .collect();
            for end in ["\n", "\r\n", "\\n"] {
                let shown = hidden.redact(&lines.join(end));
                // What a last short line has is too little to be of use.
                let left: usize = shown.split(['…', '\r', '\n', '\\']).map(str::len).sum();
                assert!(left <= 24, "{before} {width}: {shown:?}");
            }
        }
    }

    #[test]
    fn lines_that_tell_nothing_and_paths_of_windows_are_no_secrets() {
        let value = "debug=1\ntrue\nproduction\nkey=hunter-two-three\n";
        let mut lines = HiddenTextsBuilder::default();
        lines.add_possible(value);
        let lines = lines.build();
        let honest = "true, debug=1 in production";
        assert_eq!(lines.redact(honest), honest);
        assert_eq!(lines.redact("it was key=hunter-two-three"), "it was …");
        assert_eq!(lines.redact(&format!("<{value}>")), "<…\n>");
        // What is one for sure is hidden line by line.
        let codes = hidden(&["12345678\n/correct/horse\nhunt3r2\n"]);
        let said = "12345678, /correct/horse and hunt3r2";
        assert_eq!(codes.redact(said), "…, … and …");
        let path = hidden(&[r"D:\new\table\readings of the users"]);
        let honest = "able to readings, ew, of the users";
        assert_eq!(path.redact(honest), honest);
        let said = r#"{"in":"D:\\new\\table\\readings of the users"}"#;
        assert_eq!(path.redact_json(said), r#"{"in":"…"}"#);
    }

    #[test]
    fn json_stays_as_it_was_written_where_nothing_is_hidden() {
        let hidden = hidden(&["hunter-two", "8675309"]);
        for (json, shown) in [
            (r#" {"a" : 1.10, "b":[1e999,-0, null]} "#, None),
            (
                r#"{"n":8675309,"m":[86753091]}"#,
                Some(r#"{"n":"…","m":["…1"]}"#),
            ),
            (
                r#"{"a":"\u0068unter-two","b":"\\\""}"#,
                Some(r#"{"a":"…","b":"\\\""}"#),
            ),
            (r#""\ud800""#, Some(r#""…""#)),
            ("[1,", Some("null")),
        ] {
            assert_eq!(hidden.redact_json(json), shown.unwrap_or(json), "{json}");
        }
    }

    #[test]
    fn secrets_are_taken_out() {
        let mut hidden = HiddenTextsBuilder::default();
        hidden.add("abc");
        hidden.add("secret");
        hidden.add("longer-secret");
        hidden.add_credential("Bearer t0ken");
        hidden.add("-----BEGIN\nline-of-key\n");
        hidden.add("a\"b c");
        hidden.add_user("me:p%40ss1");
        hidden.add(&"x".repeat(3000));
        let hidden = hidden.build();
        for (text, shown) in [
            ("abc is too short", "abc is too short"),
            (
                "secret, longer-secret, Bearer t0ken and t0ken",
                "…, …, … and …",
            ),
            ("line-of-key", "…"),
            ("a\"b c, a\\\"b c, a%22b%20c", "…, …, …"),
            ("p%40ss1, p@ss1, Basic bWU6cEBzczE=", "…, …, Basic …"),
        ] {
            assert_eq!(hidden.redact(text), shown);
        }
        assert_eq!(hidden.redact(&format!("a {} b", "x".repeat(3000))), "a … b");
        assert_eq!(hidden.redact_beginning("x longer-secret", 8), "x …");
        assert_eq!(hidden.redact_beginning("x longer-secret", 1), "x");
        assert_eq!(HiddenTextsBuilder::default().build().redact("a b"), "a b");
        for (start, shown) in [(0, "x … y"), (2, "… y"), (9, "… y"), (15, " y"), (16, "y")] {
            assert_eq!(
                hidden.redact_end("x longer-secret y", start),
                shown,
                "{start}"
            );
        }
    }

    /// A text with the digits of its escapes in small letters, as some write URLs.
    fn in_small_letters(percent: &str) -> String {
        let mut parts = percent.split('%');
        let mut text = parts.next().unwrap().to_owned();
        for part in parts {
            let (digits, rest) = part.split_at(2);
            text.push_str(&format!("%{}{rest}", digits.to_lowercase()));
        }
        text
    }

    #[test]
    fn a_secret_is_found_however_it_is_written() {
        for secret in [
            "CANARYa/b+c==dEf1",
            "CANARY<x>&\"y'z",
            "CANARYpäß wörd/+ x",
            r"C:\users\dev\x41%41",
            "two words",
        ] {
            let hidden = hidden(&[secret]);
            let json = Value::from(secret).to_string();
            let ascii: String = json
                .chars()
                .map(|letter| match letter.is_ascii() {
                    true => letter.to_string(),
                    false => format!("\\u{:04X}", u32::from(letter)),
                })
                .collect();
            let percent =
                percent_encoding::utf8_percent_encode(secret, percent_encoding::NON_ALPHANUMERIC);
            let percent = percent.to_string();
            let html = secret
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('"', "&quot;")
                .replace('\'', "&#39;");
            for written in [
                secret.to_owned(),
                json.replace('/', "\\/"),
                json.replace('<', "\\u003c").replace('&', "\\u0026"),
                ascii,
                in_small_letters(&percent),
                percent.replace("%20", "+"),
                percent.replace('%', "%25"),
                Value::from(json.clone()).to_string(),
                Value::from(Value::from(json.clone()).to_string()).to_string(),
                secret.escape_debug().to_string(),
                secret.replace('\\', "\\\\").replace('\'', "\\'"),
                html,
                STANDARD.encode(secret),
                STANDARD.encode(format!("user:{secret}")),
                STANDARD.encode(format!("me:{secret}:more")),
                STANDARD.encode(format!("me:{}", in_form(secret))),
                base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(format!("ab{secret}")),
                Value::from(STANDARD.encode(secret))
                    .to_string()
                    .replace('/', "\\/"),
            ] {
                let said = format!("before [{written}] after");
                let shown = hidden.redact(&said);
                let rest = shown.replace(['"', '\\', '='], "");
                assert_eq!(rest, "before […] after", "{secret}: {written}");
            }
        }
    }

    #[test]
    fn honest_texts_stay_as_they_are() {
        let hidden = hidden(&["CANARYa/b+c==dEf1", "hunter2hunter2"]);
        for text in [
            r#"{"path": "C:\\users\\new", "pattern": "\\d+%20\u00e9&amp;", "url": "https://e.com/?a=1&b=%2F+c"}"#,
            "100% sure; a+b=c \\o/ &lt;b&gt;",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=",
            "",
        ] {
            assert_eq!(hidden.redact(text), text);
            assert_eq!(
                hidden.redact_json(&Value::from(text).to_string()),
                Value::from(text).to_string()
            );
        }
    }

    #[test]
    fn names_of_json_are_hidden_only_where_they_are_no_words() {
        let hidden = hidden(&["type", "s3cret-one", "12345678"]);
        for (json, shown) in [
            (r#"{"type":"a type"}"#, r#"{"type":"a …"}"#),
            (r#"{"s3cret-one":1}"#, r#"{"…":1}"#),
            (
                r#"[{"a": "s3cret-\u006fne"}, 1.10]"#,
                r#"[{"a": "…"}, 1.10]"#,
            ),
            (r#"{"n":12345678,"m":1}"#, r#"{"n":"…","m":1}"#),
            (r#"{"a": 1.10}"#, r#"{"a": 1.10}"#),
            (r#"{"a": 1e999, "b": "type"}"#, r#"{"a": 1e999, "b": "…"}"#),
        ] {
            assert_eq!(hidden.redact_json(json), shown);
        }
    }

    #[test]
    fn secrets_across_the_windows_of_a_long_text_are_found() {
        let hidden = hidden(&["CANARYa/b+c==dEf1"]);
        for written in ["CANARYa/b+c==dEf1", r"CANARYa\/b%2Bc==dEf1"] {
            for before in WINDOW_BYTES - 30..WINDOW_BYTES + 10 {
                let text = format!("{}é{written}é{}", "x".repeat(before), "y".repeat(100_000));
                let shown = hidden.redact(&text);
                assert!(!shown.contains("dEf1") && !shown.contains("CANARY"));
                assert_eq!(shown.len(), text.len() - written.len() + HIDDEN.len());
            }
        }
    }

    #[test]
    fn many_secrets_are_as_few() {
        let secrets: Vec<_> = (0..10_000).map(|number| format!("s{number:06}")).collect();
        let hidden = hidden(&secrets.iter().map(String::as_str).collect::<Vec<_>>());
        let text = "s000001 and more ".repeat(10_000);
        assert!(hidden.is_complete());
        assert_eq!(hidden.redact(&text), "… and more ".repeat(10_000));
    }

    #[test]
    fn short_secrets_are_found_beside_long_ones_and_too_many_hide_everything() {
        let long = |lines: usize| -> String {
            let lines = (0..lines).map(|line| format!("line{line:06} x y<>x y<>x y<>x y<>\n"));
            lines.collect()
        };
        let both = hidden(&[&long(8000), "CANARYztok12345"]);
        assert!(both.is_complete());
        assert_eq!(both.redact("token is CANARYztok12345"), "token is …");
        assert_eq!(both.redact("line000007 x y<>x y<>x y<>x y<>"), "…");
        let too_many = hidden(&[&long(50_000), "CANARYztok12345"]);
        assert!(!too_many.is_complete());
        assert_eq!(too_many.redact("anything"), HIDDEN);
    }

    #[test]
    fn texts_are_searched_in_linear_time() {
        let mut hidden = HiddenTextsBuilder::default();
        // Secrets that begin alike, and one that is found late.
        for length in 1..200 {
            hidden.add(&"aé".repeat(length));
            hidden.add(&format!("{}b", "a".repeat(length)));
        }
        hidden.add(&format!("{}c", "a".repeat(MAX_PIECE_BYTES)));
        let hidden = hidden.build();
        for part in [
            "aé", "a", "ab", "x", "\"", "\\", "%", "%25", "\\u00", "\\ud83d", "&#", "+",
        ] {
            let text = |size: usize| part.repeat(size);
            dormouse_tests::growth::is_linear(part, 5_000, text, |text: &String| {
                std::hint::black_box(hidden.redact(text));
                let json = Value::from(vec![text.as_str(); 2]).to_string();
                std::hint::black_box(hidden.redact_json(&json));
            });
        }
        let members = |size: usize| {
            let members = (0..size).map(|number| format!("\"m{number}ab\":\"aaaab\""));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        };
        dormouse_tests::growth::is_linear("members", 1_000, members, |text: &String| {
            std::hint::black_box(hidden.redact_json(text));
        });
    }

    #[test]
    fn secrets_are_gathered_in_linear_time() {
        let secrets = |size: usize| (0..size).map(|number| format!("s\n{number}é{number}"));
        let secrets = |size: usize| secrets(size).collect::<Vec<_>>();
        dormouse_tests::growth::is_linear("secrets", 100, secrets, |secrets: &Vec<String>| {
            let mut hidden = HiddenTextsBuilder::default();
            secrets.iter().for_each(|secret| hidden.add(secret));
            std::hint::black_box(hidden.build());
        });
    }

    #[test]
    fn a_long_secret_takes_memory_in_proportion_to_its_length() {
        let mut hidden = HiddenTextsBuilder::default();
        hidden.add(&"[]'\"x://me:pass@e.com/x?key=pass".repeat(300));
        let bytes = hidden.secrets.keys().map(String::len).sum::<usize>();
        let memory = hidden.build().automaton.unwrap().memory_usage();
        assert!(memory < 64 * bytes, "{memory} bytes for {bytes}");
    }
}
