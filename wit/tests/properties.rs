//! Properties of every type and every declaration.
#![allow(clippy::unwrap_used, reason = "a failed test is a failed test")]

use dormouse_wit::declaration::{FORMAT, MAPPING};
use dormouse_wit::schema::{result_schema, schema};
use dormouse_wit::{
    Case, Declaration, DeclaredItem, DeclaredTool, Export, Field, FolderAccess, Function,
    GrantRequest, Instance, SettingFormat, SettingRequest, Type, VariantCase, section,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A type together with some values of it.
type Sample = (Type, Vec<Value>);

fn case(index: usize) -> Case {
    Case {
        wit: format!("case-{index}"),
        json: format!("case_{index}"),
    }
}

fn leaf() -> impl Strategy<Value = Sample> {
    let integer =
        |ty: Type, low: i64, high: i64| (ty, vec![json!(low), json!(high), json!(1), json!(5.0)]);
    prop_oneof![
        Just((Type::Bool, vec![json!(true), json!(false)])),
        Just(integer(Type::S8, -128, 127)),
        Just(integer(Type::U8, 0, 255)),
        Just(integer(Type::S16, -32768, 32767)),
        Just(integer(Type::U16, 0, 65535)),
        Just(integer(Type::S32, i32::MIN.into(), i32::MAX.into())),
        Just(integer(Type::U32, 0, u32::MAX.into())),
        Just(integer(Type::S64, i64::MIN, i64::MAX)),
        Just((Type::U64, vec![json!(0), json!(u64::MAX)])),
        Just((Type::F32, vec![json!(0), json!(-1.5)])),
        Just((Type::F64, vec![json!(1e300), json!(7)])),
        Just((Type::Char, vec![json!("a"), json!("🐭")])),
        ".*".prop_map(|text| (Type::String, vec![json!(""), json!(text)])),
        Just((Type::Bytes, vec![json!(""), json!("AAEC")])),
        (1..5usize).prop_map(|n| (
            Type::Enum((0..n).map(case).collect()),
            vec![json!("case_0")]
        )),
        (1..5usize).prop_map(|n| {
            let all: Vec<_> = (0..n).map(|i| case(i).json).collect();
            (
                Type::Flags((0..n).map(case).collect()),
                vec![json!([]), json!(all)],
            )
        }),
    ]
}

fn first(sample: &Sample) -> Value {
    sample.1.first().cloned().unwrap_or(Value::Null)
}

fn sample() -> impl Strategy<Value = Sample> {
    leaf().prop_recursive(4, 40, 5, |inner| {
        let some = prop::collection::vec(inner.clone(), 1..5);
        prop_oneof![
            inner.clone().prop_map(|(ty, values)| (
                Type::List(Box::new(ty)),
                vec![json!([]), json!(values)]
            )),
            (inner.clone(), 1..4u32).prop_map(|(sample, n)| {
                let values = vec![first(&sample); n as usize];
                (Type::FixedList(Box::new(sample.0), n), vec![json!(values)])
            }),
            some.clone().prop_map(|samples| {
                let values: Vec<_> = samples.iter().map(first).collect();
                (
                    Type::Tuple(samples.into_iter().map(|(ty, _)| ty).collect()),
                    vec![json!(values)],
                )
            }),
            some.clone().prop_map(record),
            some.prop_map(|samples| {
                let bare = VariantCase {
                    wit: "none".into(),
                    json: "none".into(),
                    ty: None,
                };
                let values = samples
                    .iter()
                    .enumerate()
                    .map(|(i, sample)| json!({"tag": case(i).json, "value": first(sample)}));
                let values = values.chain([json!({"tag": "none"})]).collect();
                let cases = samples.into_iter().enumerate().map(|(i, (ty, _))| {
                    let Case { wit, json } = case(i);
                    VariantCase {
                        wit,
                        json,
                        ty: Some(ty),
                    }
                });
                (Type::Variant(cases.chain([bare]).collect()), values)
            }),
            inner
                .clone()
                .prop_filter_map("no option of an option", |(ty, mut values)| {
                    values.push(Value::Null);
                    (!matches!(ty, Type::Option(_))).then(|| (Type::Option(Box::new(ty)), values))
                }),
            (inner.clone(), prop::option::of(inner.clone())).prop_map(|(ok, err)| {
                let values = vec![
                    json!({"ok": first(&ok)}),
                    json!({"err": err.as_ref().map(first)}),
                ];
                (
                    Type::Result {
                        ok: Some(Box::new(ok.0)),
                        err: err.map(|(ty, _)| Box::new(ty)),
                    },
                    values,
                )
            }),
            inner.clone().prop_map(|sample| {
                let value = json!({"key": first(&sample)});
                (
                    Type::Map(Box::new(Type::String), Box::new(sample.0)),
                    vec![json!({}), value],
                )
            }),
            inner.prop_map(|sample| {
                let value = json!([[7, first(&sample)]]);
                (
                    Type::Map(Box::new(Type::U32), Box::new(sample.0)),
                    vec![json!([]), value],
                )
            }),
        ]
    })
}

fn record(samples: Vec<Sample>) -> Sample {
    let value: serde_json::Map<_, _> = samples
        .iter()
        .enumerate()
        .map(|(i, sample)| (format!("field_{i}"), first(sample)))
        .collect();
    let fields = samples.into_iter().enumerate().map(|(i, (ty, _))| Field {
        wit: format!("field-{i}"),
        json: format!("field_{i}"),
        ty,
        default: None,
    });
    (Type::Record(fields.collect()), vec![Value::Object(value)])
}

/// A function with such an argument and such a result.
fn function(spread: bool, ty: Type, values: &[Value], result: Option<Type>) -> Function {
    Function {
        export: Export {
            interface: Some("a:b/c@1.0.0".into()),
            function: "f".into(),
        },
        spread,
        params: vec![Field {
            wit: "x".into(),
            json: "x".into(),
            ty,
            default: Some(json!(values)),
        }],
        result,
    }
}

/// Prompts, resources or templates, whose objects call their keys `key`.
fn items(key: &'static str) -> impl Strategy<Value = Vec<DeclaredItem>> {
    let results = prop::sample::select(vec![Type::Messages, Type::Embedded, Type::Bytes]);
    let function = (sample(), results)
        .prop_map(|((ty, values), result)| function(true, ty, &values, Some(result)));
    let item = (".*", ".*", prop::option::of(function), any::<bool>());
    let item = item.prop_map(move |(name, title, function, subscribe)| DeclaredItem {
        object: serde_json::value::to_raw_value(&json!({key: name, "title": title})).unwrap(),
        key: name,
        function,
        subscribe,
    });
    prop::collection::vec(item, 0..3)
}

fn declaration() -> impl Strategy<Value = Declaration> {
    let tools = prop::collection::vec((".*", sample(), prop::option::of(sample())), 0..4);
    let items = (
        items("name"),
        items("uri"),
        items("uriTemplate"),
        any::<bool>(),
    );
    let plain = (prop::option::of(".*"), ".*", tools, any::<bool>());
    (plain, items).prop_map(|((name, why, tools, stateful), items)| {
        let (prompts, resources, templates, completion) = items;
        Declaration {
            format: FORMAT,
            mapping: MAPPING,
            version: name.clone(),
            title: None,
            description: name.clone(),
            name,
            instance: if stateful {
                Instance::PerSession
            } else {
                Instance::PerCall
            },
            grants: vec![
                GrantRequest::Fs {
                    write: stateful,
                    why: why.clone(),
                },
                GrantRequest::Http {
                    origin: "https://a.example".into(),
                    why: why.clone(),
                },
                GrantRequest::Setting(SettingRequest {
                    name: "unit".into(),
                    description: why.clone(),
                    is_required: stateful,
                    format: SettingFormat::Directory,
                    default: Some(json!(why)),
                    choices: Vec::new(),
                    placeholder: Some("~/notes".into()),
                    grant: stateful.then_some(FolderAccess::ReadWrite),
                }),
            ],
            tools: tools
                .into_iter()
                .map(|(name, (ty, values), result)| DeclaredTool {
                    tool: serde_json::value::to_raw_value(
                        &json!({"name": name, "inputSchema": schema(&ty)}),
                    )
                    .unwrap(),
                    function: Some(function(stateful, ty, &values, result.map(|(ty, _)| ty))),
                    name,
                })
                .collect(),
            prompts,
            resources,
            templates,
            completion,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn schemas_are_json_schema_and_take_their_own_values((ty, values) in sample()) {
        for schema in [schema(&ty), result_schema(&ty)] {
            prop_assert!(jsonschema::draft202012::meta::is_valid(&schema), "{schema}");
            let validator = jsonschema::draft202012::new(&schema).unwrap();
            for value in &values {
                prop_assert!(validator.is_valid(value), "{value} against {schema}");
            }
            // No type takes this, so that a schema that takes everything fails.
            let wrong = json!({"no such member": [[[]]], "another": 1});
            prop_assert!(!validator.is_valid(&wrong), "{schema}");
        }
    }

    #[test]
    fn a_section_gives_back_what_went_in(declaration in declaration()) {
        let section = section::encode(&declaration).unwrap();
        let back = section::decode(&section).unwrap();
        prop_assert_eq!(serde_json::to_string(&back).unwrap(), serde_json::to_string(&declaration).unwrap());
        // The text could lose the same thing twice, so here are the values.
        let functions = |d: &Declaration| {
            let items = d.prompts.iter().chain(&d.resources).chain(&d.templates);
            let items = items.map(|item| (item.key.clone(), item.function.clone(), item.subscribe));
            let tools = d.tools.iter().map(|tool| (tool.name.clone(), tool.function.clone(), false));
            tools.chain(items).collect::<Vec<_>>()
        };
        prop_assert_eq!(functions(&back), functions(&declaration));
        prop_assert_eq!(back.completion, declaration.completion);
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), length in 0..220u32) {
        let _ = section::decode(&bytes);
        let framed = [&length.to_le_bytes()[..], &bytes].concat();
        let _ = section::decode(&framed);
        let component = [&b"\0asm\x0d\0\x01\0"[..], &bytes].concat();
        let _ = section::find(&component);
        let _ = section::strip(&component);
        let _ = dormouse_wit::from_component(&component);
    }

    #[test]
    fn a_damaged_declaration_is_no_panic(declaration in declaration(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut section = section::encode(&declaration).unwrap();
        let at = at.index(section.len());
        section[at] = byte;
        let _ = section::decode(&section);
    }
}
