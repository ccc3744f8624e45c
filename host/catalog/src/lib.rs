//! The catalog: declarations of all components, read from their bytes and indexed on disk.
//!
//! Nothing here can run a component: wasmtime is not among the dependencies, so that the compiler
//! enforces that listing tools starts none of them.
//!
//! - [`Catalog`]: declarations of all requested components;
//! - [`read`]: one file → its declaration;
//! - [`check`], [`inspect`], [`pack`]: for authors of plugins;
//! - [`is_concurrent`]: requirements of a component on the engine that runs it;
//! - [`imports_alone`]: the imports of a component, to be linked without its code;
//! - [`with_epoch_checks`]: a component with places at which it can be interrupted;
//! - [`addressed_bytes`]: a component whose lists of bytes are reached without a value for each byte;
//! - [`max_module_items`], [`instance_footprint`]: memory of its instances that is no linear
//!   memory;
//! - [`validator`]: schemas of tools, compiled;
//! - [`answer`]: check of a result of a tool, a prompt or a resource;
//! - [`stamp`]: check whether a file is still the one that was read.

#![forbid(unsafe_code)]

mod catalog;
mod check;
mod component;
mod component_file;
pub mod entry;
pub mod error;
mod first_findings;
mod inspect;
mod json_schema;
mod pack;
pub mod read;
pub mod read_process;
mod round;
mod shape;
pub mod stamp;
mod types;

#[cfg(test)]
mod tests;

pub use catalog::{Catalog, CatalogCounts};
pub use check::check;
pub use component::addressed_bytes;
pub use component::{
    InstanceFootprint, TooManyParts, imports_alone, instance_footprint, is_concurrent,
    max_module_items, with_epoch_checks,
};
pub use entry::{CatalogEntry, ListedItem, ListedTool, Listing, Provenance};
pub use error::{Problem, ReadError};
pub use inspect::Inspection;
pub use json_schema::{
    BoundedValidator, Problems, SchemaError, SchemaProblem, check_schema, too_costly, validator,
};
pub use pack::{PackError, pack};
pub use read_process::{ReadCommand, ReadTask, check_file, inspect_file};
pub use round::ReadRound;
pub use shape::{ItemLimits, NonconformingItem, What, answer, is_moment, shown};
pub use stamp::Stamp;
