//! Projects: what their files say, whether they are trusted with that, and what a user is shown of it.

pub(crate) mod project_content;
pub(crate) mod project_path;
pub mod review;
pub(crate) mod trusted;
