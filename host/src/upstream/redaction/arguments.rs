//! Secrets that are written out in the arguments of a program.

use std::ops::Range;

use super::secret_value::{looks_like_a_token, tells_nothing};
use super::url::secrets_in_url;
use super::{is_secret_name, is_variable, range_in};

/// Kind of the argument behind another, as that one tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Nothing.
    Any,
    /// It is a secret.
    Secret,
    /// It is the header of a request.
    Header,
    /// It may be a name and a password.
    User,
    /// It may be a password, or a port.
    PasswordOrPort,
}

/// For each argument the parts of it that are secrets: `--api-key VALUE`, `TOKEN=VALUE`,
/// `--header "Authorization: VALUE"`, `;Password=VALUE`, in URLs, and what looks like a token.
pub(crate) fn secrets_in_arguments(args: &[&str]) -> Vec<Vec<Range<usize>>> {
    let mut next = Next::Any;
    args.iter()
        .map(|arg| {
            let mut found = Vec::new();
            next = secrets_in_argument(arg, next, &mut |part| found.push(range_in(arg, part)));
            found.sort_by_key(|part| (part.start, std::cmp::Reverse(part.end)));
            let mut end = 0;
            found.retain(|part| {
                let is_new = part.start >= end && !part.is_empty();
                end = if is_new { part.end } else { end };
                is_new
            });
            found
        })
        .collect()
}

/// Finds the secrets of one argument, and says what the one behind it is.
fn secrets_in_argument<'a>(arg: &'a str, this: Next, hide: &mut dyn FnMut(&'a str)) -> Next {
    let is_option = arg.starts_with('-');
    match this {
        Next::Secret if !is_option => {
            hide_value(arg, hide);
            return Next::Any;
        }
        Next::Header if !is_option => {
            hide_header(arg, true, hide);
            return Next::Any;
        }
        Next::User if !is_option && !arg.contains("://") => {
            if let Some((_, password)) = arg.split_once(':') {
                hide_value(password, hide);
            }
            return Next::Any;
        }
        Next::PasswordOrPort if !is_option => {
            let is_port = |letter: char| letter.is_ascii_digit() || matches!(letter, ':' | '.');
            if !arg.chars().all(is_port) && !tells_nothing(arg) {
                hide_value(arg, hide);
            }
            return Next::Any;
        }
        _ => {}
    }
    if let Some((option, value)) = arg.split_once('=')
        && is_option
        && follows(option) != Next::Any
    {
        return secrets_in_argument(value, follows(option), hide);
    }
    if hide_header(arg, false, hide) {
        return Next::Any;
    }
    if arg.starts_with(['{', '[']) && !is_variable(arg) {
        // JSON may have any names in it.
        hide(arg);
        return Next::Any;
    }
    let mut next = Next::Any;
    for word in arg.split([' ', '\t', '\n', '\'', '"']) {
        next = match word.is_empty() {
            true => next,
            false if next != Next::Any => secrets_in_argument(word, next, hide),
            false => secrets_in_word(word, hide),
        };
    }
    next
}

/// Finds the secrets of a word.
fn secrets_in_word<'a>(word: &'a str, hide: &mut dyn FnMut(&'a str)) -> Next {
    if word.contains("://") {
        for part in secrets_in_url(word) {
            hide(word.get(part).unwrap_or_default());
        }
    } else if let Some(password) = password(word) {
        hide_value(password, hide);
    }
    if !word.contains("://") || word.contains(';') {
        for pair in word.split([';', '&']) {
            if let Some((name, value)) = pair.split_once('=')
                && !name.contains("://")
            {
                if is_secret_name(name) || looks_like_a_token(value) {
                    hide_value(value, hide);
                }
            } else if looks_like_a_token(pair) {
                hide(pair);
            }
        }
    }
    match word.contains('=') {
        true => Next::Any,
        false => follows(word),
    }
}

/// Kind of what stands behind an option or a word.
fn follows(word: &str) -> Next {
    let schemes = ["bearer", "basic"];
    if schemes
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme))
    {
        return Next::Secret;
    }
    match word {
        "-H" | "--header" | "--headers" => Next::Header,
        "-u" | "--user" => Next::User,
        "-p" => Next::PasswordOrPort,
        _ if word.starts_with('-') && is_secret_name(word) => Next::Secret,
        _ => Next::Any,
    }
}

/// Hides the value of a header, and says whether it is one. Where it need not be one, only if
/// its name is one of a secret.
fn hide_header<'a>(text: &'a str, is_header: bool, hide: &mut dyn FnMut(&'a str)) -> bool {
    let Some((name, value)) = text.split_once([':', '=']) else {
        if is_header {
            hide_value(text, hide);
        }
        return is_header;
    };
    let is_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let is_header = is_header
        || (name.chars().all(is_name)
            && is_secret_name(name)
            && text
                .get(name.len()..)
                .is_some_and(|rest| rest.starts_with(':')));
    if is_header {
        hide_value(value.trim_start(), hide);
    }
    is_header
}

/// Hides a value, but for one that is a variable as it is written.
fn hide_value<'a>(value: &'a str, hide: &mut dyn FnMut(&'a str)) {
    let scheme = |text: &str| matches!(follows(text), Next::Secret) && !text.starts_with('-');
    let value = match value.split_once(' ') {
        Some((first, rest)) if scheme(first) => rest,
        _ => value,
    };
    if !is_variable(value) {
        hide(value);
    }
}

/// The password of `user:password@host`, which is no URL.
fn password(word: &str) -> Option<&str> {
    let (user, rest) = word.split_once(':')?;
    let (password, host) = rest.rsplit_once('@')?;
    let is_user = !user.is_empty() && !user.contains(['/', '@', '=']) && user != "npm";
    // An image is named by a tag and a hash in this way.
    let is_image = host.starts_with("sha256:");
    (is_user && !is_image && !password.is_empty()).then_some(password)
}

#[cfg(test)]
mod tests {
    use super::super::redacted_arguments;

    #[test]
    fn secrets_in_arguments() {
        for (args, shown) in [
            (&["-y", "@scope/server@1.2.3"][..], "-y @scope/server@1.2.3"),
            (&["--api-key", "abc", "x"], "--api-key … x"),
            (&["--token=abc"], "--token=…"),
            (&["--pass", "abc"], "--pass …"),
            (&["--token", "${TOKEN}"], "--token ${TOKEN}"),
            (&["GITHUB_TOKEN=abc"], "GITHUB_TOKEN=…"),
            (&["-eGITHUB_TOKEN=abc"], "-eGITHUB_TOKEN=…"),
            (&["--token", "--verbose", "x"], "--token --verbose x"),
            (&["--path", "/x"], "--path /x"),
            (
                &["--header", "Authorization:Bearer abc"],
                "--header Authorization:Bearer …",
            ),
            (
                &["--header", "Authorization: Bearer ${T}"],
                "--header Authorization: Bearer ${T}",
            ),
            (&["--header=X-Api-Key: abc"], "--header=X-Api-Key: …"),
            (&["-H", "X-Any: abc"], "-H X-Any: …"),
            (&["Authorization: abc def"], "Authorization: …"),
            (&["--cookie", "sid=abc"], "--cookie …"),
            (&["-u", "me:abc"], "-u me:…"),
            (&["-p", "8080:80"], "-p 8080:80"),
            (&["-p", "hunter-2"], "-p …"),
            (
                &["--connection-string", "Server=db;User=me;Password=abc"],
                "--connection-string Server=db;User=me;Password=…",
            ),
            (&["me:abc@tcp(db)/x"], "me:…@tcp(db)/x"),
            (&["image:1.0@sha256:00ff"], "image:1.0@sha256:00ff"),
            (&["https://u:abc@e.com/?k=abc"], "https://…@e.com/?k=…"),
            (&["--url=postgres://u:abc@db/x"], "--url=postgres://…@db/x"),
            (
                &["https://e.com/s/aB3dE5gH7jK9mN1pQ3sT/mcp"],
                "https://e.com/s/…/mcp",
            ),
            (
                &["https://e.com/x;jsessionid=abc"],
                "https://e.com/x;jsessionid=…",
            ),
            (
                &["-c", "TOKEN=abc curl -H 'Authorization: Bearer abc' x"],
                "-c TOKEN=… curl -H 'Authorization: Bearer …' x",
            ),
            (&["{\"apiKey\":\"abc\"}"], "…"),
            (&["ghp_0123456789abcdef"], "…"),
        ] {
            let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
            assert_eq!(redacted_arguments(&args).join(" "), shown);
        }
    }
}
