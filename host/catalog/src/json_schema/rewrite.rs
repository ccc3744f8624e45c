//! Rewriting of a schema so that it can be compiled, and so that validating with it is bounded:
//! references become pointers from its root, and unbounded keywords are left out.
//!
//! Leaving keywords out makes a schema weaker, never stronger: every value that matches the
//! original schema matches the rewritten one.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::references::{KeywordValue, ReferenceTarget, References, fragment};

/// Keywords whose schemas only apply where a reference leads to them: if one of these becomes
/// weaker, the schema around it does not.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// A schema that is being rewritten.
pub(crate) struct Rewrite<'a> {
    pub(crate) references: &'a References<'a>,
    /// Patterns that are left out.
    pub(crate) unmatched_patterns: &'a HashSet<String>,
    /// Whether anything is left out, anywhere.
    pub(crate) leaves_out: bool,
}

/// Outcome of rewriting a part.
struct RewrittenPart {
    value: Value,
    /// Whether more values match it than before.
    is_weaker: bool,
}

impl<'a> Rewrite<'a> {
    /// Returns the schema with all references as pointers, and without unbounded keywords.
    pub(crate) fn rewritten(&self, schema: &'a Value) -> Value {
        self.part(schema).value
    }

    fn part(&self, schema: &'a Value) -> RewrittenPart {
        match schema {
            Value::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| self.part(item)).collect();
                let is_weaker = items.iter().any(|item| item.is_weaker);
                let items = items.into_iter().map(|item| item.value);
                RewrittenPart {
                    value: items.collect(),
                    is_weaker,
                }
            }
            Value::Object(members) if self.references.is_part(members) => self.schema(members),
            Value::Object(members) => RewrittenPart {
                value: self.each(members).0,
                is_weaker: false,
            },
            value => RewrittenPart {
                value: value.clone(),
                is_weaker: false,
            },
        }
    }

    /// Rewrites each value of an object, and returns whether any became weaker.
    fn each(&self, members: &'a Map<String, Value>) -> (Value, bool) {
        let mut is_weaker = false;
        let members = members.iter().map(|(name, value)| {
            let part = self.part(value);
            is_weaker |= part.is_weaker;
            (name.clone(), part.value)
        });
        let members: Map<_, _> = members.collect();
        (Value::Object(members), is_weaker)
    }

    fn schema(&self, schema: &'a Map<String, Value>) -> RewrittenPart {
        let mut members = Map::with_capacity(schema.len());
        let mut weaker = HashSet::new();
        // Schemas that apply to the same value.
        let mut beside = Vec::new();
        for (keyword, value) in schema {
            if self.references.is_name(keyword) && !value.is_object() {
                continue;
            }
            if let Some(target) = self.references.target(schema, keyword) {
                match self.reference(value, target) {
                    Some(reference) if keyword == "$ref" => {
                        members.insert(keyword.clone(), reference);
                    }
                    Some(reference) => {
                        beside.push(Value::Object(Map::from_iter([("$ref".into(), reference)])));
                    }
                    None => {}
                }
                // The target may be weaker now.
                if self.leaves_out {
                    weaker.insert("$ref");
                }
                continue;
            }
            if keyword == "pattern" && self.is_unmatched(value) {
                weaker.insert("pattern");
                continue;
            }
            let (value, is_weaker) = match (KeywordValue::of(keyword), value) {
                (KeywordValue::SchemasByName, Value::Object(by_name)) => {
                    let (mut by_name, is_weaker) = self.each(by_name);
                    let left_out = keyword == "patternProperties" && self.without(&mut by_name);
                    (by_name, is_weaker || left_out)
                }
                _ => {
                    let part = self.part(value);
                    (part.value, part.is_weaker)
                }
            };
            if is_weaker && !DEFINITIONS.contains(&keyword.as_str()) {
                weaker.insert(keyword.as_str());
            }
            members.insert(keyword.clone(), value);
        }
        let is_weaker = !weaker.is_empty();
        if is_weaker {
            weaken(&mut members, &weaker, &mut beside);
        }
        if !beside.is_empty() {
            match members.get_mut("allOf").and_then(Value::as_array_mut) {
                Some(all) => all.append(&mut beside),
                None => drop(members.insert("allOf".into(), beside.into())),
            }
        }
        RewrittenPart {
            value: Value::Object(members),
            is_weaker,
        }
    }

    /// Returns the new value of a reference; none where its target is unknown.
    fn reference(&self, reference: &Value, target: &ReferenceTarget) -> Option<Value> {
        match target {
            ReferenceTarget::Pointer(pointer) => Some(fragment(pointer).into()),
            ReferenceTarget::MetaSchema => Some(reference.clone()),
            ReferenceTarget::Unknown => None,
        }
    }

    fn is_unmatched(&self, pattern: &Value) -> bool {
        let pattern = pattern.as_str();
        pattern.is_some_and(|pattern| self.unmatched_patterns.contains(pattern))
    }

    /// Removes `patternProperties` whose patterns are left out. Returns whether there were any.
    fn without(&self, by_pattern: &mut Value) -> bool {
        let Some(by_pattern) = by_pattern.as_object_mut() else {
            return false;
        };
        let before = by_pattern.len();
        by_pattern.retain(|pattern, _| !self.unmatched_patterns.contains(pattern));
        by_pattern.len() < before
    }
}

/// Removes or replaces keywords of a schema that would become stronger because others have become
/// weaker.
fn weaken(members: &mut Map<String, Value>, weaker: &HashSet<&str>, beside: &mut Vec<Value>) {
    if weaker.contains("not") {
        members.remove("not");
    }
    if weaker.contains("if") {
        for keyword in ["if", "then", "else"] {
            members.remove(keyword);
        }
    }
    if weaker.contains("contains") {
        members.remove("maxContains");
    }
    if weaker.contains("patternProperties") {
        members.remove("additionalProperties");
    }
    // Several schemas may match now where one did.
    if weaker.contains("oneOf")
        && let Some(schemas) = members.remove("oneOf")
    {
        beside.push(Value::Object(Map::from_iter([("anyOf".into(), schemas)])));
    }
    // The evaluated parts are not known any more.
    for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
        members.remove(keyword);
    }
}

#[cfg(test)]
mod tests;
