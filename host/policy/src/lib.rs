//! Rights of servers and what agents are shown of them, as plain data, and decisions that are functions of
//! them and of what is found on disk.

#![forbid(unsafe_code)]

mod backoff;
pub mod exposure;
mod folder;
mod found_paths;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod grants;
mod host_limits;
mod http_grant;
mod http_secret;
mod identity;
mod limits;
mod log_budget;
mod mounts;
mod own;
mod own_files;
mod own_folders;
mod own_watch;
mod path_watch;
mod resolved;
mod shared;
mod writable_code;

pub use backoff::Backoff;
pub use folder::{OpenError, OpenFolder, real_path};
pub use grants::{FsGrant, FsMode, Grants};
pub use host_limits::{HostLimits, processors};
pub use http_grant::{HttpGrant, HttpGrantError, bare_host, grant_of_origin};
pub use http_secret::{
    HttpSecret, ProviderLogin, SecretFile, SecretHost, SecretHostError, SecretPlacement,
    SecretSource, ValueTemplate, ValueTemplateError,
};
pub use identity::Identity;
pub use limits::{Limits, NEVER, UpstreamLimits};
pub use log_budget::LogBudget;
pub use own::{OwnPlace, OwnPlaceList, OwnPlaces};
pub use own_watch::JudgedAt;
pub use resolved::ResolvedPlaces;
pub use shared::SharedFolder;
pub use writable_code::WritableCode;
