//! Has prompts and resources, and says when they change. Only as wasm: the name of an
//! export with a version is none to the linkers of other targets.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_sdk::client::{self, Field, Reply};
use dormouse_sdk::{Completion, Completions, EmbeddedResource, PromptMessage, Reference, notify};

struct Library;

dormouse_sdk::plugin!(Library, world = "library");

impl Guest for Library {
    fn greet(name: String, mood: Option<Mood>, times: Option<u8>) -> String {
        let mood = match mood {
            Some(Mood::Cheerful) => "cheerfully",
            Some(Mood::Calm) => "calmly",
            Some(Mood::Cross) => "crossly",
            None => "somehow",
        };
        format!("Greet {name} {mood}, {} times.", times.unwrap_or(1))
    }

    fn talk(topic: String) -> Result<Vec<PromptMessage>, String> {
        if topic.is_empty() {
            return Err("about nothing there is nothing to say".into());
        }
        Ok(vec![
            PromptMessage::user(format!("What do you know of {topic}?")),
            PromptMessage::assistant("Much."),
        ])
    }

    fn write_about() -> Result<String, String> {
        let topic = Field::text("topic").optional();
        match client::elicit("topic", "About what?", topic)? {
            Reply::Accept(topic) => {
                let topic = topic.unwrap_or_else(|| "anything".into());
                Ok(format!("Write about {topic}."))
            }
            _ => Err("nobody knows about what".into()),
        }
    }

    fn today() -> String {
        "Reading".into()
    }

    fn zeros(n: u16) -> Vec<u8> {
        vec![0; n.into()]
    }

    fn book(title: String) -> Result<Vec<EmbeddedResource>, String> {
        let uri = |part: &str| format!("library://books/{title}#{part}");
        match title.as_str() {
            "Dormouse" => Ok(vec![
                EmbeddedResource::text(uri("text"), "It sleeps.").with_mime_type("text/plain"),
                EmbeddedResource::blob(uri("cover"), [1, 2, 3]),
            ]),
            "burnt" => Err("there is nothing left of it".into()),
            _ => Ok(Vec::new()),
        }
    }

    fn touch() {
        notify::resource_updated("library://today");
    }

    fn announce(times: u32) {
        for _ in 0..times {
            notify::tools_changed();
            notify::prompts_changed();
            notify::resources_changed();
        }
    }

    fn meddle(uri: String) {
        notify::resource_updated(&uri);
    }
}

impl Completion for Library {
    fn complete(
        of: Reference,
        argument: String,
        value: String,
        context: Vec<(String, String)>,
    ) -> Result<Completions, String> {
        let all = match (&of, argument.as_str()) {
            (Reference::Prompt(name), "topic") if name == "talk" => {
                vec!["dormice", "dreams", "sleep"]
            }
            (Reference::Template(uri), "title") if uri == "library://books/{title}" => {
                vec!["Dormouse", "burnt"]
            }
            (_, "name") => context.iter().map(|(_, value)| value.as_str()).collect(),
            _ => return Err(format!("there is no `{argument}`")),
        };
        let fitting = all.into_iter().filter(|one| one.starts_with(&value));
        Ok(fitting.collect())
    }
}
