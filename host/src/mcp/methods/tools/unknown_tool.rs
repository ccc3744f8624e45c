//! Names that no tool is called by that agents can call, and why that may be.

use std::sync::Arc;

use dormouse_catalog::What;
use dormouse_config::name::META_TOOLS;
use dormouse_text::visible::line_beginning;

use crate::mcp::messages::error_object::ErrorObject;
use crate::roster::{Server, Snapshot, names};
use crate::store::Gated;

/// Returns the error of a call of a name that no tool is called by, with the reason where a server is
/// known to have such a tool.
pub(super) fn unknown(name: &str, snapshot: &Snapshot) -> ErrorObject {
    // A name is the agent's to choose, at any length; an answer need not repeat it.
    let said = line_beginning(name, 128);
    let known = snapshot.tools_for_models();
    let near = names::nearest(name, known.map(|tool| tool.name.as_str()));
    let near = near.map(|near| format!("hint: did you mean `{near}`?"));
    let hidden = snapshot.hidden_by_rule(name).map(|(tool, why)| {
        format!(
            "server `{}` has it, and it is not shown: {why}",
            tool.server()
        )
    });
    let own = META_TOOLS.contains(&name).then(|| {
        "it is a tool of Dormouse's own, and nothing is called by it here\n\
         hint: list the tools again, and call the one that is meant by its own name"
            .to_owned()
    });
    let why = own
        .or(hidden)
        .or_else(|| missing(name, snapshot))
        .or_else(|| not_offered(name, snapshot, near.as_deref()))
        .or_else(|| near.clone())
        .or_else(|| Some(snapshot.untrusted()?.hint()))
        .map(|why| format!("\n{why}"))
        .unwrap_or_default();
    ErrorObject::invalid_params(format!("Unknown tool: `{said}`{why}"))
}

/// Returns the fault of the server whose tool a name would be, if its tools are not listed because
/// of that.
fn missing(name: &str, snapshot: &Snapshot) -> Option<String> {
    if let Some(why) = not_shown(name, snapshot) {
        return Some(why);
    }
    let servers = snapshot.servers().values();
    let of = |server: &&Arc<Server>| {
        let config = server.config();
        let begin = names::shown(&config.name, config.prefix.as_deref(), "");
        !begin.is_empty() && name.starts_with(&begin)
    };
    let server = servers
        .filter(of)
        .find(|server| server.listed().is_none())?;
    let name = &server.config().name;
    let why = match (server.problem(), server.switched_off()) {
        (Some(problem), _) => format!("has failed: {problem}"),
        (None, Some(state)) => format!("is {state}"),
        (None, None) => "has nothing to list".to_owned(),
    };
    Some(format!("server `{name}` {why}"))
}

/// Returns the reason for which the server whose tool a name would be does not have it, if that
/// server's tools are listed, and a hint: at the name that is `near`, where that may be meant.
fn not_offered(name: &str, snapshot: &Snapshot, near: Option<&str>) -> Option<String> {
    let servers = || snapshot.servers().values();
    let shown = |server: &Server, tool: &str| {
        let config = server.config();
        names::shown(&config.name, config.prefix.as_deref(), tool)
    };
    let of = |server: &Arc<Server>| format!("server `{}`", server.config().name);
    let is_gone = |server: &&Arc<Server>| {
        let mut gone = server.gone();
        gone.any(|(kind, tool)| kind == Gated::Tool && shown(server, tool) == name)
    };
    let with_hint = |server: &Arc<Server>, why: &str| {
        let name = &server.config().name;
        let usual = format!("hint: `dormouse tools {name}` lists what it has");
        let hint = near.unwrap_or(&usual);
        format!("{} {why}\n{hint}", of(server))
    };
    if let Some(server) = servers().find(is_gone) {
        return Some(with_hint(server, "no longer offers it"));
    }
    let left_out = servers().find_map(|server| {
        let mut left_out = server.left_out();
        let tool = left_out.find(|tool| shown(server, tool) == name)?;
        Some(format!("{} {}", of(server), server.why_left_out(tool)))
    });
    if left_out.is_some() {
        return left_out;
    }
    let is_of = |server: &&Arc<Server>| {
        let begin = shown(server, "");
        server.listed().is_some() && !begin.is_empty() && name.starts_with(&begin)
    };
    let server = servers().find(is_of)?;
    if !server.is_unknown() {
        return Some(with_hint(server, "offers no tool of that name"));
    }
    let why = match server.reachable() {
        Ok(_) => format!("{}{}", server.last_failure(), server.how_to_discover()),
        Err(why) => why,
    };
    Some(format!(
        "nothing is known yet of what {} offers\n{why}",
        of(server)
    ))
}

/// Returns the reason for which a tool of that name is not shown, if there is one all the same. What
/// nobody has approved says nothing to a model, of its faults neither.
fn not_shown(name: &str, snapshot: &Snapshot) -> Option<String> {
    snapshot.servers().values().find_map(|server| {
        let config = server.config();
        let shown = |own: &str| names::shown(&config.name, config.prefix.as_deref(), own);
        let mut odd = server.odd().iter();
        let found =
            odd.find(|odd| odd.what == What::Tool && !odd.shown && shown(&odd.name) == name)?;
        Some(format!(
            "server `{}` has it, and it is not shown: {}\n\
             hint: `dormouse doctor` says what whoever wrote the server has to mend",
            config.name,
            found.why_for_models()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_not_repeated_whole() {
        let error = unknown(&"ä".repeat(10_000), &Snapshot::default());
        assert!(error.message.len() < 400);
    }
}
