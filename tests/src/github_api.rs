//! Stand-in for GitHub's REST API: one repository, `octocat/Hello-World`, with bodies of GitHub's
//! own form, that remembers what is written into it.

mod repository;
mod request;
mod response;

use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

use repository::Repository;
pub use request::Request;

use crate::recording_host::{RecordingHost, http};

/// Token that it knows.
pub const TOKEN: &str = "github_pat_11AAAAAAA0stand-in";

/// Name of a repository all of whose requests are refused because there were too many.
pub const LIMITED: &str = "limited";

/// Name of a repository that has moved to `octocat/Hello-World`.
pub const MOVED: &str = "moved";

/// The stand-in, at a port of its own.
#[derive(Debug)]
pub struct GitHubApi {
    /// Host that listens, with what it has received.
    pub host: RecordingHost,
}

impl GitHubApi {
    /// Starts it.
    ///
    /// # Errors
    /// There is no port to be had.
    pub fn start() -> Result<Self> {
        let bodies = include_str!("../fixtures/github/bodies.json");
        let repository = Mutex::new(Repository::new(serde_json::from_str(bodies)?));
        let host = RecordingHost::start(move |text| {
            let mut repository = repository.lock().unwrap_or_else(PoisonError::into_inner);
            Request::parse(text).map_or_else(
                || http("400 Bad Request", "", ""),
                |request| repository.answer(&request).written(),
            )
        })?;
        Ok(Self { host })
    }

    /// Returns the base of its URLs.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.host.authority())
    }

    /// Returns the methods, the paths, the queries and the bodies of all that it has received.
    ///
    /// # Errors
    /// It has received what is no request.
    pub fn requests(&self) -> Result<Vec<Request>> {
        let received = self.host.received();
        let requests = received.iter().map(|text| {
            Request::parse(text).with_context(|| format!("this is no request: `{text}`"))
        });
        requests.collect()
    }
}

/// Returns an object with these members in place of its own.
fn with(object: &Value, members: &Value) -> Value {
    let mut all = object.as_object().cloned().unwrap_or_else(Map::new);
    all.extend(members.as_object().cloned().unwrap_or_default());
    Value::Object(all)
}
