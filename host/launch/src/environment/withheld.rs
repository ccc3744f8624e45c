//! Variables that a program lacks because it does not get them.

use std::collections::HashSet;
use std::ffi::OsString;

use dormouse_text::wildcard::matches;

use super::{OWN, passes};

/// Complaints of programs that lack something, without the name of the variable that has it.
struct Complaint {
    /// Words of such a complaint, in small letters.
    says: &'static [&'static str],
    /// Patterns of the variables that have what is missing.
    names: &'static [&'static str],
}

const COMPLAINTS: &[Complaint] = &[
    Complaint {
        says: &[
            "certificate",
            "unknownissuer",
            "unknown issuer",
            "self-signed",
            "self signed",
        ],
        names: &["*_CA", "*_CA_*", "*CERT*"],
    },
    Complaint {
        says: &["display"],
        names: &["*DISPLAY*"],
    },
    Complaint {
        says: &["cluster", "kubernetes", "kubeconfig"],
        names: &["K8S_*", "KUBE*"],
    },
    Complaint {
        says: &["access key", "api key", "apikey", "credential", "profile"],
        names: &[
            "*_ACCESS_KEY*",
            "*_API_KEY",
            "*_CONFIG_FILE",
            "*_CREDENTIALS",
            "*_CREDENTIALS_FILE",
            "*_PROFILE",
            "*_SESSION_TOKEN",
        ],
    },
];

/// Returns the variables that are set for this process, that a child does not get, and that a text
/// of the child names, or has words for.
pub fn withheld(text: &str, patterns: &[String]) -> Vec<String> {
    withheld_of(std::env::vars_os(), text, patterns)
}

pub(super) fn withheld_of(
    variables: impl Iterator<Item = (OsString, OsString)>,
    text: &str,
    patterns: &[String],
) -> Vec<String> {
    /// Fewest letters of a name that is reported: shorter ones are words of any text.
    pub(super) const MIN_LETTERS: usize = 3;
    let is_of_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let words = text.split(|c| !is_of_name(c));
    let named: HashSet<&str> = words
        .filter(|word| word.len() >= MIN_LETTERS && word.contains(char::is_alphabetic))
        .collect();
    let said = text.to_lowercase();
    let complaints = COMPLAINTS.iter();
    let complaints = complaints.filter(|about| about.says.iter().any(|words| said.contains(words)));
    let missing: Vec<&str> = complaints.flat_map(|about| about.names).copied().collect();
    let is_missed =
        |name: &str| named.contains(name) || missing.iter().any(|pattern| matches(pattern, name));
    let withheld = variables.filter_map(|(name, value)| {
        let is_withheld = !passes(&name, &value, patterns);
        let name = name.into_string().ok()?;
        (is_withheld && !name.starts_with(OWN) && is_missed(&name)).then_some(name)
    });
    let mut withheld: Vec<String> = withheld.collect();
    withheld.sort();
    withheld.dedup();
    withheld
}
