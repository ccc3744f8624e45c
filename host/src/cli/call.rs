//! `dormouse call`

use std::io::Read as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::terminal::Terminal;
use super::{Format, output};
use crate::config::units;
use crate::roster::{Context, Places, Roster};
use crate::runtime::{self, Answer};

/// How long the threads of the process may take to end when all is done.
const LAST: Duration = Duration::from_millis(100);

/// Calls a tool, here and now, under the grants and limits of its server.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dormouse call time get_current_time '{\"timezone\": \"Europe/Paris\"}'\n  \
    jq -n '{path: \"notes.md\"}' | dormouse call files read_text_file -\n\n\
    The result's text goes to stdout; progress and log messages go to stderr. A tool that \
    reports an error ends it with exit code 1. Ctrl-C cancels the call.\n\n\
    On a terminal, a tool may ask you: to fill in a form, or to open a page. Answers are read \
    from stdin; Ctrl-D cancels a question. There is no model here and no folder to ask for.")]
pub(super) struct Call {
    /// The server's name.
    server: String,
    /// The tool's own name, without the server's.
    tool: String,
    /// The arguments: a JSON object, or `-` to read one from stdin.
    #[arg(value_name = "JSON|-", value_parser = Arguments::parse)]
    arguments: Option<Arguments>,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Clone)]
enum Arguments {
    Given(Box<runtime::Arguments>),
    Stdin,
}

impl Arguments {
    fn parse(text: &str) -> Result<Self, String> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        object(text).map(Box::new).map(Self::Given)
    }

    fn read(self) -> anyhow::Result<runtime::Arguments> {
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

fn object(text: &str) -> Result<runtime::Arguments, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(values)) => Ok(runtime::Arguments {
            values,
            text: serde_json::from_str(text).ok(),
        }),
        Ok(_) => Err("this is JSON, but no object like `{\"key\": \"value\"}`".to_owned()),
        Err(error) => Err(format!("this is no JSON: {error}")),
    }
}

impl Call {
    pub(super) fn run(self, places: Places) -> anyhow::Result<ExitCode> {
        let arguments = match self.arguments {
            Some(arguments) => arguments.read()?,
            None => runtime::Arguments::default(),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("the threads for the call could not be started")?;
        let result = runtime.block_on(call(places, &self.server, &self.tool, arguments));
        runtime.shutdown_timeout(LAST);
        let result = result?;
        let failed = result.get("isError").as_deref() == Some(&Value::Bool(true));
        match (self.format.json, result) {
            (true, Answer::Made(value)) => output::print_json(&value)?,
            // As it came: another way to write a number would be another number.
            (true, Answer::Verbatim(text)) => output::print(&text)?,
            (false, result) => {
                let value = result
                    .into_value()
                    .context("the result cannot be shown\nhint: `--json` prints it as it came")?;
                let text = text(&value);
                if failed {
                    output::failure(&anyhow::anyhow!("{text}"));
                } else {
                    output::print_foreign(&text)?;
                }
            }
        }
        Ok(if failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }
}

async fn call(
    places: Places,
    server: &str,
    tool: &str,
    arguments: runtime::Arguments,
) -> anyhow::Result<Answer> {
    let roster = Roster::open(places)?;
    roster.save();
    let cancel = CancellationToken::new();
    let context = Context {
        session: roster.begin_session(),
        cancel: cancel.clone(),
        listener: Arc::new(Terminal::new(server)),
    };
    let call = roster.call(server, tool, arguments, context);
    tokio::pin!(call);
    let result = loop {
        tokio::select! {
            result = &mut call => break result?,
            _ = tokio::signal::ctrl_c() => {
                // Whoever asks twice does not want to wait for a tidy end.
                if cancel.is_cancelled() {
                    bail!("interrupted");
                }
                cancel.cancel();
            }
        }
    };
    roster.close().await;
    Ok(result)
}

/// A result as people read it: the text of its blocks, what the others are, or
/// where there are none, its structured content.
fn text(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array);
    let mut texts: Vec<String> = blocks.into_iter().flatten().map(block).collect();
    if texts.is_empty()
        && let Some(structured) = result.get("structuredContent")
    {
        texts.push(serde_json::to_string_pretty(structured).unwrap_or_default());
    }
    texts.join("\n")
}

fn block(block: &Value) -> String {
    let text = |pointer: &str| block.pointer(pointer).and_then(Value::as_str);
    let kind = text("/type").unwrap_or("content of no type");
    if let Some(text) = text("/text").or_else(|| text("/resource/text")) {
        return text.to_owned();
    }
    let mut parts = vec![kind.to_owned()];
    for pointer in ["/uri", "/resource/uri", "/mimeType", "/resource/mimeType"] {
        parts.extend(text(pointer).map(str::to_owned));
    }
    if let Some(data) = text("/data").or_else(|| text("/resource/blob")) {
        // Four characters of base64 are three bytes.
        parts.push(units::human_size(data.len() as u64 / 4 * 3));
    }
    format!("[{}]", parts.join(", "))
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
        assert!(matches!(Arguments::parse("-"), Ok(Arguments::Stdin)));
        assert!(
            matches!(Arguments::parse("{\"a\":1}"), Ok(Arguments::Given(given)) if given.values["a"] == 1)
        );
        for bad in ["", "[]", "1", "{", "{\"a\":1} x"] {
            assert!(Arguments::parse(bad).is_err(), "{bad}");
        }
    }
}
