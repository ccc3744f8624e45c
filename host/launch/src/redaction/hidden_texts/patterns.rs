//! Texts by which secrets are found, however they are written.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use percent_encoding::percent_decode_str;
use url::form_urlencoded::byte_serialize;

use crate::redaction::secret_value::tells_nothing;
use crate::redaction::unescaped::Unescaped;

/// Fewest bytes of a secret that is looked for: shorter ones occur in any text.
pub(super) const MIN_HIDDEN_BYTES: usize = 4;

/// Fewest bytes of one of several lines of a secret that is looked for by itself.
const MIN_LINE_BYTES: usize = 8;

/// Most bytes of one text that is looked for. Longer ones are looked for in pieces.
pub(super) const MAX_PIECE_BYTES: usize = 256;

/// Most bytes of all texts that are looked for together.
const MAX_TOTAL_BYTES: usize = 1 << 20;

/// Fewest letters of Base64 that are looked for: fewer occur in any text of Base64.
const MIN_BASE64_LETTERS: usize = 8;

/// Most bytes of a secret that is looked for as Base64, too. Headers, which are written like
/// that, are no longer.
const MAX_BASE64_SECRET_BYTES: usize = 8 << 10;

/// Bytes of a secret that are looked for together as Base64: two such pieces are on each line of
/// Base64, which stands for 48 bytes or more.
const BASE64_PIECE_BYTES: usize = 16;

/// Returns a text as it is written in forms and queries.
pub(super) fn in_form(text: &str) -> String {
    byte_serialize(text.as_bytes()).collect()
}

/// Texts that are looked for.
#[derive(Default)]
pub(super) struct Patterns {
    pub(super) texts: Vec<Vec<u8>>,
    known: BTreeSet<Vec<u8>>,
    bytes: usize,
    /// Whether there were more than [`MAX_TOTAL_BYTES`].
    pub(super) is_full: bool,
}

impl Patterns {
    /// Adds the lines of a secret, long ones in pieces, and of several all together.
    pub(super) fn add_lines(&mut self, secret: &[u8], is_certain: bool) {
        lines(secret, is_certain).for_each(|line| self.add_pieces(line));
        if is_of_lines(secret) {
            self.add_pieces(secret.trim_ascii());
        }
    }

    /// Adds a line, in pieces if it is long.
    pub(super) fn add_pieces(&mut self, line: &[u8]) {
        for piece in line.chunks(MAX_PIECE_BYTES) {
            self.add(piece);
        }
    }

    /// Adds the Base64 of a secret, for every position in the text that is encoded.
    pub(super) fn add_base64(&mut self, secret: &str, is_certain: bool) {
        if secret.len() > MAX_BASE64_SECRET_BYTES {
            return;
        }
        let decoded = percent_decode_str(secret).decode_utf8_lossy();
        for secret in [secret, &decoded, &in_form(secret)] {
            // Short ones, for Base64 is often broken into lines: where one is found, the rest of its
            // line is hidden with it.
            let pieces = lines(secret.as_bytes(), is_certain);
            let pieces = pieces.flat_map(|line| line.chunks(BASE64_PIECE_BYTES));
            for piece in pieces {
                for before in 0..3 {
                    let letters = base64_within(before, piece);
                    if letters.len() < MIN_BASE64_LETTERS {
                        continue;
                    }
                    self.add(letters.as_bytes());
                    self.add(Unescaped::of(&letters).bytes());
                    let for_urls = letters.replace('+', "-").replace('/', "_");
                    self.add(for_urls.as_bytes());
                }
            }
        }
    }

    pub(super) fn add(&mut self, text: &[u8]) {
        if text.len() < MIN_HIDDEN_BYTES || self.known.contains(text) {
            return;
        }
        if self.bytes + text.len() > MAX_TOTAL_BYTES {
            self.is_full = true;
            return;
        }
        self.bytes += text.len();
        self.known.insert(text.to_owned());
        self.texts.push(text.to_owned());
    }
}

/// Whether a secret has several lines.
pub(super) fn is_of_lines(secret: &[u8]) -> bool {
    secret.trim_ascii().iter().any(|byte| is_break(*byte))
}

pub(super) fn is_break(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// Returns the lines of a secret that are looked for. Of several lines of what may be a secret,
/// those that are short or tell nothing are left out: they are in many other texts.
pub(super) fn lines(secret: &[u8], is_certain: bool) -> impl Iterator<Item = &[u8]> {
    let is_of_lines = is_of_lines(secret) && !is_certain;
    let lines = secret.split(|byte| is_break(*byte));
    lines.map(<[u8]>::trim_ascii).filter(move |line| {
        let tells =
            || line.len() >= MIN_LINE_BYTES && !tells_nothing(&String::from_utf8_lossy(line));
        !is_of_lines || tells()
    })
}

/// Returns the letters of Base64 that depend on a secret alone, where `before` bytes stand before
/// it.
pub(super) fn base64_within(before: usize, secret: &[u8]) -> String {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(secret);
    let letters = STANDARD_NO_PAD.encode(&bytes);
    // A letter stands for six bits.
    let start = (before * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    letters.get(start..end).unwrap_or_default().to_owned()
}
