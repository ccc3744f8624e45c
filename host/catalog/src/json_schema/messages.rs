//! Messages of the validator, made short, with the places that they are about.

use jsonschema::ValidationError;

/// Longest path that is shown in full, in characters.
const MAX_TOLD_PATH: usize = 200;

/// Returns the place of an error, as a JSON pointer, or the beginning of that.
pub(super) fn shown_path(error: &ValidationError<'_>) -> String {
    let path = error.instance_path().to_string();
    match path.char_indices().nth(MAX_TOLD_PATH) {
        Some((end, _)) => format!("{}…", path.get(..end).unwrap_or_default()),
        None => path,
    }
}

/// Describes the fault of a schema, with its place.
pub(super) fn problem(error: &ValidationError<'_>) -> String {
    let place = shown_path(error);
    let place = match place.as_str() {
        "" => String::new(),
        place => format!(" at `{place}`"),
    };
    format!("{}{place}", told(&error.to_string()))
}

/// Shortens a validator's message, with values in backticks as everywhere.
pub(super) fn told(message: &str) -> String {
    let message: String = message.chars().take(300).collect();
    message.replace(['"', '\''], "`")
}
