//! Configuration of one server: its adapter, limits and overlays.

pub mod bridge;
pub(crate) mod client_rules;
mod http_secrets;
pub(crate) mod launch_folder;
pub(crate) mod launch_target;
pub(crate) mod limits;
pub(crate) mod on_change;
pub(crate) mod overlay;
pub(crate) mod refused;
pub(crate) mod upstream;
