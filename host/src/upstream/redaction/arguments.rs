//! Secrets that are written out in the arguments of a program.

use std::ops::Range;

use super::secret_value::{is_setting, looks_like_a_token};
use super::url::secrets_in_url;
use super::{is_secret_name, is_variable, range_in};

/// Kind of the argument behind another, as that one tells.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// Anything.
    Any,
    /// A secret.
    Secret,
    /// A secret, unless it is a word such as `none`.
    SecretOrSetting,
    /// The header of a request.
    Header,
    /// A name, and perhaps a password behind a `:`.
    User,
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

/// For each argument of a program the parts of it that are secrets: `--api-key VALUE`,
/// `TOKEN=VALUE`, `--header "Authorization: VALUE"`, `;Password=VALUE`, in URLs, and what looks
/// like a token.
pub(crate) fn secrets_in_arguments(program: &str, args: &[&str]) -> Vec<Vec<Range<usize>>> {
    let program = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let has_p = PASSWORD_BY_P.contains(&program);
    let mut next = Next::Any;
    args.iter()
        .map(|arg| {
            let mut found = Vec::new();
            let mut hide = |part| found.push(range_in(arg, part));
            next = match arg.strip_prefix("-p") {
                Some("") if has_p => Next::Secret,
                Some(password) if has_p => {
                    hide(password);
                    Next::Any
                }
                _ => secrets_in_argument(arg, next, &mut hide),
            };
            in_order(found)
        })
        .collect()
}

/// The parts of a command line, or of another text, that are secrets.
pub(crate) fn secrets_in_line(line: &str) -> Vec<Range<usize>> {
    let words: Vec<&str> = line.split(' ').collect();
    let mut start = 0;
    words
        .iter()
        .zip(secrets_in_arguments("", &words))
        .flat_map(|(word, secrets)| {
            let at = start;
            start += word.len() + 1;
            secrets
                .into_iter()
                .map(move |part| at + part.start..at + part.end)
        })
        .collect()
}

/// Ranges in order, without those that are within others.
fn in_order(mut found: Vec<Range<usize>>) -> Vec<Range<usize>> {
    found.sort_by_key(|part| (part.start, std::cmp::Reverse(part.end)));
    let mut end = 0;
    found.retain(|part| {
        let is_new = part.start >= end && !part.is_empty();
        end = if is_new { part.end } else { end };
        is_new
    });
    found
}

/// Finds the secrets of one argument, and says what the one behind it is.
fn secrets_in_argument<'a>(arg: &'a str, this: Next, hide: &mut dyn FnMut(&'a str)) -> Next {
    if this != Next::Any && !arg.starts_with("--") {
        hide_by(this, arg, hide);
        return Next::Any;
    }
    if let Some((option, value)) = arg.split_once('=')
        && option.starts_with('-')
        && follows(option) != Next::Any
    {
        hide_by(follows(option), value, hide);
        return Next::Any;
    }
    if hide_header(arg, false, hide) {
        return Next::Any;
    }
    if arg.trim_start().starts_with(['{', '[']) && arg.contains('"') {
        // JSON may have any names in it.
        hide(arg);
        return Next::Any;
    }
    if arg.contains(';') && arg.contains('=') && !arg.contains("://") {
        // The values of a connection string may have spaces.
        secrets_in_word(arg, hide);
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

/// Hides what a kind of argument has to hide.
fn hide_by<'a>(kind: Next, arg: &'a str, hide: &mut dyn FnMut(&'a str)) {
    match kind {
        Next::Any => {}
        Next::SecretOrSetting if is_setting(arg) => {}
        Next::Secret | Next::SecretOrSetting => hide_value(arg, hide),
        Next::Header => {
            hide_header(arg, true, hide);
        }
        Next::User if arg.contains("://") => {
            secrets_in_word(arg, hide);
        }
        Next::User => {
            let is_id = |text: &str| text.chars().all(|letter| letter.is_ascii_digit());
            if let Some((_, password)) = arg.split_once(':').filter(|(user, _)| !is_id(user)) {
                hide_value(password, hide);
            }
        }
    }
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
            // `--env=NAME=VALUE`: each of the names may be one of a secret.
            let mut rest = pair;
            while let Some((name, value)) = rest.split_once('=') {
                if !name.contains("://") && is_secret_name(name) {
                    hide_value(value, hide);
                    break;
                }
                rest = value;
            }
            rest.split(':')
                .filter(|part| looks_like_a_token(part))
                .for_each(&mut *hide);
        }
    }
    match word.contains('=') {
        true => Next::Any,
        false => follows(word),
    }
}

/// Kind of what stands behind an option or a word.
fn follows(word: &str) -> Next {
    if ["bearer", "basic"]
        .iter()
        .any(|scheme| word.eq_ignore_ascii_case(scheme))
    {
        return Next::Secret;
    }
    match word {
        "-H" | "--header" | "--headers" => Next::Header,
        "-u" | "-U" | "--user" | "--proxy-user" | "--login" | "--userpwd" => Next::User,
        "--auth" => Next::SecretOrSetting,
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
    let has_colon = text
        .get(name.len()..)
        .is_some_and(|rest| rest.starts_with(':') && !rest.starts_with("://"));
    let name = name.trim_start_matches('/');
    let is_header = is_header
        || (has_colon && name.chars().all(is_name) && is_secret_name(name) && !is_task(name));
    if is_header {
        hide_value(value.trim_start(), hide);
    }
    is_header
}

/// Whether a name is that of a task before its step (`npm run auth:login`).
fn is_task(name: &str) -> bool {
    name == "auth"
}

/// Hides a value, but for one that is a variable as it is written.
fn hide_value<'a>(value: &'a str, hide: &mut dyn FnMut(&'a str)) {
    let value = match value.split_once(' ') {
        Some((first, rest)) if !first.starts_with('-') && follows(first) == Next::Secret => rest,
        _ => value,
    };
    if !is_variable(value) {
        hide(value);
    }
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

/// The password of `user:password@host`, which is no URL.
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
mod tests {
    use super::super::redacted_arguments;

    #[track_caller]
    fn shown(program: &str, args: &[&str]) -> String {
        let args: Vec<String> = args.iter().map(|arg| (*arg).to_owned()).collect();
        redacted_arguments(program, &args).join(" ")
    }

    #[test]
    fn secrets_in_arguments() {
        for (args, expected) in [
            (&["--api-key", "abc", "x"][..], "--api-key … x"),
            (&["--token=abc"], "--token=…"),
            (&["--pass", "abc"], "--pass …"),
            (&["--password", "-abc"], "--password …"),
            (&["--token", "${TOKEN}"], "--token ${TOKEN}"),
            (&["GITHUB_TOKEN=abc"], "GITHUB_TOKEN=…"),
            (&["-eGITHUB_TOKEN=abc"], "-eGITHUB_TOKEN=…"),
            (&["--env=GITHUB_TOKEN=abc"], "--env=GITHUB_TOKEN=…"),
            (&["--token", "--verbose", "x"], "--token --verbose x"),
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
            (&["/token:abc"], "/token:…"),
            (&["--cookie", "sid=abc"], "--cookie …"),
            (&["-u", "me:abc"], "-u me:…"),
            (&["--login=me:abc"], "--login=me:…"),
            (
                &[
                    "--connection-string",
                    "Server=db;User=me;Password=a b c;X=1",
                ],
                "--connection-string Server=db;User=me;Password=…;X=1",
            ),
            (&["me:abc@tcp(db)/x"], "me:…@tcp(db)/x"),
            (&["me:abc@10.0.0.1"], "me:…@10.0.0.1"),
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
            (&["  {\"apiKey\":\"abc\"}"], "…"),
            (&["ghp_0123456789abcdef"], "…"),
        ] {
            assert_eq!(shown("run", args), expected);
        }
        assert_eq!(shown("/usr/bin/mysql", &["-p", "abc"]), "-p …");
        assert_eq!(shown("mysql", &["-pabc"]), "-p…");
    }

    #[test]
    fn what_is_no_secret_is_shown() {
        for args in [
            "-y @scope/server@1.2.3",
            "-y -p @upstash/context7-mcp context7",
            "-p 3.12 tool",
            "run --rm -i -p 127.0.0.1:8080:80/tcp -u 1000:1000 image:1.0@sha256:00ff",
            "run jsr:@scope/server@1.0 npm:server@1.0 github:me/x@v1 pkg:x@1",
            "run auth:login --auth none --auth-mode oauth",
            r"C:\Users\me@work\server.js",
            "--max-tokens 4096 --token-file /x/y --key-path ./k --sort-key name",
            "--path /x {x} --port 8080 2026-11-22",
        ] {
            let words: Vec<&str> = args.split(' ').collect();
            assert_eq!(shown("npx", &words), args);
        }
    }

    #[test]
    fn secrets_are_found_in_linear_time() {
        let parts = [
            "--token ",
            "--token=",
            "-H ",
            "bearer ",
            "a=b=",
            "A_TOKEN=x;",
            "https://u:p@h/?k=v&",
            "x://",
            "://a@",
            "u:p@",
            "'--auth \"",
            "{\"a",
            ";=",
            "&=:",
            "-",
            ":",
        ];
        for part in parts {
            let text = |size: usize| part.repeat(size);
            dormouse_tests::growth::is_linear(part, 1_000, text, |text: &String| {
                std::hint::black_box(super::secrets_in_line(text));
                let words: Vec<_> = text.split(' ').collect();
                std::hint::black_box(super::secrets_in_arguments("mysql", &words));
                // One word, which has spaces in it.
                std::hint::black_box(super::secrets_in_arguments("x", &[text]));
            });
        }
    }
}
