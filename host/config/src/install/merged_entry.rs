//! Merging an entry of Dormouse's into the one that a client's file has: what of it is its user's.

use std::time::Duration;

use serde_json::{Map, Value as Json};

use super::entry::{TOOLS, VARIABLES};
use crate::Client;
use crate::discovery::call_timeout_entry;

/// Keys of an entry that say how a server is reached.
const REACHED_BY: [&str; 16] = [
    "args",
    "cmd",
    "command",
    "cwd",
    "env",
    VARIABLES,
    "environment",
    "envs",
    "headers",
    "httpUrl",
    "http_headers",
    "requestOptions",
    "serverUrl",
    "type",
    "uri",
    "url",
];

/// Keys of an entry that Dormouse itself writes, or without which nothing of its user's is lost;
/// [`is_timeout`] has the others.
const WRITTEN: [&str; 17] = [
    "args",
    "cmd",
    "command",
    "description",
    "disabled",
    "enabled",
    VARIABLES,
    "headers",
    "httpUrl",
    "http_headers",
    "name",
    "requestOptions",
    "serverUrl",
    TOOLS,
    "type",
    "uri",
    "url",
];

/// Key of variables that are set for a program.
const ENV: &str = "env";

/// Keys that belong to a program, whatever else is in its entry.
const PROGRAM: [&str; 2] = ["cmd", "command"];

/// Keys that switch an entry off, each with the value that does.
const SWITCHES: [(&str, bool); 2] = [("disabled", true), ("enabled", false)];

/// Whether a key says for how long a client waits.
fn is_timeout(key: &str) -> bool {
    let mut all = Client::all().filter_map(|client| call_timeout_entry(client, Duration::ZERO));
    all.any(|(own, _)| own == key)
}

/// Returns the members of an entry of Dormouse's that only its user can have written.
pub(super) fn added(entry: &Json) -> impl Iterator<Item = (&String, &Json)> {
    let members = entry.as_object().into_iter().flatten();
    members.filter(|(key, _)| !WRITTEN.contains(&key.as_str()) && !is_timeout(key))
}

/// Whether an entry says itself that nothing of it is loaded.
pub(super) fn is_off(entry: &Json) -> bool {
    let tools = entry.get(TOOLS).and_then(Json::as_array);
    let mut switches = SWITCHES.iter();
    tools.is_some_and(Vec::is_empty)
        || switches.any(|(key, off)| entry.get(*key) == Some(&Json::Bool(*off)))
}

/// Merges a new entry into one that is there already: what the user has added to it (a timeout,
/// tools that need no confirmation) stays. A switch with which nothing of it would be loaded stays
/// where `keeps_switches` says so: what is for all servers is to be loaded, but a client's switch for
/// a single server is its user's.
pub(super) fn over(old: Option<&Json>, new: Json, keeps_switches: bool) -> Json {
    let (Some(Json::Object(old)), Json::Object(new)) = (old, &new) else {
        return new;
    };
    let is_program = |entry: &Map<String, Json>| PROGRAM.iter().any(|key| entry.contains_key(*key));
    let mut merged: Map<String, Json> = old.clone();
    // Of a program's variables a URL has no use, and the other way around.
    if is_program(old) != is_program(new) {
        merged.retain(|key, _| !REACHED_BY.contains(&key.as_str()));
    }
    // Zed's older entries have the program's variables in the table of the program.
    let nested = PROGRAM.iter().find_map(|key| old.get(*key)?.get(ENV));
    if let Some(variables) = nested.filter(|_| is_program(new) && !merged.contains_key(ENV)) {
        merged.insert(ENV.to_owned(), variables.clone());
    }
    let was_off = |(key, off): &(&str, bool)| old.get(*key) == Some(&Json::Bool(*off));
    for (key, _) in SWITCHES.into_iter().filter(was_off) {
        merged.shift_remove(key);
    }
    merged.extend(new.clone());
    for (key, off) in SWITCHES.into_iter().filter(was_off) {
        if keeps_switches {
            merged.insert(key.to_owned(), off.into());
        }
    }
    // All tools are a beginning, of which its user may have chosen some.
    let tools = old.get(TOOLS);
    let is_none = |tools: &Json| tools.as_array().is_some_and(Vec::is_empty);
    if let Some(tools) = tools.filter(|tools| keeps_switches || !is_none(tools)) {
        merged.insert(TOOLS.to_owned(), tools.clone());
    }
    // Variables that its user has it pass, it goes on passing.
    let passed = |entry: &Map<String, Json>| entry.get(VARIABLES).and_then(Json::as_array).cloned();
    if let (Some(mut all), Some(own)) = (passed(new), passed(old)) {
        let more = own.into_iter().filter(|name| !all.contains(name));
        let more: Vec<_> = more.collect();
        all.extend(more);
        merged.insert(VARIABLES.to_owned(), all.into());
    }
    Json::Object(merged)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::install::Program;
    use crate::install::entry::of;

    #[test]
    fn an_entry_that_is_put_in_is_loaded_and_keeps_what_its_user_has_added() {
        let program = Program {
            command: "dormouse".to_owned(),
            options: Vec::new(),
            variables: Vec::new(),
        };
        for (client, old, loaded) in [
            (Client::Cursor, json!({ "disabled": true }), None),
            (Client::Codex, json!({ "enabled": false }), None),
            (
                Client::OpenCode,
                json!({ "enabled": false }),
                Some(("enabled", json!(true))),
            ),
            (
                Client::Cursor,
                json!({ "disabled": false }),
                Some(("disabled", json!(false))),
            ),
            (
                Client::Copilot,
                json!({ "tools": ["gh__read"] }),
                Some(("tools", json!(["gh__read"]))),
            ),
            (
                Client::Copilot,
                json!({ "tools": [] }),
                Some(("tools", json!(["*"]))),
            ),
        ] {
            let merged = over(Some(&old), of(client, &program, None), false);
            for key in ["disabled", "enabled", "tools"] {
                let expected = loaded.as_ref().filter(|(name, _)| *name == key);
                let expected = expected.map(|(_, value)| value);
                assert_eq!(merged.get(key), expected, "{client} {old}");
            }
        }
    }

    #[test]
    fn an_entry_of_one_server_keeps_its_switch_and_what_its_user_has_added() {
        let program = Program {
            command: "dormouse".to_owned(),
            options: Vec::new(),
            variables: Vec::new(),
        };
        for client in Client::all() {
            let new = of(client, &program, Some("time"));
            assert!(!is_off(&new), "{client}");
            assert_eq!(added(&new).count(), 0, "{client}");
            for (key, off) in [
                ("disabled", json!(true)),
                ("enabled", json!(false)),
                ("tools", json!([])),
            ] {
                let mut old = new.clone();
                old[key] = off.clone();
                old["env"] = json!({ "TOKEN": "mine" });
                old["autoApprove"] = json!(["x"]);
                let kept = over(Some(&old), new.clone(), true);
                assert_eq!(kept, old, "{client} {key}");
                assert!(is_off(&kept), "{client} {key}");
                let names: Vec<_> = added(&kept).map(|(name, _)| name.as_str()).collect();
                assert_eq!(names, ["env", "autoApprove"], "{client} {key}");
                if new.get(key).is_some() || key != "tools" {
                    let loaded = over(Some(&old), new.clone(), false);
                    assert!(!is_off(&loaded), "{client} {key}");
                }
            }
        }
        let old =
            json!({ "command": { "path": "dormouse", "args": ["serve"], "env": { "A": "b" } } });
        let merged = over(Some(&old), of(Client::Zed, &program, None), false);
        assert_eq!(merged.get("env"), Some(&json!({ "A": "b" })));
    }
}
