//! The names that users give to servers.

use std::borrow::Cow;

use dormouse_text::nearest::nearest;

use crate::problem::unquoted;

/// Separator of a server's name and a tool's in the names that agents see.
pub const SEPARATOR: &str = "__";

/// Most characters of a server's name: agents see it before the name of a tool.
pub(crate) const MAX_NAME_CHARACTERS: usize = 128;

/// The name of Dormouse, which no server has.
const OWN: &str = "dormouse";

/// Whether a name that agents see is one of Dormouse's own, however its letters are written.
#[must_use]
pub fn is_own(shown: &str) -> bool {
    shown
        .split_at_checked(OWN.len())
        .is_some_and(|(name, rest)| {
            name.eq_ignore_ascii_case(OWN) && alike(rest).starts_with(SEPARATOR)
        })
}

/// Returns the looks of a name to somebody who does not look twice: two names that are alike in
/// this are taken for one another.
#[must_use]
pub fn likeness(name: &str) -> String {
    alike(name).trim_end_matches('_').to_owned()
}

/// Returns a name without what nobody looks at twice: the case of its letters, and whether there is
/// `-` or `_`.
#[must_use]
pub fn alike(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
}

/// Returns a name of a server or a tool with a `_` for whatever clients do not want in a tool's name:
/// it is what they call the tool where they deny it. They count in UTF-16.
pub(crate) fn plain(name: &str) -> Cow<'_, str> {
    with_underscores(name, |_| false)
}

/// Returns what [`plain`] does, of a pattern: each `*` stays.
pub(crate) fn plain_pattern(pattern: &str) -> Cow<'_, str> {
    with_underscores(pattern, |c| c == '*')
}

fn with_underscores(name: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_') || stays(c);
    if name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let mut plain = String::with_capacity(name.len());
    for c in name.chars() {
        match is_plain(c) {
            true => plain.push(c),
            false => plain.extend(std::iter::repeat_n('_', c.len_utf16())),
        }
    }
    Cow::Owned(plain)
}

/// Names of the tools by which agents find, load and call tools that are not in their lists.
pub const META_TOOLS: [&str; 7] = [
    "list_servers",
    "load_tools",
    "search_tools",
    "describe_tool",
    "call_tool",
    "call_tool_write",
    "call_tool_destructive",
];

/// Whether a name that agents see is the one of such a tool, or would be taken for it: however its
/// letters are written, and in camel case.
#[must_use]
pub fn is_of_meta_tool(shown: &str) -> bool {
    let (looks, letters) = (alike(shown), shown.to_ascii_lowercase());
    let mut names = META_TOOLS.iter();
    names.any(|name| *name == looks || name.replace('_', "") == letters)
}

/// Names of the prompts that are Dormouse's own commands.
const COMMANDS: [&str; 5] = ["servers", "status", "enable", "disable", "approve"];

/// Whether a prompt's name is the one of a command of Dormouse's own, however its letters are
/// written.
#[must_use]
pub fn is_command(shown: &str) -> bool {
    COMMANDS
        .iter()
        .any(|command| shown.eq_ignore_ascii_case(command))
}

/// Reason why a name cannot be a server's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// Empty name.
    #[error("a server's name is empty")]
    Empty,
    /// Name that programs would take for an option, in hints and on command lines.
    #[error("server name `{0}` begins with a `-`")]
    Option(String),
    /// Name that is too long, with its beginning.
    #[error("server name `{0}…` has more than {MAX_NAME_CHARACTERS} characters")]
    Long(String),
    /// Name with a character that agents do not accept in names of tools.
    #[error("server name `{name}` has a `{found}` in it", name = unquoted(.name), found = unquoted(&.found.to_string()))]
    Character {
        /// The name.
        name: String,
        /// The first such character.
        found: char,
    },
    /// Name of Dormouse's own.
    #[error("server name `{0}` is Dormouse's own")]
    Reserved(String),
    /// Name with the separator in it.
    #[error("server name `{0}` has a `__` in it")]
    Separator(String),
}

impl BadName {
    /// Returns the hint on what a name has to be like.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty | Self::Character { .. } => "use letters (a-z, A-Z), digits, `-` and `_`",
            Self::Option(_) => "begin it with a letter or a digit: commands take it for an option",
            Self::Long(_) => "use a shorter one: it stands before the names of its tools",
            Self::Reserved(_) => {
                "use another: what is called `dormouse` speaks for Dormouse itself"
            }
            Self::Separator(_) => {
                "use a single `_`: two of them separate the server from the tool, as in `time__convert_time`"
            }
        }
    }
}

/// Checks a server's name.
///
/// # Errors
/// The name cannot be a server's.
pub fn check(name: &str) -> Result<(), BadName> {
    if name.is_empty() {
        return Err(BadName::Empty);
    }
    check_prefix(name)?;
    match name.starts_with('-') {
        true => Err(BadName::Option(name.to_owned())),
        false => Ok(()),
    }
}

/// Checks the prefix that a user wants before the names of a server's tools. An empty one is
/// allowed: it means nothing before them.
///
/// # Errors
/// The prefix cannot stand there.
pub fn check_prefix(prefix: &str) -> Result<(), BadName> {
    if let Some((end, _)) = prefix.char_indices().nth(MAX_NAME_CHARACTERS) {
        let begin = prefix
            .get(..prefix.floor_char_boundary(end.min(40)))
            .unwrap_or_default();
        return Err(BadName::Long(unquoted(begin)));
    }
    let odd = |c: &char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
    if let Some(found) = prefix.chars().find(odd) {
        return Err(BadName::Character {
            name: prefix.to_owned(),
            found,
        });
    }
    // With something behind it that nobody looks at, it would be the beginning of `dormouse__`.
    if likeness(prefix) == OWN {
        return Err(BadName::Reserved(prefix.to_owned()));
    }
    if prefix.contains(SEPARATOR) {
        return Err(BadName::Separator(prefix.to_owned()));
    }
    Ok(())
}

/// Name that no server has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no server is called `{name}`\nhint: {hint}", name = .name.escape_debug())]
pub struct Unknown {
    name: String,
    hint: String,
}

impl Unknown {
    /// Makes the error for the name asked for, with the names that exist.
    #[must_use]
    pub fn new<'a>(name: &str, existing: impl IntoIterator<Item = &'a str>) -> Self {
        let existing: Vec<_> = existing.into_iter().collect();
        let hint = match nearest(name, existing.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if existing.is_empty() => {
                "there is none yet; `dormouse add NAME FILE` adds one".to_owned()
            }
            None => "`dormouse list` shows them all".to_owned(),
        };
        Self {
            name: name.to_owned(),
            hint,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_gets_a_way_out() {
        for (existing, hint) in [
            (&["files", "TIME"][..], "did you mean `TIME`?"),
            (&["time", "files"][..], "did you mean `time`?"),
            (&["files"][..], "`dormouse list` shows them all"),
            (
                &[][..],
                "there is none yet; `dormouse add NAME FILE` adds one",
            ),
        ] {
            assert_eq!(
                Unknown::new("tmie", existing.iter().copied()).to_string(),
                format!("no server is called `tmie`\nhint: {hint}")
            );
        }
    }

    #[test]
    fn what_looks_like_a_meta_tool_is_known() {
        for (shown, is_one) in [
            ("search_tools", true),
            ("Search-Tools", true),
            ("searchTools", true),
            ("CALLTOOL", true),
            ("call_tool_write", true),
            ("search__tools", false),
            ("git__search_tools", false),
            ("search_tool", false),
            ("", false),
        ] {
            assert_eq!(is_of_meta_tool(shown), is_one, "{shown}");
        }
    }

    #[test]
    fn names_are_judged() {
        for good in ["time", "T-1", "a_b", "_", "0", "x-"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for (bad, message) in [
            ("", "a server's name is empty"),
            ("a b", "server name `a b` has a ` ` in it"),
            ("zeit/ä", "server name `zeit/ä` has a `/` in it"),
            ("a\nb", "server name `a\\nb` has a `\\n` in it"),
            ("a__b", "server name `a__b` has a `__` in it"),
            ("--yes", "server name `--yes` begins with a `-`"),
            ("日本", "server name `日本` has a `日` in it"),
            ("a` (b", "server name `a\\u{60} (b` has a `\\u{60}` in it"),
            (
                &"x".repeat(129),
                "server name `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` has more than 128 characters",
            ),
            ("dormouse", "server name `dormouse` is Dormouse's own"),
            ("Dormouse", "server name `Dormouse` is Dormouse's own"),
            ("dormouse_", "server name `dormouse_` is Dormouse's own"),
            ("dormouse-", "server name `dormouse-` is Dormouse's own"),
        ] {
            assert_eq!(check(bad).unwrap_err().to_string(), message);
        }
        assert_eq!(check(&"x".repeat(128)), Ok(()));
        assert_eq!(check_prefix(""), Ok(()));
        assert!(check_prefix("dormouse").is_err());
        assert_eq!(check("dormouse-1"), Ok(()));
        for (shown, own) in [
            ("dormouse__trust_project", true),
            ("DORMOUSE__x", true),
            ("dormouse-_x", true),
            ("dormouse_x", false),
            ("dormouse-1__x", false),
            ("x__dormouse__x", false),
        ] {
            assert_eq!(is_own(shown), own, "{shown}");
        }
    }
}
