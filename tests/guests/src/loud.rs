//! Says a text in all the ways in which a plugin can say one.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::panic,
    reason = "it says what it says in all ways that there are"
)]

struct Loud;

dormouse_sdk::plugin!(Loud, world = "loud");

use dormouse_sdk::log;

impl Guest for Loud {
    fn say(text: String) -> String {
        println!("{text}");
        eprintln!("{text}");
        log::warning(&text);
        log::error(&[&text]);
        log::Logger(&text).error(&text);
        dormouse_sdk::progress(1.0, Some(2.0), &text);
        text
    }

    fn fail(text: String) -> Result<String, String> {
        Err(text)
    }

    fn panic(text: String) -> String {
        panic!("{text}")
    }

    fn spill() -> String {
        let variables = std::env::vars().map(|(_, value)| value);
        let settings = dormouse_sdk::settings::all::<serde_json::Value>().unwrap_or_default();
        let given: Vec<String> = variables.chain([settings.to_string()]).collect();
        Self::panic(Self::say(given.join(" ")))
    }
}
