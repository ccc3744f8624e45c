//! `[exposure]`, `[profiles.NAME]`, and what a server's table says of how its tools are shown.

use dormouse_policy::exposure::{
    Confirmation, ExposureMode, ExposureRules, HintOverrides, Profile, ToolHints,
};

use super::*;

const EXPOSURE: &[&str] = &["mode", "budget", "pinned", "allow", "deny", "confirm"];
const PROFILE: &[&str] = &["servers", "tools", "expose", "budget"];

impl DocumentReader<'_> {
    /// Reads `[exposure]`. Where it is open what is denied there, allowed alone, or to be confirmed,
    /// nothing is allowed.
    pub(super) fn exposure(&mut self, item: &Item) -> ExposureRules {
        let mut rules = ExposureRules::default();
        let nothing = Some(Vec::new());
        let Some(table) = self.table(item, "exposure") else {
            rules.allow = nothing;
            return rules;
        };
        let mut is_open = false;
        for (key, item) in table.iter() {
            let here = format!("exposure.{key}");
            let before = self.problem_count;
            match key {
                "mode" => {
                    let mode = self.choice(item, &here, &ExposureMode::WORDS);
                    rules.mode = mode.unwrap_or_default();
                }
                "budget" => rules.budget = self.count(item, &here).unwrap_or(rules.budget),
                "pinned" => rules.pinned = self.strings(item, &here),
                "allow" => rules.allow = Some(self.strings(item, &here)),
                "deny" => rules.deny = self.strings(item, &here),
                "confirm" => rules.confirm = self.confirmation(item, &here),
                _ => self.unknown(table, key, "`[exposure]`", EXPOSURE),
            }
            let meant = nearest(key, EXPOSURE.iter().copied());
            let is_of_looks = matches!(meant, Some("mode" | "budget" | "pinned"));
            is_open |= self.problem_count > before && !is_of_looks;
        }
        if is_open {
            rules.allow = nothing;
        }
        rules
    }

    /// Reads `[profiles]`. A profile with a mistake in it is left out: one that has more in it than
    /// its user wrote would be none.
    pub(super) fn profiles(&mut self, item: &Item) -> BTreeMap<String, Profile> {
        let mut profiles = BTreeMap::new();
        let Some(table) = self.table(item, "profiles") else {
            return profiles;
        };
        for (name, item) in table.iter() {
            let before = self.problem_count;
            if let Err(bad) = name::check(name) {
                let message = format!(
                    "a profile is named as a server is, and {} is not",
                    quoted(name)
                );
                self.problem(key_span(table, name), message, Some(bad.hint().to_owned()));
            }
            let profile = self.profile(item, &within("profiles", name));
            if self.problem_count == before {
                profiles.insert(name.to_owned(), profile);
            }
        }
        profiles
    }

    fn profile(&mut self, item: &Item, at: &str) -> Profile {
        let mut profile = Profile::default();
        let Some(table) = self.table(item, at) else {
            return profile;
        };
        for (key, item) in table.iter() {
            let here = within(at, key);
            match key {
                "servers" => profile.servers = Some(self.strings(item, &here)),
                "tools" => profile.tools = Some(self.strings(item, &here)),
                "expose" => profile.mode = self.choice(item, &here, &ExposureMode::WORDS),
                "budget" => profile.budget = self.count(item, &here),
                _ => self.unknown(table, key, &format!("`[{at}]`"), PROFILE),
            }
        }
        profile
    }

    /// Reads `confirm`, of all servers or of one.
    pub(super) fn confirmation(&mut self, item: &Item, at: &str) -> Confirmation {
        let items = self.items(item, at);
        let words = items.iter();
        let words = words.filter_map(|word| self.choice(word, at, &Confirmation::WORDS));
        Confirmation::of(words)
    }

    /// Reads `[servers.NAME.annotations]`: hints on tools, by the tools' names or patterns.
    pub(super) fn hint_overrides(&mut self, item: &Item, at: &str) -> HintOverrides {
        let mut overrides = HintOverrides::default();
        let Some(table) = self.table(item, at) else {
            return overrides;
        };
        for (tool, item) in table.iter() {
            let here = within(at, tool);
            let Some(table) = self.table(item, &here) else {
                continue;
            };
            let mut hints = ToolHints::default();
            for (key, item) in table.iter() {
                match hints.named_mut(key) {
                    Some(hint) => *hint = self.boolean(item, &within(&here, key)),
                    None => self.unknown(table, key, &format!("`{here}`"), &ToolHints::NAMES),
                }
            }
            overrides.0.insert(tool.to_owned(), hints);
        }
        overrides
    }

    pub(super) fn prefix(&mut self, item: &Item, at: &str) -> Option<String> {
        let prefix = self.string(item, at)?;
        match name::check_prefix(prefix) {
            Ok(()) => Some(prefix.to_owned()),
            Err(bad) => {
                let message = format!("`{at}` cannot be {}", quoted(prefix));
                self.problem(item.span(), message, Some(bad.hint().to_owned()));
                None
            }
        }
    }
}
