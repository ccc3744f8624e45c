//! Arguments that a tool wants in HTTP headers, too (`x-mcp-header`, 2026-07-28).

use std::collections::HashSet;

use dormouse_jsonrpc::Object;
use serde_json::{Map, Value};

/// Keyword of a schema that names the header.
pub const HEADER_KEYWORD: &str = "x-mcp-header";

/// Most arguments of one tool that are wanted in headers.
const MAX_HEADERS: usize = 32;

/// Most bytes of the name of a header, and of the names of all properties that lead to an argument
/// together.
const MAX_NAME_BYTES: usize = 1024;

/// Most characters of a header's name that are shown.
const MAX_SHOWN_CHARACTERS: usize = 60;

/// An argument that is wanted in a header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderArgument {
    /// Names of the properties that lead to it.
    pub path: Vec<String>,
    /// Name of the header, in small letters.
    pub header: String,
}

impl HeaderArgument {
    /// Returns the arguments that a tool's schema wants in headers.
    ///
    /// # Errors
    /// One is not as the specification wants it; says which.
    pub fn of_schema(schema: &Value) -> Result<Vec<Self>, String> {
        let mut wanted = Vec::new();
        if let Value::Object(schema) = schema {
            collect(schema, &mut Vec::new(), true, &mut wanted)?;
        }
        let mut seen = HashSet::new();
        match wanted.iter().find(|one| !seen.insert(&one.header)) {
            Some(twice) => Err(format!("two arguments want the header `{}`", twice.header)),
            None => Ok(wanted),
        }
    }

    /// Returns the text of its value among all arguments; none where it is not there, or is
    /// nothing that a header repeats.
    #[must_use]
    pub fn text(&self, arguments: Option<&Value>) -> Option<String> {
        match self.value(arguments)? {
            Value::String(text) => Some(text.clone()),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// Whether the text of all arguments has it twice, or one of those that lead to it: readers differ
    /// in which of the two counts.
    #[must_use]
    pub fn is_twice(&self, arguments: &str) -> bool {
        is_twice(arguments, &self.path)
    }

    /// Returns its value among all arguments.
    #[must_use]
    pub fn value<'a>(&self, arguments: Option<&'a Value>) -> Option<&'a Value> {
        let mut path = self.path.iter();
        path.try_fold(arguments?, |value, name| value.get(name))
    }
}

/// Whether the text of an object has a member twice that leads to where the path ends. The path has as
/// many names as a schema is deep.
fn is_twice(text: &str, path: &[String]) -> bool {
    let Some((name, rest)) = path.split_first() else {
        return false;
    };
    let Ok(object) = Object::parse(text, usize::MAX) else {
        return false;
    };
    let mut values = object.iter().filter(|member| member.name == *name);
    match (values.next(), values.next()) {
        (Some(_), Some(_)) => true,
        (Some(value), None) => is_twice(&value.value, rest),
        (None, _) => false,
    }
}

/// Walks a schema. `direct` says whether nothing but `properties` has led here.
fn collect<'s>(
    schema: &'s Map<String, Value>,
    path: &mut Vec<&'s str>,
    direct: bool,
    wanted: &mut Vec<HeaderArgument>,
) -> Result<(), String> {
    for (key, value) in schema {
        match (key.as_str(), value) {
            (HEADER_KEYWORD, name) => {
                wanted.push(argument(name, schema.get("type"), path, direct)?);
                if wanted.len() > MAX_HEADERS {
                    return Err(format!(
                        "more than {MAX_HEADERS} of its arguments want headers"
                    ));
                }
            }
            // Data, in which the keyword means nothing.
            ("default" | "const" | "enum" | "examples", _) => {}
            // Here the keys are names, not keywords.
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(named),
            ) => {
                for (name, inner) in named {
                    let Value::Object(inner) = inner else {
                        continue;
                    };
                    path.push(name);
                    collect(inner, path, direct && key == "properties", wanted)?;
                    path.pop();
                }
            }
            (_, Value::Object(inner)) => collect(inner, path, false, wanted)?,
            (_, Value::Array(all)) => {
                for inner in all.iter().filter_map(Value::as_object) {
                    collect(inner, path, false, wanted)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

fn argument(
    name: &Value,
    kind: Option<&Value>,
    path: &[&str],
    direct: bool,
) -> Result<HeaderArgument, String> {
    let bytes: usize = path.iter().map(|name| name.len()).sum();
    if bytes > MAX_NAME_BYTES {
        return Err(format!(
            "the names that lead to an argument with `{HEADER_KEYWORD}` have {bytes} bytes, and \
             {MAX_NAME_BYTES} are allowed"
        ));
    }
    let at = path.join(".");
    if !direct || path.is_empty() {
        return Err(format!(
            "`{HEADER_KEYWORD}` is where no argument can be found (`{at}`)"
        ));
    }
    if !matches!(
        kind.and_then(Value::as_str),
        Some("string" | "integer" | "boolean")
    ) {
        return Err(format!(
            "`{at}` has `{HEADER_KEYWORD}`, but is no string, integer or boolean"
        ));
    }
    let header = name.as_str().filter(|name| is_header_name(name));
    match header {
        Some(header) => Ok(HeaderArgument {
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            header: format!("mcp-param-{}", header.to_ascii_lowercase()),
        }),
        None => {
            let shown = name.to_string();
            let shown: String = shown.chars().take(MAX_SHOWN_CHARACTERS).collect();
            Err(format!(
                "`{at}` wants a header of the name `{shown}`, which cannot be"
            ))
        }
    }
}

/// Checks whether a text can be the end of a header's name (a `token` of RFC 9110).
fn is_header_name(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(is_token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_that_is_there_twice_is_noticed() {
        let argument = HeaderArgument {
            path: vec!["a".to_owned(), "b".to_owned()],
            header: "mcp-param-b".to_owned(),
        };
        for (arguments, expected) in [
            (r#"{"a":{"b":1},"b":1,"c":{"b":1,"b":2}}"#, false),
            (r#"{"a":{"b":1,"b":2}}"#, true),
            (r#"{"a":{"b":1,"\u0062":1}}"#, true),
            (r#"{"a":{"b":1},"a":{}}"#, true),
            (r#"{"c":1,"c":2}"#, false),
            (r#"{"a":7}"#, false),
            ("[]", false),
        ] {
            assert_eq!(argument.is_twice(arguments), expected, "{arguments}");
        }
    }
}
