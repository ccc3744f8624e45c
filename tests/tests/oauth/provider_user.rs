//! The user of a plugin that logs in at a provider, with a provider and an API of their own.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_tests::oauth::{self, Server};
use dormouse_tests::recording_host::{RecordingHost, http};
use dormouse_tests::{Home, artifacts, kept_login};
use serde_json::{Value, json};

use crate::{Waiting, logins};

/// The user of a calendar, with a provider and an API of their own.
pub(crate) struct User {
    pub(crate) home: Home,
    pub(crate) provider: Arc<Server>,
    pub(crate) api: RecordingHost,
    /// A host that is granted, and gets no token.
    pub(crate) other: RecordingHost,
}

/// Starts a stand-in for the API, which asks the provider about each token.
fn api(provider: &Arc<Server>) -> RecordingHost {
    // The API's thread outlives its test, and the provider does not.
    let provider = Arc::downgrade(provider);
    RecordingHost::start(move |request| {
        let provider = provider.upgrade();
        if !provider.is_some_and(|provider| provider.takes(authorization(request)).unwrap()) {
            let wrong = r#"{"error":{"code":401,"message":"Invalid Credentials"}}"#;
            return http("401 Unauthorized", "", wrong);
        }
        let mut words = request.split(' ');
        let (method, target) = (words.next().unwrap(), words.next().unwrap());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let body = request.split_once("\r\n\r\n").unwrap().1;
        match (method, path) {
            ("GET", "/v3/users/me/calendarList") => {
                let said = json!({ "items": [{ "id": "primary" }], "said": request });
                http("200 OK", "", &said.to_string())
            }
            ("GET", "/v3/calendars/a%40b/events") => http(
                "200 OK",
                "",
                &json!({ "items": [], "query": query }).to_string(),
            ),
            ("POST", "/v3/calendars/primary/events")
            | ("PATCH", "/v3/calendars/primary/events/e1") => http(
                "200 OK",
                "",
                &json!({ "id": "e1", "said": body }).to_string(),
            ),
            ("DELETE", "/v3/calendars/primary/events/e1") => http("204 No Content", "", ""),
            _ => http("404 Not Found", "", r#"{"error":{"message":"Not Found"}}"#),
        }
    })
    .unwrap()
}

/// Returns the value of the header with the token.
pub(crate) fn authorization(request: &str) -> &str {
    let mut lines = request.lines().map(|line| line.split_once(": "));
    let found = lines.find_map(|pair| pair.filter(|(name, _)| *name == "authorization"));
    found.map_or("", |(_, value)| value)
}

impl User {
    pub(crate) fn of(options: &[&str]) -> Self {
        let options = [&["--provider", "--client", "mine"], options].concat();
        let provider = Arc::new(Server::start(&options).unwrap());
        let user = Self {
            home: Home::new().unwrap(),
            api: api(&provider),
            other: RecordingHost::answering("{}").unwrap(),
            provider,
        };
        user.configure("", "");
        user
    }

    /// Writes the configuration, with more lines of the provider's table and of the server's.
    pub(crate) fn configure(&self, of_provider: &str, of_server: &str) {
        let (issuer, api) = (self.provider.base(), self.api.authority());
        let other = self.other.authority();
        let config = format!(
            "[providers.work]\nissuer = \"{issuer}\"\nclient_id = \"mine\"\n{of_provider}\n"
        );
        std::fs::write(self.home.config(), config).unwrap();
        let more = format!(
            "grants.http = ['http://{api}', 'http://{other}']\n\
             settings.api = 'http://{api}/v3'\n{of_server}\n\
             [servers.calendar.secrets]\n\
             token = {{ login = 'work', scopes = ['notes'], hosts = ['http://{api}'], \
             header = 'Authorization', value = 'Bearer {{}}' }}"
        );
        let plugin = artifacts::plugin("calendar").unwrap();
        self.home.server_with("calendar", &plugin, &more).unwrap();
    }

    pub(crate) fn log_in(&self) {
        let login = Waiting::start(&mut self.home.command(&["login", "calendar"]));
        let page = oauth::get(&login.link).unwrap();
        assert!(page.text.contains("You are logged in"), "{page:?}");
        let (success, said) = login.end();
        assert!(success, "{said}");
    }

    /// Returns the file with the login, and what is in it.
    pub(crate) fn kept(&self) -> (PathBuf, Value) {
        let files = logins(&self.home);
        assert_eq!(files.len(), 1, "{files:?}");
        let kept = kept_login::read(&files[0]).unwrap();
        (files[0].clone(), kept)
    }

    /// Has the access token end, as far as its lifetime says.
    pub(crate) fn end_token(&self) {
        let (file, mut kept) = self.kept();
        kept["credentials"]["token_received_at"] = json!(0);
        kept_login::write(&file, &kept).unwrap();
    }

    pub(crate) fn count(&self, what: &str) -> u64 {
        self.provider.count(what).unwrap()
    }
}
