//! The client that Dormouse is: registered, or configured by its user.

use dormouse_launch::Secret;

use super::*;

#[tokio::test]
async fn a_client_of_its_own_where_none_can_be_registered() {
    let mut user = User::of(&["--no-registration", "--client", "mine"]);
    let error = user.auth().begin(None).await.err().unwrap().to_string();
    assert!(error.contains("`client_id`"), "{error}");
    assert!(error.contains(user.server.url()), "{error}");

    user.oauth.client_id = Some("mine".into());
    user.oauth.scopes = vec!["notes".into(), "admin".into()];
    let auth = user.auth();
    let pending = auth.begin(None).await.unwrap();
    let scopes = parameter(pending.link(), "scope");
    assert_eq!(scopes.as_deref(), Some("notes admin"));
    browse(pending.link()).await;
    pending.finish().await.unwrap();
    ask(&auth).await.unwrap();
}

#[tokio::test]
async fn a_client_with_a_secret() {
    let mut user = User::of(&["--client", "mine", "--client-secret", "hush-hush"]);
    user.oauth.client_secret = Some(Secret::new("hush-hush"));
    let error = user.auth().begin(None).await.err().unwrap().to_string();
    assert!(error.contains("`oauth.client_secret`"), "{error}");
    assert!(!error.contains("hush"), "{error}");

    user.oauth.client_id = Some("mine".into());
    let auth = user.logged_in().await;
    // It stays where its user keeps it.
    let kept = std::fs::read_dir(user.data.path().join("tokens")).unwrap();
    for file in kept {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains("hush"), "{text}");
    }
    user.server.make("expire").unwrap();
    ask(&auth).await.unwrap();
    assert_eq!(user.count("refreshes"), 1);
    assert_eq!(user.count("registrations"), 0);
    // Each token was asked for as one for this server (RFC 8707).
    assert_eq!(user.count("tokens for us"), 2);
}

#[tokio::test]
async fn a_document_is_its_clients_id_for_those_who_read_it() {
    let document = "https://dormouse.example/client.json";
    let mut user = User::of(&["--no-registration", "--document", document]);
    user.oauth.client_metadata_url = Some(document.into());
    let auth = user.auth();
    let pending = auth.begin(None).await.unwrap();
    let client = parameter(pending.link(), "client_id");
    assert_eq!(client.as_deref(), Some(document));
    browse(pending.link()).await;
    pending.finish().await.unwrap();
    ask(&auth).await.unwrap();
    user.server.make("expire").unwrap();
    ask(&auth).await.unwrap();
    assert_eq!(user.count("refreshes"), 1);
    assert_eq!(user.count("registrations"), 0);

    // The others register whoever comes.
    let mut user = User::of(&[]);
    user.oauth.client_metadata_url = Some(document.into());
    user.logged_in().await;
    assert_eq!(user.count("registrations"), 1);
}

/// Returns a port that was free a moment ago.
fn free() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test]
async fn a_client_that_may_come_back_to_one_place_alone() {
    let port = free();
    let redirect = format!("http://localhost:{port}/deep/callback");
    let mut user = User::of(&["--client", "mine", "--redirect", &redirect]);
    user.oauth.client_id = Some("mine".into());
    // Any other place is refused by the authorization server itself.
    let pending = user.auth().begin(None).await.unwrap();
    assert_eq!(browse(pending.link()).await.status, 400);

    user.oauth.redirect_uri = Some(redirect.clone());
    for taken in ["127.0.0.1", "::1"] {
        let Ok(_taken) = std::net::TcpListener::bind((taken, port)) else {
            assert_eq!(taken, "::1", "`{taken}` is not there");
            continue;
        };
        let error = user.auth().begin(None).await.err().unwrap().to_string();
        let words = format!("port {port} of this machine");
        assert!(error.contains(&words), "{error}");
        assert!(error.contains("hint: end what listens there"), "{error}");
    }
    let auth = user.auth();
    let pending = auth.begin(None).await.unwrap();
    let wanted = parameter(pending.link(), "redirect_uri");
    assert_eq!(wanted, Some(redirect));
    // Only that path is one of the login's.
    let elsewhere = format!("http://127.0.0.1:{port}/callback?code=x&state=y");
    assert_eq!(browse(&elsewhere).await.status, 404);
    assert!(browse(pending.link()).await.text.contains("logged in"));
    pending.finish().await.unwrap();
    ask(&auth).await.unwrap();
}
