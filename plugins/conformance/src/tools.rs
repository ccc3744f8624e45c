//! The tools that answer by themselves.

use std::thread::sleep;
use std::time::Duration;

use dormouse_sdk::{Content, log, notify, progress};

use crate::Fixtures;
use crate::exports::dormouse_plugins::conformance::tools::Guest;
use crate::files::{PNG, WAV};

/// Time between two messages, so that a client can tell them apart.
const PAUSE: Duration = Duration::from_millis(50);

impl Guest for Fixtures {
    fn test_simple_text() -> String {
        "This is a simple text response for testing.".into()
    }

    fn test_image_content() -> Vec<Content> {
        vec![Content::image(PNG, "image/png")]
    }

    fn test_audio_content() -> Vec<Content> {
        vec![Content::audio(WAV, "audio/wav")]
    }

    fn test_embedded_resource() -> Vec<Content> {
        let text = "This is an embedded resource content.";
        let uri = "test://embedded-resource";
        vec![Content::text_resource(uri, text, "text/plain")]
    }

    fn test_multiple_content_types() -> Vec<Content> {
        let json = r#"{"test":"data","value":123}"#;
        let uri = "test://mixed-content-resource";
        vec![
            "Multiple content types test:".into(),
            Content::image(PNG, "image/png"),
            Content::text_resource(uri, json, "application/json"),
        ]
    }

    fn test_tool_with_logging() -> String {
        log::info("Tool execution started");
        sleep(PAUSE);
        log::info("Tool processing data");
        sleep(PAUSE);
        log::info("Tool execution completed");
        "Three messages were logged.".into()
    }

    fn test_logging_tool() -> String {
        log::info("Only for those who have asked for it");
        "One message was logged.".into()
    }

    fn test_tool_with_progress() -> String {
        for done in [0.0, 50.0] {
            progress(done, Some(100.0), "");
            sleep(PAUSE);
        }
        progress(100.0, Some(100.0), "");
        "All of it is done.".into()
    }

    fn test_error_handling() -> Result<String, String> {
        Err("This tool intentionally returns an error for testing".into())
    }

    fn test_trigger_tool_change() -> String {
        notify::tools_changed();
        "The list of tools is to be asked for again.".into()
    }

    fn test_trigger_prompt_change() -> String {
        notify::prompts_changed();
        "The list of prompts is to be asked for again.".into()
    }
}
