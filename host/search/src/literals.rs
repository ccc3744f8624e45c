//! Values in a query: paths, URLs, addresses of mail. What such a thing is says more about the tool
//! that takes it than the words that it is made of.

use std::ops::Range;

/// Longest ending of a file's name, in bytes.
const MAX_ENDING_BYTES: usize = 5;

/// Endings of names that are files' without a folder before them: others may be a host's.
const FILE_ENDINGS: &[&str] = &[
    "avi", "bib", "bmp", "c", "cfg", "conf", "cpp", "cs", "css", "csv", "db", "doc", "docx", "env",
    "gif", "go", "gz", "h", "htm", "html", "ini", "ipynb", "java", "jpeg", "jpg", "js", "json",
    "jsx", "log", "md", "mov", "mp3", "mp4", "parquet", "pdf", "php", "png", "ppt", "pptx", "py",
    "rb", "rs", "sh", "sql", "sqlite", "svg", "tar", "tex", "toml", "ts", "tsv", "tsx", "txt",
    "wav", "webp", "xls", "xlsx", "xml", "yaml", "yml", "zip",
];

/// A value in a query.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Literal {
    /// Its place in the query, in bytes.
    pub(crate) place: Range<usize>,
    /// Place of the ending of a file's name, which says of what kind it is.
    pub(crate) ending: Option<Range<usize>>,
    /// Words for what it is.
    pub(crate) kind: [&'static str; 2],
}

/// Returns the values in a query.
pub(crate) fn literals(query: &str) -> Vec<Literal> {
    let pieces = query.split_whitespace();
    pieces.filter_map(|piece| literal(piece, query)).collect()
}

/// Returns the value that a piece of a query between blanks is.
fn literal(piece: &str, query: &str) -> Option<Literal> {
    let opening = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '\\' | '~' | '.');
    let text = piece.trim_start_matches(opening);
    let text = text.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '/');
    let kind = kind(text)?;
    // A piece knows nothing of its place in the query but where it lies in memory.
    let begin = text.as_ptr().addr() - query.as_ptr().addr();
    let place = begin..begin + text.len();
    let ending = ending(text).filter(|_| kind == FILE);
    let ending = ending.map(|ending| place.end - ending.len()..place.end);
    Some(Literal {
        place,
        ending,
        kind,
    })
}

/// Words for a file.
const FILE: [&str; 2] = ["file", "path"];

/// Words for a folder.
const DIRECTORY: [&str; 2] = ["directory", "path"];

/// Words for a page.
const PAGE: [&str; 2] = ["url", "web"];

/// Words for an address of mail.
const MAIL: [&str; 2] = ["email", "address"];

/// Returns words for what a text is, where it is a value.
fn kind(text: &str) -> Option<[&'static str; 2]> {
    if let Some((scheme, rest)) = text.split_once("://") {
        return match scheme {
            "file" => Some(FILE),
            _ => (!rest.is_empty()).then_some(PAGE),
        };
    }
    if text.starts_with("www.") {
        return Some(PAGE);
    }
    if let Some((user, host)) = text.split_once('@') {
        return (!user.is_empty() && host.contains('.')).then_some(MAIL);
    }
    if is_rooted(text) && text.contains(char::is_alphanumeric) {
        let steps = text.matches(['/', '\\']).count();
        return match ending(text) {
            Some(_) => Some(FILE),
            // `/login` is as likely a route of a site.
            None => (steps >= 2).then_some(DIRECTORY),
        };
    }
    let is_file = FILE_ENDINGS.contains(&ending(text)?.to_ascii_lowercase().as_str());
    is_file.then_some(FILE)
}

/// Whether a text is a path from a folder that is known: the root, the user's, this one.
fn is_rooted(text: &str) -> bool {
    let roots = ["/", "~/", "./", "../", "\\\\"];
    let is_drive =
        matches!(text.as_bytes(), [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic());
    is_drive || roots.iter().any(|root| text.starts_with(root))
}

/// Returns the ending of a file's name, without its dot.
fn ending(text: &str) -> Option<&str> {
    let name = text.rsplit(['/', '\\']).next()?;
    let (stem, ending) = name.rsplit_once('.')?;
    let is_ending = !stem.is_empty()
        && ending.len() <= MAX_ENDING_BYTES
        && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && ending.bytes().any(|byte| byte.is_ascii_alphabetic());
    is_ending.then_some(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_told_from_words() {
        for (query, found, kind) in [
            ("read /data/a.csv.", "/data/a.csv", FILE),
            ("open `~/notes/todo.md`, please", "~/notes/todo.md", FILE),
            (
                r"what is in C:\\Users\\me\\x.docx?",
                r"C:\\Users\\me\\x.docx",
                FILE,
            ),
            ("look into report.PDF", "report.PDF", FILE),
            ("list ./src/", "./src/", DIRECTORY),
            (
                "go to (https://a.example/b.html)",
                "https://a.example/b.html",
                PAGE,
            ),
            ("who owns www.a.example", "www.a.example", PAGE),
            ("write to <me@a.example>", "me@a.example", MAIL),
            ("read 文件 /数据/表.csv", "/数据/表.csv", FILE),
        ] {
            let all = literals(query);
            let [literal] = all.as_slice() else {
                panic!("{query}: {all:?}");
            };
            assert_eq!(query.get(literal.place.clone()), Some(found), "{query}");
            assert_eq!(literal.kind, kind, "{query}");
        }
    }

    #[test]
    fn an_ending_says_of_what_kind_a_file_is() {
        let query = "plot \"/data/a.b.csv\"";
        let all = literals(query);
        let ending = all.first().and_then(|literal| literal.ending.clone());
        assert_eq!(ending.and_then(|place| query.get(place)), Some("csv"));
    }

    #[test]
    fn words_are_no_values() {
        for query in [
            "",
            "/",
            ".",
            "...",
            "e.g. this",
            "a/b testing",
            "1.5 km",
            "v2.0",
            "and/or",
            "@me",
            "user@",
            "://",
            "the /login route",
            "Node.js2000",
            "etc.",
            "a.example",
            "文件。",
        ] {
            assert_eq!(literals(query), [], "{query}");
        }
    }
}
