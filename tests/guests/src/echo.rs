//! Gives back what it is given, of every type there is. The guest that behaves.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Echo;

dormouse_sdk::plugin!(Echo, world = "echo");

impl Guest for Echo {
    fn echo(text: String) -> String {
        text
    }

    fn mirror(all: Everything) -> Everything {
        all
    }

    fn add(a: i32, b: i32) -> i64 {
        i64::from(a) + i64::from(b)
    }

    fn fail(message: String) -> Result<String, String> {
        Err(message)
    }
}
