//! Items of an array.

use std::fmt;

use serde::de::{Deserializer as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The first items of an array, each as it is written.
#[derive(Debug, PartialEq, Eq)]
pub struct Items<'a> {
    /// The items.
    pub items: Vec<&'a str>,
    /// Number of items behind those.
    pub left_out: usize,
}

/// Reads the first `limit` items of an array. The rest is counted and takes no memory.
///
/// # Errors
/// The text is not JSON, or something else than an array.
pub fn items(text: &str, limit: usize) -> serde_json::Result<Items<'_>> {
    let (mut items, mut left_out) = (Vec::new(), 0);
    each_item(text, |item| match items.len() < limit {
        true => items.push(item),
        false => left_out += 1,
    })?;
    Ok(Items { items, left_out })
}

/// Calls a function with each item of an array, as it is written. No item is kept.
///
/// # Errors
/// The text is not JSON, or something else than an array. The function has had the items before the
/// mistake.
pub fn each_item<'a>(text: &'a str, each: impl FnMut(&'a str)) -> serde_json::Result<()> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    deserializer.deserialize_seq(Each(each))?;
    deserializer.end()
}

struct Each<F>(F);

impl<'de, F: FnMut(&'de str)> Visitor<'de> for Each<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut all: A) -> Result<(), A::Error> {
        while let Some(item) = all.next_element::<&'de RawValue>()? {
            (self.0)(item.get());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_are_taken_and_the_rest_is_counted() {
        let text = r#" [1, {"a":[2]} ,"x"] "#;
        for (limit, left_out) in [(0, 3), (2, 1), (3, 0), (4, 0)] {
            let found = items(text, limit).unwrap();
            assert_eq!(found.left_out, left_out);
            assert_eq!(
                found.items,
                [r#"1"#, r#"{"a":[2]}"#, r#""x""#][..3 - left_out]
            );
        }
        let mut found = Vec::new();
        each_item(text, |item| found.push(item)).unwrap();
        assert_eq!(found, [r#"1"#, r#"{"a":[2]}"#, r#""x""#]);
        for bad in ["", "{}", "[1", "[1] x", "[1,]"] {
            assert!(items(bad, 1).is_err(), "{bad}");
            assert!(each_item(bad, |_| {}).is_err(), "{bad}");
        }
    }
}
