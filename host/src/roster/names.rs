//! Names under which agents see tools.
//!
//! Clients put a prefix of their own before a tool's name and stop at 64 characters of
//! `[A-Za-z0-9_-]`, so ours stop at 48 of them.

use dormouse_config::name::SEPARATOR;

/// Longest name that is shown, in characters.
pub const MAX_NAME_CHARS: usize = 48;

/// Number of characters of the hash in a name that was cut or has lost letters.
const HASH: usize = 8;

/// Length to which a name that is too long is cut, in characters, without its hash.
const CUT: usize = MAX_NAME_CHARS - HASH - 1;

/// Returns the name under which an agent sees a tool. The prefix is the server's name where the
/// user has not set another; an empty one leaves the tool's name alone.
///
/// Characters that clients refuse become `_`. A name that is too long is cut and
/// ends in a hash of the whole, so that it stays the same from start to start and
/// two long names that begin alike stay apart. So does one whose tool has letters that
/// are not ASCII: nothing else would be left of names in many languages.
#[must_use]
pub fn shown(server: &str, prefix: Option<&str>, tool: &str) -> String {
    let parts = match prefix.unwrap_or(server) {
        "" => ["", "", tool],
        prefix => [prefix, SEPARATOR, tool],
    };
    let mut name = String::with_capacity(parts.iter().map(|part| part.len()).sum());
    name.extend(parts.iter().flat_map(|part| part.chars()).map(accepted));
    // From here on every character is one byte.
    if name.len() > MAX_NAME_CHARS || !tool.is_ascii() {
        let hash = blake3::hash(parts.concat().as_bytes()).to_hex();
        name.truncate(CUT);
        name.push('_');
        name.extend(hash.chars().take(HASH));
    }
    name
}

/// Returns the names that a tool of a server may have with these prefixes, each as it is, with the
/// characters that clients take, and as it is shown.
pub(super) fn with_prefixes<'p>(
    server: &str,
    prefixes: impl IntoIterator<Item = Option<&'p str>>,
    tool: &str,
) -> Vec<String> {
    let mut names = Vec::new();
    for prefix in prefixes {
        let whole = match prefix.unwrap_or(server) {
            "" => tool.to_owned(),
            prefix => [prefix, SEPARATOR, tool].concat(),
        };
        let readable = whole.chars().map(accepted).collect();
        names.extend([shown(server, prefix, tool), readable, whole]);
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the prefix of the names of all tools of a server; none if it is empty.
pub(super) fn beginning(server: &str, prefix: Option<&str>) -> Option<String> {
    let prefix = prefix.unwrap_or(server);
    let mut beginning: String = prefix.chars().map(accepted).collect();
    beginning.push_str(SEPARATOR);
    // Longer names are cut.
    beginning.truncate(CUT);
    (!prefix.is_empty()).then_some(beginning)
}

/// Checks whether a name looks like one that was cut, which no longer tells its server.
pub(super) fn is_cut(name: &str) -> bool {
    let hash = name.get(CUT..).and_then(|end| end.strip_prefix('_'));
    hash.is_some_and(|hash| hash.len() == HASH && hash.bytes().all(|b| b.is_ascii_hexdigit()))
}

fn accepted(c: char) -> char {
    if c.is_ascii_alphanumeric() || c == '_' || c == '-' {
        c
    } else {
        '_'
    }
}

/// Returns the tool that was probably meant by an unknown name. A tool whose name ends in it
/// (`time__now` for `now`) is meant more often than one with a similar spelling.
pub fn nearest<'a>(name: &str, tools: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let tools: Vec<_> = tools.into_iter().collect();
    let end = format!("{SEPARATOR}{}", name.to_lowercase());
    let mut named = tools.iter().copied();
    let named = named.find(|tool| !name.is_empty() && tool.to_lowercase().ends_with(&end));
    named.or_else(|| {
        let alike = tools.iter().copied().filter(|tool| is_alike(name, tool));
        dormouse_text::nearest::nearest(name, alike)
    })
}

/// Checks whether two names are alike both before and after the separator: all names of one server
/// begin alike, which alone does not make them similar.
fn is_alike(name: &str, tool: &str) -> bool {
    // Of few letters, two that have changed places are much.
    const SHORT: std::ops::RangeInclusive<usize> = 3..=8;
    let alike = |one: &str, other: &str| {
        let (one, other) = (one.to_lowercase(), other.to_lowercase());
        let short = SHORT.contains(&one.len()) && SHORT.contains(&other.len());
        one == other
            || short && strsim::osa_distance(&one, &other) < 2
            || dormouse_text::nearest::nearest(&one, [other.as_str()]).is_some()
    };
    match (name.split_once(SEPARATOR), tool.split_once(SEPARATOR)) {
        (Some(one), Some(other)) => alike(one.0, other.0) && alike(one.1, other.1),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_prefixed_cleaned_and_cut() {
        let long = "x".repeat(200);
        let table: &[(&str, Option<&str>, &str, &str)] = &[
            ("time", None, "now", "time__now"),
            ("time", Some(""), "now", "now"),
            ("time", Some("t"), "now", "t__now"),
            ("my.server", None, "a b/c", "my_server__a_b_c"),
            ("日本", None, "now", "____now"),
            ("s", None, "a.b", "s__a_b"),
            ("s", Some(""), "", ""),
            // Exactly as long as allowed: untouched.
            (
                "s",
                Some(""),
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
            ),
        ];
        for (server, prefix, tool, expected) in table {
            assert_eq!(&shown(server, *prefix, tool), expected);
        }
        let cut = shown("server", None, &long);
        assert_eq!(cut.len(), MAX_NAME_CHARS);
        assert!(cut.starts_with("server__xxx"), "{cut}");
        assert!(is_cut(&cut) && is_cut(&shown(&long, None, "tool")));
        assert!(!is_cut("time__now") && !is_cut(&"x".repeat(MAX_NAME_CHARS)));
    }

    #[test]
    fn names_in_any_language_stay_apart() {
        let names = [
            "搜索文件",
            "读取文件",
            "删除文件",
            "создать",
            "удалить",
            "é",
            "è",
        ];
        let all = names.map(|name| shown("cjk", None, name));
        let different: std::collections::BTreeSet<_> = all.iter().collect();
        assert_eq!(different.len(), names.len(), "{all:?}");
        for name in &all {
            assert!(name.starts_with("cjk___") && name.len() <= MAX_NAME_CHARS);
            assert!(name.chars().all(|c| accepted(c) == c), "{name}");
        }
        let long = shown("cjk", None, &"文".repeat(200));
        assert!(long.len() == MAX_NAME_CHARS && is_cut(&long), "{long}");
        // A rule with the name as it was shown before denies it as before.
        let all = with_prefixes("cjk", [None], "搜索文件");
        assert!(all.iter().any(|name| name == "cjk______"), "{all:?}");
    }

    #[test]
    fn cut_names_are_stable_and_stay_apart() {
        let name = |end: &str| shown("server", None, &format!("{}{end}", "x".repeat(100)));
        assert_eq!(name("a"), name("a"));
        assert_ne!(name("a"), name("b"));
        // What is replaced counts too: these differ only in that.
        assert_ne!(name("."), name("/"));
        // The hash is part of the contract with clients that remember names.
        assert_eq!(
            name("a"),
            "server__xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx_910afaee"
        );
    }

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let have = ["time__now", "time__convert", "files__read"];
        let near = |name: &str| nearest(name, have);
        assert_eq!(near("time__nwo"), Some("time__now"));
        assert_eq!(near("TIME__NOW"), Some("time__now"));
        assert_eq!(near("read"), Some("files__read"));
        assert_eq!(near("Read"), Some("files__read"));
        assert_eq!(near("tmie__now"), Some("time__now"));
        assert_eq!(near("weather"), None);
        // One long beginning is no likeness.
        assert_eq!(near("time__nosuch"), None);
        assert_eq!(near(""), None);
        assert_eq!(near(&"time__now".repeat(100)), None);
    }

    #[test]
    fn many_candidates_take_linear_time() {
        let names = |number: usize| {
            let names = (0..number).map(|one| format!("server__tool_number_{one}"));
            names.collect::<Vec<_>>()
        };
        dormouse_tests::growth::is_linear("nearest tools", 500, names, |names: &Vec<String>| {
            let names = names.iter().map(String::as_str);
            std::hint::black_box(nearest("server__tool_numbr", names));
        });
    }
}
