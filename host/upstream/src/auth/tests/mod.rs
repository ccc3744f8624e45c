//! Logins at a real server with a real authorization server (`tests/servers/oauth.py`).

mod authorization_servers;
mod calls;
mod clients;
mod login;
mod revocation;
mod tokens;

use std::sync::Arc;

use dormouse_launch::{Http, OAuth};
use dormouse_tests::oauth::{self, Page, Server};
use reqwest::Url;
use serde_json::json;
use tempfile::TempDir;

use super::Auth;
use super::store::{Login, LoginStore};
use crate::Lost;
use crate::http;
use crate::http::Credentials;
use crate::messages::channel::Outgoing;
use crate::messages::read_room::ReadRoom;

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

    fn store(&self) -> LoginStore {
        LoginStore::new(self.data.path(), &self.http())
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
    let room = ReadRoom::default();
    let mut channel = http::connect(&auth.0.http, Some(credentials), &room).await?;
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
    channel.sender.send(request).await?;
    let answer = channel.incoming.recv().await.unwrap();
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
