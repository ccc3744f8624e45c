//! Exposure of the tools of this host: what is configured, with what its command line says.

use std::collections::BTreeMap;

use dormouse_config::{Configured, name};
use dormouse_policy::exposure::{ExposureMode, ExposureRules, Profile};

use super::Roster;

/// Exposure of a host's tools, as its command line says it.
#[derive(Debug, Clone, Default)]
pub struct ExposureChoice {
    /// Mode, in place of the configured one.
    pub mode: Option<ExposureMode>,
    /// Profile that is served.
    pub profile: Option<String>,
    /// The only server that is served.
    pub server: Option<String>,
    /// Whether its tools are shown without a prefix.
    pub own_names: bool,
}

impl ExposureChoice {
    /// Returns the rules of a configuration. A profile that does not exist has nothing in it.
    pub(super) fn rules(&self, config: &Configured) -> ExposureRules {
        let mut rules = config.exposure.clone();
        if let Some(name) = &self.profile {
            let nothing = || Profile {
                servers: Some(Vec::new()),
                ..Profile::default()
            };
            let profile = config.profiles.get(name).cloned();
            rules = rules.with_profile(profile.unwrap_or_else(nothing));
        }
        if let Some(server) = &self.server {
            rules = rules.with_profile(Profile::of_server(server));
        }
        rules.mode = self.mode.unwrap_or(rules.mode);
        rules
    }

    /// Returns the rules of each profile that clients of this host may name. A host that was started
    /// for one profile serves no other, and one that was started for one server serves none.
    pub(super) fn profiles(&self, config: &Configured) -> BTreeMap<String, ExposureRules> {
        let profiles = config.profiles.iter().filter(|(name, _)| {
            let own = self.profile.as_ref();
            self.server.is_none() && own.is_none_or(|own| own == *name)
        });
        let rules = profiles.map(|(name, profile)| {
            let mut rules = config.exposure.clone().with_profile(profile.clone());
            rules.mode = self.mode.unwrap_or(rules.mode);
            (name.clone(), rules)
        });
        rules.collect()
    }

    /// Checks that what is named exists.
    ///
    /// # Errors
    /// There is no such profile, or no such server.
    fn check(&self, config: &Configured) -> anyhow::Result<()> {
        if let Some(wanted) = &self.profile
            && !config.profiles.contains_key(wanted)
        {
            let names = config.profiles.keys().map(String::as_str);
            let near = dormouse_text::nearest::nearest(wanted, names);
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`[profiles.NAME]` in dormouse.toml makes one".to_owned(),
            };
            anyhow::bail!(
                "no profile is called `{}`\nhint: {hint}",
                wanted.escape_debug()
            );
        }
        if let Some(wanted) = &self.server
            && !config.servers.contains_key(wanted)
        {
            let names = config.servers.keys().map(String::as_str);
            return Err(name::Unknown::new(wanted, names).into());
        }
        Ok(())
    }
}

impl Roster {
    /// Checks that the profile and the server exist that this host was started for.
    ///
    /// # Errors
    /// There is no such profile, or no such server.
    pub fn check_exposure(&self) -> anyhow::Result<()> {
        self.places.exposure.check(&self.config())
    }
}
