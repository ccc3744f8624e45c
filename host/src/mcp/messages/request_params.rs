//! Parameters of requests.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::error_object::ErrorObject;

/// Parameters, each of which is there once: with two of one name it would be open which one the
/// headers repeat.
struct UniqueParams(Map<String, Value>);

impl<'de> Deserialize<'de> for UniqueParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = UniqueParams;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<UniqueParams, A::Error> {
                let mut params = Map::new();
                while let Some((name, value)) = all.next_entry::<String, Value>()? {
                    match params.entry(name) {
                        Entry::Vacant(place) => place.insert(value),
                        Entry::Occupied(there) => {
                            let twice = format!("`{}` is there twice", there.key());
                            return Err(serde::de::Error::custom(twice));
                        }
                    };
                }
                Ok(UniqueParams(params))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Reads the parameters of a request.
///
/// # Errors
/// The parameters are invalid.
pub(in crate::mcp) fn read(text: &[u8]) -> Result<Map<String, Value>, ErrorObject> {
    let refuse = |why: String| Err(ErrorObject::invalid_params(why));
    let params = match text {
        b"" | b"null" => Map::new(),
        text => match serde_json::from_slice(text) {
            Ok(UniqueParams(params)) => params,
            Err(error) => return refuse(format!("`params` cannot be read: {error}")),
        },
    };
    match params.get("_meta") {
        None | Some(Value::Object(_) | Value::Null) => Ok(params),
        Some(meta) => refuse(format!("`_meta` has to be an object, and is `{meta}`")),
    }
}
