//! Profiles: named subsets of the servers and tools, with an exposure of their own.

use dormouse_text::wildcard::matches;

use super::ExposureMode;

/// A named subset of the servers and tools: `[profiles.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// `servers`: names or patterns of the servers in it; all, where unset.
    pub servers: Option<Vec<String>>,
    /// `tools`: patterns of the tools in it; all of its servers', where unset.
    pub tools: Option<Vec<String>>,
    /// `expose`: how its tools are shown, in place of what `[exposure]` says.
    pub mode: Option<ExposureMode>,
    /// `budget`: most tokens of tools that `auto` lists, in place of what `[exposure]` says.
    pub budget: Option<u32>,
}

impl Profile {
    /// Makes a profile of one server.
    #[must_use]
    pub fn of_server(name: &str) -> Self {
        Self {
            servers: Some(vec![name.to_owned()]),
            ..Self::default()
        }
    }

    /// Whether a server is in it.
    #[must_use]
    pub fn has_server(&self, server: &str) -> bool {
        let servers = self.servers.as_ref();
        servers.is_none_or(|servers| servers.iter().any(|pattern| matches(pattern, server)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_no_servers_has_all_of_them() {
        let servers = |names: &[&str]| Profile {
            servers: Some(names.iter().map(|&name| name.to_owned()).collect()),
            ..Profile::default()
        };
        assert!(Profile::default().has_server("a"));
        assert!(servers(&["a", "b"]).has_server("b"));
        assert!(servers(&["git*"]).has_server("github"));
        assert!(!servers(&["git"]).has_server("github"));
        assert!(!servers(&[]).has_server("a"));
    }
}
