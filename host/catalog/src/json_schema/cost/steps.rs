//! Steps of validating one value with a schema.

use std::collections::HashMap;

use dormouse_wit::pattern_states::pattern_states;
use serde_json::{Map, Value};

use super::parts::{ReferencedSchema, SchemaParts, resolve};
use super::value_size::{text_steps, value_nodes};
use super::{MATCHING_PER_STEP, MAX_DEPTH, META_NODES};

/// Steps of dividing a number by one that is no integer: both are made fractions of integers of up
/// to a thousand bits.
const DIVISION_STEPS: u64 = 20;

/// Number of times as many steps as for another keyword for a text with a format, such as that of a
/// URL.
const FORMAT_TIMES: u64 = 4;

/// Bytes of a text that count as one step where its content is decoded or read.
const CONTENT_PER_STEP: usize = 2;

/// Bytes of a pattern that count as one step where its states are counted.
const PATTERN_PER_STEP: usize = 4;

/// Keywords for which a validator reads what a text contains.
const FOR_CONTENT: [&str; 2] = ["contentEncoding", "contentMediaType"];

/// Keywords for which a validator looks at each member of an object.
const FOR_MEMBERS: [&str; 5] = [
    "additionalProperties",
    "patternProperties",
    "properties",
    "propertyNames",
    "unevaluatedProperties",
];

/// Most steps that validating a value takes, whether or not it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Steps {
    /// Steps of finding out whether it matches.
    pub(crate) validating: u64,
    /// Steps that are taken again to tell what is wrong: where none of several schemas matches,
    /// validators tell the problems with each, and with each that is nested in these again.
    pub(crate) repeated: u64,
}

/// Counts the steps of validating a value; none where these are more than `most`.
pub(super) fn count(schema: &Value, value: &Value, most: u64) -> Option<Steps> {
    let mut count = StepCount {
        root: schema,
        most,
        steps: 0,
        repeated: 0,
        states: HashMap::new(),
        targets: HashMap::new(),
    };
    count.schema(schema, value, 0).ok()?;
    Some(Steps {
        validating: count.steps,
        repeated: count.repeated,
    })
}

/// Follows a validator's way through a schema and a value, whether or not the value matches.
pub(super) struct StepCount<'a> {
    pub(super) root: &'a Value,
    most: u64,
    steps: u64,
    repeated: u64,
    /// States of the patterns that were met, each of which is read once. Patterns and references are
    /// told apart by their places in the schema: their texts may be long.
    states: HashMap<*const str, u64>,
    /// Targets of the references that were met, each of which is followed once.
    targets: HashMap<*const str, Option<ReferencedSchema<'a>>>,
}

/// Error of a count that has reached its limit.
pub(super) struct TooManySteps;

impl<'a> StepCount<'a> {
    pub(super) fn add(&mut self, steps: u64) -> Result<(), TooManySteps> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.most {
            return Err(TooManySteps);
        }
        Ok(())
    }

    pub(super) fn schema(
        &mut self,
        schema: &'a Value,
        value: &Value,
        depth: usize,
    ) -> Result<(), TooManySteps> {
        self.add(1)?;
        let Value::Object(members) = schema else {
            return Ok(());
        };
        if depth > MAX_DEPTH {
            return Err(TooManySteps);
        }
        let depth = depth + 1;
        let parts = SchemaParts::of(members);
        self.add(parts.own)?;
        let before = self.steps;
        for part in &parts.in_place {
            self.schema(part, value, depth)?;
        }
        if members.contains_key("anyOf") || members.contains_key("oneOf") {
            self.repeated = self.repeated.saturating_add(self.steps - before);
        }
        for reference in &parts.references {
            match self.target(reference) {
                Some(ReferencedSchema::Schema(target)) => self.schema(target, value, depth)?,
                Some(ReferencedSchema::Meta) => {
                    self.add(META_NODES.saturating_mul(value_nodes(value)))?;
                }
                None => return Err(TooManySteps),
            }
        }
        match value {
            Value::String(text) => self.text(members, text),
            Value::Array(items) => self.items(members, value, items, depth),
            Value::Object(properties) => self.properties(members, value, properties, depth),
            Value::Number(_) => self.number(members),
            _ => Ok(()),
        }
    }

    /// Returns the target of a reference, which has as many parts as its author likes.
    pub(super) fn target(&mut self, reference: &'a str) -> Option<ReferencedSchema<'a>> {
        let root = self.root;
        let found = self.targets.entry(std::ptr::from_ref(reference));
        *found.or_insert_with(|| resolve(root, reference))
    }

    fn number(&mut self, members: &Map<String, Value>) -> Result<(), TooManySteps> {
        match members.get("multipleOf") {
            Some(Value::Number(divisor)) if divisor.is_f64() => self.add(DIVISION_STEPS),
            _ => Ok(()),
        }
    }

    fn text(&mut self, members: &'a Map<String, Value>, text: &str) -> Result<(), TooManySteps> {
        self.add(text_steps(text))?;
        if members.contains_key("format") {
            self.add(FORMAT_TIMES.saturating_mul(text_steps(text)))?;
        }
        if FOR_CONTENT.iter().any(|name| members.contains_key(*name)) {
            self.add((text.len() / CONTENT_PER_STEP) as u64)?;
        }
        match members.get("pattern").and_then(Value::as_str) {
            Some(pattern) => self.matching(pattern, text),
            None => Ok(()),
        }
    }

    pub(super) fn matching(&mut self, pattern: &'a str, text: &str) -> Result<(), TooManySteps> {
        let place = std::ptr::from_ref(pattern);
        let states = match self.states.get(&place) {
            Some(states) => *states,
            None => {
                self.add((pattern.len() / PATTERN_PER_STEP) as u64)?;
                let states = pattern_states(pattern);
                self.states.insert(place, states);
                states
            }
        };
        let states = (text.len() as u64).saturating_mul(states);
        self.add(1 + states / MATCHING_PER_STEP)
    }

    fn items(
        &mut self,
        members: &'a Map<String, Value>,
        value: &Value,
        items: &[Value],
        depth: usize,
    ) -> Result<(), TooManySteps> {
        if members.get("uniqueItems") == Some(&Value::Bool(true)) {
            self.distinct(items)?;
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
        match members.contains_key("unevaluatedItems") {
            true => self.evaluated(members, value, depth),
            false => Ok(()),
        }
    }

    fn properties(
        &mut self,
        members: &'a Map<String, Value>,
        value: &Value,
        properties: &Map<String, Value>,
        depth: usize,
    ) -> Result<(), TooManySteps> {
        let looks = FOR_MEMBERS
            .iter()
            .filter(|name| members.contains_key(**name));
        let looks = looks.count() as u64;
        if looks == 0 {
            return Ok(());
        }
        self.add(looks.saturating_mul(properties.len() as u64))?;
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
        match members.contains_key("unevaluatedProperties") {
            true => self.evaluated(members, value, depth),
            false => Ok(()),
        }
    }
}
