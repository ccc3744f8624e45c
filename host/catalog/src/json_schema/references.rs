//! References of a schema, and their targets in it.
//!
//! Schemas name their parts in several ways: by pointers, by anchors, and by URLs, relative to
//! which the references in them are. Validators follow those differently, and some anew for each
//! way to a part. So before a schema is compiled here, all its references are rewritten as pointers
//! from its root.

use std::collections::HashMap;

use jsonschema::Draft;
use serde_json::{Map, Value};
use url::Url;

mod keyword;
mod meta_schema;
mod pointer;
mod reading;

use meta_schema::is_meta_schema;
use pointer::short;

pub(crate) use keyword::{KeywordValue, is_applicator};
pub(crate) use pointer::{fragment, percent_decoded};

/// Longest reference that is followed, in bytes.
pub(crate) const MAX_REFERENCE_BYTES: usize = 1024;

/// Most bytes of all references together when they are pointers.
const MAX_POINTER_BYTES: usize = 8 << 20;

/// Most bytes of the pointers to all parts of a schema together for it to be compiled: validators
/// keep one for each part.
const MAX_LOCATION_BYTES: usize = 16 << 20;

/// URL of a schema without one.
const DEFAULT_URL: &str = "json-schema:///";

/// A document or a part of one with a URL of its own.
struct SchemaResource<'a> {
    root: &'a Value,
    /// Pointer to it, unless that is too long.
    pointer: Option<String>,
    url: Option<Url>,
}

/// A resource, by its URL.
struct ByUrl {
    resource: usize,
    /// Whether another resource has the same URL.
    is_ambiguous: bool,
}

/// A part of a schema with a name.
#[derive(Clone)]
struct NamedPart<'a> {
    part: &'a Value,
    /// Pointer to it, unless that is too long.
    pointer: Option<String>,
    /// Whether another part has the same name, so that either may be meant.
    is_ambiguous: bool,
}

/// Target of a reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReferenceTarget {
    /// A part, by its pointer from the root.
    Pointer(String),
    /// A meta-schema.
    MetaSchema,
    /// A part that cannot be determined before a value is validated, or whose pointer is too long,
    /// or no part at all.
    Unknown,
}

/// References of a schema.
pub(crate) struct References<'a> {
    schema: &'a Value,
    draft: Draft,
    resources: Vec<SchemaResource<'a>>,
    by_url: HashMap<String, ByUrl>,
    /// Named parts, by resource and name.
    anchors: HashMap<(usize, &'a str), NamedPart<'a>>,
    /// Number of parts with each `$dynamicAnchor`.
    dynamic_anchors: HashMap<&'a str, usize>,
    /// Number of resources with a `$recursiveAnchor`.
    recursive_anchors: usize,
    /// Resource of each part that is an object.
    parts: HashMap<*const Map<String, Value>, usize>,
    unread: Vec<UnreadReference<'a>>,
    targets: HashMap<(*const Map<String, Value>, &'a str), ReferenceTarget>,
    /// Whether a reference is no plain pointer from the root.
    has_other_references: bool,
    has_urls: bool,
    broken: Option<String>,
    has_several_dialects: bool,
    location_bytes: usize,
    pointer_bytes: usize,
    /// Whether the part that is being read is below a keyword that no dialect knows: it may be
    /// anything.
    is_below_unknown: bool,
}

/// A reference that was found and not followed yet.
struct UnreadReference<'a> {
    part: &'a Map<String, Value>,
    keyword: &'a str,
    reference: &'a str,
    resource: usize,
    /// Whether it may be none.
    is_below_unknown: bool,
}

impl<'a> References<'a> {
    /// Follows all references of a schema.
    pub(crate) fn of(schema: &'a Value) -> Self {
        let mut references = Self {
            schema,
            draft: Draft::default().detect(schema),
            resources: Vec::new(),
            by_url: HashMap::new(),
            anchors: HashMap::new(),
            dynamic_anchors: HashMap::new(),
            recursive_anchors: 0,
            parts: HashMap::new(),
            unread: Vec::new(),
            targets: HashMap::new(),
            has_other_references: false,
            has_urls: false,
            broken: None,
            has_several_dialects: false,
            location_bytes: 0,
            pointer_bytes: 0,
            is_below_unknown: false,
        };
        references.resources.push(SchemaResource {
            root: schema,
            pointer: Some(String::new()),
            url: Url::parse(DEFAULT_URL).ok(),
        });
        references.read(schema, 0, &mut String::new());
        while let Some(unread) = references.unread.pop() {
            let key = (std::ptr::from_ref(unread.part), unread.keyword);
            references.is_below_unknown = unread.is_below_unknown;
            let target = references.follow(&unread).unwrap_or_else(|why| {
                if !unread.is_below_unknown {
                    references.broken.get_or_insert(why);
                }
                ReferenceTarget::Unknown
            });
            references.has_other_references |= target == ReferenceTarget::Unknown;
            references.targets.insert(key, target);
        }
        references
    }

    /// Returns the reason for which a reference leads to nothing in the schema, or is not followed.
    pub(crate) fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Checks whether the schema can be compiled: it is of one dialect, and the pointers to its
    /// parts are not too long.
    pub(crate) fn can_be_compiled(&self) -> bool {
        self.location_bytes <= MAX_LOCATION_BYTES && !self.has_several_dialects
    }

    /// Checks whether the target of a reference cannot be determined.
    pub(crate) fn has_unknown_targets(&self) -> bool {
        self.targets
            .values()
            .any(|target| *target == ReferenceTarget::Unknown)
    }

    /// Checks whether the schema can be compiled only when it has been
    /// [rewritten](super::rewrite).
    pub(crate) fn has_to_be_rewritten(&self) -> bool {
        self.has_other_references || self.has_urls && !self.targets.is_empty()
    }

    /// Checks whether an object within the schema is a schema, too, and no data.
    pub(crate) fn is_part(&self, object: &Map<String, Value>) -> bool {
        self.parts.contains_key(&std::ptr::from_ref(object))
    }

    /// Returns the target of the reference that is the value of a keyword of a part.
    pub(crate) fn target(
        &self,
        part: &Map<String, Value>,
        keyword: &'a str,
    ) -> Option<&ReferenceTarget> {
        self.targets.get(&(std::ptr::from_ref(part), keyword))
    }

    /// Checks whether a keyword only names a part.
    pub(crate) fn is_name(&self, keyword: &str) -> bool {
        match keyword {
            "$id" | "$anchor" | "$dynamicAnchor" | "$recursiveAnchor" => true,
            "id" => self.draft == Draft::Draft4,
            _ => false,
        }
    }

    /// Checks whether a keyword is a reference in this dialect.
    pub(crate) fn is_reference(&self, keyword: &str) -> bool {
        match keyword {
            "$ref" => true,
            "$recursiveRef" => self.draft == Draft::Draft201909,
            "$dynamicRef" => !self.is_before_2019() && self.draft != Draft::Draft201909,
            _ => false,
        }
    }

    fn is_before_2019(&self) -> bool {
        matches!(self.draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7)
    }

    /// Resolves a URL that is relative to that of a resource.
    fn joined(&self, resource: usize, url: &str) -> Option<Url> {
        if url.len() > MAX_REFERENCE_BYTES {
            return None;
        }
        match self
            .resources
            .get(resource)
            .and_then(|base| base.url.as_ref())
        {
            Some(base) => base.join(url).ok(),
            None => Url::parse(url).ok(),
        }
    }

    fn follow(&mut self, unread: &UnreadReference<'a>) -> Result<ReferenceTarget, String> {
        let reference = unread.reference;
        let shown = || reference.chars().take(80).collect::<String>();
        // A reference is followed anew for each value that is validated.
        if reference.len() > MAX_REFERENCE_BYTES {
            return Err(format!(
                "its reference `{}…` has more than {MAX_REFERENCE_BYTES} bytes",
                shown()
            ));
        }
        let nowhere = || format!("`{}` leads nowhere in it", shown());
        let is_plain =
            unread.keyword == "$ref" && (reference == "#" || reference.starts_with("#/"));
        let (document, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = match document {
            "" => unread.resource,
            _ => match self.resource(document, unread.resource) {
                Some(Ok(resource)) => resource,
                Some(Err(target)) => return Ok(target),
                None => return Err(nowhere()),
            },
        };
        self.has_other_references |= !is_plain;
        let found = self.in_resource(resource, fragment).ok_or_else(nowhere)?;
        let is_known = match unread.keyword {
            "$dynamicRef" => self
                .dynamic_anchors
                .get(fragment)
                .is_none_or(|number| *number == 1),
            "$recursiveRef" => self.recursive_anchors <= 1,
            _ => true,
        };
        // A part that was taken for data is a schema if a reference leads there.
        let pointer = found.pointer.clone();
        self.read(found.part, resource, &mut pointer.unwrap_or_default());
        self.pointer_bytes += found.pointer.as_ref().map_or(0, String::len);
        let is_known = is_known && !found.is_ambiguous && self.pointer_bytes <= MAX_POINTER_BYTES;
        Ok(match found.pointer.filter(|_| is_known) {
            Some(pointer) => ReferenceTarget::Pointer(pointer),
            None => ReferenceTarget::Unknown,
        })
    }

    /// Returns the resource with that URL, or else the reference's target; none where there is
    /// none.
    fn resource(&self, document: &str, from: usize) -> Option<Result<usize, ReferenceTarget>> {
        let url = self.joined(from, document);
        match url.and_then(|url| self.by_url.get(url.as_str())) {
            Some(found) if found.is_ambiguous => Some(Err(ReferenceTarget::Unknown)),
            Some(found) => Some(Ok(found.resource)),
            None => is_meta_schema(document).then_some(Err(ReferenceTarget::MetaSchema)),
        }
    }

    /// Returns the part that a fragment names within a resource.
    fn in_resource(&self, resource: usize, fragment: &str) -> Option<NamedPart<'a>> {
        let fragment = percent_decoded(fragment)?;
        if !fragment.is_empty() && !fragment.starts_with('/') {
            return self.anchors.get(&(resource, fragment.as_str())).cloned();
        }
        let resource = self.resources.get(resource)?;
        Some(NamedPart {
            part: resource.root.pointer(&fragment)?,
            pointer: resource
                .pointer
                .as_ref()
                .and_then(|pointer| short(&format!("{pointer}{fragment}"))),
            is_ambiguous: false,
        })
    }
}

#[cfg(test)]
mod tests;
