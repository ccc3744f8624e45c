//! Questions of an upstream, as they are read and passed on.

use dormouse_jsonrpc::{
    INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, Object, TextPart, text_parts,
};
use dormouse_protocol::attribution::SHOWN_PARAMETERS;
use dormouse_protocol::{
    AskError, Capability, LONG_TEXT_BYTES, Question, QuestionOrigin, VALUE_BYTES, check_size,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::http::{excerpt, reading_error};
use crate::server_secrets::ServerSecrets;

/// Reads a question of the upstream, and marks it as the upstream's. All parameters stay but those
/// that differ from known ones in letter case only: the content of a form is between the upstream
/// and the client, and parameters of later versions of MCP pass, too.
pub(super) fn question(
    server: &str,
    secrets: &ServerSecrets,
    id: &str,
    method: &str,
    params: Option<&str>,
) -> Result<Question, (i64, String)> {
    let text = params.unwrap_or("{}");
    check_size(counted_bytes(method, text)).map_err(told)?;
    let text = &*secrets.redact_learnt_json(text);
    let mut object = Object::read(text).map_err(|error| {
        let why = reading_error(&error.to_string());
        (INVALID_PARAMS, format!("`params` cannot be read: {why}"))
    })?;
    // Readers that ignore case would take these for the ones that are looked at.
    let names = object.iter().map(|member| member.name.clone().into_owned());
    let variants: Vec<String> = names.filter(|name| is_variant(name)).collect();
    for name in variants {
        object.remove(&name);
    }
    let mut params = Map::new();
    for member in object.iter() {
        // All else passes, as the text that it is.
        if !SHOWN_PARAMETERS.contains(&&*member.name) {
            continue;
        }
        // What a person is shown has to be looked at, and clients read more than values can
        // hold, such as `1e999`.
        let value = serde_json::from_str::<Value>(&member.value).map_err(|error| {
            let why = reading_error(&error.to_string());
            let why = format!("`{}` cannot be read: {why}", member.name);
            (INVALID_PARAMS, why)
        })?;
        params.insert(member.name.clone().into_owned(), value);
    }
    let capability = match method {
        "elicitation/create" => match params.get("mode") {
            Some(Value::String(mode)) if mode == "url" => Capability::ElicitationUrl,
            Some(Value::String(mode)) if mode == "form" => Capability::ElicitationForm,
            None => Capability::ElicitationForm,
            Some(other) => {
                let other = excerpt(&other.to_string());
                let why = format!("`mode` is `{other}`, and can be `form` or `url`");
                return Err((INVALID_PARAMS, why));
            }
        },
        "sampling/createMessage" => Capability::Sampling,
        "roots/list" => Capability::Roots,
        other => {
            let why = format!("`{}` is not known here", excerpt(other));
            return Err((METHOD_NOT_FOUND, why));
        }
    };
    let question = Question {
        id: id.to_owned(),
        origin: QuestionOrigin::Server,
        capability,
        params,
        text: RawValue::from_string(object.into_text().into_owned()).ok(),
    };
    question.attributed(server).map_err(told)
}

/// Returns the bytes of a question that count as its size: its text, and the memory of each value
/// within it. Of a sampling, long texts do not count: images are such, and as values they are no
/// larger.
pub(super) fn counted_bytes(method: &str, params: &str) -> usize {
    let may_be_long = method == "sampling/createMessage";
    let mut counted = params.len();
    for part in text_parts(params.as_bytes()) {
        match part {
            // Its closing quote does not count to its length.
            TextPart::String(bytes) if may_be_long && bytes - 1 > LONG_TEXT_BYTES => {
                counted -= bytes - 1;
            }
            TextPart::Byte(b',' | b'{' | b'[') => counted += VALUE_BYTES,
            TextPart::Byte(_) | TextPart::String(_) => {}
        }
    }
    counted
}

/// Whether a name is that of a parameter in [`SHOWN_PARAMETERS`], in other letters.
fn is_variant(name: &str) -> bool {
    // There are letters beyond ASCII that are `s` and `k` in upper or lower case.
    let same = |shown: &&str| shown.to_lowercase() == name.to_uppercase().to_lowercase();
    !SHOWN_PARAMETERS.contains(&name) && SHOWN_PARAMETERS.iter().any(same)
}

/// Returns the code and message of an error that an upstream is told.
pub(super) fn told(error: AskError) -> (i64, String) {
    match error {
        AskError::Unsupported(why) => (METHOD_NOT_FOUND, why),
        AskError::Invalid(why) => (INVALID_PARAMS, why),
        AskError::Failed(_) | AskError::Over => (INTERNAL_ERROR, error.to_string()),
    }
}

#[cfg(test)]
mod tests;
