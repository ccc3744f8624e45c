//! Whether a text is what any client can have.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// How deep an item may be: as many clients read nothing that is deeper than 128, and
/// around an item there is a list, a result and a message.
const DEEPEST: usize = 100;

/// Whether everything in a text is what any client can have: no half of a character, no
/// number beyond all, and not too deep.
///
/// # Errors
/// What is not.
pub(super) fn sound(text: &str) -> Result<(), String> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    Sound(DEEPEST)
        .deserialize(&mut deserializer)
        .map_err(|error| error.to_string())
}

struct Sound(usize);

impl Sound {
    fn deeper<E: Error>(&self) -> Result<usize, E> {
        let deeper = || E::custom(format_args!("it is deeper than {DEEPEST}"));
        self.0.checked_sub(1).ok_or_else(deeper)
    }
}

impl<'de> DeserializeSeed<'de> for Sound {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Sound {
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
        while seq.next_element_seed(Self(deeper))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let deeper = self.deeper()?;
        while map.next_key_seed(Self(deeper))?.is_some() {
            map.next_value_seed(Self(deeper))?;
        }
        Ok(())
    }
}
