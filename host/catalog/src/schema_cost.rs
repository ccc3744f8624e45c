//! How much validating against a schema may take.
//!
//! A schema of a few lines can take a validator hours: references double with each level,
//! or lead back to where they are. So a schema is judged where it is learnt, by what it is
//! when all references are followed, and a value before it is validated, by the steps that
//! this takes at most. Both counts end at their limits.

use std::collections::HashMap;

use jsonschema::Draft;
use serde_json::{Map, Value};

/// How many parts a schema may have when all references are followed.
pub(crate) const MAX_SCHEMA_NODES: u64 = 250_000;

/// How many steps validating a value may take: some tenths of a second.
pub(crate) const MAX_STEPS: u64 = 1_000_000;

/// How deep schemas may lead, references followed: validators go there by recursion.
const MAX_DEPTH: usize = 512;

/// What a schema of schemas counts for, in place of its parts.
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

/// Why a schema is not what values are held against here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaCostError {
    /// Validating against it could take for ever.
    #[error("it {0}")]
    TooCostly(String),
    /// Nobody knows, because it refers to what is not in it.
    #[error("{0}")]
    Unresolved(String),
}

/// What a schema is, all references followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaCost {
    /// Its parts.
    nodes: u64,
    /// Whether it leads back to itself, so that its parts do not bound the steps.
    is_recursive: bool,
}

/// A schema, with what its references are resolved by.
struct Resolver<'a> {
    root: &'a Value,
    id: Option<&'a str>,
    anchors: HashMap<&'a str, &'a Value>,
    /// Whether a part of it is a resource of its own, with references relative to that.
    has_inner_resources: bool,
    is_draft4: bool,
}

/// Where a reference leads.
enum Target<'a> {
    Schema(&'a Value),
    /// A schema of schemas.
    Meta,
}

impl<'a> Resolver<'a> {
    fn new(root: &'a Value) -> Result<Self, String> {
        let is_draft4 = Draft::default().detect(root) == Draft::Draft4;
        let mut resolver = Self {
            root,
            id: None,
            anchors: HashMap::new(),
            has_inner_resources: false,
            is_draft4,
        };
        resolver.id = root.as_object().and_then(|root| resolver.id_of(root));
        resolver.read_names(root)?;
        Ok(resolver)
    }

    fn id_of(&self, schema: &'a Map<String, Value>) -> Option<&'a str> {
        let name = if self.is_draft4 { "id" } else { "$id" };
        schema.get(name)?.as_str()
    }

    /// Reads the names that parts of the schema give themselves.
    fn read_names(&mut self, part: &'a Value) -> Result<(), String> {
        match part {
            Value::Array(items) => items.iter().try_for_each(|item| self.read_names(item)),
            Value::Object(members) => {
                let anchors = ["$anchor", "$dynamicAnchor"].map(|name| members.get(name));
                let anchors = anchors.into_iter().flatten().filter_map(Value::as_str);
                let id = self.id_of(members);
                let name = id.and_then(|id| id.strip_prefix('#'));
                for anchor in anchors.chain(name.filter(|name| !name.is_empty())) {
                    let other = self.anchors.insert(anchor, part);
                    if other.is_some_and(|other| !std::ptr::eq(other, part)) {
                        return Err(format!("two parts of it are called `{}`", shown(anchor)));
                    }
                }
                self.has_inner_resources |=
                    id.is_some() && name.is_none() && !std::ptr::eq(part, self.root);
                let data = ["const", "default", "enum", "example", "examples"];
                let parts = members
                    .iter()
                    .filter(|(name, _)| !data.contains(&name.as_str()));
                parts
                    .map(|(_, part)| part)
                    .try_for_each(|part| self.read_names(part))
            }
            _ => Ok(()),
        }
    }

    fn resolve(&self, reference: &str) -> Result<Target<'a>, String> {
        let nowhere = || format!("`{}` leads nowhere in it", shown(reference));
        // It is followed anew for each value that is held against it.
        if reference.len() > MAX_REFERENCE_BYTES {
            let shown = shown(reference);
            return Err(format!(
                "its reference `{shown}…` has more than {MAX_REFERENCE_BYTES} bytes"
            ));
        }
        if self.has_inner_resources {
            return Err("it has both references and parts with an `$id` of their own".into());
        }
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let own = self.id.map(|id| id.trim_end_matches('#'));
        if !document.is_empty() && Some(document) != own {
            let draft = Draft::default().detect(&serde_json::json!({ "$schema": document }));
            return match draft {
                Draft::Unknown => Err(nowhere()),
                _ => Ok(Target::Meta),
            };
        }
        if fragment.is_empty() {
            return Ok(Target::Schema(self.root));
        }
        let decoded = percent_decoded(fragment).ok_or_else(nowhere)?;
        let found = match decoded.starts_with('/') {
            true => self.root.pointer(&decoded),
            false => self.anchors.get(decoded.as_str()).copied(),
        };
        found.map(Target::Schema).ok_or_else(nowhere)
    }
}

/// The longest reference that is followed, in bytes.
const MAX_REFERENCE_BYTES: usize = 1024;

/// A reference for a message: short.
fn shown(text: &str) -> String {
    text.chars().take(80).collect()
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            let digits = std::str::from_utf8(digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = after;
        } else {
            bytes.push(*byte);
        }
    }
    String::from_utf8(bytes).ok()
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
                literal if name == "const" => parts.own += value_nodes(literal),
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

fn text_steps(text: &str) -> u64 {
    (text.len() / TEXT_PER_STEP) as u64
}

/// Counts what a schema is, all references followed.
struct Expansion<'a> {
    resolver: Resolver<'a>,
    /// What each part comes to; nothing yet for those that are being counted.
    known: HashMap<*const Value, Option<u64>>,
    is_recursive: bool,
}

impl<'a> Expansion<'a> {
    fn nodes(&mut self, schema: &'a Value, depth: usize) -> Result<u64, SchemaCostError> {
        let Value::Object(members) = schema else {
            return Ok(1);
        };
        if depth > MAX_DEPTH {
            let why = format!("leads deeper than {MAX_DEPTH} schemas into one another");
            return Err(SchemaCostError::TooCostly(why));
        }
        match self.known.insert(schema, None) {
            // It leads back to where it is: how far that goes is up to the value.
            Some(None) => {
                self.is_recursive = true;
                return Ok(1);
            }
            Some(Some(nodes)) => {
                self.known.insert(schema, Some(nodes));
                return Ok(nodes);
            }
            None => {}
        }
        let parts = Parts::of(members);
        let mut nodes = 0_u64;
        for part in parts.in_place {
            nodes = nodes.saturating_add(self.nodes(part, depth + 1)?);
        }
        for reference in parts.references {
            let target = self.resolver.resolve(reference);
            let target = match target.map_err(SchemaCostError::Unresolved)? {
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
            let why = format!(
                "comes to more than {MAX_SCHEMA_NODES} schemas when its references are followed"
            );
            return Err(SchemaCostError::TooCostly(why));
        }
        self.known.insert(schema, Some(nodes));
        Ok(nodes)
    }
}

impl SchemaCost {
    /// What a schema comes to.
    ///
    /// # Errors
    /// It comes to too much, or refers to what is not in it.
    pub fn of(schema: &Value) -> Result<Self, SchemaCostError> {
        let resolver = Resolver::new(schema).map_err(SchemaCostError::Unresolved)?;
        let mut expansion = Expansion {
            resolver,
            known: HashMap::new(),
            is_recursive: false,
        };
        let nodes = expansion.nodes(schema, 0)?;
        Ok(Self {
            nodes,
            is_recursive: expansion.is_recursive,
        })
    }

    /// How many steps validating a value takes at most; nothing where that is more than
    /// [`MAX_STEPS`].
    #[must_use]
    pub fn steps(&self, schema: &Value, value: &Value) -> Option<u64> {
        let bound = self.nodes.saturating_mul(value_nodes(value));
        if !self.is_recursive && bound <= MAX_STEPS / 8 {
            return Some(bound);
        }
        let mut count = StepCount {
            resolver: Resolver::new(schema).ok()?,
            steps: 0,
        };
        count.schema(schema, value, 0).ok()?;
        Some(count.steps)
    }
}

/// Goes the way that a validator goes through a schema and a value, whatever fits.
struct StepCount<'a> {
    resolver: Resolver<'a>,
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
                match self.resolver.resolve(reference) {
                    Ok(Target::Schema(target)) => self.schema(target, value, depth)?,
                    Ok(Target::Meta) => self.add(META_NODES.saturating_mul(value_nodes(value)))?,
                    Err(_) => return Err(TooMany),
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
