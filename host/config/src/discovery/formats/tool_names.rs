//! Names that clients have for the tools of a server, in lists of tools that are off or on.
//!
//! Such a name has the server's before the tool's, and a `_` for each character that is not for
//! names of tools. A pattern may have its `*` anywhere: what it means for the tools of one server is
//! what is left of it behind the server's name, which may be several patterns.

use crate::discovery::document::{DocumentValue, Node};
use crate::naming::name::{plain, plain_pattern};

/// Most names in a list that are held against each server: a file made to keep its reader busy has
/// more of both.
pub(in crate::discovery) const MAX_NAMES: usize = 500;

/// Most bytes of a pattern with a `*` in it. No tool has so long a name.
const MAX_PATTERN: usize = 127;

/// Most patterns on the names of one server's tools that one pattern becomes.
const MAX_PARTS: usize = 8;

/// Returns the texts of lists of what a client denies. One text alone is a list of it, and what can
/// name nothing is left out. None where nobody finds out what is denied, because there are lists or
/// tables in a list, too many texts, or something else in the list's place.
pub(super) fn denials<'n>(mut lists: impl Iterator<Item = &'n Node>) -> Option<Vec<&'n str>> {
    let denials = lists.try_fold(Vec::new(), |mut all, list| {
        all.extend(denials_of(list)?);
        Some(all)
    })?;
    (denials.len() <= MAX_NAMES).then_some(denials)
}

/// Does the same as [`denials`] for one list, however many texts are in it.
pub(super) fn denials_of(list: &Node) -> Option<Vec<&str>> {
    let nodes = match &list.value {
        DocumentValue::List(items) => items,
        DocumentValue::Null | DocumentValue::Bool(false) => return Some(Vec::new()),
        // Several may be meant by one text.
        DocumentValue::Text(text) if !may_be_several(text.trim()) => std::slice::from_ref(list),
        _ => return None,
    };
    let mut denials = Vec::new();
    for node in nodes {
        match &node.value {
            DocumentValue::Text(text) => {
                denials.push(text.as_str());
                denials.extend(Some(text.trim()).filter(|trimmed| trimmed != text));
            }
            DocumentValue::List(_) | DocumentValue::Table(_) => return None,
            _ => {}
        }
    }
    Some(denials)
}

/// Whether several names or rules may be meant by a text: it has something between two of them, or
/// something in the parentheses of a rule that may be so.
fn may_be_several(text: &str) -> bool {
    let is_between = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '|');
    let Some((name, arguments)) = text.split_once('(') else {
        return text.contains(is_between);
    };
    let Some(arguments) = arguments.strip_suffix(')') else {
        return true;
    };
    let separators = arguments.matches([',', ':']).count();
    name.contains(is_between) || arguments.contains(['(', ')', ';', '|']) || separators > 1
}

/// Returns what denies all tools of a server.
pub(super) fn all() -> Vec<String> {
    vec!["*".to_owned()]
}

/// Returns the parts of a client's lists that deny tools of a server. `opens` is what such names may
/// begin with before the tool's own; what begins with none of that is a tool's own name. Where
/// nobody finds out what is off, all tools are.
pub(super) fn of_server<'n>(
    lists: impl Iterator<Item = &'n Node>,
    opens: &[String],
) -> Vec<String> {
    let Some(patterns) = denials(lists) else {
        return all();
    };
    let mut own = Vec::new();
    for pattern in patterns {
        own.push(pattern.to_owned());
        own.extend(opens.iter().flat_map(|open| denied(pattern, open)));
    }
    own
}

/// Returns patterns on the names of a server's tools for one that denies tools: of what nobody
/// finds out, more than it means. `open` is what the names of the server's tools begin with.
pub(super) fn denied(pattern: &str, open: &str) -> Vec<String> {
    let pattern = without_repeated_stars(pattern);
    // The server's name may be written as it is, too.
    let compared = plain_pattern(&pattern);
    let shown = match compared.len() == pattern.len() {
        true => &pattern,
        false => &*compared,
    };
    let Some(places) = places_behind(&compared, open) else {
        return all();
    };
    let part = |place: &usize| shown.get(*place..).unwrap_or("*").to_owned();
    if places.len() > MAX_PARTS {
        // What any of them matches ends with what the last one does.
        let last = places.last().map(part).unwrap_or_default();
        return vec![without_repeated_stars(&format!("*{last}"))];
    }
    places.iter().map(part).collect()
}

/// Returns patterns on the names of a server's tools for one that allows tools: of what nobody
/// finds out, less than it means.
pub(super) fn allowed(pattern: &str, open: &str) -> Vec<String> {
    let pattern = without_repeated_stars(pattern);
    let places = places_behind(&pattern, open).unwrap_or_default();
    let parts = places.iter().filter_map(|place| pattern.get(*place..));
    parts.take(MAX_PARTS).map(str::to_owned).collect()
}

/// Whether a pattern is for all tools.
pub(super) fn is_all(pattern: &str) -> bool {
    !pattern.is_empty() && pattern.bytes().all(|byte| byte == b'*')
}

/// Returns the places in a pattern at which it goes on once it has matched what the names of a
/// server's tools begin with, in order. None where it is too long for that to be found out.
fn places_behind(pattern: &str, open: &str) -> Option<Vec<usize>> {
    let Some((head, _)) = pattern.split_once('*') else {
        let rest = pattern.strip_prefix(open).filter(|rest| !rest.is_empty());
        return Some(rest.map(|_| open.len()).into_iter().collect());
    };
    if !head.starts_with(open) && !open.starts_with(head) {
        return Some(Vec::new());
    }
    if pattern.len() > MAX_PATTERN {
        return None;
    }
    // One bit for each place in the pattern at which it may go on.
    let mut of_byte = [0_u128; 256];
    for (place, byte) in pattern.bytes().enumerate() {
        if let Some(places) = of_byte.get_mut(usize::from(byte)) {
            *places |= 1 << place;
        }
    }
    let places_of = |byte: u8| of_byte.get(usize::from(byte)).copied().unwrap_or_default();
    let stars = places_of(b'*');
    let behind_stars = |active: u128| active | ((active & stars) << 1);
    let mut active = behind_stars(1);
    for byte in open.bytes() {
        // A star is no letter of its own.
        let is_next = (active & places_of(byte) & !stars) << 1;
        active = behind_stars((active & stars) | is_next);
        if active == 0 {
            break;
        }
    }
    // What goes on at a star is all that goes on behind it, and more.
    let active = active & !((active & stars) << 1);
    let places = 0..pattern.len();
    Some(places.filter(|place| (active >> place) & 1 == 1).collect())
}

fn without_repeated_stars(pattern: &str) -> String {
    let mut last = None;
    let mut kept = pattern.to_owned();
    kept.retain(|c| {
        let is_repeated = c == '*' && last == Some('*');
        last = Some(c);
        !is_repeated
    });
    kept
}

/// Returns what the names of a server's tools begin with in a client that separates them so.
pub(super) fn open(before: &str, server: &str, behind: &str) -> String {
    format!("{before}{}{behind}", plain(server))
}

#[cfg(test)]
mod tests {
    use dormouse_text::wildcard::matches;

    use super::*;
    use crate::discovery::document;
    use crate::discovery::places::Syntax;

    #[test]
    fn of_too_long_a_list_all_is_off() {
        for (count, is_all) in [(500, false), (501, true)] {
            let names: Vec<_> = (0..count).map(|n| format!("x{n}")).collect();
            let list = format!("{names:?}");
            let list = document::parse(&list, Syntax::Json).unwrap();
            let names = of_server([&list].into_iter(), &[]);
            assert_eq!(names == ["*"], is_all, "{count}");
        }
    }

    #[test]
    fn a_pattern_is_taken_apart_behind_the_servers_name() {
        for (pattern, parts) in [
            ("github_delete", &["delete"][..]),
            ("github_", &[]),
            ("github", &[]),
            ("git_delete", &[]),
            ("delete", &[]),
            ("github_*", &["*"]),
            ("github*", &["*"]),
            ("g**", &["*"]),
            ("*", &["*"]),
            ("*_delete", &["*_delete", "delete"]),
            ("git*_delete", &["*_delete", "delete"]),
            ("*hub_delete", &["*hub_delete", "delete"]),
            ("github*_delete", &["*_delete", "delete"]),
            ("github_*delete", &["*delete"]),
            ("g*_d*e", &["*_d*e", "d*e"]),
            ("g*t*_x", &["*t*_x", "*_x", "x"]),
            ("x*_delete", &[]),
        ] {
            assert_eq!(denied(pattern, "github_"), parts, "{pattern}");
            assert_eq!(allowed(pattern, "github_"), parts, "{pattern}");
        }
        assert_eq!(denied("my.srv_a.b", "my_srv_"), ["a.b"]);
        assert_eq!(denied("my srv_*.é", "my_srv_"), ["*__"]);
        assert_eq!(allowed("my.srv_a", "my_srv_"), [""; 0]);
        assert_eq!(allowed("*é", "my_srv_"), ["*é"]);
    }

    /// Of patterns that are too much work, a denial says more and not less.
    #[test]
    fn what_is_too_long_denies_more_and_allows_less() {
        let long = format!("git*{}", "x".repeat(200));
        assert_eq!(denied(&long, "github_"), ["*"]);
        assert_eq!(allowed(&long, "github_"), [""; 0]);
        assert_eq!(denied(&format!("o{long}"), "github_"), [""; 0]);
        let open = "a_".repeat(20);
        let many = format!("{}b", "*_a".repeat(12));
        let [denied] = &denied(&many, &open)[..] else {
            panic!("no single pattern");
        };
        let tool = format!("{}b", "_a".repeat(12));
        assert!(matches(&many, &format!("{open}{tool}")) && matches(denied, &tool));
        assert!(matches(&many, &format!("{open}ab")) && matches(denied, "ab"));
        assert!(allowed(&many, &open).len() <= MAX_PARTS);
    }

    /// The rest of a pattern matches just the tools that it matches with the server's name.
    #[test]
    fn what_is_left_of_a_pattern_means_the_same() {
        let words = |letters: &str, most: usize| {
            let mut all = vec![String::new()];
            let mut from = 0;
            for _ in 0..most {
                let until = all.len();
                for word in from..until {
                    for letter in letters.chars() {
                        all.push(format!("{}{letter}", all[word]));
                    }
                }
                from = until;
            }
            all
        };
        let tools = words("a_", 3);
        for open in ["a_", "aa_", "a_a_"] {
            for pattern in words("a_*", 5) {
                let parts = [denied(&pattern, open), allowed(&pattern, open)];
                for tool in tools.iter().filter(|tool| !tool.is_empty()) {
                    let expected = matches(&pattern, &format!("{open}{tool}"));
                    for parts in &parts {
                        let found = parts.iter().any(|part| matches(part, tool));
                        assert_eq!(found, expected, "{pattern} {open} {tool} {parts:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn taking_patterns_apart_takes_linear_time() {
        let case = |size: usize| (vec!["*a*b*_*".repeat(18); size], "ab_".repeat(40));
        dormouse_tests::growth::is_linear("patterns", 100, case, |(patterns, open)| {
            for pattern in patterns {
                std::hint::black_box(denied(pattern, open));
            }
        });
        let case = |size: usize| ("*a*b*_*".repeat(size), "ab_".repeat(size));
        dormouse_tests::growth::is_linear("long ones", 1_000, case, |(pattern, open)| {
            std::hint::black_box((denied(pattern, open), denied("*a*b*_*x", open)));
        });
    }
}
