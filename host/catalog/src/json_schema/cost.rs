//! Cost of validating values with a schema.
//!
//! A schema of a few lines can take a validator hours: references double with each level, or lead
//! back to themselves. So a schema is checked when it is learnt, by the number of schemas that
//! apply to one value when all references are followed, and a value before it is validated, by the
//! most steps that this takes. Both counts stop at their limits.

mod distinct;
mod evaluated;
mod expansion;
mod parts;
mod steps;
mod total;
mod value_size;

use serde_json::Value;

use super::patterns::has_patterns;
use expansion::SchemaExpansion;
use steps::Steps;
use total::Total;
use value_size::value_nodes;

pub(crate) use value_size::longest_path;

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

/// Product of a text's bytes and a pattern's states that counts as one step.
const MATCHING_PER_STEP: u64 = 128;

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

impl SchemaCost {
    /// Counts a schema whose references are pointers from its root.
    ///
    /// # Errors
    /// The schema costs too much for any value, with the reason, as a predicate of the schema.
    pub(crate) fn of(schema: &Value) -> Result<Self, String> {
        SchemaExpansion::of(schema).all_in_place()?;
        let nodes = Total::of(schema).nodes(schema, 0);
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
