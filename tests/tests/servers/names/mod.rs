//! Names and URIs that several servers have.

mod one_name;
mod page_names;
mod pages;
mod same_uri;
