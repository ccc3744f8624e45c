//! The URL of a server, as it is written and as it is connected to.
//!
//! People are shown the text, in which variables may stand; the connection is made to the URL that
//! the parser makes of it. A URL whose text could be taken for one of another host is refused.

use url::Url;

/// Reason why a URL cannot be one of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrongUrl {
    /// No URL, or one of another protocol.
    #[error("is no URL of a server")]
    NoUrl,
    /// Character that readers of URLs do not agree on.
    #[error("has {} in it, which no URL has", named(*.0))]
    Character(char),
    /// Host other than the text shows, because a filled-in value changes which part of it is the
    /// host.
    #[error("leads to another host than it says, with its variables filled in")]
    OtherHost,
}

impl WrongUrl {
    /// Returns advice for the user.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::NoUrl => "it begins with `https://` or `http://`",
            Self::Character(_) => "write it as its bytes, each with a `%`, as `%20` is a space",
            Self::OtherHost => {
                "what is before the `@` of a URL has its `/`, `?`, `#` and `@` as `%2F`, `%3F`, `%23` and `%40`"
            }
        }
    }
}

fn named(c: char) -> String {
    match c {
        '\\' => "a backslash".to_owned(),
        ' ' => "a space".to_owned(),
        _ => format!("the character `{}`", c.escape_unicode()),
    }
}

/// Returns the text of a wrong URL for an error: without all that stands before its last `@`,
/// because readers of such a text do not agree on where its user name ends.
#[must_use]
pub fn shown_wrong(shown: &str) -> String {
    let Some((before, rest)) = shown.rsplit_once('@') else {
        return shown.to_owned();
    };
    let scheme = before.split_once("://").map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &&str| scheme.bytes().all(|byte| byte.is_ascii_alphabetic());
    match scheme.filter(is_scheme) {
        Some(scheme) => format!("{scheme}://…@{rest}"),
        None => format!("…@{rest}"),
    }
}

/// Reads an HTTP URL whose text shows what its host is.
pub fn parse(url: &str) -> Result<Url, WrongUrl> {
    let odd = |c: &char| *c == '\\' || c.is_whitespace() || c.is_control();
    if let Some(odd) = url.chars().find(odd) {
        return Err(WrongUrl::Character(odd));
    }
    let parsed = Url::parse(url).map_err(|_| WrongUrl::NoUrl)?;
    // Parsers take `http:host` and `http:///host` as well, where it is not seen what is the host.
    let parts = UrlParts::of(url);
    let scheme = parts.scheme.to_ascii_lowercase();
    if !matches!(scheme.as_str(), "http://" | "https://")
        || parts.host().is_empty()
        || !parsed.has_host()
    {
        return Err(WrongUrl::NoUrl);
    }
    match host(&format!("{scheme}{}/", parts.host())) == shown(&parsed) {
        true => Ok(parsed),
        false => Err(WrongUrl::OtherHost),
    }
}

/// Returns an HTTP URL with its host in ASCII, as it is connected to, where it is written
/// otherwise: some letters look like those of ASCII.
pub fn with_host_in_ascii(url: &str) -> Option<String> {
    let host = UrlParts::of(url).host();
    let is_plain = host.is_ascii() && !host.contains('%');
    (!is_plain)
        .then(|| parse(url).ok().map(String::from))
        .flatten()
}

/// Checks the URL of a server. `written` is the URL before its variables were filled in.
pub fn check(url: &str, written: &str) -> Result<(), WrongUrl> {
    let parsed = parse(url)?;
    let masked = masked(written);
    let written = UrlParts::of(&masked);
    // Behind what is shown as a user name stands what is taken for the host.
    let is_web = ["http://", "https://"]
        .iter()
        .any(|scheme| written.scheme.eq_ignore_ascii_case(scheme));
    // One that begins otherwise has a variable where its host would be looked for.
    let may_be_one = is_web || masked.starts_with(VARIABLE);
    let shows_host = is_web || written.user.is_some() || !written.scheme.is_empty();
    if !may_be_one && masked.contains(VARIABLE) {
        return Err(WrongUrl::OtherHost);
    }
    if !shows_host {
        return Ok(());
    }
    let same = match written.host().contains(VARIABLE) {
        false => host(&format!("{}://{}/", parsed.scheme(), written.host())) == shown(&parsed),
        true => is_host_of(&UrlParts::of(url), &written),
    };
    match same {
        true => Ok(()),
        false => Err(WrongUrl::OtherHost),
    }
}

/// Stands for a variable in a text: no URL has it.
const VARIABLE: char = '\0';

/// Returns a text with [`VARIABLE`] in place of each of its variables, in the forms that clients have:
/// `${A:-b}`, `{env:A}`, `$A`, `%A%`.
fn masked(written: &str) -> String {
    let mut masked = String::with_capacity(written.len());
    let mut rest = written;
    while let Some(at) = rest.find(['$', '{', '%']) {
        let (before, variable) = rest.split_at(at);
        let length = variable_length(variable);
        masked.push_str(before);
        match length {
            Some(_) => masked.push(VARIABLE),
            None => masked.push_str(variable.get(..1).unwrap_or_default()),
        }
        rest = variable.get(length.unwrap_or(1)..).unwrap_or_default();
    }
    masked.push_str(rest);
    masked
}

/// Returns the length of the variable that a text begins with, in bytes. One without an end goes on to
/// that of the text.
fn variable_length(text: &str) -> Option<usize> {
    let named = |name: &str| {
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let length = end.unwrap_or(name.len());
        (length > 0).then_some(length)
    };
    let braced = |text: &str| {
        let mut depth = 0_usize;
        let end = text.char_indices().find(|(_, c)| {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        end.map_or(text.len(), |(at, _)| at + 1)
    };
    match text.as_bytes() {
        [b'$', b'{', ..] => Some(1 + braced(text.get(1..)?)),
        [b'$', ..] => Some(1 + named(text.get(1..)?)?),
        [b'{', ..] => Some(braced(text)),
        // An encoded byte is no variable.
        [b'%', ..] => {
            let length = named(text.get(1..)?)?;
            let has_end = text.as_bytes().get(1 + length) == Some(&b'%');
            has_end.then_some(length + 2)
        }
        _ => None,
    }
}

/// Whether the host of a URL is one that it was written for: with the parts of it that are no
/// variables at its ends, and nothing before it that looks like it.
fn is_host_of(url: &UrlParts<'_>, written: &UrlParts<'_>) -> bool {
    let (host, written_host) = (url.host(), written.host());
    let (host, written_host) = (host.to_ascii_lowercase(), written_host.to_ascii_lowercase());
    let before = written_host.split(VARIABLE).next().unwrap_or_default();
    let behind = written_host.rsplit(VARIABLE).next().unwrap_or_default();
    if written_host.chars().all(|c| c == VARIABLE) {
        return true;
    }
    let mut rest = host.as_str();
    let has_all_parts = written_host.split(VARIABLE).all(|part| {
        let found = rest.split_once(part).map(|(_, rest)| rest);
        rest = found.unwrap_or_default();
        found.is_some()
    });
    let has_no_user = url.user.is_none() || written.user.is_some();
    let is_long_enough = host.len() >= before.len() + behind.len();
    if !has_no_user
        || !has_all_parts
        || !is_long_enough
        || !host.starts_with(before)
        || !host.ends_with(behind)
    {
        return false;
    }
    // What looks like a whole name is one: only a port may stand behind it.
    let is_name = before.trim_end_matches(['.', '-', ':']).len() == before.len();
    let added = host.get(before.len()..).unwrap_or_default();
    !(behind.is_empty() && is_name && before.contains('.'))
        || added.is_empty()
        || added.starts_with(':')
}

/// Returns the host that a URL connects to, with its port where that is named.
pub fn host(url: &str) -> Option<String> {
    shown(&Url::parse(url).ok()?)
}

fn shown(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

/// Parts of a URL as it is written, or of a text that is one once its variables are filled in.
pub struct UrlParts<'a> {
    /// The scheme with `://`.
    scheme: &'a str,
    /// The user name and the password.
    pub user: Option<&'a str>,
    /// Host, port and path.
    pub rest: &'a str,
    /// Query, without the `?`.
    pub query: Option<&'a str>,
}

impl<'a> UrlParts<'a> {
    /// Splits a text into its parts.
    #[must_use]
    pub fn of(url: &'a str) -> Self {
        let url = url.split_once('#').map_or(url, |(url, _)| url);
        let (url, query) = match url.split_once('?') {
            // In a variable's default (`${A:?}`) there is none.
            Some((url, query)) => (url, Some(query)),
            None => (url, None),
        };
        let (scheme, rest) = match url.find("://") {
            Some(at) => url.split_at(at + 3),
            None => ("", url),
        };
        let at = authority(scheme, rest).rfind('@');
        let (user, rest) = match at {
            Some(at) => (rest.get(..at), rest.get(at + 1..).unwrap_or_default()),
            None => (None, rest),
        };
        Self {
            scheme,
            user,
            rest,
            query,
        }
    }

    /// Whether the scheme is `http` or `https`, or none is named.
    pub fn is_web(&self) -> bool {
        let schemes = ["", "http://", "https://"];
        schemes
            .iter()
            .any(|scheme| self.scheme.eq_ignore_ascii_case(scheme))
    }

    /// Returns the host, and its port where there is one.
    fn host(&self) -> &'a str {
        authority(self.scheme, self.rest)
    }
}

/// Returns the part before the path. In an HTTP URL, `\` is another way to write `/`.
fn authority<'a>(scheme: &str, rest: &'a str) -> &'a str {
    let is_web = scheme.eq_ignore_ascii_case("http://") || scheme.eq_ignore_ascii_case("https://");
    let end = rest.find(|c| c == '/' || (is_web && c == '\\'));
    rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest)
}

#[cfg(test)]
mod tests;
