//! Steps of finding out what of a value the keywords beside `unevaluatedProperties` and
//! `unevaluatedItems` have evaluated.
//!
//! A validator follows the schemas for the same value once more for that. It validates the value
//! with each, also with those that are nested in one that it has just validated the value with, and
//! then looks at each member or item of the value for each schema, whether or not the schema has
//! anything to say about it.

use serde_json::{Map, Value};

use super::parts::{IN_PLACE_LISTS, REFERENCES, ReferencedSchema};
use super::steps::{StepCount, TooManySteps};
use super::value_size::value_nodes;
use super::{MAX_DEPTH, META_NODES};

/// Keywords whose value is one schema for the same value, which is followed without validating the
/// value again.
const FOLLOWED: [&str; 2] = ["then", "else"];

impl<'a> StepCount<'a> {
    /// Counts the steps for the keywords of a schema beside `unevaluatedProperties` or
    /// `unevaluatedItems`, and of the schemas that apply to the same value.
    pub(super) fn evaluated(
        &mut self,
        members: &'a Map<String, Value>,
        value: &Value,
        depth: usize,
    ) -> Result<(), TooManySteps> {
        if depth > MAX_DEPTH {
            return Err(TooManySteps);
        }
        let depth = depth + 1;
        self.add(1)?;
        match value {
            Value::Object(properties) => self.evaluated_properties(members, properties, depth)?,
            Value::Array(items) => self.evaluated_items(members, items, depth)?,
            _ => return Ok(()),
        }
        for reference in REFERENCES {
            let Some(reference) = members.get(reference).and_then(Value::as_str) else {
                continue;
            };
            match self.target(reference) {
                Some(ReferencedSchema::Schema(target)) => self.followed(target, value, depth)?,
                Some(ReferencedSchema::Meta) => {
                    self.add(META_NODES.saturating_mul(value_nodes(value)))?;
                }
                None => return Err(TooManySteps),
            }
        }
        let lists = IN_PLACE_LISTS
            .iter()
            .filter_map(|name| members.get(*name)?.as_array());
        for schema in lists.flatten().chain(members.get("if")) {
            self.schema(schema, value, depth)?;
            self.followed(schema, value, depth)?;
        }
        let dependent = members.get("dependentSchemas").and_then(Value::as_object);
        let dependent = dependent.into_iter().flatten();
        let dependent = dependent.filter(|(name, _)| value.get(name.as_str()).is_some());
        let dependent: Vec<_> = dependent.map(|(_, schema)| schema).collect();
        self.add(dependent.len() as u64)?;
        let followed = FOLLOWED.iter().filter_map(|name| members.get(*name));
        for schema in followed.chain(dependent) {
            self.followed(schema, value, depth)?;
        }
        Ok(())
    }

    fn followed(
        &mut self,
        schema: &'a Value,
        value: &Value,
        depth: usize,
    ) -> Result<(), TooManySteps> {
        match schema {
            Value::Object(members) => self.evaluated(members, value, depth),
            _ => Ok(()),
        }
    }

    fn evaluated_properties(
        &mut self,
        members: &'a Map<String, Value>,
        properties: &Map<String, Value>,
        depth: usize,
    ) -> Result<(), TooManySteps> {
        let looks = [
            "patternProperties",
            "additionalProperties",
            "unevaluatedProperties",
        ];
        let looks = looks.iter().filter(|name| members.contains_key(**name));
        let looks = 1 + looks.count() as u64;
        self.add(looks.saturating_mul(properties.len() as u64))?;
        let patterns = members.get("patternProperties").and_then(Value::as_object);
        for (pattern, _) in patterns.into_iter().flatten() {
            for name in properties.keys() {
                self.matching(pattern, name)?;
            }
        }
        if let Some(schema) = members.get("unevaluatedProperties") {
            for property in properties.values() {
                self.schema(schema, property, depth)?;
            }
        }
        Ok(())
    }

    fn evaluated_items(
        &mut self,
        members: &'a Map<String, Value>,
        items: &[Value],
        depth: usize,
    ) -> Result<(), TooManySteps> {
        self.add(items.len() as u64)?;
        let schemas = ["contains", "unevaluatedItems"];
        for schema in schemas.iter().filter_map(|name| members.get(*name)) {
            for item in items {
                self.schema(schema, item, depth)?;
            }
        }
        Ok(())
    }
}
