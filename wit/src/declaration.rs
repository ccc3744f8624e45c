//! Static declaration of a plugin: everything that an agent can be told before any of the plugin's
//! code runs.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::types::Type;

mod grant_request;
mod request_fault;
mod requested_text;
mod secret_request;
mod setting_request;

pub use grant_request::GrantRequest;
pub use request_fault::RequestFault;
pub use requested_text::is_input_name;
pub(crate) use requested_text::{MAX_INPUT_NAME, is_variable_name};
pub use secret_request::SecretRequest;
pub use setting_request::{FolderAccess, SettingFormat, SettingRequest};

/// The version of the declaration's envelope that this crate writes, and the
/// newest that it reads.
pub const FORMAT: u32 = 1;

/// The version of the table by which values are mapped between WIT and JSON
/// (DESIGN §4). It is in every declaration, so that a later mapping breaks no
/// plugin that was shipped with this one.
pub const MAPPING: u32 = 1;

/// Static declaration of a plugin.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Declaration {
    /// The envelope's version: [`FORMAT`].
    pub format: u32,
    /// The value mapping's version: [`MAPPING`].
    pub mapping: u32,
    /// The plugin's own name; the user names the server as they like.
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
    /// Grants, settings and secrets that the plugin asks for. Only the user gives them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<GrantRequest>,
    /// Its tools, in the order in which they are declared.
    pub tools: Vec<DeclaredTool>,
    /// Its prompts, as MCP `Prompt` objects by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<DeclaredItem>,
    /// Its resources, as MCP `Resource` objects by URI.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<DeclaredItem>,
    /// Its resource templates, as MCP `ResourceTemplate` objects by URI template.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub templates: Vec<DeclaredItem>,
    /// Whether it exports `dormouse:plugin/completion`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub completion: bool,
}

impl Declaration {
    /// Whether it has any tool, prompt, resource or template.
    #[must_use]
    pub fn offers_something(&self) -> bool {
        let items = [&self.prompts, &self.resources, &self.templates];
        !(self.tools.is_empty() && items.iter().all(|items| items.is_empty()))
    }
}

impl Default for Declaration {
    /// Returns the declaration, in today's format, of a plugin that declares nothing.
    fn default() -> Self {
        Self {
            format: FORMAT,
            mapping: MAPPING,
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
        }
    }
}

/// A prompt, a resource or a resource template.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DeclaredItem {
    /// Name of a prompt, URI of a resource, or URI template of a template. The same as in
    /// [`object`](Self::object), here so that nobody has to parse that to find it.
    pub key: String,
    /// The MCP object as an agent gets to see it (but for the prefix of the
    /// server's name on a prompt's), byte for byte as it was declared.
    pub object: Box<RawValue>,
    /// The exported function behind it; none for a plugin that exports
    /// `dormouse:plugin/prompts` or `dormouse:plugin/resources`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<Function>,
    /// Whether a resource tells of its changes (`@subscribe`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub subscribe: bool,
}

/// Lifetime of an instance of a plugin; the greater is the longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Instance {
    /// A fresh instance for each call: calls run in parallel, and no state leaks
    /// from one to the next.
    #[default]
    PerCall,
    /// One instance for an agent's session, its calls in order.
    PerSession,
}

/// A declared tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct DeclaredTool {
    /// The tool's name: the same as in [`tool`](Self::tool), here so that nobody
    /// has to parse that to find it.
    pub name: String,
    /// The MCP `Tool` object as an agent gets to see it (but for the prefix of
    /// the server's name), byte for byte as it was declared.
    pub tool: Box<RawValue>,
    /// The exported function behind it; none for a plugin that exports
    /// `dormouse:plugin/adapter` and takes its calls by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<Function>,
}

/// An exported function, with all that a call with JSON needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Function {
    /// Name by which the component exports it.
    pub export: Export,
    /// Whether the only parameter is a record whose fields are the tool's
    /// arguments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spread: bool,
    /// The function's own parameters, in order.
    pub params: Vec<Param>,
    /// Type that it returns, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Type>,
}

impl Function {
    /// Returns the members of the argument object: the parameters, or the fields of the only one.
    #[must_use]
    pub fn arguments(&self) -> &[Param] {
        match self.params.as_slice() {
            [
                Param {
                    ty: Type::Record(fields),
                    ..
                },
            ] if self.spread => fields,
            params => params,
        }
    }

    /// Returns the argument that a variable of a URI template stands for: the one with this JSON
    /// name, else the one with this WIT name.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<&Param> {
        let mut arguments = self.arguments().iter();
        let by_json = arguments.find(|argument| argument.json == name);
        by_json.or_else(|| {
            self.arguments()
                .iter()
                .find(|argument| argument.wit == name)
        })
    }
}

/// The name of an exported function.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Export {
    /// The instance that exports it, `namespace:package/interface@version` (or a plain name); none
    /// for a function of the world itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// Its name, in kebab-case.
    pub function: String,
}

impl fmt::Display for Export {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.interface {
            Some(interface) => write!(f, "{interface}#{}", self.function),
            None => f.write_str(&self.function),
        }
    }
}

/// A parameter: a [`Field`](crate::types::Field) of the argument object.
pub type Param = crate::types::Field;
