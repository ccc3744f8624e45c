//! Content codings of HTTP: bodies that came compressed.

use std::io::Read;

use flate2::bufread::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// Codings that a server may send, as the header `Accept-Encoding` has them.
pub const ACCEPTED: &str = "gzip, deflate";

/// Most codings of one body, one after the other.
const MAX_CODINGS: usize = 4;

/// Decodes a body that has the codings of a header `Content-Encoding`, the last one outermost.
///
/// # Errors
/// There is another coding, the body is damaged, or it is longer than `max` bytes in the end or on
/// the way: what is beyond is not decoded.
pub fn decoded(body: Vec<u8>, codings: &str, max: usize) -> Result<Vec<u8>, String> {
    let codings: Vec<_> = codings.split(',').map(str::trim).collect();
    if codings.len() > MAX_CODINGS {
        return Err(format!(
            "the answer is compressed more than {MAX_CODINGS} times"
        ));
    }
    codings.iter().rev().try_fold(body, |body, coding| {
        // Answers without a body may have the header, too.
        if body.is_empty() {
            return Ok(body);
        }
        match coding.to_ascii_lowercase().as_str() {
            "" | "identity" => Ok(body),
            "gzip" | "x-gzip" => limited(MultiGzDecoder::new(body.as_slice()), coding, max),
            "deflate" if has_zlib_header(&body) => {
                limited(ZlibDecoder::new(body.as_slice()), coding, max)
            }
            // Some servers take the name for the format.
            "deflate" => limited(DeflateDecoder::new(body.as_slice()), coding, max),
            _ => Err(format!("the answer is compressed, as `{coding}`")),
        }
    })
}

/// Reads decoded bytes, one more than `max` at most.
fn limited(decoder: impl Read, coding: &str, max: usize) -> Result<Vec<u8>, String> {
    let mut decoded = Vec::new();
    decoder
        .take(max as u64 + 1)
        .read_to_end(&mut decoded)
        .map_err(|error| format!("the answer is no valid {coding}: {error}"))?;
    match decoded.len() > max {
        true => Err(format!(
            "the answer is longer than {max} bytes when it is decompressed"
        )),
        false => Ok(decoded),
    }
}

/// Whether compressed data begins as RFC 1950 says.
fn has_zlib_header(body: &[u8]) -> bool {
    match body {
        [first, second, ..] => {
            first & 0xf == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use flate2::Compression;
    use flate2::bufread::{DeflateEncoder, GzEncoder, ZlibEncoder};

    use super::decoded;

    const TEXT: &[u8] = b"turtle turtle turtle";

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoded = Vec::new();
        let mut encoder = GzEncoder::new(bytes, Compression::best());
        encoder.read_to_end(&mut encoded).unwrap();
        encoded
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoded = Vec::new();
        let mut encoder = ZlibEncoder::new(bytes, Compression::best());
        encoder.read_to_end(&mut encoded).unwrap();
        encoded
    }

    fn deflate(bytes: &[u8]) -> Vec<u8> {
        let mut encoded = Vec::new();
        let mut encoder = DeflateEncoder::new(bytes, Compression::best());
        encoder.read_to_end(&mut encoded).unwrap();
        encoded
    }

    #[test]
    fn each_coding_is_decoded() {
        for (codings, body) in [
            ("gzip", gzip(TEXT)),
            ("X-GZip", gzip(TEXT)),
            ("deflate", zlib(TEXT)),
            ("deflate", deflate(TEXT)),
            ("identity", TEXT.to_vec()),
            ("", TEXT.to_vec()),
            ("deflate, gzip", gzip(&zlib(TEXT))),
            // What is written in several members is one body.
            ("gzip", [gzip(b"turtle "), gzip(b"turtle turtle")].concat()),
        ] {
            assert_eq!(
                decoded(body, codings, TEXT.len()).unwrap(),
                TEXT,
                "{codings}"
            );
        }
        assert_eq!(decoded(Vec::new(), "gzip", 9).unwrap(), b"");
    }

    #[test]
    fn damage_is_an_error() {
        let mut cut = gzip(TEXT);
        cut.truncate(cut.len() - 9);
        let mut flipped = gzip(TEXT);
        *flipped.last_mut().unwrap() ^= 1;
        for (codings, body, expected) in [
            ("gzip", TEXT.to_vec(), "the answer is no valid gzip: "),
            ("gzip", cut, "the answer is no valid gzip: "),
            ("gzip", flipped, "the answer is no valid gzip: "),
            ("deflate", vec![0xff; 9], "the answer is no valid deflate: "),
            ("br", TEXT.to_vec(), "the answer is compressed, as `br`"),
            (
                "gzip,gzip,gzip,gzip,gzip",
                gzip(TEXT),
                "the answer is compressed more than 4 times",
            ),
        ] {
            let error = decoded(body, codings, 1 << 20).unwrap_err();
            assert!(error.starts_with(expected), "{codings}: {error}");
        }
    }

    /// Of a bomb, no more is decoded than there may be.
    #[test]
    fn a_bomb_is_an_error() {
        let bomb = gzip(&vec![0; 64 << 20]);
        assert!(bomb.len() < 1 << 17);
        let expected = "the answer is longer than 1000 bytes when it is decompressed";
        for (codings, body) in [
            ("gzip", bomb.clone()),
            ("gzip, gzip", gzip(&bomb)),
            ("gzip", gzip(&[0; 1001])),
        ] {
            assert_eq!(decoded(body, codings, 1000).unwrap_err(), expected);
        }
    }
}
