//! Reading of a component's bytes, without running it.

pub mod addressed_bytes;
mod concurrent;
mod contract_version;
mod damage;
pub(crate) mod declaration;
mod epoch_checks;
mod imports_alone;
mod instance_footprint;
pub(crate) mod listing;
mod module_items;
mod payloads;
pub(crate) mod preamble;

pub use concurrent::is_concurrent;
pub use epoch_checks::with_epoch_checks;
pub use imports_alone::imports_alone;
pub use instance_footprint::{InstanceFootprint, TooManyParts, instance_footprint};
pub use module_items::max_module_items;
