//! Names and URIs that several servers have.

mod allowed_names;
mod discover;
mod one_name;
mod own_tools;
mod page_names;
mod pages;
mod pending_tools;
mod profile_uris;
mod same_uri;
mod tool_visibility;
