//! Suggestions for names that do not exist.

/// Returns the candidate that is most like a name, if any is like it enough to be what was meant.
/// Upper and lower case are alike.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Comparing takes time by the product of the lengths, and nobody mistypes a
    // name into one that is many times as long.
    const COMPARED: usize = 256;
    if name.len() > COMPARED {
        return None;
    }
    let wanted = name.to_lowercase();
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= COMPARED)
        .map(|candidate| {
            let likeness = strsim::jaro_winkler(&wanted, &candidate.to_lowercase());
            (likeness, candidate)
        })
        .filter(|(likeness, _)| *likeness > 0.8)
        // The first of equals wins, so that the answer does not depend on chance.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, candidate)| candidate)
}

/// Whether a name is this key, or this key with one character more, less, other or in another place.
/// Upper and lower case are alike.
#[must_use]
pub fn is_within_one_edit(name: &str, key: &str) -> bool {
    // What is much longer is not worth the time of a comparison.
    if name.len().abs_diff(key.len()) > 4 {
        return false;
    }
    let ends = |text: &str| {
        let ends = [text.bytes().next(), text.bytes().next_back()];
        ends.map(|byte| byte.map(|byte| byte.to_ascii_lowercase()))
    };
    // One edit leaves one of both ends of three characters as it was: most names need no more than
    // this look.
    let ([first, last], [of_first, of_last]) = (ends(name), ends(key));
    if name.is_ascii() && key.is_ascii() && key.len() > 2 && first != of_first && last != of_last {
        return false;
    }
    strsim::osa_distance(&name.to_lowercase(), &key.to_lowercase()) <= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_edit_is_enough_for_a_slip_and_two_are_another_word() {
        for (name, is_slip) in [
            ("confirm", true),
            ("Confirm", true),
            ("confrm", true),
            ("confirms", true),
            ("cnofirm", true),
            ("config", false),
            ("", false),
        ] {
            assert_eq!(is_within_one_edit(name, "confirm"), is_slip, "{name}");
        }
    }

    #[test]
    fn an_edit_at_an_end_is_one() {
        for (name, key, is_slip) in [
            ("ofnfirm", "confirm", false),
            ("ocnfirm", "confirm", true),
            ("confimr", "confirm", true),
            ("onfirm", "confirm", true),
            ("confir", "confirm", true),
            ("xconfirm", "confirm", true),
            ("confirmx", "confirm", true),
            ("xonfirm", "confirm", true),
            ("confirx", "confirm", true),
            ("nev", "env", true),
            ("evn", "env", true),
            ("sf", "fs", true),
            ("", "x", true),
            ("y", "x", true),
        ] {
            assert_eq!(is_within_one_edit(name, key), is_slip, "{name} {key}");
        }
    }

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let have = ["component", "command", "env", "enabled", "time", "url"];
        for (name, meant) in [
            ("comand", Some("command")),
            ("COMPONENT", Some("component")),
            ("Enabeld", Some("enabled")),
            ("tmie", Some("time")),
            ("weather", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, have), meant, "{name}");
        }
        assert_eq!(nearest(&"time".repeat(100), have), None);
        assert_eq!(nearest("x", []), None);
    }

    #[test]
    fn many_candidates_take_linear_time() {
        let names = |number: usize| {
            let names = (0..number).map(|one| format!("server__tool_number_{one}"));
            names.collect::<Vec<_>>()
        };
        dormouse_tests::growth::is_linear("nearest names", 500, names, |names: &Vec<String>| {
            let names = names.iter().map(String::as_str);
            std::hint::black_box(nearest("server__tool_numbr", names));
        });
    }
}
