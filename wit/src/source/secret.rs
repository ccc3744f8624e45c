//! `@secret` tags.
//!
//! Hosts, headers and variables are judged by the host, which this crate does not know; what is
//! refused here is refused there, which a test of `dormouse-config` holds (`edit::tests::plugin_inputs`).

use super::requested_input::{Shape, input};
use super::tags::{Tag, note};
use crate::declaration::SecretRequest;
use crate::error::Finding;

const KEYS: [(&str, Shape); 9] = [
    ("description", Shape::Text),
    ("isRequired", Shape::Switch),
    ("hosts", Shape::Texts),
    ("header", Shape::Text),
    ("value", Shape::Text),
    ("query", Shape::Text),
    ("placeholder", Shape::Text),
    ("login", Shape::Text),
    ("scopes", Shape::Texts),
];

const EXAMPLE: &str = "NAME {\"hosts\": [\"https://api.example.com\"], \"header\": \"Authorization\", \"value\": \"Bearer {}\"}";

/// Returns the request of a `@secret`.
pub(super) fn secret(tag: &Tag, item: &str, findings: &mut Vec<Finding>) -> Option<SecretRequest> {
    let request: SecretRequest = input(tag, &KEYS, EXAMPLE, item, findings)?;
    let wrong = fault(&request);
    if let Some((message, hint)) = &wrong {
        let message = format!("`@secret {}`: {message}", request.name);
        note(findings, Finding::error(item, message).hint(*hint));
    }
    wrong.is_none().then_some(request)
}

/// Returns what is wrong with a request, and what to do about it.
fn fault(request: &SecretRequest) -> Option<(String, &'static str)> {
    let SecretRequest {
        hosts,
        header,
        value,
        query,
        placeholder,
        login,
        scopes,
        ..
    } = request;
    if hosts.is_empty() {
        let hint = "name those that get it: `\"hosts\": [\"https://api.example.com\"]`";
        return Some(("it names no hosts".to_owned(), hint));
    }
    if let Some(host) = hosts.iter().find(|host| !is_host(host)) {
        let hint = "name whole hosts, without a pattern or a path: `\"https://api.example.com\"`; \
                    `http` is for `http://127.0.0.1:PORT` and `http://localhost:PORT` alone";
        return Some((format!("a secret cannot go to `{host}`"), hint));
    }
    let places = [query.is_some(), placeholder.is_some()];
    let has_header_alone = header.is_some() && placeholder.is_none();
    let count = places.iter().filter(|is_there| **is_there).count() + usize::from(has_header_alone);
    if count != 1 {
        let hint = "write one of `\"header\": \"Authorization\", \"value\": \"Bearer {}\"`, \
                    `\"query\": \"key\"` and `\"placeholder\": \"API_TOKEN\"`";
        let message = match count {
            0 => "it does not say where it stands in a request",
            _ => "it says twice where it stands in a request",
        };
        return Some((message.to_owned(), hint));
    }
    if let Some(value) = value {
        if !has_header_alone {
            let hint = "leave it out, or write a `header` in which it stands";
            return Some(("`value` is what stands in a `header`".to_owned(), hint));
        }
        let is_ascii = value.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if value.matches("{}").count() != 1 || !is_ascii {
            let hint = "write one `{}` in it, in whose place the secret stands: `\"Bearer {}\"`";
            return Some((format!("`value` cannot be `{value}`"), hint));
        }
    }
    let is_token = |text: &&String| {
        !text
            .bytes()
            .all(|byte| b"!#$%&'*+-.^_`|~".contains(&byte) || byte.is_ascii_alphanumeric())
    };
    if let Some(header) = header.as_ref().filter(is_token) {
        let hint = "write the name alone, as `\"Authorization\"`";
        return Some((format!("`{header}` is no name of a header"), hint));
    }
    if let Some(name) = placeholder
        .as_ref()
        .filter(|name| name.contains(['=', '\0']))
    {
        let hint = "write its name alone, as `\"API_TOKEN\"`";
        let message = format!("`{name}` is no name of an environment variable");
        return Some((message, hint));
    }
    if login.is_none() && !scopes.is_empty() {
        let hint = "name the provider, as `\"login\": \"github\"`, or leave the scopes out";
        return Some((
            "`scopes` are of a `login`, and there is none".to_owned(),
            hint,
        ));
    }
    None
}

/// Whether a text is a host that a secret may go to: over TLS, or on this machine.
fn is_host(text: &str) -> bool {
    let (scheme, rest) = text.split_once("://").unwrap_or(("https", text));
    let is_whole = !rest.is_empty() && !rest.contains(['*', '/', '\\', '?', '#', '@', ' ']);
    let is_local = || {
        let locals = ["127.0.0.1", "[::1]", "localhost"];
        let is_at = |local| match rest.strip_prefix(local) {
            Some(port) => port.is_empty() || port.starts_with(':'),
            None => false,
        };
        locals.into_iter().any(is_at)
    };
    is_whole && (scheme == "https" || scheme == "http" && is_local())
}
