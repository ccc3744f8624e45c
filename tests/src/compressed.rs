//! Compressed bodies, as servers of the web send them.

use std::io::{Read, Result};

use flate2::Compression;
use flate2::bufread::{GzEncoder, ZlibEncoder};

/// Compresses bytes as `Content-Encoding: gzip` has it.
///
/// # Errors
/// There is no memory for it.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    all(GzEncoder::new(bytes, Compression::best()))
}

/// Compresses bytes as `Content-Encoding: deflate` has it.
///
/// # Errors
/// There is no memory for it.
pub fn deflate(bytes: &[u8]) -> Result<Vec<u8>> {
    all(ZlibEncoder::new(bytes, Compression::best()))
}

fn all(mut encoder: impl Read) -> Result<Vec<u8>> {
    let mut encoded = Vec::new();
    encoder.read_to_end(&mut encoded)?;
    Ok(encoded)
}
