//! How long the JSON of a component value is, before it is made.

use wasmtime::component::Val;

/// Bytes that one letter may take in JSON: `\u001b`.
const MAX_WRITTEN_BYTES: usize = 6;

/// Bytes of a text as JSON, without its quotes.
pub(crate) fn written_bytes(text: &str) -> usize {
    // Counted by themselves, many at once are: this reads all that is returned.
    let bytes = || text.bytes();
    let escaped = bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    let controls = bytes().filter(|byte| *byte < 32).count();
    let short = match controls {
        0 => 0,
        _ => bytes()
            .filter(|byte| matches!(byte, b'\n' | b'\r' | b'\t' | 8 | 12))
            .count(),
    };
    // `\n` is two letters, `\u001b` six.
    text.len() + escaped + short + (controls - short) * 5
}

/// Bytes of the JSON of a value that a guest returned, at least; no more is counted than shows that
/// it is beyond a limit. A guest may return one text any number of times, and as JSON all of them
/// would take as much memory and time.
///
/// `is_written` says whether its texts are written into JSON; otherwise they are JSON.
pub(crate) fn json_size(value: &Val, limit: u64, is_written: bool) -> u64 {
    let mut size = JsonSize {
        bytes: 0,
        limit,
        is_written,
    };
    size.value(value);
    size.bytes
}

struct JsonSize {
    bytes: u64,
    limit: u64,
    is_written: bool,
}

impl JsonSize {
    fn add(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes as u64);
    }

    fn value(&mut self, value: &Val) {
        if self.bytes > self.limit {
            return;
        }
        match value {
            // Three bytes become four letters, where they are bytes and not numbers.
            Val::List(items) if matches!(items.first(), Some(Val::U8(_))) => {
                self.add(items.len() / 3 * 4);
            }
            Val::List(items) | Val::FixedLengthList(items) | Val::Tuple(items) => {
                // Brackets and commas.
                self.add(items.len() + 1);
                items.iter().for_each(|item| self.value(item));
            }
            Val::String(text) => self.text(text),
            Val::Record(fields) => {
                for (_, value) in fields {
                    if !matches!(value, Val::Option(None)) {
                        // `"a":`, for its name may be a shorter one there.
                        self.add(4);
                        self.value(value);
                    }
                }
            }
            Val::Variant(_, payload) => {
                self.add(r#"{"tag":"a"}"#.len());
                self.part(payload.as_deref());
            }
            Val::Option(None) => self.add("null".len()),
            Val::Option(payload) | Val::Result(Ok(payload) | Err(payload)) => {
                self.part(payload.as_deref());
            }
            Val::Enum(_) => self.add(r#""a""#.len()),
            Val::Flags(names) => self.add(names.len() * 4),
            Val::Map(pairs) => {
                // A member, or an array of both.
                self.add(pairs.len() * 2);
                for (key, value) in pairs {
                    self.value(key);
                    self.value(value);
                }
            }
            _ => self.add(1),
        }
    }

    fn part(&mut self, payload: Option<&Val>) {
        if let Some(value) = payload {
            self.value(value);
        }
    }

    fn text(&mut self, text: &str) {
        let most = text.len().saturating_mul(MAX_WRITTEN_BYTES);
        let may_be_beyond = self.bytes.saturating_add(most as u64) > self.limit;
        let is_beyond = self.bytes.saturating_add(text.len() as u64) > self.limit;
        // Most are short, and need not be read for that.
        self.add(match self.is_written && may_be_beyond && !is_beyond {
            true => written_bytes(text) + 2,
            false => text.len(),
        });
    }
}

#[cfg(test)]
mod tests {
    use dormouse_wit::Type;

    use super::super::encode::encode;
    use super::*;

    fn text(text: &str) -> Val {
        Val::String(text.to_owned())
    }

    /// Nothing is refused that would be short enough.
    #[test]
    fn it_is_no_longer_than_the_json() {
        let texts = Type::List(Box::new(Type::String));
        let numbers = Type::List(Box::new(Type::U8));
        for (ty, value) in [
            (Type::String, text("a\"\\\n\u{1b}\u{8}\u{7f}ä")),
            (texts.clone(), Val::List(vec![text(""), text("\u{1}")])),
            (texts, Val::List(Vec::new())),
            (numbers, Val::List(vec![Val::U8(1); 300])),
            (
                Type::Map(Box::new(Type::String), Box::new(Type::U8)),
                Val::Map(vec![(text("a"), Val::U8(1)), (text(""), Val::U8(2))]),
            ),
            (Type::Bytes, Val::List(vec![Val::U8(1); 301])),
            (
                Type::Option(Box::new(Type::U32)),
                Val::Option(Some(Box::new(Val::U32(7)))),
            ),
            (
                Type::Map(Box::new(Type::U8), Box::new(Type::Bool)),
                Val::Map(vec![(Val::U8(1), Val::Bool(true))]),
            ),
        ] {
            let size = json_size(&value, u64::MAX, true);
            let json = encode(&ty, &value).to_string();
            assert!(size <= json.len() as u64, "{size} {json}");
        }
        let hidden = text(&"\u{1b}".repeat(100));
        assert_eq!(json_size(&hidden, 500, true), 602);
        assert_eq!(json_size(&hidden, 500, false), 100);
        assert_eq!(written_bytes("a\"\\\n\u{1b}ä"), 1 + 2 + 2 + 2 + 6 + 2);
    }

    #[test]
    fn nothing_is_counted_beyond_the_limit() {
        let many = Val::List(vec![text(&"x".repeat(1000)); 1000]);
        let size = json_size(&many, 5000, true);
        assert!((5001..10_000).contains(&size), "{size}");
    }
}
