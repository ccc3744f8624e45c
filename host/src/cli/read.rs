//! `dormouse read`

use std::io::IsTerminal as _;
use std::process::ExitCode;

use anyhow::bail;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use dormouse_text::nearest::nearest;
use serde_json::{Value, json};

use super::session::ProcessSession;
use super::{Format, answer, output};
use crate::roster::{OfferKind, Places, UnresolvedResource};

/// Reads a resource, as an agent does.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse read library://shelf/a\n  \
    dormouse read kitchen://photo > photo.png\n\n\
    `dormouse resources` lists them, and templates for more. Text goes to stdout as it is; so \
    do bytes, unless stdout is a terminal.")]
pub(super) struct ReadArgs {
    /// The resource's URI.
    uri: String,
    #[command(flatten)]
    format: Format,
}

impl ReadArgs {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let uri = self.uri.as_str();
        let answer = ProcessSession::with(places, |session| {
            let snapshot = session.roster.snapshot();
            let source = session.roster.resource(uri);
            if let Err(contested @ UnresolvedResource::Contested(_)) = &source {
                bail!("{}", contested.refusal(uri));
            }
            let Ok(source) = source else {
                let known = snapshot.offers(OfferKind::Resource).iter();
                let hint = nearest(uri, known.map(|offer| offer.key.as_str())).map_or_else(
                    || "`dormouse resources` lists those that there are".to_owned(),
                    |near| format!("did you mean `{near}`?"),
                );
                bail!("there is no resource `{uri}`\nhint: {hint}");
            };
            Ok(async move {
                let context = session.context();
                session.roster.read(uri, &source, context).await
            })
        })?;
        let bytes = answer.get("contents").and_then(|contents| bytes(&contents));
        match bytes.filter(|_| !self.format.json && !std::io::stdout().is_terminal()) {
            Some(bytes) => output::print_bytes(&bytes)?,
            None => answer::print(answer, self.format, text)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the bytes of contents that are a single blob.
fn bytes(contents: &Value) -> Option<Vec<u8>> {
    match contents.as_array()?.as_slice() {
        [only] => STANDARD.decode(only.get("blob")?.as_str()?).ok(),
        _ => None,
    }
}

/// Returns contents for people.
fn text(result: &Value) -> String {
    let contents = result.get("contents").and_then(Value::as_array);
    let contents = contents.into_iter().flatten().map(|content| {
        // As it is where it is part of something larger.
        answer::block(&json!({ "type": "resource", "resource": content }))
    });
    contents.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_readable() {
        let words = json!({ "uri": "a:b", "text": "hi" });
        let blob = json!({ "uri": "a:c", "mimeType": "image/png", "blob": "AAAA" });
        assert_eq!(
            text(&json!({ "contents": [words, blob] })),
            "hi\n[resource, a:c, image/png, 3 B]"
        );
        assert_eq!(text(&json!({})), "");
    }

    #[test]
    fn bytes_are_bytes_where_there_is_nothing_else() {
        let blob = json!({ "uri": "a:c", "blob": "AQI=" });
        assert_eq!(bytes(&json!([blob])), Some(vec![1, 2]));
        assert_eq!(bytes(&json!([blob, blob])), None);
        assert_eq!(bytes(&json!([{ "uri": "a:b", "text": "hi" }])), None);
        assert_eq!(bytes(&json!([])), None);
    }
}
