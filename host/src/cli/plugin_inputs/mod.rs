//! Settings and secrets of plugins: as their user says them on the command line, as they are asked
//! for on a terminal, and in words.

mod args;
mod asking;
mod missing_texts;
mod words;

use std::path::Path;

use anyhow::bail;
use dormouse_config::edit::{PluginInputs, requested_secret_table};
use dormouse_files::paths;
use dormouse_launch::Secret;
use dormouse_policy::{FsGrant, Grants, HttpSecret, real_path};
use dormouse_secrets::SecretStore;
use dormouse_text::nearest::nearest;
use dormouse_wit::{GrantRequest, SecretRequest, SettingFormat, SettingRequest};
use serde_json::Value;

pub(in crate::cli) use args::InputArgs;
use asking::ask_for_secret_text;
pub(in crate::cli) use asking::{ask_for_secrets, ask_for_settings};
pub(in crate::cli) use missing_texts::missing_text;
pub(in crate::cli) use words::secret_in_words;

use super::output;
use super::secret::place_in_words;
use super::secret_hosts::{is_url, is_usually_url};
use crate::roster::{
    HeldByPlugin, given_value, mode_of, requested_secrets, requested_settings, shown_value,
};

/// Settings and secrets that a plugin is to have.
#[derive(Default)]
pub(in crate::cli) struct GivenInputs {
    /// Inputs that are written into the configuration.
    pub(in crate::cli) inputs: PluginInputs,
    /// The secrets among it, as they are read there.
    pub(in crate::cli) secrets: Vec<HttpSecret>,
    /// Folders that are granted with settings that name them.
    pub(in crate::cli) folders: Vec<FsGrant>,
    /// Texts of secrets that the user has typed, by the names under which they are to be kept.
    typed: Vec<(String, Secret)>,
}

impl GivenInputs {
    /// Gives a setting a value as its user has typed it.
    ///
    /// # Errors
    /// It is none of that setting, in words for the user.
    pub(in crate::cli) fn set(
        &mut self,
        setting: &SettingRequest,
        typed: &str,
    ) -> Result<(), String> {
        let mut value = setting.read(typed)?;
        if is_usually_url(setting) && !is_url(typed) {
            return Err(format!(
                "`{typed}` is no URL, and its default `{}` is one",
                setting
                    .default
                    .as_ref()
                    .map(shown_value)
                    .unwrap_or_default()
            ));
        }
        let is_folder = setting.format == SettingFormat::Directory;
        if is_folder || setting.format == SettingFormat::Filepath {
            let here = std::env::current_dir().map_err(|error| error.to_string())?;
            let mut path = paths::expand(typed, &here)?;
            if is_folder && !path.is_dir() {
                return Err(format!("there is no folder `{}`", path.display()));
            }
            if let Some(access) = setting.grant {
                // What is granted is the folder as it is now.
                path = real_path(&path);
                self.folders.push(FsGrant {
                    path: path.clone(),
                    real: Some(path.clone()),
                    mode: mode_of(access),
                });
            }
            match path.to_str() {
                Some(text) => value = Value::from(text),
                None => return Err(format!("`{}` is not UTF-8", path.display())),
            }
        }
        self.inputs.settings.insert(setting.name.clone(), value);
        Ok(())
    }

    /// Gives a secret a source.
    fn bind(&mut self, secret: &SecretRequest, source: (&str, toml_edit::Value)) {
        let table = requested_secret_table(secret, source);
        self.inputs.secrets.insert(secret.name.clone(), table);
    }

    /// Keeps the texts of secrets that the user has typed, before anything names them.
    ///
    /// # Errors
    /// One of them cannot be kept.
    pub(in crate::cli) fn keep_texts(&self, data: &Path) -> anyhow::Result<()> {
        let store = SecretStore::open(data);
        for (name, text) in &self.typed {
            let place = store.set(name, text)?;
            output::say(&format!(
                "the secret `{name}` is kept in {}",
                place_in_words(place)
            ));
        }
        Ok(())
    }

    /// Reads the secrets as the configuration is read that they are written into.
    ///
    /// # Errors
    /// One of them is none, whatever its plugin asks for.
    pub(in crate::cli) fn read_secrets(&mut self, server: &str, file: &Path) -> anyhow::Result<()> {
        self.secrets = self.inputs.http_secrets(server, file)?;
        Ok(())
    }

    /// Warns of secrets whose texts are not where they are to come from.
    pub(in crate::cli) fn warn_of_missing_texts(&self, data: &Path) {
        let missing = self.secrets.iter();
        for missing in missing.filter_map(|secret| missing_text(secret, data)) {
            output::warn(&missing);
        }
    }

    /// Returns what a plugin has with this and these grants.
    pub(in crate::cli) fn held<'a>(&'a self, grants: &'a Grants) -> HeldByPlugin<'a> {
        HeldByPlugin {
            secrets: &self.secrets,
            ..HeldByPlugin::new(grants, &self.inputs.settings)
        }
    }

    /// Returns lines on all of this for its user.
    pub(in crate::cli) fn in_words(&self) -> Vec<String> {
        let settings = self.inputs.settings.iter();
        let settings = settings.map(|(name, value)| {
            let value = given_value(name, value);
            format!("be told its setting `{name}`, `{value}`")
        });
        let secrets = self.secrets.iter().map(secret_in_words);
        settings.chain(secrets).collect()
    }
}

/// Returns the setting of a name among those that a plugin asks for.
fn setting_named<'r>(
    requests: &'r [GrantRequest],
    name: &str,
) -> anyhow::Result<&'r SettingRequest> {
    let found = requested_settings(requests).find(|setting| setting.name == name);
    let names = requested_settings(requests).map(|setting| setting.name.as_str());
    match found {
        Some(setting) => Ok(setting),
        None => bail!("{}", unknown("setting", name, names.collect())),
    }
}

/// Returns the secret of a name among those that a plugin asks for.
fn secret_named<'r>(requests: &'r [GrantRequest], name: &str) -> anyhow::Result<&'r SecretRequest> {
    let found = requested_secrets(requests).find(|secret| secret.name == name);
    let names = requested_secrets(requests).map(|secret| secret.name.as_str());
    match found {
        Some(secret) => Ok(secret),
        None => bail!("{}", unknown("secret", name, names.collect())),
    }
}

fn unknown(what: &str, name: &str, names: Vec<&str>) -> String {
    let near = nearest(name, names.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("did you mean `{near}`? "));
    let asked = match names.is_empty() {
        true => format!(
            "what it does not ask for can be written into `[servers.NAME.{what}s]` of the configuration"
        ),
        false => format!("it asks for `{}`", names.join("`, `")),
    };
    format!("the plugin asks for no {what} `{name}`\nhint: {near}{asked}")
}
