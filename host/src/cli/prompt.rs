//! `dormouse prompt`

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use dormouse_runtime::Arguments;
use serde_json::{Map, Value};

use super::session::ProcessSession;
use super::{Format, answer};
use crate::roster::{Places, names};

/// Gets a prompt, as an agent does.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    dormouse prompt library__write_about topic=dormice\n\n\
    `dormouse prompts` lists them; with a server's name it says what they take. The messages \
    go to stdout, each behind who says it.")]
pub(super) struct PromptArgs {
    /// The prompt's name, as agents see it.
    name: String,
    /// Its arguments.
    #[arg(value_name = "KEY=VALUE", value_parser = argument)]
    arguments: Vec<(String, String)>,
    #[command(flatten)]
    format: Format,
}

fn argument(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("an argument is written as `KEY=VALUE`".to_owned()),
    }
}

impl PromptArgs {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let mut values = Map::new();
        for (key, value) in self.arguments {
            if values.insert(key.clone(), Value::from(value)).is_some() {
                bail!("the argument `{key}` is there twice");
            }
        }
        let answer = ProcessSession::with(places, |session| {
            let snapshot = session.roster.snapshot();
            let Some(offer) = snapshot.prompts().find(&self.name).cloned() else {
                let names = snapshot.prompts().iter().map(|offer| offer.key.as_str());
                let hint = names::nearest(&self.name, names).map_or_else(
                    || "`dormouse prompts` lists those that there are".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                bail!("no prompt is called `{}`\nhint: {hint}", self.name);
            };
            Ok(async move {
                let context = session.context();
                let arguments = Arguments::from(values);
                session.roster.prompt(&offer, arguments, context).await
            })
        })?;
        answer::print(answer, self.format, text)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns messages for people.
fn text(result: &Value) -> String {
    let messages = result.get("messages").and_then(Value::as_array);
    let messages = messages.into_iter().flatten().map(|message| {
        let role = message.get("role").and_then(Value::as_str);
        let content = message.get("content").unwrap_or(&Value::Null);
        format!("{}: {}", role.unwrap_or("nobody"), answer::block(content))
    });
    messages.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_are_readable() {
        let text = |result| super::text(&result);
        let said = |role: &str, content: Value| json!({ "role": role, "content": content });
        let words = json!({ "type": "text", "text": "hi" });
        let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
        assert_eq!(
            text(json!({ "messages": [said("user", words), said("assistant", image)] })),
            "user: hi\nassistant: [image, image/png, 3 B]"
        );
        assert_eq!(text(json!({})), "");
        assert_eq!(
            text(json!({ "messages": [7] })),
            "nobody: [content of no type]"
        );
    }

    #[test]
    fn arguments_have_a_name() {
        let pair = |key: &str, value: &str| Ok((key.to_owned(), value.to_owned()));
        assert_eq!(argument("a=b=c"), pair("a", "b=c"));
        assert_eq!(argument("a="), pair("a", ""));
        for bad in ["", "a", "=b"] {
            assert!(argument(bad).is_err(), "{bad}");
        }
    }
}
