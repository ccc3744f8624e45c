//! The contract between Dormouse and its plugins, and the only crate in which WIT becomes MCP.
//!
//! A plugin's tools, prompts and resources are declared statically. This crate turns WIT (source
//! text, or the types of a built component) and MCP's own objects into a [`Declaration`], and
//! stores that in a custom section of the component. The host, `dormouse pack` and the SDK's macro
//! all call it, so they cannot disagree.
//!
//! - [`declaration`]: the static declaration of a plugin;
//! - [`types`]: the types of its tools, with their JSON names;
//! - [`section`]: the declaration inside a `.wasm` file;
//! - [`source`]: WIT → declaration;
//! - [`component_types`]: types of a component in their binary form;
//! - [`objects`]: MCP's own objects → declaration;
//! - [`schema`]: types → JSON Schema 2020-12;
//! - [`contract`]: names and types of the contract itself;
//! - [`pattern_size`]: memory that reading a regular expression takes;
//! - [`template`]: URIs with variables;
//! - [`signature`]: signatures of tools on one line, and comparison of functions.

pub mod component_types;
pub mod contract;
pub mod declaration;
pub mod error;
pub mod objects;
pub mod pattern_size;
pub mod pattern_states;
pub mod schema;
pub mod section;
pub mod signature;
pub mod source;
pub mod template;
pub mod types;

mod function_size;
mod notes;

pub use declaration::{
    Declaration, DeclaredItem, DeclaredTool, Export, FolderAccess, Function, GrantRequest,
    Instance, Param, RequestFault, SecretRequest, SettingFormat, SettingRequest, is_input_name,
};
pub use error::{Error, Finding, Severity};
pub use objects::Offers;
pub use source::{Declared, from_component, from_resolve, from_wit};
pub use template::Template;
pub use types::{Case, Field, Type, VariantCase};

/// The WIT text of `dormouse:plugin`, for tools that need it as a dependency.
pub const CONTRACT_WIT: &str = include_str!("../plugin/plugin.wit");

/// The folder that holds [`CONTRACT_WIT`] where this crate was built; the SDK's
/// macro hands it to wit-bindgen.
pub const CONTRACT_DIR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/plugin");

/// The package name and version of the contract.
pub const CONTRACT: &str = "dormouse:plugin@0.1.0";
