//! Reading the names and references of a schema and of its parts.

use jsonschema::Draft;
use serde_json::{Map, Value};

use super::keyword::{KeywordValue, is_applicator};
use super::pointer::short;
use super::{ByUrl, MAX_REFERENCE_BYTES, NamedPart, References, SchemaResource, UnreadReference};

impl<'a> References<'a> {
    /// Reads the names and references of a part and of all parts within it.
    pub(super) fn read(&mut self, value: &'a Value, resource: usize, pointer: &mut String) {
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.read_at(item, resource, pointer, &index.to_string());
                }
            }
            Value::Object(members) => {
                if self.parts.contains_key(&std::ptr::from_ref(members)) {
                    return;
                }
                let resource = self.read_names(value, members, resource, pointer);
                self.parts.insert(std::ptr::from_ref(members), resource);
                self.read_members(members, resource, pointer);
            }
            _ => {}
        }
    }

    fn read_at(&mut self, value: &'a Value, resource: usize, pointer: &mut String, name: &str) {
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
                    self.unread.push(UnreadReference {
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
                        self.read_at(schema, resource, pointer, name);
                    }
                    pointer.truncate(length);
                }
                _ => {
                    let outer = self.is_below_unknown;
                    self.is_below_unknown |= !is_applicator(keyword);
                    self.read_at(value, resource, pointer, keyword);
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
        resource: usize,
        pointer: &str,
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
            Some(id) => self.read_url(id, part, resource, pointer),
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
    fn read_url(&mut self, id: &str, part: &'a Value, outer: usize, pointer: &str) -> usize {
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
        let resource = SchemaResource {
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
}
