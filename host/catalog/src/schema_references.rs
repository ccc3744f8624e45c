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

/// Longest reference that is followed, in bytes.
pub(crate) const MAX_REFERENCE_BYTES: usize = 1024;

/// Most bytes of all references together when they are pointers.
const MAX_POINTER_BYTES: usize = 8 << 20;

/// Most bytes of the pointers to all parts of a schema together for it to be compiled: validators
/// keep one for each part.
const MAX_LOCATION_BYTES: usize = 16 << 20;

/// URL of a schema without one.
const DEFAULT_URL: &str = "json-schema:///";

/// Kind of the value of a keyword.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeywordValue {
    /// Data, which contains no schemas.
    Data,
    /// Schemas by name.
    SchemasByName,
    /// One schema or several; an unknown keyword may have some, too.
    Schemas,
}

impl KeywordValue {
    pub(crate) fn of(keyword: &str) -> Self {
        match keyword {
            "const" | "default" | "enum" | "example" | "examples" | "required" => Self::Data,
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
            | "dependencies" => Self::SchemasByName,
            _ => Self::Schemas,
        }
    }
}

/// A document or a part of one with a URL of its own.
struct Resource<'a> {
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
pub(crate) enum Target {
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
    resources: Vec<Resource<'a>>,
    by_url: HashMap<String, ByUrl>,
    /// Named parts, by resource and name.
    anchors: HashMap<(usize, &'a str), NamedPart<'a>>,
    /// Number of parts with each `$dynamicAnchor`.
    dynamic_anchors: HashMap<&'a str, usize>,
    /// Number of resources with a `$recursiveAnchor`.
    recursive_anchors: usize,
    /// Resource of each part that is an object.
    parts: HashMap<*const Map<String, Value>, usize>,
    unread: Vec<Unread<'a>>,
    targets: HashMap<(*const Map<String, Value>, &'a str), Target>,
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
struct Unread<'a> {
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
        references.resources.push(Resource {
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
                Target::Unknown
            });
            references.has_other_references |= target == Target::Unknown;
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
            .any(|target| *target == Target::Unknown)
    }

    /// Checks whether the schema can be compiled only when it has been
    /// [rewritten](super::schema_rewrite).
    pub(crate) fn has_to_be_rewritten(&self) -> bool {
        self.has_other_references || self.has_urls && !self.targets.is_empty()
    }

    /// Checks whether an object within the schema is a schema, too, and no data.
    pub(crate) fn is_part(&self, object: &Map<String, Value>) -> bool {
        self.parts.contains_key(&std::ptr::from_ref(object))
    }

    /// Returns the target of the reference that is the value of a keyword of a part.
    pub(crate) fn target(&self, part: &Map<String, Value>, keyword: &'a str) -> Option<&Target> {
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

    /// Reads the names and references of a part and of all parts within it.
    fn read(&mut self, value: &'a Value, resource: usize, pointer: &mut String) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.read_at(item, resource, (pointer, &index.to_string()));
                }
            }
            Value::Object(members) => {
                if self.parts.contains_key(&std::ptr::from_ref(members)) {
                    return;
                }
                let resource = self.read_names(value, members, (resource, pointer));
                self.parts.insert(std::ptr::from_ref(members), resource);
                self.read_members(members, resource, pointer);
            }
            _ => {}
        }
    }

    fn read_at(&mut self, value: &'a Value, resource: usize, (pointer, name): (&mut String, &str)) {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
        self.location_bytes = self.location_bytes.saturating_add(pointer.len());
        self.read(value, resource, pointer);
        pointer.truncate(length);
    }

    fn read_members(
        &mut self,
        members: &'a Map<String, Value>,
        resource: usize,
        pointer: &mut String,
    ) {
        for (keyword, value) in members {
            match (KeywordValue::of(keyword), value) {
                (KeywordValue::Data, _) => {}
                (_, Value::String(reference)) if self.is_reference(keyword) => {
                    self.unread.push(Unread {
                        part: members,
                        keyword,
                        reference,
                        resource,
                        is_below_unknown: self.is_below_unknown,
                    });
                }
                (KeywordValue::SchemasByName, Value::Object(by_name)) => {
                    let length = pointer.len();
                    pointer.push('/');
                    pointer.push_str(keyword);
                    for (name, schema) in by_name {
                        self.read_at(schema, resource, (pointer, name));
                    }
                    pointer.truncate(length);
                }
                _ => {
                    let outer = self.is_below_unknown;
                    self.is_below_unknown |= !is_applicator(keyword);
                    self.read_at(value, resource, (pointer, keyword));
                    self.is_below_unknown = outer;
                }
            }
        }
    }

    /// Reads the names of a part. Returns the resource that it belongs to: itself, if it has a URL.
    fn read_names(
        &mut self,
        part: &'a Value,
        members: &'a Map<String, Value>,
        (resource, pointer): (usize, &str),
    ) -> usize {
        if members.contains_key("$schema") {
            self.has_several_dialects |= Draft::default().detect(part) != self.draft;
        }
        // In these dialects, keywords beside a reference are ignored.
        if self.is_before_2019() && members.contains_key("$ref") {
            return resource;
        }
        let id = if self.draft == Draft::Draft4 {
            "id"
        } else {
            "$id"
        };
        let id = members.get(id).and_then(Value::as_str);
        let name = id.and_then(|id| id.strip_prefix('#'));
        let resource = match id.filter(|_| name.is_none()) {
            Some(id) => self.read_url(id, part, (resource, pointer)),
            None => resource,
        };
        if members.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.recursive_anchors += 1;
        }
        let anchors = ["$anchor", "$dynamicAnchor"].map(|name| members.get(name)?.as_str());
        if let [_, Some(dynamic)] = anchors {
            *self.dynamic_anchors.entry(dynamic).or_default() += 1;
        }
        let name = name.filter(|name| !name.is_empty());
        let mut names: Vec<_> = anchors.into_iter().flatten().chain(name).collect();
        names.dedup();
        for name in names {
            self.anchors
                .entry((resource, name))
                .and_modify(|other| other.is_ambiguous = true)
                .or_insert_with(|| NamedPart {
                    part,
                    pointer: short(pointer),
                    is_ambiguous: false,
                });
        }
        resource
    }

    /// Reads the URL of a part. Returns its resource.
    fn read_url(&mut self, id: &str, part: &'a Value, (outer, pointer): (usize, &str)) -> usize {
        self.has_urls = true;
        // Each part with a URL keeps it.
        let url = self.joined(outer, id).map(|mut url| {
            url.set_fragment(None);
            url
        });
        let url = url.filter(|url| url.as_str().len() <= MAX_REFERENCE_BYTES);
        let is_root = std::ptr::eq(part, self.schema);
        let index = if is_root { 0 } else { self.resources.len() };
        if let Some(url) = &url {
            self.by_url
                .entry(url.to_string())
                .and_modify(|other| other.is_ambiguous = true)
                .or_insert(ByUrl {
                    resource: index,
                    is_ambiguous: false,
                });
        }
        let resource = Resource {
            root: part,
            pointer: short(pointer),
            url,
        };
        match self.resources.first_mut().filter(|_| is_root) {
            Some(first) => *first = resource,
            None => self.resources.push(resource),
        }
        index
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

    fn follow(&mut self, unread: &Unread<'a>) -> Result<Target, String> {
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
            Some(pointer) => Target::Pointer(pointer),
            None => Target::Unknown,
        })
    }

    /// Returns the resource with that URL, or else the reference's target; none where there is
    /// none.
    fn resource(&self, document: &str, from: usize) -> Option<Result<usize, Target>> {
        let url = self.joined(from, document);
        match url.and_then(|url| self.by_url.get(url.as_str())) {
            Some(found) if found.is_ambiguous => Some(Err(Target::Unknown)),
            Some(found) => Some(Ok(found.resource)),
            None => is_meta_schema(document).then_some(Err(Target::MetaSchema)),
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

/// Checks whether a keyword of some dialect has one schema or several.
pub(crate) fn is_applicator(keyword: &str) -> bool {
    matches!(
        keyword,
        "$defs"
            | "additionalItems"
            | "additionalProperties"
            | "allOf"
            | "anyOf"
            | "contains"
            | "contentSchema"
            | "definitions"
            | "dependencies"
            | "dependentSchemas"
            | "else"
            | "if"
            | "items"
            | "not"
            | "oneOf"
            | "patternProperties"
            | "prefixItems"
            | "properties"
            | "propertyNames"
            | "then"
            | "unevaluatedItems"
            | "unevaluatedProperties"
    )
}

/// Checks whether a URL is that of a meta-schema, or of a part of one.
fn is_meta_schema(url: &str) -> bool {
    let named = serde_json::json!({ "$schema": url });
    if Draft::default().detect(&named) != Draft::Unknown {
        return true;
    }
    let Some((draft, part)) = url
        .strip_prefix("https://json-schema.org/draft/")
        .and_then(|part| part.split_once("/meta/"))
    else {
        return false;
    };
    match part {
        "applicator" | "content" | "core" | "meta-data" | "validation" => {
            matches!(draft, "2019-09" | "2020-12")
        }
        "format" => draft == "2019-09",
        "format-annotation" | "format-assertion" | "unevaluated" => draft == "2020-12",
        _ => false,
    }
}

/// Returns a pointer, if it is short enough for a reference.
fn short(pointer: &str) -> Option<String> {
    (pointer.len() <= MAX_REFERENCE_BYTES).then(|| pointer.to_owned())
}

/// Encodes a pointer as the fragment of a reference.
pub(crate) fn fragment(pointer: &str) -> String {
    let mut fragment = String::with_capacity(pointer.len() + 1);
    fragment.push('#');
    for byte in pointer.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' | b'$' => {
                fragment.push(char::from(byte));
            }
            byte => fragment.push_str(&format!("%{byte:02X}")),
        }
    }
    fragment
}

/// Decodes the percent-encoding of a fragment, if the result is UTF-8.
pub(crate) fn percent_decoded(text: &str) -> Option<String> {
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

#[cfg(test)]
mod tests;
