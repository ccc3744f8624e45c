//! Users to whom files belong.

/// Whether what belongs to a user counts as this process's own: that user's, or root's. Root also
/// works in the home of somebody else, as after `sudo`; what is that user's is at home there.
pub(crate) fn is_own(owner: u32) -> bool {
    is_own_among_others(owner) || is_unmapped(owner)
}

/// Whether what belongs to a user counts as this process's own also in a folder in which anybody may put
/// files: there, one whom this user namespace does not map is not root for sure.
pub(crate) fn is_own_among_others(owner: u32) -> bool {
    let me = rustix::process::geteuid();
    owner == me.as_raw() || owner == 0 || (me.is_root() && is_of_home(owner))
}

/// Whether the home folder of this process is a user's.
fn is_of_home(owner: u32) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let home = etcetera::home_dir().ok();
    let home = home.and_then(|home| std::fs::metadata(home).ok());
    home.is_some_and(|home| home.uid() == owner)
}

/// Checks whether a user is root, who can do anything anyway. In a user namespace, root of the outside is shown
/// as the overflow user, as is everybody else whom it does not map.
pub(crate) fn is_root(user: u32) -> bool {
    user == 0 || is_unmapped(user)
}

/// Whether a user's number stands for users whom this user namespace does not map. Most of what is theirs is
/// root's: of another one of them it cannot be told, nor of a user of the namespace who has that number.
fn is_unmapped(user: u32) -> bool {
    let read = |file| std::fs::read_to_string(file).unwrap_or_default();
    let overflow = read("/proc/sys/kernel/overflowuid");
    overflow.trim().parse() == Ok(user) && is_partial(&read("/proc/self/uid_map"))
}

/// Whether a map of a user namespace, in lines of the first number in it, the first one outside and how many
/// there are, leaves out any user. None can be read where there are no such namespaces.
fn is_partial(map: &str) -> bool {
    let count = |line: &str| line.split_whitespace().nth(2)?.parse().ok();
    let counts: Option<Vec<u32>> = map.lines().map(count).collect();
    counts.is_some_and(|counts| {
        let all = counts
            .iter()
            .fold(0, |all: u32, count| all.saturating_add(*count));
        !counts.is_empty() && all < u32::MAX
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_partial_that_leaves_out_any_user() {
        for (map, expected) in [
            ("         0          0 4294967295\n", false),
            ("0 0 2147483648\n2147483648 2147483648 2147483647\n", false),
            ("0 100000 65536\n", true),
            ("0 1000 1\n1 100000 65536\n", true),
            ("1000 1000 1\n", true),
            // Nothing is known.
            ("", false),
            ("something else\n", false),
        ] {
            assert_eq!(is_partial(map), expected, "{map}");
        }
    }

    #[test]
    fn only_users_for_sure_own_what_is_among_the_files_of_others() {
        const NOBODY: u32 = 65_534;
        let me = rustix::process::geteuid().as_raw();
        for owner in [0, me] {
            assert!(is_own(owner) && is_own_among_others(owner));
        }
        assert!(!is_own_among_others(54_321) && !is_own(54_321));
        // Wherever the tests run.
        let may_be_root = is_unmapped(NOBODY);
        assert!(may_be_root == is_own(NOBODY) || me == NOBODY);
        assert!(!is_own_among_others(NOBODY) || me == NOBODY);
    }
}
