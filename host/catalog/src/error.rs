//! Errors of reading a component, in words for the person who configured it.

use std::borrow::Cow;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_text::visible::visible_path;
use serde::{Deserialize, Serialize};

/// Longest quotation from a component, in characters.
const MAX_WORDS: usize = 300;

/// Longest message in a fault that is kept, in bytes.
const MAX_MESSAGE_BYTES: usize = 4 << 10;

/// Returns the beginning of a message that quotes a component, on one line and without characters
/// that control a terminal or hide text: the author of the component has chosen them.
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
#[derive(Debug, Clone, thiserror::Error)]
#[error("`{}`: {problem}", visible_path(.path))]
pub struct ReadError {
    /// The component's file.
    pub path: PathBuf,
    /// Fault of the file.
    #[source]
    pub problem: Problem,
}

/// Fault of a file that should have been a component.
#[derive(Debug, Clone, thiserror::Error, Serialize, Deserialize)]
#[allow(
    missing_docs,
    reason = "the fields are named after what the messages say of them"
)]
pub enum Problem {
    /// No file.
    #[error(
        "there is no such file\nhint: the path is taken from the folder of the configuration file; check its spelling, or build the plugin first"
    )]
    Missing,
    /// A folder.
    #[error("this is a folder\nhint: name the `.wasm` file in it")]
    Folder,
    /// A special file that cannot be read to its end, like a pipe.
    #[error("this is neither a file nor a link to one\nhint: name a `.wasm` file")]
    Special,
    /// A file that cannot be opened or read.
    #[error("the file cannot be read: {0}\nhint: check its permissions")]
    #[serde(skip)]
    Io(#[source] Arc<io::Error>),
    /// A file that another user may have put there.
    #[error("{0}")]
    Others(String),
    /// An empty file.
    #[error(
        "the file is empty\nhint: the build or the download that made it has failed; make it again"
    )]
    Empty,
    /// A file larger than any sensible one.
    #[error(
        "the file has {size} bytes, more than the {limit} that a component may have\nhint: strip it of debugging information with `wasm-tools strip`, then run `dormouse pack` on it again"
    )]
    TooLarge { size: u64, limit: u64 },
    /// No WebAssembly.
    #[error(
        "this is not WebAssembly: it begins with `{start}`\nhint: a plugin is a WebAssembly component, built for example with `cargo build --target wasm32-wasip2`"
    )]
    NotWasm { start: String },
    /// WebAssembly, but no component.
    #[error(
        "this is a WebAssembly core module, not a component\nhint: build it with `--target wasm32-wasip2`, or turn it into a component with `wasm-tools component new`"
    )]
    CoreModule,
    /// A component as text.
    #[error("this is WebAssembly text\nhint: turn it into a component with `wasm-tools parse`")]
    WasmText,
    /// A WIT package, as text or encoded.
    #[error(
        "this is a WIT package, which describes a component, not a component\nhint: name the component that was built from it; `dormouse pack --wit` adds what the package says to it"
    )]
    WitPackage,
    /// WebAssembly of a version that is not defined yet.
    #[error(
        "this is WebAssembly of an encoding that this host does not know: the version field is `{version:#010x}`\nhint: update Dormouse, or build the plugin with an older toolchain"
    )]
    Encoding { version: u32 },
    /// A component that is cut off.
    #[error(
        "the component ends in the middle, {size} bytes into it\nhint: the build or the download that made it has failed; make it again"
    )]
    Truncated { size: u64 },
    /// A malformed component.
    #[error(
        "the component is damaged at byte {offset}: {message}\nhint: the build or the download that made it has failed; make it again"
    )]
    Malformed { offset: usize, message: String },
    /// A malformed declaration.
    #[error("its declaration cannot be read: {message}")]
    Declaration { message: String },
    /// A component whose reading takes more than that of any may.
    #[error(
        "reading it takes more than {seconds} s or {memory} bytes of memory\nhint: no toolchain makes such components; build it anew, or ask whoever made it"
    )]
    Costly { seconds: u64, memory: u64 },
    /// A component whose reading was ended by the clock. Other processes may have kept it waiting.
    #[error(
        "reading it took longer than {seconds} s\nhint: three starts try it, and later ones once a day or when the file has changed; `dormouse check` of it says whether it is in order"
    )]
    Slow { seconds: u64 },
    /// A component for which there was no time at this start or reload.
    #[error(
        "it is not read yet: other components that are new take long to read\nhint: a running host goes on with it, and so does the next start; `dormouse check` of this file says whether it is in order"
    )]
    NotYet,
    /// A component of which more would have to be kept than of any may.
    #[error(
        "what it offers takes {bytes} bytes, more than the {limit} that are kept of a file of its size\nhint: let it offer less, or with smaller types and schemas"
    )]
    Excessive { bytes: u64, limit: u64 },
    /// A process to read the component that cannot be started.
    #[error(
        "the process that reads it {message}\nhint: try again when the machine has more room for processes"
    )]
    NoProcess { message: String },
    /// A failure of the process that reads the component.
    #[error(
        "the process that reads it {message}\nhint: the component is damaged, or something else has ended the process; three starts try it, and later ones once a day or when the file has changed"
    )]
    Process { message: String },
    /// A component for another version of the contract.
    #[error("it {verb} `{name}`, but this host offers `{offered}`\nhint: {hint}")]
    Contract {
        /// `imports` or `exports`.
        verb: Cow<'static, str>,
        name: String,
        offered: Cow<'static, str>,
        hint: Cow<'static, str>,
    },
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::Io(Arc::new(error))
    }
}

impl Problem {
    /// Checks whether the file's content alone is at fault, so that reading the same file again
    /// would find the same.
    pub(crate) fn is_of_content(&self) -> bool {
        match self {
            Self::Missing
            | Self::Folder
            | Self::Special
            | Self::Io(_)
            | Self::Others(_)
            | Self::TooLarge { .. }
            | Self::Slow { .. }
            | Self::NotYet
            | Self::NoProcess { .. }
            | Self::Process { .. } => false,
            Self::Empty
            | Self::NotWasm { .. }
            | Self::CoreModule
            | Self::WasmText
            | Self::WitPackage
            | Self::Encoding { .. }
            | Self::Truncated { .. }
            | Self::Malformed { .. }
            | Self::Declaration { .. }
            | Self::Costly { .. }
            | Self::Excessive { .. }
            | Self::Contract { .. } => true,
        }
    }

    /// Checks whether reading the file has taken time for nothing, though it may succeed the next
    /// time: it is not to be tried again without end.
    pub(crate) fn is_failed_attempt(&self) -> bool {
        matches!(self, Self::Slow { .. } | Self::Process { .. })
    }

    /// Cuts a message off that is too long to be kept: the author of the component may have chosen
    /// what it quotes.
    pub(crate) fn shortened(mut self) -> Self {
        if let Self::Declaration { message }
        | Self::Malformed { message, .. }
        | Self::NoProcess { message }
        | Self::Process { message } = &mut self
        {
            let cut = message.floor_char_boundary(MAX_MESSAGE_BYTES);
            if cut < message.len() {
                message.truncate(cut);
                message.push('…');
            }
        }
        self
    }
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
