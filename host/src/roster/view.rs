//! View that clients have of the servers of a host: all of them, or what one profile has.

use std::collections::BTreeMap;
use std::sync::Arc;

use dormouse_config::ReservedNames;
use dormouse_text::nearest::nearest;

use super::{Roster, Snapshot};

/// Most names of profiles in an error.
const MAX_NAMES: usize = 50;

/// Longest part of a wrong name in an error, in characters.
const MAX_NAME_CHARACTERS: usize = 64;

/// Profile that a client has named and that is not served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no profile is called `{name}` here\nhint: {hint}")]
pub struct UnknownProfile {
    name: String,
    hint: String,
}

impl Roster {
    /// Returns the servers and tools that clients see who name that profile, or none. A profile that
    /// is not there any more has nothing in it.
    pub fn view(&self, profile: Option<&str>) -> Arc<Snapshot> {
        let whole = self.snapshot();
        let Some(profile) = profile else {
            return whole;
        };
        self.view_of(&whole, profile, self.config().reserved_names())
    }

    /// Returns what a profile has of a snapshot.
    pub(super) fn view_of(
        &self,
        whole: &Snapshot,
        profile: &str,
        reserved: &ReservedNames,
    ) -> Arc<Snapshot> {
        let view = whole.view(profile, |rules| {
            let servers = whole.servers().iter();
            let servers = servers.filter(|(name, _)| rules.has_server(name));
            let servers = servers.map(|(name, server)| (name.clone(), Arc::clone(server)));
            Snapshot::new(
                servers.collect::<BTreeMap<_, _>>(),
                whole.named().clone(),
                whole.untrusted().cloned(),
                reserved,
                rules.clone(),
                self.snapshot_files.clone(),
            )
        });
        view.unwrap_or_default()
    }

    /// Returns what is seen by each profile that clients may name.
    pub fn views(&self) -> Vec<Arc<Snapshot>> {
        let whole = self.snapshot();
        let names = whole.profiles().map(|(name, _)| self.view(Some(name)));
        names.collect()
    }

    /// Checks that clients may name a profile.
    ///
    /// # Errors
    /// It is not served; the error names those that are.
    pub fn check_profile(&self, wanted: &str) -> Result<(), UnknownProfile> {
        let whole = self.snapshot();
        let names: Vec<_> = whole.profiles().map(|(name, _)| name).collect();
        if names.contains(&wanted) {
            return Ok(());
        }
        let there = || {
            let some = names.iter().take(MAX_NAMES).map(|name| format!("`{name}`"));
            let some = some.collect::<Vec<_>>().join(", ");
            match names.len().saturating_sub(MAX_NAMES) {
                0 => some,
                more => format!("{some} and {more} more"),
            }
        };
        let own = &self.places.exposure;
        let hint = match nearest(wanted, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? There are {}", there()),
            None if !names.is_empty() => format!("there are {}", there()),
            None if own.server.is_some() => {
                "this host serves one server alone (`--server`), and no profiles".to_owned()
            }
            None => "`[profiles.NAME]` in dormouse.toml makes one".to_owned(),
        };
        let name: String = wanted.chars().take(MAX_NAME_CHARACTERS).collect();
        let name = name.escape_debug().to_string();
        Err(UnknownProfile { name, hint })
    }
}
