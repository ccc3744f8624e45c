//! What a client can be asked.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::runtime::Capability;

/// What a client can be asked, as MCP writes it (`ClientCapabilities`), and the same for all that
/// mean the same. An upstream may ask no more than that, and some offer more to those who can be
/// asked more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Able(Map<String, Value>);

impl Able {
    /// Everything: for finding out what there is, when nobody waits for a call.
    pub(super) fn all() -> Self {
        Self::with(|_| true)
    }

    /// What a client can be asked that has declared this.
    pub(super) fn declared(members: &Map<String, Value>) -> Self {
        let has = |outer: &str, inner: &str| {
            let outer = members.get(outer);
            outer.is_some_and(|outer| outer.get(inner).is_some_and(|inner| !inner.is_null()))
        };
        let is_there = |name: &str| members.get(name).is_some_and(|member| !member.is_null());
        Self::with(|capability| match capability {
            // One that says no more than `elicitation` means forms.
            Capability::ElicitationForm => {
                is_there("elicitation")
                    && (has("elicitation", "form") || !has("elicitation", "url"))
            }
            Capability::ElicitationUrl => has("elicitation", "url"),
            Capability::Sampling => is_there("sampling"),
            Capability::SamplingTools => has("sampling", "tools"),
            Capability::SamplingContext => has("sampling", "context"),
            Capability::Roots => is_there("roots"),
        })
    }

    /// What a client can be asked of which that is true.
    pub(crate) fn with(can: impl Fn(Capability) -> bool) -> Self {
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

    /// The members of MCP `ClientCapabilities`.
    pub(crate) fn into_members(self) -> Map<String, Value> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_declared_in_another_way_means_the_same() {
        for (declared, expected) in [
            (json!({}), json!({})),
            (
                json!({ "elicitation": {} }),
                json!({ "elicitation": { "form": {} } }),
            ),
            (
                json!({ "elicitation": { "url": {} }, "roots": { "listChanged": true } }),
                json!({ "elicitation": { "url": {} }, "roots": {} }),
            ),
            (
                json!({ "sampling": { "context": {} }, "elicitation": null }),
                json!({ "sampling": { "context": {} } }),
            ),
        ] {
            let able = Able::declared(declared.as_object().unwrap());
            assert_eq!(json!(able.into_members()), expected);
        }
        let all = Able::all();
        assert_eq!(Able::declared(&all.clone().into_members()), all);
    }

    #[test]
    fn whoever_can_be_asked_more_covers_whoever_can_be_asked_less() {
        let able = |can: &'static [Capability]| Able::with(|one| can.contains(&one));
        let all = Able::all();
        let forms = able(&[Capability::ElicitationForm]);
        let pages = able(&[Capability::ElicitationUrl, Capability::Roots]);
        let samples = able(&[Capability::Sampling]);
        let tools = able(&[Capability::Sampling, Capability::SamplingTools]);
        assert_eq!(
            json!(tools.clone().into_members()),
            json!({ "sampling": { "tools": {} } })
        );
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
