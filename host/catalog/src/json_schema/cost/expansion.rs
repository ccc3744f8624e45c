//! Count of the schemas that apply to one value.

use std::collections::HashMap;

use serde_json::Value;

use super::parts::{ReferencedSchema, SchemaParts, UNEVALUATED, resolve};
use super::{MAX_DEPTH, MAX_SCHEMA_NODES, META_NODES, has_any};

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
pub(super) struct SchemaExpansion<'a> {
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
impl<'a> SchemaExpansion<'a> {
    /// Starts to count a schema.
    pub(super) fn of(root: &'a Value) -> Self {
        Self {
            root,
            in_place: HashMap::new(),
            inner: Vec::new(),
            looked_at: 0,
            leads_back: false,
        }
    }

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
        let parts = SchemaParts::of(members);
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
                Some(ReferencedSchema::Schema(target)) => self.in_place(target, depth + 1)?,
                Some(ReferencedSchema::Meta) => InPlace::leaf(META_NODES),
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
    pub(super) fn all_in_place(&mut self) -> Result<(), String> {
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
