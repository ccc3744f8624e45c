//! Logins, from the link to the first request that passes.

use std::net::TcpStream;
use std::time::Duration;

use dormouse_launch::Secret;
use futures::future::join_all;

use super::*;
use crate::auth::{LoginFailure, PendingLogin};

#[tokio::test]
async fn a_login_from_the_first_refusal_to_a_request_that_passes() {
    let user = User::of(&[]);
    let auth = user.auth();
    // Nothing has been asked or written before the first request.
    assert!(!user.data.path().join("tokens").exists());
    let challenge = challenge(&auth).await;
    assert!(challenge.as_deref().unwrap().contains("resource_metadata"));

    // All who need it share one login.
    let begun = join_all((0..10).map(|_| auth.begin(challenge.as_deref()))).await;
    let pending = begun.first().unwrap().as_ref().unwrap();
    for other in &begun {
        assert!(Arc::ptr_eq(pending, other.as_ref().unwrap()));
    }
    assert_eq!(user.count("registrations"), 1);
    let link = pending.link();
    let wanted = |name| parameter(link, name);
    assert_eq!(wanted("code_challenge_method").as_deref(), Some("S256"));
    assert_eq!(wanted("resource").as_deref(), Some(user.server.url()));
    assert_eq!(wanted("scope").as_deref(), Some("notes"));

    // A redirect that is none of this login's does nothing.
    let redirect = wanted("redirect_uri").unwrap();
    for query in ["", "?code=x", "?code=x&state=y", "?error=access_denied"] {
        let page = browse(&format!("{redirect}{query}")).await;
        assert_eq!(page.status, 400, "{query}: {page:?}");
    }
    assert_eq!(browse(&format!("{redirect}/../x")).await.status, 404);
    assert!(pending.is_open());
    assert!(user.store().read().unwrap().is_none());

    let page = browse(link).await;
    assert_eq!(page.status, 200);
    assert!(page.text.contains("You are logged in"), "{page:?}");
    pending.finish().await.unwrap();
    ask(&auth).await.unwrap();
    // Another host of this user knows of it, too.
    ask(&user.auth()).await.unwrap();

    // The port was for this one redirect.
    let address = Url::parse(&redirect).unwrap();
    let port = address.port().unwrap();
    let again = TcpStream::connect(("127.0.0.1", port));
    assert_eq!(
        again.unwrap_err().kind(),
        std::io::ErrorKind::ConnectionRefused
    );
    assert!(!pending.is_open());
}

#[tokio::test]
async fn a_pasted_redirect_is_as_good() {
    let user = User::of(&[]);
    let auth = user.auth();
    let pending = auth.begin(None).await.unwrap();
    let link = pending.link().to_owned();
    // The browser of another machine gets no further than this.
    let first = tokio::task::spawn_blocking(move || oauth::once("GET", &link));
    let (_, redirect) = first.await.unwrap().unwrap();
    let redirect = redirect.unwrap();

    for wrong in [
        "yes",
        "",
        user.server.url(),
        "http://127.0.0.1/callback?code=x&state=y",
    ] {
        assert!(pending.paste(wrong).await.is_err(), "{wrong}");
    }
    pending.paste(&format!(" {redirect}\n")).await.unwrap();
    pending.finish().await.unwrap();
    ask(&auth).await.unwrap();
}

#[tokio::test]
async fn a_user_who_says_no_is_understood() {
    let user = User::of(&["--deny"]);
    let pending = user.auth().begin(None).await.unwrap();
    let page = browse(pending.link()).await;
    assert!(page.text.contains("the user has said no"), "{page:?}");
    let error = pending.finish().await.unwrap_err().to_string();
    assert_eq!(
        error,
        format!(
            "the login at `{}` was refused: the user has said no (`access_denied`)",
            user.server.url()
        )
    );
    assert!(user.store().read().unwrap().is_none());
}

#[tokio::test]
async fn a_page_that_is_none_is_not_opened() {
    for page in ["file:///etc/passwd", "javascript:alert(1)//"] {
        let user = User::of(&["--page", page]);
        let error = user.auth().begin(None).await.err().unwrap().to_string();
        assert!(
            error.contains("is no page that a browser may be sent to"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn an_answer_of_another_authorization_server_is_none() {
    let user = User::of(&[]);
    let auth = user.auth();
    let pending = auth.begin(None).await.unwrap();
    let link = pending.link().to_owned();
    let first = tokio::task::spawn_blocking(move || oauth::once("GET", &link));
    let (_, redirect) = first.await.unwrap().unwrap();
    let redirect = redirect.unwrap();
    // RFC 9207: the right state, from somebody else.
    let page = browse(&format!("{redirect}&iss=https%3A%2F%2Fevil.example%2F")).await;
    assert_eq!(page.status, 400, "{page:?}");
    assert!(pending.is_open());
    assert!(user.store().read().unwrap().is_none());
    // Nor does what somebody else says end the login.
    let state = parameter(pending.link(), "state").unwrap();
    let (place, _) = redirect.split_once('?').unwrap();
    let denied = format!("error=access_denied&state={state}&iss=https%3A%2F%2Fevil.example%2F");
    let page = browse(&format!("{place}?{denied}")).await;
    assert_eq!(page.status, 400, "{page:?}");
    assert!(pending.is_open());
    // The real one may still come.
    assert_eq!(browse(&redirect).await.status, 200);
    pending.finish().await.unwrap();
}

#[tokio::test]
async fn what_a_stranger_says_is_text_on_the_page() {
    let user = User::of(&[]);
    let pending = user.auth().begin(None).await.unwrap();
    let redirect = parameter(pending.link(), "redirect_uri").unwrap();
    let state = parameter(pending.link(), "state").unwrap();
    let said = "%3Cscript%3Ealert(1)%3C%2Fscript%3E%0A%1B%E2%80%AE";
    let query = format!("error=x&error_description={said}&state={state}");
    let page = browse(&format!("{redirect}?{query}")).await;
    assert!(page.text.contains("&lt;script&gt;alert(1)"), "{page:?}");
    assert!(!page.text.contains("<script>"), "{page:?}");
    assert!(!page.text.contains(['\u{1b}', '\u{202e}']), "{page:?}");
    let error = pending.finish().await.unwrap_err().to_string();
    assert!(!error.contains(['\u{1b}', '\u{202e}']), "{error:?}");
}

#[tokio::test]
async fn a_link_that_nobody_follows_ends() {
    let user = User::of(&[]);
    let life = Duration::from_millis(200);
    let pending = PendingLogin::begin(
        &user.http(),
        &user.auth().0.secrets,
        None,
        user.store(),
        life,
    )
    .await;
    let pending = pending.unwrap();
    let late = pending.finish().await.unwrap_err();
    assert!(matches!(late, LoginFailure::Late { .. }), "{late}");
    assert!(!pending.is_open());
    // Who comes now finds nobody.
    let redirect = parameter(pending.link(), "redirect_uri").unwrap();
    let port = Url::parse(&redirect).unwrap().port().unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err());
}

#[tokio::test]
async fn where_logins_are_off_a_refusal_is_one() {
    let mut user = User::of(&[]);
    user.logged_in().await;
    user.oauth.off = true;
    let auth = user.auth();
    // Not even the login that is there is used.
    let Err(Lost::Broken(why)) = ask(&auth).await else {
        panic!("it was not refused");
    };
    assert!(why.contains("`oauth = false`"), "{why}");
    assert!(why.contains("401"), "{why}");
    let failure = auth.begin(None).await.err().unwrap();
    assert!(matches!(failure, LoginFailure::Off { .. }), "{failure}");
    assert_eq!(user.count("authorizations"), 1);
    assert_eq!(user.count("registrations"), 1);
}

#[tokio::test]
async fn a_server_that_wants_something_else_is_told_so() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let refusal =
            b"HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 4096]).await;
            let _ = stream.write_all(refusal).await;
        }
    });
    let data = tempfile::tempdir().unwrap();
    let mut http = Http {
        url: url.clone(),
        ..Http::default()
    };
    let auth = Auth::new("notes", &http, data.path());
    let error = auth.begin(None).await.err().unwrap().to_string();
    assert!(error.contains(&url), "{error}");
    assert!(error.contains("put it into `headers`"), "{error}");

    http.headers
        .insert("authorization".into(), Secret::new("Bearer wrong"));
    let auth = Auth::new("notes", &http, data.path());
    let error = auth.begin(None).await.err().unwrap();
    assert_eq!(error, LoginFailure::Header { url });
}
