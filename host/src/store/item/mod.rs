//! Items of upstreams that models are told only as their user knows them: their kinds, how two forms
//! of one are compared, and what is shown of one that has changed.

mod canonical;
mod declared_items;
mod frozen;
mod gated;
mod offered_forms;
mod pending;
mod same_schema;
mod told_form;
mod treatment;
mod visibility;

pub(super) use canonical::canonical;
pub(super) use declared_items::DeclaredItems;
pub(super) use frozen::{caution_of, has_same_caution, most_cautious};
pub(crate) use frozen::{frozen_tool, takes_other_arguments};
pub use gated::Gated;
#[cfg(test)]
pub(super) use gated::SHOWN;
pub(super) use gated::{key, keyed};
pub(super) use offered_forms::OfferedForms;
pub use pending::{Pending, PendingItem, Selection};
#[cfg(test)]
pub(super) use told_form::forget_all;
pub(super) use told_form::{ToldForm, note_shown};
pub(super) use treatment::Novelty;
pub use treatment::Treatment;
pub(crate) use visibility::{is_for_models, is_for_pages};
