//! Why a component could not be read, in words for the person who configured it.

use std::io;
use std::path::PathBuf;

/// Longest text out of a component that is repeated, in characters.
const MAX_WORDS: usize = 300;

/// The beginning of what is said with words out of a component, within one line and without what
/// would steer a terminal or hide something: whoever made the file has written them.
pub(crate) fn words(text: &str) -> String {
    let mut words = String::new();
    for (number, char) in text.chars().enumerate() {
        match char {
            _ if number == MAX_WORDS => {
                words.push('…');
                break;
            }
            '"' | '\'' | '\\' => words.push(char),
            _ => words.extend(char.escape_debug()),
        }
    }
    words
}

/// A component could not be read.
#[derive(Debug, thiserror::Error)]
#[error("`{}`: {problem}", .path.display())]
pub struct ReadError {
    /// The component's file.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub problem: Problem,
}

/// What is wrong with a file that should have been a component.
#[derive(Debug, thiserror::Error)]
#[allow(
    missing_docs,
    reason = "the fields are named after what the messages say of them"
)]
pub enum Problem {
    /// Nothing is there.
    #[error(
        "there is no such file\nhint: the path is taken from the folder of the configuration file; check its spelling, or build the plugin first"
    )]
    Missing,
    /// A folder is there.
    #[error("this is a folder\nhint: name the `.wasm` file in it")]
    Folder,
    /// Something is there that cannot be read to its end, like a pipe.
    #[error("this is neither a file nor a link to one\nhint: name a `.wasm` file")]
    Special,
    /// It cannot be opened or read.
    #[error("the file cannot be read: {0}\nhint: check its permissions")]
    Io(#[source] io::Error),
    /// Nothing is in it.
    #[error(
        "the file is empty\nhint: the build or the download that made it has failed; make it again"
    )]
    Empty,
    /// It is larger than anything sensible.
    #[error(
        "the file has {size} bytes, more than the {limit} that a component may have\nhint: strip it of debugging information with `wasm-tools strip`, then run `dormouse pack` on it again"
    )]
    TooLarge { size: u64, limit: u64 },
    /// It is no WebAssembly.
    #[error(
        "this is not WebAssembly: it begins with `{start}`\nhint: a plugin is a WebAssembly component, built for example with `cargo build --target wasm32-wasip2`"
    )]
    NotWasm { start: String },
    /// It is WebAssembly, but not a component.
    #[error(
        "this is a WebAssembly core module, not a component\nhint: build it with `--target wasm32-wasip2`, or turn it into a component with `wasm-tools component new`"
    )]
    CoreModule,
    /// It is a component as text.
    #[error("this is WebAssembly text\nhint: turn it into a component with `wasm-tools parse`")]
    WasmText,
    /// It is a WIT package, as text or encoded.
    #[error(
        "this is a WIT package, which describes a component, not a component\nhint: name the component that was built from it; `dormouse pack --wit` adds what the package says to it"
    )]
    WitPackage,
    /// It is WebAssembly of a version that nobody has defined yet.
    #[error(
        "this is WebAssembly of an encoding that this host does not know: the version field is `{version:#010x}`\nhint: update Dormouse, or build the plugin with an older toolchain"
    )]
    Encoding { version: u32 },
    /// It ends in the middle.
    #[error(
        "the component ends in the middle, {size} bytes into it\nhint: the build or the download that made it has failed; make it again"
    )]
    Truncated { size: u64 },
    /// It is not what a component looks like.
    #[error(
        "the component is damaged at byte {offset}: {message}\nhint: the build or the download that made it has failed; make it again"
    )]
    Malformed { offset: usize, message: String },
    /// Its declaration is not what a declaration looks like.
    #[error("its declaration cannot be read: {message}")]
    Declaration { message: String },
    /// It was made for another version of the contract.
    #[error("it {verb} `{name}`, but this host offers `{offered}`\nhint: {hint}")]
    Contract {
        /// `imports` or `exports`.
        verb: &'static str,
        name: String,
        offered: &'static str,
        hint: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_component_are_one_short_line() {
        for (text, shown) in [
            ("it is `a\"b\\c'`", "it is `a\"b\\c'`".to_owned()),
            (
                "\u{1b}[2J\n\nok: safe",
                "\\u{1b}[2J\\n\\nok: safe".to_owned(),
            ),
            ("a\u{202e}b\u{200b}", "a\\u{202e}b\\u{200b}".to_owned()),
            (&"é".repeat(400), format!("{}…", "é".repeat(300))),
        ] {
            assert_eq!(words(text), shown);
        }
    }
}
