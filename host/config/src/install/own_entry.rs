//! Recognising Dormouse's own entry in a client's file: a server that only has its name is another
//! one, which nobody but its user overwrites or removes.

use std::path::Path;

use dormouse_launch::{Http, Launch, Stdio};
use dormouse_text::visible::visible_path;
use serde_json::Value as Json;

use super::edit::{self, Uneditable};
use super::entry;
use super::start_args::StartArgs;
use crate::discovery::places::FileShape;
use crate::discovery::{Surroundings, itself};

/// Keys of a URL, in the entries of all clients.
const URLS: [&str; 4] = ["httpUrl", "serverUrl", "uri", "url"];

/// Keys of a program, in the entries of all clients.
const PROGRAMS: [&str; 2] = ["cmd", "command"];

/// Whether an entry of Dormouse's name is Dormouse, by the words that say how it is reached:
/// whatever else is in it may be wrong.
pub(super) fn is_dormouse(entry: &Json, around: &Surroundings) -> bool {
    let Some(launch) = launch(entry) else {
        return false;
    };
    itself::is(entry::NAME, &launch) || itself::is_this_program(&launch, around.value("PATH"), None)
}

/// Whether an entry is one that Dormouse has written, for the one server of that name or for all:
/// one with arguments of its user's is its user's. `options` are the arguments before `serve` that it
/// has; any where there are none, for an entry of another configuration is another's.
pub(super) fn is_written(
    entry: &Json,
    server: Option<&str>,
    options: Option<&[String]>,
    around: &Surroundings,
) -> bool {
    let Some(Launch::Stdio(stdio)) = launch(entry).filter(|_| is_dormouse(entry, around)) else {
        return false;
    };
    StartArgs::read(&stdio.args).is_some_and(|args| {
        args.server == server && options.is_none_or(|options| args.options == options)
    })
}

/// Returns the entries in a text that Dormouse has written for single servers, each with the name of
/// its server, which it has. `options` are those of [`is_written`].
pub(super) fn each_entries(
    text: &str,
    shape: &FileShape,
    options: Option<&[String]>,
    around: &Surroundings,
) -> Result<Vec<(String, Json)>, Uneditable> {
    let mut each = edit::entries(text, shape)?;
    each.retain(|(name, entry)| is_written(entry, Some(name), options, around));
    each.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(each)
}

/// Whether two entries are reached in the same way: a host at another machine's address is
/// Dormouse to whoever gives that address.
pub(super) fn is_reached_alike(one: &Json, other: &Json) -> bool {
    launch(one).is_some_and(|one| launch(other) == Some(one))
}

/// Whether an entry may be the one of a host of Dormouse's at any address.
pub(super) fn may_be_host(entry: &Json) -> bool {
    matches!(launch(entry), Some(Launch::Http(http)) if http.url.ends_with(HOST_PATH))
}

/// End of the URL of each host of Dormouse's.
const HOST_PATH: &str = "/mcp";

/// Returns the reason why Dormouse does not come into a file, where another server has its name.
pub(super) fn name_is_taken(file: &Path) -> String {
    format!(
        "a server called `{}` in {} is not Dormouse itself, and would be lost",
        entry::NAME,
        visible_path(file)
    )
}

/// Advice to somebody whose server has Dormouse's name.
pub(super) const RENAME: &str = "hint: give it another name in that file, and try again";

/// Returns how an entry is reached; none where it does not say.
fn launch(entry: &Json) -> Option<Launch> {
    let text = |key: &&str| entry.get(*key).and_then(Json::as_str);
    let Some(program) = PROGRAMS.iter().find_map(|key| entry.get(*key)) else {
        let url = URLS.iter().find_map(text)?.to_owned();
        return Some(Launch::Http(Http {
            url,
            ..Http::default()
        }));
    };
    let words = |value: &Json| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        let words = items.filter_map(Json::as_str);
        words.map(str::to_owned).collect()
    };
    let args_of = |table: &Json| table.get("args").map(words).unwrap_or_default();
    let mut line = match program {
        // Zed's older entries have a table there.
        Json::Object(_) => {
            let mut line = vec![program.get("path")?.as_str()?.to_owned()];
            line.extend(args_of(program));
            line
        }
        Json::Array(_) => words(program),
        Json::String(program) if entry.get("args").is_none() => {
            program.split_whitespace().map(str::to_owned).collect()
        }
        program => vec![program.as_str()?.to_owned()],
    };
    line.extend(args_of(entry));
    let mut line = line.into_iter();
    Some(Launch::Stdio(Stdio {
        command: line.next()?,
        args: line.collect(),
        ..Stdio::default()
    }))
}

#[cfg(test)]
mod tests {
    use dormouse_launch::Secret;
    use serde_json::json;

    use super::*;
    use crate::Client;
    use crate::discovery::places::Syntax;
    use crate::install::Program;

    #[test]
    fn only_dormouse_is_dormouse() {
        let around = Surroundings::default();
        for (entry, expected) in [
            (json!({"command": "dormouse", "args": ["serve"]}), true),
            (
                json!({"command": "/gone/dormouse", "args": ["serve"]}),
                true,
            ),
            (
                json!({"command": "dormouse", "args": ["serve"], "env": 7}),
                true,
            ),
            (json!({"command": ["dormouse", "serve"]}), true),
            (json!({"command": "dormouse serve"}), true),
            (
                json!({"command": {"path": "dormouse", "args": ["serve"]}}),
                true,
            ),
            (json!({"cmd": "npx", "args": ["dormouse", "serve"]}), true),
            (json!({"url": "http://127.0.0.1:7999/mcp"}), true),
            (json!({"command": "/opt/start-dormouse.sh"}), false),
            (
                json!({"command": "docker", "args": ["run", "-i", "dormouse", "serve"]}),
                false,
            ),
            (
                json!({"command": "npx", "args": ["-y", "dormouse-mcp", "serve"]}),
                false,
            ),
            (json!({"command": "dormouse", "args": ["list"]}), false),
            (json!({"url": "https://dormouse.example/mcp"}), false),
            (json!({"command": []}), false),
            (json!({"command": 7}), false),
            (json!({}), false),
            (Json::Null, false),
        ] {
            assert_eq!(is_dormouse(&entry, &around), expected, "{entry}");
        }
    }

    #[test]
    fn what_is_put_in_is_dormouse() {
        let around = Surroundings::default();
        let program = Program {
            command: "dormouse".to_owned(),
            options: vec!["--config".to_owned(), "x".to_owned()],
            variables: Vec::new(),
        };
        for client in Client::all() {
            let entry = entry::of(client, &program, None);
            assert!(is_dormouse(&entry, &around), "{client} {entry}");
            let is_of = |entry: &Json, server: Option<&str>| {
                let is_any = is_written(entry, server, None, &around);
                let own = Some(program.options.as_slice());
                assert_eq!(is_written(entry, server, own, &around), is_any, "{entry}");
                // Whoever has another configuration has other entries.
                for others in [&[][..], &["--config".to_owned(), "y".to_owned()]] {
                    assert!(!is_written(entry, server, Some(others), &around), "{entry}");
                }
                is_any
            };
            let one = entry::of(client, &program, Some("time"));
            for (entry, server) in [(&entry, None), (&one, Some("time"))] {
                for wanted in [None, Some("time"), Some("other")] {
                    assert_eq!(is_of(entry, wanted), wanted == server, "{client} {entry}");
                }
            }
            let over = |url: &str| entry::over_http(client, url, &Secret::new("t"));
            if let Some(here) = over("http://127.0.0.1:1/mcp") {
                assert!(is_dormouse(&here, &around), "{client} {here}");
            }
            if let (Some(one), Some(other)) = (over("http://a:1/mcp"), over("http://b:1/mcp")) {
                assert!(is_reached_alike(&one, &one), "{client} {one}");
                assert!(!is_reached_alike(&one, &other), "{client} {one}");
            }
        }
    }

    #[test]
    fn entries_for_single_servers_are_found_in_linear_time() {
        let shape = FileShape {
            syntax: Syntax::Json,
            keys: vec!["mcpServers".to_owned()],
            list: false,
        };
        let around = Surroundings::default();
        let text = |size: usize| {
            let entry = |number: usize| {
                let args = [
                    "serve",
                    "--client",
                    "cursor",
                    "--server",
                    "-",
                    "--own-names",
                ];
                let args = json!(args)
                    .to_string()
                    .replace("\"-\"", &format!("\"s{number}\""));
                format!(r#""s{number}": {{"command": "dormouse", "args": {args}}}"#)
            };
            let entries: Vec<String> = (0..size).map(entry).collect();
            format!(r#"{{"mcpServers": {{{}}}}}"#, entries.join(","))
        };
        dormouse_tests::growth::is_linear("entries", 100, text, |text| {
            let each = each_entries(text, &shape, None, &around).unwrap();
            assert_eq!(each.len(), text.matches("--server").count());
        });
    }
}
