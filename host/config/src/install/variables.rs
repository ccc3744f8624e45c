//! Variables of the environment that Dormouse needs of the client that starts it.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use dormouse_launch::environment::{is_inherited, is_named};
use dormouse_launch::{Launch, Secret};
use serde_json::Value as Json;

use super::edit;
use super::entry::{self, VARIABLES};
use super::new_entry::is_own;
use super::own_entry::is_dormouse;
use crate::discovery::{Surroundings, is_variable_name, places};
use crate::variables::expand;
use crate::{Client, FillSource, ServerConfig, file};

/// Variables that Codex passes to every server, source: `codex-rs/rmcp-client/src/utils.rs`.
const OF_CODEX: &[&str] = &[
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "__CF_USER_TEXT_ENCODING",
];

/// Returns the names of variables that are named in launches or granted to plugins, and of those of
/// this environment that every server gets or that `pass_env` of one names: a client that passes only
/// the variables it is told to has to be told these.
#[must_use]
pub fn needed_variables<'l>(
    launches: impl IntoIterator<Item = &'l Launch>,
    granted: impl IntoIterator<Item = &'l String>,
    env: &HashMap<String, String>,
) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = env
        .keys()
        .filter(|name| is_inherited(name))
        .cloned()
        .collect();
    names.extend(granted.into_iter().cloned());
    for launch in launches {
        for text in texts(launch) {
            names.extend(named_in(text));
        }
        if let Launch::Stdio(stdio) = launch {
            let passed = env.keys().filter(|name| is_named(&stdio.pass_env, name));
            names.extend(passed.cloned());
        }
    }
    names.retain(|name| is_passed_if_named(name));
    names
}

/// Checks whether Codex passes a variable to a server only where the server's entry names it.
fn is_passed_if_named(name: &str) -> bool {
    is_variable_name(name) && !OF_CODEX.contains(&name)
}

/// Returns the names of the variables that are filled into a server, granted to its plugin, or put
/// into its requests.
fn named_variables(server: &ServerConfig) -> BTreeSet<String> {
    let filled_in = server.bridge().into_iter().flat_map(|of| &of.filled_in);
    let filled_in = filled_in.filter_map(|filled_in| match &filled_in.source {
        FillSource::Variable(name) => Some(name),
        _ => None,
    });
    filled_in.chain(server.given_variables()).cloned().collect()
}

/// Variables that a client does not pass to Dormouse when it starts it.
#[derive(Debug, PartialEq, Eq)]
pub struct NotPassed {
    /// The client.
    pub client: Client,
    /// The client's file with Dormouse's entry.
    pub file: PathBuf,
    /// Names of the variables.
    pub variables: Vec<String>,
}

/// Returns the variables that entries of servers name and that clients do not pass to Dormouse when
/// they start it: their entries for Dormouse are older than these servers. A file that cannot be read
/// has no such entry.
pub fn not_passed<'s>(
    servers: impl IntoIterator<Item = &'s ServerConfig>,
    around: &Surroundings,
) -> Vec<NotPassed> {
    // Others pass all that they have themselves.
    let client = Client::Codex;
    let servers = servers.into_iter();
    let started = servers.filter(|server| server.enabled && !server.from.contains(&client));
    let mut wanted: BTreeSet<_> = started.flat_map(named_variables).collect();
    wanted.retain(|name| is_passed_if_named(name));
    let places = places::files(client, around);
    let entries = places.iter().filter(is_own).filter_map(|place| {
        let text = file::read(&place.file).ok()??;
        let entry = edit::get(&text, &place.shape, entry::NAME).ok()??;
        let passed = passed_by(&entry).filter(|_| is_dormouse(&entry, around))?;
        let variables: Vec<_> = wanted.difference(&passed).cloned().collect();
        (!variables.is_empty()).then(|| NotPassed {
            client,
            file: place.file.clone(),
            variables,
        })
    });
    entries.collect()
}

/// Returns the names of variables that clients pass to Dormouse, because its entries name them: what
/// servers need of which nothing is known at the moment. A file that cannot be read has no such entry.
#[must_use]
pub fn passed_variables(around: &Surroundings) -> BTreeSet<String> {
    // Others pass all that they have themselves.
    let places = places::files(Client::Codex, around);
    let texts = places.iter().filter(is_own).filter_map(|place| {
        let text = file::read(&place.file).ok()??;
        Some((place, text))
    });
    let entries =
        texts.flat_map(|(place, text)| edit::entries(&text, &place.shape).unwrap_or_default());
    let own = entries.filter(|(_, entry)| is_dormouse(entry, around));
    own.flat_map(|(_, entry)| listed_in(&entry).map(str::to_owned).collect::<Vec<_>>())
        .collect()
}

/// Returns the names of variables that an entry of Codex's has in its list.
fn listed_in(entry: &Json) -> impl Iterator<Item = &str> {
    let listed = entry.get(VARIABLES).and_then(Json::as_array);
    let listed = listed.into_iter().flatten();
    listed.filter_map(|item| item.get("name").unwrap_or(item).as_str())
}

/// Returns the names of variables that an entry of Codex's passes to its program or sets for it;
/// none where the entry has no program.
fn passed_by(entry: &Json) -> Option<BTreeSet<String>> {
    entry.get("command")?;
    let listed = listed_in(entry);
    let set = entry.get("env").and_then(Json::as_object);
    let set = set
        .into_iter()
        .flat_map(|set| set.keys().map(String::as_str));
    Some(listed.chain(set).map(str::to_owned).collect())
}

/// Whether anything is filled into a launch.
pub(super) fn names_variables(launch: &Launch) -> bool {
    texts(launch)
        .into_iter()
        .any(|text| !named_in(text).is_empty())
}

/// Returns the names of a text's variables.
fn named_in(text: &str) -> BTreeSet<String> {
    let names = std::cell::RefCell::new(BTreeSet::new());
    let _ = expand(text, &|name| {
        names.borrow_mut().insert(name.to_owned());
        None
    });
    names.into_inner()
}

/// Returns the texts of a launch in which variables may be.
fn texts(launch: &Launch) -> Vec<&str> {
    match launch {
        Launch::Stdio(stdio) => {
            let env = stdio.env.values().map(Secret::expose);
            let all = std::iter::once(stdio.command.as_str());
            let all = all.chain(stdio.args.iter().map(String::as_str)).chain(env);
            let cwd = stdio.cwd.as_deref().and_then(std::path::Path::to_str);
            all.chain(cwd).collect()
        }
        Launch::Http(http) => {
            let headers = http.headers.values().map(Secret::expose);
            std::iter::once(http.url.as_str()).chain(headers).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dormouse_launch::{Http, Secret, Stdio};

    #[test]
    fn variables_of_servers_and_of_their_surroundings_are_needed() {
        let launches = [
            Launch::Stdio(Stdio {
                command: "${BIN:-npx}".to_owned(),
                args: vec!["--key=${KEY}".to_owned(), "$${NO}".to_owned()],
                env: [("A".to_owned(), Secret::new("${input:x}${TOKEN}"))].into(),
                pass_env: vec!["MY_*".to_owned()],
                ..Stdio::default()
            }),
            Launch::Http(Http {
                url: "https://${HOST}/mcp".to_owned(),
                ..Http::default()
            }),
        ];
        let set = [
            "HOME",
            "XDG_RUNTIME_DIR",
            "MY_X",
            "SECRET",
            "DORMOUSE_TOKEN",
        ];
        let env = set.map(|name| (name.to_owned(), String::new())).into();
        let granted = ["GRANTED", "TZ"].map(str::to_owned);
        let names = needed_variables(&launches, &granted, &env);
        let names: Vec<_> = names.into_iter().collect();
        let expected = [
            "BIN",
            "GRANTED",
            "HOST",
            "KEY",
            "MY_X",
            "TOKEN",
            "XDG_RUNTIME_DIR",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn what_codex_does_not_pass_to_dormouse_is_told() {
        let home = tempfile::tempdir().unwrap();
        let around = Surroundings {
            home: home.path().to_owned(),
            ..Surroundings::default()
        };
        let own = home.path().join("dormouse.toml");
        let text = r#"
            [servers.a]
            command = ["a", "${B}"]
            env = { X = "${C:-}", Y = "$${NO}", Z = "${TZ}" }
            [servers.plugin]
            component = "a.wasm"
            grants = { env = ["A"] }
            [servers.off]
            command = ["a", "${D}"]
            enabled = false
            [servers.its]
            command = ["a", "${D}"]
        "#;
        std::fs::write(&own, text).unwrap();
        let mut servers = crate::load(&own).unwrap().servers;
        let its = servers.get_mut("its").unwrap();
        its.from.push(Client::Codex);
        let file = home.path().join(".codex/config.toml");
        std::fs::create_dir(file.parent().unwrap()).unwrap();
        let missing = |entry: &str| {
            std::fs::write(&file, format!("[mcp_servers.dormouse]\n{entry}\n")).unwrap();
            let missing = not_passed(servers.values(), &around);
            let names = missing.into_iter().flat_map(|one| {
                assert_eq!((one.client, &one.file), (Client::Codex, &file));
                one.variables
            });
            names.collect::<Vec<_>>().join(" ")
        };
        const PROGRAM: &str = "command = \"dormouse\"\nargs = [\"serve\"]";
        assert_eq!(missing(PROGRAM), "A B C");
        let some = format!("{PROGRAM}\nenv_vars = [\"A\", {{ name = \"B\" }}]");
        assert_eq!(missing(&some), "C");
        let all = format!("{some}\nenv = {{ C = \"1\" }}");
        assert_eq!(missing(&all), "");
        for other in [
            "url = \"http://127.0.0.1:7999/mcp\"",
            "command = \"npx\"\nargs = [\"-y\", \"dormouse-mcp\"]",
            "command = [",
        ] {
            assert_eq!(missing(other), "", "{other}");
        }
    }
}
