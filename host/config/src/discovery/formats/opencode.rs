//! OpenCode: `mcp`; the program with its arguments is a list, and a string is split
//! on white space. `timeout` is for every request, in milliseconds. Beside the
//! servers, `tools` turns tools on and off by patterns of `<server>_<tool>`, and `permission`
//! denies some.

use crate::Filter;
use crate::discovery::document::{DocumentMember, DocumentValue, Node};
use crate::discovery::entries::dialect::{COMMON, EntryDialect};
use crate::discovery::entries::entry::Unit;
use crate::discovery::entries::oauth;
use crate::discovery::entries::oauth::OAuthKey;
use crate::discovery::filling::expansion;

use super::tool_names;

pub(super) const DIALECT: EntryDialect = EntryDialect {
    command_line: true,
    env: "environment",
    call_timeout: Some(("timeout", Unit::Milliseconds)),
    start_timeouts: &[("timeout", Unit::Milliseconds)],
    switch: Some("enabled"),
    expansion: expansion::OPENCODE,
    oauth: OAUTH,
    ..COMMON
};

/// Keys of both versions of OpenCode.
const OAUTH: oauth::OAuthDialect = oauth::OAuthDialect {
    table: "oauth",
    keys: &[
        ("oauth.client_id", OAuthKey::ClientId),
        ("oauth.client_secret", OAuthKey::ClientSecret),
        ("oauth.redirect_uri", OAuthKey::RedirectUri),
        (
            "oauth.callback_port",
            OAuthKey::CallbackPort("http://127.0.0.1:PORT/mcp/oauth/callback"),
        ),
        ("oauth.clientId", OAuthKey::ClientId),
        ("oauth.clientSecret", OAuthKey::ClientSecret),
        ("oauth.scope", OAuthKey::Scopes),
        ("oauth.redirectUri", OAuthKey::RedirectUri),
    ],
};

/// Adds a document's `tools` to the filter of a server. A pattern that turns all of its tools off
/// leaves those on that others turn on.
pub(in crate::discovery) fn add_to(filter: &mut Filter, root: &Node, server: &str) {
    let open = tool_names::open("", server, "_");
    let lists = ["tools", "permission"].map(|key| root.get(key).map(Node::members));
    let is_long = |list: &&[DocumentMember]| list.len() > tool_names::MAX_NAMES;
    let tools = root.get("tools");
    if lists.iter().flatten().any(is_long)
        || root.is_no_table()
        || tools.is_some_and(Node::is_no_table)
    {
        filter.exclude.push("*".to_owned());
        return;
    }
    deny(filter, root, &open);
    let patterns = root.get("tools").map(Node::members).unwrap_or_default();
    let mut all_off = false;
    let mut on = Vec::new();
    for member in patterns {
        let is_on = match member.node.value {
            DocumentValue::Null => continue,
            DocumentValue::Bool(is_on) => is_on,
            // What is no answer may be a no.
            _ => false,
        };
        if is_on {
            on.extend(tool_names::allowed(&member.key, &open));
            continue;
        }
        let patterns = tool_names::denied(&widest(&member.key), &open);
        match patterns.iter().any(|one| tool_names::is_all(one)) {
            true => all_off = true,
            false => filter.exclude.extend(patterns),
        }
    }
    if all_off {
        restrict_to(filter, on);
    }
}

/// Leaves of a server's tools those on that are named, and that all documents before leave on:
/// neither a project's file nor `tools` lifts what is denied.
fn restrict_to(filter: &mut Filter, on: Vec<String>) {
    filter.restrict(&Filter {
        include: Some(on),
        ..Filter::default()
    });
}

/// Removes what a document's `permission` denies from the filter of a server, the names of whose
/// tools begin with `open`. Of the rules that are for all of its tools, the last one counts, and
/// leaves on what rules behind it allow.
fn deny(filter: &mut Filter, root: &Node, open: &str) {
    let Some(permission) = root.get("permission") else {
        return;
    };
    let is_of_all = !matches!(permission.value, DocumentValue::Table(_));
    let is_denied = is_of_all && rule(permission) == Some(Rule::Deny);
    let mut on = is_denied.then(Vec::new);
    for member in permission.members() {
        match rule(&member.node) {
            None => continue,
            Some(Rule::Allow) => {
                if let Some(on) = &mut on {
                    on.extend(tool_names::allowed(&member.key, open));
                }
                continue;
            }
            Some(Rule::Deny) => {}
        }
        let patterns = tool_names::denied(&widest(&member.key), open);
        match patterns.iter().any(|one| tool_names::is_all(one)) {
            true => on = Some(Vec::new()),
            false => filter.exclude.extend(patterns),
        }
    }
    if let Some(on) = on {
        restrict_to(filter, on);
    }
}

/// Returns a pattern of which at least as much is denied as of OpenCode's: there, a `?` stands for one
/// character, and a ` *` at the end for nothing, too.
fn widest(key: &str) -> String {
    key.strip_suffix(" *").unwrap_or(key).replace('?', "*")
}

/// Rule of a permission about tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Allow,
    Deny,
}

/// Returns the rule of a permission about a tool, if it has one. Tools are asked about with `*` in
/// place of what they are called with, so that of rules by input the last one counts that matches that.
fn rule(permission: &Node) -> Option<Rule> {
    let matches_all = |key: &str| {
        !key.is_empty()
            && key.chars().all(|one| matches!(one, '*' | '?'))
            && key.matches('?').count() <= 1
    };
    match &permission.value {
        DocumentValue::Text(answer) if matches!(answer.as_str(), "allow" | "ask") => {
            Some(Rule::Allow)
        }
        DocumentValue::Bool(true) => Some(Rule::Allow),
        // What is no answer may be a no.
        DocumentValue::Text(_) | DocumentValue::Bool(false) | DocumentValue::List(_) => {
            Some(Rule::Deny)
        }
        DocumentValue::Null | DocumentValue::Number(_) => None,
        DocumentValue::Table(_) => {
            let members = permission.members().iter().rev();
            let mut of_all = members.filter(|member| matches_all(&member.key));
            of_all.find_map(|member| match &member.node.value {
                DocumentValue::Table(_) => None,
                _ => rule(&member.node),
            })
        }
    }
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
            (r#"{"*_push": false}"#, "push", false),
            (r#"{"g*_push": false}"#, "push", false),
            (r#"{"*it_push": false}"#, "push", false),
            (r#"{"git*_push": false}"#, "push", false),
            (r#"{"g*_p*h": false}"#, "push", false),
            (r#"{"*_*": false}"#, "push", false),
            (r#"{"*_push": false}"#, "pull", true),
            (r#"{"git_*": false, "*_pull": true}"#, "pull", true),
            (r#"{"git_pus?": false}"#, "push", false),
            (r#"{"?*": false}"#, "push", false),
            (r#"{"g?t_*": false}"#, "push", false),
            (r#"{"git_push *": false}"#, "push", false),
            (r#"{"git_re_po": false}"#, "re.po", false),
            (r#"{"git_re_*": false}"#, "re/po", false),
            (r#"{"gi": false, "write": false, "x": 1}"#, "push", true),
        ] {
            let filter = filter(&format!(r#"{{"tools": {tools}}}"#));
            assert_eq!(filter.shows(tool), shown, "{tools} {tool} {filter:?}");
        }
    }

    #[test]
    fn of_too_long_a_list_all_is_off() {
        for (key, off) in [("tools", "false"), ("permission", r#""deny""#)] {
            for (count, shown) in [(500, true), (501, false)] {
                let list: Vec<_> = (0..count).map(|n| format!(r#""x{n}": {off}"#)).collect();
                let filter = filter(&format!(r#"{{"{key}": {{{}}}}}"#, list.join(",")));
                assert_eq!(filter.shows("push"), shown, "{key} {count}");
            }
        }
    }

    fn filter(text: &str) -> Filter {
        filter_of(&[text])
    }

    /// Returns the filter of several documents, in the order in which they are read.
    fn filter_of(texts: &[&str]) -> Filter {
        let mut filter = Filter::default();
        for text in texts {
            let root = document::parse(text, Syntax::Json).unwrap();
            add_to(&mut filter, &root, "git");
        }
        filter
    }

    #[test]
    fn what_is_denied_is_off() {
        for (permission, tool, shown) in [
            (r#""deny""#, "push", false),
            (r#""ask""#, "push", true),
            (r#"{"git_push": "deny"}"#, "push", false),
            (r#"{"git_push": "deny"}"#, "pull", true),
            (r#"{"git_push": "ask", "bash": "deny"}"#, "push", true),
            (r#"{"git_*": "deny"}"#, "push", false),
            (r#"{"git*": "deny", "git_pull": "allow"}"#, "pull", true),
            (r#"{"git*": "deny", "git_pull": "allow"}"#, "push", false),
            (r#"{"git_pull": "allow", "git*": "deny"}"#, "pull", false),
            (r#"{"*": "deny", "git_*": "ask"}"#, "pull", true),
            (r#"{"*": "ask", "git_push": "deny"}"#, "push", false),
            (r#"{"git_pu?h": "deny"}"#, "push", false),
            (r#"{"*_push": "deny"}"#, "push", false),
            (r#"{"g?t_push": "deny"}"#, "push", false),
            (r#"{"git*_push": "deny"}"#, "push", false),
            (r#"{"git_re_po": "deny"}"#, "re po", false),
            (r#"{"git_*": "deny", "git_re_po": "allow"}"#, "re po", false),
            (r#"{"git_push": {"*": "deny"}}"#, "push", false),
            (r#"{"git_push": {"*": "deny", "x": "ask"}}"#, "push", false),
            (r#"{"git_push": {"x": "ask", "*": "deny"}}"#, "push", false),
            (r#"{"git_push": {"*": "deny", "**": "ask"}}"#, "push", true),
            (r#"{"git_push": {"**": "deny"}}"#, "push", false),
            (r#"{"git_push": {"?": "deny"}}"#, "push", false),
            (r#"{"git_push": {"??": "deny"}}"#, "push", true),
            (r#"{"*": {"**": "deny"}}"#, "push", false),
            (r#"{"git_push *": "deny"}"#, "push", false),
            (r#"{"*": "deny", "git_push": {"a": "deny"}}"#, "push", false),
            (
                r#"{"git_*": "deny", "git_push": {"x": "allow"}}"#,
                "push",
                false,
            ),
            (
                r#"{"git_*": "deny", "git_push": {"*": "allow"}}"#,
                "push",
                true,
            ),
            (r#"{"git_*": "deny", "git_push": {}}"#, "push", false),
            (r#"{"git_*": "deny", "git_push": null}"#, "push", false),
            (r#"{"git_*": "deny", "git_push": 0}"#, "push", false),
            (r#"{"git_push": {"x": "deny"}}"#, "push", true),
        ] {
            let filter = filter(&format!(r#"{{"permission": {permission}}}"#));
            assert_eq!(filter.shows(tool), shown, "{permission} {tool} {filter:?}");
        }
        let both =
            r#"{"tools": {"git_*": false, "git_pull": true}, "permission": {"git_pull": "deny"}}"#;
        assert!(!filter(both).shows("pull"));
    }

    #[test]
    fn no_tools_of_any_file_lift_what_is_denied() {
        let on = r#""tools": {"git_*": false, "git_pull": true}"#;
        let wide = r#""tools": {"git*": false, "git_*": true}"#;
        for denial in [
            r#""permission": "deny""#,
            r#""permission": {"*": "deny"}"#,
            r#""permission": {"git_*": "deny"}"#,
            r#""permission": {"git*": "deny", "git_push": "allow"}"#,
            r#""tools": {"git_*": false}"#,
            r#""tools": {"*": false, "git_push": true}"#,
        ] {
            for tools in [on, wide] {
                let mut filters = vec![filter_of(&[
                    &format!("{{{denial}}}"),
                    &format!("{{{tools}}}"),
                ])];
                if denial.contains("permission") {
                    filters.push(filter_of(&[&format!("{{{denial}, {tools}}}")]));
                }
                for filter in filters {
                    assert!(!filter.shows("pull"), "{denial} {tools} {filter:?}");
                }
            }
        }
    }
}
