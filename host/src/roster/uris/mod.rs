//! URIs of resources and of pages, as texts: which server one names, and where they are in the
//! messages of servers.

mod own_uri;
mod pages;
mod replaced;
mod result;
mod server_uri;

pub(super) use own_uri::is_own;
pub(super) use pages::{each_page, each_page_of_result, has_page, with_shown_pages};
pub(super) use replaced::with_replaced;
pub(super) use result::{MAX_URI_BYTES, each_uri, text_of};
pub use server_uri::is_page;
pub(super) use server_uri::{is_always_named, split, with_server};
