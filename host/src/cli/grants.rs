//! `dormouse grants`

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use dormouse_config::ServerConfig;
use dormouse_jsonrpc::METHOD_NOT_FOUND;
use dormouse_launch::redaction::redacted_setting;
use dormouse_policy::{FsGrant, FsMode, Grants, HttpGrant};
use dormouse_text::visible::{visible_line, visible_path};
use serde_json::{Value, json};

use super::grant::{check_changeable, check_plugin, server_named};
use super::grant_requests::{self, MissingGrant};
use super::output::FAINT;
use super::plugin_inputs::secret_in_words;
use super::{Format, grant_args, hosts, output};
use crate::control::{self, RequestError};
use crate::roster::{HeldByPlugin, Places, RevokedAnswers, Roster, given_value};

/// Time that a running host may take to say what a plugin was given there: nothing is changed, and what
/// the configuration grants is shown without it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// Shows what a plugin is granted, and what it asks for and does not have.
#[derive(Debug, Args)]
#[command(
    after_help = "Each grant is shown with the option by which `dormouse revoke SERVER` takes it away, \
    and each request with the command that grants it. What it was given in running hosts holds until \
    their sessions end."
)]
pub(super) struct GrantsArgs {
    /// The server's name.
    server: String,
    #[command(flatten)]
    format: Format,
}

impl GrantsArgs {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let roster = Roster::open(places.clone())?;
        let configured = roster.configured()?;
        let name = &self.server;
        let server = server_named(&configured, name)?;
        check_plugin(server)?;
        let snapshot = roster.snapshot();
        let found = snapshot.servers().get(name);
        let listing = found.and_then(|found| found.listing());
        let wanted = listing.map(|listing| listing.grants.as_slice());
        let held = HeldByPlugin::of(server);
        let missing = grant_requests::missing(wanted.unwrap_or_default(), held);
        // What a project's plugin is granted, its file says.
        let is_changeable = check_changeable(&places, server).is_ok();
        let given = given_in_hosts(&places.config, name)?;
        if self.format.json {
            let beyond = grant_requests::beyond(&server.grants, wanted.unwrap_or_default());
            output::print_json(&as_json(server, &missing, is_changeable, &beyond, &given))?;
            return Ok(ExitCode::SUCCESS);
        }
        grant_requests::warn_of_beyond(&server.grants, wanted.unwrap_or_default());
        output::print(&text(server, &missing, is_changeable, &given))?;
        if wanted.is_none() {
            let why = found.and_then(|found| found.problem());
            let why = why.unwrap_or("its file is not read while it is disabled");
            output::warn(&format!("what it asks for is not known: {why}"));
        }
        if !is_changeable {
            output::say(&format!(
                "hint: it is granted what the project's file says, `{}`",
                visible_path(&server.origin.file)
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns what a server's plugin was given for the session in running hosts. A host that does not say
/// it is printed; one that is older than the question has no way to say it.
///
/// # Errors
/// The hosts cannot be asked.
fn given_in_hosts(config: &Path, server: &str) -> anyhow::Result<RevokedAnswers> {
    let mut given = RevokedAnswers::default();
    let params = json!({ "server": server, "config": config });
    let asked = control::ask_all_within(ANSWER_TIMEOUT, "session_answers", params);
    for answer in hosts::block_on(asked)? {
        match answer.outcome {
            Ok(result) => {
                let answers = result.get("answers").cloned();
                if let Ok(had) = serde_json::from_value(answers.unwrap_or_default()) {
                    given.extend(had);
                }
            }
            Err(RequestError::Refused(error)) if error.code == METHOD_NOT_FOUND => {}
            Err(error) => {
                output::warn(&format!(
                    "the running host {}: {error}; what the plugin of `{server}` was given there is not \
                     known\nhint: `dormouse status` shows the running hosts",
                    answer.pid
                ));
            }
        }
    }
    Ok(given)
}

/// Returns the grants that were given for the session, each once.
fn session_grants(given: &RevokedAnswers) -> Grants {
    let mut grants = Grants::default();
    for folder in &given.folders {
        let folder = FsGrant {
            path: folder.path.clone(),
            real: None,
            mode: match folder.is_writable {
                Some(true) => FsMode::ReadWrite,
                _ => FsMode::ReadOnly,
            },
        };
        if !grants.fs.contains(&folder) {
            grants.fs.push(folder);
        }
    }
    for name in &given.variables {
        if !grants.env.contains(name) {
            grants.env.push(name.clone());
        }
    }
    for request in given.requests.iter().filter_map(|text| text.parse().ok()) {
        if !grants.http.contains(&request) {
            grants.http.push(request);
        }
    }
    grants
}

fn session_text(given: &RevokedAnswers) -> String {
    let grants = session_grants(given);
    let (words, options) = (
        grant_args::words(&grants, &[]),
        grant_args::options(&grants),
    );
    let settings: BTreeSet<&String> = given.settings.iter().collect();
    let settings = settings.into_iter().map(|name| {
        (
            format!("use the setting {name}"),
            format!("--setting {name}"),
        )
    });
    let lines: Vec<_> = words.into_iter().zip(options).chain(settings).collect();
    if lines.is_empty() {
        return String::new();
    }
    let mut text = "In running hosts, until the session ends, it may\n".to_owned();
    for (words, option) in lines {
        let option = output::styled(FAINT, format!("({})", visible_line(&option)));
        text.push_str(&format!("  {}  {option}\n", visible_line(&words)));
    }
    text
}

fn text(
    server: &ServerConfig,
    missing: &[MissingGrant],
    is_changeable: bool,
    given: &RevokedAnswers,
) -> String {
    let name = &server.name;
    let words = grant_args::words(&server.grants, &server.secrets);
    let options = grant_args::options(&server.grants);
    let mut text = match words.is_empty() {
        true => format!("`{name}` is granted nothing\n"),
        false => format!("`{name}` may\n"),
    };
    for (words, option) in words.iter().zip(&options) {
        let option = output::styled(FAINT, format!("({})", visible_line(option)));
        text.push_str(&format!("  {}  {option}\n", visible_line(words)));
    }
    let option = |text: String| output::styled(FAINT, format!("({})", visible_line(&text)));
    if !server.secrets.is_empty() {
        text.push_str("Its requests\n");
    }
    for secret in &server.secrets {
        let words = secret_in_words(secret);
        let name = option(format!("--secret {}", secret.name));
        text.push_str(&format!("  {}  {name}\n", visible_line(&words)));
    }
    if !server.settings.is_empty() {
        text.push_str("Its settings\n");
    }
    for (name, value) in &server.settings {
        let value = given_value(name, value);
        let set = visible_line(&format!("{name} = {value}")).into_owned();
        let name = option(format!("--setting {name}"));
        text.push_str(&format!("  {set}  {name}\n"));
    }
    text.push_str(&session_text(given));
    if !missing.is_empty() {
        text.push_str("It asks besides\n");
    }
    for one in missing {
        text.push_str(&format!("  {}\n", one.told()));
        let command = one.command(name).filter(|_| is_changeable);
        if let Some(command) = command {
            text.push_str(&format!(
                "    {}\n",
                output::styled(FAINT, visible_line(&command))
            ));
        }
    }
    text
}

fn as_json(
    server: &ServerConfig,
    missing: &[MissingGrant],
    is_changeable: bool,
    beyond: &[&HttpGrant],
    given: &RevokedAnswers,
) -> Value {
    let grants = &server.grants;
    let text_of = |grant: &HttpGrant| grant.to_string();
    let folder = |grant: &FsGrant| {
        let mode = match grant.mode {
            FsMode::ReadOnly => "ro",
            FsMode::ReadWrite => "rw",
        };
        json!({ "path": grant.path, "real": grant.real_path(), "mode": mode })
    };
    let of_session = session_grants(given);
    let missing = missing.iter().map(|one| {
        let command = one.command(&server.name).filter(|_| is_changeable);
        json!({ "what": one.what, "why": one.why, "needed": one.is_needed, "command": command })
    });
    // Where it comes from, and never what it is.
    let secrets = server.secrets.iter().map(|secret| {
        let hosts = secret.hosts.iter().map(ToString::to_string);
        json!({
            "name": secret.name,
            "source": secret.source.to_string(),
            "hosts": hosts.collect::<Vec<_>>(),
        })
    });
    let settings = server.settings.iter();
    let settings = settings.map(|(name, value)| (name.clone(), redacted_setting(name, value)));
    json!({
        "server": server.name,
        "fs": grants.fs.iter().map(folder).collect::<Vec<_>>(),
        "env": grants.env,
        "http": grants.http.iter().map(text_of).collect::<Vec<_>>(),
        "settings": settings.collect::<Value>(),
        "secrets": secrets.collect::<Vec<_>>(),
        "session": {
            "fs": of_session.fs.iter().map(folder).collect::<Vec<_>>(),
            "env": of_session.env,
            "http": of_session.http.iter().map(text_of).collect::<Vec<_>>(),
            "settings": given.settings.iter().collect::<BTreeSet<_>>(),
        },
        "missing": missing.collect::<Vec<_>>(),
        "beyond": beyond.iter().map(|grant| text_of(grant)).collect::<Vec<_>>(),
    })
}
