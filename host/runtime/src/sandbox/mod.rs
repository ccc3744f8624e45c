//! Sandbox of a guest, wired into WASI: the decisions are `dormouse-policy`'s.

mod filesystem;
mod given_secrets;
mod granted;
mod http;
mod network;
mod output;
mod wasi;

#[cfg(unix)]
pub(crate) use filesystem::DirectoryStreams;
#[cfg(target_os = "linux")]
pub(crate) use filesystem::HeldFiles;
pub(crate) use filesystem::{Charge, FilesystemState};
pub(crate) use given_secrets::GivenSecrets;
pub(crate) use granted::Preopens;
pub use granted::{GrantError, GrantedFolders};
pub(crate) use http::{HttpHooks, HttpMemory, HttpState, http_context};
pub(crate) use network::{DeniedRequest, NetworkGate, NetworkState};
pub(crate) use output::InstanceOutput;
pub(crate) use wasi::{WASI_VERSION, add_to_linker, context};
