use serde_json::{Value, json};

use super::*;
use crate::declaration::Export;

#[test]
fn compact_signatures() {
    let table = [
        (json!({"type": "object"}), None, "t()"),
        (
            json!({"properties": {"timezone": {"type": "string"}}, "required": ["timezone"]}),
            Some(
                json!({"type": "object", "required": ["datetime", "is_dst"], "properties": {
                "datetime": {"type": "string"}, "is_dst": {"type": "boolean"}}}),
            ),
            "t(timezone: string) -> {datetime: string, is_dst: boolean}",
        ),
        (
            json!({"properties": {
                "sort": {"enum": ["a", "b"]},
                "n": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "m": {"type": ["number", "null"]},
                "list": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}},
                "unions": {"type": "array", "items": {"enum": [1, 2]}},
                "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
                "map": {"type": "object", "additionalProperties": {"type": "boolean"}},
                "any": {},
                "ref": {"$ref": "#/$defs/Thing"},
                "odd name": {"const": "x"},
            }}),
            None,
            "t(sort?: \"a\"|\"b\", n?: integer|null, m?: number|null, list?: string[][], unions?: (1|2)[], \
             pair?: [string, integer], map?: {[key]: boolean}, any?: any, ref?: Thing, \"odd name\"?: \"x\")",
        ),
    ];
    for (input, output, expected) in table {
        assert_eq!(compact("t", &input, output.as_ref()), expected);
    }
    let string = json!({"type": "string"});
    assert_eq!(compact_parameter("a", &string, true), "a: string");
    assert_eq!(
        compact_parameter("a (b)", &string, false),
        "\"a (b)\"?: string"
    );
}

#[test]
fn a_compact_signature_stays_short() {
    let mut deep = json!({"type": "string"});
    for _ in 0..100 {
        deep = json!({"type": "object", "properties": {"näme": deep.clone(), "b": deep["properties"]["b"]}});
    }
    let wide: serde_json::Map<String, Value> = (0..100_000)
        .map(|i| {
            (
                format!("änger{i}"),
                json!({"enum": vec!["x".repeat(50); 50]}),
            )
        })
        .collect();
    for input in [
        deep,
        json!({"properties": wide}),
        json!({"properties": {"x".repeat(1 << 20): {}}}),
    ] {
        let line = compact("t", &input, Some(&input));
        assert!(
            line.len() <= MAX_LENGTH + '…'.len_utf8(),
            "{} bytes",
            line.len()
        );
        assert!(line.contains('…'), "{line}");
        assert!(!line.contains('\n'));
    }
    let line = compact("t", &json!({"properties": {"a\nb": {}}}), None);
    assert_eq!(line, "t(\"a\\nb\"?: any)");
}

#[test]
fn a_type_that_is_named_often_is_looked_at_once() {
    let mut twelvefold = json!({"properties": {"a": {}}, "required": ["a"]});
    for _ in 0..4 {
        twelvefold = json!({"type": vec!["object"; 12], "properties": {"a": twelvefold}});
    }
    let line = compact("t", &twelvefold, None);
    assert_eq!(line, "t(a?: {a?: {a?: {a?: {a: any}}}})");
}

fn function(params: Vec<Field>, result: Option<Type>) -> Function {
    let export = Export {
        interface: None,
        function: "f".into(),
    };
    Function {
        export,
        spread: false,
        params,
        result,
    }
}

fn record(ty: Type) -> Type {
    Type::Record(vec![field("a", Type::Bool), field("b", ty)])
}

#[test]
fn what_only_json_sees_may_differ() {
    let mut renamed = field("x-y", record(Type::U8));
    renamed.json = "xY".into();
    renamed.default = Some(json!({"a": true, "b": 1}));
    let plain = function(vec![field("x-y", record(Type::U8))], None);
    assert_eq!(
        same_signature(&function(vec![renamed], None), &plain),
        Ok(())
    );
}

#[test]
fn what_wit_sees_must_not() {
    let base = || function(vec![field("x", record(Type::U8))], Some(Type::String));
    let table = [
        (
            function(vec![], Some(Type::String)),
            "the number of parameters is `1` in the declaration and `0`",
        ),
        (
            function(vec![field("y", record(Type::U8))], Some(Type::String)),
            "the name of a parameter is `x`",
        ),
        (
            function(vec![field("x", record(Type::U16))], Some(Type::String)),
            "is `u8` in the declaration and `u16` in the component",
        ),
        (
            function(vec![field("x", Type::Bool)], Some(Type::String)),
            "parameter `x` is `record`",
        ),
        (
            function(vec![field("x", record(Type::U8))], None),
            "the result is `string` in the declaration and `nothing`",
        ),
    ];
    for (found, expected) in table {
        let error = same_signature(&base(), &found).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let cases = |names: &[&str]| {
        let cases = names
            .iter()
            .map(|name| variant_case(name, Type::U8))
            .collect();
        function(vec![], Some(Type::Variant(cases)))
    };
    assert!(same_signature(&cases(&["a", "b"]), &cases(&["a", "b"])).is_ok());
    assert!(same_signature(&cases(&["a", "b"]), &cases(&["b", "a"])).is_err());
    assert!(same_signature(&cases(&["a"]), &cases(&["a", "b"])).is_err());
}

#[test]
fn lists_of_the_contracts_types_are_what_the_contract_says() {
    let returns = |ty| function(vec![], Some(ty));
    let ok = |ty| {
        returns(Type::Result {
            ok: Some(Box::new(ty)),
            err: Some(Box::new(Type::String)),
        })
    };
    let table = [
        (Type::Contents, "content"),
        (Type::Messages, "prompt-message"),
        (Type::Embedded, "embedded-resource"),
    ];
    for (ty, name) in &table {
        let plain = contract::plain(ty).unwrap();
        let same = |a: &Function, b: &Function| same_signature(a, b);
        assert_eq!(same(&returns(ty.clone()), &returns(plain.clone())), Ok(()));
        assert_eq!(same(&returns(plain.clone()), &returns(ty.clone())), Ok(()));
        assert_eq!(same(&ok(plain.clone()), &ok(ty.clone())), Ok(()));
        assert_eq!(same(&returns(ty.clone()), &returns(ty.clone())), Ok(()));
        let strings = Type::List(Box::new(Type::String));
        for other in [strings, Type::String].into_iter().chain(
            table
                .iter()
                .map(|(other, _)| other.clone())
                .filter(|other| other != ty),
        ) {
            assert!(same(&returns(ty.clone()), &returns(other)).is_err());
        }

        // The contract's text is the authority: as a parameter, such a list is
        // lowered like any other.
        let mut resolve = wit_parser::Resolve::default();
        resolve.push_str("plugin.wit", crate::CONTRACT_WIT).unwrap();
        let wit = format!(
            "package a:b; world w {{ use dormouse:plugin/types@0.1.0.{{{name}}}; export f: func(x: list<{name}>); }}",
        );
        let package = resolve.push_str("a.wit", &wit).unwrap();
        let world = resolve.select_world(&[package], None).unwrap();
        let (declaration, _) = crate::from_resolve(&resolve, world);
        let function = declaration.tools[0].function.as_ref().unwrap();
        assert_eq!(function.params[0].ty, plain);
    }
    // A single block likewise, which is no list.
    let plain = contract::plain(&Type::Content).unwrap();
    let one = returns(Type::Content);
    assert_eq!(same_signature(&one, &returns(plain.clone())), Ok(()));
    assert_eq!(same_signature(&returns(plain), &one), Ok(()));
    for other in [Type::Contents, contract::plain(&Type::Contents).unwrap()] {
        assert!(same_signature(&one, &returns(other)).is_err());
    }
}

fn field(wit: &str, ty: Type) -> Field {
    Field {
        wit: wit.into(),
        json: wit.into(),
        ty,
        default: None,
    }
}

fn variant_case(wit: &str, ty: Type) -> crate::VariantCase {
    crate::VariantCase {
        wit: wit.into(),
        json: wit.into(),
        ty: Some(ty),
    }
}
