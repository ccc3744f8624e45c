//! The members of an object, and changing some of them.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::object::Verdict;
use super::text::string;

/// What is changed of an object. Everything else stays as it is written.
#[derive(Default)]
pub(super) struct Edit(Vec<(usize, Option<String>)>);

impl Edit {
    pub(super) fn replace(&mut self, member: usize, value: String) {
        self.0.push((member, Some(value)));
    }

    pub(super) fn remove(&mut self, member: usize) {
        self.0.push((member, None));
    }

    pub(super) fn verdict(self, members: &[Member<'_>]) -> Verdict {
        if self.0.is_empty() {
            return Verdict::Fine;
        }
        let mut text = String::from("{");
        for (index, member) in members.iter().enumerate() {
            let mut changes = self.0.iter();
            let change = changes.find(|(changed, _)| *changed == index);
            let value = match change {
                Some((_, None)) => continue,
                Some((_, Some(value))) => value,
                None => member.value,
            };
            let comma = if text.len() > 1 { "," } else { "" };
            text.push_str(&format!("{comma}{}:{value}", member.written));
        }
        text.push('}');
        Verdict::Instead(text)
    }
}

/// A member of an object.
#[derive(Debug)]
pub(super) struct Member<'a> {
    pub(super) name: Cow<'a, str>,
    /// The name as it is written.
    written: &'a str,
    /// The text of its value.
    pub(super) value: &'a str,
}

/// The members of an object, in order.
pub(super) fn members(text: &str) -> Option<Vec<Member<'_>>> {
    struct All<'a>(Vec<Member<'a>>);

    impl<'de> Deserialize<'de> for All<'de> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Object;
            impl<'de> Visitor<'de> for Object {
                type Value = All<'de>;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("an object")
                }

                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                    let mut all = Vec::new();
                    while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                        let written = name.get();
                        let name = string(written).unwrap_or(Cow::Borrowed(written));
                        let value = value.get();
                        all.push(Member {
                            name,
                            written,
                            value,
                        });
                    }
                    Ok(All(all))
                }
            }
            deserializer.deserialize_map(Object)
        }
    }

    serde_json::from_str(text).ok().map(|All(members)| members)
}
