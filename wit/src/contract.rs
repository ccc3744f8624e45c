//! Parts of the contract itself: the names of its interfaces, and those of its types that a tool, a
//! prompt or a resource may return.

use crate::CONTRACT;
use crate::types::{Case, Field, Type, VariantCase, snake_case};

/// Returns the name of one of the contract's interfaces, as components have it:
/// `dormouse:plugin/NAME@VERSION`.
#[must_use]
pub fn interface(name: &str) -> String {
    let (package, version) = CONTRACT.split_once('@').unwrap_or((CONTRACT, ""));
    format!("{package}/{name}@{version}")
}

/// Returns the plain type that [`Type::Content`], [`Type::Contents`], [`Type::Messages`] or
/// [`Type::Embedded`] stands for; none for any other.
#[must_use]
pub fn plain(ty: &Type) -> Option<Type> {
    let item = match ty {
        Type::Content => return Some(content()),
        Type::Contents => content(),
        Type::Messages => Type::Record(vec![field("role", role()), field("content", content())]),
        Type::Embedded => embedded(),
        _ => return None,
    };
    Some(Type::List(Box::new(item)))
}

fn content() -> Type {
    let media = || {
        Type::Record(vec![
            field("data", Type::Bytes),
            field("mime-type", Type::String),
            annotations(),
        ])
    };
    let link = Type::Record(vec![
        field("uri", Type::String),
        field("name", Type::String),
        field("title", optional(Type::String)),
        field("description", optional(Type::String)),
        field("mime-type", optional(Type::String)),
        field("size", optional(Type::U64)),
        annotations(),
    ]);
    let text = Type::Record(vec![field("text", Type::String), annotations()]);
    Type::Variant(vec![
        case("text", text),
        case("image", media()),
        case("audio", media()),
        case("resource-link", link),
        case("resource", embedded()),
    ])
}

fn embedded() -> Type {
    let body = Type::Variant(vec![case("text", Type::String), case("blob", Type::Bytes)]);
    Type::Record(vec![
        field("uri", Type::String),
        field("mime-type", optional(Type::String)),
        field("body", body),
        annotations(),
    ])
}

fn role() -> Type {
    let role = |wit: &str| Case {
        wit: wit.into(),
        json: snake_case(wit),
    };
    Type::Enum(vec![role("user"), role("assistant")])
}

fn annotations() -> Field {
    let record = Type::Record(vec![
        field("audience", Type::List(Box::new(role()))),
        field("priority", optional(Type::F64)),
        field("last-modified", optional(Type::String)),
    ]);
    field("annotations", optional(record))
}

fn optional(ty: Type) -> Type {
    Type::Option(Box::new(ty))
}

fn field(wit: &str, ty: Type) -> Field {
    Field {
        wit: wit.into(),
        json: snake_case(wit),
        ty,
        default: None,
    }
}

fn case(wit: &str, ty: Type) -> VariantCase {
    VariantCase {
        wit: wit.into(),
        json: snake_case(wit),
        ty: Some(ty),
    }
}
