//! Form in which a user gives a plugin folders, variables and settings.

use std::path::Path;

use dormouse_files::paths;
use dormouse_policy::{FsGrant, FsMode, Grants, real_path};
use dormouse_protocol::Answer;
use dormouse_text::visible::{authors_reason, visible_line};
use dormouse_wit::{FolderAccess, GrantRequest, SettingFormat, SettingRequest};
use serde_json::{Map, Value, json};

use crate::roster::approval::confirm::{accepted_field, choice};
use crate::roster::approval::missing_secret;
use crate::roster::requests::{
    mode_of, requested_secret_in_words, secret_option, setting_in_words,
};

/// Most fields of a form: of more, the first are asked for.
const MAX_FIELDS: usize = 16;

/// Answers of the form: each with the words by which it is shown.
const ANSWERS: [(&str, &str); 3] = [
    ("no", "No, and do not ask again"),
    ("session", "For this session"),
    ("always", "Always"),
];

/// Form for what a plugin asks for and has not.
pub(super) struct InputForm<'a> {
    server: &'a str,
    missing: &'a [GrantRequest],
    is_lasting: bool,
}

/// Grants and inputs that a user has given a plugin in a form.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub(super) grants: Grants,
    pub(super) settings: Map<String, Value>,
    /// Whether it is given for good.
    pub(super) is_lasting: bool,
    /// Whether something that was asked for is left out.
    pub(super) is_partial: bool,
}

impl<'a> InputForm<'a> {
    pub(super) fn new(server: &'a str, missing: &'a [GrantRequest], is_lasting: bool) -> Self {
        let missing = missing.get(..MAX_FIELDS).unwrap_or(missing);
        Self {
            server,
            missing,
            is_lasting,
        }
    }

    /// Whether it asks for secrets alone, which are given in a terminal.
    pub(super) fn is_of_secrets(&self) -> bool {
        let is_secret = |one: &GrantRequest| matches!(one, GrantRequest::Secret(_));
        self.missing.iter().all(is_secret)
    }

    /// Returns the text that the user is shown, with what was wrong in their last answer: a plugin's
    /// author has written some of it.
    pub(super) fn shown(&self, wrong: &str) -> String {
        let server = self.server;
        let mut text = match wrong {
            "" => String::new(),
            wrong => format!("This cannot be: {}\n", visible_line(wrong)),
        };
        text.push_str(&format!(
            "Before it is started, the plugin `{server}` asks\n"
        ));
        for request in self.missing {
            let (what, why) = match request {
                GrantRequest::Fs { write: true, why } => {
                    ("to read and write a folder".to_owned(), why)
                }
                GrantRequest::Fs { write: false, why } => ("to read a folder".to_owned(), why),
                GrantRequest::Env { name, why } => {
                    (format!("to see the environment variable `{name}`"), why)
                }
                GrantRequest::Setting(setting) => (setting_in_words(setting), &setting.description),
                GrantRequest::Secret(secret) => (
                    format!(
                        "{}; give it in a terminal, never here: `dormouse grant {server} {}`",
                        requested_secret_in_words(secret),
                        secret_option(secret)
                    ),
                    &secret.description,
                ),
                _ => continue,
            };
            text.push_str(&format!("- {}\n", visible_line(&what)));
            let why = authors_reason(why);
            if !why.is_empty() {
                text.push_str(&format!("  Its author says why: {why}\n"));
            }
        }
        text
    }

    pub(super) fn schema(&self) -> Value {
        if self.is_of_secrets() {
            return missing_secret::schema();
        }
        let mut properties = Map::new();
        for (index, request) in self.missing.iter().enumerate() {
            let field = match request {
                GrantRequest::Fs { write, .. } => {
                    let what = match write {
                        true => "read and write",
                        false => "read",
                    };
                    json!({ "type": "string", "title": format!("Folder to {what} (empty: none)") })
                }
                GrantRequest::Env { name, .. } => {
                    let title = format!("Show it `{}`", visible_line(name));
                    json!({ "type": "boolean", "title": title, "default": false })
                }
                GrantRequest::Setting(setting) => setting_field(setting),
                _ => continue,
            };
            properties.insert(field_name(index), field);
        }
        let count = ANSWERS.len() - usize::from(!self.is_lasting);
        let answers = choice("Allow this", ANSWERS.into_iter().take(count));
        properties.insert("answer".to_owned(), answers);
        json!({ "type": "object", "properties": properties, "required": ["answer"] })
    }

    /// Returns what the user has chosen; none where they have refused it.
    ///
    /// # Errors
    /// What they have filled in cannot be, in words for them.
    pub(super) fn chosen(&self, answer: &Answer) -> Result<Option<Chosen>, String> {
        let field = |name: &str| accepted_field(answer, name);
        let mut chosen = match field("answer").as_ref().and_then(Value::as_str) {
            Some("session") => Chosen::default(),
            Some("done") if self.is_of_secrets() => Chosen::default(),
            Some("always") if self.is_lasting => Chosen {
                is_lasting: true,
                ..Chosen::default()
            },
            _ => return Ok(None),
        };
        for (index, request) in self.missing.iter().enumerate() {
            let value = field(&field_name(index));
            let value = value.as_ref();
            let is_given = match request {
                GrantRequest::Fs { write, .. } => {
                    let path = value.and_then(Value::as_str).unwrap_or_default();
                    let mode = match write {
                        true => FsMode::ReadWrite,
                        false => FsMode::ReadOnly,
                    };
                    let is_path = !path.trim().is_empty();
                    if is_path {
                        chosen.grants.fs.push(folder(path, mode)?);
                    }
                    is_path
                }
                GrantRequest::Env { name, .. } => {
                    let is_shown = value == Some(&json!(true));
                    if is_shown {
                        chosen.grants.env.push(name.clone());
                    }
                    is_shown
                }
                GrantRequest::Setting(setting) => chosen.set(setting, value)?,
                // It is given in a terminal meanwhile.
                _ => true,
            };
            chosen.is_partial |= !is_given;
        }
        Ok(Some(chosen))
    }
}

impl Chosen {
    /// Gives a setting its value, and returns whether there is one.
    fn set(&mut self, setting: &SettingRequest, value: Option<&Value>) -> Result<bool, String> {
        let value = match value {
            Some(Value::String(text)) if text.is_empty() => None,
            value => value,
        };
        let Some(value) = value else {
            return match setting.is_required {
                true => Err(format!("the setting `{}` has no value", setting.name)),
                false => Ok(false),
            };
        };
        let mut value = match value {
            // Numbers among choices are chosen by their text.
            Value::String(text) => setting.read(text),
            other => setting.check(other).map(|()| other.clone()),
        }
        .map_err(|why| format!("the setting `{}`: {why}", setting.name))?;
        if let (SettingFormat::Filepath | SettingFormat::Directory, Some(text)) =
            (setting.format, value.as_str())
        {
            let path = paths::expand(text, Path::new("/"))?;
            value = match setting.grant {
                Some(access) => {
                    let granted = folder(text, mode_of(access))?;
                    let path = granted.path.to_string_lossy().into_owned();
                    self.grants.fs.push(granted);
                    Value::from(path)
                }
                None => Value::from(path.to_string_lossy().into_owned()),
            };
        }
        self.settings.insert(setting.name.clone(), value);
        Ok(true)
    }
}

/// Returns the name of a field: authors' names could be any.
fn field_name(index: usize) -> String {
    format!("request{}", index + 1)
}

fn setting_field(setting: &SettingRequest) -> Value {
    let name = visible_line(&setting.name);
    let title = match setting.grant {
        Some(FolderAccess::ReadOnly) => format!("{name} (a folder to read)"),
        Some(FolderAccess::ReadWrite) => format!("{name} (a folder to read and write)"),
        None => name.into_owned(),
    };
    let mut field = match setting.format {
        SettingFormat::Number => json!({ "type": "number", "title": title }),
        SettingFormat::Boolean => json!({ "type": "boolean", "title": title }),
        SettingFormat::String | SettingFormat::Filepath | SettingFormat::Directory => {
            json!({ "type": "string", "title": title })
        }
    };
    if !setting.choices.is_empty() {
        let choices = setting.choices.iter().take(MAX_CHOICES);
        let texts: Vec<_> = choices.map(crate::roster::shown_value).collect();
        let names: Vec<_> = texts.iter().map(|text| visible_line(text)).collect();
        field = json!({ "type": "string", "title": title, "enum": texts, "enumNames": names });
    }
    // Which folder is granted its user says, and no author beforehand.
    let default = setting.default.as_ref().filter(|_| setting.grant.is_none());
    if let (Some(default), Value::Object(field)) = (default, &mut field) {
        let default = match setting.choices.is_empty() {
            true => default.clone(),
            false => Value::from(crate::roster::shown_value(default)),
        };
        field.insert("default".to_owned(), default);
    }
    field
}

/// Most choices of a field.
const MAX_CHOICES: usize = 100;

/// Returns the grant of a folder that a user has typed.
fn folder(typed: &str, mode: FsMode) -> Result<FsGrant, String> {
    let typed = typed.trim();
    let path = match typed.starts_with('~') || Path::new(typed).is_absolute() {
        true => paths::expand(typed, Path::new("/"))?,
        false => return Err(format!("`{typed}` is no whole path, such as `~/notes`")),
    };
    if !path.is_dir() {
        return Err(format!("there is no folder `{}`", path.display()));
    }
    let path = real_path(&path);
    Ok(FsGrant {
        real: Some(path.clone()),
        path,
        mode,
    })
}
