//! Forms of objects as models are told them, by which they are compared.
//!
//! Working out a form takes time for each member of an object, and one change of an upstream's lists
//! compares each object with several others. So what was worked out is remembered, by hashes.

use std::collections::HashMap;
use std::sync::LazyLock;

use blake3::{Hash, Hasher};
use dormouse_jsonrpc::Object;
use parking_lot::Mutex;
use serde_json::Value;
use serde_json::value::RawValue;

use super::gated::{Gated, bare_output_schema};

/// Most objects that are remembered: as many as a few upstreams with the longest lists have.
const MAX_REMEMBERED: usize = 1 << 16;

static REMEMBERED: LazyLock<Mutex<HashMap<Hash, ToldState>>> = LazyLock::new(Mutex::default);

/// Knowledge of an object.
#[derive(Debug, Clone, Copy)]
enum ToldState {
    /// It cannot be shown.
    Never,
    /// It can be shown, in a form that was not worked out.
    Shown,
    /// It is told in this form.
    Form(ToldForm),
}

/// Form of an object as models are told it. Equal ones are of objects with one canonical text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct ToldForm {
    /// Hash of the canonical text.
    text: Hash,
    /// Hash of a tool's form in the newest era, where it has an output schema.
    in_newest_era: Option<Hash>,
}

impl ToldForm {
    /// Returns the form of an object; none if it cannot be shown.
    pub(in super::super) fn of(kind: Gated, name: &str, object: &RawValue) -> Option<Self> {
        let key = key(kind, name, object);
        match remembered(&key) {
            Some(ToldState::Never) => return None,
            Some(ToldState::Form(form)) => return Some(form),
            Some(ToldState::Shown) | None => {}
        }
        let form = kind.told(name, object).map(|told| Self {
            text: blake3::hash(told.as_bytes()),
            in_newest_era: in_newest_era(kind, &told),
        });
        remember(key, form.map_or(ToldState::Never, ToldState::Form));
        form
    }

    /// Checks whether a model is told the same by another form, in whichever era of MCP each is.
    pub(super) fn tells_the_same(self, other: Self) -> bool {
        let in_newest_era = self.in_newest_era.zip(other.in_newest_era);
        self.text == other.text || in_newest_era.is_some_and(|(one, other)| one == other)
    }
}

/// Checks whether models can be shown an object. What can be shown has a canonical text, because no
/// member of it is there twice, and it is no deeper than that may be.
pub(super) fn is_told(kind: Gated, name: &str, object: &RawValue) -> bool {
    if kind == Gated::Instructions {
        return ToldForm::of(kind, name, object).is_some();
    }
    let key = key(kind, name, object);
    match remembered(&key) {
        Some(ToldState::Never) => false,
        Some(ToldState::Shown | ToldState::Form(_)) => true,
        None => {
            let is_told = kind.shown(name, object).is_some();
            let state = match is_told {
                true => ToldState::Shown,
                false => ToldState::Never,
            };
            remember(key, state);
            is_told
        }
    }
}

/// Remembers that models can be shown an object.
pub(in super::super) fn note_shown(kind: Gated, name: &str, object: &RawValue) {
    let key = key(kind, name, object);
    if remembered(&key).is_none() {
        remember(key, ToldState::Shown);
    }
}

fn key(kind: Gated, name: &str, object: &RawValue) -> Hash {
    hash(&[&kind.to_string(), name, object.get()])
}

fn hash(parts: &[&str]) -> Hash {
    let mut hasher = Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize()
}

fn remembered(key: &Hash) -> Option<ToldState> {
    REMEMBERED.lock().get(key).copied()
}

fn remember(key: Hash, state: ToldState) {
    let mut remembered = REMEMBERED.lock();
    // What is forgotten is worked out again, and memory is given back.
    if remembered.len() >= MAX_REMEMBERED {
        *remembered = HashMap::new();
    }
    remembered.insert(key, state);
}

/// Returns the hash of a tool in the form of the newest era: of its text without the output schema,
/// and of that schema. In earlier eras a result has to be an object, so some SDKs wrap any other
/// result in one, `{"result": …}`, and declare that in the output schema. The user need not approve
/// a tool again because its server was asked in another era.
fn in_newest_era(kind: Gated, told: &str) -> Option<Hash> {
    const SCHEMA: &str = "outputSchema";
    // A canonical text has its names as they are.
    if kind != Gated::Tool || memchr::memmem::find(told.as_bytes(), SCHEMA.as_bytes()).is_none() {
        return None;
    }
    let mut tool = Object::read(told).ok()?;
    let schema = tool.get(SCHEMA)?.to_owned();
    // As texts: numbers of values have fewer digits than those that models are told.
    let read: Value = serde_json::from_str(&schema).ok()?;
    let bare = bare_output_schema(&schema, &read).unwrap_or(&schema);
    tool.remove(SCHEMA);
    Some(hash(&[&tool.into_text(), bare]))
}

/// Forgets all that was worked out, as a process that begins.
#[cfg(test)]
pub(in super::super) fn forget_all() {
    REMEMBERED.lock().clear();
}
