//! Names of HTTP headers.

/// Whether a byte can be in the name of a header (RFC 9110, 5.6.2).
#[must_use]
pub fn is_header_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
