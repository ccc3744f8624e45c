//! Count of all parts of a schema.

use std::collections::HashMap;

use serde_json::Value;

use super::parts::{ReferencedSchema, SchemaParts, resolve};
use super::{MAX_DEPTH, MAX_SCHEMA_NODES, META_NODES};

/// Counts the parts of a schema, repeated ones each time.
pub(super) struct Total<'a> {
    root: &'a Value,
    /// Parts counted so far; none for those that are being counted.
    known: HashMap<*const Value, Option<u64>>,
}
impl<'a> Total<'a> {
    /// Starts to count a schema.
    pub(super) fn of(root: &'a Value) -> Self {
        Self {
            root,
            known: HashMap::new(),
        }
    }

    /// Returns the number of parts, if they are few and the schema does not lead back to itself.
    pub(super) fn nodes(&mut self, schema: &'a Value, depth: usize) -> Option<u64> {
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
        let parts = SchemaParts::of(members);
        let mut nodes = 0_u64;
        for part in parts.in_place {
            nodes = nodes.saturating_add(self.nodes(part, depth + 1)?);
        }
        for reference in parts.references {
            let target = match resolve(self.root, reference)? {
                ReferencedSchema::Schema(target) => self.nodes(target, depth + 1)?,
                ReferencedSchema::Meta => META_NODES,
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
