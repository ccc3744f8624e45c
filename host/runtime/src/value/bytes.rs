//! Base64 of byte lists.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dormouse_wit::{Function, Type};
use serde_json::{Map, Value};
use wasmtime::component::Val;

/// Returns a list of bytes as values, from base64. Each byte takes forty bytes of memory.
pub(super) fn values_of(base64: &str) -> Val {
    let bytes = STANDARD.decode(base64).unwrap_or_default();
    Val::List(bytes.into_iter().map(Val::U8).collect())
}

/// Returns the base64 of a list of bytes.
pub(super) fn base64_of(items: &[Val]) -> String {
    let bytes = items.iter().filter_map(|item| match item {
        Val::U8(byte) => Some(*byte),
        _ => None,
    });
    STANDARD.encode(bytes.collect::<Vec<u8>>())
}

/// Returns the length of the base64 in a function's arguments, in bytes.
pub(crate) fn base64_in(function: &Function, arguments: &Map<String, Value>) -> u64 {
    let fields = function.arguments().iter();
    let found = fields.filter_map(|field| Some(within(&field.ty, arguments.get(&field.json)?)));
    found.sum()
}

/// Returns the length of the base64 in a value of a type. Values of another type are refused later,
/// and take no memory.
fn within(ty: &Type, value: &Value) -> u64 {
    match (ty, value) {
        (Type::Bytes, Value::String(text)) => text.len() as u64,
        (Type::Option(inner), value) => within(inner, value),
        (Type::List(item) | Type::FixedList(item, _), Value::Array(items)) if holds_bytes(item) => {
            items.iter().map(|value| within(item, value)).sum()
        }
        (Type::Tuple(types), Value::Array(items)) => {
            let parts = types.iter().zip(items);
            parts.map(|(ty, value)| within(ty, value)).sum()
        }
        (Type::Record(fields), Value::Object(members)) => {
            let parts = fields.iter();
            let parts = parts.filter_map(|field| Some((&field.ty, members.get(&field.json)?)));
            parts.map(|(ty, value)| within(ty, value)).sum()
        }
        (Type::Variant(cases), Value::Object(members)) => {
            let tag = members.get("tag").and_then(Value::as_str);
            let case = cases.iter().find(|case| Some(case.json.as_str()) == tag);
            let ty = case.and_then(|case| case.ty.as_ref());
            ty.zip(members.get("value"))
                .map_or(0, |(ty, value)| within(ty, value))
        }
        (Type::Result { ok, err }, Value::Object(members)) => {
            let part = |ty: &Option<Box<Type>>, name| {
                ty.as_deref()
                    .zip(members.get(name))
                    .map_or(0, |(ty, value)| within(ty, value))
            };
            part(ok, "ok") + part(err, "err")
        }
        (Type::Map(_, item), Value::Object(members)) if holds_bytes(item) => {
            members.values().map(|value| within(item, value)).sum()
        }
        (Type::Map(key, item), Value::Array(pairs)) => {
            let pairs = pairs
                .iter()
                .filter_map(|pair| match pair.as_array()?.as_slice() {
                    [left, right] => Some(within(key, left) + within(item, right)),
                    _ => None,
                });
            pairs.sum()
        }
        _ => 0,
    }
}

/// Checks whether a type may contain bytes: long lists of other types need not be searched.
fn holds_bytes(ty: &Type) -> bool {
    match ty {
        Type::Bytes => true,
        Type::List(inner) | Type::FixedList(inner, _) | Type::Option(inner) => holds_bytes(inner),
        Type::Tuple(types) => types.iter().any(holds_bytes),
        Type::Record(fields) => fields.iter().any(|field| holds_bytes(&field.ty)),
        Type::Variant(cases) => cases
            .iter()
            .any(|case| case.ty.as_ref().is_some_and(holds_bytes)),
        Type::Result { ok, err } => [ok, err].into_iter().flatten().any(|ty| holds_bytes(ty)),
        Type::Map(key, item) => holds_bytes(key) || holds_bytes(item),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use dormouse_wit::{Field, VariantCase};
    use serde_json::json;

    use super::*;

    fn list(item: Type) -> Type {
        Type::List(Box::new(item))
    }

    #[test]
    fn only_bytes_are_counted_wherever_they_are() {
        let field = |json: &str, ty| Field {
            wit: json.into(),
            json: json.into(),
            ty,
            default: None,
        };
        let record = Type::Record(vec![
            field("name", Type::String),
            field("data", Type::Option(Box::new(Type::Bytes))),
        ]);
        let variant = Type::Variant(vec![VariantCase {
            wit: "blob".into(),
            json: "blob".into(),
            ty: Some(Type::Bytes),
        }]);
        let table = [
            (Type::Bytes, json!("AAAA"), 4),
            (Type::String, json!("AAAA"), 0),
            (Type::Bytes, json!(["AAAA"]), 0),
            (list(Type::Bytes), json!(["AAAA", "BB==", 5]), 8),
            (list(Type::String), json!(["AAAA"]), 0),
            (record.clone(), json!({ "name": "AAAA" }), 0),
            (list(record), json!([{ "name": "n", "data": "AAAA" }]), 4),
            (
                variant.clone(),
                json!({ "tag": "blob", "value": "AAAA" }),
                4,
            ),
            (variant, json!({ "tag": "text", "value": "AAAA" }), 0),
            (
                Type::Tuple(vec![Type::U8, Type::Bytes]),
                json!([1, "AAAA"]),
                4,
            ),
            (
                Type::Result {
                    ok: Some(Box::new(Type::Bytes)),
                    err: None,
                },
                json!({ "ok": "AAAA" }),
                4,
            ),
            (
                Type::Map(Box::new(Type::String), Box::new(Type::Bytes)),
                json!({ "AAAA": "AAAA" }),
                4,
            ),
            (
                Type::Map(Box::new(Type::U8), Box::new(Type::Bytes)),
                json!([[1, "AAAA"], [2, "BBBB"]]),
                8,
            ),
        ];
        for (ty, value, expected) in table {
            assert_eq!(within(&ty, &value), expected, "{value}");
        }
    }
}
