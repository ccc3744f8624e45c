//! Text of many bytes everywhere.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Multibyte;

dormouse_sdk::plugin!(Multibyte, world = "multibyte");

impl Guest for Multibyte {
    fn greet(whom: Greeting) -> Result<String, String> {
        if whom.size == 0 {
            // Long enough for a logger that cuts at a byte to meet the middle of a
            // character, wherever it cuts.
            return Err("zu klein 😀日本語ß".repeat(200));
        }
        eprintln!("{}", "grüße 😀 日本語 ".repeat(100));
        Ok(format!(
            "Grüß Gott, {}! {}",
            whom.name,
            "🍎".repeat(whom.size as usize)
        ))
    }
}
