//! Names that clients allow, as names that Dormouse allows.

use std::collections::{BTreeMap, BTreeSet};

use crate::naming::name;

/// Number of digits that a name gets where another one has it.
const MIN_DIGITS: usize = 4;

/// Most digits of a name.
const MAX_DIGITS: usize = 16;

/// Number of digits that are added one by one.
const MORE_DIGITS: usize = MAX_DIGITS - MIN_DIGITS;

/// Makes a server's name of one that a client allows: characters that cannot be in a name become a
/// single `_`, or nothing at either end, and so does a `-` at its beginning. Of one that is too long,
/// the beginning is left. An allowed name stays as it is.
pub(crate) fn name(written: &str) -> String {
    if name::check(written).is_ok() {
        return written.to_owned();
    }
    let mut allowed = String::new();
    for c in written.chars() {
        if c.is_ascii_alphanumeric() || c == '-' {
            allowed.push(c);
        } else if !allowed.ends_with('_') {
            allowed.push('_');
        }
    }
    let allowed = allowed.trim_start_matches(['-', '_']);
    let allowed = allowed.trim_end_matches('_');
    if allowed.is_empty() {
        format!("server-{}", digits(written, MIN_DIGITS))
    } else if name::check(allowed).is_err() {
        // It is too long, or Dormouse's own. Where another one has the name, it gets more digits.
        let most = name::MAX_NAME_CHARACTERS - MAX_DIGITS - 1;
        let beginning = allowed.get(..most).unwrap_or(allowed);
        format!("{beginning}-{}", digits(written, MIN_DIGITS))
    } else {
        allowed.to_owned()
    }
}

/// Makes the allowed name of each written one, no two of them the same. Where several lead to one
/// name, the one that is written just so keeps it, else the first in the alphabet; the others get a
/// few digits that depend on nothing but themselves. Names of the first group have their choice
/// before the second's: a stranger's project does not change what a user's own server is called.
pub(in crate::discovery) fn names<'a>(
    users: impl IntoIterator<Item = &'a str>,
    strangers: impl IntoIterator<Item = &'a str>,
) -> BTreeMap<String, String> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut names = BTreeMap::new();
    let groups: [BTreeSet<&str>; 2] =
        [users.into_iter().collect(), strangers.into_iter().collect()];
    for written in groups {
        let (kept, changed): (Vec<&str>, Vec<&str>) = written
            .into_iter()
            .partition(|written| name(written) == **written);
        for written in kept.into_iter().chain(changed) {
            if names.contains_key(written) {
                continue;
            }
            let mut allowed = name(written);
            let mut attempt = 0;
            while taken.contains(&allowed) {
                allowed = format!("{}-{}", name(written), digits_of(written, attempt));
                attempt += 1;
            }
            taken.insert(allowed.clone());
            names.insert(written.to_owned(), allowed);
        }
    }
    names
}

/// Returns digits that depend on nothing but a text, and are others at each attempt: somebody may
/// have given away those of any attempt on purpose.
fn digits_of(text: &str, attempt: usize) -> String {
    match attempt {
        0..=MORE_DIGITS => digits(text, MIN_DIGITS + attempt),
        _ => digits(&format!("{text}\0{attempt}"), MAX_DIGITS),
    }
}

/// Returns the first digits of a text's hash.
fn digits(text: &str, length: usize) -> String {
    let hash = blake3::hash(text.as_bytes()).to_hex();
    hash.chars().take(length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_becomes_an_allowed_one() {
        for (written, allowed) in [
            ("time", "time"),
            ("_x_", "_x_"),
            ("My Server", "My_Server"),
            ("@scope/x", "scope_x"),
            ("a.b", "a_b"),
            ("a__b", "a_b"),
            ("a_.b", "a_b"),
            ("a\nb", "a_b"),
            ("zeit-ä", "zeit-"),
            ("--yes", "yes"),
            ("-_-", "server-d342"),
            ("日本", "server-fb52"),
            ("", "server-af13"),
            ("dormouse", "dormouse-6ca4"),
            ("Dormouse_.", "Dormouse-51f6"),
            ("dormouse-1", "dormouse-1"),
        ] {
            assert_eq!(name(written), allowed, "{written}");
            assert_eq!(name::check(allowed), Ok(()));
        }
    }

    #[test]
    fn no_two_names_become_one() {
        let names = names(["a.b", "a_b", "a b", "c d", "c.d", "a.b"], []);
        let unique: BTreeSet<_> = names.values().collect();
        assert_eq!(unique.len(), 5);
        assert_eq!(names.get("a_b").map(String::as_str), Some("a_b"));
        assert_eq!(names.get("c d").map(String::as_str), Some("c_d"));
        assert!(names.values().all(|name| name::check(name).is_ok()));
    }

    #[test]
    fn a_name_is_found_where_all_that_come_first_are_taken() {
        let mut all = vec!["a!".to_owned(), "a".to_owned()];
        all.extend((0..100).map(|attempt| format!("a-{}", digits_of("a!", attempt))));
        all.extend((4..=64).map(|length| format!("a-{}", digits("a!", length))));
        let names = names([], all.iter().map(String::as_str));
        let unique: BTreeSet<_> = names.values().collect();
        let written: BTreeSet<_> = all.iter().collect();
        assert_eq!(unique.len(), written.len());
        assert!(names.values().all(|name| name::check(name).is_ok()));
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let long = |end: &str| "x".repeat(200) + end;
        let written = [long("a"), long("b")];
        let names = names(written.iter().map(String::as_str), []);
        let unique: BTreeSet<_> = names.values().collect();
        assert_eq!(unique.len(), 2, "{names:?}");
        assert!(names.values().all(|name| name::check(name).is_ok()));
    }

    #[test]
    fn a_stranger_renames_nothing() {
        let names = names(["a.b", "x"], ["a_b", "x", "y"]);
        assert_eq!(names.get("a.b").map(String::as_str), Some("a_b"));
        assert_ne!(names.get("a_b").map(String::as_str), Some("a_b"));
        assert_eq!(names.get("y").map(String::as_str), Some("y"));
        assert_eq!(names.len(), 4);
    }

    proptest::proptest! {
        #[test]
        fn any_text_becomes_a_name(written: String) {
            proptest::prop_assert_eq!(name::check(&name(&written)), Ok(()));
        }
    }
}
