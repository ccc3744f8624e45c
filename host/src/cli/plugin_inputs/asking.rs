//! Settings that a user is asked for on a terminal.

use std::io::Write as _;

use dormouse_wit::{GrantRequest, SettingRequest};

use super::GivenInputs;
use crate::cli::{output, stdin};
use crate::roster::{requested_settings, setting_in_words, shown_value};

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
    let why = output::first_line(&setting.description, 200);
    let why = match why.as_str() {
        "" => String::new(),
        why => format!(": {why}"),
    };
    output::say(&format!("It asks {}{why}", setting_in_words(setting)));
    let otherwise = match (&setting.default, setting.is_required) {
        (Some(default), _) => format!(" [{}]", shown_value(default)),
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
