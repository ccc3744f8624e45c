//! Secrets, and the servers that get to see them.

use std::sync::OnceLock;

use dormouse_launch::{Launch, Secret};

use super::*;
use crate::server_secrets::ServerSecrets;

/// A user with tokens, of which the server may refuse one after the other.
struct Tokens {
    tokens: Mutex<Vec<&'static str>>,
    challenges: Mutex<Vec<Option<String>>>,
    secrets: Arc<ServerSecrets>,
}

impl Tokens {
    fn new(tokens: &[&'static str]) -> Arc<Self> {
        Arc::new(Self {
            tokens: Mutex::new(tokens.iter().rev().copied().collect()),
            challenges: Mutex::default(),
            secrets: ServerSecrets::new("x", &Launch::Http(Http::default())),
        })
    }
}

impl Credentials for Tokens {
    fn secrets(&self) -> Arc<ServerSecrets> {
        Arc::clone(&self.secrets)
    }

    fn bearer(&self) -> BoxFuture<'_, Result<Option<Secret>, Lost>> {
        let token = self.tokens.lock().last().copied();
        self.secrets.learn(token);
        Box::pin(async move { Ok(token.map(Secret::new)) })
    }

    fn rejected<'a>(&'a self, challenge: Option<&'a str>) -> BoxFuture<'a, Result<bool, Lost>> {
        self.challenges.lock().push(challenge.map(str::to_owned));
        let mut tokens = self.tokens.lock();
        tokens.pop();
        let another = !tokens.is_empty();
        Box::pin(async move { Ok(another) })
    }
}

const CHALLENGE: &str =
    r#"Bearer resource_metadata="http://x/.well-known/oauth-protected-resource""#;

fn locked() -> Response<Body> {
    with(status(401), "www-authenticate", CHALLENGE)
}

#[tokio::test]
async fn a_refused_token_is_replaced_once() {
    let server = Server::start(async |seen| match seen.header("authorization") {
        Some("Bearer good") => json(&answer(1)),
        _ => locked(),
    })
    .await;
    let lost = Err(Lost::Auth {
        challenge: Some(CHALLENGE.to_owned()),
    });
    for (tokens, expected, asked) in [
        (&["good"][..], Ok(()), 1),
        (&["old", "good"], Ok(()), 2),
        (&["old", "older", "good"], lost.clone(), 2),
        (&["old"], lost.clone(), 1),
        (&[], lost.clone(), 1),
    ] {
        let before = server.seen().len();
        let auth = Tokens::new(tokens);
        let channel = connect(&server.http(), Some(auth.clone()), &ReadRoom::default())
            .await
            .unwrap();
        assert_eq!(
            channel.sender.send(request(1, "initialize")).await,
            expected,
            "{tokens:?}"
        );
        assert_eq!(server.seen().len() - before, asked, "{tokens:?}");
        let challenges = auth.challenges.lock();
        assert!(
            challenges
                .iter()
                .all(|one| one.as_deref() == Some(CHALLENGE))
        );
    }
    // Nobody to ask.
    let channel = server.connect().await;
    assert_eq!(channel.sender.send(request(1, "initialize")).await, lost);
}

#[tokio::test]
async fn a_scope_that_is_missing_is_a_wish_for_a_login_and_other_refusals_are_not() {
    let scope = r#"Bearer error="insufficient_scope", scope="files:write""#;
    let server = Server::start(move |seen: Seen| async move {
        match seen.body.contains("scope") {
            true => with(
                with(status(403), "www-authenticate", "Basic"),
                "www-authenticate",
                scope,
            ),
            false => text(403, "text/plain", "bad origin"),
        }
    })
    .await;
    let channel = server.connect().await;
    let sent = channel.sender.send(request(1, "scope")).await;
    assert_eq!(
        sent,
        Err(Lost::Auth {
            challenge: Some(scope.to_owned())
        })
    );
    let why = broken(channel.sender.send(request(1, "other")).await);
    assert!(why.contains("403 Forbidden: `bad origin`"), "{why}");
}

/// Connects a server by an entry with all secrets, with these tokens.
async fn connected(server: &Server, auth: &Arc<Tokens>) -> Channel {
    let auth: Arc<dyn Credentials> = auth.clone();
    let channel = connect(&secretive(server), Some(auth), &ReadRoom::default()).await;
    channel.unwrap()
}

/// Returns an entry with all the secrets that there can be.
fn secretive(server: &Server) -> Http {
    let mut http = server.http();
    http.url.push_str("?key=in-the-url");
    http.headers
        .insert("X-Api-Key".to_owned(), Secret::new("entry-secret"));
    http
}

#[tokio::test]
async fn redirects_at_home_lose_nothing() {
    for code in [301, 302, 307, 308] {
        let server = Server::start(move |seen: Seen| async move {
            match seen.path.as_str() {
                "/mcp?key=in-the-url" => with(status(code), "location", "/mcp/"),
                _ if seen.body.contains("initialize") => {
                    with(json(&answer(1)), "mcp-session-id", "s1")
                }
                _ => json(&answer(1)),
            }
        })
        .await;
        let auth = Tokens::new(&["token-secret"]);
        let channel = connected(&server, &auth).await;
        channel.sender.send(request(1, "initialize")).await.unwrap();
        channel.sender.send(request(1, "tools/list")).await.unwrap();
        let seen = server.seen();
        assert_eq!(seen.len(), 4);
        for one in &seen {
            assert_eq!(one.method, Method::POST);
            assert_eq!(one.header("x-api-key"), Some("entry-secret"));
            assert_eq!(one.header("authorization"), Some("Bearer token-secret"));
        }
        assert_eq!(seen[1].body, request(1, "initialize").text);
        assert_eq!(seen[3].header("mcp-session-id"), Some("s1"));
    }
}

#[tokio::test]
async fn redirects_abroad_take_no_secret_along() {
    let foreign = Server::start(async |seen| match seen.body.as_str() {
        body if body.contains("initialize") => with(json(&answer(1)), "mcp-session-id", "abroad"),
        body if body.contains("locked") => locked(),
        _ => json(&answer(1)),
    })
    .await;
    let to = format!("{}/other", foreign.origin);
    let server = Server::start(move |seen: Seen| {
        let to = to.clone();
        async move {
            match seen.body.contains("at home") {
                true => with(json(&answer(1)), "mcp-session-id", "home"),
                false => with(status(307), "location", &to),
            }
        }
    })
    .await;
    let auth = Tokens::new(&["token-secret"]);
    let channel = connected(&server, &auth).await;
    channel.sender.send(request(1, "initialize")).await.unwrap();
    channel.sender.send(request(1, "tools/list")).await.unwrap();
    let abroad = foreign.seen();
    assert_eq!(abroad.len(), 2);
    for one in &abroad {
        assert_eq!((one.method.as_str(), one.path.as_str()), ("POST", "/other"));
        let all = format!("{one:?}");
        for secret in ["entry-secret", "token-secret", "in-the-url"] {
            assert!(!all.contains(secret), "{all}");
        }
    }
    // Each session is known only to whoever has opened it.
    assert_eq!(abroad[1].header("mcp-session-id"), Some("abroad"));
    assert!(
        server
            .seen()
            .iter()
            .all(|seen| seen.header("mcp-session-id").is_none())
    );
    // A stranger cannot make the user log in with it.
    let why = broken(channel.sender.send(request(1, "locked")).await);
    assert!(
        why.contains(&format!("redirects to `{}/other`", foreign.origin)),
        "{why}"
    );
    assert!(auth.challenges.lock().is_empty());
    // Neither does a session of this server go there.
    let channel = connected(&server, &auth).await;
    let mut first = request(1, "initialize");
    first.text = first.text.replace("jsonrpc", "at home");
    channel.sender.send(first).await.unwrap();
    channel.sender.send(request(1, "tools/list")).await.unwrap();
    assert_eq!(foreign.seen()[3].header("mcp-session-id"), None);
}

#[tokio::test]
async fn redirects_abroad_that_lead_back_take_no_secret_along() {
    let home = Arc::new(OnceLock::<String>::new());
    let back = Arc::clone(&home);
    let foreign = Server::start(move |_: Seen| {
        let to = format!("{}/other", back.get().map_or("", String::as_str));
        async move { with(status(307), "location", &to) }
    })
    .await;
    let to = format!("{}/x", foreign.origin);
    let server = Server::start(move |seen: Seen| {
        let to = to.clone();
        async move {
            match seen.path.as_str() {
                "/other" if seen.body.contains("locked") => locked(),
                "/other" => json(&answer(1)),
                _ if seen.body.contains("at home") => {
                    with(json(&answer(1)), "mcp-session-id", "home")
                }
                _ => with(status(307), "location", &to),
            }
        }
    })
    .await;
    home.set(server.origin.clone()).unwrap();
    let auth = Tokens::new(&["token-secret"]);
    let channel = connected(&server, &auth).await;
    let mut first = request(1, "initialize");
    first.text = first.text.replace("jsonrpc", "at home");
    channel.sender.send(first).await.unwrap();
    channel.sender.send(request(1, "tools/list")).await.unwrap();
    let seen = server.seen();
    let (back, first): (Vec<_>, Vec<_>) = seen.iter().partition(|seen| seen.path == "/other");
    // The control: on the way out they are there.
    let has_all = |seen: &Seen| {
        let all = format!("{seen:?}");
        all.contains("entry-secret") && all.contains("token-secret")
    };
    assert!(first.iter().all(|seen| has_all(seen)), "{first:?}");
    assert!(!back.is_empty());
    for one in back {
        let all = format!("{one:?}");
        assert!(
            !all.contains("entry-secret") && !all.contains("token-secret"),
            "{all}"
        );
        assert_eq!(one.header("mcp-session-id"), None);
    }
    // Nor is its user asked to log in there.
    let why = broken(channel.sender.send(request(1, "locked")).await);
    assert!(why.contains("/other`, which wants a login"), "{why}");
    assert!(auth.challenges.lock().is_empty());
}

#[tokio::test]
async fn a_url_that_a_redirect_leads_to_is_cut_in_errors() {
    let server = Server::start(async |_| {
        let path = format!("/{}", "part/".repeat(150));
        with(status(307), "location", &path)
    })
    .await;
    let channel = server.connect().await;
    let why = broken(channel.sender.send(request(1, "ping")).await);
    let is_told = why.contains("at last to `") && why.contains("/part/…`");
    assert!(is_told && why.len() < 500, "{why}");
}

#[tokio::test]
async fn redirects_end() {
    let server = Server::start(async |seen| match seen.body.contains("page") {
        true => with(status(303), "location", "/page"),
        false => with(status(307), "location", &format!("{}x", seen.path)),
    })
    .await;
    let channel = server.connect().await;
    let why = broken(channel.sender.send(request(1, "ping")).await);
    assert!(
        why.contains("redirects more than 5 times") && why.contains("/mcpxxxxxx`"),
        "{why}"
    );
    assert_eq!(server.seen().len(), 6);
    // To fetch a page is no way to say something.
    let why = broken(channel.sender.send(request(1, "page")).await);
    assert!(why.contains("303"), "{why}");
    assert_eq!(server.seen().len(), 7);
}

#[tokio::test]
async fn the_users_own_header_goes_before_a_token() {
    let server = Server::start(async |_| json(&answer(1))).await;
    let mut http = server.http();
    http.headers
        .insert("authorization".to_owned(), Secret::new("Basic dXNlcg=="));
    // What belongs to the protocol is not the user's.
    http.headers
        .insert("Accept".to_owned(), Secret::new("text/html"));
    http.headers
        .insert("Content-Length".to_owned(), Secret::new("1"));
    http.headers
        .insert("User-Agent".to_owned(), Secret::new("mine"));
    let channel = connect(&http, Some(Tokens::new(&["token"])), &ReadRoom::default())
        .await
        .unwrap();
    channel.sender.send(request(1, "ping")).await.unwrap();
    let seen = &server.seen()[0];
    assert_eq!(seen.header("authorization"), Some("Basic dXNlcg=="));
    assert_eq!(
        seen.header("accept"),
        Some("application/json, text/event-stream")
    );
    assert_eq!(seen.header("user-agent"), Some("mine"));
    assert_eq!(seen.body, request(1, "ping").text);
}

#[tokio::test]
async fn a_secret_that_a_server_repeats_is_not_shown() {
    let server = Server::start(async |seen| {
        let key = seen.header("x-api-key").unwrap();
        text(
            400,
            "text/plain",
            &format!("the key {key} is wrong, and so is {}", &key[7..]),
        )
    })
    .await;
    let mut http = secretive(&server);
    http.headers
        .insert("X-Api-Key".to_owned(), Secret::new("Bearer entry-secret"));
    let channel = connect_to(&http).await.unwrap();
    let why = broken(channel.sender.send(request(1, "ping")).await);
    assert!(why.contains("the key … is wrong, and so is …"), "{why}");
    assert!(!why.contains("in-the-url"), "{why}");
}

#[tokio::test]
async fn a_token_that_a_server_repeats_is_not_shown() {
    let server = Server::start(async |seen| {
        let given = seen.header("authorization").unwrap();
        text(400, "text/plain", &format!("you have sent {given}"))
    })
    .await;
    let tokens = Tokens::new(&["kept-secret"]);
    let channel = connect(&server.http(), Some(tokens), &ReadRoom::default())
        .await
        .unwrap();
    let why = broken(channel.sender.send(request(1, "ping")).await);
    assert!(why.contains("you have sent Bearer …"), "{why}");
}
