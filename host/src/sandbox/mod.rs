//! What a guest may do. Grants and limits are plain data, and every decision is
//! a pure function of them and of what is found on disk; `wasi`, `filesystem` and
//! `output` wire the decisions into WASI.

#[cfg(unix)]
mod directory_entries;
mod file_streams;
#[cfg(unix)]
mod files_left;
mod filesystem;
mod folder;
mod given_secrets;
mod granted;
pub mod grants;
mod host_limits;
mod http;
mod identity;
pub mod limits;
mod network;
mod output;
mod own;
mod shared;
mod wasi;
mod writable_code;

#[cfg(unix)]
pub(crate) use directory_entries::DirectoryStreams;
pub(crate) use filesystem::{Charge, FilesystemState};
pub use folder::real_path;
pub(crate) use given_secrets::GivenSecrets;
pub use granted::GrantError;
pub(crate) use granted::{GrantedFolders, Preopens};
pub use grants::{FsGrant, FsMode, Grants};
pub use host_limits::HostLimits;
pub(crate) use http::{HttpHooks, HttpMemory, HttpState, http_context};
pub use limits::{Limits, NEVER, UpstreamLimits};
pub(crate) use network::{NetworkGate, NetworkState};
pub(crate) use output::Output;
pub use own::{OwnPlace, OwnPlaces};
pub use shared::SharedFolder;
pub(crate) use wasi::{WASI_VERSION, add_to_linker, context};
pub use writable_code::WritableCode;
