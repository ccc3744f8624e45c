//! Requests whose token their host has refused.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::AtomicUsize;

use dormouse_launch::{OAuth, Secret};
use dormouse_policy::{HttpSecret, ProviderLogin, SecretPlacement, SecretSource};

use super::*;
use crate::{LoginFuture, LoginToken};

/// A login that has another token once one is refused.
#[derive(Default)]
struct ReplacedLogin(AtomicBool);

impl LoginToken for ReplacedLogin {
    fn token(&self) -> LoginFuture<'_, Result<Option<Secret>, String>> {
        let token = match self.0.load(Ordering::Acquire) {
            true => "second-token",
            false => "first-token",
        };
        Box::pin(async move { Ok(Some(Secret::new(token))) })
    }

    fn is_replaced<'a>(&'a self, _: &'a Secret) -> LoginFuture<'a, bool> {
        self.0.store(true, Ordering::Release);
        Box::pin(async { true })
    }

    fn forget_client_secret(&self) {}
}

/// Returns the requests to a host whose secret is the token of a login.
fn with_login(host: &str) -> GrantedHttp {
    let login = ProviderLogin {
        provider: "provider".to_owned(),
        oauth: OAuth::default(),
        client_secret: None,
    };
    let secret = HttpSecret {
        name: "token".to_owned(),
        source: SecretSource::Login(Box::new(login)),
        hosts: vec![host.parse().unwrap()],
        placement: SecretPlacement::Header {
            name: "authorization".to_owned(),
            value: "Bearer {}".parse().unwrap(),
        },
    };
    let secrets = PluginSecrets::new("web", &[secret]);
    let secrets =
        secrets.with_logins(|_| Some(Arc::<ReplacedLogin>::default() as Arc<dyn LoginToken>));
    GrantedHttp::new(&[host.parse().unwrap()], secrets)
}

#[tokio::test]
async fn a_request_is_repeated_where_it_may_be_and_is_answered_as_it_was_otherwise() {
    for (may_repeat, status, count) in [
        (true, StatusCode::OK, 2),
        (false, StatusCode::UNAUTHORIZED, 1),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&received);
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut request = [0; 4096];
                let length = stream.read(&mut request).unwrap();
                counted.fetch_add(1, Ordering::AcqRel);
                let request = String::from_utf8_lossy(&request[..length]);
                let status = match request.contains("Bearer second-token\r\n") {
                    true => "200 OK",
                    false => "401 Unauthorized",
                };
                let head = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close");
                stream
                    .write_all(format!("{head}\r\n\r\n").as_bytes())
                    .unwrap();
            }
        });
        let granted = with_login(&host);
        let url = Url::parse(&host).unwrap();
        let reach = granted.reach("GET", &url, &[]).unwrap();
        let request = PluginHttpRequest {
            method: Method::GET,
            url,
            headers: HeaderMap::new(),
            body: http_body_util::Empty::new(),
            open: granted.open().await.unwrap(),
        };
        let answered = granted.send(request, reach, || may_repeat).await.unwrap();
        assert_eq!(answered.status(), status);
        assert_eq!(received.load(Ordering::Acquire), count);
    }
}
