//! Texts of others as they are written into the log.

/// The longest name of a logger that is passed on, in bytes.
const MAX_LOGGER_BYTES: usize = 64;

/// Shortens the name of a logger and escapes what would steer a terminal: the name stands before
/// each line, in the host's log and at the agent.
#[must_use]
pub fn logger_name(logger: &str) -> String {
    let end = logger.floor_char_boundary(MAX_LOGGER_BYTES);
    let mut name = escaped(logger.get(..end).unwrap_or(logger));
    name.truncate(name.floor_char_boundary(MAX_LOGGER_BYTES));
    name
}

/// Escapes what would steer a terminal. Quotes stay as they are: people read the line.
#[must_use]
pub fn escaped(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for letter in line.chars() {
        match letter {
            '\'' | '"' | '\\' => shown.push(letter),
            letter => shown.extend(letter.escape_debug()),
        }
    }
    shown
}
