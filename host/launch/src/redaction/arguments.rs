//! Secrets that are written out in the arguments of a program.

use super::secret_value::{is_setting, looks_like_a_token};
use super::url::secrets_in_url;
use super::variable::is_variable;
use super::words::words;
use super::{SecretPart, is_secret_name, range_in};

/// Kind of the argument behind another, as the other tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NextArgument {
    /// Anything.
    Any,
    /// A line for a shell, which has words of its own.
    Line,
    /// A secret.
    Secret,
    /// A secret, unless it is a word such as `none`.
    SecretOrSetting,
    /// The header of a request.
    Header,
    /// A name, and perhaps a password behind a `:`.
    User,
}

/// A secret that was found in an argument.
struct FoundSecret<'a> {
    text: &'a str,
    is_certain: bool,
}

impl<'a> FoundSecret<'a> {
    fn certain(text: &'a str) -> Self {
        Self {
            text,
            is_certain: true,
        }
    }
}

/// Programs whose `-p` is a password.
const PASSWORD_BY_P: [&str; 7] = [
    "mariadb",
    "mongo",
    "mongosh",
    "mysql",
    "mysqladmin",
    "mysqldump",
    "sshpass",
];

/// Finds the parts of each argument of a program that are secrets: `--api-key VALUE`,
/// `TOKEN=VALUE`, `--header "Authorization: VALUE"`, `;Password=VALUE`, in URLs, and what looks
/// like a token. The parts are in order; one may be within another.
pub fn secrets_in_arguments(program: &str, args: &[&str]) -> Vec<Vec<SecretPart>> {
    let program = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let has_p = PASSWORD_BY_P.contains(&program);
    let mut next = NextArgument::Any;
    args.iter()
        .map(|arg| {
            let mut found = Vec::new();
            next = match arg.strip_prefix("-p") {
                Some("") if has_p => NextArgument::Secret,
                Some(password) if has_p => {
                    found.push(FoundSecret::certain(password));
                    NextArgument::Any
                }
                _ => secrets_in_argument(arg, next, &mut found),
            };
            in_order(arg, &found)
        })
        .collect()
}

/// Finds the parts of a command line, or of another text, that are secrets.
pub fn secrets_in_line(line: &str) -> Vec<SecretPart> {
    let mut found = Vec::new();
    if is_json(line) {
        found.push(FoundSecret::certain(line));
    } else {
        let mut next = NextArgument::Any;
        for word in words(line) {
            next = behind_word(word, secrets_in_argument(word, next, &mut found));
        }
    }
    in_order(line, &found)
}

/// Whether a text is JSON with texts in it, which may have any names.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && text.contains('"')
}

/// Sorts the secrets that were found in a text by where they begin.
fn in_order(text: &str, found: &[FoundSecret<'_>]) -> Vec<SecretPart> {
    let mut parts: Vec<_> = found
        .iter()
        .filter(|found| !found.text.is_empty())
        .map(|found| SecretPart {
            range: range_in(text, found.text),
            is_certain: found.is_certain,
        })
        .collect();
    parts.sort_by_key(|part| (part.range.start, std::cmp::Reverse(part.range.end)));
    parts.dedup();
    parts
}

/// Finds the secrets of one argument, and returns the kind of the one behind it.
fn secrets_in_argument<'a>(
    arg: &'a str,
    this: NextArgument,
    found: &mut Vec<FoundSecret<'a>>,
) -> NextArgument {
    if this == NextArgument::Line {
        return secrets_in_words(arg, found);
    }
    if this != NextArgument::Any && !is_option(arg) {
        return secrets_by_kind(this, arg, found);
    }
    if let Some((option, value)) = arg.split_once('=')
        && option.starts_with('-')
        && !matches!(follows(option), NextArgument::Any | NextArgument::Line)
    {
        secrets_by_kind(follows(option), value, found);
        return NextArgument::Any;
    }
    if let Some(next) = secrets_in_header(arg, false, found) {
        return next;
    }
    if is_json(arg) {
        found.push(FoundSecret::certain(arg));
        return NextArgument::Any;
    }
    if arg.contains(';') && arg.contains('=') && !arg.contains("://") {
        // The values of a connection string may have spaces.
        secrets_in_word(arg, found);
        return NextArgument::Any;
    }
    if let Some((name, value)) = arg.split_once('=')
        && name.chars().all(is_name_letter)
        && is_secret_name(name)
    {
        // It may be a line for a shell all the same, which gives a program its first word.
        let value = add_value(value, found);
        let first = value.and_then(|value| value.split_once(' '));
        found.extend(first.map(|(first, _)| FoundSecret::certain(first)));
        return NextArgument::Any;
    }
    secrets_in_words(arg, found)
}

/// Finds the secrets of a line, word by word.
fn secrets_in_words<'a>(line: &'a str, found: &mut Vec<FoundSecret<'a>>) -> NextArgument {
    let mut next = NextArgument::Any;
    for word in words(line) {
        next = match word.len() == line.len() {
            true => secrets_in_word(word, found),
            false => behind_word(word, secrets_in_argument(word, next, found)),
        };
    }
    next
}

/// Returns the kind of the word behind another of a line, where a header has two.
fn behind_word(word: &str, next: NextArgument) -> NextArgument {
    match next {
        NextArgument::Any if word.strip_suffix(':').is_some_and(is_secret_name) => {
            NextArgument::Secret
        }
        next => next,
    }
}

/// Whether an argument behind one that has a value is no value, but an option: a name, and no
/// token that begins like one.
fn is_option(arg: &str) -> bool {
    let Some(option) = arg.strip_prefix("--") else {
        return false;
    };
    let name = option.split_once('=').map_or(option, |(name, _)| name);
    let has = |kind: fn(&char) -> bool| name.chars().any(|letter| kind(&letter));
    name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && name.chars().all(is_name_letter)
        && !(has(char::is_ascii_digit) && has(char::is_ascii_uppercase))
}

fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
}

/// Finds the secret of an argument of a kind, and returns the kind of the one behind it.
fn secrets_by_kind<'a>(
    kind: NextArgument,
    arg: &'a str,
    found: &mut Vec<FoundSecret<'a>>,
) -> NextArgument {
    match kind {
        NextArgument::Any | NextArgument::Line => {}
        NextArgument::SecretOrSetting if is_setting(arg) => {}
        NextArgument::Secret | NextArgument::SecretOrSetting if is_scheme(arg) => {
            return NextArgument::Secret;
        }
        NextArgument::Secret | NextArgument::SecretOrSetting => {
            add_value(arg, found);
        }
        NextArgument::Header => {
            return secrets_in_header(arg, true, found).unwrap_or(NextArgument::Any);
        }
        NextArgument::User if arg.contains("://") => {
            secrets_in_word(arg, found);
        }
        NextArgument::User => {
            let is_id = |text: &str| text.chars().all(|letter| letter.is_ascii_digit());
            if let Some((_, password)) = arg.split_once(':').filter(|(user, _)| !is_id(user)) {
                add_value(password, found);
            }
        }
    }
    NextArgument::Any
}

/// Finds the secrets of a word.
fn secrets_in_word<'a>(word: &'a str, found: &mut Vec<FoundSecret<'a>>) -> NextArgument {
    if word.contains("://") {
        for part in secrets_in_url(word) {
            found.push(FoundSecret {
                text: word.get(part.range).unwrap_or_default(),
                is_certain: part.is_certain,
            });
        }
    } else if let Some(password) = password(word) {
        add_value(password, found);
    }
    if !word.contains("://") || word.contains(';') {
        for pair in word.split([';', '&']) {
            // `--env=NAME=VALUE`: each of the names may be one of a secret.
            let mut rest = pair;
            while let Some((name, value)) = rest.split_once('=') {
                if !name.contains("://") && is_secret_name(name) {
                    add_value(value, found);
                    break;
                }
                rest = value;
            }
            let tokens = rest.split(':').filter(|part| looks_like_a_token(part));
            found.extend(tokens.map(FoundSecret::certain));
            // What stands in a path may be the name of a folder, which results speak of.
            let steps = rest.split([':', '/', '\\']);
            let steps = steps.filter(|step| step.len() < rest.len() && looks_like_a_token(step));
            found.extend(steps.map(|text| FoundSecret {
                text,
                is_certain: false,
            }));
        }
    }
    match word.contains('=') {
        true => NextArgument::Any,
        false => follows(word),
    }
}

/// Returns the kind of the argument behind an option or a word.
fn follows(word: &str) -> NextArgument {
    if ["bearer", "basic"]
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme))
    {
        return NextArgument::Secret;
    }
    match word {
        "-H" | "--header" | "--headers" => NextArgument::Header,
        "-u" | "-U" | "--user" | "--proxy-user" | "--login" | "--userpwd" => NextArgument::User,
        "--auth" => NextArgument::SecretOrSetting,
        "-c" | "-lc" | "-ic" | "-S" | "/c" | "/C" | "-Command" | "--command" | "--call" => {
            NextArgument::Line
        }
        _ if word.starts_with('-') && is_secret_name(word) => NextArgument::Secret,
        _ => NextArgument::Any,
    }
}

/// Whether a word is the first of a credential, and its secret stands behind it.
fn is_scheme(word: &str) -> bool {
    ["basic", "bearer", "bot", "token"]
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// Finds the value of a header, and returns the kind of the argument behind it; none where the text
/// is no header. Unless `is_header` is true, only a text with the name of a secret is one.
fn secrets_in_header<'a>(
    text: &'a str,
    is_header: bool,
    found: &mut Vec<FoundSecret<'a>>,
) -> Option<NextArgument> {
    let Some((name, value)) = text.split_once([':', '=']) else {
        // Some programs take the value as an argument of its own.
        return match is_header {
            true if text.chars().all(is_name_letter) && is_secret_name(text) => {
                Some(NextArgument::Secret)
            }
            true => {
                add_value(text, found);
                Some(NextArgument::Any)
            }
            false => None,
        };
    };
    let has_colon = text
        .get(name.len()..)
        .is_some_and(|rest| rest.starts_with(':') && !rest.starts_with("://"));
    let name = name.trim_start_matches('/');
    let is_header = is_header
        || (has_colon
            && name.chars().all(is_name_letter)
            && is_secret_name(name)
            && !is_task(name));
    if !is_header {
        return None;
    }
    add_value(value.trim_start(), found);
    Some(NextArgument::Any)
}

/// Whether a name is that of a task before its step (`npm run auth:login`).
fn is_task(name: &str) -> bool {
    name == "auth"
}

/// Adds a value without the scheme before it, unless it is a variable as it is written.
fn add_value<'a>(value: &'a str, found: &mut Vec<FoundSecret<'a>>) -> Option<&'a str> {
    let value = match value.chars().next() {
        Some(quote @ ('\'' | '"')) => {
            let value = value.strip_prefix(quote).unwrap_or(value);
            value.strip_suffix(quote).unwrap_or(value)
        }
        _ => value,
    };
    let value = match value.split_once(' ') {
        Some((first, rest)) if is_scheme(first) => rest.trim_start(),
        _ => value,
    };
    if is_variable(value) {
        return None;
    }
    found.push(FoundSecret::certain(value));
    Some(value)
}

/// Sources of packages and of images, which stand before a `:` as a user does.
const SOURCES: [&str; 14] = [
    "bitbucket",
    "catalog",
    "docker",
    "file",
    "gist",
    "git",
    "github",
    "gitlab",
    "jsr",
    "link",
    "npm",
    "pkg",
    "portal",
    "workspace",
];

/// Finds the password of `user:password@host`, which is no URL.
fn password(word: &str) -> Option<&str> {
    let (user, rest) = word.split_once(':')?;
    let (password, host) = rest.rsplit_once('@')?;
    // A drive has one letter.
    let is_user =
        user.len() > 1 && !user.contains(['/', '@', '=', '\\']) && !SOURCES.contains(&user);
    // What has a version or a hash behind the `@` is a package or an image.
    let version = host.trim_start_matches(['v', '^', '~', '=']);
    let is_version = version.starts_with(|letter: char| letter.is_ascii_digit())
        && !host.contains([':', '/'])
        && !is_address(host);
    let is_package = is_version || host.starts_with("sha256:") || host == "latest";
    (is_user && !is_package && !password.is_empty()).then_some(password)
}

fn is_address(host: &str) -> bool {
    host.parse::<std::net::IpAddr>().is_ok()
}

#[cfg(test)]
mod tests;
