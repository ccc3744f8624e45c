//! Names and values of an object, as text.

use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Reads the names and values of an object, up to a number.
pub(super) struct Pairs<'l> {
    pub(super) limit: usize,
    /// Whether the object has more members.
    pub(super) too_many: &'l mut bool,
}

impl<'de> Visitor<'de> for Pairs<'_> {
    type Value = Vec<(&'de RawValue, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            if pairs.len() >= self.limit {
                *self.too_many = true;
                return Err(A::Error::custom("too many members"));
            }
            pairs.push(pair);
        }
        Ok(pairs)
    }
}
