//! `dormouse call`

use std::io::Read as _;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use dormouse_config::Client;
use serde_json::Value;

use super::session::ProcessSession;
use super::{Format, answer, output};
use crate::roster::Places;

/// Calls a tool, here and now, under the grants and limits of its server.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse call time get_current_time '{\"timezone\": \"Europe/Paris\"}'\n  \
    jq -n '{path: \"notes.md\"}' | dormouse call files read_text_file -\n\n\
    The result's text goes to stdout; progress and log messages go to stderr. A tool that \
    reports an error ends it with exit code 1. Ctrl-C cancels the call.\n\n\
    On a terminal, a tool may ask you: to fill in a form, or to open a page. Answers are read \
    from stdin; Ctrl-D cancels a question. There is no model here and no folder to ask for.")]
pub(super) struct CallArgs {
    /// The server's name.
    server: String,
    /// The tool's own name, without the server's.
    tool: String,
    /// The arguments: a JSON object, or `-` to read one from stdin.
    #[arg(value_name = "JSON|-", value_parser = GivenArguments::parse)]
    arguments: Option<GivenArguments>,
    /// Call it as this client may: its file can forbid tools.
    #[arg(long, value_name = "CLIENT")]
    client: Option<Client>,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Clone)]
enum GivenArguments {
    Given(Box<dormouse_runtime::Arguments>),
    Stdin,
}

impl GivenArguments {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        object(text).map(Box::new).map(Self::Given)
    }

    fn read(self) -> anyhow::Result<dormouse_runtime::Arguments> {
        match self {
            Self::Given(arguments) => Ok(*arguments),
            Self::Stdin => {
                let mut text = String::new();
                std::io::stdin()
                    .read_to_string(&mut text)
                    .context("the arguments cannot be read from stdin")?;
                object(&text).map_err(|why| anyhow::anyhow!("the arguments on stdin: {why}"))
            }
        }
    }
}

fn object(text: &str) -> Result<dormouse_runtime::Arguments, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(values)) => Ok(dormouse_runtime::Arguments {
            values,
            text: serde_json::from_str(text).ok(),
        }),
        Ok(_) => Err("this is JSON, but no object like `{\"key\": \"value\"}`".to_owned()),
        Err(error) => Err(format!(
            "this is no JSON: {error}\n\
             hint: the arguments are one JSON object, like `{{\"key\": \"value\"}}`"
        )),
    }
}

impl CallArgs {
    pub(super) fn run(self, mut places: Places) -> anyhow::Result<ExitCode> {
        places.client = self.client;
        let arguments = match self.arguments {
            Some(arguments) => arguments.read()?,
            None => dormouse_runtime::Arguments::default(),
        };
        let (server, tool) = (self.server.as_str(), self.tool.as_str());
        let result = ProcessSession::with(places, |session| {
            Ok(async move {
                let context = session.context();
                session.roster.call(server, tool, arguments, context).await
            })
        })?;
        let failed = result.is_error();
        if failed && !self.format.json {
            let told = answer::text(result, text)?;
            output::tool_failure(&told);
        } else {
            answer::print(result, self.format, text)?;
        }
        Ok(if failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

/// Returns a result for people: the text of its blocks, the kinds of the others, or where there are
/// none, its structured content.
fn text(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array);
    let mut texts: Vec<String> = blocks.into_iter().flatten().map(answer::block).collect();
    if texts.is_empty()
        && let Some(structured) = result.get("structuredContent")
    {
        texts.push(serde_json::to_string_pretty(structured).unwrap_or_default());
    }
    texts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn results_are_readable() {
        for (result, shown) in [
            (
                json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "structuredContent": {}}),
                "a\nb",
            ),
            (
                json!({"content": [], "structuredContent": {"a": 1}}),
                "{\n  \"a\": 1\n}",
            ),
            (json!({"content": []}), ""),
            (json!({}), ""),
            (
                json!({"content": [{"type": "image", "data": "AAAAAAAA", "mimeType": "image/png"}]}),
                "[image, image/png, 6 B]",
            ),
            (
                json!({"content": [{"type": "resource_link", "uri": "file:///x", "name": "x"}]}),
                "[resource_link, file:///x]",
            ),
            (
                json!({"content": [{"type": "resource", "resource": {"uri": "u:x", "text": "t"}}]}),
                "t",
            ),
            (json!({"content": [1]}), "[content of no type]"),
        ] {
            assert_eq!(text(&result), shown, "{result}");
        }
    }

    #[test]
    fn arguments_are_an_object() {
        assert!(matches!(
            GivenArguments::parse("-"),
            Ok(GivenArguments::Stdin)
        ));
        assert!(
            matches!(GivenArguments::parse("{\"a\":1}"), Ok(GivenArguments::Given(given)) if given.values["a"] == 1)
        );
        for bad in ["", "[]", "1", "{", "{\"a\":1} x"] {
            assert!(GivenArguments::parse(bad).is_err(), "{bad}");
        }
        let told = GivenArguments::parse("timezone=x").unwrap_err();
        assert!(
            told.contains("hint: ") && told.contains("{\"key\""),
            "{told}"
        );
    }
}
