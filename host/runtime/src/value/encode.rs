//! Component values → JSON.

use dormouse_wit::Type;
use serde_json::{Map, Number, Value, json};
use wasmtime::component::Val;

use super::bytes::base64_of;
use super::case_index::CaseIndex;

/// Returns the canonical JSON of a value of type `ty`. The types of code and declaration were
/// compared when the code was loaded; a value that is of another type all the same becomes null,
/// without a panic.
pub(crate) fn encode(ty: &Type, value: Val) -> Value {
    Encoder::default().encode(ty, value)
}

/// Encodes a part that may be missing in the type or in the value: null then.
pub(super) fn part(ty: Option<&Type>, value: Option<Val>) -> Value {
    Encoder::default().part(ty, value)
}

/// Encoder of one value into JSON.
#[derive(Default)]
struct Encoder<'a> {
    cases: CaseIndex<'a>,
}

impl<'a> Encoder<'a> {
    fn encode(&mut self, ty: &'a Type, value: Val) -> Value {
        match (ty, value) {
            (_, Val::Bool(value)) => Value::Bool(value),
            (_, Val::S8(n)) => Value::from(n),
            (_, Val::U8(n)) => Value::from(n),
            (_, Val::S16(n)) => Value::from(n),
            (_, Val::U16(n)) => Value::from(n),
            (_, Val::S32(n)) => Value::from(n),
            (_, Val::U32(n)) => Value::from(n),
            (_, Val::S64(n)) => Value::from(n),
            (_, Val::U64(n)) => Value::from(n),
            (_, Val::Float32(n)) => float32(n),
            (_, Val::Float64(n)) => float64(n),
            (_, Val::Char(char)) => Value::from(char.to_string()),
            // Of a list of bytes that was read by its address this is the base64.
            (_, Val::String(text)) => Value::from(text),
            (Type::Bytes, Val::List(items)) => Value::from(base64_of(&items)),
            (Type::List(item), Val::List(items))
            | (Type::FixedList(item, _), Val::List(items) | Val::FixedLengthList(items)) => {
                let items = items.into_iter();
                items.map(|value| self.encode(item, value)).collect()
            }
            (Type::Tuple(types), Val::Tuple(items)) => types
                .iter()
                .zip(items)
                .map(|(ty, value)| self.encode(ty, value))
                .collect(),
            (Type::Record(fields), Val::Record(values)) => {
                let mut members = Map::with_capacity(fields.len());
                for (field, (_, value)) in fields.iter().zip(values) {
                    // An absent field and null mean the same; absent is the canonical form.
                    if !matches!(value, Val::Option(None)) {
                        members.insert(field.json.clone(), self.encode(&field.ty, value));
                    }
                }
                Value::Object(members)
            }
            (Type::Option(inner), Val::Option(Some(value))) => self.encode(inner, *value),
            (Type::Enum(cases), Val::Enum(name)) => {
                let case = self.cases.of_enum(cases, &name);
                Value::from(case.map_or(name.as_str(), |case| case.json.as_str()))
            }
            // In declared order, whatever their order in the value.
            (Type::Flags(flags), Val::Flags(set)) => flags
                .iter()
                .filter(|flag| set.contains(&flag.wit))
                .map(|flag| Value::from(flag.json.as_str()))
                .collect(),
            (Type::Variant(cases), Val::Variant(name, payload)) => {
                let case = self.cases.of_variant(cases, &name);
                let mut members = Map::new();
                let tag = case.map_or(name.as_str(), |case| case.json.as_str());
                members.insert("tag".into(), Value::from(tag));
                if let (Some(ty), Some(value)) = (case.and_then(|case| case.ty.as_ref()), payload) {
                    members.insert("value".into(), self.encode(ty, *value));
                }
                Value::Object(members)
            }
            (Type::Result { ok, err }, Val::Result(result)) => match result {
                Ok(value) => json!({ "ok": self.part(ok.as_deref(), value.map(|value| *value)) }),
                Err(value) => {
                    json!({ "err": self.part(err.as_deref(), value.map(|value| *value)) })
                }
            },
            (Type::Map(key, item), Val::Map(pairs)) => self.map(key, item, pairs),
            _ => Value::Null,
        }
    }

    fn part(&mut self, ty: Option<&'a Type>, value: Option<Val>) -> Value {
        match (ty, value) {
            (Some(ty), Some(value)) => self.encode(ty, value),
            _ => Value::Null,
        }
    }

    fn map(&mut self, key: &'a Type, item: &'a Type, pairs: Vec<(Val, Val)>) -> Value {
        if *key == Type::String {
            let members = pairs.into_iter().filter_map(|(key, value)| match key {
                Val::String(key) => Some((key, self.encode(item, value))),
                _ => None,
            });
            return Value::Object(members.collect());
        }
        pairs
            .into_iter()
            .map(|(left, right)| json!([self.encode(key, left), self.encode(item, right)]))
            .collect()
    }
}

/// Encodes a float. JSON has no NaN and no infinities: they are null.
fn float64(n: f64) -> Value {
    // Whole numbers are written as such, so that 5.0 and 5 have one form.
    if n.fract() == 0.0 && n.abs() < 9.0e15 && !(n == 0.0 && n.is_sign_negative()) {
        return Value::from(n as i64);
    }
    Number::from_f64(n).map_or(Value::Null, Value::Number)
}

/// Encodes a float32 as its shortest decimal, not the longer one of the equal float64.
fn float32(n: f32) -> Value {
    n.to_string().parse::<f64>().map_or(Value::Null, float64)
}
