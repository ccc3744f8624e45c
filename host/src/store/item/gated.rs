//! Kinds of an upstream's texts that models are told only as its user knows them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use dormouse_catalog::{What, shown};
use dormouse_config::{ChangePolicy, OnChange};
use dormouse_jsonrpc::member;
use dormouse_upstream::Offered;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::canonical::canonical;
use super::told_form::{self, ToldForm};

#[cfg(test)]
thread_local! {
    /// Number of objects that were brought into the form in which they are shown, by this thread.
    pub(in super::super) static SHOWN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Kind of a text by an upstream that models are told only as the user knows it. The content of a
/// resource is data, and not of any kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gated {
    /// MCP `Tool`.
    Tool,
    /// MCP `Prompt`.
    Prompt,
    /// MCP `ResourceTemplate`.
    Template,
    /// MCP `instructions`: a text without a name.
    Instructions,
}

impl Gated {
    pub(in super::super) const ALL: [Self; 4] =
        [Self::Tool, Self::Prompt, Self::Template, Self::Instructions];

    /// Returns what a policy says of changes of an item of this kind and name.
    pub(crate) fn mode(self, changes: &ChangePolicy, name: &str) -> OnChange {
        match self {
            Self::Tool => changes.of_tool(name),
            Self::Prompt | Self::Template | Self::Instructions => changes.on_change,
        }
    }

    /// Checks whether an upstream has told which items of this kind it has.
    pub(in super::super) fn is_told_of(self, offered: &Offered) -> bool {
        match self {
            // Without them, there is no offer.
            Self::Tool | Self::Instructions => true,
            Self::Prompt => !offered.untold.prompts,
            Self::Template => !offered.untold.templates,
        }
    }

    /// Returns an object as models are shown it, if it can be. Instructions are a text, and any can.
    pub(super) fn shown(self, name: &str, object: &RawValue) -> Option<Box<RawValue>> {
        #[cfg(test)]
        SHOWN.set(SHOWN.get() + 1);
        let what = match self {
            Self::Tool => What::Tool,
            Self::Prompt => What::Prompt,
            Self::Template => What::Template,
            Self::Instructions => return Some(object.to_owned()),
        };
        shown(what, name, object)
    }

    /// Returns an object as models are told it, in canonical form; none if it cannot be shown. It is
    /// made anew each time: [`ToldForm`] compares objects.
    pub(in super::super) fn told(self, name: &str, object: &RawValue) -> Option<String> {
        canonical(self.shown(name, object)?.get())
    }

    /// Checks whether models can be told an object at all.
    pub(in super::super) fn is_told(self, name: &str, object: &RawValue) -> bool {
        told_form::is_told(self, name, object)
    }

    /// Checks whether two objects tell a model the same. Members that MCP does not define are not
    /// shown: they may come and go, or be repaired in another way by another Dormouse.
    pub(crate) fn same(self, name: &str, one: &RawValue, other: &RawValue) -> bool {
        if one.get() == other.get() {
            return true;
        }
        let form = |object| ToldForm::of(self, name, object);
        form(one)
            .zip(form(other))
            .is_some_and(|(one, other)| one.tells_the_same(other))
    }

    /// Returns the objects of this kind that an upstream offers, and the member with their names;
    /// none for instructions, which are a text.
    fn list(self, offered: &Offered) -> Option<(&[Box<RawValue>], &'static str)> {
        Some(match self {
            Self::Tool => (&offered.tools, "name"),
            Self::Prompt => (&offered.prompts, "name"),
            Self::Template => (&offered.templates, "uriTemplate"),
            Self::Instructions => return None,
        })
    }

    /// Does the same as [`list`](Self::list), with the objects mutable.
    fn list_mut(self, offered: &mut Offered) -> Option<(&mut Vec<Box<RawValue>>, &'static str)> {
        Some(match self {
            Self::Tool => (&mut offered.tools, "name"),
            Self::Prompt => (&mut offered.prompts, "name"),
            Self::Template => (&mut offered.templates, "uriTemplate"),
            Self::Instructions => return None,
        })
    }

    /// Returns the objects that an upstream offers, by name: of several with one name, the first.
    pub(in super::super) fn of(self, offered: &Offered) -> Vec<(String, Box<RawValue>)> {
        let Some((objects, member)) = self.list(offered) else {
            let text = offered.instructions.as_ref();
            let text = text.and_then(|text| to_raw_value(text).ok());
            return text.into_iter().map(|text| (String::new(), text)).collect();
        };
        keyed(objects, member)
            .map(|(name, object)| (name, object.to_owned()))
            .collect()
    }

    /// Replaces the objects of an upstream's offer for which `other` returns one.
    pub(in super::super) fn replace(
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

    /// Replaces all objects of this kind in an upstream's offer.
    pub(in super::super) fn set(self, offered: &mut Offered, objects: Vec<Box<RawValue>>) {
        match self.list_mut(offered) {
            Some((listed, _)) => *listed = objects,
            None => {
                for object in objects {
                    self.add(offered, object);
                }
            }
        }
    }

    /// Adds an object to an upstream's offer.
    pub(in super::super) fn add(self, offered: &mut Offered, object: Box<RawValue>) {
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

/// Returns objects by the member with their names, without those that have none, and without the
/// second of one name, which no client could ask for.
pub(in super::super) fn keyed<'a>(
    objects: &'a [Box<RawValue>],
    member: &str,
) -> impl Iterator<Item = (String, &'a RawValue)> {
    let mut taken = BTreeSet::new();
    objects.iter().filter_map(move |object| {
        let key = key(object, member)?;
        taken.insert(key.clone()).then_some((key, &**object))
    })
}

/// Returns the member with an object's name.
pub(in super::super) fn key(object: &RawValue, member: &str) -> Option<String> {
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(object.get()).ok()?;
    serde_json::from_str(members.get(member)?.get()).ok()
}

/// Returns the text of the schema that an output schema wraps in an object; none if it wraps none.
/// `read` is the value of the text.
pub(super) fn bare_output_schema<'t>(schema: &'t str, read: &Value) -> Option<&'t str> {
    put_into_object(read)?;
    member(member(schema, "properties")?, "result")
}

/// Returns the schema of a result that another schema wraps in an object, if it does nothing else.
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
