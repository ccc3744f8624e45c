//! Errors of requests in words.

/// Returns the causes of an error, without the URL (which may hold a key).
#[must_use]
pub fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    // Its own words ("error sending request") say nothing that the reader does not
    // know; what caused it does.
    let mut parts: Vec<String> = Vec::new();
    let mut cause = std::error::Error::source(&error);
    while let Some(inner) = cause {
        let text = inner.to_string();
        if parts.last().is_none_or(|last| !last.contains(&text)) {
            parts.push(text);
        }
        cause = inner.source();
    }
    match parts.is_empty() {
        true => error.to_string(),
        false => parts.join(": "),
    }
}
