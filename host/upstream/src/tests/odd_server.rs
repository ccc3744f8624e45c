//! A server of the tests, `server.py`, as an upstream.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dormouse_launch::{Launch, Stdio};
use dormouse_policy::UpstreamLimits;
use dormouse_protocol::{Listener, QuestionLimit, SessionId};
use serde_json::{Value, json};

use super::{CAPS, LIMIT, ONE, OneToolWithheld, RecordingListener, called, text};
use crate::{Connector, Failure, Setup, Upstream};

pub(super) fn launch(odd: &[&str]) -> Launch {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/server.py");
    let mut args = vec![server.display().to_string()];
    args.extend(odd.iter().map(|one| (*one).to_owned()));
    Launch::Stdio(Stdio {
        command: "python3".into(),
        args,
        ..Stdio::default()
    })
}

/// Upstream of `server.py`, which is odd in the ways that it is told.
pub(super) struct OddServer {
    pub(super) upstream: Arc<Upstream>,
    pub(super) policy: Arc<OneToolWithheld>,
    pub(super) connector: Arc<Connector>,
}

pub(super) fn odd(odd: &[&str]) -> OddServer {
    patient(odd, LIMIT)
}

pub(super) fn patient(odd: &[&str], start_timeout: Duration) -> OddServer {
    watched(odd, start_timeout, None)
}

pub(super) fn watched(odd: &[&str], start_timeout: Duration, reaper: Option<PathBuf>) -> OddServer {
    limited(odd, start_timeout, reaper, CAPS)
}

pub(super) fn limited(
    odd: &[&str],
    start_timeout: Duration,
    reaper: Option<PathBuf>,
    limits: UpstreamLimits,
) -> OddServer {
    let (connector, policy) = (
        Connector::new(reaper, Path::new("/none")),
        Arc::new(OneToolWithheld::default()),
    );
    let upstream = Upstream::new(
        Arc::clone(&connector),
        Setup {
            limits,
            server: "odd".into(),
            launch: launch(odd),
            share: odd.contains(&"shared"),
            is_to_stay: false,
            sessionless_patience: Duration::from_secs(600),
            start_timeout,
            questions: QuestionLimit::new(8),
            policy: policy.clone(),
        },
    );
    OddServer {
        upstream,
        policy,
        connector,
    }
}

impl OddServer {
    pub(super) async fn call_as(
        &self,
        session: impl Into<Option<SessionId>>,
        listener: Arc<dyn Listener>,
        tool: &str,
        arguments: Value,
    ) -> Result<Value, Failure> {
        let session = session.into();
        let params = json!({ "name": tool, "arguments": arguments }).to_string();
        let connection = self.upstream.connect(session, &listener).await?;
        let request = called(&params);
        let asking = self
            .upstream
            .request(session, connection, &request, &listener);
        let answer = tokio::time::timeout(LIMIT, asking).await.expect("hangs")?;
        Ok(serde_json::from_str(&answer).unwrap())
    }

    pub(super) async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Failure> {
        self.call_as(ONE, Arc::new(RecordingListener::default()), tool, arguments)
            .await
    }

    pub(super) async fn text(&self, tool: &str) -> String {
        text(&self.call(tool, json!({})).await.unwrap())
    }

    pub(super) async fn pid(&self) -> u32 {
        self.text("pid").await.parse().unwrap()
    }

    pub(super) async fn good(&self) {
        let answer = self.call("echo", json!({ "a": 1 })).await.unwrap();
        assert_eq!(answer["arguments"], json!({ "a": 1 }));
    }
}
