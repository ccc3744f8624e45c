//! Results of functions that take requests by name.

use dormouse_protocol::Answer;
use wasmtime::component::Val;

use crate::error::Cause;

/// Returns the object whose text was returned by a function that takes requests by name.
pub(super) fn object(value: Option<Val>) -> Result<Answer, Cause> {
    match value {
        Some(Val::Result(Ok(Some(text)))) => match *text {
            Val::String(text) => Answer::read(text).map_err(Cause::BadResult),
            _ => Err(Cause::BadResult("it is not text".into())),
        },
        Some(Val::Result(Err(error))) => Err(refused(error.as_deref())),
        _ => Err(Cause::BadResult("it is not a result".into())),
    }
}

/// Returns the text of an error, where it has one.
pub(super) fn error_text(error: Option<&Val>) -> Option<&str> {
    match error? {
        Val::String(text) => Some(text),
        Val::Variant(_, text) => error_text(text.as_deref()),
        _ => None,
    }
}

/// Returns the cause for an error of such a function: a text, or `read-error`.
pub(super) fn refused(error: Option<&Val>) -> Cause {
    match error {
        Some(Val::Variant(case, None)) if case == "not-found" => Cause::NotFound,
        error => {
            let text = error_text(error).filter(|text| !text.trim().is_empty());
            let text = text.unwrap_or("the plugin did not say why");
            Cause::Refused(text.to_owned())
        }
    }
}
