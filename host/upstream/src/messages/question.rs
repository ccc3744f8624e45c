//! Questions of an upstream, as they are read and passed on.

use dormouse_jsonrpc::{
    INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, Object, TextPart, member, text_parts,
};
use dormouse_protocol::attribution::SHOWN_PARAMETERS;
use dormouse_protocol::{
    AskError, Capability, MAX_QUESTION_BYTES, Question, QuestionOrigin, VALUE_BYTES, check_size,
    escape_bytes,
};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::http::{excerpt, reading_error};
use crate::server_secrets::ServerSecrets;

/// Question of an upstream of which nothing is read but what says who can be asked it: as values it
/// takes many times the memory of its text, and to show it takes time.
pub(super) struct UnreadQuestion<'a> {
    pub(super) capability: Capability,
    /// All capabilities that the client needs.
    pub(super) needs: Vec<Capability>,
    /// Bytes that count as its size.
    pub(super) bytes: usize,
    /// Text of its parameters.
    params: &'a str,
}

impl<'a> UnreadQuestion<'a> {
    /// Takes a question by its method and the text of its parameters.
    ///
    /// # Errors
    /// It is too long, or of no kind that there is. The error is for the upstream.
    pub(super) fn of(method: &str, params: Option<&'a str>) -> Result<Self, (i64, String)> {
        let params = params.unwrap_or("{}");
        let capability = capability(method, params)?;
        let bytes = counted_bytes(capability, params);
        check_size(bytes).map_err(told)?;
        Ok(Self {
            capability,
            needs: Question::needs_of(capability, params).collect(),
            bytes,
            params,
        })
    }

    /// Reads the question, and marks it as the upstream's. All parameters stay but those that differ
    /// from known ones in letter case only: the content of a form is between the upstream and the
    /// client, and parameters of later versions of MCP pass, too.
    pub(super) fn read(
        self,
        server: &str,
        secrets: &ServerSecrets,
        id: &str,
    ) -> Result<Question, (i64, String)> {
        let text = &*secrets.redact_learnt_json(self.params);
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
        let question = Question {
            id: id.to_owned(),
            origin: QuestionOrigin::Server,
            capability: self.capability,
            params,
            text: RawValue::from_string(object.into_text().into_owned()).ok(),
        };
        question.attributed(server).map_err(told)
    }
}

/// Longest name of a method that an error has in it, in bytes. It is whole there: a secret in what was
/// cut would not be known.
const MAX_METHOD_BYTES: usize = 256;

/// Returns the kind of a question.
fn capability(method: &str, params: &str) -> Result<Capability, (i64, String)> {
    // It is not quoted, at whatever length.
    let wrong = || {
        let why = "`mode` is neither `form` nor `url`".to_owned();
        (INVALID_PARAMS, why)
    };
    Ok(match method {
        "elicitation/create" => match member(params, "mode") {
            None => Capability::ElicitationForm,
            Some(mode) => match serde_json::from_str::<String>(mode).as_deref() {
                Ok("url") => Capability::ElicitationUrl,
                Ok("form") => Capability::ElicitationForm,
                _ => return Err(wrong()),
            },
        },
        "sampling/createMessage" => Capability::Sampling,
        "roots/list" => Capability::Roots,
        other => {
            let why = match other.len() > MAX_METHOD_BYTES {
                true => format!("a method of {} bytes is not known here", other.len()),
                false => format!("`{}` is not known here", excerpt(other)),
            };
            return Err((METHOD_NOT_FOUND, why));
        }
    })
}

/// Returns the bytes of a question that count as its size: its text with what it shows by escapes, and the
/// memory of each value within it. Of a sampling, images and sounds do not count: as values they are no
/// larger, and nothing is looked for in them.
fn counted_bytes(kind: Capability, params: &str) -> usize {
    let (mut counted, mut at) = (0, 0);
    // Whether the last text is the name of a member with media, and what follows its value.
    let (mut names_media, mut is_media) = (false, false);
    for part in text_parts(params.as_bytes()) {
        match part {
            TextPart::String(bytes) => {
                let written = params.get(at + 1..(at + bytes).saturating_sub(1));
                let written = written.unwrap_or_default();
                let (words, media) = match is_media && kind == Capability::Sampling {
                    true => split_media(written),
                    false => (written, ""),
                };
                counted += bytes - media.len();
                // What is too long already takes no more time. Escapes in JSON are as long as those
                // that are shown, but for short ones.
                if counted <= MAX_QUESTION_BYTES {
                    counted += escape_bytes(words) + short_escape_bytes(words);
                }
                names_media = matches!(written, "data" | "blob");
                at += bytes;
            }
            TextPart::Byte(byte) => {
                (counted, at) = (counted + 1, at + 1);
                match byte {
                    b':' => is_media = names_media,
                    b',' | b'{' | b'[' => {
                        counted += VALUE_BYTES;
                        (names_media, is_media) = (false, false);
                    }
                    _ => {}
                }
            }
        }
    }
    counted
}

/// Returns the bytes that the escapes `\b`, `\f` and `\r` of a text of JSON take beside their own, where they
/// are shown as `\u{8}` and the like.
fn short_escape_bytes(written: &str) -> usize {
    const MORE_BYTES: usize = r"\\u{c}".len();
    let (mut bytes, mut more) = (written.bytes(), 0);
    while let Some(byte) = bytes.next() {
        if byte == b'\\' && matches!(bytes.next(), Some(b'b' | b'f' | b'r')) {
            more += MORE_BYTES;
        }
    }
    more
}

/// Splits a text of JSON, as it is written between its quotes, into words and the base64 behind them;
/// some write media as `data:` URLs.
fn split_media(written: &str) -> (&str, &str) {
    const MARK: &str = ";base64,";
    let mark = match written.starts_with("data:") {
        true => written.find(MARK),
        false => None,
    };
    let (words, media) = written.split_at(mark.map_or(0, |at| at + MARK.len()));
    match is_base64(media.as_bytes()) {
        true => (words, media),
        false => (written, ""),
    }
}

/// Whether a text of JSON, as it is written between its quotes, is one of base64. None is shown as
/// anything else.
fn is_base64(written: &[u8]) -> bool {
    let mut rest = written.iter();
    while let Some(byte) = rest.next() {
        let is_of_it = match byte {
            // There may be lines in it, and some escape slashes. A `\r` that ends no line is shown
            // as an escape.
            b'\\' => match rest.next() {
                Some(b'r') => rest.as_slice().starts_with(br"\n"),
                escaped => matches!(escaped, Some(b'/' | b'n')),
            },
            byte => byte.is_ascii_alphanumeric() || b"+/=-_".contains(byte),
        };
        if !is_of_it {
            return false;
        }
    }
    true
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
