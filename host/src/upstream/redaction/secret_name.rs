//! Names of options, variables, headers and parameters whose values are secrets.

/// Words in such names.
const SECRET_WORDS: [&str; 19] = [
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "jwt",
    "key",
    "pass",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "pat",
    "pwd",
    "secret",
    "sid",
    "sig",
    "signature",
    "token",
];

/// Whether the value of what has that name is a secret: `--api-key`, `GITHUB_TOKEN`,
/// `X-Auth`, `clientSecret`.
#[must_use]
pub(crate) fn is_secret_name(name: &str) -> bool {
    words(name).iter().any(|word| {
        SECRET_WORDS.iter().any(|secret| {
            let rest = word.strip_suffix('s').unwrap_or(word);
            [word.as_str(), rest].iter().any(|word| {
                word == secret
                    // `pgpassword`; of three letters too many words are made.
                    || (secret.len() > 3 && word.ends_with(secret) && !is_other(word))
                    || word.strip_prefix("api") == Some(secret)
            })
        })
    })
}

/// Words that end like a secret's name, and are none.
fn is_other(word: &str) -> bool {
    matches!(word, "bypass" | "compass")
}

/// The words of a name in small letters, also those that begin with a capital.
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
            "GITHUB_TOKEN",
            "PGPASSWORD",
            "--pass",
            "--passphrase",
            "Cookie",
            "clientSecret",
            "authKey",
            "-eTOKEN",
            "X-Amz-Signature",
            "jsessionid_sid",
            "personal_access_tokens",
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
            "",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
