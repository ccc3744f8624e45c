//! Patterns of tools: `SERVER__TOOL`, by the names that their user and their server have for them,
//! whatever prefix agents are shown; `*` stands for any characters, and a pattern without `__` is
//! that of a server, or of the whole.

use dormouse_text::wildcard::matches;

/// Separator of a server's name, which has none in it, and its tool's.
const SEPARATOR: &str = "__";

/// Returns a tool's name with a `_` for what clients do not take in one: so a person is shown it.
fn shown(tool: &str) -> String {
    let accepted = |c: char| match c.is_ascii_alphanumeric() || matches!(c, '_' | '-') {
        true => c,
        false => '_',
    };
    tool.chars().map(accepted).collect()
}

/// Whether one of these patterns allows a tool. A server's name in it is that server's alone.
pub(super) fn allow<'p>(patterns: &'p [String], server: &str, tool: &str) -> Option<&'p String> {
    let shown = shown(tool);
    patterns
        .iter()
        .find(|pattern| match pattern.split_once(SEPARATOR) {
            Some((of_server, of_tool)) => {
                matches(of_server, server) && (matches(of_tool, tool) || matches(of_tool, &shown))
            }
            None => is_of_whole(pattern, server, &[tool, &shown]),
        })
}

/// Whether one of these patterns denies a tool: in doubt it does.
pub(super) fn deny<'p>(patterns: &'p [String], server: &str, tool: &str) -> Option<&'p String> {
    let shown = shown(tool);
    let found = allow(patterns, server, tool);
    let mut all = patterns.iter();
    found.or_else(|| all.find(|pattern| is_of_whole(pattern, server, &[tool, &shown])))
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
            let found = (
                allow(&patterns, server, tool).is_some(),
                deny(&patterns, server, tool).is_some(),
            );
            assert_eq!(found, (allows, denies), "{pattern} {server} {tool}");
        }
    }
}
