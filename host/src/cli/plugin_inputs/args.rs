//! Settings and secrets of plugins on the command line.

use anyhow::bail;
use clap::Args;
use dormouse_files::paths;
use dormouse_launch::Secret;
use dormouse_wit::{GrantRequest, SecretRequest, is_input_name};
use toml_edit::{Array, Value};

use super::{GivenInputs, ask_for_secret_text, secret_named, setting_named};
use crate::roster::Places;

/// Settings and secrets of one plugin.
#[derive(Debug, Args)]
pub(in crate::cli) struct InputArgs {
    /// Set a setting that the plugin asks for. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    setting: Vec<(String, String)>,
    /// Give the plugin's requests a secret that it asks for and never sees. NAME alone asks you for its
    /// text, which is not shown, and keeps it as `dormouse secret set` does. SOURCE is where it is
    /// instead: `keyring:NAME` (of `dormouse secret list`), `op://VAULT/ITEM/FIELD` (1Password),
    /// `env:VARIABLE`, `file:PATH`, `command:PROGRAM ARGUMENT…`, which prints it, or `login[:PROVIDER]`.
    /// May be repeated.
    #[arg(long, value_name = "NAME[=SOURCE]", value_parser = secret)]
    secret: Vec<(String, SourceArg)>,
}

/// Source of a secret's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum SourceArg {
    /// Text that the user types when they are asked.
    Typed,
    /// A variable of the environment.
    Variable(String),
    /// A file, absolute.
    File(String),
    /// Output of a program: its name or path, and its arguments.
    Command(Vec<String>),
    /// The user's own store of secrets, by name there.
    Keyring(String),
    /// A reference to a secret of 1Password.
    OnePassword(String),
    /// A login at a provider; where none is named, at the one that the plugin names.
    Login(Option<String>),
}

impl SourceArg {
    /// Returns the key and the value by which a secret's table names it; none where the text is yet to
    /// be typed.
    ///
    /// # Errors
    /// The plugin names no provider, and neither does its user.
    pub(super) fn key_and_value(
        &self,
        secret: &SecretRequest,
    ) -> anyhow::Result<Option<(&'static str, Value)>> {
        Ok(Some(match self {
            Self::Typed => return Ok(None),
            Self::Variable(name) => ("env", name.as_str().into()),
            Self::File(path) => ("file", path.as_str().into()),
            Self::Command(words) => {
                let words = words.iter().map(String::as_str);
                ("command", Value::Array(words.collect::<Array>()))
            }
            Self::Keyring(name) => ("keyring", name.as_str().into()),
            Self::OnePassword(reference) => ("op", reference.as_str().into()),
            Self::Login(named) => match named.as_ref().or(secret.login.as_ref()) {
                Some(provider) => ("login", provider.as_str().into()),
                None => bail!(
                    "the plugin names no provider for its secret `{name}`\n\
                     hint: `--secret {name}=login:PROVIDER` names one of `[providers]`",
                    name = secret.name
                ),
            },
        }))
    }
}

impl InputArgs {
    /// Whether anything is given.
    pub(in crate::cli) fn is_any(&self) -> bool {
        !(self.setting.is_empty() && self.secret.is_empty())
    }

    /// Returns what is given to a server's plugin that asks for all this. Asks for the texts of secrets
    /// that are named alone.
    ///
    /// # Errors
    /// It asks for no such setting or secret, a value is none of its setting, or a text has to be asked
    /// for and nobody can be.
    pub(in crate::cli) fn given(
        &self,
        places: &Places,
        server: &str,
        requests: &[GrantRequest],
    ) -> anyhow::Result<GivenInputs> {
        let mut given = GivenInputs::default();
        for (name, typed) in &self.setting {
            let setting = setting_named(requests, name)?;
            given.set(setting, typed).map_err(|why| {
                anyhow::anyhow!("setting `{name}`: {why}\nhint: `--setting {name}=VALUE`")
            })?;
        }
        for (name, source) in &self.secret {
            let secret = secret_named(requests, name)?;
            match source.key_and_value(secret)? {
                Some(source) => given.bind(secret, source),
                None => ask_for_secret_text(places, server, secret, &mut given)?,
            }
        }
        Ok(given)
    }
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("a setting is written as `NAME=VALUE`".to_owned()),
    }
}

fn secret(text: &str) -> Result<(String, SourceArg), String> {
    // What stands there may be the secret itself, and is not repeated.
    let wrong = "a secret is written as `NAME`, for which you are asked, or as \
        `NAME=keyring:NAME`, `NAME=op://VAULT/ITEM/FIELD`, `NAME=env:VARIABLE`, `NAME=file:PATH`, \
        `NAME=command:PROGRAM ARGUMENT…` or `NAME=login`, never with its text";
    if is_input_name(text) {
        return Ok((text.to_owned(), SourceArg::Typed));
    }
    if let Some((name, "login")) = text.split_once('=')
        && !name.is_empty()
    {
        return Ok((name.to_owned(), SourceArg::Login(None)));
    }
    let split = text.split_once('=').and_then(|(name, source)| {
        let (kind, value) = source.split_once(':')?;
        Some((name, kind, value))
    });
    let Some((name, kind, value)) =
        split.filter(|(name, _, value)| !name.is_empty() && !value.trim().is_empty())
    else {
        return Err(wrong.to_owned());
    };
    let source = match kind {
        "env" => SourceArg::Variable(value.to_owned()),
        "file" => {
            let here = std::env::current_dir().map_err(|error| error.to_string())?;
            let path = paths::expand(value, &here)?;
            let path = path.into_os_string().into_string();
            SourceArg::File(path.map_err(|_| "the path is not UTF-8".to_owned())?)
        }
        "command" => SourceArg::Command(value.split_whitespace().map(str::to_owned).collect()),
        "keyring" if Secret::is_name(value) => SourceArg::Keyring(value.to_owned()),
        "op" if value.starts_with("//") => SourceArg::OnePassword(format!("op:{value}")),
        "login" => SourceArg::Login(Some(value.to_owned())),
        _ => return Err(wrong.to_owned()),
    };
    Ok((name.to_owned(), source))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_written_with_its_source_and_never_with_its_text() {
        for (text, name, source) in [
            (
                "token=env:TOKEN",
                "token",
                SourceArg::Variable("TOKEN".to_owned()),
            ),
            ("a=file:/x/y=z", "a", SourceArg::File("/x/y=z".to_owned())),
            (
                "pat=command:pass show a:b",
                "pat",
                SourceArg::Command(["pass", "show", "a:b"].map(str::to_owned).to_vec()),
            ),
            ("token", "token", SourceArg::Typed),
            ("a=keyring:work", "a", SourceArg::Keyring("work".to_owned())),
            (
                "a=op://Work/GitHub/token",
                "a",
                SourceArg::OnePassword("op://Work/GitHub/token".to_owned()),
            ),
            ("a=login", "a", SourceArg::Login(None)),
            (
                "a=login:work",
                "a",
                SourceArg::Login(Some("work".to_owned())),
            ),
        ] {
            assert_eq!(secret(text), Ok((name.to_owned(), source)), "{text}");
        }
        for text in [
            "",
            "token=",
            "to ken",
            "token=login:",
            "token=keyring:a/b",
            "token=op:vault/item/field",
            "token=abcdef",
            "token=env:",
            "=env:A",
            "token=ghp:x",
        ] {
            let error = secret(text).unwrap_err();
            assert!(
                !error.contains("abcdef") && error.contains("never with its text"),
                "{error}"
            );
        }
        assert_eq!(setting("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert!(setting("=b").is_err() && setting("b").is_err());
    }
}
