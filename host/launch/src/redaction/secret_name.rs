//! Names of options, variables, headers and parameters whose values are secrets.

/// Words that make a name one of a secret, whatever the value is.
const SECRET_WORDS: [&str; 30] = [
    "accesskey",
    "accesskeyid",
    "apikey",
    "authkey",
    "authorization",
    "bearer",
    "cookie",
    "creds",
    "credential",
    "jwt",
    "key",
    "mnemonic",
    "otp",
    "pass",
    "passcode",
    "passkey",
    "passphrase",
    "passwd",
    "password",
    "pat",
    "phrase",
    "pin",
    "privatekey",
    "pw",
    "pwd",
    "secret",
    "secretkey",
    "sid",
    "token",
    "auth",
];

/// Last words of a name that is about a secret, and whose value is none.
const HARMLESS_LAST_WORDS: [&str; 20] = [
    "column", "count", "dir", "endpoint", "field", "file", "folder", "header", "id", "length",
    "limit", "method", "mode", "name", "path", "prefix", "type", "uri", "url", "version",
];

/// Words beside which `key` and `tokens` mean something else.
const HARMLESS_WORDS: [&str; 9] = [
    "foreign",
    "max",
    "min",
    "num",
    "partition",
    "primary",
    "public",
    "sort",
    "total",
];

/// Whether the value of something with this name is a secret: `--api-key`, `GITHUB_TOKEN`,
/// `X-Auth`, `clientSecret`.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let words = words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let is_harmless = words
        .iter()
        .rfind(|word| !word.is_empty())
        .is_some_and(|last| HARMLESS_LAST_WORDS.contains(&last.as_str()));
    !is_harmless && !has(&HARMLESS_WORDS) && words.iter().any(|word| is_secret_word(word))
}

/// Headers that are about the form of a request, and have no secret.
const HARMLESS_HEADERS: [&str; 8] = [
    "accept",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "content-type",
    "mcp-protocol-version",
    "origin",
    "user-agent",
];

/// Whether the value of a header of that name is no secret for sure.
pub(crate) fn is_harmless_header(name: &str) -> bool {
    HARMLESS_HEADERS
        .iter()
        .any(|harmless| name.eq_ignore_ascii_case(harmless))
}

fn is_secret_word(word: &str) -> bool {
    // `TOKEN2`
    let word = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let singular = word.strip_suffix('s').unwrap_or(word);
    SECRET_WORDS.iter().any(|secret| {
        [word, singular].iter().any(|word| {
            // `pgpassword`; of few letters too many words are made.
            let ends = secret.len() > 4 || *secret == "pass";
            word == secret || (ends && word.ends_with(secret) && !is_other(word))
        })
    })
}

/// Whether a word only ends like a secret's name.
fn is_other(word: &str) -> bool {
    matches!(word, "bypass" | "compass")
}

/// Splits a name into its words, in small letters; a capital may begin one.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in name.chars() {
        let begins = was_small && letter.is_ascii_uppercase();
        if begins || !letter.is_ascii_alphanumeric() {
            words.push(String::new());
        }
        was_small = letter.is_ascii_lowercase();
        if letter.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets() {
        for name in [
            "--api-key",
            "apikey",
            "API_KEYS",
            "--token",
            "--bot_token2",
            "GITHUB_TOKEN",
            "PGPASSWORD",
            "--SECRETKEY",
            "--pass",
            "--passphrase",
            "--seed-phrase",
            "--creds",
            "Cookie",
            "clientSecret",
            "authKey",
            "-eTOKEN",
            "X-Auth",
            "personal_access_tokens",
            "DB_PW",
            "--accesskeyid",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "--path",
            "--keyboard",
            "--port",
            "NODE_ENV",
            "--pattern",
            "--monkey",
            "--bypass",
            "--author",
            "--signal",
            "--max-tokens",
            "--token-file",
            "--key-path",
            "--auth-mode",
            "--sort-key",
            "--primary-key",
            "AWS_ACCESS_KEY_ID",
            "",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
