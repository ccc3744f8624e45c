//! Types, and JSON that is mostly of them.

use dormouse_wit::{Case, Field, Type, VariantCase};
use proptest::prelude::*;
use serde_json::{Value, json};

fn name() -> impl Strategy<Value = String> {
    "[a-z]{1,6}"
}

fn names() -> impl Strategy<Value = Vec<Case>> {
    prop::collection::btree_set(name(), 1..4).prop_map(|names| {
        let case = |wit: String| Case {
            json: format!("{wit}_j"),
            wit,
        };
        names.into_iter().map(case).collect()
    })
}

pub(super) fn a_type() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        Just(Type::Bool),
        Just(Type::S8),
        Just(Type::U8),
        Just(Type::S16),
        Just(Type::U16),
        Just(Type::S32),
        Just(Type::U32),
        Just(Type::S64),
        Just(Type::U64),
        Just(Type::F32),
        Just(Type::F64),
        Just(Type::Char),
        Just(Type::String),
        names().prop_map(Type::Enum),
        names().prop_map(Type::Flags),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let fields = prop::collection::btree_map(name().boxed(), inner.clone(), 1..4);
        prop_oneof![
            inner.clone().prop_map(|ty| Type::List(Box::new(ty))),
            (inner.clone(), 0_u32..3).prop_map(|(ty, n)| Type::FixedList(Box::new(ty), n)),
            prop::collection::vec(inner.clone(), 1..3).prop_map(Type::Tuple),
            fields.prop_map(|fields| {
                let field = |(wit, ty): (String, Type)| Field {
                    json: format!("{wit}J"),
                    wit,
                    ty,
                    default: None,
                };
                Type::Record(fields.into_iter().map(field).collect())
            }),
            inner
                .clone()
                .prop_filter("an option of an option is no tool type", |ty| !matches!(
                    ty,
                    Type::Option(_)
                ))
                .prop_map(|ty| Type::Option(Box::new(ty))),
            prop::collection::btree_map(name(), prop::option::of(inner.clone()), 1..4).prop_map(
                |cases| {
                    let case = |(wit, ty): (String, Option<Type>)| VariantCase {
                        json: wit.clone(),
                        wit,
                        ty,
                    };
                    Type::Variant(cases.into_iter().map(case).collect())
                }
            ),
            (
                prop::option::of(inner.clone()),
                prop::option::of(inner.clone())
            )
                .prop_map(|(ok, err)| Type::Result {
                    ok: ok.map(Box::new),
                    err: err.map(Box::new),
                }),
            inner
                .clone()
                .prop_map(|ty| Type::Map(Box::new(Type::String), Box::new(ty))),
            inner.prop_map(|ty| Type::Map(Box::new(Type::U8), Box::new(ty))),
        ]
    })
}

/// Generates JSON that is a value of the type, most of the time.
pub(super) fn a_value(ty: &Type) -> BoxedStrategy<Value> {
    let good = match ty {
        Type::Bool => any::<bool>().prop_map(Value::from).boxed(),
        Type::S8 | Type::U8 => (-130_i64..260).prop_map(Value::from).boxed(),
        Type::S16 | Type::U16 | Type::S32 | Type::U32 => {
            prop_oneof![any::<i64>(), -70_000_i64..70_000]
                .prop_map(Value::from)
                .boxed()
        }
        Type::S64 | Type::U64 => prop_oneof![
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from)
        ]
        .boxed(),
        Type::F32 | Type::F64 => any::<f64>().prop_map(|n| json!(n)).boxed(),
        Type::Char => "\\PC{0,2}".prop_map(Value::from).boxed(),
        Type::String => "\\PC{0,8}".prop_map(Value::from).boxed(),
        Type::Enum(cases) => some_of(cases, 1)
            .prop_map(|v| v.into_iter().next().unwrap())
            .boxed(),
        Type::Flags(cases) => some_of(cases, 3).prop_map(Value::from).boxed(),
        Type::List(item) => prop::collection::vec(a_value(item), 0..3)
            .prop_map(Value::from)
            .boxed(),
        Type::FixedList(item, n) => {
            let n = *n as usize;
            prop::collection::vec(a_value(item), n..=n)
                .prop_map(Value::from)
                .boxed()
        }
        Type::Tuple(items) => items
            .iter()
            .map(a_value)
            .collect::<Vec<_>>()
            .prop_map(Value::from)
            .boxed(),
        Type::Record(fields) => {
            let names: Vec<_> = fields.iter().map(|field| field.json.clone()).collect();
            let values: Vec<_> = fields
                .iter()
                .map(|field| prop::option::weighted(0.9, a_value(&field.ty)))
                .collect();
            values
                .prop_map(move |values| {
                    let members = names.iter().cloned().zip(values);
                    Value::Object(members.filter_map(|(name, v)| Some((name, v?))).collect())
                })
                .boxed()
        }
        Type::Option(inner) => prop_oneof![Just(Value::Null), a_value(inner)].boxed(),
        Type::Variant(cases) => prop::sample::select(cases.clone())
            .prop_flat_map(|case| match &case.ty {
                Some(ty) => {
                    let tag = case.json.clone();
                    a_value(ty)
                        .prop_map(move |v| json!({ "tag": tag, "value": v }))
                        .boxed()
                }
                None => Just(json!({ "tag": case.json })).boxed(),
            })
            .boxed(),
        Type::Result { ok, err } => {
            let side =
                |ty: &Option<Box<Type>>| ty.as_deref().map_or(Just(Value::Null).boxed(), a_value);
            prop_oneof![
                side(ok).prop_map(|v| json!({ "ok": v })),
                side(err).prop_map(|v| json!({ "err": v })),
            ]
            .boxed()
        }
        Type::Map(key, item) if **key == Type::String => {
            prop::collection::btree_map("[a-z]{0,3}", a_value(item), 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect()))
                .boxed()
        }
        Type::Map(key, item) => prop::collection::vec((a_value(key), a_value(item)), 0..3)
            .prop_map(|pairs| pairs.into_iter().map(|(k, v)| json!([k, v])).collect())
            .boxed(),
        Type::Bytes | Type::Content | Type::Contents | Type::Messages | Type::Embedded => {
            Just(Value::Null).boxed()
        }
    };
    let odd = prop::sample::select(vec![
        json!(null),
        json!(5.0),
        json!(5.5),
        json!("x"),
        json!([]),
        json!({}),
        json!({ "tag": "zzz" }),
        json!(true),
        json!(-1),
        json!(1e300),
    ]);
    prop_oneof![8 => good, 1 => odd].boxed()
}

fn some_of(cases: &[Case], most: usize) -> BoxedStrategy<Vec<Value>> {
    let names: Vec<_> = cases
        .iter()
        .map(|case| Value::from(case.json.as_str()))
        .collect();
    prop::collection::vec(prop::sample::select(names), 1..=most).boxed()
}
