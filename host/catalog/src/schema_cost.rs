//! How much validating against a schema may take.
//!
//! A schema of a few lines can take a validator hours: references double with each level,
//! or lead back to where they are. So a schema is judged where it is learnt, by what is held
//! against one value when all references are followed, and a value before it is validated,
//! by the steps that this takes at most. Both counts end at their limits.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::schema_references::percent_decoded;
use crate::validator::has_patterns;

/// How many schemas may be held against one value when all references are followed, and how
/// many parts a schema may have in all for them to bound what validating takes.
pub(crate) const MAX_SCHEMA_NODES: u64 = 250_000;

/// How many steps validating a value may take: some tenths of a second.
pub(crate) const MAX_STEPS: u64 = 1_000_000;

/// How deep schemas may lead, references followed: validators go there by recursion.
const MAX_DEPTH: usize = 512;

/// Nodes that a schema of schemas counts for, in place of its parts.
const META_NODES: u64 = 500;

/// How many letters of text count as one step.
const TEXT_PER_STEP: usize = 64;

/// How many letters, each times a pattern's states, count as one step.
const MATCHING_PER_STEP: u64 = 128;

/// Keywords whose value is one schema for the same value.
const IN_PLACE: [&str; 4] = ["not", "if", "then", "else"];

/// Keywords whose value is a list of schemas for the same value.
const IN_PLACE_LISTS: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords whose value is schemas for the same value, by names.
const IN_PLACE_MAPS: [&str; 2] = ["dependentSchemas", "dependencies"];

/// Keywords that refer to another schema.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Keywords for what no other keyword has looked at: to find out what that is, validators
/// look again.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// How often a validator looks at what stands beside such a keyword.
const UNEVALUATED_LOOKS: u64 = 3;

/// Size of a schema, all references followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SchemaCost {
    /// Its parts; nothing where they do not bound the steps: it leads back to itself, it has
    /// patterns, each of which may take as many steps for a text as it has states, or they are too
    /// many.
    nodes: Option<u64>,
}

/// Where a reference leads.
enum Target<'a> {
    Schema(&'a Value),
    /// A schema of schemas.
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

/// The schemas that stand in a schema, by what they are for.
struct Parts<'a> {
    in_place: Vec<&'a Value>,
    inner: Vec<&'a Value>,
    references: Vec<&'a str>,
    looks: u64,
    /// Everything else: literals, names, patterns.
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

/// How many parts a value has, with its text.
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

/// How long the path to the deepest part of a value may be, in bytes.
#[must_use]
pub(crate) fn longest_path(value: &Value) -> usize {
    let longest = |parts: &mut dyn Iterator<Item = usize>| parts.max().unwrap_or(0);
    match value {
        Value::Array(items) => 8 + longest(&mut items.iter().map(longest_path)),
        Value::Object(members) => longest(&mut members.iter().map(|(name, value)| {
            // A `/` takes two letters there.
            1 + 2 * name.len() + longest_path(value)
        })),
        _ => 0,
    }
}

fn text_steps(text: &str) -> u64 {
    (text.len() / TEXT_PER_STEP) as u64
}

/// Counts what a schema is, all references followed.
struct Expansion<'a> {
    root: &'a Value,
    /// Schemas that are held against one value where each part is: nothing yet for those that are
    /// being counted.
    in_place: HashMap<*const Value, Option<u64>>,
    /// Parts that are for parts of the value, and were not counted yet.
    inner: Vec<&'a Value>,
    /// Nodes that validators look at again and again.
    looked_at: u64,
}

impl<'a> Expansion<'a> {
    /// Counts the schemas that are held against one value, whatever that is.
    fn in_place(&mut self, schema: &'a Value, depth: usize) -> Result<u64, String> {
        let Value::Object(members) = schema else {
            return Ok(1);
        };
        if depth > MAX_DEPTH {
            return Err(format!(
                "leads deeper than {MAX_DEPTH} schemas into one another"
            ));
        }
        match self.in_place.get(&std::ptr::from_ref(schema)) {
            // It leads back to where it is, without any value: a validator sees that.
            Some(None) => return Ok(1),
            Some(Some(nodes)) => return Ok(*nodes),
            None => {}
        }
        self.in_place.insert(schema, None);
        let parts = Parts::of(members);
        let mut nodes = 0_u64;
        for part in parts.in_place {
            nodes = nodes.saturating_add(self.in_place(part, depth + 1)?);
        }
        for reference in parts.references {
            let target = match resolve(self.root, reference) {
                Some(Target::Schema(target)) => self.in_place(target, depth + 1)?,
                Some(Target::Meta) => META_NODES,
                None => 1,
            };
            nodes = nodes.saturating_add(target);
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
        self.in_place.insert(schema, Some(nodes));
        Ok(nodes)
    }

    /// Counts those of all parts.
    fn all_in_place(&mut self) -> Result<(), String> {
        self.in_place(self.root, 0)?;
        while let Some(part) = self.inner.pop() {
            self.in_place(part, 0)?;
        }
        Ok(())
    }
}

/// Counts the parts of a schema, those that are there twice twice.
struct Total<'a> {
    root: &'a Value,
    /// Nothing yet for those that are being counted.
    known: HashMap<*const Value, Option<u64>>,
}

impl<'a> Total<'a> {
    /// The parts, if they are few and it does not lead back to itself.
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
    /// It comes to too much for any value: why, to follow on what is called the schema.
    pub(crate) fn of(schema: &Value) -> Result<Self, String> {
        let mut expansion = Expansion {
            root: schema,
            in_place: HashMap::new(),
            inner: Vec::new(),
            looked_at: 0,
        };
        expansion.all_in_place()?;
        let mut total = Total {
            root: schema,
            known: HashMap::new(),
        };
        let nodes = total.nodes(schema, 0);
        Ok(Self {
            nodes: nodes.filter(|_| !has_patterns(schema)),
        })
    }

    /// How many steps validating a value takes at most; nothing where that is more than
    /// [`MAX_STEPS`].
    #[must_use]
    pub(crate) fn steps(&self, schema: &Value, value: &Value) -> Option<u64> {
        let bound = self
            .nodes
            .map(|nodes| nodes.saturating_mul(value_nodes(value)));
        if bound.is_some_and(|bound| bound <= MAX_STEPS / 8) {
            return bound;
        }
        let mut count = StepCount {
            root: schema,
            steps: 0,
        };
        count.schema(schema, value, 0).ok()?;
        Some(count.steps)
    }
}

/// Goes the way that a validator goes through a schema and a value, whatever fits.
struct StepCount<'a> {
    root: &'a Value,
    steps: u64,
}

/// A count has come to its end.
struct TooMany;

impl<'a> StepCount<'a> {
    fn add(&mut self, steps: u64) -> Result<(), TooMany> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS {
            return Err(TooMany);
        }
        Ok(())
    }

    fn schema(&mut self, schema: &'a Value, value: &Value, depth: usize) -> Result<(), TooMany> {
        self.add(1)?;
        let Value::Object(members) = schema else {
            return Ok(());
        };
        if depth > MAX_DEPTH {
            return Err(TooMany);
        }
        let depth = depth + 1;
        let parts = Parts::of(members);
        self.add(parts.own)?;
        for _ in 0..parts.looks {
            for part in &parts.in_place {
                self.schema(part, value, depth)?;
            }
            for reference in &parts.references {
                match resolve(self.root, reference) {
                    Some(Target::Schema(target)) => self.schema(target, value, depth)?,
                    Some(Target::Meta) => {
                        self.add(META_NODES.saturating_mul(value_nodes(value)))?;
                    }
                    None => return Err(TooMany),
                }
            }
        }
        match value {
            Value::String(text) => self.text(members, text),
            Value::Array(items) => self.items(members, items, depth),
            Value::Object(properties) => self.properties(members, properties, depth),
            _ => Ok(()),
        }
    }

    fn text(&mut self, members: &Map<String, Value>, text: &str) -> Result<(), TooMany> {
        self.add(text_steps(text))?;
        match members.get("pattern").and_then(Value::as_str) {
            Some(pattern) => self.matching(pattern, text),
            None => Ok(()),
        }
    }

    fn matching(&mut self, pattern: &str, text: &str) -> Result<(), TooMany> {
        let states = (text.len() as u64).saturating_mul(pattern_states(pattern));
        self.add(1 + states / MATCHING_PER_STEP)
    }

    fn items(
        &mut self,
        members: &'a Map<String, Value>,
        items: &[Value],
        depth: usize,
    ) -> Result<(), TooMany> {
        if members.contains_key("uniqueItems") {
            self.add(items.iter().map(value_nodes).sum())?;
        }
        let first = ["prefixItems", "items"];
        let first = first.iter().find_map(|name| members.get(*name)?.as_array());
        let first = first.map_or(&[][..], Vec::as_slice);
        for (schema, item) in first.iter().zip(items) {
            self.schema(schema, item, depth)?;
        }
        for name in ["items", "additionalItems", "contains", "unevaluatedItems"] {
            let schema = members.get(name).filter(|schema| !schema.is_array());
            for item in items.iter().filter(|_| schema.is_some()) {
                self.schema(schema.unwrap_or(&Value::Null), item, depth)?;
            }
        }
        Ok(())
    }

    fn properties(
        &mut self,
        members: &'a Map<String, Value>,
        properties: &Map<String, Value>,
        depth: usize,
    ) -> Result<(), TooMany> {
        let declared = members.get("properties").and_then(Value::as_object);
        let patterns = members.get("patternProperties").and_then(Value::as_object);
        for (name, value) in properties {
            self.add(text_steps(name))?;
            let schema = declared.and_then(|declared| declared.get(name));
            if let Some(schema) = schema {
                self.schema(schema, value, depth)?;
            }
            for (pattern, schema) in patterns.into_iter().flatten() {
                self.matching(pattern, name)?;
                self.schema(schema, value, depth)?;
            }
            let others = ["additionalProperties", "unevaluatedProperties"];
            for schema in others.iter().filter_map(|name| members.get(*name)) {
                if declared.is_none_or(|declared| !declared.contains_key(name)) {
                    self.schema(schema, value, depth)?;
                }
            }
            if let Some(schema) = members.get("propertyNames") {
                self.schema(schema, &Value::String(name.clone()), depth)?;
            }
        }
        Ok(())
    }
}

/// About how many states a pattern has, at least as many as letters: repetitions multiply
/// what they repeat.
pub(crate) fn pattern_states(pattern: &str) -> u64 {
    let mut states = pattern.len() as u64;
    for repeated in pattern.split('{').skip(1) {
        let counts = repeated.split('}').next().unwrap_or_default();
        let most = counts
            .split(',')
            .filter_map(|count| count.trim().parse::<u64>().ok())
            .max();
        states = states.saturating_mul(most.unwrap_or(1).max(1));
    }
    match pattern.contains("\\p") || pattern.contains("\\P") {
        true => states.saturating_mul(16),
        false => states,
    }
}

#[cfg(test)]
mod tests;
