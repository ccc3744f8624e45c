//! `dormouse adapt`

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use dormouse_catalog::{Listing, Provenance};
use dormouse_config::variables::expand;
use dormouse_config::{Bridge, units};
use dormouse_files::replace::Access;
use dormouse_launch::redaction::{SecretPart, secrets_in_arguments, secrets_in_line};
use dormouse_launch::{Launch, is_header_byte};
use dormouse_runtime::ComponentLocation;
use dormouse_text::visible::{visible_line, visible_path};
use dormouse_wit::GrantRequest;

use super::{component, output, sync, tools};
use crate::roster::{Places, Roster};
use crate::store::Store;

/// Writes a server that has an upstream as one component, with what it offers inside.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse adapt git -o git.wasm          the MCP server as a file\n  \
    dormouse inspect git.wasm               its tools, without starting anything\n  \
    dormouse add git2 git.wasm --grant-upstream\n\n\
    The command or URL of the upstream is in the file as what it asks to be granted: whoever adds \
    the file decides. Values of variables and headers are not in it, only their names. A server \
    that has secrets written out in its command line or its URL is refused: there they are \
    variables, `${NAME}`.")]
pub(super) struct AdaptArgs {
    /// The server's name.
    server: String,
    /// Where to write the component.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
}

impl AdaptArgs {
    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        let server = &self.server;
        let bridge = bridge(places, server)?;
        refuse_secrets(server, &bridge.written)?;
        component::check_replaceable(&self.output)?;
        let store = Store::of(&places.data);
        if store.read(&bridge.fingerprint)?.is_none() {
            for (_, outcome, _) in sync::sync(places, std::slice::from_ref(server))?.0 {
                outcome.map_err(|why| anyhow::anyhow!("server `{server}`: {why}"))?;
            }
        }
        let record = store.read(&bridge.fingerprint)?;
        let record = record.with_context(|| format!("nothing is known of server `{server}`"))?;
        // As agents see it: whoever gets the file need not hear of what is mended already.
        let listing = Listing::new(record.declaration(), Provenance::Section)?;
        for odd in listing.odd.iter().filter(|odd| !odd.shown) {
            output::warn(&odd.to_string());
        }
        let mut declaration = listing.declaration()?;
        let filter = bridge.filter.of_tools();
        declaration.tools.retain(|tool| filter.shows(&tool.name));
        declaration.grants = vec![request(&bridge.written)];
        // The code exports it, and a declaration says all that is exported. An upstream
        // without it answers that it has none.
        declaration.completion = true;
        let code = ComponentLocation::Bridge.bytes(u64::MAX)?;
        let count = declaration.tools.len() as u64;
        let adapted = dormouse_catalog::pack(&code, Some(declaration))?;
        component::write(&self.output, &adapted, Access::Kept)?;
        output::say(&format!(
            "adapted {}: {}, {}",
            visible_path(&self.output),
            output::counted(count, "tool"),
            units::human_size(adapted.len() as u64)
        ));
        let names: Vec<_> = match &bridge.written {
            Launch::Stdio(stdio) => stdio.env.keys().collect(),
            Launch::Http(http) => http.headers.keys().collect(),
        };
        if !names.is_empty() {
            let names = names.iter().map(|name| format!("`{}`", visible_line(name)));
            let names = names.collect::<Vec<_>>().join(", ");
            output::say(&format!(
                "the values of {names} are not in it: whoever adds the file gives them"
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the upstream of a server.
fn bridge(places: &Places, server: &str) -> anyhow::Result<Bridge> {
    let roster = Roster::open(places.clone())?;
    let snapshot = roster.snapshot();
    let found = tools::exists(&snapshot, server)?;
    let config = found.config();
    match config.bridge() {
        Some(_) => {
            let bridge = found.reachable();
            let bridge = bridge.map_err(|why| anyhow::anyhow!("server `{server}`: {why}"))?;
            Ok(bridge.clone())
        }
        None => bail!(
            "server `{server}` is a plugin already{}",
            config
                .component()
                .map(|file| format!(": `{}`", visible_path(file)))
                .unwrap_or_default()
        ),
    }
}

/// Refuses a server whose command line or URL has secrets in it: a component is made to be
/// passed on.
///
/// # Errors
/// There are secrets; with their places.
fn refuse_secrets(server: &str, launch: &Launch) -> anyhow::Result<()> {
    let places = places_of_secrets(launch);
    if places.is_empty() {
        return Ok(());
    }
    bail!(
        "server `{server}` has what looks like a secret in {}, which would be in the component \
         for everybody who gets it\n\
         hint: write it as `${{NAME}}` in the configuration, and set the environment variable \
         `NAME` where the host starts; then adapt the server again",
        places.join(", ")
    )
}

/// Returns the places at which a command line or a URL has secrets written out, in words without
/// the secrets.
fn places_of_secrets(launch: &Launch) -> Vec<String> {
    // A variable tells nothing, but what stands in for a missing one does.
    let defaults = |text: &str| expand(text, &|_| Some(String::new())).text;
    let has_any = |text: &str, parts: Vec<SecretPart>| {
        let mut parts = parts.into_iter().filter_map(|part| text.get(part.range));
        // Between variables there may be a `:` or a `&`.
        parts.any(|part| part.contains(char::is_alphanumeric))
    };
    let has_secret = |program: &str, texts: &[String]| {
        let texts: Vec<String> = texts.iter().map(|text| defaults(text)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found = secrets_in_arguments(program, &texts);
        let found = texts.iter().zip(found);
        found
            .map(|(text, parts)| has_any(text, parts))
            .collect::<Vec<_>>()
    };
    let mut places = Vec::new();
    match launch {
        Launch::Stdio(stdio) => {
            // Some write the whole line there.
            let line = defaults(&stdio.command);
            if has_any(&line, secrets_in_line(&line)) {
                places.push("its `command`".to_owned());
            }
            let args = has_secret(&stdio.command, &stdio.args).into_iter();
            let args = args.enumerate().filter(|(_, is_secret)| *is_secret);
            places.extend(args.map(|(index, _)| format!("its argument {}", index + 1)));
            // `NAME=VALUE` is no name, and has a value.
            if stdio.env.keys().any(|name| name.contains('=')) {
                places.push("the name of a variable".to_owned());
            }
        }
        Launch::Http(http) => {
            if has_secret("", std::slice::from_ref(&http.url)).contains(&true) {
                places.push("its `url`".to_owned());
            }
            let is_odd = |name: &String| !name.bytes().all(is_header_byte);
            if http.headers.keys().any(is_odd) {
                places.push("the name of a header".to_owned());
            }
        }
    }
    places
}

/// Returns the grant that the component asks for.
fn request(launch: &Launch) -> GrantRequest {
    let names = |values: &std::collections::BTreeMap<String, _>| values.keys().cloned().collect();
    match launch {
        Launch::Stdio(stdio) => GrantRequest::Upstream {
            command: std::iter::once(&stdio.command)
                .chain(&stdio.args)
                .cloned()
                .collect(),
            url: None,
            secrets: names(&stdio.env),
        },
        Launch::Http(http) => GrantRequest::Upstream {
            command: Vec::new(),
            url: Some(http.url.clone()),
            secrets: names(&http.headers),
        },
    }
}

#[cfg(test)]
mod tests {
    use dormouse_launch::{Http, Secret, Stdio};

    use super::*;

    fn places(command: &str, args: &[&str]) -> String {
        let launch = Launch::Stdio(Stdio {
            command: command.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            ..Stdio::default()
        });
        places_of_secrets(&launch).join(", ")
    }

    #[test]
    fn secrets_of_a_command_line_are_found_and_variables_are_none() {
        for (args, found) in [
            (&["--api-key", "abc"][..], "its argument 2"),
            (&["x", "--env=GITHUB_TOKEN=abc"], "its argument 2"),
            (&["https://u:abc@e.com/?k=abc"], "its argument 1"),
            (&["--token", "${TOKEN:-abc}"], "its argument 2"),
            (&["--token", "${TOKEN}"], ""),
            (&["--token", "${TOKEN:-}"], ""),
            (&["--header", "Authorization: Bearer ${TOKEN}"], ""),
            (&["https://${U}:${P}@e.com/${T}?k=${K}&l=${L}"], ""),
            (&["-y", "@scope/server@1.2.3", "/home/me"], ""),
        ] {
            assert_eq!(places("npx", args), found, "{args:?}");
        }
        assert_eq!(places("npx x --api-key abc", &[]), "its `command`");
        assert_eq!(places("npx x --api-key ${KEY}", &[]), "");
        let launch = Launch::Stdio(Stdio {
            env: [("TOKEN=abc".to_owned(), Secret::default())].into(),
            ..Stdio::default()
        });
        assert_eq!(places_of_secrets(&launch), ["the name of a variable"]);
    }

    #[test]
    fn secrets_of_a_url_are_found() {
        for (url, header, found) in [
            ("https://e.com/mcp", "X-Key", ""),
            ("https://u:abc@e.com/mcp", "X-Key", "its `url`"),
            ("https://e.com/mcp?k=abc", "X-Key", "its `url`"),
            ("https://e.com/mcp;sid=abc", "X-Key", "its `url`"),
            ("https://e.com/aB3dE5gH7jK9mN1pQ3sT", "X-Key", "its `url`"),
            ("https://e.com/mcp?k=${K}", "X-Key", ""),
            (
                "https://e.com/mcp",
                "Authorization: Bearer abc",
                "the name of a header",
            ),
        ] {
            let launch = Launch::Http(Http {
                url: url.to_owned(),
                headers: [(header.to_owned(), Secret::default())].into(),
                ..Http::default()
            });
            assert_eq!(places_of_secrets(&launch).join(", "), found, "{url}");
        }
    }
}
