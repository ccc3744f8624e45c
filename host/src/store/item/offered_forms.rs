//! Forms of the items by which requests are judged, as an upstream has offered them.

use std::collections::BTreeMap;

use blake3::Hash;
use dormouse_upstream::Offered;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::canonical::canonical;
use super::gated::Gated;

/// Kinds of the items by which requests are judged.
const KINDS: [Gated; 2] = [Gated::Tool, Gated::Prompt];

/// Forms in which an upstream has offered its tools and prompts, by kind and name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(in super::super) struct OfferedForms(BTreeMap<Gated, BTreeMap<String, FormHash>>);

/// Hash of the canonical text of an item, or of its text where that has none. Written as hexadecimal
/// digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
struct FormHash(Hash);

impl FormHash {
    fn of(item: &RawValue) -> Self {
        let canonical = canonical(item.get());
        let text = canonical.as_deref().unwrap_or_else(|| item.get());
        Self(blake3::hash(text.as_bytes()))
    }
}

impl From<FormHash> for String {
    fn from(FormHash(hash): FormHash) -> Self {
        hash.to_hex().to_string()
    }
}

impl TryFrom<String> for FormHash {
    type Error = blake3::HexError;

    fn try_from(digits: String) -> Result<Self, Self::Error> {
        Hash::from_hex(digits).map(Self)
    }
}

impl OfferedForms {
    /// Returns the forms of an offer, without those of lists that were not told.
    pub(in super::super) fn of(offered: &Offered) -> Self {
        let told = KINDS.into_iter().filter(|kind| kind.is_told_of(offered));
        let forms = told.map(|kind| {
            let items = kind.of(offered).into_iter();
            let forms = items.map(|(name, item)| (name, FormHash::of(&item)));
            (kind, forms.collect())
        });
        Self(forms.collect())
    }

    /// Takes the forms of lists that were not told from the offer before.
    pub(in super::super) fn keep_untold(&mut self, before: &Self) {
        for (kind, forms) in &before.0 {
            self.0.entry(*kind).or_insert_with(|| forms.clone());
        }
    }

    /// Removes the forms of the items of a kind whose names are not to be kept.
    pub(in super::super) fn retain(&mut self, kind: Gated, is_kept: impl Fn(&str) -> bool) {
        if let Some(forms) = self.0.get_mut(&kind) {
            forms.retain(|name, _| is_kept(name));
        }
    }

    /// Checks whether there is an item of that kind and name.
    pub(in super::super) fn has(&self, kind: Gated, name: &str) -> bool {
        self.form(kind, name).is_some()
    }

    /// Checks whether other forms have an item in the form that it has here, where it is here.
    pub(in super::super) fn are_same(
        &self,
        others: Option<&Self>,
        kind: Gated,
        name: &str,
    ) -> bool {
        let form = self.form(kind, name);
        form.is_none() || form == others.and_then(|others| others.form(kind, name))
    }

    fn form(&self, kind: Gated, name: &str) -> Option<FormHash> {
        self.0.get(&kind)?.get(name).copied()
    }

    pub(in super::super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
