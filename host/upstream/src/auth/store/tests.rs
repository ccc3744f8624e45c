//! Logins as they are kept: for whom, for how long, and in which form.

use std::time::{SystemTime, UNIX_EPOCH};

use dormouse_launch::OAuth;
use rmcp::transport::auth::StoredCredentials;

use super::*;

fn login(received: u64, lifetime: u64) -> Login {
    let response = serde_json::json!({
        "access_token": "a-secret", "token_type": "Bearer",
        "expires_in": lifetime, "refresh_token": "r-secret",
    });
    let response = serde_json::from_value(response).unwrap();
    Login {
        url: "https://x/mcp".into(),
        challenge: None,
        client_secret: Some("c-secret".into()),
        revocation: None,
        token_endpoint: None,
        credentials: StoredCredentials::new(
            "client".into(),
            Some(response),
            Vec::new(),
            Some(received),
        ),
    }
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

fn http(url: &str, client: Option<&str>) -> Http {
    Http {
        url: url.into(),
        oauth: OAuth {
            client_id: client.map(Into::into),
            ..OAuth::default()
        },
        ..Http::default()
    }
}

#[test]
fn a_login_is_kept_for_its_user_alone() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("data/tokens");
    let store = LoginStore::new(&folder.path().join("data"), &http("https://x/mcp", None));
    assert!(store.read().unwrap().is_none());
    assert!(!store.remove().unwrap());

    store.write(&login(now(), 3600)).unwrap();
    let kept = store.read().unwrap().unwrap();
    assert_eq!(kept.access().unwrap().expose(), "a-secret");
    assert_eq!(kept.refresh().unwrap().expose(), "r-secret");
    assert_eq!(kept.client_secret.as_deref(), Some("c-secret"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(store.stored.file()), 0o600);
        assert_eq!(mode(&tokens), 0o700);
    }
    // Nothing is left over of how it was written.
    assert_eq!(fs::read_dir(&tokens).unwrap().count(), 1);

    assert!(store.remove().unwrap());
    assert!(store.read().unwrap().is_none());
}

#[test]
fn each_upstream_and_client_has_its_own() {
    let data = Path::new("/data");
    let all = [
        http("https://x/mcp", None),
        http("https://x/mcp", Some("a")),
        http("https://x/mcpa", None),
        http("https://y/mcp", None),
    ]
    .map(|http| LoginStore::new(data, &http).plain);
    for (i, file) in all.iter().enumerate() {
        assert_eq!(all.iter().position(|other| other == file), Some(i));
    }
}

#[test]
fn a_token_is_renewed_before_its_end() {
    for (received, lifetime, soon, over) in [
        (now(), 3600, false, false),
        (now() - 3580, 3600, true, false),
        (now() - 3601, 3600, true, true),
        (now(), 20, false, false),
        (now() - 17, 20, true, false),
        (0, u64::MAX, false, false),
    ] {
        let login = login(received, lifetime);
        assert_eq!(login.ends_soon(), soon, "{received} {lifetime}");
        assert_eq!(login.is_over(), over, "{received} {lifetime}");
    }
}

#[test]
fn a_damaged_file_is_told_without_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let store = LoginStore::new(folder.path(), &http("https://x/mcp", None));
    store.make_folders().unwrap();
    fs::write(&store.plain, r#"{"url": 7, "access_token": "a-secret"}"#).unwrap();
    let error = store.read().err().unwrap().to_string();
    assert!(
        error.contains(&store.plain.display().to_string()),
        "{error}"
    );
    assert!(!error.contains("secret"), "{error}");
}

#[test]
fn a_login_of_an_older_version_counts_and_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = LoginStore::new(folder.path(), &http("https://x/mcp", None));
    store.write(&login(now() - 7200, 3600)).unwrap();
    // An older version has logged in since then.
    let text = serde_json::to_vec(&login(now(), 3600)).unwrap();
    fs::write(&store.plain, text).unwrap();
    assert!(store.is_plain());
    let left = |kept: Option<KeptLoginSummary>| kept.unwrap().left.unwrap().as_secs();
    assert!(left(store.kept().unwrap()) > 3500);
    assert!(!store.read().unwrap().unwrap().is_over());

    store.take_over().unwrap();
    assert!(!store.is_plain());
    assert!(left(store.kept().unwrap()) > 3500);
    let kept = store.read().unwrap().unwrap();
    assert_eq!(kept.refresh().unwrap().expose(), "r-secret");
    for file in fs::read_dir(folder.path().join("tokens")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains("-secret"), "{text}");
    }
    // Another process sees each change at once.
    let other = LoginStore::new(folder.path(), &http("https://x/mcp", None));
    other.write(&login(now() - 7200, 3600)).unwrap();
    assert!(store.read().unwrap().unwrap().is_over());
    assert!(other.remove().unwrap());
    assert!(store.read().unwrap().is_none());
}

#[cfg(unix)]
#[test]
fn a_login_that_others_can_have_written_is_none() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let store = LoginStore::new(&data, &http("https://x/mcp", None));
    store.write(&login(now(), 3600)).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(store.read().unwrap().is_none());
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(store.read().unwrap().is_some());
}

#[tokio::test]
async fn the_lock_is_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = LoginStore::new(folder.path(), &http("https://x/mcp", None));
    let held = store.lock().await.unwrap();
    let second = tokio::spawn({
        let store = store.clone();
        async move { store.lock().await.map(drop) }
    });
    tokio::time::sleep(RETRY * 3).await;
    assert!(!second.is_finished());
    drop(held);
    second.await.unwrap().unwrap();
}
