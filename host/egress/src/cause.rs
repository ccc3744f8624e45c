//! Errors of requests in words.

use std::error::Error;
use std::io;

use rustls::AlertDescription::NoApplicationProtocol;

/// Returns the causes of an error, without the URL (which may hold a key).
#[must_use]
pub fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    // Its own words ("error sending request") say nothing that the reader does not
    // know; what caused it does.
    let mut parts: Vec<String> = Vec::new();
    let mut cause = Error::source(&error);
    while let Some(inner) = cause {
        let text = inner.to_string();
        if parts.last().is_none_or(|last| !last.contains(&text)) {
            parts.push(text);
        }
        cause = inner.source();
    }
    if refuses_protocol(&error) {
        parts.push("it does not speak HTTP/1.1, and Dormouse speaks no HTTP/2".to_owned());
    }
    match parts.is_empty() {
        true => error.to_string(),
        false => parts.join(": "),
    }
}

/// Checks whether a host has said that it does not speak the protocol which it was offered.
fn refuses_protocol(error: &reqwest::Error) -> bool {
    let refused = rustls::Error::AlertReceived(NoApplicationProtocol);
    let mut cause = error.source();
    while let Some(inner) = cause {
        if tls_error(inner) == Some(&refused) {
            return true;
        }
        cause = inner.source();
    }
    false
}

/// Returns an error of TLS, which is in one of a connection that does not have it as its cause.
fn tls_error<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e rustls::Error> {
    match error.downcast_ref::<io::Error>() {
        Some(outer) => tls_error(outer.get_ref()?),
        None => error.downcast_ref(),
    }
}
