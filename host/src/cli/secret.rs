//! `dormouse secret`

use std::io::{IsTerminal as _, Read as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use dormouse_launch::Secret;
use dormouse_policy::{HttpSecret, SecretSource};
use dormouse_secrets::{MAX_SECRET_BYTES, SecretPlace, SecretStore};
use serde_json::json;

use super::output::AlignedTable;
use super::{Format, output, stdin};

/// Keeps secrets for HTTP requests of plugins.
#[derive(Debug, Args)]
#[command(
    after_help = "They lie in your system's keyring, or in encrypted files where none runs (or \
    DORMOUSE_KEYRING is `off`). A plugin's request gets one by `keyring = \"NAME\"` in \
    `[servers.SERVER.secrets]` of your dormouse.toml; running hosts use a new text from the next \
    request on. Nothing prints a secret."
)]
pub(super) struct SecretArgs {
    #[command(subcommand)]
    command: SecretCommand,
}

#[derive(Debug, Subcommand)]
enum SecretCommand {
    /// Keeps a secret, in place of one of the same name: asks for it, or reads it from stdin.
    Set {
        /// Its name: letters (a-z, A-Z), digits, `-` and `_`.
        #[arg(value_parser = name)]
        name: String,
    },
    /// Lists the names of your secrets, and where each lies.
    List {
        #[command(flatten)]
        format: Format,
    },
    /// Forgets a secret.
    Remove {
        /// Its name.
        #[arg(value_parser = name)]
        name: String,
    },
}

fn name(text: &str) -> Result<String, String> {
    match Secret::is_name(text) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "use letters (a-z, A-Z), digits, `-` and `_`, at most {}",
            Secret::MAX_NAME
        )),
    }
}

impl SecretArgs {
    /// Runs the command on the secrets in that data folder, which the servers of that configuration use.
    pub(super) fn run(self, data: &Path, config: Option<&Path>) -> anyhow::Result<ExitCode> {
        let store = SecretStore::open(data);
        match self.command {
            SecretCommand::Set { name } => {
                let place = store.set(&name, &text(&name)?)?;
                output::say(&format!(
                    "the secret `{name}` is kept in {}",
                    place_in_words(place)
                ));
            }
            SecretCommand::List { format } => list(&store, format)?,
            SecretCommand::Remove { name } => {
                if !store.remove(&name)? {
                    bail!(
                        "you have no secret `{name}`\nhint: `dormouse secret list` shows those that you have"
                    );
                }
                output::say(&format!("the secret `{name}` is forgotten"));
                for (server, secret) in config.map(|file| users_of(&name, file)).unwrap_or_default()
                {
                    output::warn(&format!(
                        "server `{server}` has no value for its secret `{secret}` any more\n\
                         hint: `dormouse secret set {name}` keeps another one"
                    ));
                }
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the servers of a configuration that take the text of a secret from the store, each with its
/// own name for it.
fn users_of(name: &str, config: &Path) -> Vec<(String, String)> {
    // Whoever forgets a secret need not mend their configuration before.
    let config = dormouse_config::load(config).unwrap_or_default();
    let is_used = |secret: &&HttpSecret| matches!(secret.looked_up(), Some(SecretSource::Keyring(stored)) if stored == name);
    let servers = config.servers.iter();
    let users = servers.flat_map(|(server, config)| {
        let secrets = config.secrets.iter().filter(is_used);
        secrets.map(|secret| (server.clone(), secret.name.clone()))
    });
    users.collect()
}

fn list(store: &SecretStore, format: Format) -> anyhow::Result<()> {
    let all = store.list()?;
    if format.json {
        let all = all.iter().map(|secret| {
            let place = match secret.place {
                SecretPlace::Keyring => "keyring",
                SecretPlace::File => "file",
            };
            json!({ "name": secret.name, "place": place })
        });
        return output::print_json(&all.collect::<Vec<_>>());
    }
    if all.is_empty() {
        output::say("you have no secrets\nhint: `dormouse secret set NAME` asks you for one");
        return Ok(());
    }
    let mut table = AlignedTable::new(&["NAME", "PLACE"]);
    for secret in all {
        let place = place_in_words(secret.place).to_owned();
        table.row([(output::PLAIN, secret.name), (output::PLAIN, place)]);
    }
    output::print(&table.render())
}

/// Returns where a secret is kept.
pub(super) fn place_in_words(place: SecretPlace) -> &'static str {
    match place {
        SecretPlace::Keyring => "your system's keyring",
        SecretPlace::File => "an encrypted file",
    }
}

/// Asks for the text on a terminal, without showing it, or reads it from stdin to its end. One line
/// end at its end is no part of it.
fn text(name: &str) -> anyhow::Result<Secret> {
    let text = if std::io::stdin().is_terminal() {
        stdin::forget_typed_ahead();
        rpassword::prompt_password(format!("text of the secret `{name}` (it is not shown): "))
            .context("nothing can be read from the terminal")?
    } else {
        let mut bytes = Vec::new();
        // One more, and a line end, so that one that is too long is noticed.
        let mut limited = std::io::stdin().lock().take(MAX_SECRET_BYTES as u64 + 3);
        let read = limited.read_to_end(&mut bytes);
        read.context("nothing can be read from stdin")?;
        // What is wrong with it may quote it.
        match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => bail!("what stdin gives is no text in UTF-8"),
        }
    };
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    Ok(Secret::new(text))
}
