//! Results of a resource's function → MCP `ReadResourceResult`.

use dormouse_wit::Type;
use serde_json::{Map, Value};
use wasmtime::component::Val;

use super::bytes::base64_of;
use super::left_out::LeftOutHints;
use super::result::{either, flat};

/// Converts a resource's result: text or bytes under its own URI, or several contents with theirs.
/// None where there is no such resource: an empty list counts as none. `server` is the server's
/// name for the log.
///
/// # Errors
/// The plugin's own error text.
pub(crate) fn resource_result(
    server: &str,
    uri: &str,
    mime_type: Option<&str>,
    ty: Option<&Type>,
    value: Option<Val>,
) -> Result<Option<Value>, String> {
    let left_out = LeftOutHints::new(server);
    let (ty, value) = either(ty, value)?;
    let own = |name: &str, value: Value| {
        let mut contents = Map::new();
        contents.insert("uri".into(), uri.into());
        contents.extend(mime_type.map(|mime| ("mimeType".to_owned(), Value::from(mime))));
        contents.insert(name.into(), value);
        vec![Value::Object(contents)]
    };
    let contents: Vec<Value> = match (ty, value) {
        (Some(Type::Embedded), Some(Val::List(items))) => items
            .into_iter()
            .map(|item| match item {
                Val::Record(fields) => Value::Object(flat(&left_out, fields)),
                _ => Value::Null,
            })
            .collect(),
        (Some(Type::Bytes), Some(Val::String(base64))) => own("blob", base64.into()),
        (Some(Type::Bytes), Some(Val::List(bytes))) => own("blob", base64_of(&bytes).into()),
        (_, Some(Val::String(text))) => own("text", text.into()),
        _ => Vec::new(),
    };
    // Moved: the macro would copy it.
    let result = |contents| Map::from_iter([("contents".to_owned(), Value::Array(contents))]);
    Ok((!contents.is_empty()).then(|| Value::Object(result(contents))))
}
