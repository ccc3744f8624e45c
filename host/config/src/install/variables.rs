//! Variables of the environment that Dormouse needs of the client that starts it.

use std::collections::{BTreeSet, HashMap};

use dormouse_launch::environment::{is_inherited, is_named};
use dormouse_launch::{Launch, Secret};

use crate::discovery::is_variable_name;
use crate::variables::expand;

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

/// Returns the names of variables that are named in launches, and of those of this environment that
/// every server gets or that `pass_env` of one names: a client that passes only the variables it is
/// told to has to be told these.
#[must_use]
pub fn needed_variables<'l>(
    launches: impl IntoIterator<Item = &'l Launch>,
    env: &HashMap<String, String>,
) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = env
        .keys()
        .filter(|name| is_inherited(name))
        .cloned()
        .collect();
    for launch in launches {
        for text in texts(launch) {
            names.extend(named_in(text));
        }
        if let Launch::Stdio(stdio) = launch {
            let passed = env.keys().filter(|name| is_named(&stdio.pass_env, name));
            names.extend(passed.cloned());
        }
    }
    names.retain(|name| is_variable_name(name) && !OF_CODEX.contains(&name.as_str()));
    names
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
        let names: Vec<_> = needed_variables(&launches, &env).into_iter().collect();
        let expected = ["BIN", "HOST", "KEY", "MY_X", "TOKEN", "XDG_RUNTIME_DIR"];
        assert_eq!(names, expected);
    }
}
