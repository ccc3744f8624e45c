//! Files that are not text: their bytes, with their type.

use crate::error::{Error, MAX_BYTES};
use crate::paths::{self, Folders};
use crate::tools::read;

/// The bytes of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct Media {
    /// Content of the file.
    pub data: Vec<u8>,
    /// MIME type by the extension of its name; `application/octet-stream` for all but a few.
    pub mime_type: &'static str,
    /// Path of the file, as a `file:` URL.
    pub uri: String,
}

/// `read_media_file`.
pub fn of(folders: &Folders, path: &str) -> Result<Media, Error> {
    let real = folders.resolve(path)?;
    let data = read::bytes(
        &real,
        MAX_BYTES,
        "it cannot be read as media; a text file can be read with `head` or `tail`",
    )?;
    Ok(Media {
        data,
        mime_type: mime_type(paths::name(&real)),
        uri: file_url(&real),
    })
}

fn mime_type(name: &str) -> &'static str {
    let extension = match name.rsplit_once('.') {
        // A name that starts with its only dot has no extension.
        Some((stem, extension)) if !stem.is_empty() => extension.to_ascii_lowercase(),
        _ => String::new(),
    };
    match extension.as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "bmp" => "image/bmp",
        "svg" => "image/svg+xml",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "ogg" => "audio/ogg",
        "flac" => "audio/flac",
        _ => "application/octet-stream",
    }
}

/// Returns the URL of an absolute path, with the same characters encoded as by Node.js.
fn file_url(path: &str) -> String {
    let mut url = String::from("file://");
    for byte in path.bytes() {
        if byte.is_ascii_graphic() && !b"\"#%<>?[\\]^`{|}~".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_come_from_extensions() {
        for (name, mime) in [
            ("a.PNG", "image/png"),
            ("a.b.jpeg", "image/jpeg"),
            ("x.ogg", "audio/ogg"),
            (".png", "application/octet-stream"),
            ("png", "application/octet-stream"),
            ("a.png.", "application/octet-stream"),
        ] {
            assert_eq!(mime_type(name), mime, "{name}");
        }
    }

    #[test]
    fn urls_are_those_of_node() {
        assert_eq!(
            file_url("/a b/é[1]~?.bin"),
            "file:///a%20b/%C3%A9%5B1%5D%7E%3F.bin"
        );
        assert_eq!(file_url("/!$&'()*+,-.:;=@_"), "file:///!$&'()*+,-.:;=@_");
    }
}
