//! The catalog: what all components declare, read from their bytes and indexed
//! on disk.
//!
//! Nothing here can run a component: there is no wasmtime among its
//! dependencies, which is how the compiler holds the promise that listing tools
//! wakes nobody.
//!
//! - [`Catalog`]: the declarations of all components that anybody asks for;
//! - [`read`]: one file → its declaration;
//! - [`check`], [`inspect`], [`pack`]: for authors of plugins;
//! - [`is_concurrent`]: what a component wants of the engine that runs it;
//! - [`imports_alone`]: the imports of a component, to be linked without its code;
//! - [`with_epoch_checks`]: the component with places at which it can be interrupted;
//! - [`max_module_items`], [`instance_footprint`]: memory of its instances that is no linear
//!   memory;
//! - [`validator`]: schemas of tools, compiled;
//! - [`answer`]: what a call of a tool may be answered with;
//! - [`read_regular_file`]: any file that somebody else may have put there;
//! - [`stamp`]: whether a file is still the one that was read.

#![forbid(unsafe_code)]

mod catalog;
mod check;
mod concurrent;
pub mod entry;
mod epoch_checks;
pub mod error;
mod imports_alone;
mod index;
mod inspect;
mod instance_footprint;
mod module_items;
mod pack;
pub mod read;
mod regular;
mod schema_cost;
mod schema_references;
mod schema_rewrite;
mod shape;
pub mod stamp;
mod types;
mod validator;

#[cfg(test)]
mod tests;

pub use catalog::{Catalog, Counts};
pub use check::check;
pub use concurrent::is_concurrent;
pub use entry::{Entry, ListedItem, ListedTool, Listing, Provenance};
pub use epoch_checks::with_epoch_checks;
pub use error::{Problem, ReadError};
pub use imports_alone::imports_alone;
pub use inspect::{Inspection, inspect};
pub use instance_footprint::{InstanceFootprint, instance_footprint};
pub use module_items::max_module_items;
pub use pack::{PackError, pack};
pub use regular::{open_and_read_regular_file, open_regular_file, read_regular_file};
pub use shape::{ItemLimits, NonconformingItem, What, answer, is_moment, shown};
pub use stamp::Stamp;
pub use validator::{
    BoundedValidator, Problems, SchemaError, SchemaProblem, check_schema, too_costly, validator,
};
