//! Cost of validating values with a schema.
//!
//! A schema of a few lines can take a validator hours: references double with each level, or lead
//! back to themselves. So a schema is checked when it is learnt, by the number of schemas that
//! apply to one value when all references are followed, and a value before it is validated, by the
//! most steps that this takes. Both counts stop at their limits.

mod distinct;
mod evaluated;
mod steps;

use std::collections::HashMap;

use dormouse_wit::pattern_states::pattern_states;
use serde_json::{Map, Value};

use crate::schema_references::percent_decoded;
use crate::validator::has_patterns;

use steps::Steps;

/// Most schemas that may apply to one value when all references are followed, and most parts of a
/// schema in all for which their number bounds the steps of validating.
pub(crate) const MAX_SCHEMA_NODES: u64 = 250_000;

/// Most steps of validating a value: some tenths of a second, as a step of any keyword takes less
/// than a microsecond.
pub(crate) const MAX_STEPS: u64 = 1_000_000;

/// Most levels of schemas, references followed: validators recurse into each.
const MAX_DEPTH: usize = 512;

/// Nodes that a meta-schema counts as, in place of its parts.
const META_NODES: u64 = 500;

/// Bytes of text that count as one step.
const TEXT_PER_STEP: usize = 64;

/// Product of a text's bytes and a pattern's states that counts as one step.
const MATCHING_PER_STEP: u64 = 128;

/// Keywords whose value is one schema for the same value.
const IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];

/// Keywords whose value is a list of schemas for the same value.
const IN_PLACE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords whose value is schemas for the same value, by names.
const IN_PLACE_MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Keywords that refer to another schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords for parts that no other keyword has evaluated: to find these, validators evaluate the
/// others again.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// Least number of times that a validator evaluates the keywords beside such a keyword, and the
/// number of times that it compiles them. For a value, the times are [counted](evaluated).
const UNEVALUATED_LOOKS: u64 = 3;

/// Keywords that may take more steps for a value than their parts times the parts of the value, or
/// of which the parts are evaluated again to tell what is wrong.
const UNBOUNDED: [&str; 9] = [
    "anyOf",
    "contentEncoding",
    "contentMediaType",
    "format",
    "oneOf",
    "multipleOf",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// Size of a schema, with all references followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchemaCost {
    /// Number of its parts; none where these do not bound the steps: the schema leads back to
    /// itself, has patterns, each of which may take as many steps for a text as it has states, has
    /// [keywords](UNBOUNDED) that take more for one value than one step for each part, or has too
    /// many parts.
    nodes: Option<u64>,
}

/// Target of a reference.
#[derive(Clone, Copy)]
enum Target<'a> {
    Schema(&'a Value),
    /// A meta-schema.
    Meta,
}

/// Follows a reference of a schema whose references are pointers from its root
/// (`schema_references`).
fn resolve<'a>(root: &'a Value, reference: &str) -> Option<Target<'a>> {
    let Some(fragment) = reference.strip_prefix('#') else {
        return Some(Target::Meta);
    };
    if fragment.is_empty() {
        return Some(Target::Schema(root));
    }
    let found = match fragment.contains('%') {
        true => root.pointer(&percent_decoded(fragment)?),
        false => root.pointer(fragment),
    };
    found.map(Target::Schema)
}

/// Schemas within a schema, by their role.
struct Parts<'a> {
    in_place: Vec<&'a Value>,
    inner: Vec<&'a Value>,
    references: Vec<&'a str>,
    looks: u64,
    /// Number of other parts: literals, names, patterns.
    own: u64,
}

impl<'a> Parts<'a> {
    fn of(schema: &'a Map<String, Value>) -> Self {
        let mut parts = Self {
            in_place: Vec::new(),
            inner: Vec::new(),
            references: Vec::new(),
            looks: 1,
            own: 1 + schema.len() as u64,
        };
        for (name, value) in schema {
            let name = name.as_str();
            match value {
                Value::String(to) if REFERENCES.contains(&name) => parts.references.push(to),
                Value::Bool(_) if name == "$recursiveRef" => {}
                Value::Array(schemas) if IN_PLACE_LISTS.contains(&name) => {
                    parts.in_place.extend(schemas);
                }
                Value::Array(schemas) if ["items", "prefixItems"].contains(&name) => {
                    parts.inner.extend(schemas);
                }
                Value::Object(schemas) if IN_PLACE_MAPS.contains(&name) => {
                    // Names of properties may stand in place of a schema.
                    let names = schemas.values().filter(|value| value.is_array());
                    parts.own += names.map(value_nodes).sum::<u64>();
                    parts.in_place.extend(schemas.values());
                }
                Value::Object(schemas) if ["properties", "patternProperties"].contains(&name) => {
                    parts.own += schemas.len() as u64;
                    parts.inner.extend(schemas.values());
                }
                Value::Object(_) | Value::Bool(_) if IN_PLACE.contains(&name) => {
                    parts.in_place.push(value);
                }
                Value::Object(_) | Value::Bool(_) if INNER.contains(&name) => {
                    parts.inner.push(value);
                }
                Value::Array(literals) if ["enum", "required"].contains(&name) => {
                    parts.own += literals.iter().map(value_nodes).sum::<u64>();
                }
                literal if ["const", "dependentRequired"].contains(&name) => {
                    parts.own += value_nodes(literal);
                }
                _ => {}
            }
            if UNEVALUATED.contains(&name) {
                parts.looks = UNEVALUATED_LOOKS;
            }
        }
        parts
    }
}

/// Keywords whose value is one schema for parts of the value.
const INNER: [&str; 7] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Returns the number of parts of a value, with its text.
#[must_use]
pub(crate) fn value_nodes(value: &Value) -> u64 {
    match value {
        Value::String(text) => 1 + text_steps(text),
        Value::Array(items) => 1 + items.iter().map(value_nodes).sum::<u64>(),
        Value::Object(members) => members.iter().fold(1, |sum, (name, value)| {
            sum + text_steps(name) + value_nodes(value)
        }),
        _ => 1,
    }
}

/// Returns the most bytes of the path to the deepest part of a value.
#[must_use]
pub(crate) fn longest_path(value: &Value) -> usize {
    let longest = |parts: &mut dyn Iterator<Item = usize>| parts.max().unwrap_or(0);
    match value {
        Value::Array(items) => 8 + longest(&mut items.iter().map(longest_path)),
        Value::Object(members) => longest(&mut members.iter().map(|(name, value)| {
            // A `/` becomes two letters there.
            1 + 2 * name.len() + longest_path(value)
        })),
        _ => 0,
    }
}

fn text_steps(text: &str) -> u64 {
    (text.len() / TEXT_PER_STEP) as u64
}

/// Schemas that apply to one value.
#[derive(Clone, Copy)]
struct InPlace {
    nodes: u64,
    /// Number of schemas that lead into one another, at most.
    levels: usize,
}

impl InPlace {
    fn leaf(nodes: u64) -> Self {
        Self { nodes, levels: 0 }
    }
}

/// Counts the nodes of a schema, with all references followed.
struct Expansion<'a> {
    root: &'a Value,
    /// Counts of the schemas that apply to one value where each part is; none for parts that are
    /// being counted.
    in_place: HashMap<*const Value, Option<InPlace>>,
    /// Schemas for parts of the value that have not been counted yet.
    inner: Vec<&'a Value>,
    /// Number of nodes that validators evaluate several times.
    looked_at: u64,
    /// Whether a schema leads back to itself with the same value.
    leads_back: bool,
}

impl<'a> Expansion<'a> {
    /// Counts the schemas that apply to one value, whatever it is.
    fn in_place(&mut self, schema: &'a Value, depth: usize) -> Result<InPlace, String> {
        let Value::Object(members) = schema else {
            return Ok(InPlace::leaf(1));
        };
        let known = self.in_place.get(&std::ptr::from_ref(schema)).copied();
        let levels = known.flatten().map_or(0, |known| known.levels);
        if depth.saturating_add(levels) > MAX_DEPTH {
            return Err(format!(
                "leads deeper than {MAX_DEPTH} schemas into one another"
            ));
        }
        match known {
            // A validator detects that.
            Some(None) => {
                self.leads_back = true;
                return Ok(InPlace::leaf(1));
            }
            Some(Some(known)) => return Ok(known),
            None => {}
        }
        self.in_place.insert(schema, None);
        let parts = Parts::of(members);
        let mut nodes = 0_u64;
        let mut levels = 0;
        let mut add = |part: InPlace| {
            nodes = nodes.saturating_add(part.nodes);
            levels = levels.max(part.levels + 1);
        };
        for part in parts.in_place {
            add(self.in_place(part, depth + 1)?);
        }
        for reference in parts.references {
            add(match resolve(self.root, reference) {
                Some(Target::Schema(target)) => self.in_place(target, depth + 1)?,
                Some(Target::Meta) => InPlace::leaf(META_NODES),
                None => InPlace::leaf(1),
            });
        }
        nodes = nodes.saturating_mul(parts.looks).saturating_add(parts.own);
        self.inner.extend(parts.inner);
        if parts.looks > 1 {
            self.looked_at = self.looked_at.saturating_add(nodes);
        }
        if nodes.max(self.looked_at) > MAX_SCHEMA_NODES {
            return Err(format!(
                "comes to more than {MAX_SCHEMA_NODES} schemas for one value when its \
                 references are followed"
            ));
        }
        let counted = InPlace { nodes, levels };
        self.in_place.insert(schema, Some(counted));
        Ok(counted)
    }

    /// Counts the schemas of all parts.
    fn all_in_place(&mut self) -> Result<(), String> {
        self.in_place(self.root, 0)?;
        while let Some(part) = self.inner.pop() {
            self.in_place(part, 0)?;
        }
        // To find what is unevaluated, each way through such schemas is followed by itself: their
        // number is not the one that was counted, and MCP's schemas have no use for any.
        if self.leads_back && has_any(self.root, &UNEVALUATED) {
            return Err(format!(
                "leads back to itself for the same value, and has `{}` or `{}`",
                UNEVALUATED[0], UNEVALUATED[1]
            ));
        }
        Ok(())
    }
}

/// Counts the parts of a schema, repeated ones each time.
struct Total<'a> {
    root: &'a Value,
    /// Parts counted so far; none for those that are being counted.
    known: HashMap<*const Value, Option<u64>>,
}

impl<'a> Total<'a> {
    /// Returns the number of parts, if they are few and the schema does not lead back to itself.
    fn nodes(&mut self, schema: &'a Value, depth: usize) -> Option<u64> {
        let Value::Object(members) = schema else {
            return Some(1);
        };
        if depth > MAX_DEPTH {
            return None;
        }
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return *known;
        }
        self.known.insert(schema, None);
        let parts = Parts::of(members);
        let mut nodes = 0_u64;
        for part in parts.in_place {
            nodes = nodes.saturating_add(self.nodes(part, depth + 1)?);
        }
        for reference in parts.references {
            let target = match resolve(self.root, reference)? {
                Target::Schema(target) => self.nodes(target, depth + 1)?,
                Target::Meta => META_NODES,
            };
            nodes = nodes.saturating_add(target);
        }
        nodes = nodes.saturating_mul(parts.looks).saturating_add(parts.own);
        for part in parts.inner {
            nodes = nodes.saturating_add(self.nodes(part, depth + 1)?);
        }
        if nodes > MAX_SCHEMA_NODES {
            return None;
        }
        self.known.insert(schema, Some(nodes));
        Some(nodes)
    }
}

impl SchemaCost {
    /// Counts a schema whose references are pointers from its root.
    ///
    /// # Errors
    /// The schema costs too much for any value, with the reason, as a predicate of the schema.
    pub(crate) fn of(schema: &Value) -> Result<Self, String> {
        let mut expansion = Expansion {
            root: schema,
            in_place: HashMap::new(),
            inner: Vec::new(),
            looked_at: 0,
            leads_back: false,
        };
        expansion.all_in_place()?;
        let mut total = Total {
            root: schema,
            known: HashMap::new(),
        };
        let nodes = total.nodes(schema, 0);
        Ok(Self {
            nodes: nodes.filter(|_| !has_patterns(schema) && !has_any(schema, &UNBOUNDED)),
        })
    }

    /// Returns the most steps of validating a value; none where that is more than [`MAX_STEPS`].
    #[must_use]
    pub(crate) fn steps(&self, schema: &Value, value: &Value) -> Option<Steps> {
        self.steps_within(schema, value, MAX_STEPS)
    }

    /// Returns the most steps of validating a value; none where that is more than `most`. Takes no
    /// more than about as many itself, beside one look at each part of the value.
    #[must_use]
    pub(crate) fn steps_within(&self, schema: &Value, value: &Value, most: u64) -> Option<Steps> {
        let bound = self
            .nodes
            .map(|nodes| nodes.saturating_mul(value_nodes(value)));
        if let Some(validating) = bound.filter(|bound| *bound <= most / 8) {
            return Some(Steps {
                validating,
                repeated: 0,
            });
        }
        steps::count(schema, value, most)
    }
}

/// Checks whether a schema may have any of these keywords anywhere.
fn has_any(schema: &Value, keywords: &[&str]) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(|item| has_any(item, keywords)),
        Value::Object(members) => members
            .iter()
            .any(|(name, value)| keywords.contains(&name.as_str()) || has_any(value, keywords)),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
