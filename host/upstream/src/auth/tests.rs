//! Logins at a real server with a real authorization server (`tests/servers/oauth.py`).

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_launch::{Launch, OAuth};
use dormouse_protocol::{Answer, QuestionLimit, SessionId};
use dormouse_tests::oauth::{self, Page, Server};
use futures::future::join_all;
use reqwest::Url;
use rmcp::transport::auth::AuthorizationMetadata;
use serde_json::Value;
use tempfile::TempDir;

use super::metadata::revocation;
use super::*;
use crate::messages::channel::Outgoing;
use crate::tests::OneToolWithheld;
use crate::{Connector, Setup, Upstream};

/// A user of a server.
struct User {
    server: Server,
    data: TempDir,
    oauth: OAuth,
}

impl User {
    fn of(options: &[&str]) -> Self {
        Self {
            server: Server::start(options).unwrap(),
            data: tempfile::tempdir().unwrap(),
            oauth: OAuth::default(),
        }
    }

    fn http(&self) -> Http {
        Http {
            url: self.server.url().to_owned(),
            oauth: self.oauth.clone(),
            ..Http::default()
        }
    }

    /// Returns the user's login, as a host of its own has it.
    fn auth(&self) -> Auth {
        Auth::new("notes", &self.http(), self.data.path())
    }

    fn store(&self) -> Store {
        Store::new(self.data.path(), &self.http())
    }

    /// Returns the login of a host that is logged in.
    async fn logged_in(&self) -> Auth {
        let auth = self.auth();
        let pending = auth.begin(None).await.unwrap();
        assert_eq!(browse(pending.link()).await.status, 200);
        pending.finish().await.unwrap();
        auth
    }

    /// Changes the login that is kept.
    fn edit(&self, change: impl FnOnce(&mut Login)) {
        let mut login = self.store().read().unwrap().unwrap();
        change(&mut login);
        self.store().write(&login).unwrap();
    }

    fn count(&self, what: &str) -> u64 {
        self.server.count(what).unwrap()
    }
}

async fn browse(url: &str) -> Page {
    let url = url.to_owned();
    let page = tokio::task::spawn_blocking(move || oauth::get(&url));
    page.await.unwrap().unwrap()
}

/// Sends a request that the server answers only to users who are logged in.
async fn ask(auth: &Auth) -> Result<(), Lost> {
    let credentials: Arc<dyn Credentials> = Arc::new(auth.clone());
    let http = &auth.0.http;
    let mut channel = super::super::http::connect(
        http,
        Some(credentials),
        &crate::messages::read_room::ReadRoom::default(),
    )
    .await?;
    let text = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" },
    }});
    let request = Outgoing {
        text: text.to_string(),
        method: Some("initialize".into()),
        id: Some(1),
        name: None,
        version: None,
    };
    channel.outlet.send(request).await?;
    let answer = channel.inlet.recv().await.unwrap();
    assert!(answer.get().contains("serverInfo"), "{answer:?}");
    Ok(())
}

async fn challenge(auth: &Auth) -> Option<String> {
    match ask(auth).await {
        Err(Lost::Auth { challenge }) => challenge,
        other => panic!("no wish for a login but {other:?}"),
    }
}

fn parameter(link: &str, name: &str) -> Option<String> {
    let link = Url::parse(link).unwrap();
    let mut pairs = link.query_pairs();
    pairs.find_map(|(key, value)| (key == name).then(|| value.into_owned()))
}

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

#[tokio::test]
async fn an_authorization_server_that_its_user_names() {
    let mut user = User::of(&["--no-metadata", "--client", "mine"]);
    let base = user.server.url().trim_end_matches("/mcp").to_owned();
    user.oauth.client_id = Some("mine".into());
    user.oauth.scopes = vec!["notes".into()];

    user.oauth.metadata_url = Some(format!("{base}/nothing"));
    let error = user.auth().begin(None).await.err().unwrap().to_string();
    assert!(error.contains("/nothing` (`metadata_url`)"), "{error}");
    assert!(error.contains("404"), "{error}");

    user.oauth.metadata_url = Some(format!("{base}/hidden"));
    let announced = user.logged_in().await;
    let login = user.store().read().unwrap().unwrap();
    assert_eq!(login.credentials.issuer, Some(format!("{base}/")));
    user.server.make("expire").unwrap();
    ask(&announced).await.unwrap();
    assert_eq!(user.count("refreshes"), 1);

    // Who names another authorization server does not send it the old one's tokens.
    user.oauth.metadata_url = None;
    user.oauth.authorization_url = Some(format!("{base}/authorize"));
    user.oauth.token_url = Some(format!("{base}/token"));
    assert!(user.store().read().unwrap().is_none());
    let named = user.logged_in().await;
    user.server.make("expire").unwrap();
    ask(&named).await.unwrap();
    assert_eq!(user.count("refreshes"), 2);
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
    let said = "%3Cscript%3Ealert(1)%3C%2Fscript%3E%0A%1B";
    let query = format!("error=x&error_description={said}&state={state}");
    let page = browse(&format!("{redirect}?{query}")).await;
    assert!(page.text.contains("&lt;script&gt;alert(1)"), "{page:?}");
    assert!(!page.text.contains("<script>"), "{page:?}");
    assert!(!page.text.contains('\u{1b}'), "{page:?}");
    assert!(pending.finish().await.is_err());
}

#[tokio::test]
async fn a_link_that_nobody_follows_ends() {
    let user = User::of(&[]);
    let life = Duration::from_millis(200);
    let pending = Pending::begin(
        &user.http(),
        &user.auth().0.secrets,
        None,
        user.store(),
        life,
    )
    .await;
    let pending = pending.unwrap();
    let late = pending.finish().await.unwrap_err();
    assert!(matches!(late, Failure::Late { .. }), "{late}");
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
    assert!(matches!(failure, Failure::Off { .. }), "{failure}");
    assert_eq!(user.count("authorizations"), 1);
    assert_eq!(user.count("registrations"), 1);
}

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
    let place = Store::new(user.data.path(), &http);
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
            .args(["auth::tests::another_host", "--exact"])
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

/// Metadata that an upstream has led to name the issuer or page of another server, which a user
/// knows, and their own endpoints for the code and all secrets.
#[tokio::test]
async fn nobody_takes_the_name_of_another_authorization_server() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    for (issuer_is, expected) in [
        ("another", "`HONEST`, which does not say the same of itself"),
        ("itself", "`HONEST/`, which has its tokens elsewhere"),
        ("nobody", "does not say who the authorization server is"),
    ] {
        let user = User::of(&[]);
        let honest = Url::parse(user.server.url()).unwrap();
        let honest = honest.origin().ascii_serialization();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let evil = format!("http://{}", listener.local_addr().unwrap());
        let url = format!("{evil}/mcp");
        let resource = json!({
            "resource": url, "authorization_servers": [format!("{evil}/x/.well-known/y")],
        });
        let mut metadata = json!({
            "authorization_endpoint": format!("{honest}/authorize"),
            "token_endpoint": format!("{evil}/token"),
            "registration_endpoint": format!("{evil}/register"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": ["S256"],
        });
        match issuer_is {
            "another" => metadata["issuer"] = json!(honest),
            "itself" => metadata["issuer"] = json!(evil),
            _ => {}
        }
        let challenge =
            format!("www-authenticate: Bearer resource_metadata=\"{evil}/resource\"\r\n");
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 4096];
                let length = stream.read(&mut request).await.unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..length]).into_owned();
                let (status, headers, body) = match request.split(' ').nth(1) {
                    Some("/resource") => ("200 OK", "", resource.to_string()),
                    Some("/x/.well-known/y" | "/.well-known/oauth-authorization-server") => {
                        ("200 OK", "", metadata.to_string())
                    }
                    Some("/mcp") => ("401 Unauthorized", challenge.as_str(), String::new()),
                    _ => ("404 Not Found", "", String::new()),
                };
                let answer = format!(
                    "HTTP/1.1 {status}\r\n{headers}content-type: application/json\r\n\
                     content-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            }
        });
        let http = Http {
            url,
            ..Http::default()
        };
        let data = tempfile::tempdir().unwrap();
        let auth = Auth::new("notes", &http, data.path());
        let error = auth.begin(None).await.err().unwrap().to_string();
        let expected = expected.replace("HONEST", &honest);
        assert!(error.contains(&expected), "{error}");
        assert_eq!(user.count("registrations"), 0);
    }
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

/// Metadata that an upstream has led to may name another host for the tokens that are revoked.
#[tokio::test]
async fn tokens_are_given_back_only_to_the_host_that_gave_them() {
    let metadata = |revocation: &str| -> AuthorizationMetadata {
        let metadata = json!({
            "authorization_endpoint": "https://honest.example/authorize",
            "token_endpoint": "https://honest.example/token",
            "revocation_endpoint": revocation
        });
        serde_json::from_value(metadata).unwrap()
    };
    for (endpoint, counts) in [
        ("https://honest.example/revoke", true),
        ("https://evil.example/revoke", false),
        ("https://honest.example:8443/revoke", false),
        ("http://honest.example/revoke", false),
    ] {
        let found = revocation(&metadata(endpoint));
        assert_eq!(found.is_some(), counts, "{endpoint}");
    }
    // Nor are those of a login that an earlier version has kept with whatever was named.
    for token_endpoint in [Some("https://gave.example/token"), None] {
        let user = User::of(&[]);
        let auth = user.logged_in().await;
        user.edit(|login| {
            login.token_endpoint = token_endpoint.map(str::to_owned);
            assert!(login.revocation.as_ref().unwrap().ends_with("/revoke"));
        });
        assert!(auth.logout().await.unwrap());
        assert_eq!(user.count("revocations"), 0);
    }
}

#[tokio::test]
async fn a_logout_gives_the_tokens_back() {
    let user = User::of(&[]);
    let auth = user.logged_in().await;
    let login = user.store().read().unwrap().unwrap();
    assert!(auth.logout().await.unwrap());
    assert!(!auth.logout().await.unwrap());
    assert_eq!(user.count("revocations"), 1);
    challenge(&auth).await;
    // Whoever has a copy has nothing.
    user.store().write(&login).unwrap();
    challenge(&auth).await;
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
    assert_eq!(error, Failure::Header { url });
}

/// A client whose user is asked for a page.
struct Client {
    asked: AtomicUsize,
    /// Action of the user; none where the page cannot be shown to them.
    action: Option<&'static str>,
}

impl Client {
    fn new(action: Option<&'static str>) -> (Arc<Self>, Arc<dyn Listener>) {
        let client = Arc::new(Self {
            asked: AtomicUsize::new(0),
            action,
        });
        (client.clone(), client)
    }
}

impl Listener for Client {
    fn progress(&self, _: f64, _: Option<f64>, _: Option<String>) {}

    fn log(&self, _: &'static str, _: Option<String>, _: Value) {}

    fn supports(&self, capability: Capability) -> bool {
        capability == Capability::ElicitationUrl && self.action.is_some()
    }

    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'static, Result<Vec<Answer>, AskError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let action = self.action;
        Box::pin(async move {
            let question = questions.first().unwrap();
            assert_eq!(question.method(), "elicitation/create");
            let answer = Answer::Made(json!({ "action": action }));
            assert!(action.is_some_and(|action| ["accept", "decline", "cancel"].contains(&action)));
            if action == Some("accept") {
                let link = question.params["url"].as_str().unwrap().to_owned();
                // As a user does: they agree first, and log in then.
                tokio::spawn(async move {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    browse(&link).await
                });
            }
            Ok(vec![answer])
        })
    }
}

#[tokio::test]
async fn a_client_that_can_asks_its_user_once_for_all_calls() {
    let user = User::of(&[]);
    let auth = user.auth();
    let challenge = challenge(&auth).await;
    let (client, listener) = Client::new(Some("accept"));
    let calls = (0..20).map(|_| auth.authorize(&listener, challenge.as_deref()));
    for outcome in join_all(calls).await {
        outcome.unwrap();
    }
    assert_eq!(client.asked.load(Ordering::Relaxed), 1);
    ask(&auth).await.unwrap();
}

#[tokio::test]
async fn a_user_who_does_not_want_to_be_asked_is_left_alone() {
    let user = User::of(&[]);
    let auth = user.auth();
    let (client, listener) = Client::new(Some("decline"));
    for outcome in join_all((0..5).map(|_| auth.authorize(&listener, None))).await {
        let error = outcome.unwrap_err();
        assert!(error.contains("you have declined"), "{error}");
        assert!(error.contains("`dormouse login notes`"), "{error}");
    }
    assert_eq!(client.asked.load(Ordering::Relaxed), 1);
    // The next call may ask again, with a link of its own.
    let (_, willing) = Client::new(Some("accept"));
    auth.authorize(&willing, None).await.unwrap();
}

#[tokio::test]
async fn a_client_that_cannot_ask_gets_the_link() {
    let user = User::of(&[]);
    let auth = user.auth();
    let (_, listener) = Client::new(None);
    let error = auth.authorize(&listener, None).await.unwrap_err();
    assert!(error.contains("`dormouse login notes`"), "{error}");
    let link = error.lines().find(|line| line.starts_with("http")).unwrap();
    // It is the same one until it is followed.
    let again = auth.authorize(&listener, None).await.unwrap_err();
    assert!(again.contains(link), "{again}");
    assert_eq!(browse(link).await.status, 200);
    ask(&auth).await.unwrap();
}

/// Returns an upstream for the same through all that stands between a call and its server.
fn upstream(user: &User) -> Arc<Upstream> {
    let setup = Setup {
        limits: dormouse_policy::UpstreamLimits::default(),
        server: "notes".into(),
        launch: Launch::Http(user.http()),
        share: true,
        is_to_stay: false,
        sessionless_patience: Duration::from_secs(600),
        start_timeout: Duration::from_secs(60),
        questions: QuestionLimit::new(8),
        gate: Arc::new(OneToolWithheld::default()),
    };
    Upstream::new(Connector::new(None, user.data.path()), setup)
}

#[tokio::test]
async fn calls_wait_for_their_user() {
    let user = User::of(&[]);
    let upstream = upstream(&user);
    let (client, listener) = Client::new(Some("accept"));
    let session = Some(SessionId(1));
    let calls = join_all((0..10).map(|_| upstream.connect(session, &listener))).await;
    assert_eq!(client.asked.load(Ordering::Relaxed), 1);
    let connection = calls.into_iter().next().unwrap().unwrap();
    assert!(upstream.status().needs_auth.is_none());

    // What is refused later is asked for later.
    user.server.make("forget").unwrap();
    let params = r#"{"name":"whoami","arguments":{}}"#;
    let answer = upstream
        .request(session, connection, "tools/call", params, &listener)
        .await;
    let answer = answer.unwrap();
    assert!(answer.contains("notes"), "{answer}");
    assert_eq!(client.asked.load(Ordering::Relaxed), 2);
    assert_eq!(user.count("registrations"), 2);
}

#[tokio::test]
async fn calls_do_not_wait_where_nobody_can_be_asked() {
    let user = User::of(&[]);
    let upstream = upstream(&user);
    let (_, listener) = Client::new(None);
    let refused = upstream.connect(Some(SessionId(1)), &listener).await;
    let Err(crate::Failure::Barred(why)) = refused.map(drop) else {
        panic!("it was not refused");
    };
    assert!(upstream.status().needs_auth.is_some());
    let link = why.lines().find(|line| line.starts_with("http")).unwrap();
    browse(link).await;
    upstream
        .connect(Some(SessionId(1)), &listener)
        .await
        .unwrap();
    assert!(upstream.status().needs_auth.is_none());
}

#[tokio::test]
async fn a_call_that_needs_more_asks_for_it_and_keeps_what_there_was() {
    let user = User::of(&[]);
    let upstream = upstream(&user);
    let (client, listener) = Client::new(Some("accept"));
    let session = Some(SessionId(1));
    let connection = upstream.connect(session, &listener).await.unwrap();
    assert_eq!(client.asked.load(Ordering::Relaxed), 1);
    let params = r#"{"name":"admin","arguments":{}}"#;
    let answer = upstream
        .request(session, connection, "tools/call", params, &listener)
        .await;
    let answer: Value = serde_json::from_str(&answer.unwrap()).unwrap();
    let scopes = answer.pointer("/structuredContent/scopes");
    assert_eq!(scopes, Some(&json!(["notes", "admin"])), "{answer}");
    assert_eq!(client.asked.load(Ordering::Relaxed), 2);
    assert_eq!(user.count("authorizations"), 2);
}

/// The size of metadata is limited, also where the user has named their URL.
#[tokio::test]
async fn metadata_of_two_megabytes_are_not_read() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let length = 2 << 20;
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 4096];
        let _ = tokio::io::AsyncReadExt::read(&mut stream, &mut request).await;
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n");
        let answer = [head.as_bytes(), &vec![b' '; length]].concat();
        // Whoever has read enough hangs up.
        let _ = tokio::io::AsyncWriteExt::write_all(&mut stream, &answer).await;
    });
    let mut user = User::of(&["--no-metadata", "--client", "mine"]);
    user.oauth.client_id = Some("mine".into());
    user.oauth.metadata_url = Some(format!("http://{address}/metadata"));
    let error = user.auth().begin(None).await.err().unwrap().to_string();
    assert!(error.contains("larger than 1024 KiB"), "{error}");
    serving.await.unwrap();
}
