//! The prompts.

use dormouse_sdk::client::{self, Reply};
use dormouse_sdk::types::EmbeddedResource;
use dormouse_sdk::{Content, PromptMessage};
use serde_json::{Value, json};

use crate::Fixtures;
use crate::dormouse_bindings::exports::dormouse_plugins::conformance::prompts::{Embedded, Guest};
use crate::files::PNG;

impl Guest for Fixtures {
    fn test_simple_prompt() -> String {
        "This is a simple prompt for testing.".into()
    }

    fn test_prompt_with_arguments(arg1: String, arg2: String) -> String {
        format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
    }

    fn test_prompt_with_embedded_resource(arguments: Embedded) -> Vec<PromptMessage> {
        let text = "Embedded resource content for testing.";
        let resource = EmbeddedResource::text(arguments.resource_uri, text);
        vec![
            PromptMessage::user(Content::Resource(resource.with_mime_type("text/plain"))),
            PromptMessage::user("Please process the embedded resource above."),
        ]
    }

    fn test_prompt_with_image() -> Vec<PromptMessage> {
        vec![
            PromptMessage::user(Content::image(PNG, "image/png")),
            PromptMessage::user("Please analyze the image above."),
        ]
    }

    fn test_input_required_result_prompt() -> Result<String, String> {
        let schema = json!({
            "type": "object",
            "properties": { "context": { "type": "string" } },
            "required": ["context"],
        });
        let message = "What context should the prompt use?";
        match client::elicit::<Value>("user_context", message, &schema)? {
            Reply::Accept(content) => {
                let context = content.get("context").and_then(Value::as_str);
                Ok(format!("Prompt in context: {}", context.unwrap_or("none")))
            }
            Reply::Decline | Reply::Cancel => Err("a prompt without context is none".into()),
        }
    }
}
