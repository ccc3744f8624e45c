//! Edits of settings and secrets of a plugin.

use dormouse_policy::SecretSource;
use dormouse_wit::{GrantRequest, SecretRequest, from_wit};
use serde_json::json;

use super::*;
use crate::edit::{PluginInputs, requested_secret_table};

fn request(json: &serde_json::Value) -> SecretRequest {
    serde_json::from_value(json.clone()).unwrap()
}

fn inputs(settings: &serde_json::Value, secrets: &[(&str, (&str, &str))]) -> PluginInputs {
    let asked = request(&json!({
        "name": "", "hosts": ["https://a.example"], "header": "X-Key", "value": "k {}",
        "login": "work", "scopes": ["read", "write"],
    }));
    let secrets = secrets.iter().map(|(name, (key, value))| {
        let table = requested_secret_table(&asked, (*key, (*value).into()));
        ((*name).to_owned(), table)
    });
    PluginInputs {
        settings: settings.as_object().unwrap().clone(),
        secrets: secrets.collect(),
    }
}

const BEFORE: &str = "[servers.x]\ncomponent = \"/x.wasm\" # mine\n\n\
    [servers.x.settings]\nunit = \"metric\" # of lengths\n";

#[test]
fn inputs_are_set_beside_what_is_there_and_removed_alone() {
    let f = fixture(BEFORE);
    let settings = json!({ "depth": 3, "ratio": 0.5, "is_on": true });
    let more = inputs(&settings, &[("token", ("keyring", "x-token"))]);
    assert!(f.editor.set_inputs("x", &more).unwrap());
    assert!(!f.editor.set_inputs("x", &more).unwrap());
    let text = f.text();
    assert!(text.starts_with(BEFORE), "{text}");
    let (config, problems) = file::parse(&f.editor.file, &text);
    assert!(problems.is_empty(), "{problems:?}");
    let server = &config.servers["x"];
    let all = json!({ "unit": "metric", "depth": 3, "ratio": 0.5, "is_on": true });
    assert_eq!(json!(server.settings), all);
    let source = SecretSource::Keyring("x-token".to_owned());
    assert_eq!(server.secrets[0].source, source);
    assert!(!text.contains("scopes"), "{text}");
    assert!(f.editor.set_inputs("none", &more).is_err());

    let names = |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
    let (settings, secrets) = (names(&["depth", "ratio", "is_on", "x"]), names(&["token"]));
    let removed = f.editor.remove_inputs("x", &settings, &secrets);
    assert!(removed.unwrap());
    assert_eq!(f.text(), BEFORE);
    let removed = f.editor.remove_inputs("x", &settings, &secrets);
    assert!(!removed.unwrap());
    assert!(f.editor.remove_inputs("none", &settings, &secrets).is_err());
}

#[test]
fn a_login_is_written_with_its_scopes_where_its_provider_is_there() {
    let more = inputs(&json!({}), &[("token", ("login", "work"))]);
    let f = fixture(BEFORE);
    let error = f.editor.set_inputs("x", &more).unwrap_err().to_string();
    assert!(error.contains("no provider here"), "{error}");
    assert_eq!(f.text(), BEFORE);
    let provider = "[providers.work]\nissuer = \"https://login.example\"\nclient_id = \"c\"\n\n";
    let f = fixture(&format!("{provider}{BEFORE}"));
    assert!(f.editor.set_inputs("x", &more).unwrap());
    let (config, problems) = file::parse(&f.editor.file, &f.text());
    assert!(problems.is_empty(), "{problems:?}");
    let login = config.servers["x"].secrets[0].login().unwrap();
    assert_eq!(login.oauth.scopes, ["read", "write"]);
}

/// Secrets that authors may ask for are those that users may write: both are judged in two places, by the crate that
/// reads WIT and by the one that reads the configuration.
#[test]
fn what_wit_refuses_of_a_secret_the_configuration_refuses_too() {
    let folder = tempfile::tempdir().unwrap();
    let wit = folder.path().join("a.wit");
    for (members, in_wit, in_configuration) in [
        (
            json!({ "hosts": ["https://a.example"], "header": "A" }),
            true,
            true,
        ),
        (
            json!({ "hosts": ["a.example:8443"], "query": "key" }),
            true,
            true,
        ),
        (
            json!({ "hosts": ["a.example"], "placeholder": "TOKEN" }),
            true,
            true,
        ),
        (
            json!({ "hosts": ["a.example"], "placeholder": "TOKEN", "header": "X-A" }),
            true,
            true,
        ),
        (
            json!({ "hosts": ["http://127.0.0.1:80"], "header": "A", "value": "B {}" }),
            true,
            true,
        ),
        (json!({ "hosts": [], "header": "A" }), false, false),
        (
            json!({ "hosts": ["*.a.example"], "header": "A" }),
            false,
            false,
        ),
        (
            json!({ "hosts": ["https://a.example/v1"], "header": "A" }),
            false,
            false,
        ),
        (
            json!({ "hosts": ["http://a.example"], "header": "A" }),
            false,
            false,
        ),
        (
            json!({ "hosts": ["https://me@a.example"], "header": "A" }),
            false,
            false,
        ),
        (json!({ "hosts": ["a.example"] }), false, false),
        (
            json!({ "hosts": ["a.example"], "header": "A", "query": "b" }),
            false,
            false,
        ),
        (
            json!({ "hosts": ["a.example"], "placeholder": "A", "query": "b" }),
            false,
            false,
        ),
        (
            json!({ "hosts": ["a.example"], "header": "A", "value": "B" }),
            false,
            false,
        ),
        (
            json!({ "hosts": ["a.example"], "header": "A", "value": "{} {}" }),
            false,
            false,
        ),
        (
            json!({ "hosts": ["a.example"], "query": "a", "value": "B {}" }),
            false,
            false,
        ),
        (
            json!({ "hosts": ["a.example"], "header": "A b" }),
            false,
            false,
        ),
        (
            json!({ "hosts": ["a.example"], "placeholder": "A=B" }),
            false,
            false,
        ),
        // Headers of the connection are known to the host alone.
        (
            json!({ "hosts": ["a.example"], "header": "Host" }),
            true,
            false,
        ),
        (
            json!({ "hosts": ["a..example"], "header": "A" }),
            true,
            false,
        ),
    ] {
        let tag = format!("/// @secret token {members}\nworld w {{ export f: func(); }}");
        fs::write(&wit, format!("package a:b;\n{tag}")).unwrap();
        let declared = from_wit(&[&wit], None).unwrap();
        let grants = &declared.declaration.grants;
        let is_asked = matches!(grants.as_slice(), [GrantRequest::Secret(_)]);
        assert_eq!(is_asked, in_wit, "{members}: {:?}", declared.findings);
        let mut asked = members.clone();
        asked["name"] = json!("token");
        let table = requested_secret_table(&request(&asked), ("env", "TOKEN".into()));
        let written = PluginInputs {
            secrets: [("token".to_owned(), table)].into(),
            ..PluginInputs::default()
        };
        let read = written.http_secrets("plugin", &folder.path().join("dormouse.toml"));
        assert_eq!(read.is_ok(), in_configuration, "{members}: {read:?}");
        assert!(is_asked || read.is_err(), "{members}");
    }
}
