//! URI templates (RFC 6570), the other way round: which values of its variables
//! make a URI.

use percent_encoding::percent_decode_str;
use regex::Regex;
use serde_json::{Map, Value};

/// A template of literal text, `{name}` (anything within one segment of a path)
/// and `{+name}` (anything).
#[derive(Debug)]
pub(super) struct Template {
    pattern: Regex,
    names: Vec<String>,
}

impl Template {
    /// None where the text is no such template.
    pub(super) fn new(text: &str) -> Option<Self> {
        let mut pattern = String::from("^");
        let mut names = Vec::new();
        let mut rest = text;
        while let Some((literal, after)) = rest.split_once('{') {
            let (variable, after) = after.split_once('}')?;
            pattern.push_str(&regex::escape(literal));
            match variable.strip_prefix('+') {
                Some(name) => {
                    pattern.push_str("(.+)");
                    names.push(name.to_owned());
                }
                None => {
                    pattern.push_str("([^/?#]+)");
                    names.push(variable.to_owned());
                }
            }
            rest = after;
        }
        pattern.push_str(&regex::escape(rest));
        pattern.push('$');
        Some(Self {
            pattern: Regex::new(&pattern).ok()?,
            names,
        })
    }

    /// The values of its variables, where the URI is one of its.
    pub(super) fn matched(&self, uri: &str) -> Option<Map<String, Value>> {
        let found = self.pattern.captures(uri)?;
        let values = found.iter().skip(1).zip(&self.names);
        values
            .map(|(value, name)| {
                let value = percent_decode_str(value?.as_str()).decode_utf8().ok()?;
                Some((name.clone(), Value::from(value.into_owned())))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_uri_gives_the_values_of_its_template() {
        let table = [
            ("test://t/{id}/data", "test://t/1/data", json!({"id": "1"})),
            (
                "test://t/{id}/data",
                "test://t/a%20b%2Fc/data",
                json!({"id": "a b/c"}),
            ),
            ("f://{a}/{b}", "f://x/y", json!({"a": "x", "b": "y"})),
            ("f:///{+path}", "f:///a/b?c", json!({"path": "a/b?c"})),
            ("a.b://{x}", "a.b://ä", json!({"x": "ä"})),
        ];
        for (template, uri, expected) in table {
            let template = Template::new(template).unwrap();
            assert_eq!(
                template.matched(uri).map(Value::Object),
                Some(expected),
                "{uri}"
            );
        }
    }

    #[test]
    fn another_uri_is_none_of_its() {
        let table = [
            ("test://t/{id}/data", "test://t/1/2/data"),
            ("test://t/{id}/data", "test://t//data"),
            ("test://t/{id}/data", "xtest://t/1/data"),
            ("test://t/{id}/data", "test://t/1/data/more"),
            ("a.b://{x}", "acb://y"),
            ("f://{a}", "f://%ff"),
        ];
        for (template, uri) in table {
            assert_eq!(Template::new(template).unwrap().matched(uri), None, "{uri}");
        }
        assert!(Template::new("f://{a").is_none());
    }
}
