//! Notations of texts, in which letters may be written as escapes.

/// Most bytes of an escape: two surrogates in JSON, or a number with a few zeros before it in HTML.
pub(super) const MAX_ESCAPE: usize = 12;

/// References to letters by their names that HTML and XML need.
const NAMED: [(&[u8], char); 5] = [
    (b"amp", '&'),
    (b"lt", '<'),
    (b"gt", '>'),
    (b"quot", '"'),
    (b"apos", '\''),
];

/// Notation of a text.
#[derive(Clone, Copy)]
pub(super) enum Notation {
    /// Strings of JSON.
    Json,
    /// URLs, in which bytes are escaped.
    Url,
    /// HTML and XML.
    Html,
}

/// Meaning of an escape, as far as its bytes are there.
pub(super) enum Escape {
    /// More bytes decide.
    Begun,
    /// It is none, or one that stands for no letter.
    Nothing,
    Letter(char),
    Byte(u8),
}

impl Notation {
    pub(super) const ALL: [Self; 3] = [Self::Json, Self::Url, Self::Html];

    /// Returns the byte that escapes begin with.
    pub(super) fn begin(self) -> u8 {
        match self {
            Self::Json => b'\\',
            Self::Url => b'%',
            Self::Html => b'&',
        }
    }

    /// Returns what bytes are as an escape; the first one is that with which it begins.
    pub(super) fn meaning(self, escape: &[u8]) -> Escape {
        match self {
            Self::Json => in_json(escape),
            Self::Url => in_url(escape),
            Self::Html => in_html(escape),
        }
    }
}

/// Returns what bytes are in a URL.
fn in_url(escape: &[u8]) -> Escape {
    let digits = escape.get(1..).unwrap_or_default();
    match number(digits, 16).map(u8::try_from) {
        Some(Ok(byte)) if digits.len() == 2 => Escape::Byte(byte),
        Some(Ok(_)) if digits.len() < 2 => Escape::Begun,
        _ => Escape::Nothing,
    }
}

/// Returns what bytes are in HTML or XML.
fn in_html(escape: &[u8]) -> Escape {
    let (reference, is_whole) = match escape {
        [_, reference @ .., b';'] => (reference, true),
        [_, reference @ ..] => (reference, false),
        [] => return Escape::Nothing,
    };
    let letter = match reference {
        [b'#', b'x' | b'X', digits @ ..] => number(digits, 16),
        [b'#', digits @ ..] => number(digits, 10),
        name if is_whole => {
            let mut named = NAMED.iter().filter(|(of, _)| *of == name);
            named.next().map(|(_, letter)| u32::from(*letter))
        }
        name => {
            let mut named = NAMED.iter();
            named.any(|(of, _)| of.starts_with(name)).then_some(0)
        }
    };
    match letter {
        Some(_) if !is_whole && escape.len() < MAX_ESCAPE => Escape::Begun,
        Some(letter) if is_whole && letter > 0 => {
            char::from_u32(letter).map_or(Escape::Nothing, Escape::Letter)
        }
        _ => Escape::Nothing,
    }
}

/// Returns the number of digits; none where one is none.
fn number(digits: &[u8], radix: u32) -> Option<u32> {
    digits.iter().try_fold(0_u32, |number, digit| {
        let digit = char::from(*digit).to_digit(radix)?;
        number.checked_mul(radix)?.checked_add(digit)
    })
}

/// Returns what bytes are in a string of JSON.
fn in_json(escape: &[u8]) -> Escape {
    let letter = match escape {
        [_] | [_, b'u'] => return Escape::Begun,
        [_, b'u', digits @ ..] => return of_units(digits),
        [_, b'b'] => '\u{8}',
        [_, b'f'] => '\u{c}',
        [_, b'n'] => '\n',
        [_, b'r'] => '\r',
        [_, b't'] => '\t',
        [_, letter @ (b'"' | b'\\' | b'/' | b'\'')] => char::from(*letter),
        _ => return Escape::Nothing,
    };
    Escape::Letter(letter)
}

/// Returns what the digits behind `\u` are: those of a letter, or of two surrogates.
fn of_units(digits: &[u8]) -> Escape {
    let (first, rest) = digits.split_at(digits.len().min(4));
    let Some(high) = number(first, 16) else {
        return Escape::Nothing;
    };
    if first.len() < 4 {
        return Escape::Begun;
    }
    if let Some(letter) = char::from_u32(high) {
        return Escape::Letter(letter);
    }
    let low = match rest {
        [] | [b'\\'] | [b'\\', b'u'] if high < 0xdc00 => return Escape::Begun,
        [b'\\', b'u', low @ ..] if high < 0xdc00 => low,
        _ => return Escape::Nothing,
    };
    let Some(second) = number(low, 16) else {
        return Escape::Nothing;
    };
    if low.len() < 4 {
        return Escape::Begun;
    }
    let units = [high, second].map(|unit| u16::try_from(unit).unwrap_or_default());
    let mut letters = char::decode_utf16(units);
    letters
        .next()
        .and_then(Result::ok)
        .map_or(Escape::Nothing, Escape::Letter)
}
