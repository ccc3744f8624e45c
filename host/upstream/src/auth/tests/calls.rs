//! Calls that need a login, and the users who are asked for one.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dormouse_launch::Launch;
use dormouse_protocol::{
    Answer, AskError, Capability, Listener, Question, QuestionLimit, SessionId,
};
use futures::future::{BoxFuture, join_all};
use serde_json::Value;

use super::*;
use crate::tests::{OneToolWithheld, called};
use crate::{Connector, Setup, Upstream};

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
        let error = outcome.unwrap_err().to_string();
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
    let refused = auth.authorize(&listener, None).await.unwrap_err();
    let error = refused.to_string();
    assert!(error.contains("`dormouse login notes`"), "{error}");
    let link = error.lines().find(|line| line.starts_with("http")).unwrap();
    // It is the same one until it is followed.
    let again = auth.authorize(&listener, None).await.unwrap_err();
    assert!(again.to_string().contains(link), "{again}");
    // Nobody else is given it.
    assert!(refused.has_link(), "{refused}");
    let others = refused.without_link();
    assert!(
        others.contains("`dormouse login notes`") && !others.contains("http"),
        "{others}"
    );
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
        policy: Arc::new(OneToolWithheld::default()),
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
        .request(session, connection, &called(params), &listener)
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
    let Err(crate::Failure::NotLoggedIn(why)) = refused.map(drop) else {
        panic!("it was not refused");
    };
    assert!(upstream.status().needs_auth.is_some());
    assert!(why.has_link());
    let why = why.to_string();
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
        .request(session, connection, &called(params), &listener)
        .await;
    let answer: Value = serde_json::from_str(&answer.unwrap()).unwrap();
    let scopes = answer.pointer("/structuredContent/scopes");
    assert_eq!(scopes, Some(&json!(["notes", "admin"])), "{answer}");
    assert_eq!(client.asked.load(Ordering::Relaxed), 2);
    assert_eq!(user.count("authorizations"), 2);
}
