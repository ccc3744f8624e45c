//! Values that look like secrets, whatever they are called, and values that tell nothing.

/// Beginnings of the tokens of well-known services.
const TOKEN_PREFIXES: [&str; 39] = [
    "AIza",
    "AKIA",
    "apify_api_",
    "ASIA",
    "dckr_pat_",
    "dop_v1_",
    "eyJ",
    "figd_",
    "gho_",
    "ghp_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "glptt-",
    "gsk_",
    "hf_",
    "lin_api_",
    "npm_",
    "ntn_",
    "nvapi-",
    "pplx-",
    "pypi-",
    "rk_live_",
    "sbp_",
    "secret_",
    "shpat_",
    "sk-",
    "sk_",
    "sntrys_",
    "sntryu_",
    "tvly-",
    "vercel_",
    "whsec_",
    "xapp-",
    "xoxb-",
    "xoxp-",
    "ya29.",
];

/// Fewest letters of a token of a well-known service.
const MIN_TOKEN_LETTERS: usize = 12;

/// Fewest letters of a text that looks made by chance.
const MIN_RANDOM_LETTERS: usize = 20;

/// Fewest digits of a hexadecimal number that is no size and no colour, but a key or a hash.
const MIN_HEX_DIGITS: usize = 32;

/// Whether a text looks like a secret: the token of a well-known service, or letters and
/// digits by chance.
pub(super) fn looks_like_a_token(text: &str) -> bool {
    let is_known = TOKEN_PREFIXES.iter().any(|prefix| text.starts_with(prefix));
    if is_known && text.len() >= MIN_TOKEN_LETTERS && !text.contains(['/', ' ']) {
        return true;
    }
    let hex = text.chars().filter(|letter| *letter != '-');
    if hex.clone().all(|letter| letter.is_ascii_hexdigit()) {
        return hex.count() >= MIN_HEX_DIGITS;
    }
    let of_token =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '+' | '=');
    let has = |kind: fn(&char) -> bool| text.chars().any(|letter| kind(&letter));
    text.len() >= MIN_RANDOM_LETTERS
        && text.chars().all(of_token)
        && has(char::is_ascii_digit)
        && has(char::is_ascii_lowercase)
        && has(char::is_ascii_uppercase)
}

/// Longest word in capitals that is taken for a setting such as `DEBUG`, in letters.
const MAX_LEVEL_LETTERS: usize = 8;

/// Longest word that is taken for a setting, in letters.
const MAX_SETTING_LETTERS: usize = 12;

/// Fewest letters of a part of a path that may be a secret.
const MIN_PATH_SECRET_LETTERS: usize = 8;

/// Whether a part of a URL's path may be a secret: letters and digits together. What has no
/// digits is a word, and versions (`v2beta1`, `2025-11-25`) are short or have no letters.
pub fn may_be_secret_in_path(part: &str) -> bool {
    part.len() >= MIN_PATH_SECRET_LETTERS
        && part.chars().any(|letter| letter.is_ascii_digit())
        && part.chars().any(char::is_alphabetic)
}

/// Whether a value is one short word in small letters, as of a setting that has a few.
pub fn is_setting(value: &str) -> bool {
    value.len() <= MAX_SETTING_LETTERS && value.chars().all(|letter| letter.is_ascii_lowercase())
}

/// Whether the value of a variable or a header is no secret for sure: a number, one short word or
/// a list of such (`repos,issues`), a path, a URL (whose secrets are looked for by themselves).
pub fn tells_nothing(value: &str) -> bool {
    let is_number = value
        .chars()
        .all(|letter| letter.is_ascii_digit() || matches!(letter, '.' | ':'));
    let is_level = |word: &str| {
        word.len() <= MAX_LEVEL_LETTERS && word.chars().all(|letter| letter.is_ascii_uppercase())
    };
    let mut words = value.split(',').map(str::trim);
    let is_words = words.all(|word| is_setting(word) || is_level(word));
    let is_path = ["/", "~/", "./", "../"]
        .iter()
        .any(|start| value.starts_with(start));
    // `C:\Users`, `\\host\share`.
    let is_path = is_path
        || matches!(value.as_bytes(), [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic())
        || value.starts_with(r"\\");
    is_number || is_words || is_path || value.contains("://")
}

/// Most digits of a number that is no secret wherever it is from, such as a port.
const MAX_PORT_DIGITS: usize = 5;

/// Whether a value is no secret even where it was filled in, as secrets are.
pub(crate) fn is_trivial(value: &str) -> bool {
    let is_port =
        value.len() <= MAX_PORT_DIGITS && value.chars().all(|letter| letter.is_ascii_digit());
    let is_switch = ["true", "false", "yes", "no", "on", "off"].contains(&value);
    let is_path = value.starts_with('/')
        && value.matches('/').count() > 1
        && !value.split('/').any(looks_like_a_token);
    is_port || is_switch || is_path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens() {
        for (text, expected) in [
            ("ghp_0123456789ab", true),
            ("sk-proj-abcdefghijk", true),
            ("0123456789abcdef0123456789abcdef", true),
            ("01234567-89ab-cdef-0123-456789abcdef", true),
            ("aB3dE5gH7jK9mN1pQ3sT", true),
            ("sk-x", false),
            ("@scope/server-everything@2025.1.14", false),
            ("mcp-server-filesystem", false),
            ("2026-11-22", false),
            ("", false),
        ] {
            assert_eq!(looks_like_a_token(text), expected, "{text}");
        }
    }

    #[test]
    fn settings() {
        for (value, expected) in [
            ("production", true),
            ("8080", true),
            ("/home/me/x", true),
            ("https://e.com", true),
            ("127.0.0.1:8080", true),
            ("DEBUG", true),
            ("repos,issues, all", true),
            ("repos,hunter2", false),
            ("hunter2", false),
            ("correct-horse", false),
            ("correcthorsebattery", false),
        ] {
            assert_eq!(tells_nothing(value), expected, "{value}");
        }
    }
}
