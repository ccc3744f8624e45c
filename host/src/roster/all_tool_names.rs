//! All names of a tool, by which rules of exposure may mean it.

use dormouse_config::ServerConfig;
use dormouse_policy::exposure::NamedTool;

use super::names;

/// Names of a server's tool: those of now, and those that it has where another prefix counts.
pub(super) struct AllToolNames<'n> {
    server: &'n str,
    tool: &'n str,
    /// The name that agents are shown.
    pub(super) shown: String,
    is_prefixed: bool,
    others: Vec<String>,
}

impl<'n> AllToolNames<'n> {
    /// Collects the names of a tool. `deny` are the patterns that it is held against: without any,
    /// nobody asks for its other names, which of thousands of tools would take long.
    pub(super) fn of(config: &'n ServerConfig, tool: &'n str, deny: &[String]) -> Self {
        let server = config.name.as_str();
        let prefix = config.prefix.as_deref();
        // Its name for itself is a name of other servers' tools as well: it counts where agents see it.
        let prefixes = [prefix, config.ignored_prefix.as_deref(), None];
        Self {
            server,
            tool,
            shown: names::shown(server, prefix, tool),
            is_prefixed: prefix != Some(""),
            others: match deny {
                [] => Vec::new(),
                _ => names::with_prefixes(server, prefixes, tool),
            },
        }
    }

    /// Returns the names, as rules of exposure take them.
    pub(super) fn named(&self) -> NamedTool<'_> {
        NamedTool {
            server: self.server,
            tool: self.tool,
            shown: &self.shown,
            is_prefixed: self.is_prefixed,
            others: &self.others,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use dormouse_config::{Adapter, Origin};
    use dormouse_policy::exposure::{ExposureRules, HiddenBy};

    use super::*;

    #[test]
    fn a_tool_is_denied_by_every_name_that_it_may_have() {
        let adapter = Adapter::Plugin(PathBuf::from("/a.wasm"));
        let long = "s".repeat(58);
        for name in ["u", &*long] {
            let mut of_name = ServerConfig::new(name, adapter.clone(), Origin::default());
            of_name.prefix = Some("x".to_owned());
            let mut of_own_names = of_name.clone();
            of_own_names.ignored_prefix = of_own_names.prefix.replace(String::new());
            let mut of_ignored = of_name.clone();
            of_ignored.ignored_prefix = of_ignored.prefix.take();
            for config in [of_name, of_own_names, of_ignored] {
                let denied = [
                    "x__delete.all".to_owned(),
                    "x__delete_all".to_owned(),
                    "x__*".to_owned(),
                    format!("{name}__delete_all"),
                    names::shown(name, None, "delete.all"),
                ];
                for pattern in denied {
                    let rules = ExposureRules {
                        deny: vec![pattern.clone()],
                        ..ExposureRules::default()
                    };
                    let names = AllToolNames::of(&config, "delete.all", &rules.deny);
                    let hidden = rules.hides(names.named(), None);
                    assert_eq!(hidden, Some(HiddenBy::Deny(pattern)), "{config:?}");
                    let names = AllToolNames::of(&config, "get", &["get".to_owned()]);
                    let is_of_whole = rules.deny == ["x__*"];
                    let hidden = rules.hides(names.named(), None).is_some();
                    assert_eq!(hidden, is_of_whole, "{config:?}");
                }
            }
        }
    }
}
