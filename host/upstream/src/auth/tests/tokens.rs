//! Tokens: where they go, and their renewal.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use futures::future::join_all;

use super::*;

#[tokio::test]
async fn a_token_goes_nowhere_but_to_its_server() {
    let user = User::of(&[]);
    let auth = user.logged_in().await;
    ask(&auth).await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let other = format!("http://{}/mcp", listener.local_addr().unwrap());
    let seen = tokio::spawn(async move {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 65536];
        let length = stream.read(&mut request).await.unwrap();
        let refusal =
            b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        stream.write_all(refusal).await.unwrap();
        String::from_utf8_lossy(&request[..length]).to_ascii_lowercase()
    });
    // The same server by name, at another URL by now.
    let http = Http {
        url: other.clone(),
        ..user.http()
    };
    let moved = Auth::new("notes", &http, user.data.path());
    assert!(matches!(ask(&moved).await, Err(Lost::Auth { .. })));
    let seen = seen.await.unwrap();
    assert!(seen.starts_with("post /mcp"), "{seen}");
    assert!(!seen.contains("authorization"), "{seen}");

    // Nor when the old login's file is put in the new one's place.
    let login = user.store().read().unwrap().unwrap();
    let place = LoginStore::new(user.data.path(), &http);
    place.write(&login).unwrap();
    assert!(place.read().unwrap().is_none());
    assert!(moved.kept().unwrap().is_none());
}

#[tokio::test]
async fn what_is_kept_can_be_told() {
    let user = User::of(&["--lifetime", "3600"]);
    assert_eq!(user.auth().kept().unwrap(), None);
    let auth = user.logged_in().await;
    let kept = auth.kept().unwrap().unwrap();
    assert!(kept.renews);
    let left = kept.left.unwrap().as_secs();
    assert!((3500..=3600).contains(&left), "{left}");
    user.edit(|login| login.credentials.token_received_at = Some(0));
    assert_eq!(auth.kept().unwrap().unwrap().left, Some(Duration::ZERO));
}

#[tokio::test]
async fn a_token_that_is_refused_is_renewed_once_for_all() {
    let user = User::of(&[]);
    let auth = user.logged_in().await;
    ask(&auth).await.unwrap();
    user.server.make("expire").unwrap();
    for outcome in join_all((0..10).map(|_| ask(&auth))).await {
        outcome.unwrap();
    }
    assert_eq!(user.count("refreshes"), 1);
    assert_eq!(user.count("refused refreshes"), 0);
}

/// Runs as a host of its own, as a process: prints a line when it is about to take its token, and
/// then the token's hash. Only for the test below.
#[tokio::test]
#[ignore = "is run by `two_hosts_renew_a_token_once`"]
async fn another_host() {
    let Ok(url) = std::env::var("DORMOUSE_TEST_URL") else {
        return;
    };
    let data = std::env::var_os("DORMOUSE_TEST_DATA").unwrap();
    let http = Http {
        url,
        ..Http::default()
    };
    let auth = Auth::new("notes", &http, Path::new(&data));
    println!("\nready");
    let token = auth.bearer().await.unwrap().unwrap();
    println!("token {}", blake3::hash(token.expose().as_bytes()));
    ask(&auth).await.unwrap();
}

#[tokio::test]
async fn two_hosts_renew_a_token_once() {
    let user = User::of(&[]);
    user.logged_in().await;
    let before = user.store().read().unwrap().unwrap();
    user.edit(|login| login.credentials.token_received_at = Some(0));

    // While the lock is held, both get as far as they can without it.
    let lock = user.store().lock().await.unwrap();
    let mut hosts = [0, 1].map(|_| {
        let mut host = Command::new(std::env::current_exe().unwrap())
            .args(["auth::tests::tokens::another_host", "--exact"])
            .args(["--ignored", "--nocapture"])
            .env("DORMOUSE_TEST_URL", user.server.url())
            .env("DORMOUSE_TEST_DATA", user.data.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(host.stdout.take().unwrap()).lines();
        (host, lines.map(Result::unwrap))
    });
    for (_, lines) in &mut hosts {
        assert!(lines.any(|line| line == "ready"));
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    drop(lock);
    let tokens = hosts.map(|(mut host, mut lines)| {
        let token = lines.find(|line| line.starts_with("token ")).unwrap();
        lines.for_each(drop);
        assert!(host.wait().unwrap().success());
        token
    });
    assert_eq!(tokens[0], tokens[1]);
    assert_eq!(user.count("refreshes"), 1);
    assert_eq!(user.count("refused refreshes"), 0);
    // The new one for new tokens is kept, too.
    let after = user.store().read().unwrap().unwrap();
    assert!(after.refresh().is_some());
    assert_ne!(after.refresh(), before.refresh());
}

#[tokio::test]
async fn a_renewal_goes_on_when_its_call_is_cancelled() {
    let user = User::of(&[]);
    let auth = user.logged_in().await;
    user.edit(|login| login.credentials.token_received_at = Some(0));
    // The server takes longer than this to answer, and by then the old one is used up.
    let cancelled = tokio::time::timeout(Duration::from_millis(250), auth.bearer()).await;
    assert!(cancelled.is_err());
    ask(&auth).await.unwrap();
    assert_eq!(user.count("refreshes"), 1);
}

#[tokio::test]
async fn a_login_that_has_ended_is_forgotten() {
    let user = User::of(&[]);
    let auth = user.logged_in().await;
    user.server.make("forget").unwrap();
    challenge(&auth).await;
    assert!(user.store().read().unwrap().is_none());
    challenge(&auth).await;
    assert_eq!(user.count("refused refreshes"), 1);
}

#[tokio::test]
async fn tokens_are_renewed_only_where_they_are_from() {
    let user = User::of(&[]);
    let auth = user.logged_in().await;
    let elsewhere = Some("https://elsewhere.example/".to_owned());
    user.edit(|login| login.credentials.issuer = elsewhere);
    user.server.make("expire").unwrap();
    challenge(&auth).await;
    assert_eq!(user.count("refreshes"), 0);
}

/// Tokens are renewed where they were got, not where the upstream names later.
#[tokio::test]
async fn tokens_are_renewed_only_at_the_endpoint_that_gave_them() {
    let user = User::of(&[]);
    let auth = user.logged_in().await;
    user.edit(|login| {
        let kept = login.token_endpoint.as_mut().unwrap();
        assert!(kept.ends_with("/token"), "{kept}");
        *kept = "https://elsewhere.example/token".to_owned();
    });
    user.server.make("expire").unwrap();
    challenge(&auth).await;
    assert_eq!(user.count("refreshes"), 0);
}

#[tokio::test]
async fn more_is_asked_for_where_more_is_needed() {
    let user = User::of(&[]);
    let auth = user.logged_in().await;
    let more = r#"Bearer error="insufficient_scope", scope="admin""#;
    // Another token of the same kind would not help.
    assert!(!auth.rejected(Some(more)).await.unwrap());
    assert_eq!(user.count("refreshes"), 0);
    let pending = auth.begin(Some(more)).await.unwrap();
    let scopes = parameter(pending.link(), "scope");
    assert_eq!(scopes.as_deref(), Some("notes admin"));
    // Until then the old one is as good as it was.
    ask(&auth).await.unwrap();
}
