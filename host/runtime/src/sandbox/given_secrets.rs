//! Secrets that a plugin is given by its user.

use std::borrow::Cow;
use std::sync::Arc;

use dormouse_egress::GrantedHttp;
use dormouse_launch::redaction::{HiddenTexts, HiddenTextsBuilder, MAX_WRITTEN_PIECE_BYTES};
use dormouse_policy::Grants;
use parking_lot::Mutex;
use serde_json::{Map, Value};

/// Variables and settings that a plugin can read, and secrets of its HTTP requests, which it may hear
/// of from their hosts. They are hidden where it prints, logs or reports them. The search for them is
/// prepared at its first use.
pub(crate) struct GivenSecrets {
    variables: Vec<String>,
    settings: Arc<Map<String, Value>>,
    http: Arc<GrantedHttp>,
    texts: Mutex<Option<Prepared>>,
}

/// Texts to hide, prepared when so many secrets of HTTP requests were known.
struct Prepared {
    looked_up: usize,
    texts: Arc<HiddenTexts>,
}

impl GivenSecrets {
    /// Returns the secrets of a plugin with these grants, settings and HTTP requests.
    pub(crate) fn new(
        grants: &Grants,
        settings: &Arc<Map<String, Value>>,
        http: &Arc<GrantedHttp>,
    ) -> Arc<Self> {
        Arc::new(Self {
            variables: grants.env.clone(),
            settings: Arc::clone(settings),
            http: Arc::clone(http),
            texts: Mutex::default(),
        })
    }

    /// Returns the first `bytes` of a text, with all secrets hidden.
    pub(crate) fn redact_beginning<'t>(&self, text: &'t str, bytes: usize) -> Cow<'t, str> {
        let end = text.floor_char_boundary(bytes);
        match self.texts() {
            Some(texts) => {
                let with_more =
                    text.floor_char_boundary(end.saturating_add(MAX_WRITTEN_PIECE_BYTES));
                let text = text.get(..with_more).unwrap_or(text);
                Cow::Owned(texts.redact_beginning(text, end))
            }
            None => Cow::Borrowed(text.get(..end).unwrap_or(text)),
        }
    }

    /// Returns the end of a text from the byte `start` on, with all secrets hidden.
    pub(crate) fn redact_end<'t>(&self, text: &'t str, start: usize) -> Cow<'t, str> {
        let start = text.ceil_char_boundary(start);
        match self.texts() {
            Some(texts) => Cow::Owned(texts.redact_end(text, start)),
            None => Cow::Borrowed(text.get(start..).unwrap_or(text)),
        }
    }

    /// Returns a value with all secrets hidden.
    pub(crate) fn redact_value(&self, value: Value) -> Value {
        match self.texts() {
            Some(texts) => texts.redact_value(&value),
            None => value,
        }
    }

    /// Returns the texts to hide; none where there is nothing.
    fn texts(&self) -> Option<Arc<HiddenTexts>> {
        // There may be more when these are read.
        let looked_up = self.http.secrets().looked_up();
        if self.variables.is_empty() && self.settings.is_empty() && looked_up == 0 {
            return None;
        }
        let mut prepared = self.texts.lock();
        if let Some(prepared) = &*prepared
            && prepared.looked_up == looked_up
        {
            return Some(Arc::clone(&prepared.texts));
        }
        let mut texts = HiddenTextsBuilder::default();
        for name in &self.variables {
            if let Ok(value) = std::env::var(name) {
                texts.add_variable(name, &value);
            }
        }
        for (name, value) in self.settings.as_ref() {
            texts.add_setting(name, value);
        }
        for secret in self.http.secrets().resolved() {
            texts.add(secret.expose());
        }
        let texts = Arc::new(texts.build());
        *prepared = Some(Prepared {
            looked_up,
            texts: Arc::clone(&texts),
        });
        Some(texts)
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
            "database": "postgres://me:secret-of-base@db.example/x",
            "site": "https://api.example/?api_key=secret-of-query",
            "headers": ["Authorization: Bearer secret-of-header", "Accept: text/plain"],
            "args": ["--token", "secret-of-args", "--mode", "careful"],
            "pin_token": 123_456_789_012_u64,
            "written": r#"{"auth":{"password":"secret-in-json"},"mode":"careful"}"#,
            "greeting": "Hello to everybody", "port": 8080,
        });
        let settings = Arc::new(settings.as_object().unwrap().clone());
        let secrets = GivenSecrets::new(&Grants::default(), &settings, &Arc::default());
        assert_eq!(
            secrets.redact_end(
                "setting-secret-1, setting-secret-2 and https://example.com/",
                0
            ),
            "…, … and https://example.com/"
        );
        for (said, shown) in [
            (
                "postgres://me:secret-of-base@db.example/x or secret-of-base",
                "postgres://…@db.example/x or …",
            ),
            (
                "key secret-of-query of https://api.example/",
                "key … of https://api.example/",
            ),
            ("secret-of-header, text/plain", "…, text/plain"),
            (
                "--token secret-of-args --mode careful",
                "--token … --mode careful",
            ),
            ("123456789012 at 8080", "… at 8080"),
            ("secret-in-json, careful", "…, careful"),
            ("Hello to everybody", "Hello to everybody"),
        ] {
            assert_eq!(secrets.redact_end(said, 0), shown);
        }
        assert_eq!(
            secrets.redact_value(json!({ "a": ["setting-secret-2", 1] })),
            json!({ "a": ["…", 1] })
        );
        // Whoever runs the tests has that, and it is no secret of a name.
        let grants = Grants {
            env: vec!["CARGO_MANIFEST_DIR".to_owned(), "DORMOUSE_NONE".to_owned()],
            ..Grants::default()
        };
        let secrets = GivenSecrets::new(&grants, &Arc::default(), &Arc::default());
        assert_eq!(secrets.redact_end("nothing to hide", 0), "nothing to hide");
        let settings = json!({ "token": "t0ken".repeat(200) });
        let settings = Arc::new(settings.as_object().unwrap().clone());
        let secrets = GivenSecrets::new(&Grants::default(), &settings, &Arc::default());
        let said = format!("it was {} é", "t0ken".repeat(200));
        for bytes in [10, 100, 999, 1006] {
            assert_eq!(
                secrets.redact_beginning(&said, bytes),
                "it was …",
                "{bytes}"
            );
        }
        assert_eq!(secrets.redact_beginning(&said, 5), "it wa");
        for start in [0, 5] {
            let shown = secrets.redact_end(&said, start);
            assert_eq!(shown, format!("{}… é", &"it was "[start..]));
        }
        for start in [7, 8, 500, 1006] {
            assert_eq!(secrets.redact_end(&said, start), "… é", "{start}");
        }
        let none = GivenSecrets::new(&Grants::default(), &Arc::default(), &Arc::default());
        assert_eq!(none.redact_beginning("aé", 2), "a");
        assert_eq!(none.redact_end("éa", 1), "a");
        assert!(matches!(none.redact_end("x", 0), Cow::Borrowed("x")));
        assert_eq!(none.redact_value(json!("x")), json!("x"));
    }

    #[tokio::test]
    async fn a_secret_of_a_request_is_not_shown_once_it_is_known() {
        use dormouse_egress::{PluginHttpRequest, PluginSecrets};
        use dormouse_policy::{HttpSecret, SecretPlacement, SecretSource};

        let text = env!("CARGO_MANIFEST_DIR");
        let secret = HttpSecret {
            name: "token".to_owned(),
            source: SecretSource::Variable("CARGO_MANIFEST_DIR".to_owned()),
            hosts: vec!["http://127.0.0.1:1".parse().unwrap()],
            placement: SecretPlacement::Query("key".to_owned()),
        };
        let granted = ["http://127.0.0.1:1".parse().unwrap()];
        let http = GrantedHttp::new(&granted, PluginSecrets::new("web", &[secret]));
        let http = Arc::new(http);
        let secrets = GivenSecrets::new(&Grants::default(), &Arc::default(), &http);
        let said = format!("it is {text}!");
        assert_eq!(secrets.redact_end(&said, 0), said);
        let url: url::Url = "http://127.0.0.1:1/".parse().unwrap();
        let reach = http.reach("GET", &url, &[]).unwrap();
        let request = PluginHttpRequest {
            method: hyper::Method::GET,
            url,
            headers: hyper::HeaderMap::new(),
            body: http_body_util::Empty::new(),
            open: http.open().await.unwrap(),
        };
        // Nobody listens there.
        let error = http
            .send(request, reach, || false)
            .await
            .unwrap_err()
            .to_string();
        assert!(!error.contains(text), "{error}");
        assert_eq!(secrets.redact_end(&said, 0), "it is …!");
        assert_eq!(secrets.redact_value(json!(said)), json!("it is …!"));
    }

    #[test]
    fn many_secrets_are_looked_for_in_linear_time() {
        let secret = |n: usize| format!("s3cret-{n}-{n}-{n}");
        type Settings<'s> = &'s dyn Fn(usize) -> Value;
        let cases: [(&str, Settings<'_>); 5] = [
            ("secrets", &|size| {
                let all = (0..size).map(|n| (format!("token{n}"), secret(n).into()));
                Value::Object(all.collect())
            }),
            ("arguments", &|size| {
                let words = (0..size).map(|n| format!("--token={}", secret(n)));
                json!({ "args": words.collect::<Vec<_>>() })
            }),
            ("words of one setting", &|size| {
                let words = (0..size).map(|n| format!("Bearer {}", secret(n)));
                json!({ "headers": words.collect::<Vec<_>>().join(" ") })
            }),
            ("URLs of one setting", &|size| {
                let urls = (0..size).map(|n| format!("https://u{n}:{}@h", secret(n)));
                json!({ "urls": urls.collect::<Vec<_>>().join(" ") })
            }),
            (
                "one secret",
                &|size| json!({ "tokens": vec![secret(7); size] }),
            ),
        ];
        for (what, settings) in cases {
            let input = |size: usize| {
                let settings = settings(size).as_object().unwrap().clone();
                let said: Vec<_> = (0..size).map(secret).collect();
                (Arc::new(settings), said.join(" "))
            };
            dormouse_tests::growth::is_linear(what, 100, input, |(settings, said)| {
                let secrets = GivenSecrets::new(&Grants::default(), settings, &Arc::default());
                std::hint::black_box(secrets.redact_end(said, 0));
                std::hint::black_box(secrets.redact_beginning(said, said.len()));
                std::hint::black_box(secrets.redact_value(json!([said])));
            });
        }
    }
}
