//! Descriptions of plugins: their tools, prompts and resources, and the grants that they want.

use dormouse_text::visible::{visible_json, visible_line, visible_prose};
use dormouse_wit::{GrantRequest, signature};
use serde_json::Value;
use serde_json::value::RawValue;

use super::grant_requests::{self, MissingGrant};
use super::output::{self, FAINT, STRONG};
use crate::roster::HeldByPlugin;

/// Tool in a form for people.
pub(super) struct ToolDescription {
    /// Signature, with the name that was asked for.
    pub(super) signature: String,
    /// Description in its author's words.
    pub(super) description: String,
}

impl ToolDescription {
    /// Describes the tool under the name that agents see, or its own.
    pub(super) fn new(declared: &RawValue, name: &str) -> Self {
        // The catalog has parsed it before, so that nothing is lost here.
        let tool: Value = serde_json::from_str(declared.get()).unwrap_or_default();
        let input = tool.get("inputSchema").unwrap_or(&Value::Null);
        Self {
            signature: signature::compact(name, input, tool.get("outputSchema")),
            description: description(&tool).to_owned(),
        }
    }

    /// Returns the signature, with the description below it.
    pub(super) fn long(&self) -> String {
        let end = self.signature.find('(').unwrap_or(self.signature.len());
        let (name, rest) = self.signature.split_at(end);
        long(name, rest, &self.description)
    }
}

/// Returns a prompt for people: its name with its arguments, and its description below. `?` marks
/// optional arguments, as in a tool's signature.
pub(super) fn prompt(declared: &RawValue, name: &str) -> String {
    let prompt: Value = serde_json::from_str(declared.get()).unwrap_or_default();
    let arguments = prompt.get("arguments").and_then(Value::as_array);
    let arguments = arguments.into_iter().flatten().map(|argument| {
        let required = argument.get("required") == Some(&Value::Bool(true));
        let optional = if required { "" } else { "?" };
        format!("{}{optional}", text(argument, "name"))
    });
    let arguments: Vec<_> = arguments.collect();
    long(
        name,
        &format!("({})", arguments.join(", ")),
        description(&prompt),
    )
}

/// Returns a resource or a template of resources for people: its URI, and its description below.
pub(super) fn resource(declared: &RawValue, uri: &str) -> String {
    let resource: Value = serde_json::from_str(declared.get()).unwrap_or_default();
    let kind = match text(&resource, "mimeType") {
        "" => String::new(),
        kind => format!(" ({kind})"),
    };
    let words = match description(&resource) {
        "" => text(&resource, "name"),
        words => words,
    };
    long(uri, &kind, words)
}

/// Returns the description of a prompt or a resource, or else its title.
pub(super) fn words(declared: &RawValue) -> String {
    let object: Value = serde_json::from_str(declared.get()).unwrap_or_default();
    description(&object).to_owned()
}

/// Returns a name, more text behind it, and a description in the lines below.
fn long(name: &str, rest: &str, description: &str) -> String {
    let name = output::styled(STRONG, output::clean(name));
    let mut text = format!("{name}{}\n", output::clean(rest));
    for line in visible_prose(description).lines() {
        text.push_str(format!("    {line}").trim_end());
        text.push('\n');
    }
    text
}

/// Returns the description of an MCP object, or else its title.
fn description(object: &Value) -> &str {
    match text(object, "description") {
        "" => text(object, "title"),
        description => description,
    }
}

/// Returns a string member.
fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns a plugin's name, version and purpose on one line.
pub(super) fn headline(
    name: Option<&String>,
    version: Option<&String>,
    description: Option<&String>,
) -> String {
    let title: Vec<_> = [(name, 60), (version, 20)]
        .into_iter()
        .filter_map(|(text, longest)| Some(output::first_line(text?, longest)))
        .collect();
    let mut parts = vec![title.join(" ")];
    parts.extend(description.map(|text| output::first_line(text, 100)));
    parts.retain(|part| !part.is_empty());
    parts.join(": ")
}

/// Returns the grants that a plugin requests and does not have, with its reasons and the lines of
/// the configuration that grant them. Empty where no grant is missing.
pub(super) fn missing(
    server: &str,
    wanted: &[GrantRequest],
    held: HeldByPlugin<'_>,
) -> anyhow::Result<String> {
    let missing = grant_requests::missing(wanted, held);
    if missing.is_empty() {
        return Ok(String::new());
    }
    let mut text = format!("It asks\n{}", grant_requests::told(&missing, false));
    let lines = MissingGrant::lines(server, &missing)?;
    if !lines.is_empty() {
        text.push_str("which these lines of the configuration grant:\n");
        // The strings of TOML know the same escapes.
        for line in visible_json(lines.trim_end()).lines() {
            text.push_str(&format!("  {}\n", output::styled(FAINT, line)));
        }
    }
    if let Some(command) = grant_requests::inputs_command(server, &missing) {
        let command = visible_line(&command);
        text.push_str(&format!(
            "Settings and secrets are given by this command:\n  {}\n",
            output::styled(FAINT, command)
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use dormouse_policy::{FsMode, Grants};
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn prompts_and_resources_are_told_in_a_few_lines() {
        let raw = |json: serde_json::Value| serde_json::value::to_raw_value(&json).unwrap();
        let told = prompt(
            &raw(json!({
                "name": "review", "description": "Reviews\u{1b}[2J.\nThoroughly.",
                "arguments": [{ "name": "code", "required": true }, { "name": "style" }],
            })),
            "review",
        );
        assert_eq!(
            told,
            "review(code, style?)\n    Reviews\\u{1b}[2J.\n    Thoroughly.\n"
        );
        let plain = raw(json!({ "name": "hello", "title": "Hello" }));
        assert_eq!(prompt(&plain, "hello"), "hello()\n    Hello\n");
        let notes = raw(json!({ "uri": "notes://all", "name": "notes", "mimeType": "text/plain" }));
        assert_eq!(
            resource(&notes, "notes://all"),
            "notes://all (text/plain)\n    notes\n"
        );
    }

    /// Returns what a server with these grants and nothing else lacks.
    fn missing(server: &str, wanted: &[GrantRequest], grants: &Grants) -> String {
        super::missing(server, wanted, HeldByPlugin::new(grants, &Map::new())).unwrap()
    }

    #[test]
    fn what_is_missing_is_told_with_lines_that_grant_it() {
        let wanted = [
            GrantRequest::Fs {
                write: true,
                why: "notes".to_owned(),
            },
            GrantRequest::Env {
                name: "TZ".to_owned(),
                why: String::new(),
            },
            GrantRequest::Http {
                origin: "GET https://api.example.com/v1".to_owned(),
                why: "the API".to_owned(),
            },
        ];
        let told = missing("notes", &wanted, &Grants::default());
        assert_eq!(
            told,
            "It asks\n  \
             to read and write a folder: notes\n  \
             to see the environment variable `TZ`\n  \
             to send GET requests to api.example.com (/v1 and below) over HTTPS: the API\n\
             which these lines of the configuration grant:\n  \
             [servers.notes.grants]\n  \
             fs = [{ path = \"/path/to/folder\", mode = \"rw\" }]\n  \
             env = [\"TZ\"]\n  \
             http = [\"GET https://api.example.com/v1\"]\n"
        );
        // The lines are what the configuration takes.
        let lines: String = told
            .lines()
            .skip_while(|line| !line.contains('['))
            .map(|line| format!("{}\n", line.trim()))
            .collect();
        let text = format!("[servers.notes]\ncomponent = \"/n.wasm\"\n{lines}");
        let (config, problems) = dormouse_config::file::parse("/x/dormouse.toml".as_ref(), &text);
        assert_eq!(problems, []);
        let granted = &config.servers["notes"].grants;
        assert_eq!(missing("notes", &wanted, granted), "");
        // What a component asks for is on its line, whatever is in it.
        let odd = [GrantRequest::Upstream {
            command: vec!["x\nwhich is granted already".to_owned()],
            url: None,
            secrets: Vec::new(),
        }];
        let told = missing("notes", &odd, &Grants::default());
        assert!(
            told.starts_with("It asks\n  to run the MCP server `$'x\\nwhich"),
            "{told}"
        );
        // To read is not to write.
        let mut read_only = granted.clone();
        read_only.fs[0].mode = FsMode::ReadOnly;
        assert!(missing("notes", &wanted, &read_only).contains("to read and write a folder"));
    }
}
