//! Documents, as the library has read them.

use super::*;

/// Outcome of reading a file.
pub(in crate::discovery) enum LoadedFile {
    Missing,
    Bad(ConfigProblem),
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
            Self::Missing | Self::Bad(_) => None,
        }
    }
}

pub(super) fn load(
    file: &Path,
    syntax: Syntax,
    bytes: Result<Option<Vec<u8>>, String>,
) -> LoadedFile {
    let bad = |(line, column), message: String, hint: Option<&str>| {
        LoadedFile::Bad(ConfigProblem {
            file: file.to_owned(),
            line,
            column,
            message,
            hint: hint.map(str::to_owned),
        })
    };
    let bytes = match bytes {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return LoadedFile::Missing,
        Err(why) => {
            let (why, hint) = match why.split_once("\nhint: ") {
                Some((why, hint)) => (why, Some(hint)),
                None => (why.as_str(), None),
            };
            return bad((1, 1), format!("the file {why}"), hint);
        }
    };
    let text = match files::text(bytes) {
        Ok(text) => text,
        Err(valid) => {
            let place = LineBeginnings::of(&valid).place(&valid, valid.len());
            return bad(
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
            bad(
                lines.place(&text, unreadable.at),
                unreadable.message,
                Some(hint),
            )
        }
    }
}
