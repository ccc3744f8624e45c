//! The names that users give to servers.

use dormouse_text::nearest::nearest;

/// What separates a server's name from a tool's in the names that agents see.
pub const SEPARATOR: &str = "__";

/// Most characters of a server's name: what agents see is that and the name of a tool.
const MAX_NAME_CHARACTERS: usize = 128;

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

/// Looks of a name to somebody who does not look twice: two that are alike in this are
/// taken for one another.
#[must_use]
pub fn likeness(name: &str) -> String {
    alike(name).trim_end_matches('_').to_owned()
}

/// A name without what nobody looks at twice: the case of its letters, and whether there is `-`
/// or `_`.
#[must_use]
pub fn alike(name: &str) -> String {
    name.to_ascii_lowercase().replace('-', "_")
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

/// Why a name cannot be a server's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// It is empty.
    #[error("a server's name is empty")]
    Empty,
    /// It is too long.
    #[error("server name `{0}…` has more than {MAX_NAME_CHARACTERS} characters")]
    Long(String),
    /// It has a character that agents do not accept in names of tools.
    #[error("server name `{name}` has a `{found}` in it", name = .name.escape_debug(), found = .found.escape_debug())]
    Character {
        /// The name.
        name: String,
        /// The first such character.
        found: char,
    },
    /// It is Dormouse's own.
    #[error("server name `{0}` is Dormouse's own")]
    Reserved(String),
    /// It has the separator in it.
    #[error("server name `{0}` has a `__` in it")]
    Separator(String),
}

impl BadName {
    /// What a name has to be like.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Empty | Self::Character { .. } => "use letters (a-z, A-Z), digits, `-` and `_`",
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

/// Judges a server's name.
///
/// # Errors
/// It is none.
pub fn check(name: &str) -> Result<(), BadName> {
    if name.is_empty() {
        return Err(BadName::Empty);
    }
    check_prefix(name)
}

/// Judges what a user wants before the names of a server's tools. Empty is fine
/// here: it means nothing before them.
///
/// # Errors
/// It cannot stand there.
pub fn check_prefix(prefix: &str) -> Result<(), BadName> {
    if let Some((end, _)) = prefix.char_indices().nth(MAX_NAME_CHARACTERS) {
        let begin = prefix
            .get(..prefix.floor_char_boundary(end.min(40)))
            .unwrap_or_default();
        return Err(BadName::Long(begin.escape_debug().to_string()));
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

/// There is no server of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no server is called `{name}`\nhint: {hint}", name = .name.escape_debug())]
pub struct Unknown {
    name: String,
    hint: String,
}

impl Unknown {
    /// The name asked for, and those that there are.
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
    fn names_are_judged() {
        for good in ["time", "T-1", "a_b", "_", "0", "-x"] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
        for (bad, message) in [
            ("", "a server's name is empty"),
            ("a b", "server name `a b` has a ` ` in it"),
            ("zeit/ä", "server name `zeit/ä` has a `/` in it"),
            ("a\nb", "server name `a\\nb` has a `\\n` in it"),
            ("a__b", "server name `a__b` has a `__` in it"),
            ("日本", "server name `日本` has a `日` in it"),
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
