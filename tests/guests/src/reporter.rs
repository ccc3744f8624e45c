//! Says how far it is.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Reporter;

dormouse_sdk::plugin!(Reporter, world = "reporter");

use dormouse_sdk::log;

impl Guest for Reporter {
    fn work(steps: u32) -> String {
        for step in 1..=steps {
            dormouse_sdk::progress(
                f64::from(step),
                Some(f64::from(steps)),
                &format!("step {step}"),
            );
            // Some clients drop a report that arrives together with the answer.
            std::thread::sleep(std::time::Duration::from_millis(20));
            log::info(&format!("did step {step}"));
        }
        format!("did {steps} steps")
    }

    fn chatter() {
        log::debug("d");
        log::info("i");
        log::notice(&[1, 2]);
        log::warning("w");
        log::error("e");
        log::critical("c");
        log::alert("a");
        log::emergency("!");
        log::Logger("db").error("slow");
    }
}
