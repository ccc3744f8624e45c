//! Patterns of tools: `SERVER__TOOL`, by the names that their user and their server have for them,
//! whatever prefix agents are shown; `*` stands for any characters, and a pattern without `__` is
//! that of a server, or of the whole. The name that agents are shown, which may be cut, is one, too,
//! where it begins with its server's name or prefix: any server may have a tool of any name.
//! What denies a tool may have any name that it is shown by under some prefix, or under none.

use dormouse_text::wildcard::matches;

/// A tool, by all names that it has.
#[derive(Debug, Clone, Copy)]
pub struct NamedTool<'n> {
    /// The configured name of its server.
    pub server: &'n str,
    /// Its server's name for it.
    pub tool: &'n str,
    /// The name that agents are shown.
    pub shown: &'n str,
    /// Whether that begins with the server's name, or with the prefix that is configured for it. Without
    /// either it is whatever the server has chosen, which may be a name of another's tool: it is denied
    /// by that, and is given nothing.
    pub is_prefixed: bool,
    /// The names that it has with other prefixes, whole and cut. What denies it by
    /// one of these denies it, whichever is shown now; nothing is allowed by them.
    pub others: &'n [String],
}

impl NamedTool<'_> {
    /// Whether one of these patterns names it where patterns allow something or list it.
    #[must_use]
    pub fn is_allowed_by(self, patterns: &[String]) -> bool {
        allow(patterns, self).is_some()
    }

    /// Whether one of these patterns names it where patterns deny something.
    #[must_use]
    pub fn is_denied_by(self, patterns: &[String]) -> bool {
        deny(patterns, self).is_some()
    }
}

/// Separator of a server's name, which has none in it, and its tool's.
const SEPARATOR: &str = "__";

/// Returns a tool's name with a `_` for what clients do not take in one: so a person is shown it.
fn readable(tool: &str) -> String {
    let accepted = |c: char| match c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
        true => c,
        false => '_',
    };
    tool.chars().map(accepted).collect()
}

/// Whether one of these patterns allows a tool. A server's name in it is that server's alone.
pub(super) fn allow<'p>(patterns: &'p [String], names: NamedTool<'_>) -> Option<&'p String> {
    let NamedTool { server, tool, .. } = names;
    // Of letters outside of ASCII nothing is left there by which one could be meant.
    let readable = match tool.is_ascii() {
        true => readable(tool),
        false => tool.to_owned(),
    };
    patterns
        .iter()
        .find(|pattern| match pattern.split_once(SEPARATOR) {
            _ if names.is_prefixed && *pattern == names.shown => true,
            Some((of_server, of_tool)) => {
                matches(of_server, server)
                    && (matches(of_tool, tool) || matches(of_tool, &readable))
            }
            None => is_of_whole(pattern, server, &[tool, &readable]),
        })
}

/// Whether one of these patterns allows some tool of a server, whatever its tools are called.
pub(super) fn allow_some(patterns: &[String], server: &str) -> bool {
    let mut patterns = patterns.iter();
    patterns.any(|pattern| match pattern.split_once(SEPARATOR) {
        Some((of_server, _)) => matches(of_server, server),
        None => is_of_whole(pattern, server, &[""]),
    })
}

/// Whether one of these patterns denies a tool: in doubt it does.
pub(super) fn deny<'p>(patterns: &'p [String], names: NamedTool<'_>) -> Option<&'p String> {
    let NamedTool { server, tool, .. } = names;
    let readable = readable(tool);
    let found = allow(patterns, names);
    let mut all = patterns.iter();
    found.or_else(|| {
        all.find(|pattern| {
            let mut others = names.others.iter();
            matches(pattern, names.shown)
                || others.any(|other| matches(pattern, other))
                || is_of_whole(pattern, server, &[tool, &readable])
        })
    })
}

fn is_of_whole(pattern: &str, server: &str, tools: &[&str]) -> bool {
    let whole = |tool: &&str| matches(pattern, &format!("{server}{SEPARATOR}{tool}"));
    matches(pattern, server) || tools.iter().any(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_name_in_a_pattern_is_that_servers() {
        for (pattern, server, tool, allows, denies) in [
            ("time__now", "time", "now", true, true),
            ("time__now", "time", "then", false, false),
            ("time__*", "time", "now", true, true),
            ("time", "time", "now", true, true),
            ("time", "times", "now", false, false),
            ("*", "time", "now", true, true),
            ("*delete*", "files", "delete_all", true, true),
            ("files__delete_*", "files", "delete.all", true, true),
            ("*__delete_*", "files", "delete_all", true, true),
            // The name of another server that begins alike.
            ("a__*", "a_", "x", false, true),
            ("a__x", "a", "__x", false, false),
            ("a___x", "a", "_x", true, true),
            ("", "a", "x", false, false),
        ] {
            let patterns = [pattern.to_owned()];
            let shown = &format!("{server}__{tool}");
            let names = NamedTool {
                server,
                tool,
                shown,
                is_prefixed: true,
                others: &[],
            };
            let found = (
                allow(&patterns, names).is_some(),
                deny(&patterns, names).is_some(),
            );
            assert_eq!(found, (allows, denies), "{pattern} {server} {tool}");
        }
    }

    /// What agents are shown is what a person copies.
    #[test]
    fn a_name_that_was_cut_or_has_another_prefix_names_its_tool() {
        let names = NamedTool {
            server: "server",
            tool: "delete_everything_that_there_is",
            shown: "s__delete_every_910afaee",
            is_prefixed: true,
            others: &[],
        };
        for (pattern, allows, denies) in [
            ("s__delete_every_910afaee", true, true),
            ("server__delete_every_910afaee", false, false),
            // Another server may have this prefix for a name.
            ("s__*", false, true),
            ("s__delete_every_*", false, true),
            ("s", false, false),
        ] {
            let patterns = [pattern.to_owned()];
            let found = (
                allow(&patterns, names).is_some(),
                deny(&patterns, names).is_some(),
            );
            assert_eq!(found, (allows, denies), "{pattern}");
        }
    }

    /// A host that shows other prefixes than the one that its user has read shows the same tool.
    #[test]
    fn every_name_that_a_tool_may_have_denies_it_and_allows_nothing() {
        let others = ["x__delete_all", "delete_all"].map(str::to_owned);
        let names = NamedTool {
            server: "u",
            tool: "delete_all",
            shown: "u__delete_all",
            is_prefixed: true,
            others: &others,
        };
        for (pattern, allows, denies) in [
            ("x__delete_all", false, true),
            ("x__*", false, true),
            ("delete_all", false, true),
            ("delete_*", false, true),
            ("u__delete_all", true, true),
            ("y__delete_all", false, false),
            ("x", false, false),
        ] {
            let patterns = [pattern.to_owned()];
            let found = (
                allow(&patterns, names).is_some(),
                deny(&patterns, names).is_some(),
            );
            assert_eq!(found, (allows, denies), "{pattern}");
        }
    }

    // Any other name of as many letters would be read like it.
    #[test]
    fn a_name_of_letters_outside_of_ascii_is_allowed_as_it_is_alone() {
        for (pattern, allows, denies) in [
            ("u__删除文件", true, true),
            ("u______", false, true),
            ("u__*", true, true),
        ] {
            let names = NamedTool {
                server: "u",
                tool: "删除文件",
                shown: "u______0a1b2c",
                is_prefixed: true,
                others: &[],
            };
            let patterns = [pattern.to_owned()];
            let found = (
                allow(&patterns, names).is_some(),
                deny(&patterns, names).is_some(),
            );
            assert_eq!(found, (allows, denies), "{pattern}");
        }
    }

    /// Its server has chosen the whole of it, and may have chosen what another's tool is called.
    #[test]
    fn a_name_without_its_servers_allows_nothing_and_denies() {
        for (shown, pattern, allows, denies) in [
            ("github__get_me", "github__get_me", false, true),
            ("github__get_me", "github__*", false, true),
            ("github__get_me", "evil__github__get_me", true, true),
            ("github__get_me", "evil__*", true, true),
            ("github__get_me", "evil", true, true),
            ("github__get_me", "*__get_me", false, true),
            ("github", "github", false, true),
            ("send", "send", false, true),
            ("send", "evil__send", true, true),
        ] {
            let names = NamedTool {
                server: "evil",
                tool: shown,
                shown,
                is_prefixed: false,
                others: &[],
            };
            let patterns = [pattern.to_owned()];
            let found = (
                allow(&patterns, names).is_some(),
                deny(&patterns, names).is_some(),
            );
            assert_eq!(found, (allows, denies), "{shown} {pattern}");
        }
    }
}
