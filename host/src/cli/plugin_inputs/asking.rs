//! Settings and texts of secrets that a user is asked for on a terminal.

use std::io::Write as _;

use anyhow::{Context as _, bail};
use dormouse_launch::Secret;
use dormouse_policy::SecretSource;
use dormouse_secrets::SecretStore;
use dormouse_text::visible::authors_reason;
use dormouse_wit::{GrantRequest, SecretRequest, SettingRequest};

use super::GivenInputs;
use crate::cli::{consent, output, stdin};
use crate::roster::{
    Places, requested_secret_in_words, requested_secrets, requested_settings, setting_in_words,
    shown_value,
};

/// Times that a user is asked again who has typed what is no value.
const MAX_ATTEMPTS: usize = 5;

/// Asks for the settings that a plugin asks for and is not given already, on a terminal. An empty line is
/// the default, or nothing.
///
/// # Errors
/// A setting that it needs was given no value.
pub(in crate::cli) fn ask_for_settings(
    requests: &[GrantRequest],
    given: &mut GivenInputs,
) -> anyhow::Result<()> {
    for setting in requested_settings(requests) {
        if !given.inputs.settings.contains_key(&setting.name) {
            ask_for(setting, given)?;
        }
    }
    Ok(())
}

fn ask_for(setting: &SettingRequest, given: &mut GivenInputs) -> anyhow::Result<()> {
    let why = authors_reason(&setting.description);
    let why = match why.as_str() {
        "" => String::new(),
        why => format!(": {why}"),
    };
    output::say(&format!("It asks {}{why}", setting_in_words(setting)));
    let otherwise = match (&setting.default, setting.is_required) {
        // Which folder is granted is seen whole.
        (Some(default), _) if setting.grant.is_some() => format!(" [{}]", shown_value(default)),
        (Some(default), _) => format!(" [{}]", authors_reason(&shown_value(default))),
        (None, false) => " [nothing]".to_owned(),
        (None, true) => String::new(),
    };
    for _ in 0..MAX_ATTEMPTS {
        stdin::forget_typed_ahead();
        eprint!(
            "{}",
            output::clean(&format!("{}{otherwise}: ", setting.name))
        );
        std::io::stderr().flush()?;
        let mut line = String::new();
        let is_end = std::io::stdin().read_line(&mut line)? == 0;
        let typed = line.trim_end_matches(['\n', '\r']);
        // A folder is granted when it is chosen, which the default is here.
        let default = setting.default.as_ref().filter(|_| setting.grant.is_some());
        let default = default.map(shown_value);
        let typed = match &default {
            Some(default) if typed.is_empty() => default,
            _ => typed,
        };
        if typed.is_empty() {
            if setting.default.is_some() || !setting.is_required {
                return Ok(());
            }
            if is_end {
                break;
            }
            output::say("it needs a value");
            continue;
        }
        match given.set(setting, typed) {
            Ok(()) => return Ok(()),
            Err(why) => output::say(&why),
        }
    }
    anyhow::bail!(
        "setting `{}` has no value, and the plugin needs it",
        setting.name
    )
}

/// Asks for the texts of the secrets that a plugin asks for and is not given already, on a terminal. An
/// empty line leaves a secret for later.
///
/// # Errors
/// The terminal cannot be read, or nothing is known of the user's secrets.
pub(in crate::cli) fn ask_for_secrets(
    places: &Places,
    server: &str,
    requests: &[GrantRequest],
    given: &mut GivenInputs,
) -> anyhow::Result<()> {
    for secret in requested_secrets(requests) {
        if given.inputs.secrets.contains_key(&secret.name) {
            continue;
        }
        let why = authors_reason(&secret.description);
        let why = match why.as_str() {
            "" => String::new(),
            why => format!(": {why}"),
        };
        let what = requested_secret_in_words(secret);
        output::say(&format!("It asks {what}{why}"));
        ask_for_secret_text(places, server, secret, given)?;
    }
    Ok(())
}

/// Asks for the text of a secret, which is kept once all is agreed to. An empty line is the text that is
/// kept already, the login that the plugin proposes, or nothing yet.
///
/// # Errors
/// There is no terminal, or another server has the name under which it would be kept.
pub(super) fn ask_for_secret_text(
    places: &Places,
    server: &str,
    secret: &SecretRequest,
    given: &mut GivenInputs,
) -> anyhow::Result<()> {
    let name = &secret.name;
    let stored = stored_name(places, server, name)?;
    if !consent::can_ask() {
        bail!(
            "the secret `{name}` has no text, and there is no terminal to ask on\n\
             hint: `dormouse secret set {stored}` reads it from stdin; name it with \
             `--secret {name}=keyring:{stored}` then"
        );
    }
    let is_kept = SecretStore::open(&places.data).contains(&stored)?;
    let login = secret.login.as_ref().filter(|provider| {
        let mut login = GivenInputs::default();
        login.bind(secret, ("login", provider.as_str().into()));
        login.read_secrets(server, &places.config).is_ok()
    });
    let otherwise = match (is_kept, login) {
        (true, _) => "the one that you have".to_owned(),
        (false, Some(provider)) => format!("log in at `{provider}`"),
        (false, None) => "later".to_owned(),
    };
    stdin::forget_typed_ahead();
    let prompt = format!("{name} (it is not shown; empty: {otherwise}): ");
    let typed = rpassword::prompt_password(output::clean(&prompt));
    let typed = typed.context("nothing can be read from the terminal")?;
    match (typed.is_empty(), is_kept, login) {
        (true, false, Some(provider)) => given.bind(secret, ("login", provider.as_str().into())),
        (true, false, None) => {}
        (is_empty, ..) => {
            if !is_empty {
                given.typed.push((stored.clone(), Secret::new(typed)));
            }
            given.bind(secret, ("keyring", stored.into()));
        }
    }
    Ok(())
}

/// Returns the name under which the text of a server's secret is kept.
///
/// # Errors
/// It is none, or another server's secret is kept under it.
fn stored_name(places: &Places, server: &str, secret: &str) -> anyhow::Result<String> {
    let name = format!("{server}-{secret}");
    let hint = format!(
        "hint: `dormouse secret set NAME` keeps it under another one; \
         `--secret {secret}=keyring:NAME` gives it then"
    );
    if !Secret::is_name(&name) {
        let most = Secret::MAX_NAME;
        bail!("no secret can be kept as `{name}`, which has more than {most} characters\n{hint}");
    }
    let servers = dormouse_config::load(&places.config)?.servers;
    let is_stored = |source: &SecretSource| *source == SecretSource::Keyring(name.clone());
    let other = servers.values().find(|other| {
        let mut secrets = other.secrets.iter();
        other.name != server && secrets.any(|one| one.looked_up().is_some_and(is_stored))
    });
    match other {
        Some(other) => bail!(
            "the secret `{name}` is that of the server `{}`\n{hint}",
            other.name
        ),
        None => Ok(name),
    }
}
