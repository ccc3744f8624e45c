//! Static declaration of a plugin: everything that an agent can be told before any of the plugin's
//! code runs.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::types::Type;

mod secret_request;
mod setting_request;

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

/// Longest name of a setting or a secret, in bytes.
pub const MAX_INPUT_NAME: usize = 64;

/// Whether a text is the name of a setting or a secret: letters and digits of ASCII, `-` and `_`.
#[must_use]
pub fn is_input_name(text: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !text.is_empty() && text.len() <= MAX_INPUT_NAME && text.chars().all(is_sign)
}

/// Request of a plugin to its user, from a `@grant`, `@setting` or `@secret` tag. A kind that a
/// later version adds is [`Other`](Self::Other) to this one, which ignores it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum GrantRequest {
    /// A folder of the user's choice.
    Fs {
        /// Whether the plugin wants to write there.
        write: bool,
        /// Reason, in the author's words.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// An environment variable.
    Env {
        /// Name of the variable.
        name: String,
        /// Reason, in the author's words.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// HTTP requests, like `https://api.example.com`.
    Http {
        /// Scheme and host, perhaps with the methods before them, and a port and a path behind:
        /// `[METHODS] SCHEME://HOST[:PORT][/PATH]`. A host is a name, an address, `*.` before a name
        /// for all below it, or `*` for all.
        origin: String,
        /// Reason, in the author's words.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
    },
    /// An MCP server to stand in front of: a program or an endpoint.
    Upstream {
        /// The program and its arguments; empty where it is an endpoint.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        command: Vec<String>,
        /// The endpoint's URL.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
        /// The names of variables that the program needs in its environment, or of
        /// headers that the endpoint wants. Never their values.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        secrets: Vec<String>,
    },
    /// A setting, with a value of the user's own.
    Setting(SettingRequest),
    /// A secret of HTTP requests, which the plugin never sees.
    Secret(SecretRequest),
    /// Something that only a newer Dormouse knows.
    #[serde(other)]
    Other,
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
