//! Views of a snapshot: what each profile has of it, for clients that name a profile.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use dormouse_policy::exposure::ExposureRules;

use super::Snapshot;

/// Profiles that clients may name, each with what it has of a snapshot.
#[derive(Debug, Default)]
pub(super) struct Views(BTreeMap<String, View>);

#[derive(Debug)]
struct View {
    rules: ExposureRules,
    /// Made for the first request of a client that names the profile.
    snapshot: OnceLock<Arc<Snapshot>>,
}

impl Snapshot {
    /// Sets the profiles that clients may name, each with its rules.
    #[must_use]
    pub(in crate::roster) fn with_profiles(
        mut self,
        profiles: BTreeMap<String, ExposureRules>,
    ) -> Self {
        let views = profiles.into_iter().map(|(name, rules)| {
            let snapshot = OnceLock::new();
            (name, View { rules, snapshot })
        });
        self.views = Views(views.collect());
        self
    }

    /// Returns the profiles that clients may name, with their rules, in the order of their names.
    pub fn profiles(&self) -> impl Iterator<Item = (&str, &ExposureRules)> {
        let views = self.views.0.iter();
        views.map(|(name, view)| (name.as_str(), &view.rules))
    }

    /// Returns what a profile has of this snapshot, which `make` makes by the profile's rules where
    /// nobody has asked for it yet. None where there is no such profile.
    pub(in crate::roster) fn view(
        &self,
        profile: &str,
        make: impl FnOnce(&ExposureRules) -> Self,
    ) -> Option<Arc<Self>> {
        let view = self.views.0.get(profile)?;
        let snapshot = view.snapshot.get_or_init(|| Arc::new(make(&view.rules)));
        Some(Arc::clone(snapshot))
    }
}
