//! Documents, as the library has read them.

use super::*;

/// Outcome of reading a file.
pub(in crate::discovery) enum LoadedFile {
    Missing,
    /// A file that is there and cannot be read, and its text as far as there is one.
    Bad {
        problem: ConfigProblem,
        text: String,
    },
    Document(Document),
}

/// A file and its content.
pub(in crate::discovery) struct Document {
    pub(in crate::discovery) file: PathBuf,
    pub(in crate::discovery) text: String,
    pub(in crate::discovery) lines: LineBeginnings,
    pub(in crate::discovery) root: Node,
}

impl Document {
    /// Makes a reader of the document, without problems so far.
    pub(in crate::discovery) fn reader(&self) -> ClientFileReader<'_> {
        ClientFileReader {
            file: &self.file,
            text: &self.text,
            lines: &self.lines,
            problems: Vec::new(),
            problem_count: 0,
        }
    }
}

impl LoadedFile {
    /// Returns the content of the file, where it could be read.
    pub(in crate::discovery) fn root(&self) -> Option<&Node> {
        match self {
            Self::Document(document) => Some(&document.root),
            Self::Missing | Self::Bad { .. } => None,
        }
    }
}

pub(super) fn load(
    file: &Path,
    syntax: Syntax,
    bytes: Result<Option<Vec<u8>>, String>,
) -> LoadedFile {
    let bad = |text: String, (line, column), message: String, hint: Option<&str>| LoadedFile::Bad {
        problem: ConfigProblem {
            file: file.to_owned(),
            line,
            column,
            message,
            hint: hint.map(str::to_owned),
        },
        text,
    };
    let bytes = match bytes {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return LoadedFile::Missing,
        Err(why) => {
            let (why, hint) = match why.split_once("\nhint: ") {
                Some((why, hint)) => (why, Some(hint)),
                None => (why.as_str(), None),
            };
            return bad(String::new(), (1, 1), format!("the file {why}"), hint);
        }
    };
    let lossy = std::str::from_utf8(&bytes).is_err();
    let lossy = lossy.then(|| String::from_utf8_lossy(&bytes).into_owned());
    let text = match files::text(bytes) {
        Ok(text) => text,
        Err(valid) => {
            let place = LineBeginnings::of(&valid).place(&valid, valid.len());
            return bad(
                lossy.unwrap_or_default(),
                place,
                "this is not UTF-8".to_owned(),
                Some("save the file as UTF-8"),
            );
        }
    };
    let lines = LineBeginnings::of(&text);
    match document::parse(&text, syntax) {
        Ok(root) => LoadedFile::Document(Document {
            file: file.to_owned(),
            text,
            lines,
            root,
        }),
        Err(unreadable) => {
            let hint = "mend it there; nothing in it is used until then";
            let place = lines.place(&text, unreadable.at);
            bad(text, place, unreadable.message, Some(hint))
        }
    }
}
