//! Component bytes that no toolchain would make.

/// Returns the component with one more custom section at its end: another file with another digest,
/// and the same behaviour.
#[must_use]
pub fn with_section(component: &[u8], name: &str, data: &[u8]) -> Vec<u8> {
    let mut content = leb128(name.len());
    content.extend_from_slice(name.as_bytes());
    content.extend_from_slice(data);
    let mut bytes = component.to_vec();
    // 0 is the id of custom sections.
    bytes.push(0);
    bytes.extend_from_slice(&leb128(content.len()));
    bytes.extend_from_slice(&content);
    bytes
}

/// Returns the component with a custom section right behind its preamble, where a reader that takes
/// the first of a name finds it first.
#[must_use]
pub fn with_section_in_front(component: &[u8], name: &str, data: &[u8]) -> Vec<u8> {
    const PREAMBLE: usize = 8;
    let (preamble, rest) = component.split_at(PREAMBLE.min(component.len()));
    let mut bytes = with_section(preamble, name, data);
    bytes.extend_from_slice(rest);
    bytes
}

/// Writes an unsigned number as the binary format has it.
fn leb128(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(value & 0x7f).unwrap_or_default();
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_section_is_framed_as_the_format_wants_it() {
        assert_eq!(
            super::with_section(b"", "ab", b"cde"),
            [0, 6, 2, b'a', b'b', b'c', b'd', b'e']
        );
        assert_eq!(super::leb128(624_485), [0xe5, 0x8e, 0x26]);
    }
}
