//! Reading text: all of a file, its first or last lines, or several files.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use crate::content;
use crate::error::{Error, MAX_BYTES};
use crate::paths::Folders;
use crate::text;

const HINT: &str = "read a part of it with `head` or `tail`";

/// Bytes that `tail` reads at once.
const CHUNK: u64 = 64 << 10;

/// `read_file` and `read_text_file`. As in the reference, zero lines mean the
/// whole file, and a part of a line counts as a line.
pub fn text(
    folders: &Folders,
    path: &str,
    head: Option<f64>,
    tail: Option<f64>,
) -> Result<String, Error> {
    if head.is_none() && tail.is_none() {
        return whole(folders, path);
    }
    let real = folders.resolve(path)?;
    match (lines("head", head)?, lines("tail", tail)?) {
        (Some(_), Some(_)) => Err(Error::HeadAndTail),
        (Some(count), None) => first_lines(&real, count),
        (None, Some(count)) => last_lines(&real, count),
        (None, None) => bytes(&real, MAX_BYTES, HINT).map(text::lossy),
    }
}

/// `read_multiple_files`: a file that cannot be read leaves its error in its place.
pub fn several(folders: &Folders, paths: &[String]) -> Result<String, Error> {
    if paths.is_empty() {
        return Err(Error::NoPaths);
    }
    let mut all = String::new();
    for (index, path) in paths.iter().enumerate() {
        if index > 0 {
            all.push_str("\n---\n");
        }
        match whole(folders, path) {
            Ok(content) if (all.len() + content.len()) as u64 > MAX_BYTES => {
                let error = Error::TooLarge {
                    path: path.clone(),
                    limit: MAX_BYTES,
                    hint: "the files before it fill this answer; ask for fewer files at once",
                };
                all.push_str(&format!("{path}: Error - {error}"));
            }
            Ok(content) => {
                for piece in [path.as_str(), ":\n", &content, "\n"] {
                    all.push_str(piece);
                }
            }
            Err(error) => all.push_str(&format!("{path}: Error - {error}")),
        }
    }
    Ok(all)
}

/// Returns the text of a file. Most lie behind no link that the sandbox would not follow, and need no
/// look at each folder that leads to them.
fn whole(folders: &Folders, path: &str) -> Result<String, Error> {
    let content = match content::of(&folders.absolute(path)?, MAX_BYTES) {
        Some(content) => content,
        None => bytes(&folders.resolve(path)?, MAX_BYTES, HINT)?,
    };
    Ok(text::lossy(content))
}

/// Reads all bytes of the file at the real path `real`, if they are at most `limit`.
pub fn bytes(real: &str, limit: u64, hint: &'static str) -> Result<Vec<u8>, Error> {
    if let Some(content) = content::of(real, limit) {
        return Ok(content);
    }
    let (file, size) = open(real)?;
    let too_large = || Error::TooLarge {
        path: real.to_owned(),
        limit,
        hint,
    };
    if size > limit {
        return Err(too_large());
    }
    let mut content = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    // A device or a growing file has more than its size says.
    file.take(limit + 1)
        .read_to_end(&mut content)
        .map_err(|error| Error::system(&error, "read", real))?;
    if content.len() as u64 > limit {
        return Err(too_large());
    }
    Ok(content)
}

/// Opens a file, and returns its size, too.
fn open(real: &str) -> Result<(File, u64), Error> {
    let metadata = fs::metadata(real).map_err(|error| Error::system(&error, "open", real))?;
    if metadata.is_dir() {
        let error = io::Error::from(io::ErrorKind::IsADirectory);
        // Node has no path in this message, because it is the read that fails.
        return match Error::system(&error, "read", real) {
            Error::System { code, message, .. } => Err(Error::System {
                code,
                message,
                operation: "read".to_owned(),
            }),
            other => Err(other),
        };
    }
    let file = File::open(real).map_err(|error| Error::system(&error, "open", real))?;
    Ok((file, metadata.len()))
}

/// Returns the number of lines that is asked for.
fn lines(name: &'static str, value: Option<f64>) -> Result<Option<u64>, Error> {
    match value {
        None => Ok(None),
        Some(value) if value < 0.0 || value.is_nan() => Err(Error::Lines { name, value }),
        // A float that is too large becomes the largest integer, which is meant.
        Some(value) => Ok(Some(value.ceil() as u64).filter(|count| *count > 0)),
    }
}

fn first_lines(real: &str, count: u64) -> Result<String, Error> {
    let (file, _) = open(real)?;
    let mut reader = BufReader::new(file.take(MAX_BYTES + 1));
    let mut content = Vec::new();
    for _ in 0..count {
        let read = reader
            .read_until(b'\n', &mut content)
            .map_err(|error| Error::system(&error, "read", real))?;
        if read == 0 {
            break;
        }
    }
    if content.len() as u64 > MAX_BYTES {
        return Err(Error::TooLarge {
            path: real.to_owned(),
            limit: MAX_BYTES,
            hint: "ask for fewer lines",
        });
    }
    content.pop_if(|last| *last == b'\n');
    Ok(text::lossy(content))
}

fn last_lines(real: &str, count: u64) -> Result<String, Error> {
    let (mut file, mut position) = open(real)?;
    let mut chunks: Vec<Vec<u8>> = Vec::new();
    let (mut newlines, mut size) = (0, 0);
    while position > 0 && newlines < count {
        let length = CHUNK.min(position);
        position -= length;
        size += length;
        if size > MAX_BYTES {
            return Err(Error::TooLarge {
                path: real.to_owned(),
                limit: MAX_BYTES,
                hint: "ask for fewer lines",
            });
        }
        let mut chunk = Vec::new();
        file.seek(SeekFrom::Start(position))
            .and_then(|_| (&mut file).take(length).read_to_end(&mut chunk))
            .map_err(|error| Error::system(&error, "read", real))?;
        newlines += chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
        chunks.push(chunk);
    }
    chunks.reverse();
    let content = chunks.concat();
    drop(chunks);
    let content = text::unix_lines(text::lossy(content));
    let wanted = usize::try_from(count).unwrap_or(usize::MAX);
    // The last line is what follows the last newline, even where that is nothing.
    let start = content
        .rmatch_indices('\n')
        .nth(wanted - 1)
        .map_or(0, |(at, _)| at + 1);
    Ok(content.get(start..).unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::Folder;

    fn with(content: &[u8], head: Option<f64>, tail: Option<f64>) -> Result<String, String> {
        let (_dir, root) = crate::fixture::folder();
        fs::write(format!("{root}/f"), content).unwrap();
        let folders = Folders::new(
            vec![Folder {
                path: root,
                writable: false,
            }],
            None,
        );
        text(&folders, "f", head, tail).map_err(|error| error.to_string())
    }

    #[test]
    fn head_and_tail_cut_lines() {
        let content = b"a\nb\r\nc\n";
        assert_eq!(with(content, None, None).unwrap(), "a\nb\r\nc\n");
        assert_eq!(with(content, Some(2.0), None).unwrap(), "a\nb\r");
        assert_eq!(with(content, Some(9.0), None).unwrap(), "a\nb\r\nc");
        assert_eq!(with(content, None, Some(2.0)).unwrap(), "c\n");
        assert_eq!(with(content, None, Some(3.0)).unwrap(), "b\nc\n");
        assert_eq!(with(content, None, Some(1e300)).unwrap(), "a\nb\nc\n");
        assert_eq!(with(content, Some(0.0), Some(0.0)).unwrap(), "a\nb\r\nc\n");
        assert_eq!(with(b"", None, Some(2.0)).unwrap(), "");
        assert_eq!(with(b"\n\n\n", Some(2.0), None).unwrap(), "\n");
        assert_eq!(
            with(b"\xff\xfe\n", Some(1.0), None).unwrap(),
            "\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn senseless_numbers_of_lines_are_errors() {
        assert!(
            with(b"a", Some(1.0), Some(1.0))
                .unwrap_err()
                .contains("both head and tail")
        );
        assert!(with(b"a", Some(-1.0), None).unwrap_err().contains("`head`"));
        assert!(
            with(b"a", None, Some(f64::NAN))
                .unwrap_err()
                .contains("`tail`")
        );
    }

    #[test]
    fn tail_crosses_chunks_in_the_middle_of_characters() {
        let line = "日本語のテキスト".repeat(1000);
        let content = format!("x{line}\n{line}\n{line}");
        assert_eq!(
            with(content.as_bytes(), None, Some(2.0)).unwrap(),
            format!("{line}\n{line}")
        );
        assert_eq!(with(content.as_bytes(), None, Some(3.0)).unwrap(), content);
    }

    #[test]
    fn a_file_too_large_for_one_answer_is_read_in_part() {
        let (_dir, root) = crate::fixture::folder();
        let file = File::create(format!("{root}/big")).unwrap();
        file.set_len(MAX_BYTES * 4).unwrap();
        let folders = Folders::new(
            vec![Folder {
                path: root,
                writable: false,
            }],
            None,
        );
        let error = text(&folders, "big", None, None).unwrap_err().to_string();
        assert!(
            error.contains("too large") && error.contains("`head`"),
            "{error}"
        );
        // No line of it ends, so even its first is too large.
        assert!(matches!(
            text(&folders, "big", Some(1.0), None),
            Err(Error::TooLarge { .. })
        ));
        assert!(matches!(
            text(&folders, "big", None, Some(1.0)),
            Err(Error::TooLarge { .. })
        ));
        std::os::unix::fs::FileExt::write_at(&file, b"end\nof\nit", MAX_BYTES * 4).unwrap();
        assert_eq!(text(&folders, "big", None, Some(2.0)).unwrap(), "of\nit");
    }
}
