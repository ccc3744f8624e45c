//! Lists of an upstream, and their changes.

pub(crate) mod fetch;
pub(crate) mod fetch_turns;
pub(crate) mod follow;
pub(crate) mod judged_items;
pub(crate) mod list_changes;
mod listen;
pub(crate) mod lists;
pub(crate) mod needed_lists;
pub(crate) mod offered;
pub(crate) mod subscriptions;
