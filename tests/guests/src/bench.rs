//! Twenty tools of ordinary size, for the benches.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Bench;

dormouse_sdk::plugin!(Bench, world = "bench");

fn say(text: &str, times: Option<u32>) -> String {
    text.repeat(times.unwrap_or(1) as usize)
}

macro_rules! tools {
    ($($name:ident)*) => {
        impl Guest for Bench {
            $(fn $name(text: String, times: Option<u32>) -> String {
                say(&text, times)
            })*
        }
    };
}

tools! {
    echo
    filler01 filler02 filler03 filler04 filler05 filler06 filler07 filler08 filler09 filler10
    filler11 filler12 filler13 filler14 filler15 filler16 filler17 filler18 filler19
}
