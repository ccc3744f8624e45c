//! The types of tools: WIT's, with the JSON names that their authors gave them.
//!
//! WIT types cannot be recursive, so a type is a finite tree, without names of its own for records
//! and variants. Values are encoded and decoded by it, so it has everything that matters for that
//! and nothing else: doc comments and constraints are in the tool's JSON Schema only.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A WIT type as a tool sees it. In JSON, a type without parts is its name
/// (`"u32"`), one with parts is an object with one member (`{"list":"u32"}`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "named after the WIT types that they stand for")]
pub enum Type {
    Bool,
    S8,
    U8,
    S16,
    U16,
    S32,
    U32,
    S64,
    U64,
    F32,
    F64,
    Char,
    String,
    /// `list<u8>`: base64 in JSON.
    Bytes,
    List(Box<Type>),
    /// `list<T, N>`.
    FixedList(Box<Type>, u32),
    Tuple(Vec<Type>),
    Record(Vec<Field>),
    Option(Box<Type>),
    Enum(Vec<Case>),
    Flags(Vec<Case>),
    Variant(Vec<VariantCase>),
    Result {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ok: Option<Box<Type>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        err: Option<Box<Type>>,
    },
    /// `map<K, V>`: an object where the keys are strings, else an array of pairs.
    Map(Box<Type>, Box<Type>),
    /// `content` of `dormouse:plugin/types`, as a result or either side of one: the
    /// only content block of the answer.
    Content,
    /// `list<content>` of the same: the content blocks of the answer.
    Contents,
    /// `list<prompt-message>` of the same, as a prompt's result: its messages.
    Messages,
    /// `list<embedded-resource>` of the same, as a resource's result: its contents.
    Embedded,
}

impl Type {
    /// Returns the WIT name of the type's kind, without its parts.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::S8 => "s8",
            Self::U8 => "u8",
            Self::S16 => "s16",
            Self::U16 => "u16",
            Self::S32 => "s32",
            Self::U32 => "u32",
            Self::S64 => "s64",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
            Self::Char => "char",
            Self::String => "string",
            Self::Bytes => "list<u8>",
            Self::List(_) => "list",
            Self::FixedList(..) => "fixed-length list",
            Self::Tuple(_) => "tuple",
            Self::Record(_) => "record",
            Self::Option(_) => "option",
            Self::Enum(_) => "enum",
            Self::Flags(_) => "flags",
            Self::Variant(_) => "variant",
            Self::Result { .. } => "result",
            Self::Map(..) => "map",
            Self::Content => "content",
            Self::Contents => "list<content>",
            Self::Messages => "list<prompt-message>",
            Self::Embedded => "list<embedded-resource>",
        }
    }

    /// Checks whether values of the type can be given as plain text, as the arguments of prompts
    /// and the variables of URIs are: strings, characters, booleans, numbers and cases of enums.
    #[must_use]
    pub fn is_scalar(&self) -> bool {
        matches!(
            self,
            Self::Bool
                | Self::S8
                | Self::U8
                | Self::S16
                | Self::U16
                | Self::S32
                | Self::U32
                | Self::S64
                | Self::U64
                | Self::F32
                | Self::F64
                | Self::Char
                | Self::String
                | Self::Enum(_)
        )
    }
}

/// A field of a record, or a parameter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// Its WIT name, in kebab-case.
    pub wit: String,
    /// Its JSON name: `@name`, else the WIT name in snake_case.
    pub json: String,
    /// Its type.
    #[serde(rename = "type")]
    pub ty: Type,
    /// The value to take where the JSON has none (`@default`); such a field is
    /// not required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// A case of an enum, or a flag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Its WIT name, in kebab-case.
    pub wit: String,
    /// Its JSON name: `@name`, else the WIT name in snake_case.
    pub json: String,
}

/// A case of a variant: `{"tag": json, "value": …}`, without `value` where it
/// has no type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct VariantCase {
    /// Its WIT name, in kebab-case.
    pub wit: String,
    /// Its JSON name: `@name`, else the WIT name in snake_case.
    pub json: String,
    /// Type of its value, if it has one.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub ty: Option<Type>,
}

/// Returns a WIT name in the form of JSON names.
pub(crate) fn snake_case(kebab: &str) -> String {
    kebab.replace('-', "_").to_ascii_lowercase()
}
