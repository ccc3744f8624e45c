//! Kinds of what an upstream says of itself that models are told only as its user knows it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use dormouse_catalog::{What, shown};
use dormouse_jsonrpc::{MessageLimits, Object, member};
use dormouse_upstream::Offered;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::canonical::canonical;

/// Kind of what an upstream says of itself to a model, and a model is told only as the user knows
/// it. What is in a resource is data, and passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gated {
    /// MCP `Tool`.
    Tool,
    /// MCP `Prompt`.
    Prompt,
    /// MCP `ResourceTemplate`.
    Template,
    /// MCP `instructions`: a text, of no name.
    Instructions,
}

impl Gated {
    pub(super) const ALL: [Self; 4] =
        [Self::Tool, Self::Prompt, Self::Template, Self::Instructions];

    /// An object as a model is told it, in canonical form; none where nobody is shown it.
    pub(super) fn told(self, name: &str, object: &RawValue) -> Option<String> {
        let what = match self {
            Self::Tool => What::Tool,
            Self::Prompt => What::Prompt,
            Self::Template => What::Template,
            Self::Instructions => return canonical(object.get()),
        };
        canonical(shown(what, name, object)?.get())
    }

    /// Whether two objects tell a model the same. What MCP has no room for is not shown:
    /// it may come and go, or be mended in another way by another Dormouse.
    pub(crate) fn same(self, name: &str, one: &RawValue, other: &RawValue) -> bool {
        if one.get() == other.get() {
            return true;
        }
        let (Some(one), Some(other)) = (self.told(name, one), self.told(name, other)) else {
            return false;
        };
        let in_newest_era =
            |one: &str, other: &str| match (in_newest_era(one), in_newest_era(other)) {
                // As texts: numbers of values have fewer digits than those that models are told.
                (Some(one), Some(other)) => one == other,
                _ => false,
            };
        one == other || self == Self::Tool && in_newest_era(&one, &other)
    }

    /// The objects of this kind that an upstream offers, and the member that they are called by;
    /// none of instructions, which are a text.
    fn list(self, offered: &Offered) -> Option<(&[Box<RawValue>], &'static str)> {
        Some(match self {
            Self::Tool => (&offered.tools, "name"),
            Self::Prompt => (&offered.prompts, "name"),
            Self::Template => (&offered.templates, "uriTemplate"),
            Self::Instructions => return None,
        })
    }

    /// The same, to be changed.
    fn list_mut(self, offered: &mut Offered) -> Option<(&mut Vec<Box<RawValue>>, &'static str)> {
        Some(match self {
            Self::Tool => (&mut offered.tools, "name"),
            Self::Prompt => (&mut offered.prompts, "name"),
            Self::Template => (&mut offered.templates, "uriTemplate"),
            Self::Instructions => return None,
        })
    }

    /// Objects that an upstream offers, by name: of several with one name, the first.
    pub(super) fn of(self, offered: &Offered) -> Vec<(String, Box<RawValue>)> {
        let Some((objects, member)) = self.list(offered) else {
            let text = offered.instructions.as_ref();
            let text = text.and_then(|text| to_raw_value(text).ok());
            return text.into_iter().map(|text| (String::new(), text)).collect();
        };
        keyed(objects, member)
            .map(|(name, object)| (name, object.to_owned()))
            .collect()
    }

    /// Puts other objects in place of those that an upstream offers, where there is another one
    /// for the name and the object.
    pub(super) fn replace(
        self,
        offered: &mut Offered,
        mut other: impl FnMut(&str, &RawValue) -> Option<Box<RawValue>>,
    ) {
        let Some((objects, member)) = self.list_mut(offered) else {
            for (name, text) in self.of(offered) {
                if let Some(text) = other(&name, &text) {
                    self.add(offered, text);
                }
            }
            return;
        };
        for object in objects {
            let name = key(object, member);
            if let Some(other) = name.and_then(|name| other(&name, object)) {
                *object = other;
            }
        }
    }

    /// Puts objects in place of all of this kind that an upstream offers.
    pub(super) fn set(self, offered: &mut Offered, objects: Vec<Box<RawValue>>) {
        match self.list_mut(offered) {
            Some((listed, _)) => *listed = objects,
            None => {
                for object in objects {
                    self.add(offered, object);
                }
            }
        }
    }

    /// Adds an object to those that an upstream offers.
    pub(super) fn add(self, offered: &mut Offered, object: Box<RawValue>) {
        match self.list_mut(offered) {
            Some((objects, _)) => objects.push(object),
            None => {
                let text = serde_json::from_str(object.get()).ok();
                offered.instructions = text.or(offered.instructions.take());
            }
        }
    }
}

impl fmt::Display for Gated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Template => "resource template",
            Self::Instructions => "instructions",
        })
    }
}

/// Objects by the member that they are called by; those without it are left out, as
/// is the second of one name, because nobody could ask for it.
pub(super) fn keyed<'a>(
    objects: &'a [Box<RawValue>],
    member: &str,
) -> impl Iterator<Item = (String, &'a RawValue)> {
    let mut taken = BTreeSet::new();
    objects.iter().filter_map(move |object| {
        let key = key(object, member)?;
        taken.insert(key.clone()).then_some((key, &**object))
    })
}

/// The member that an object is called by.
pub(super) fn key(object: &RawValue, member: &str) -> Option<String> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(object.get()).ok()?;
    serde_json::from_str(members.get(member)?.get()).ok()
}

/// A tool as a client of the newest era is told it. Before that a result has to be an object, so
/// that some SDKs put any other into one, `{"result": …}`, and say so in the output schema. It is
/// no change that anybody has to see which era a server was spoken to in.
/// Gives its text without the output schema, and that.
fn in_newest_era(tool: &str) -> Option<(String, String)> {
    let mut tool = Object::parse(tool, MessageLimits::default().members).ok()?;
    let schema = tool.get("outputSchema")?.to_owned();
    let read: Value = serde_json::from_str(&schema).ok()?;
    let bare = bare_output_schema(&schema, &read).map(str::to_owned);
    tool.remove("outputSchema");
    Some((tool.into_text().into_owned(), bare.unwrap_or(schema)))
}

/// The schema that an output schema puts into an object, as its text has it; none where it puts
/// none there. `read` is what the text says.
pub(super) fn bare_output_schema<'t>(schema: &'t str, read: &Value) -> Option<&'t str> {
    put_into_object(read)?;
    member(member(schema, "properties")?, "result")
}

/// The schema of a result that another schema, which says nothing else, puts into an object.
fn put_into_object(schema: &Value) -> Option<Value> {
    let members = schema.as_object()?;
    let properties = members.get("properties")?.as_object()?;
    let inner = properties.get("result").filter(|_| properties.len() == 1)?;
    let is_object = members.get("type")? == "object";
    let needs = *members.get("required")? == serde_json::json!(["result"]);
    let says_nothing_else = members.iter().all(|(name, value)| match name.as_str() {
        "type" | "properties" | "required" => true,
        "$schema" => inner.get("$schema") == Some(value),
        _ => false,
    });
    (is_object && needs && says_nothing_else && inner.is_object()).then(|| inner.clone())
}
