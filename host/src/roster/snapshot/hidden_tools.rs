//! Tools that rules of exposure hide from agents, by their server and the rule.

use std::collections::BTreeMap;
use std::fmt;

use super::Snapshot;
use crate::roster::Server;
use crate::roster::all_tool_names::AllToolNames;
use crate::roster::server::DISCOVER;

/// Tools of one server that one rule hides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenTools {
    /// Name of the server.
    pub server: String,
    /// Number of the tools.
    pub number: usize,
    /// The rule, in words.
    pub why: String,
}

impl fmt::Display for HiddenTools {
    /// Writes a sentence without the server's name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            1 => f.write_str("one of its tools is hidden from agents")?,
            more => write!(f, "{more} of its tools are hidden from agents")?,
        }
        write!(f, ": {}", self.why)
    }
}

impl Snapshot {
    /// Returns the tools that rules of exposure hide from agents, by their servers and the rules.
    #[must_use]
    pub fn hidden_tools(&self) -> Vec<HiddenTools> {
        let mut numbers: BTreeMap<(&str, String), usize> = BTreeMap::new();
        for (tool, why) in &self.hidden_by_rules {
            *numbers.entry((tool.server(), why.to_string())).or_default() += 1;
        }
        let all = numbers.into_iter();
        let all = all.map(|((server, why), number)| HiddenTools {
            server: server.to_owned(),
            number,
            why,
        });
        all.collect()
    }

    /// Whether rules hide a tool of a server from agents.
    pub(super) fn hides_by_rules(&self, server: &Server, tool: &str) -> bool {
        let config = server.config();
        let names = AllToolNames::of(config, tool, &self.rules.deny);
        self.rules.hides(names.named(), config.expose).is_some()
    }

    /// Whether rules would hide all tools of a server that lists none: those that wait for their user; of
    /// one that nobody knows, the one that would connect it, which stands for whatever tools may come;
    /// and of one that has none, the whole of it.
    pub(super) fn would_hide_all(&self, server: &Server) -> bool {
        let mut pending = server.hidden().peekable();
        match pending.peek() {
            None if server.is_unknown() => self.hides_by_rules(server, DISCOVER),
            None => {
                let config = server.config();
                let whole = AllToolNames::of(config, "", &self.rules.deny);
                self.rules.hides_without_tools(whole.named(), config.expose)
            }
            Some(_) => pending.all(|tool| self.hides_by_rules(server, tool)),
        }
    }
}
