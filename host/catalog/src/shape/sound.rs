//! Check that any client can read a JSON text.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use dormouse_jsonrpc::RESERVED_NAME;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::ItemLimits;

/// Checks that any client can read a JSON text: it has no half of a character, no number out of
/// range, no two members of one name, no reserved member name, and is within the limits.
///
/// # Errors
/// The text is none of these, with the reason.
pub(super) fn sound(text: &str, limits: &ItemLimits) -> Result<(), String> {
    if text.len() > limits.bytes {
        return Err(format!(
            "it has {} bytes where {} are allowed",
            text.len(),
            limits.bytes
        ));
    }
    let members = Cell::new(0);
    let sound = Sound {
        limits,
        members: &members,
        depth: 0,
    };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    sound
        .deserialize(&mut deserializer)
        .map_err(|error| error.to_string())
}

#[derive(Clone, Copy)]
struct Sound<'l> {
    limits: &'l ItemLimits,
    /// Number of members so far, at all levels.
    members: &'l Cell<usize>,
    depth: usize,
}

impl Sound<'_> {
    fn deeper<E: Error>(mut self) -> Result<Self, E> {
        self.depth += 1;
        let limit = self.limits.depth;
        if self.depth > limit {
            return Err(E::custom(format_args!("it is deeper than {limit}")));
        }
        Ok(self)
    }

    fn count<E: Error>(&self) -> Result<(), E> {
        self.members.set(self.members.get() + 1);
        let limit = self.limits.members;
        if self.members.get() > limit {
            let why = format_args!("it has more than {limit} members");
            return Err(E::custom(why));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Sound<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Sound<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        let deeper = self.deeper()?;
        while seq.next_element_seed(deeper)?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let deeper = self.deeper()?;
        let mut names: HashSet<String> = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            self.count()?;
            if name.starts_with(RESERVED_NAME) {
                let why = format_args!("a member's name begins with `{RESERVED_NAME}`");
                return Err(A::Error::custom(why));
            }
            map.next_value_seed(deeper)?;
            if let Some(name) = names.replace(name) {
                let shown: String = name.chars().take(60).collect();
                let why = format_args!("`{shown}` is there twice");
                return Err(A::Error::custom(why));
            }
        }
        Ok(())
    }
}
