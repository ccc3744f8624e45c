//! The servers and tools at one moment.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, OnceLock};

use dormouse_catalog::{Entry, ListedTool};
use serde_json::value::RawValue;

use super::{Server, names};

/// The servers and tools at one moment; never changes.
#[derive(Debug, Default)]
pub struct Snapshot {
    servers: BTreeMap<String, Arc<Server>>,
    tools: Vec<Shown>,
    collisions: Vec<Collision>,
    /// Where in `tools` a name is; made for the first call.
    places: OnceLock<HashMap<String, usize>>,
}

/// A tool that agents see.
#[derive(Debug)]
pub struct Shown {
    /// The name that they see it under.
    pub name: String,
    server: Arc<Server>,
    entry: Arc<Entry>,
    index: usize,
}

/// Tools that would be shown under one name, and so are not shown at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collision {
    /// The name.
    pub name: String,
    /// The tools, as (server, tool).
    pub tools: Vec<(String, String)>,
}

impl fmt::Display for Collision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (server, tool)) in self.tools.iter().enumerate() {
            let and = if i == 0 { "" } else { " and " };
            write!(f, "{and}tool `{tool}` of server `{server}`")?;
        }
        write!(
            f,
            " would all be shown as `{}`, so none of them is shown\n\
             hint: give one of the servers another `prefix` in the configuration",
            self.name
        )
    }
}

impl Shown {
    /// The name of its server.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.server.config().name
    }

    /// Its own name.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.declared().map_or("", |declared| &declared.name)
    }

    /// What its plugin declares of it.
    #[must_use]
    pub fn declared(&self) -> Option<&ListedTool> {
        self.entry.listing.tools.get(self.index)
    }
}

impl Snapshot {
    pub(super) fn new(servers: BTreeMap<String, Arc<Server>>) -> Self {
        let mut tools: Vec<Shown> = Vec::new();
        for (server, entry) in servers.values().filter_map(|s| Some((s, s.listed()?))) {
            let config = server.config();
            let declared = entry.listing.tools.iter().enumerate();
            tools.extend(declared.map(|(index, tool)| Shown {
                name: names::shown(&config.name, config.prefix.as_deref(), &tool.name),
                server: server.clone(),
                entry: entry.clone(),
                index,
            }));
        }
        let collisions = collisions(&tools);
        if !collisions.is_empty() {
            tools.retain(|tool| !collisions.iter().any(|c| c.name == tool.name));
        }
        Self {
            servers,
            tools,
            collisions,
            places: OnceLock::new(),
        }
    }

    /// All configured servers, by name.
    #[must_use]
    pub fn servers(&self) -> &BTreeMap<String, Arc<Server>> {
        &self.servers
    }

    /// All tools that agents see: servers by name, each one's tools in the order
    /// in which it declares them.
    #[must_use]
    pub fn tools(&self) -> &[Shown] {
        &self.tools
    }

    /// The tools that cannot be shown because of their names.
    #[must_use]
    pub fn collisions(&self) -> &[Collision] {
        &self.collisions
    }

    /// The names of all tools, in the order of the list.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(|tool| tool.name.as_str())
    }

    /// The tool of exactly that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Shown> {
        let places = self.places.get_or_init(|| {
            let names = self.names().map(str::to_owned);
            names.zip(0..).collect()
        });
        self.tools.get(*places.get(name)?)
    }

    /// Appends the JSON array of MCP `Tool` objects: each as it was declared,
    /// with nothing but its name replaced. It is made anew for each who asks,
    /// which takes less than sending it; an agent asks once.
    pub fn write_list(&self, text: &mut String) {
        let declared = self.declared();
        let length: usize = declared.map(|(_, d)| d.tool.get().len() + 48).sum();
        text.reserve(length + 2);
        text.push('[');
        for (i, (shown, declared)) in self.declared().enumerate() {
            if i > 0 {
                text.push(',');
            }
            renamed(&declared.tool, &declared.name, shown, text);
        }
        text.push(']');
    }

    /// Whether agents see the same list.
    #[must_use]
    pub fn lists_as(&self, other: &Self) -> bool {
        let theirs = other.declared();
        self.declared()
            .map(|(name, tool)| (name, tool.tool.get()))
            .eq(theirs.map(|(name, tool)| (name, tool.tool.get())))
    }

    fn declared(&self) -> impl Iterator<Item = (&str, &ListedTool)> {
        let tools = self.tools.iter();
        tools.filter_map(|tool| Some((tool.name.as_str(), tool.declared()?)))
    }
}

fn collisions(tools: &[Shown]) -> Vec<Collision> {
    let mut seen = HashSet::with_capacity(tools.len());
    let twice: BTreeSet<&str> = tools
        .iter()
        .map(|tool| tool.name.as_str())
        .filter(|name| !seen.insert(*name))
        .collect();
    let owned = |tool: &Shown| (tool.server().to_owned(), tool.tool().to_owned());
    twice
        .into_iter()
        .map(|name| Collision {
            name: name.to_owned(),
            tools: tools
                .iter()
                .filter(|tool| tool.name == name)
                .map(owned)
                .collect(),
        })
        .collect()
}

/// Appends a `Tool` object with another name, everything else byte for byte.
fn renamed(tool: &RawValue, name: &str, shown: &str, text: &mut String) {
    let tool = tool.get();
    match name_in(tool, name) {
        Some((before, after)) => {
            text.push_str(before);
            text.push('"');
            // Nothing in a shown name has to be escaped.
            text.push_str(shown);
            text.push('"');
            text.push_str(after);
        }
        // The catalog takes no tool without a name.
        None => text.push_str(tool),
    }
}

/// What is before and after the value of a tool's `name`.
fn name_in<'a>(tool: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    const FIRST: &str = "{\"name\":";
    // What our own tools write begins with the name, and there is no need to
    // parse the rest of it.
    if let Some(rest) = tool.strip_prefix(FIRST)
        && let Some(after) = rest
            .strip_prefix('"')
            .and_then(|rest| rest.strip_prefix(name))
            .and_then(|rest| rest.strip_prefix('"'))
    {
        return Some((FIRST, after));
    }
    let members: HashMap<String, &RawValue> = serde_json::from_str(tool).ok()?;
    let value = members.get("name")?.get();
    // The value is a part of the text, so it is that far from its start.
    let start = (value.as_ptr() as usize).checked_sub(tool.as_ptr() as usize)?;
    Some((tool.get(..start)?, tool.get(start + value.len()..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_is_replaced() {
        let table = [
            (r#"{"name":"a","x":1}"#, "a", r#"{"name":"s__a","x":1}"#),
            (
                r#"{"title":"name","x":{"name":"a"}, "name" : "a" ,"y":1.10}"#,
                "a",
                r#"{"title":"name","x":{"name":"a"}, "name" : "s__a" ,"y":1.10}"#,
            ),
            // Written with an escape, and the same name all the same.
            (
                r#"{"name":"\u0061","x":18446744073709551616}"#,
                "a",
                r#"{"name":"s__a","x":18446744073709551616}"#,
            ),
            (r#"{"name":"ab"}"#, "a", r#"{"name":"s__a"}"#),
        ];
        for (tool, name, expected) in table {
            let tool = RawValue::from_string(tool.to_owned()).unwrap();
            let mut text = String::new();
            renamed(&tool, name, "s__a", &mut text);
            assert_eq!(text, expected);
        }
    }
}
