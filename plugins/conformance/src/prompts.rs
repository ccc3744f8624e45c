//! The prompts.

use dormouse_sdk::client::{self, Field, Reply};
use dormouse_sdk::{Content, PromptMessage};

use crate::Fixtures;
use crate::exports::dormouse_plugins::conformance::prompts::{Embedded, Guest};
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
        let resource = Content::text_resource(arguments.resource_uri, text, "text/plain");
        vec![
            PromptMessage::user(resource),
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
        let message = "What context should the prompt use?";
        match client::elicit("user_context", message, Field::text("context"))? {
            Reply::Accept(context) => Ok(format!("Prompt in context: {context}")),
            Reply::Decline | Reply::Cancel => Err("a prompt without context is none".into()),
        }
    }
}
