//! Ends by itself when its call is cancelled, or does not.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Tidy;

dormouse_sdk::plugin!(Tidy, world = "tidy");

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dormouse_sdk::{is_cancelled, log};

static CALLS: AtomicU32 = AtomicU32::new(0);

impl Guest for Tidy {
    fn watch() -> String {
        log::info("working");
        while !is_cancelled() {
            std::thread::sleep(Duration::from_millis(20));
        }
        log::info("tidying up");
        "tidied up".into()
    }

    fn spin() -> String {
        log::info("working");
        while !is_cancelled() {
            std::hint::spin_loop();
        }
        log::info("tidying up");
        "tidied up".into()
    }

    fn ignore() {
        log::info("working");
        loop {
            std::hint::black_box(is_cancelled());
        }
    }

    fn ask() -> Result<String, String> {
        let schema = serde_json::json!({ "type": "object", "properties": {} });
        let answer = dormouse_sdk::client::elicit("ask", "Well?", schema);
        if is_cancelled() {
            log::info("tidying up");
        }
        Ok(format!("{:?}", answer?))
    }

    fn count() -> u32 {
        CALLS.fetch_add(1, Ordering::Relaxed) + 1
    }
}
