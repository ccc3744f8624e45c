//! OpenCode: `mcp`; the program with its arguments is a list, and a string is split
//! on white space. `timeout` is for every request, in milliseconds. Beside the
//! servers, `tools` turns tools on and off by patterns of `<server>_<tool>`.

use crate::Filter;
use crate::discovery::dialect::{COMMON, Dialect};
use crate::discovery::document::{Node, Value};
use crate::discovery::entry::Unit;
use crate::discovery::expansion;
use crate::discovery::oauth::{self, Means};

pub(super) const DIALECT: Dialect = Dialect {
    command_line: true,
    env: "environment",
    call_timeout: Some(("timeout", Unit::Milliseconds)),
    start_timeouts: &[("timeout", Unit::Milliseconds)],
    expansion: expansion::OPENCODE,
    oauth: OAUTH,
    ..COMMON
};

/// The keys of both its versions.
const OAUTH: oauth::Dialect = oauth::Dialect {
    table: "oauth",
    keys: &[
        ("oauth.client_id", Means::ClientId),
        ("oauth.client_secret", Means::ClientSecret),
        ("oauth.redirect_uri", Means::RedirectUri),
        (
            "oauth.callback_port",
            Means::CallbackPort("http://127.0.0.1:PORT/mcp/oauth/callback"),
        ),
        ("oauth.clientId", Means::ClientId),
        ("oauth.clientSecret", Means::ClientSecret),
        ("oauth.scope", Means::Scopes),
        ("oauth.redirectUri", Means::RedirectUri),
    ],
};

/// Adds to a filter what a document's `tools` say of a server's. A pattern that
/// turns all of them off leaves those on that others turn on.
pub(in crate::discovery) fn add_to(filter: &mut Filter, root: &Node, server: &str) {
    // OpenCode puts a `_` for whatever it does not want in a tool's name.
    let odd = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    let server = server.replace(odd, "_");
    let patterns = root.get("tools").map(Node::members).unwrap_or_default();
    let mut all_off = false;
    let mut on = Vec::new();
    for member in patterns {
        let Value::Bool(shown) = member.node.value else {
            continue;
        };
        let Some(pattern) = of_server(&member.key, &server) else {
            continue;
        };
        match shown {
            true => on.push(pattern),
            false if pattern.bytes().all(|byte| byte == b'*') => all_off = true,
            false => filter.exclude.push(pattern),
        }
    }
    if all_off {
        filter.include = Some(on);
    }
}

/// The part of a pattern that is for the tools of a server, if any can match it.
fn of_server(pattern: &str, server: &str) -> Option<String> {
    let own = format!("{server}_");
    if let Some(tools) = pattern.strip_prefix(&own) {
        return Some(tools.to_owned());
    }
    // A star before the tools begin stands for the rest of the server's name, and
    // for as much of the tool's as comes after it.
    let (before, after) = pattern.split_once('*')?;
    own.starts_with(before).then(|| format!("*{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::document;
    use crate::discovery::places::Syntax;

    #[test]
    fn patterns_are_of_a_server() {
        for (tools, tool, shown) in [
            (r#"{"git_*": false}"#, "push", false),
            (r#"{"git*": false}"#, "push", false),
            (r#"{"git_push": false}"#, "push", false),
            (r#"{"git_push": false}"#, "pull", true),
            (r#"{"git_*": false, "git_pull": true}"#, "pull", true),
            (r#"{"git_*": false, "git_pull": true}"#, "push", false),
            (r#"{"*push": false}"#, "push", false),
            (r#"{"github_*": false}"#, "push", true),
            (r#"{"gi": false, "write": false, "x": 1}"#, "push", true),
        ] {
            let text = format!(r#"{{"tools": {tools}}}"#);
            let root = document::parse(&text, Syntax::Json).unwrap();
            let mut filter = Filter::default();
            add_to(&mut filter, &root, "git");
            assert_eq!(filter.shows(tool), shown, "{tools} {tool} {filter:?}");
        }
    }
}
