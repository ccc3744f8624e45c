//! Steps of finding out whether items are distinct.
//!
//! A validator hashes each item, and compares it with those before it that have the same hash. The
//! hash is of the texts and numbers alone: lists that differ only in where they begin and end have
//! the same, and so do large integers that are close to one another.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use super::steps::{StepCount, TooManySteps};
use super::value_size::value_nodes;

/// Steps of hashing a part of an item and finding its place.
const HASH_STEPS: u64 = 4;

/// Most items that are compared each with each, without hashes.
const MAX_COMPARED_ITEMS: usize = 15;

impl StepCount<'_> {
    /// Counts the steps for the items of a list.
    pub(super) fn distinct(&mut self, items: &[Value]) -> Result<(), TooManySteps> {
        let sizes = items.iter().map(value_nodes);
        if items.len() <= MAX_COMPARED_ITEMS {
            let sizes: u64 = sizes.sum();
            return self.add(sizes.saturating_mul(items.len() as u64));
        }
        let mut before: HashMap<u64, Vec<&Value>> = HashMap::new();
        for (item, size) in items.iter().zip(sizes) {
            self.add(size.saturating_mul(HASH_STEPS))?;
            let mut hasher = DefaultHasher::new();
            hash(item, &mut hasher);
            let same = before.entry(hasher.finish()).or_default();
            for other in same.iter() {
                self.add(size)?;
                // The validator ends here, too.
                if *other == item {
                    return Ok(());
                }
            }
            same.push(item);
        }
        Ok(())
    }
}

/// Hashes what a validator hashes.
fn hash(value: &Value, hasher: &mut DefaultHasher) {
    match value {
        Value::Null => hasher.write_u8(0),
        Value::Bool(value) => value.hash(hasher),
        // Zero has two forms, which are equal.
        Value::Number(number) => number.as_f64().map(|of| (of + 0.0).to_bits()).hash(hasher),
        Value::String(text) => text.hash(hasher),
        Value::Array(items) => items.iter().for_each(|item| hash(item, hasher)),
        Value::Object(members) => {
            let members = members.iter().map(|(name, value)| {
                let mut hasher = DefaultHasher::new();
                name.hash(&mut hasher);
                hash(value, &mut hasher);
                hasher.finish()
            });
            hasher.write_u64(members.fold(0, |all, member| all ^ member));
        }
    }
}
