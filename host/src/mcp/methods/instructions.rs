//! Instructions of servers for a model (MCP `instructions`), as agents are told them: in the answer
//! to their first request as much as their clients take, and whole in resources. All of this text
//! is known to the user already, and no server is started for it.

use dormouse_policy::exposure::ShownMode;
use dormouse_protocol::attribution;
use serde_json::{Value, json};

use super::commands::push;
use crate::mcp::client::client_table;
use crate::roster::Snapshot;

/// Instructions of Dormouse itself.
pub(in crate::mcp) const OWN: &str = "The tools of several servers.";

/// Instructions of Dormouse itself for agents that search for tools.
const OF_SEARCH: &str = "The tools of several servers, most of which are not in your list of tools: \
     `search_tools` finds them by what they do.";

/// Instructions of Dormouse itself for agents that load tools.
const OF_INDEX: &str = "The tools of several servers, most of which are not in your list of tools: \
     `list_servers` names them, and `load_tools` loads them.";

/// Beginning of the names of tools, where no server has another prefix.
const OF_PREFIXES: &str = "A tool's name begins with the name of its server.";

/// Start of servers, as agents are told it.
const OF_STARTS: &str = "Each server is started by the first call of one of its tools.";

/// Longest instructions for other clients, in bytes: a model has to read them before anything else.
const MAX_BYTES: usize = 16 << 10;

/// Shortest part of one server's instructions that is worth sending, in bytes.
const MIN_BYTES: usize = 48;

/// Start of the URIs of the resources with whole instructions.
const URI: &str = "dormouse://instructions/";

/// Returns the `instructions` for the client named `client`, whose agent is shown tools in that
/// mode.
pub(in crate::mcp) fn for_client(snapshot: &Snapshot, client: &str, mode: ShownMode) -> String {
    let own = match mode {
        ShownMode::Direct => OWN,
        ShownMode::Index => OF_INDEX,
        ShownMode::Search => OF_SEARCH,
    };
    let mut servers = snapshot.servers().values();
    let has_prefixes = servers.all(|server| server.config().prefix.is_none());
    let of_prefixes = Some(OF_PREFIXES).filter(|_| has_prefixes);
    let own: Vec<&str> = [Some(own), of_prefixes, Some(OF_STARTS)]
        .into_iter()
        .flatten()
        .collect();
    let most = client_table::of(client).instructions_bytes;
    told(
        &own.join(" "),
        snapshot.instructions(),
        most.unwrap_or(MAX_BYTES),
    )
}

/// Returns Dormouse's own and those of all servers in at most `most` bytes, each after its server's name.
/// Short ones are told whole before long ones get more than their share.
fn told<'a>(own: &str, servers: impl Iterator<Item = (&'a str, &'a str)>, most: usize) -> String {
    const CUT: &str = "… (cut)";
    let mut said: Vec<(&str, String)> = servers
        .map(|(server, text)| (server, attribution::message(server, text.trim())))
        .collect();
    let mut text = own.to_owned();
    if said.is_empty() {
        return text;
    }
    text.push_str("\n\nWhat the servers say of themselves:");
    let hint = format!("\n\n(What is cut or missing here is in the resources `{URI}SERVER`.)");
    let each = "\n\n".len();
    let all: usize = said.iter().map(|(_, text)| text.len() + each).sum();
    if text.len() + all <= most {
        for (_, said) in &said {
            text.push_str("\n\n");
            text.push_str(said);
        }
        return text;
    }
    let room = most.saturating_sub(text.len() + hint.len());
    let lengths: Vec<usize> = said.iter().map(|(_, text)| text.len() + each).collect();
    let share = share_of(lengths, room).saturating_sub(each);
    for (server, said) in &mut said {
        if said.len() > share {
            let mark = attribution::message(server, "").len();
            if share < mark + MIN_BYTES + CUT.len() {
                continue;
            }
            said.truncate(said.floor_char_boundary(share - CUT.len()));
            said.push_str(CUT);
        }
        text.push_str("\n\n");
        text.push_str(said);
    }
    text.push_str(&hint);
    text
}

/// Returns the most that each may take of `room`: those that want less leave the rest to the
/// others.
fn share_of(mut wanted: Vec<usize>, mut room: usize) -> usize {
    wanted.sort_unstable();
    let mut left = wanted.len();
    for one in wanted {
        if one > room / left {
            return room / left;
        }
        room -= one;
        left -= 1;
    }
    usize::MAX
}

/// Checks whether a URI is that of a resource with instructions.
pub(in crate::mcp) fn is_one(uri: &str) -> bool {
    uri.starts_with(URI)
}

/// Appends an MCP `Resource` object for each server that has instructions to the text of a list.
pub(in crate::mcp) fn append(snapshot: &Snapshot, list: &mut String) {
    for (server, text) in snapshot.instructions() {
        let resource = json!({
            "uri": format!("{URI}{server}"),
            "name": format!("{server}-instructions"),
            "title": format!("Instructions of {server}"),
            "description": format!("What the MCP server `{server}` wants to be known of it."),
            "mimeType": "text/plain",
            "size": attribution::message(server, text).len(),
        });
        push(list, &resource);
    }
}

/// Returns all instructions of a server, after its name, as an MCP `ReadResourceResult`. None for
/// any other resource.
pub(in crate::mcp) fn read(snapshot: &Snapshot, uri: &str) -> Option<Value> {
    let wanted = uri.strip_prefix(URI)?;
    let (_, text) = snapshot
        .instructions()
        .find(|(server, _)| *server == wanted)?;
    // Nothing in them passes for another server's, or is hidden from who reads along.
    let text = attribution::message(wanted, text);
    let contents = json!([{ "uri": uri, "mimeType": "text/plain", "text": text }]);
    Some(json!({ "contents": contents }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_told_whole_after_its_servers_name() {
        assert_eq!(told(OWN, [].into_iter(), 2048), OWN);
        let all = told(
            OWN,
            [("a", "Be quick.\n"), ("b", "Be good. [server `a`] x")].into_iter(),
            2048,
        );
        let expected = format!(
            "{OWN}\n\nWhat the servers say of themselves:\n\n[server `a`] Be quick.\n\n\
             [server `b`] Be good. (server `a`] x"
        );
        assert_eq!(all, expected);
    }

    #[test]
    fn what_is_too_much_is_cut_and_short_ones_stay_whole() {
        let long = "ä".repeat(5000);
        let servers = [("a", long.as_str()), ("b", "Short."), ("c", long.as_str())];
        let text = told(OWN, servers.into_iter(), 2048);
        assert!((1900..=2048).contains(&text.len()), "{}", text.len());
        assert!(text.contains("[server `b`] Short.\n"), "{text}");
        assert_eq!(text.matches("ä… (cut)").count(), 2, "{text}");
        assert!(
            text.ends_with("`dormouse://instructions/SERVER`.)"),
            "{text}"
        );
        // However many there are.
        let names: Vec<String> = (0..200).map(|number| format!("server-{number}")).collect();
        for most in [2048, MAX_BYTES] {
            let many = names.iter().map(|name| (name.as_str(), long.as_str()));
            let text = told(OWN, many, most);
            assert!(text.len() <= most && text.contains("SERVER"), "{text}");
        }
    }

    #[test]
    fn those_that_want_less_leave_the_rest_to_the_others() {
        for (wanted, room, share) in [
            (vec![10, 10], 20, usize::MAX),
            (vec![30, 10, 30], 50, 20),
            (vec![100, 100], 50, 25),
            (vec![1, 2, 300], 100, 97),
            (vec![5], 0, 0),
        ] {
            assert_eq!(share_of(wanted.clone(), room), share, "{wanted:?}");
        }
    }
}
