//! Codex: `[mcp_servers.NAME]` in TOML. Secrets are taken from the environment by the names of
//! variables: `env_vars`, `bearer_token_env_var`, `env_http_headers`.

use crate::discovery::document::{DocumentValue, Node};
use crate::discovery::entries::dialect::{COMMON, EntryDialect, EntryOutcome};
use crate::discovery::entries::draft::{DraftText, Written};
use crate::discovery::entries::entry::{ServerEntry, Unit};
use crate::discovery::entries::oauth;
use crate::discovery::entries::oauth::OAuthKey;

pub(super) const DIALECT: EntryDialect = EntryDialect {
    headers: "http_headers",
    call_timeout: Some(("tool_timeout_sec", Unit::Seconds)),
    start_timeouts: &[
        ("startup_timeout_sec", Unit::Seconds),
        ("startup_timeout_ms", Unit::Milliseconds),
    ],
    include: Some("enabled_tools"),
    exclude: Some("disabled_tools"),
    switch: Some("enabled"),
    oauth: OAUTH,
    ..COMMON
};

/// The resource that is asked for is always the server's own URL (RFC 8707).
const OAUTH: oauth::OAuthDialect = oauth::OAuthDialect {
    table: "oauth",
    keys: &[
        ("oauth.client_id", OAuthKey::ClientId),
        ("scopes", OAuthKey::Scopes),
        ("oauth_resource", OAuthKey::Foreign("")),
    ],
};

pub(super) fn read(entry: &mut ServerEntry<'_, '_>) -> EntryOutcome {
    let mut outcome = DIALECT.read(entry);
    let EntryOutcome::Server(draft) = &mut outcome else {
        return outcome;
    };
    let before = entry.reader.problem_count;
    match &mut draft.launch {
        Some(Written::Stdio(stdio)) => {
            for name in passed_on(entry.node) {
                let text = variable(&name, "", false);
                stdio.env.entry(name).or_insert(text);
            }
        }
        Some(Written::Http(http)) => {
            if let Some(name) = entry.text("bearer_token_env_var") {
                let text = variable(&name, "Bearer ", true);
                http.headers.insert("Authorization".to_owned(), text);
            }
            for (header, text) in entry.table("env_http_headers") {
                if let DraftText::Written(name) = text {
                    http.headers.insert(header, variable(&name, "", false));
                }
            }
        }
        None => {}
    }
    if entry.reader.problem_count > before {
        return EntryOutcome::Bad(draft.launch.take().map(Box::new));
    }
    outcome
}

/// Returns the redirect URI for logins at all of a document's servers, if the document has its port
/// beside them.
pub(in crate::discovery) fn redirect(root: &Node) -> Option<String> {
    let DocumentValue::Number(port) = &root.get("mcp_oauth_callback_port")?.value else {
        return None;
    };
    let port: u16 = port.parse().ok().filter(|port| *port > 0)?;
    Some(format!("http://127.0.0.1:{port}/callback"))
}

fn variable(name: &str, prefix: &'static str, needed: bool) -> DraftText {
    DraftText::Variable {
        name: name.to_owned(),
        prefix,
        needed,
    }
}

/// Returns the variables that the program gets from Codex's own environment: names, or tables with
/// a `name`.
fn passed_on(node: &Node) -> Vec<String> {
    let items = node.get("env_vars").map(Node::items).unwrap_or_default();
    let names = items.iter().filter_map(|item| {
        let name = item.get("name").unwrap_or(item).text()?;
        (!name.is_empty() && !name.contains(['=', '\0'])).then(|| name.to_owned())
    });
    names.collect()
}
