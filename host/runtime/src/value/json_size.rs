//! Size of the JSON of a component value, before it is made.

use dormouse_wit::Type;
use wasmtime::component::Val;

use super::case_index::CaseIndex;

/// Most bytes of one letter in JSON: `\u001b`.
const MAX_WRITTEN_BYTES: usize = 6;

/// Returns the length of a text as JSON, without its quotes, in bytes.
pub(crate) fn written_bytes(text: &str) -> usize {
    // Each kind is counted in a loop of its own, which the compiler vectorises: this reads all
    // returned text.
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

/// Returns a lower bound of the size of a returned value's JSON, in bytes; counting ends beyond
/// `limit`. A guest may return one text any number of times, and as JSON each of them would take
/// memory and time.
///
/// `ty` is its type for encoding into JSON; without one its texts are JSON already.
pub(crate) fn json_size(ty: Option<&Type>, value: &Val, limit: u64) -> u64 {
    let mut size = JsonSize {
        bytes: 0,
        limit,
        is_written: ty.is_some(),
        cases: CaseIndex::default(),
    };
    size.value(ty, value);
    size.bytes
}

/// Returns about the most memory that the JSON of a value takes while it is made, in bytes: as a
/// tree of `serde_json`, and as text.
pub(crate) fn json_memory(value: &Val, json_size: u64) -> u64 {
    // The text is in a result twice, and is escaped in one of them.
    tree_bytes(value).saturating_add(json_size.saturating_mul(4))
}

const VALUE_BYTES: u64 = size_of::<serde_json::Value>() as u64;

/// Memory of a member of an object beside its value, its hash and its place in the index, with the
/// spare room of the map, in bytes.
const MEMBER_BYTES: u64 = VALUE_BYTES + 2 * size_of::<String>() as u64 + 64;

/// Returns the memory of the tree, without that of its texts.
fn tree_bytes(value: &Val) -> u64 {
    let member = |value: &Val| MEMBER_BYTES + tree_bytes(value);
    let part = |value: &Option<Box<Val>>| value.as_deref().map_or(0, member);
    let parts: u64 = match value {
        // Bytes become one text.
        Val::List(items) if matches!(items.first(), Some(Val::U8(_))) => 0,
        Val::List(items) | Val::FixedLengthList(items) | Val::Tuple(items) => {
            items.iter().map(tree_bytes).sum()
        }
        Val::Record(fields) => fields.iter().map(|(_, value)| member(value)).sum(),
        // An array of both, where keys are not strings.
        Val::Map(pairs) => pairs
            .iter()
            .map(|(key, value)| member(key) + member(value))
            .sum(),
        Val::Variant(_, payload) => MEMBER_BYTES + VALUE_BYTES + part(payload),
        Val::Option(payload) | Val::Result(Ok(payload) | Err(payload)) => part(payload),
        Val::Flags(names) => names.len() as u64 * VALUE_BYTES,
        _ => 0,
    };
    VALUE_BYTES + parts
}

struct JsonSize<'a> {
    bytes: u64,
    limit: u64,
    is_written: bool,
    cases: CaseIndex<'a>,
}

impl<'a> JsonSize<'a> {
    fn add(&mut self, bytes: usize) {
        self.bytes = self.bytes.saturating_add(bytes as u64);
    }

    fn value(&mut self, ty: Option<&'a Type>, value: &Val) {
        if self.bytes > self.limit {
            return;
        }
        match (ty, value) {
            // Three bytes become four letters, where these are a `list<u8>`.
            (_, Val::List(items)) if matches!(items.first(), Some(Val::U8(_))) => {
                self.add(items.len().div_ceil(3).saturating_mul(4));
            }
            // The address and the length of such a list, which has not been read yet. Content has no
            // type here, and no other tuples.
            (Some(Type::Bytes) | None, Val::Tuple(pair))
                if let [Val::U32(_), Val::U32(length)] = pair.as_slice() =>
            {
                let length = usize::try_from(*length).unwrap_or(usize::MAX);
                self.add(length.div_ceil(3).saturating_mul(4));
            }
            (Some(Type::Tuple(types)), Val::Tuple(items)) => {
                self.add(items.len() + 1);
                let items = types.iter().zip(items);
                items.for_each(|(ty, item)| self.value(Some(ty), item));
            }
            (ty, Val::List(items) | Val::FixedLengthList(items) | Val::Tuple(items)) => {
                // Brackets and commas.
                self.add(items.len() + 1);
                let ty = match ty {
                    Some(Type::List(item) | Type::FixedList(item, _)) => Some(&**item),
                    _ => None,
                };
                items.iter().for_each(|item| self.value(ty, item));
            }
            (_, Val::String(text)) => self.text(text),
            (Some(Type::Record(types)), Val::Record(fields)) => {
                for (ty, (_, value)) in types.iter().zip(fields) {
                    if !matches!(value, Val::Option(None)) {
                        self.add(ty.json.len() + r#""":"#.len());
                        self.value(Some(&ty.ty), value);
                    }
                }
            }
            (_, Val::Record(fields)) => {
                for (_, value) in fields {
                    if !matches!(value, Val::Option(None)) {
                        // `"a":`, as its JSON name may be shorter.
                        self.add(4);
                        self.value(None, value);
                    }
                }
            }
            (ty, Val::Variant(name, payload)) => {
                let case = match ty {
                    Some(Type::Variant(cases)) => self.cases.of_variant(cases, name),
                    _ => None,
                };
                self.add(r#"{"tag":""}"#.len() + case.map_or(1, |case| case.json.len()));
                self.part(case.and_then(|case| case.ty.as_ref()), payload.as_deref());
            }
            (_, Val::Option(None)) => self.add("null".len()),
            (ty, Val::Option(payload)) => {
                let ty = match ty {
                    Some(Type::Option(inner)) => Some(&**inner),
                    _ => None,
                };
                self.part(ty, payload.as_deref());
            }
            (ty, Val::Result(result)) => {
                let (ok, err) = match ty {
                    Some(Type::Result { ok, err }) => (ok.as_deref(), err.as_deref()),
                    _ => (None, None),
                };
                match result {
                    Ok(payload) => self.part(ok, payload.as_deref()),
                    Err(payload) => self.part(err, payload.as_deref()),
                }
            }
            (Some(Type::Enum(cases)), Val::Enum(name)) => {
                let case = self.cases.of_enum(cases, name);
                self.add(case.map_or(1, |case| case.json.len()) + 2);
            }
            (_, Val::Enum(_)) => self.add(r#""a""#.len()),
            (Some(Type::Flags(flags)), Val::Flags(names)) => {
                let set = flags.iter().filter(|flag| names.contains(&flag.wit));
                let names = set.map(|flag| flag.json.len() + r#""","#.len());
                self.add(names.sum());
            }
            (_, Val::Flags(names)) => self.add(names.len() * 4),
            (ty, Val::Map(pairs)) => {
                let (of_key, of_value) = match ty {
                    Some(Type::Map(key, value)) => (Some(&**key), Some(&**value)),
                    _ => (None, None),
                };
                // A member, or an array of both.
                self.add(pairs.len() * 2);
                for (key, value) in pairs {
                    self.value(of_key, key);
                    self.value(of_value, value);
                }
            }
            _ => self.add(1),
        }
    }

    fn part(&mut self, ty: Option<&'a Type>, payload: Option<&Val>) {
        if let Some(value) = payload {
            self.value(ty, value);
        }
    }

    fn text(&mut self, text: &str) {
        let most = text.len().saturating_mul(MAX_WRITTEN_BYTES);
        let may_be_beyond = self.bytes.saturating_add(most as u64) > self.limit;
        let is_beyond = self.bytes.saturating_add(text.len() as u64) > self.limit;
        // Most texts are too short to matter, and need not be read.
        self.add(match self.is_written && may_be_beyond && !is_beyond {
            true => written_bytes(text) + 2,
            false => text.len(),
        });
    }
}

#[cfg(test)]
mod tests {
    use dormouse_wit::{Case, Field};

    use super::super::encode::encode;
    use super::*;

    fn text(text: &str) -> Val {
        Val::String(text.to_owned())
    }

    /// No result that would be short enough is refused.
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
            let size = json_size(Some(&ty), &value, u64::MAX);
            let json = encode(&ty, value).to_string();
            assert!(size <= json.len() as u64, "{size} {json}");
        }
        let hidden = text(&"\u{1b}".repeat(100));
        assert_eq!(json_size(Some(&Type::String), &hidden, 500), 602);
        assert_eq!(json_size(None, &hidden, 500), 100);
        assert_eq!(written_bytes("a\"\\\n\u{1b}ä"), 1 + 2 + 2 + 2 + 6 + 2);
    }

    #[test]
    fn nothing_is_counted_beyond_the_limit() {
        let many = Val::List(vec![text(&"x".repeat(1000)); 1000]);
        let texts = Type::List(Box::new(Type::String));
        let size = json_size(Some(&texts), &many, 5000);
        assert!((5001..10_000).contains(&size), "{size}");
    }

    /// The author of the plugin chooses the names, and each value repeats them.
    #[test]
    fn names_count_as_they_are_written() {
        let (wit, json) = ("a".to_owned(), "x".repeat(200));
        let case = Case {
            wit: wit.clone(),
            json: json.clone(),
        };
        let field = Field {
            wit: wit.clone(),
            json,
            ty: Type::Bool,
            default: None,
        };
        for (ty, value) in [
            (Type::Enum(vec![case.clone()]), Val::Enum(wit.clone())),
            (Type::Flags(vec![case]), Val::Flags(vec![wit.clone()])),
            (
                Type::Record(vec![field]),
                Val::Record(vec![(wit, Val::Bool(true))]),
            ),
        ] {
            let ty = Type::List(Box::new(ty));
            let all = Val::List(vec![value; 10]);
            let size = json_size(Some(&ty), &all, u64::MAX);
            let json = encode(&ty, all).to_string().len() as u64;
            assert!(size <= json && size > json * 9 / 10, "{size} {json}");
        }
    }
}
