//! Resources: the server that each belongs to, the URI that agents are shown, and who is notified of
//! changes.

mod followed;
mod matching_steps;
mod named;
mod resolution;
mod shown_uris;
mod updates;

pub use followed::{FollowedResource, FollowedUri, ResourceIdentity, UpdatedResource};
pub(super) use named::NamedResources;
pub use resolution::{ListedResource, ResourceSource, UnresolvedResource};
pub(super) use shown_uris::RequestedUri;
pub use updates::MAX_FOLLOWED_URI_BYTES;
pub(super) use updates::WaitingUpdates;
