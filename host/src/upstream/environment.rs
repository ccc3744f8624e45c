//! What a child's environment has that its configuration does not say: what the
//! system needs to run a program, and none of the user's secrets.

use std::ffi::{OsStr, OsString};

/// By name.
const NAMES: &[&str] = if cfg!(windows) {
    &[
        "APPDATA",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "NUMBER_OF_PROCESSORS",
        "OS",
        "PATH",
        "PATHEXT",
        "PROCESSOR_ARCHITECTURE",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "PROGRAMFILES(X86)",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERNAME",
        "USERPROFILE",
        "WINDIR",
    ]
} else {
    &[
        "HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER",
    ]
};

/// By how the name begins.
const PREFIXES: &[&str] = if cfg!(windows) { &[] } else { &["LC_", "XDG_"] };

/// The variables of this process that a child gets.
pub(super) fn inherited() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, value)| passes(name, value))
}

/// Whether every child gets the variable of that name: its value is no secret.
pub(crate) fn is_inherited(name: &str) -> bool {
    let same = |known: &&str| match cfg!(windows) {
        true => known.eq_ignore_ascii_case(name),
        false => *known == name,
    };
    NAMES.iter().any(same) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn passes(name: &OsStr, value: &OsStr) -> bool {
    // An old shell's exported function is code, not a value.
    name.to_str().is_some_and(is_inherited) && !value.as_encoded_bytes().starts_with(b"()")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_gets_what_it_needs_and_no_secrets() {
        let table = [
            ("PATH", "/bin", true),
            ("GITHUB_TOKEN", "x", false),
            ("PATH_OF_SECRETS", "x", false),
            ("PATH", "() { evil; }", false),
        ];
        for (name, value, expected) in table {
            let found = passes(OsStr::new(name), OsStr::new(value));
            assert_eq!(found, expected, "{name}={value}");
        }
    }
}
