//! Has tools with the names of functions of C's library, which the standard library calls.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]
#![allow(clippy::print_stdout, reason = "that is C's `write`")]

struct Names;

dormouse_sdk::plugin!(Names, world = "c-names");

macro_rules! tools {
    ($($name:ident)*) => {
        impl Guest for Names {
            $(fn $name(text: String) -> String {
                does(stringify!($name), &text)
            })*
        }
    };
}

tools! {
    read write open close send recv malloc calloc realloc free memcpy strlen printf puts main exit abort memory connect poll time sleep rename remove stat getenv start
}

/// Calls what the standard library calls of C's: memory, files, the environment, the clock.
fn does(name: &str, text: &str) -> String {
    println!("{name} prints {text}");
    eprintln!("{name} complains of {text}");
    let read = std::fs::read_to_string("/none").is_ok();
    let written = std::fs::write("/none", text).is_ok();
    let renamed = std::fs::rename("/none", "/other").is_ok();
    let connected = std::net::TcpStream::connect("127.0.0.1:1").is_ok();
    let variable = std::env::var("NONE").is_ok();
    std::thread::sleep(std::time::Duration::from_millis(1));
    let bytes = vec![1_u8; 100_000].len();
    format!("{name}: {text} {read} {written} {renamed} {connected} {variable} {bytes}")
}
