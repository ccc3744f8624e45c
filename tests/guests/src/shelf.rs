//! Has tools, prompts, resources and templates that are declared as MCP's own objects,
//! and no function for any of them. Only as wasm, as the names of its exports have
//! versions.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_sdk::mcp::{self, CallToolResult, GetPromptResult, ReadResourceResult};
use dormouse_sdk::{
    Adapter, Completion, Completions, Content, EmbeddedResource, PromptMessage, Prompts, ReadError,
    Reference, Resources, notify,
};
use serde::Deserialize;
use serde_json::json;

struct Shelf;

dormouse_sdk::adapter!(
    Shelf,
    tools = "mcp/shelf.json",
    prompts = "mcp/shelf.json",
    resources = "mcp/shelf.json",
    templates = "mcp/shelf.json",
    subscribe,
    completion,
);

#[derive(Deserialize)]
struct Lend {
    title: String,
    days: Option<u32>,
}

#[derive(Deserialize)]
struct Recommend {
    mood: Option<String>,
}

impl Adapter for Shelf {
    fn call_tool(name: String, arguments: String) -> Result<String, String> {
        let answer = match name.as_str() {
            "lend" => {
                let Lend { title, days } = mcp::arguments(&arguments)?;
                let days = days.unwrap_or(14);
                CallToolResult::new([
                    Content::text(format!("`{title}` is due in {days} days")),
                    Content::link(format!("shelf://books/{title}"), &title),
                ])
                .with_structured(json!({ "title": title, "days": days }))
            }
            "turn" => {
                notify::resource_updated("shelf://open");
                CallToolResult::new(["turned"])
            }
            _ => return Err(format!("there is no `{name}`")),
        };
        Ok(answer.into())
    }
}

impl Prompts for Shelf {
    fn get_prompt(name: String, arguments: String) -> Result<String, String> {
        if name != "recommend" {
            return Err(format!("there is no `{name}`"));
        }
        let Recommend { mood } = mcp::arguments(&arguments)?;
        let mood = mood.ok_or("nobody knows what it is to be like")?;
        let messages = [
            PromptMessage::user(format!("Recommend a {mood} book.")),
            PromptMessage::assistant("Gladly."),
        ];
        Ok(GetPromptResult::new(messages)
            .with_description("A recommendation")
            .into())
    }
}

impl Resources for Shelf {
    fn read_resource(uri: String) -> Result<String, ReadError> {
        let resource = match uri.strip_prefix("shelf://books/") {
            Some("Dormouse") => EmbeddedResource::text(&uri, "# It sleeps"),
            Some("burnt") => return Err(ReadError::Failed("there is nothing left of it".into())),
            Some(_) => return Err(ReadError::NotFound),
            None => EmbeddedResource::blob(&uri, [1, 2, 3]),
        };
        Ok(ReadResourceResult::new([resource.with_mime_type("text/x-shelf")]).into())
    }
}

impl Completion for Shelf {
    fn complete(
        of: Reference,
        argument: String,
        value: String,
        _context: Vec<(String, String)>,
    ) -> Result<Completions, String> {
        let all = match (of, argument.as_str()) {
            (Reference::Prompt(_), "mood") => ["merry", "melancholic"],
            (Reference::Template(_), "title") => ["Dormouse", "burnt"],
            _ => return Err(format!("there is no `{argument}`")),
        };
        let fitting = all.into_iter().filter(|one| one.starts_with(&value));
        Ok(fitting.collect())
    }
}
