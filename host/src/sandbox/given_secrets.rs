//! Secrets that a plugin is given by its user.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::Grants;
use crate::upstream::redaction::{HiddenTexts, HiddenTextsBuilder, is_secret_name, tells_nothing};

/// Variables and settings that a plugin can read, and that are not shown where it prints, logs
/// or reports them. Nothing is looked for, and nothing prepared for that, before it does.
pub(crate) struct GivenSecrets {
    variables: Vec<String>,
    settings: Arc<Map<String, Value>>,
    texts: OnceLock<HiddenTexts>,
}

impl GivenSecrets {
    /// What a plugin with these grants and settings is given.
    pub(crate) fn new(grants: &Grants, settings: &Arc<Map<String, Value>>) -> Arc<Self> {
        Arc::new(Self {
            variables: grants.env.clone(),
            settings: Arc::clone(settings),
            texts: OnceLock::new(),
        })
    }

    /// A text without any of them.
    pub(crate) fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self.texts() {
            Some(texts) => Cow::Owned(texts.redact(text)),
            None => Cow::Borrowed(text),
        }
    }

    /// A value without any of them.
    pub(crate) fn redact_value(&self, value: Value) -> Value {
        match self.texts() {
            Some(texts) => texts.redact_value(&value),
            None => value,
        }
    }

    /// All of them, as they are looked for; none where nothing is given.
    fn texts(&self) -> Option<&HiddenTexts> {
        if self.variables.is_empty() && self.settings.is_empty() {
            return None;
        }
        Some(self.texts.get_or_init(|| {
            let mut texts = HiddenTextsBuilder::default();
            for name in &self.variables {
                if let Ok(value) = std::env::var(name)
                    && (is_secret_name(name) || !tells_nothing(&value))
                {
                    texts.add_credential(&value);
                }
            }
            for (name, value) in self.settings.as_ref() {
                add(&mut texts, value, is_secret_name(name));
            }
            texts.build()
        }))
    }
}

/// Adds what stands in a setting below a name of a secret.
fn add(texts: &mut HiddenTextsBuilder, value: &Value, is_secret: bool) {
    match value {
        Value::String(text) if is_secret => texts.add_credential(text),
        Value::Array(items) => items.iter().for_each(|item| add(texts, item, is_secret)),
        Value::Object(members) => {
            for (name, member) in members {
                add(texts, member, is_secret || is_secret_name(name));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_plugin_is_given_is_not_shown() {
        let settings = json!({
            "api_key": "setting-secret-1", "url": "https://example.com/",
            "deep": [{ "password": ["setting-secret-2"] }],
        });
        let settings = Arc::new(settings.as_object().unwrap().clone());
        let secrets = GivenSecrets::new(&Grants::default(), &settings);
        assert_eq!(
            secrets.redact("setting-secret-1, setting-secret-2 and https://example.com/"),
            "…, … and https://example.com/"
        );
        assert_eq!(
            secrets.redact_value(json!({ "a": ["setting-secret-2", 1] })),
            json!({ "a": ["…", 1] })
        );
        // Whoever runs the tests has that, and it is no secret of a name.
        let grants = Grants {
            env: vec!["CARGO_MANIFEST_DIR".to_owned(), "DORMOUSE_NONE".to_owned()],
            ..Grants::default()
        };
        let secrets = GivenSecrets::new(&grants, &Arc::default());
        assert_eq!(secrets.redact("nothing to hide"), "nothing to hide");
        let none = GivenSecrets::new(&Grants::default(), &Arc::default());
        assert!(matches!(none.redact("x"), Cow::Borrowed("x")));
        assert_eq!(none.redact_value(json!("x")), json!("x"));
    }
}
