use std::time::Duration;

use dormouse_policy::SecretPlacement;
use parking_lot::Mutex;

use super::*;

fn secret(name: &str, variable: &str, hosts: &[&str], placement: SecretPlacement) -> HttpSecret {
    HttpSecret {
        name: name.to_owned(),
        source: dormouse_policy::SecretSource::Variable(variable.to_owned()),
        hosts: hosts.iter().map(|host| host.parse().unwrap()).collect(),
        placement,
    }
}

fn header(value: &str) -> SecretPlacement {
    SecretPlacement::Header {
        name: "Authorization".to_owned(),
        value: value.parse().unwrap(),
    }
}

fn placeholder_in(header: &str) -> SecretPlacement {
    SecretPlacement::Placeholder {
        variable: "TOKEN".to_owned(),
        header: header.to_owned(),
    }
}

/// A variable that whoever runs the tests has, and that is long enough to be hidden.
const VARIABLE: &str = "CARGO_MANIFEST_DIR";
const TEXT: &str = env!("CARGO_MANIFEST_DIR");

async fn put(secrets: &PluginSecrets, url: &str, headers: &mut HeaderMap) -> (String, Mask) {
    let mut url = Url::parse(url).unwrap();
    let of_host = url.clone();
    secrets.put_into(&mut url, headers).await.unwrap();
    (url.to_string(), secrets.mask(&of_host))
}

fn resolved(secrets: &PluginSecrets) -> Vec<Secret> {
    secrets.resolved()
}

#[tokio::test]
async fn secrets_go_to_their_hosts_alone_and_are_looked_up_there() {
    let secrets = PluginSecrets::new(
        "github",
        &[
            secret("token", VARIABLE, &["a.example"], header("Bearer {}")),
            secret(
                "key",
                VARIABLE,
                &["b.example"],
                SecretPlacement::Query("k".into()),
            ),
        ],
    );
    for url in [
        "https://c.example/",
        "https://a.example:444/",
        "http://a.example/",
    ] {
        let mut headers = HeaderMap::new();
        let (sent, mask) = put(&secrets, url, &mut headers).await;
        assert_eq!((sent.as_str(), headers.len()), (url, 0));
        assert!(mask.is_empty());
    }
    assert_eq!(resolved(&secrets), []);
    let mut headers = HeaderMap::new();
    let (sent, mask) = put(&secrets, "https://a.example/", &mut headers).await;
    assert_eq!(sent, "https://a.example/");
    assert_eq!(headers["authorization"], format!("Bearer {TEXT}"));
    assert!(mask.hidden_in(TEXT.as_bytes()).is_some());
    assert_eq!(resolved(&secrets), [Secret::new(TEXT)]);
    let mut headers = HeaderMap::new();
    let (sent, mask) = put(&secrets, "https://b.example/x", &mut headers).await;
    assert_eq!(
        sent,
        format!("https://b.example/x?k={}", placement::escaped(TEXT))
    );
    assert_eq!(headers.len(), 0);
    assert!(
        mask.hidden_in(placement::escaped(TEXT).as_bytes())
            .is_some()
    );
}

#[tokio::test]
async fn a_placeholder_is_worthless_and_is_replaced_for_its_hosts() {
    let secrets = PluginSecrets::new(
        "gitlab",
        &[secret(
            "pat",
            VARIABLE,
            &["a.example"],
            placeholder_in("x-token"),
        )],
    );
    let again = PluginSecrets::new(
        "gitlab",
        &[secret(
            "pat",
            VARIABLE,
            &["a.example"],
            placeholder_in("x-token"),
        )],
    );
    let (variable, placeholder) = secrets.placeholders().next().unwrap();
    assert_eq!(variable, "TOKEN");
    assert!(placeholder.starts_with(plugin_secret::PLACEHOLDER) && placeholder.len() > 50);
    assert_ne!(again.placeholders().next(), secrets.placeholders().next());
    let url = format!("https://a.example/{placeholder}");
    for (host, name, expected) in [
        ("b.example", "x-token", placeholder),
        ("a.example", "authorization", placeholder),
        ("a.example", "x-token", TEXT),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(name, placeholder.parse().unwrap());
        let url = url.replace("a.example", host);
        let (sent, mask) = put(&secrets, &url, &mut headers).await;
        assert_eq!(sent, url);
        assert_eq!(headers[name], expected, "{host} {name}");
        // Another process may have sent it to its host before.
        assert_eq!(mask.is_empty(), host == "b.example");
    }
    // Its host may repeat later what it has got.
    let (_, mask) = put(&secrets, "https://a.example/", &mut HeaderMap::new()).await;
    assert!(!mask.is_empty());
    let (_, mask) = put(&secrets, "https://b.example/", &mut HeaderMap::new()).await;
    assert!(mask.is_empty());
}

#[tokio::test]
async fn a_secret_without_a_value_fails_its_requests_in_words() {
    let named = |variable| secret("token", variable, &["a.example"], header("{}"));
    let secrets = PluginSecrets::new("github", &[named("DORMOUSE_NONE")]);
    let mut url = Url::parse("https://a.example/").unwrap();
    // It says the same each time.
    for _ in 0..2 {
        let error = secrets.put_into(&mut url, &mut HeaderMap::new()).await;
        assert_eq!(
            error.err().unwrap().to_string(),
            "secret `token` of server `github` has no value: the environment variable \
             `DORMOUSE_NONE` is not set\nhint: set it where `dormouse` is started"
        );
        assert_eq!(resolved(&secrets), []);
    }
}

/// Returns a secret that a shell says which works in that folder.
#[cfg(unix)]
fn of_shell(folder: &std::path::Path, script: &str) -> PluginSecrets {
    let mut of_command = secret("token", "", &["a.example"], header("{}"));
    of_command.source = dormouse_policy::SecretSource::Command {
        program: "sh".to_owned(),
        arguments: ["-c", script].map(str::to_owned).to_vec(),
        folder: folder.to_owned(),
        is_confined: false,
    };
    PluginSecrets::new("github", &[of_command])
}

/// However many requests of a call need it, until the next call or until its user says that it is there.
#[cfg(unix)]
#[tokio::test]
async fn a_command_that_has_failed_is_run_once_in_a_call() {
    let dir = tempfile::tempdir().unwrap();
    let ran = dir.path().join("ran");
    let secrets = of_shell(dir.path(), "echo >> ran; test -e key && cat key");
    let mut url = Url::parse("https://a.example/").unwrap();
    for times in 1..=2 {
        for _ in 0..3 {
            let missing = secrets.missing(&url, &HeaderMap::new()).await.unwrap();
            let put = secrets.put_into(&mut url, &mut HeaderMap::new()).await;
            let error = put.err().unwrap();
            assert!(error.to_string().contains("`sh` has failed"), "{error}");
            assert_eq!(missing, error);
            assert_eq!(std::fs::read(&ran).unwrap().len(), times);
        }
        secrets.forget_failures();
    }
    std::fs::write(dir.path().join("key"), "s3cret").unwrap();
    let (_, mask) = put(&secrets, url.as_str(), &mut HeaderMap::new()).await;
    assert!(mask.is_empty(), "it is too short");
    assert_eq!(resolved(&secrets), [Secret::new("s3cret")]);
}

/// A plugin says how long its requests wait, and would run it with each.
#[cfg(unix)]
#[tokio::test]
async fn a_command_is_run_once_however_soon_its_requests_are_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let mut url = Url::parse("https://a.example/").unwrap();
    for (script, is_said) in [("false", false), ("echo s3cret", true)] {
        let script = format!("echo >> ran; sleep 1; {script}");
        let secrets = of_shell(dir.path(), &script);
        for _ in 0..5 {
            let mut headers = HeaderMap::new();
            let put = secrets.put_into(&mut url, &mut headers);
            let put = tokio::time::timeout(Duration::from_millis(100), put).await;
            assert!(put.is_err(), "it has not ended yet");
        }
        let put = secrets.put_into(&mut url, &mut HeaderMap::new()).await;
        assert_eq!(put.is_ok(), is_said);
        assert_eq!(std::fs::read(dir.path().join("ran")).unwrap(), b"\n");
        std::fs::remove_file(dir.path().join("ran")).unwrap();
    }
}

/// Only where its plugin does not write it, and not where there is one that cannot be read: another
/// process may have sent that.
#[tokio::test]
async fn a_plugin_may_do_without_a_secret_that_its_user_does_not_have() {
    let absent = secret(
        "token",
        "DORMOUSE_NONE",
        &["a.example"],
        placeholder_in("x-token"),
    );
    let file = tempfile::tempdir().unwrap();
    let unreadable = HttpSecret {
        source: dormouse_policy::SecretSource::File(file.path().to_path_buf().into()),
        ..absent.clone()
    };
    for (secret, is_sent) in [(absent, true), (unreadable, false)] {
        let secrets = PluginSecrets::new("github", &[secret]);
        let mut url = Url::parse("https://a.example/").unwrap();
        assert!(!secrets.is_any_unknown(&url, &HeaderMap::new()));
        let put = secrets.put_into(&mut url, &mut HeaderMap::new()).await;
        assert_eq!(put.is_ok(), is_sent);
    }
}

/// A login that counts, and gives a token that it has been told to give.
#[derive(Default)]
struct Login {
    tokens: Mutex<Vec<&'static str>>,
}

impl LoginToken for Login {
    fn token(&self) -> LoginFuture<'_, Result<Option<Secret>, String>> {
        let token = self.tokens.lock().first().map(|&token| Secret::new(token));
        Box::pin(async { Ok(token) })
    }

    fn is_replaced<'a>(&'a self, token: &'a Secret) -> LoginFuture<'a, bool> {
        let mut tokens = self.tokens.lock();
        tokens.retain(|&known| known != token.expose());
        let is_replaced = !tokens.is_empty();
        Box::pin(async move { is_replaced })
    }

    fn forget_client_secret(&self) {}
}

fn logged_in(tokens: &[&'static str]) -> PluginSecrets {
    let login = dormouse_policy::ProviderLogin {
        provider: "google".to_owned(),
        oauth: dormouse_launch::OAuth::default(),
        client_secret: None,
    };
    let mut token = secret("token", VARIABLE, &["a.example"], header("Bearer {}"));
    token.source = dormouse_policy::SecretSource::Login(Box::new(login));
    let login = Arc::new(Login {
        tokens: Mutex::new(tokens.to_vec()),
    });
    PluginSecrets::new("calendar", &[token])
        .with_logins(|_| Some(Arc::clone(&login) as Arc<dyn LoginToken>))
}

#[tokio::test]
async fn a_token_is_asked_for_anew_and_hidden_after_its_end() {
    let secrets = logged_in(&["first-token", "second-token"]);
    let url = "https://a.example/";
    for (token, is_last) in [("first-token", false), ("second-token", true)] {
        let (mut headers, mut target) = (HeaderMap::new(), Url::parse(url).unwrap());
        let put = secrets.put_into(&mut target, &mut headers).await.unwrap();
        assert_eq!(headers["authorization"], format!("Bearer {token}"));
        let mask = secrets.mask(&target);
        assert!(mask.hidden_in(b"first-token").is_some());
        assert_eq!(mask.hidden_in(b"second-token").is_some(), is_last);
        let replaced = secrets.are_replaced(&put).await;
        assert_eq!(replaced.is_err(), is_last, "{replaced:?}");
        let hint = "hint: `dormouse login calendar`";
        match replaced {
            Ok(is_replaced) => assert!(is_replaced),
            Err(error) => assert!(error.to_string().contains(hint), "{error}"),
        }
    }
    assert_eq!(secrets.looked_up(), 2);
    assert_eq!(resolved(&secrets).len(), 2);
    // No other host is asked about, or given one.
    let other = Url::parse("https://b.example/").unwrap();
    assert_eq!(secrets.logins(&other, &HeaderMap::new()).count(), 0);
    let own = Url::parse(url).unwrap();
    assert_eq!(secrets.logins(&own, &HeaderMap::new()).count(), 1);
    let (_, mask) = put(&secrets, "https://b.example/", &mut HeaderMap::new()).await;
    assert!(mask.is_empty());
}

#[tokio::test]
async fn a_secret_of_a_login_that_nobody_has_fails_its_requests_in_words() {
    let mut url = Url::parse("https://a.example/").unwrap();
    let secrets = logged_in(&[]);
    let error = secrets.put_into(&mut url, &mut HeaderMap::new()).await;
    assert_eq!(
        error.err().unwrap().to_string(),
        "secret `token` of server `calendar` has no value: you are not logged in at `google`, or not \
         any more\nhint: `dormouse login calendar` gives a link and waits until you have followed it"
    );
}

#[tokio::test]
async fn a_secret_without_a_text_may_come_from_elsewhere_later() {
    let none = secret(
        "token",
        "DORMOUSE_NONE",
        &["a.example"],
        header("Bearer {}"),
    );
    let secrets = PluginSecrets::new("github", std::slice::from_ref(&none));
    let (url, other) = ("https://a.example/", "https://b.example/");
    let (url, other) = (Url::parse(url).unwrap(), Url::parse(other).unwrap());
    let headers = HeaderMap::new();
    assert!(!secrets.is_any_unknown(&other, &headers));
    assert!(secrets.is_any_unknown(&url, &headers));
    let missing = secrets.missing(&url, &headers).await.unwrap();
    assert_eq!(missing.secret(), "token");
    assert!(missing.why().contains("`DORMOUSE_NONE`"), "{missing}");
    // Not for other hosts, nor in another place.
    for now in [
        secret("token", VARIABLE, &["b.example"], header("Bearer {}")),
        secret("token", VARIABLE, &["a.example"], header("{}")),
        secret("other", VARIABLE, &["a.example"], header("Bearer {}")),
    ] {
        secrets.rebind(&now);
        assert!(secrets.missing(&url, &headers).await.is_some());
    }
    secrets.rebind(&secret(
        "token",
        VARIABLE,
        &["a.example"],
        header("Bearer {}"),
    ));
    assert!(secrets.missing(&url, &headers).await.is_none());
    assert!(!secrets.is_any_unknown(&url, &headers));
    assert_eq!(secrets.looked_up(), 1);
    // What was sent stays known, and hidden.
    secrets.rebind(&none);
    assert_eq!(secrets.resolved(), [Secret::new(TEXT)]);
}
