//! `dormouse grants`

use std::process::ExitCode;

use clap::Args;
use dormouse_config::ServerConfig;
use dormouse_policy::{FsMode, HttpGrant};
use dormouse_text::visible::{visible_line, visible_path};
use serde_json::{Value, json};

use super::grant::{check_changeable, check_plugin, server_named};
use super::grant_requests::{self, MissingGrant};
use super::output::FAINT;
use super::plugin_inputs::secret_in_words;
use super::{Format, grant_args, output};
use crate::roster::{HeldByPlugin, Places, Roster, shown_value};

/// Shows what a plugin is granted, and what it asks for and does not have.
#[derive(Debug, Args)]
#[command(
    after_help = "Each grant is shown with the option by which `dormouse revoke SERVER` takes it away, \
    and each request with the command that grants it."
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
        if self.format.json {
            let beyond = grant_requests::beyond(&server.grants, wanted.unwrap_or_default());
            output::print_json(&as_json(server, &missing, is_changeable, &beyond))?;
            return Ok(ExitCode::SUCCESS);
        }
        grant_requests::warn_of_beyond(&server.grants, wanted.unwrap_or_default());
        output::print(&text(server, &missing, is_changeable))?;
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

fn text(server: &ServerConfig, missing: &[MissingGrant], is_changeable: bool) -> String {
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
        let value = shown_value(value);
        let set = visible_line(&format!("{name} = {value}")).into_owned();
        let name = option(format!("--setting {name}"));
        text.push_str(&format!("  {set}  {name}\n"));
    }
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
) -> Value {
    let grants = &server.grants;
    let text_of = |grant: &HttpGrant| grant.to_string();
    let folders = grants.fs.iter().map(|grant| {
        let mode = match grant.mode {
            FsMode::ReadOnly => "ro",
            FsMode::ReadWrite => "rw",
        };
        json!({ "path": grant.path, "real": grant.real_path(), "mode": mode })
    });
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
    json!({
        "server": server.name,
        "fs": folders.collect::<Vec<_>>(),
        "env": grants.env,
        "http": grants.http.iter().map(text_of).collect::<Vec<_>>(),
        "settings": server.settings,
        "secrets": secrets.collect::<Vec<_>>(),
        "missing": missing.collect::<Vec<_>>(),
        "beyond": beyond.iter().map(|grant| text_of(grant)).collect::<Vec<_>>(),
    })
}
