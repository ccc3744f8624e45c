//! Rules of single clients' files for a server that several clients have.

use std::collections::BTreeMap;

use toml_edit::{Array, InlineTable, Item, Value};

use crate::problem::within;
use crate::reading::reader::DocumentReader;
use crate::{Client, Filter};

/// Part of a server that one client is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRule {
    /// Whether the client has the server at all.
    pub enabled: bool,
    /// Filter of the tools that the client is shown, of those that all clients are shown.
    pub filter: Filter,
}

impl Default for ClientRule {
    fn default() -> Self {
        Self {
            enabled: true,
            filter: Filter::default(),
        }
    }
}

/// Rules for the clients that are shown less of a server than others are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientRules(BTreeMap<Client, ClientRule>);

/// Combined rules of the files of several clients that have the same server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientConsensus {
    /// Whether any of the clients has the server on.
    pub enabled: bool,
    /// Filter of the tools that all clients are shown.
    pub filter: Filter,
    /// Rules for single clients, which are shown less of that.
    pub rules: ClientRules,
}

/// Keys of a client's rule in `dormouse.toml`.
const RULE: &[&str] = &["enabled", "include_tools", "exclude_tools"];

/// Most patterns of a rule that are listed for a person.
const MAX_TOLD: usize = 5;

impl ClientConsensus {
    /// Combines the rules that each client's file has for one server. A server is switched off in
    /// one client because it is wanted in another, so it is on where any of them has it on.
    ///
    /// None where no client's file has a rule.
    #[must_use]
    pub fn of(said: impl IntoIterator<Item = (Client, ClientRule)>) -> Option<Self> {
        let by_client = by_client(said);
        let first = by_client.values().next()?.filter.clone();
        let is_common = by_client.values().all(|rule| rule.filter == first);
        let enabled = by_client.values().any(|rule| rule.enabled);
        let mut rules = ClientRules::default();
        for (client, rule) in by_client {
            let rule = ClientRule {
                enabled: rule.enabled || !enabled,
                filter: match is_common {
                    true => Filter::default(),
                    false => rule.filter,
                },
            };
            rules.restrict(client, rule);
        }
        Some(Self {
            enabled,
            filter: if is_common { first } else { Filter::default() },
            rules,
        })
    }
}

/// Combines the rules of each client's entries for one server.
pub(crate) fn by_client(
    said: impl IntoIterator<Item = (Client, ClientRule)>,
) -> BTreeMap<Client, ClientRule> {
    let mut by_client: BTreeMap<Client, ClientRule> = BTreeMap::new();
    for (client, rule) in said {
        match by_client.get_mut(&client) {
            Some(known) => {
                known.enabled |= rule.enabled;
                known.filter.restrict(&rule.filter);
            }
            None => {
                by_client.insert(client, rule);
            }
        }
    }
    by_client
}

impl ClientRule {
    /// Restricts the rule to what another one allows, too. Returns whether that makes a difference.
    pub(crate) fn restrict(&mut self, other: &Self) -> bool {
        let mut both = self.clone();
        both.enabled &= other.enabled;
        both.filter.restrict(&other.filter);
        // As it is written, so that it makes no difference once it is.
        both.filter.include = both.filter.single_include();
        both.filter.also = Vec::new();
        let sorted = |list: &Option<Vec<String>>| {
            let mut list = list.clone();
            list.iter_mut().for_each(|list| list.sort_unstable());
            list
        };
        if sorted(&both.filter.include) == sorted(&self.filter.include) {
            both.filter.include.clone_from(&self.filter.include);
        }
        let is_other = both != *self;
        *self = both;
        is_other
    }
}

impl ClientRules {
    /// Whether all clients are shown the same.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sets the rule for a client, in place of an earlier one. A rule that forbids nothing is none.
    pub fn restrict(&mut self, client: Client, rule: ClientRule) {
        if rule == ClientRule::default() {
            self.0.remove(&client);
        } else {
            self.0.insert(client, rule);
        }
    }

    /// Adds rules: a client is forbidden what either of two forbids it.
    pub fn restrict_all(&mut self, others: &Self) {
        for (client, other) in &others.0 {
            let rule = self.0.entry(*client).or_default();
            rule.enabled &= other.enabled;
            rule.filter.restrict(&other.filter);
        }
    }

    /// Returns the rule for a client, where there is one.
    #[must_use]
    pub fn of(&self, client: Client) -> Option<&ClientRule> {
        self.0.get(&client)
    }

    /// Whether a client has the server at all. A client that does not say who it is has it.
    #[must_use]
    pub fn enable(&self, client: Option<Client>) -> bool {
        let rule = client.and_then(|client| self.0.get(&client));
        rule.is_none_or(|rule| rule.enabled)
    }

    /// Returns the filter for a client, of tools that pass `all`. A client that does not say who it
    /// is may be any of them, and so is shown only what none of them is forbidden.
    #[must_use]
    pub fn filter(&self, all: &Filter, client: Option<Client>) -> Filter {
        let mut filter = all.clone();
        for (of, rule) in &self.0 {
            if client.is_none_or(|client| client == *of) {
                filter.restrict(&rule.filter);
            }
        }
        filter
    }

    /// Describes for a person what each client is shown less than others, as sentences.
    #[must_use]
    pub fn told(&self) -> Vec<String> {
        let rules = self.0.iter();
        let told = rules.map(|(client, rule)| match rule.enabled {
            false => format!(
                "the client `{client}` does not have it, because it is off there; one that does \
                 not say who it is has it (`dormouse serve --client CLIENT`)"
            ),
            true => format!(
                "the client `{client}` is shown {}; so is one that does not say who it is \
                 (`dormouse serve --client CLIENT`)",
                rule.filter.told(MAX_TOLD)
            ),
        });
        told.collect()
    }

    /// Returns the value of a server's `clients` in `dormouse.toml`.
    #[must_use]
    pub fn value(&self) -> InlineTable {
        let rules = self.0.iter();
        rules
            .map(|(client, rule)| (client.name(), Value::from(rule.value())))
            .collect()
    }

    /// Returns the rules, each with its client.
    pub fn iter(&self) -> impl Iterator<Item = (Client, &ClientRule)> {
        self.0.iter().map(|(client, rule)| (*client, rule))
    }
}

impl ClientRule {
    /// Returns the rule as `dormouse.toml` has it.
    #[must_use]
    pub fn value(&self) -> InlineTable {
        let list = |texts: &[String]| {
            let texts = texts.iter().map(String::as_str);
            Value::Array(texts.collect::<Array>())
        };
        let mut table = InlineTable::new();
        if !self.enabled {
            table.insert("enabled", false.into());
        }
        if let Some(include) = &self.filter.single_include() {
            table.insert("include_tools", list(include));
        }
        if !self.filter.exclude.is_empty() {
            table.insert("exclude_tools", list(&self.filter.exclude));
        }
        table
    }
}

impl DocumentReader<'_> {
    /// Reads a server's `clients`.
    pub(crate) fn client_rules(&mut self, item: &Item, at: &str) -> ClientRules {
        let mut rules = ClientRules::default();
        let Some(table) = self.table(item, at) else {
            return rules;
        };
        for (name, item) in table.iter() {
            let here = within(at, name);
            let client = match name.parse::<Client>() {
                Ok(client) => client,
                Err(hint) => {
                    let message = format!("`{here}` is about no client");
                    self.problem(item.span(), message, Some(hint));
                    continue;
                }
            };
            let Some(table) = self.table(item, &here) else {
                continue;
            };
            let mut rule = ClientRule::default();
            for (key, item) in table.iter() {
                let here = within(&here, key);
                match key {
                    "enabled" => rule.enabled = self.boolean(item, &here).unwrap_or(true),
                    "include_tools" => rule.filter.include = Some(self.strings(item, &here)),
                    "exclude_tools" => rule.filter.exclude = self.strings(item, &here),
                    _ => self.unknown(table, key, &format!("`{at}.{name}`"), RULE),
                }
            }
            rules.restrict(client, rule);
        }
        rules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(enabled: bool, include: Option<&[&str]>, exclude: &[&str]) -> ClientRule {
        let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
        ClientRule {
            enabled,
            filter: Filter {
                include: include.map(texts),
                exclude: texts(exclude),
                ..Filter::default()
            },
        }
    }

    #[test]
    fn what_one_client_is_forbidden_is_forbidden_to_it_and_to_whoever_may_be_it() {
        let said = [
            (Client::ClaudeCode, rule(true, None, &[])),
            (Client::Gemini, rule(true, None, &["get-env"])),
            (Client::Codex, rule(true, Some(&["echo", "get-*"]), &[])),
            (Client::Cursor, rule(false, None, &[])),
        ];
        let all = ClientConsensus::of(said).unwrap();
        assert!(all.enabled);
        let table = [
            (Some(Client::ClaudeCode), true, [true, true, true]),
            // It has no such server in its own file.
            (Some(Client::Zed), true, [true, true, true]),
            (Some(Client::Gemini), true, [true, false, true]),
            (Some(Client::Codex), true, [true, true, false]),
            (Some(Client::Cursor), false, [true, true, true]),
            (None, true, [true, false, false]),
        ];
        for (client, enabled, shown) in table {
            assert_eq!(all.rules.enable(client), enabled, "{client:?}");
            let filter = all.rules.filter(&all.filter, client);
            let got = ["echo", "get-env", "add"].map(|tool| filter.shows(tool));
            assert_eq!(got, shown, "{client:?}");
        }
        assert_eq!(all.rules.told().len(), 3);
    }

    #[test]
    fn what_all_clients_say_is_no_rule_of_single_ones() {
        for (one, other, enabled) in [
            (rule(true, None, &["a"]), rule(true, None, &["a"]), true),
            (rule(false, None, &[]), rule(false, None, &[]), false),
        ] {
            let filter = one.filter.clone();
            let said = [(Client::Gemini, one), (Client::Codex, other)];
            let all = ClientConsensus::of(said).unwrap();
            assert!(all.rules.is_empty(), "{all:?}");
            assert_eq!((all.enabled, all.filter), (enabled, filter));
        }
        assert_eq!(ClientConsensus::of([]), None);
    }

    #[test]
    fn two_entries_of_one_client_allow_what_both_do() {
        let said = [
            (Client::Gemini, rule(true, None, &["a"])),
            (Client::Gemini, rule(false, Some(&["a", "b"]), &[])),
            (Client::Codex, rule(true, None, &[])),
        ];
        let all = ClientConsensus::of(said).unwrap();
        let filter = all.rules.filter(&all.filter, Some(Client::Gemini));
        let shown = ["a", "b", "c"].map(|tool| filter.shows(tool));
        assert_eq!(shown, [false, true, false]);
    }
}
