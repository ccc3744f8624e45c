//! Users to whom files belong.

/// Whether what belongs to a user counts as this process's own: that user's, or root's. Root also
/// works in the home of somebody else, as after `sudo`; what is that user's is at home there.
pub(crate) fn is_own(owner: u32) -> bool {
    let me = rustix::process::geteuid();
    owner == me.as_raw() || is_root(owner) || (me.is_root() && is_of_home(owner))
}

/// Whether the home folder of this process is a user's.
fn is_of_home(owner: u32) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let home = etcetera::home_dir().ok();
    let home = home.and_then(|home| std::fs::metadata(home).ok());
    home.is_some_and(|home| home.uid() == owner)
}

/// Checks whether a user is root, who can do anything anyway. In a user namespace, root is shown as
/// the overflow user.
#[must_use]
pub fn is_root(user: u32) -> bool {
    let number = |file: &str| std::fs::read_to_string(file).ok()?.trim().parse().ok();
    let is_nobody = || Some(user) == number("/proc/sys/kernel/overflowuid");
    let maps_all = || {
        let map = std::fs::read_to_string("/proc/self/uid_map").ok()?;
        Some(map.split_whitespace().eq(["0", "0", "4294967295"]))
    };
    user == 0 || is_nobody() && maps_all() == Some(false)
}
