//! Entries of the catalog, one for each component.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_wit::{Declaration, DeclaredItem, DeclaredTool, Function, GrantRequest, Instance};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::Stamp;
use crate::shape::{ItemLimits, NonconformingItem, NonconformingItems, Shape, What};

/// Declaration of a component, as far as listing its tools needs it; the parts that a call needs
/// are parsed only then.
#[derive(Debug, Clone)]
pub struct CatalogEntry {
    /// The component's file.
    pub path: PathBuf,
    /// Stamp of that file when it was read.
    pub stamp: Stamp,
    /// Its declarations.
    pub listing: Arc<Listing>,
}

/// Declarations of a component.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Listing {
    /// Place of the declaration.
    pub provenance: Provenance,
    /// The version of the value mapping that it was declared for.
    pub mapping: u32,
    /// The plugin's own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The plugin's version, as its author counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The plugin's name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The plugin's description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether it keeps state between calls.
    #[serde(default)]
    pub instance: Instance,
    /// Grants that the plugin asks for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<GrantRequest>,
    /// Its tools, in the order in which they are declared.
    pub tools: Vec<ListedTool>,
    /// Its prompts, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<ListedItem>,
    /// Its resources, by URI.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<ListedItem>,
    /// Its resource templates, by URI template.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<ListedItem>,
    /// Whether it can complete arguments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub completion: bool,
    /// Sentences for the user on exported functions that cannot be tools, and are left out. Only a
    /// derived declaration has any. Of many the first are there, and how many more there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// Tools, prompts, resources and templates that do not conform to MCP: here they are mended or
    /// left out. Of many of a kind the first are there, and how many more there are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub odd: Vec<NonconformingItem>,
}

/// Place of a declaration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Provenance {
    /// A section right behind the component's preamble, where two small reads find it: the
    /// component has been packed.
    Front,
    /// A section elsewhere in the component.
    Section,
    /// No section: derived from the component's types, which have no descriptions.
    Derived,
}

/// A listed tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ListedTool {
    /// The tool's own name, without a server's prefix.
    pub name: String,
    /// The MCP `Tool` object, byte for byte as declared where that is valid.
    pub tool: Box<RawValue>,
    /// The object for clients of the versions with sessions, where that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    legacy: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    function: Option<Box<RawValue>>,
}

/// A prompt, a resource or a resource template.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ListedItem {
    /// A name, a URI or a URI template.
    pub key: String,
    /// The MCP object, byte for byte as declared where that is valid.
    pub object: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    function: Option<Box<RawValue>>,
    /// Whether a resource tells of its changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub subscribe: bool,
}

impl ListedTool {
    /// Returns the MCP `Tool` object for clients of the stateless era, or of the versions before.
    #[must_use]
    pub fn object(&self, stateless: bool) -> &RawValue {
        match &self.legacy {
            Some(legacy) if !stateless => legacy,
            _ => &self.tool,
        }
    }

    fn new(declared: DeclaredTool, shape: Shape) -> serde_json::Result<Self> {
        Ok(Self {
            name: declared.name,
            tool: shape.object,
            legacy: shape.legacy,
            function: raw(declared.function.as_ref())?,
        })
    }

    /// Replaces the object that the plugin declares, in all versions of MCP. Returns whether that is
    /// valid: an invalid object, such as one that has become too long, replaces nothing.
    #[must_use]
    pub fn replace(&mut self, object: Box<RawValue>) -> bool {
        let Ok(shape) = Shape::of(What::Tool, &self.name, &object) else {
            return false;
        };
        self.tool = shape.object;
        self.legacy = shape.legacy;
        true
    }

    /// Returns the exported function behind the tool; none for an adapter's.
    ///
    /// # Errors
    /// The declaration has another value in the function's place.
    pub fn function(&self) -> serde_json::Result<Option<Function>> {
        parsed(self.function.as_deref())
    }

    /// Checks whether there is a function behind the tool; an adapter gets its arguments as they
    /// were written.
    #[must_use]
    pub fn is_typed(&self) -> bool {
        self.function.is_some()
    }
}

impl ListedItem {
    /// Returns the exported function behind it; none where the plugin takes its requests by name.
    ///
    /// # Errors
    /// The declaration has another value in the function's place.
    pub fn function(&self) -> serde_json::Result<Option<Function>> {
        parsed(self.function.as_deref())
    }

    /// Checks whether there is a function behind it.
    #[must_use]
    pub fn is_typed(&self) -> bool {
        self.function.is_some()
    }

    fn declared(&self) -> serde_json::Result<DeclaredItem> {
        Ok(DeclaredItem {
            key: self.key.clone(),
            object: self.object.clone(),
            function: self.function()?,
            subscribe: self.subscribe,
        })
    }

    fn new(declared: DeclaredItem, shape: Shape) -> serde_json::Result<Self> {
        Ok(Self {
            key: declared.key,
            object: shape.object,
            function: raw(declared.function.as_ref())?,
            subscribe: declared.subscribe,
        })
    }
}

fn declared(items: &[ListedItem]) -> serde_json::Result<Vec<DeclaredItem>> {
    items.iter().map(ListedItem::declared).collect()
}

/// Returns the shape of an item, if it can be shown; adds its faults to `odd`.
fn shape(what: What, name: &str, object: &RawValue, odd: &mut NonconformingItems) -> Option<Shape> {
    let shape = Shape::of(what, name, object);
    let why = match &shape {
        Ok(shape) if shape.mended.is_empty() => None,
        Ok(shape) => Some(shape.mended.join(", ")),
        Err(why) => Some(why.clone()),
    };
    if let Some(why) = why {
        odd.push(what, name, &why, shape.is_ok());
    }
    shape.ok()
}

/// Cuts a list to the most items that it may have, and adds the first of the others to `odd`.
fn shorten<T>(
    what: What,
    list: &mut Vec<T>,
    name: impl Fn(&T) -> &str,
    odd: &mut NonconformingItems,
) {
    let limit = ItemLimits::default().items;
    if let Some(first) = list.get(limit) {
        let why = format!(
            "there are {} of its kind where {limit} are allowed, so it and those behind it are left \
             out",
            list.len()
        );
        odd.push(what, name(first), &why, false);
        list.truncate(limit);
    }
}

fn items(
    what: What,
    mut declared: Vec<DeclaredItem>,
    odd: &mut NonconformingItems,
) -> serde_json::Result<Vec<ListedItem>> {
    shorten(what, &mut declared, |item| &item.key, odd);
    let shaped = declared.into_iter().filter_map(|item| {
        let shape = shape(what, &item.key, &item.object, odd)?;
        is_callable(what, &item.key, item.function.as_ref(), odd)
            .then(|| ListedItem::new(item, shape))
    });
    shaped.collect()
}

fn parsed(function: Option<&RawValue>) -> serde_json::Result<Option<Function>> {
    let function: Option<Function> = function
        .map(|raw| serde_json::from_str(raw.get()))
        .transpose()?;
    // The index may be of an older Dormouse.
    let size = function.as_ref().map_or(Ok(()), Function::check_size);
    size.map_err(serde::de::Error::custom)?;
    Ok(function)
}

/// Checks that values can be made for a function's types; adds the reason to `odd` if not.
fn is_callable(
    what: What,
    name: &str,
    function: Option<&Function>,
    odd: &mut NonconformingItems,
) -> bool {
    let why = function.and_then(|function| function.check_size().err());
    if let Some(why) = &why {
        odd.push(what, name, why, false);
    }
    why.is_none()
}

fn raw(function: Option<&Function>) -> serde_json::Result<Option<Box<RawValue>>> {
    function.map(serde_json::value::to_raw_value).transpose()
}

impl Listing {
    /// Returns the listing of a plugin that declares nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            provenance: Provenance::Derived,
            mapping: dormouse_wit::declaration::MAPPING,
            name: None,
            version: None,
            title: None,
            description: None,
            instance: Instance::default(),
            grants: Vec::new(),
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
            templates: Vec::new(),
            completion: false,
            skipped: Vec::new(),
            odd: Vec::new(),
        }
    }

    /// Returns the MCP server that a plugin stands in front of, and requests to start.
    #[must_use]
    pub fn upstream_request(&self) -> Option<&GrantRequest> {
        let mut requests = self.grants.iter();
        requests.find(|request| matches!(request, GrantRequest::Upstream { .. }))
    }

    /// Returns its prompts, resources and resource templates.
    pub fn items(&self) -> impl Iterator<Item = &ListedItem> {
        let all = [&self.prompts, &self.resources, &self.templates];
        all.into_iter().flatten()
    }

    /// Returns the whole declaration, parsed.
    ///
    /// # Errors
    /// A tool has another value in its function's place.
    pub fn declaration(&self) -> serde_json::Result<Declaration> {
        let tools = self
            .tools
            .iter()
            .map(|tool| {
                Ok(DeclaredTool {
                    name: tool.name.clone(),
                    tool: tool.tool.clone(),
                    function: tool.function()?,
                })
            })
            .collect::<serde_json::Result<_>>()?;
        Ok(Declaration {
            format: dormouse_wit::declaration::FORMAT,
            mapping: self.mapping,
            name: self.name.clone(),
            version: self.version.clone(),
            title: self.title.clone(),
            description: self.description.clone(),
            instance: self.instance,
            grants: self.grants.clone(),
            tools,
            prompts: declared(&self.prompts)?,
            resources: declared(&self.resources)?,
            templates: declared(&self.templates)?,
            completion: self.completion,
        })
    }

    /// Lists the items of a declaration that can be shown.
    ///
    /// # Errors
    /// A function of it cannot be written as JSON.
    pub fn new(mut declared: Declaration, provenance: Provenance) -> serde_json::Result<Self> {
        let mut odd = NonconformingItems::default();
        let tools = &mut declared.tools;
        shorten(What::Tool, tools, |tool| &tool.name, &mut odd);
        let tools = declared.tools.into_iter().filter_map(|tool| {
            let shape = shape(What::Tool, &tool.name, &tool.tool, &mut odd)?;
            is_callable(What::Tool, &tool.name, tool.function.as_ref(), &mut odd)
                .then(|| ListedTool::new(tool, shape))
        });
        let tools = tools.collect::<serde_json::Result<_>>()?;
        Ok(Self {
            provenance,
            mapping: declared.mapping,
            name: declared.name,
            version: declared.version,
            title: declared.title,
            description: declared.description,
            instance: declared.instance,
            grants: declared.grants,
            tools,
            prompts: items(What::Prompt, declared.prompts, &mut odd)?,
            resources: items(What::Resource, declared.resources, &mut odd)?,
            templates: items(What::Template, declared.templates, &mut odd)?,
            completion: declared.completion,
            skipped: Vec::new(),
            odd: odd.into_vec(),
        })
    }
}
