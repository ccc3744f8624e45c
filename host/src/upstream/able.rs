//! What a client can be asked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::runtime::{Capability, Listener};

/// What a client can be asked, as MCP writes it (`ClientCapabilities`). An upstream
/// may ask no more than that, and some offer more to those who can be asked more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Able(Map<String, Value>);

impl Able {
    /// Everything: for finding out what there is, when nobody waits for a call.
    pub(super) fn all() -> Self {
        Self::with(|_| true)
    }

    /// What the client of a caller can be asked.
    pub(super) fn of(listener: &dyn Listener) -> Self {
        Self::with(|capability| listener.supports(capability))
    }

    fn with(can: impl Fn(Capability) -> bool) -> Self {
        let mut able = Map::new();
        let mut elicitation = Map::new();
        if can(Capability::ElicitationForm) {
            elicitation.insert("form".into(), json!({}));
        }
        if can(Capability::ElicitationUrl) {
            elicitation.insert("url".into(), json!({}));
        }
        if !elicitation.is_empty() {
            able.insert("elicitation".into(), Value::Object(elicitation));
        }
        if can(Capability::Sampling) {
            let mut sampling = Map::new();
            for (capability, name) in [
                (Capability::SamplingTools, "tools"),
                (Capability::SamplingContext, "context"),
            ] {
                if can(capability) {
                    sampling.insert(name.into(), json!({}));
                }
            }
            able.insert("sampling".into(), Value::Object(sampling));
        }
        if can(Capability::Roots) {
            able.insert("roots".into(), json!({}));
        }
        Self(able)
    }

    /// Whether this client can be asked all that the other one can.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        fn holds(all: &Map<String, Value>, some: &Map<String, Value>) -> bool {
            some.iter()
                .all(|(name, some)| match (all.get(name), some.as_object()) {
                    (Some(Value::Object(all)), Some(some)) => holds(all, some),
                    (found, _) => found.is_some(),
                })
        }
        holds(&self.0, &other.0)
    }

    /// As it is written in a message.
    pub(super) fn written(&self) -> Value {
        Value::Object(self.0.clone())
    }

    /// The same, where it is written once for a whole connection: with whether the
    /// client says so when its roots are no longer what they were.
    pub(super) fn lasting(&self, tells_roots: bool) -> Value {
        let mut able = self.0.clone();
        if let (true, Some(roots)) = (tells_roots, able.get_mut("roots")) {
            *roots = json!({ "listChanged": true });
        }
        Value::Object(able)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_can_be_asked_more_covers_whoever_can_be_asked_less() {
        let able = |can: &'static [Capability]| Able::with(|one| can.contains(&one));
        let all = Able::all();
        let forms = able(&[Capability::ElicitationForm]);
        let pages = able(&[Capability::ElicitationUrl, Capability::Roots]);
        let samples = able(&[Capability::Sampling]);
        let tools = able(&[Capability::Sampling, Capability::SamplingTools]);
        assert_eq!(tools.written(), json!({ "sampling": { "tools": {} } }));
        let table = [
            (&all, &tools, true),
            (&tools, &samples, true),
            (&samples, &tools, false),
            (&all, &forms, true),
            (&forms, &all, false),
            (&forms, &pages, false),
            (&pages, &forms, false),
            (&forms, &forms, true),
            (&forms, &Able::default(), true),
        ];
        for (one, other, expected) in table {
            assert_eq!(one.covers(other), expected, "{one:?} {other:?}");
        }
    }
}
