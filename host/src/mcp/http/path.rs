//! Paths at which MCP is spoken: one for all that is served, and one for each profile.

use std::sync::Arc;

/// Path at which MCP is spoken.
pub(super) const PATH: &str = "/mcp";

/// Beginning of the paths of profiles, before a profile's name.
const PROFILES: &str = "/mcp/p/";

/// Path at which MCP is spoken, or would be if there were such a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct McpPath {
    /// Name of the profile that its clients see; none where they see all.
    pub(super) profile: Option<Arc<str>>,
}

impl McpPath {
    /// Reads the path of a request; none where MCP is not spoken there. Names of profiles have no
    /// character that a URL would have to escape.
    pub(super) fn of(path: &str) -> Option<Self> {
        if path == PATH {
            return Some(Self { profile: None });
        }
        let name = path.strip_prefix(PROFILES)?;
        let profile = Some(name.into());
        Some(Self { profile })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_is_the_last_part_of_its_path() {
        for (path, expected) in [
            ("/mcp", Some(None)),
            ("/mcp/p/work", Some(Some("work"))),
            ("/mcp/p/", Some(Some(""))),
            ("/mcp/p/work/", Some(Some("work/"))),
            ("/mcp/p", None),
            ("/mcp/", None),
            ("/mcpp/work", None),
            ("/", None),
        ] {
            let read = McpPath::of(path);
            let read = read.as_ref().map(|path| path.profile.as_deref());
            assert_eq!(read, expected, "{path}");
        }
    }
}
