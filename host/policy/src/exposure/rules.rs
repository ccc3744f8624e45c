//! Rules of exposure: which tools agents can call, and which are in their lists whatever the mode is.

use std::fmt;

use super::{Confirmation, ExposureMode, NamedTool, Profile, ServerExposure, patterns};

/// Tokens of tools that `auto` lists, where no budget is configured.
pub const DEFAULT_BUDGET: u32 = 8000;

/// Rules of exposure: `[exposure]`, with the profile that is served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExposureRules {
    /// `mode`: how tools are shown.
    pub mode: ExposureMode,
    /// `budget`: most tokens of tools that `auto` lists.
    pub budget: u32,
    /// `pinned`: patterns of tools that are always in the list.
    pub pinned: Vec<String>,
    /// `allow`: patterns of the only tools that can be called; all, where unset.
    pub allow: Option<Vec<String>>,
    /// `deny`: patterns of tools that cannot be called.
    pub deny: Vec<String>,
    /// `confirm`: tools whose calls the user is asked about, where their server's table does not say.
    pub confirm: Confirmation,
    /// Profile that is served; none where all is.
    pub profile: Option<Profile>,
}

impl Default for ExposureRules {
    fn default() -> Self {
        Self {
            mode: ExposureMode::default(),
            budget: DEFAULT_BUDGET,
            pinned: Vec::new(),
            allow: None,
            deny: Vec::new(),
            confirm: Confirmation::default(),
            profile: None,
        }
    }
}

/// Exposure of one tool, before any mode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolExposure {
    /// It is always in the list.
    Listed,
    /// It is in the list where the mode has it there.
    ByMode,
    /// It is never in the list before it is asked for.
    Deferred,
    /// It cannot be called.
    Hidden(HiddenBy),
}

/// Reason why a tool cannot be called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HiddenBy {
    /// Its server is hidden.
    Server,
    /// A pattern denies it.
    Deny(String),
    /// No pattern allows it.
    Allow,
    /// It is not in the profile that is served.
    Profile,
}

impl ExposureRules {
    /// Sets the profile that is served, whose exposure counts where it has one.
    #[must_use]
    pub fn with_profile(mut self, profile: Profile) -> Self {
        self.mode = profile.mode.unwrap_or(self.mode);
        self.budget = profile.budget.unwrap_or(self.budget);
        self.profile = Some(profile);
        self
    }

    /// Whether a server is served at all.
    #[must_use]
    pub fn has_server(&self, server: &str) -> bool {
        let profile = self.profile.as_ref();
        profile.is_none_or(|profile| profile.has_server(server))
    }

    /// Decides about a server's tool.
    #[must_use]
    pub fn tool(&self, names: NamedTool<'_>, expose: Option<ServerExposure>) -> ToolExposure {
        if let Some(hidden) = self.hides(names, expose) {
            return ToolExposure::Hidden(hidden);
        }
        if patterns::allow(&self.pinned, names).is_some() {
            return ToolExposure::Listed;
        }
        match expose {
            Some(ServerExposure::Direct) => ToolExposure::Listed,
            Some(ServerExposure::Deferred) => ToolExposure::Deferred,
            Some(ServerExposure::Hidden) => ToolExposure::Hidden(HiddenBy::Server),
            None => ToolExposure::ByMode,
        }
    }

    /// Returns the rule that denies a tool, if any: such a tool is called by nobody, nor by a component
    /// in front of its server, which may call what is only not shown.
    #[must_use]
    pub fn denies(&self, names: NamedTool<'_>) -> Option<HiddenBy> {
        let pattern = patterns::deny(&self.deny, names)?;
        Some(HiddenBy::Deny(pattern.clone()))
    }

    /// Returns the reason why a server's tool cannot be called, if there is one.
    #[must_use]
    pub fn hides(&self, names: NamedTool<'_>, expose: Option<ServerExposure>) -> Option<HiddenBy> {
        if let Some(denied) = self.denies(names) {
            return Some(denied);
        }
        if expose == Some(ServerExposure::Hidden) {
            return Some(HiddenBy::Server);
        }
        let is_in = |list: Option<&Vec<String>>| {
            list.is_none_or(|list| patterns::allow(list, names).is_some())
        };
        let profile = self.profile.as_ref();
        let of_profile = profile.and_then(|profile| profile.tools.as_ref());
        if !self.has_server(names.server) || !is_in(of_profile) {
            return Some(HiddenBy::Profile);
        }
        (!is_in(self.allow.as_ref())).then_some(HiddenBy::Allow)
    }

    /// Whether a server that has no tools is hidden, so that nothing else of it counts for agents. `whole`
    /// are the names of a tool of it that has none of its own: what denies that denies them all. What
    /// allows tools alone leaves such a server out where it names none of its tools, and the profile
    /// does not name the server.
    #[must_use]
    pub fn hides_without_tools(
        &self,
        whole: NamedTool<'_>,
        expose: Option<ServerExposure>,
    ) -> bool {
        let profile = self.profile.as_ref();
        let is_named = profile.is_some_and(|profile| profile.servers.is_some());
        let of_profile = profile.and_then(|profile| profile.tools.as_ref());
        let lists = [self.allow.as_ref(), of_profile];
        let mut lists = lists.into_iter().flatten();
        expose == Some(ServerExposure::Hidden)
            || patterns::deny(&self.deny, whole).is_some()
            || !self.has_server(whole.server)
            || !is_named && lists.any(|list| !patterns::allow_some(list, whole.server))
    }
}

impl fmt::Display for HiddenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server => f.write_str("its server is configured as `expose = \"hidden\"`"),
            Self::Deny(pattern) => write!(f, "`deny` of `[exposure]` has `{pattern}`"),
            Self::Allow => f.write_str("`allow` of `[exposure]` does not have it"),
            Self::Profile => f.write_str("it is not in the profile that is served"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(patterns: &[&str]) -> Vec<String> {
        patterns.iter().map(|&pattern| pattern.to_owned()).collect()
    }

    #[test]
    fn each_tool_is_decided_by_the_strictest_that_names_it() {
        use ToolExposure::{ByMode, Deferred, Hidden, Listed};
        let rules = ExposureRules {
            pinned: list(&["time__now", "git__push"]),
            deny: list(&["*__delete*", "git__push"]),
            ..ExposureRules::default()
        };
        let denied = |pattern: &str| Hidden(HiddenBy::Deny(pattern.to_owned()));
        let some = |expose| Some(expose);
        for (server, expose, tool, decided) in [
            ("time", None, "now", Listed),
            ("time", None, "then", ByMode),
            ("time", some(ServerExposure::Deferred), "now", Listed),
            ("time", some(ServerExposure::Deferred), "then", Deferred),
            ("time", some(ServerExposure::Direct), "then", Listed),
            (
                "time",
                some(ServerExposure::Hidden),
                "now",
                Hidden(HiddenBy::Server),
            ),
            (
                "time",
                some(ServerExposure::Direct),
                "delete_all",
                denied("*__delete*"),
            ),
            ("git", None, "push", denied("git__push")),
        ] {
            let shown = &format!("{server}__{tool}");
            let names = NamedTool {
                server,
                tool,
                shown,
                is_prefixed: true,
                others: &[],
            };
            assert_eq!(rules.tool(names, expose), decided, "{server} {tool}");
        }
    }

    #[test]
    fn only_what_all_lists_have_can_be_called() {
        let profile = Profile {
            servers: Some(list(&["git*"])),
            tools: Some(list(&["*__get_*"])),
            mode: Some(ExposureMode::Search),
            budget: None,
        };
        let rules = ExposureRules {
            allow: Some(list(&["github", "time"])),
            budget: 7,
            ..ExposureRules::default()
        };
        let rules = rules.with_profile(profile);
        assert_eq!((rules.mode, rules.budget), (ExposureMode::Search, 7));
        for (server, tool, hidden) in [
            ("github", "get_me", None),
            ("github", "set_me", Some(HiddenBy::Profile)),
            ("gitlab", "get_me", Some(HiddenBy::Allow)),
            ("time", "get_me", Some(HiddenBy::Profile)),
        ] {
            let shown = &format!("{server}__{tool}");
            let names = NamedTool {
                server,
                tool,
                shown,
                is_prefixed: true,
                others: &[],
            };
            assert_eq!(rules.hides(names, None), hidden, "{server} {tool}");
        }
        assert!(rules.has_server("gitlab") && !rules.has_server("time"));
    }

    #[test]
    fn a_server_without_tools_is_hidden_by_what_is_said_of_all_of_it() {
        let profile = |servers: Option<&[&str]>| Profile {
            servers: servers.map(list),
            tools: Some(list(&["gh__*"])),
            ..Profile::default()
        };
        let deny = |pattern: &str| ExposureRules {
            deny: list(&[pattern]),
            ..ExposureRules::default()
        };
        let allow = |pattern: &str| ExposureRules {
            allow: Some(list(&[pattern])),
            ..ExposureRules::default()
        };
        let with =
            |servers: Option<&[&str]>| ExposureRules::default().with_profile(profile(servers));
        for (rules, expose, hidden) in [
            (ExposureRules::default(), None, false),
            (ExposureRules::default(), Some(ServerExposure::Hidden), true),
            (deny("*__discover"), None, false),
            (deny("docs__read*"), None, false),
            (deny("docs__*"), None, true),
            (deny("d*"), None, true),
            (deny("docs"), None, true),
            (allow("gh__*"), None, true),
            (allow("docs__read"), None, false),
            (allow("*"), None, false),
            (with(None), None, true),
            (with(Some(&["docs", "gh"])), None, false),
            (with(Some(&["gh"])), None, true),
        ] {
            let whole = NamedTool {
                server: "docs",
                tool: "",
                shown: "docs__",
                is_prefixed: true,
                others: &[],
            };
            let found = rules.hides_without_tools(whole, expose);
            assert_eq!(found, hidden, "{rules:?} {expose:?}");
        }
    }
}
