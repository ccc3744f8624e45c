//! Texts by which a secret is known in a response: as it is, and as it may be written where it was
//! sent.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use dormouse_policy::SecretPlacement;
use url::form_urlencoded;

use super::placement::{basic_credentials, escaped};

/// Shortest text that is looked for: shorter ones are in texts that have nothing to do with them.
const MIN_BYTES: usize = 8;

/// Returns all forms of a secret's text that are looked for, each once.
pub(super) fn of(text: &str, placement: &SecretPlacement) -> BTreeSet<Vec<u8>> {
    let mut forms: Vec<String> = vec![text.to_owned()];
    let mut known = vec![text.to_owned()];
    match placement {
        SecretPlacement::Header { value, .. } => {
            // What was written as Base64 may be repeated as what it says.
            if let Some(credentials) = basic_credentials(&value.with(text)) {
                if let Some((_, password)) = credentials.split_once(':') {
                    known.push(password.to_owned());
                }
                known.push(credentials);
            }
        }
        SecretPlacement::Query(_) => {
            forms.push(escaped(text));
            forms.push(escaped(text).replace("%20", "+"));
            forms.push(form_urlencoded::byte_serialize(text.as_bytes()).collect());
            forms.push(small_escapes(&escaped(text)));
        }
        SecretPlacement::Placeholder { .. } => {
            // Behind a name of any length, and in the alphabets of headers and of URLs.
            for alphabet in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
                forms.extend((0..3).map(|before| base64_within(text, before, alphabet)));
            }
        }
    }
    // Servers leave out blanks at the ends of a header.
    let trimmed: Vec<_> = known.iter().map(|text| text.trim().to_owned()).collect();
    known.extend(trimmed);
    // Forms have a `+` for each blank.
    let with_signs: Vec<_> = known.iter().map(|text| text.replace(' ', "+")).collect();
    known.extend(with_signs);
    let in_sets: Vec<_> = known.iter().flat_map(|text| in_other_sets(text)).collect();
    for text in known {
        for hidden in [is_escaped_by_go, is_escaped_by_net, is_not_ascii] {
            for upper in [false, true] {
                forms.push(escaped_in_json(&text, hidden, upper));
            }
        }
        let in_json = escaped_in_json(&text, |_| false, false);
        forms.push(in_json.replace('/', "\\/"));
        forms.push(in_json);
        forms.push(text);
    }
    let forms = forms.into_iter().map(String::into_bytes).chain(in_sets);
    forms.filter(|form| form.len() >= MIN_BYTES).collect()
}

/// Letters from 0x80 on that windows-1252 has and Latin-1 has not.
const WINDOWS_LETTERS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// Returns a text that is not of ASCII alone as servers have it that read its bytes in another
/// character set, such as Latin-1 for headers, or that write it in one. None for one of ASCII, which is
/// the same in all of them.
fn in_other_sets(text: &str) -> Vec<Vec<u8>> {
    if text.is_ascii() {
        return Vec::new();
    }
    let latin: Vec<char> = (0..=u8::MAX).map(char::from).collect();
    let mut windows = latin.clone();
    for (letter, of_windows) in windows.iter_mut().skip(0x80).zip(WINDOWS_LETTERS.chars()) {
        *letter = of_windows;
    }
    let ascii = |other: char| -> Vec<char> {
        let letters = latin.iter();
        let letters = letters.map(|letter| if letter.is_ascii() { *letter } else { other });
        letters.collect()
    };
    let mut forms = Vec::new();
    for set in [&latin, &windows, &ascii('?'), &ascii('\u{fffd}')] {
        let bytes = text.bytes();
        let read: String = bytes
            .filter_map(|byte| set.get(usize::from(byte)))
            .collect();
        // Servers leave out blanks, which Latin-1 has more of.
        forms.extend([read.trim(), read.as_str()].map(|text| text.as_bytes().to_vec()));
        let written = text.chars().map(|letter| {
            let place = set.iter().position(|of_set| *of_set == letter);
            place.and_then(|place| u8::try_from(place).ok())
        });
        forms.push(written.map(|byte| byte.unwrap_or(b'?')).collect());
    }
    forms
}

/// Whether the encoder of Go's standard library escapes a letter by its number.
fn is_escaped_by_go(letter: char) -> bool {
    matches!(letter, '<' | '>' | '&' | '\u{2028}' | '\u{2029}')
}

/// Whether the encoder of .NET does.
fn is_escaped_by_net(letter: char) -> bool {
    matches!(letter, '<' | '>' | '&' | '\'' | '"' | '+' | '`') || !letter.is_ascii()
}

/// Whether the encoders of Python and PHP do.
fn is_not_ascii(letter: char) -> bool {
    !letter.is_ascii()
}

/// Returns a text as it is in a string of JSON, with the numbers of some letters in its place.
fn escaped_in_json(text: &str, is_escaped: fn(char) -> bool, upper: bool) -> String {
    let mut written = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            letter if is_escaped(letter) => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    written.push_str(&match upper {
                        true => format!("\\u{unit:04X}"),
                        false => format!("\\u{unit:04x}"),
                    });
                }
            }
            '\\' | '"' => written.extend(['\\', letter]),
            letter => written.push(letter),
        }
    }
    written
}

/// Returns the escapes of a query in small letters.
fn small_escapes(escaped: &str) -> String {
    let mut parts = escaped.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let (digits, rest) = part.split_at_checked(2).unwrap_or((part, ""));
        format!("{text}%{}{rest}", digits.to_ascii_lowercase())
    })
}

/// Returns the letters of Base64 that a text alone decides where `before` bytes, or any multiple of
/// three more, stand before it.
fn base64_within(text: &str, before: usize, alphabet: &GeneralPurpose) -> String {
    let mut bytes = vec![0; before];
    bytes.extend(text.as_bytes());
    // Of each letter six bits.
    let first = (before * 8).div_ceil(6);
    let end = bytes.len() * 8 / 6;
    let encoded = alphabet.encode(&bytes);
    encoded.get(first..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(kind: &str) -> SecretPlacement {
        match kind {
            "query" => SecretPlacement::Query("key".to_owned()),
            "placeholder" => SecretPlacement::Placeholder {
                variable: "TOKEN".to_owned(),
                header: "authorization".to_owned(),
            },
            value => SecretPlacement::Header {
                name: "authorization".to_owned(),
                value: value.parse().unwrap(),
            },
        }
    }

    fn is_known(forms: &BTreeSet<Vec<u8>>, said: &[u8]) -> bool {
        let mut forms = forms.iter();
        forms.any(|form| said.windows(form.len()).any(|part| part == form))
    }

    /// As Node and Python read headers, and as pages in Latin-1 have letters.
    #[test]
    fn a_secret_that_is_not_ascii_is_known_in_other_character_sets() {
        for (text, said) in [
            ("Grüße-canary", "is Grüße-canary".as_bytes()),
            ("Grüße-canary", "is GrÃ¼Ã\u{9f}e-canary".as_bytes()),
            ("Grüße-canary", "is GrÃ¼ÃŸe-canary".as_bytes()),
            ("Grüße-canary", b"is Gr\xfc\xdfe-canary"),
            ("Grüße-canary", b"is Gr????e-canary"),
            ("Grüße-canary", b"is Gr??e-canary"),
            ("12345678-à", "is 12345678-Ã".as_bytes()),
            ("12345678-€", b"is 12345678-\x80"),
            ("12345678-я", b"is 12345678-?"),
            ("Grüße canary", b"is Gr\xfc\xdfe+canary"),
        ] {
            for kind in ["Bearer {}", "query", "placeholder"] {
                let forms = of(text, &placed(kind));
                assert!(is_known(&forms, said), "{said:?}: {forms:?}");
            }
        }
        assert_eq!(in_other_sets("of-ascii"), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_secret_is_looked_for_as_it_was_sent() {
        for (text, kind, said) in [
            ("plain-secret", "{}", "it was plain-secret"),
            ("plain-secret", "Bearer {}", "Bearer plain-secret"),
            (r#"a"b\c/d-secret"#, "{}", r#"{"is":"a\"b\\c/d-secret"}"#),
            (r#"a"b\c/d-secret"#, "{}", r#"{"is":"a\"b\\c\/d-secret"}"#),
            ("bWU6c2VjcmV0LXB3", "Basic {}", "Basic bWU6c2VjcmV0LXB3"),
            ("bWU6c2VjcmV0LXB3", "Basic {}", "you are me:secret-pw"),
            ("bWU6c2VjcmV0LXB3", "Basic {}", "secret-pw of another"),
            ("a b+c/ü-secret", "query", "?key=a%20b%2Bc%2F%C3%BC-secret"),
            ("a b+c/ü-secret", "query", "?key=a%20b%2bc%2f%c3%bc-secret"),
            ("a b+c/ü-secret", "query", "?key=a+b%2Bc%2F%C3%BC-secret"),
            ("a b+c/ü-secret", "query", "the key a b+c/ü-secret"),
        ] {
            let forms = of(text, &placed(kind));
            assert!(is_known(&forms, said.as_bytes()), "{said}: {forms:?}");
        }
        for (text, kind) in [
            ("1234567", "{}"),
            ("1234567", "query"),
            ("12345", "placeholder"),
        ] {
            assert_eq!(of(text, &placed(kind)), BTreeSet::new(), "{text}");
        }
    }

    #[test]
    fn a_secret_is_known_in_base64_behind_names_of_all_lengths() {
        let forms = of("s3cret?>~with-signs", &placed("placeholder"));
        for before in 0..9 {
            for after in 0..4 {
                let said = format!(
                    "{}s3cret?>~with-signs{}",
                    "n".repeat(before),
                    "x".repeat(after)
                );
                for alphabet in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
                    let said = alphabet.encode(&said);
                    assert!(is_known(&forms, said.as_bytes()), "{said}: {forms:?}");
                }
            }
        }
    }
}
