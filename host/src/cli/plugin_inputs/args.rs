//! Settings and secrets of plugins on the command line.

use clap::Args;
use dormouse_files::paths;
use dormouse_wit::GrantRequest;
use toml_edit::{Array, Value};

use super::{GivenInputs, secret_named, setting_named};

/// Settings and secrets of one plugin.
#[derive(Debug, Args)]
pub(in crate::cli) struct InputArgs {
    /// Set a setting that the plugin asks for. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    setting: Vec<(String, String)>,
    /// Give the plugin's requests a secret that it asks for and never sees, with where its text comes
    /// from: `env:VARIABLE`, `file:PATH`, or `command:PROGRAM ARGUMENT…`, which prints it. May be
    /// repeated.
    #[arg(long, value_name = "NAME=SOURCE", value_parser = secret)]
    secret: Vec<(String, SourceArg)>,
}

/// Source of a secret's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cli) enum SourceArg {
    /// A variable of the environment.
    Variable(String),
    /// A file, absolute.
    File(String),
    /// What a program prints: its name or path, and its arguments.
    Command(Vec<String>),
}

impl SourceArg {
    /// Returns the key and the value by which a secret's table names it.
    pub(super) fn key_and_value(&self) -> (&'static str, Value) {
        match self {
            Self::Variable(name) => ("env", name.as_str().into()),
            Self::File(path) => ("file", path.as_str().into()),
            Self::Command(words) => {
                let words = words.iter().map(String::as_str);
                ("command", Value::Array(words.collect::<Array>()))
            }
        }
    }
}

impl InputArgs {
    /// Whether anything is given.
    pub(in crate::cli) fn is_any(&self) -> bool {
        !(self.setting.is_empty() && self.secret.is_empty())
    }

    /// Returns what is given to a plugin that asks for all this.
    ///
    /// # Errors
    /// It asks for no such setting or secret, or a value is none of its setting.
    pub(in crate::cli) fn given(&self, requests: &[GrantRequest]) -> anyhow::Result<GivenInputs> {
        let mut given = GivenInputs::default();
        for (name, typed) in &self.setting {
            let setting = setting_named(requests, name)?;
            given.set(setting, typed).map_err(|why| {
                anyhow::anyhow!("setting `{name}`: {why}\nhint: `--setting {name}=VALUE`")
            })?;
        }
        for (name, source) in &self.secret {
            given.bind(secret_named(requests, name)?, source);
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
    let wrong = "a secret is written as `NAME=env:VARIABLE`, `NAME=file:PATH` or \
        `NAME=command:PROGRAM ARGUMENT…`, never with its text";
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
        ] {
            assert_eq!(secret(text), Ok((name.to_owned(), source)), "{text}");
        }
        for text in [
            "",
            "token",
            "token=",
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
