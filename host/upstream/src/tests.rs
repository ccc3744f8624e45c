//! Real child processes, each odd in its own way.

mod eras;
mod roots;
mod sessions;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use dormouse_launch::{Launch, Stdio};
use dormouse_policy::{HostLimits, UpstreamLimits};
use dormouse_protocol::{
    Answer, AskError, Capability, ClientEra, DeclaredCapabilities, Listener, Question,
    QuestionLimit, SessionId,
};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::*;

const ONE: SessionId = SessionId(1);
const LIMIT: Duration = Duration::from_secs(30);

const CAPS: UpstreamLimits = UpstreamLimits {
    message_bytes: 64 << 20,
    list_bytes: 8 << 20,
    list_items: 10_000,
    list_pages: 200,
    batch_messages: 1000,
    log_bytes: 32 << 10,
    request_bytes: 16 << 20,
    connections: 128,
};

/// Listener that hears everything and answers every question.
#[derive(Default)]
pub(crate) struct Ear {
    heard: Mutex<Vec<Value>>,
    able: Vec<Capability>,
    era: ClientEra,
    /// Lowest level of logs that it wants to hear.
    level: Mutex<Option<&'static str>>,
    meta: Map<String, Value>,
    /// Time that it takes to answer.
    pub(crate) thinks: Duration,
    /// Number of questions that it was asked.
    asks: Mutex<usize>,
}

impl Ear {
    pub(crate) fn able(able: &[Capability]) -> Arc<Self> {
        Arc::new(Self {
            able: able.to_vec(),
            ..Self::default()
        })
    }

    fn of(era: ClientEra, able: &[Capability]) -> Arc<Self> {
        Arc::new(Self {
            able: able.to_vec(),
            era,
            ..Self::default()
        })
    }

    pub(crate) fn heard(&self) -> Vec<Value> {
        self.heard.lock().clone()
    }

    /// Returns the number of questions that it was asked.
    pub(crate) fn asked(&self) -> usize {
        *self.asks.lock()
    }
}

impl Listener for Ear {
    fn progress(&self, progress: f64, total: Option<f64>, _: Option<String>) {
        let heard = json!({ "progress": progress, "total": total });
        self.heard.lock().push(heard);
    }

    fn log(&self, level: &'static str, logger: Option<String>, data: Value) {
        let heard = json!({ "level": level, "logger": logger, "data": data });
        self.heard.lock().push(heard);
    }

    fn supports(&self, capability: Capability) -> bool {
        self.able.contains(&capability)
    }

    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'static, Result<Vec<Answer>, AskError>> {
        *self.asks.lock() += questions.len();
        let answers = questions.iter().map(|question| {
            let params: Value = serde_json::from_str(&question.to_text()).unwrap();
            let own = json!({ "to": question.method(), "params": params, "own": [1.5] });
            Answer::Made(own)
        });
        let answers: Vec<_> = answers.collect();
        let thinks = self.thinks;
        async move {
            tokio::time::sleep(thinks).await;
            Ok(answers)
        }
        .boxed()
    }

    fn level(&self) -> Option<&'static str> {
        *self.level.lock()
    }

    fn era(&self) -> ClientEra {
        self.era.clone()
    }

    fn declared(&self) -> Map<String, Value> {
        let able = DeclaredCapabilities::with(|capability| self.supports(capability));
        let mut declared = able.into_members();
        if let Some(roots) = declared.get_mut("roots") {
            *roots = json!({ "listChanged": true });
        }
        declared
    }

    fn meta(&self) -> Map<String, Value> {
        self.meta.clone()
    }
}

/// Policy that lets everything through but one tool, and notes what it is told.
#[derive(Default)]
pub(crate) struct OneToolWithheld {
    told: Mutex<Vec<String>>,
    /// Clients that can be told and asked something between calls.
    clients: Mutex<HashMap<SessionId, Arc<Ear>>>,
    reactions: Mutex<Reactions>,
}

impl OneToolWithheld {
    fn told(&self) -> Vec<String> {
        self.told.lock().clone()
    }

    fn names(offered: &Offered) -> Vec<String> {
        let name = |tool: &serde_json::value::RawValue| {
            let tool: Value = serde_json::from_str(tool.get()).unwrap();
            tool["name"].as_str().unwrap().to_owned()
        };
        offered.tools.iter().map(|tool| name(tool)).collect()
    }
}

impl UpstreamPolicy for OneToolWithheld {
    fn closed(&self, _connection: u64) {}

    fn failed(&self, lost: &Lost) {
        self.told.lock().push(format!("failed {lost}"));
    }

    fn missed(&self, tool: &str) {
        self.told.lock().push(format!("missed {tool}"));
    }

    fn seen_tools(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn reactions(&self) -> Reactions {
        *self.reactions.lock()
    }

    fn opened(&self, offered: Offered) {
        let mut reactions = self.reactions.lock();
        *reactions = offered.reactions.or(*reactions);
        let told = format!("opened {}", Self::names(&offered).join(" "));
        self.told.lock().push(told);
    }

    fn admit<'a>(
        &'a self,
        method: &'a str,
        name: Option<&'a str>,
        _: &'a Arc<dyn Listener>,
    ) -> BoxFuture<'a, Result<(), String>> {
        let name = name.unwrap_or_default();
        let told = format!("admit {method} {name}");
        self.told.lock().push(told);
        let barred = name == "barred";
        async move {
            if barred {
                return Err("it has changed".to_owned());
            }
            Ok(())
        }
        .boxed()
    }

    fn updated(&self, uri: &str) {
        self.told.lock().push(format!("updated {uri}"));
    }

    fn client(&self, session: SessionId) -> Option<Arc<dyn Listener>> {
        let client = self.clients.lock().get(&session).cloned()?;
        Some(client)
    }

    fn tell(&self, session: Option<SessionId>, text: String) {
        if let Some(client) = session.and_then(|session| self.client(session)) {
            client.log("notice", None, text.into());
        }
    }
}

pub(crate) fn launch(odd: &[&str]) -> Launch {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/server.py");
    let mut args = vec![server.display().to_string()];
    args.extend(odd.iter().map(|one| (*one).to_owned()));
    Launch::Stdio(Stdio {
        command: "python3".into(),
        args,
        ..Stdio::default()
    })
}

struct OddServer {
    upstream: Arc<Upstream>,
    door: Arc<OneToolWithheld>,
    hub: Arc<Connector>,
}

fn odd(odd: &[&str]) -> OddServer {
    patient(odd, LIMIT)
}

fn patient(odd: &[&str], start_timeout: Duration) -> OddServer {
    watched(odd, start_timeout, None)
}

fn watched(odd: &[&str], start_timeout: Duration, reaper: Option<PathBuf>) -> OddServer {
    limited(odd, start_timeout, reaper, CAPS)
}

fn limited(
    odd: &[&str],
    start_timeout: Duration,
    reaper: Option<PathBuf>,
    limits: UpstreamLimits,
) -> OddServer {
    let (hub, door) = (
        Connector::new(reaper, Path::new("/none")),
        Arc::new(OneToolWithheld::default()),
    );
    let upstream = Upstream::new(
        Arc::clone(&hub),
        Setup {
            limits,
            server: "odd".into(),
            launch: launch(odd),
            share: odd.contains(&"shared"),
            is_to_stay: false,
            sessionless_patience: Duration::from_secs(600),
            start_timeout,
            questions: QuestionLimit::new(8),
            gate: door.clone(),
        },
    );
    OddServer {
        upstream,
        door,
        hub,
    }
}

impl OddServer {
    async fn call_as(
        &self,
        session: impl Into<Option<SessionId>>,
        listener: Arc<dyn Listener>,
        tool: &str,
        arguments: Value,
    ) -> Result<Value, Failure> {
        let session = session.into();
        let params = json!({ "name": tool, "arguments": arguments }).to_string();
        let connection = self.upstream.connect(session, &listener).await?;
        let asking = self
            .upstream
            .request(session, connection, "tools/call", &params, &listener);
        let answer = tokio::time::timeout(LIMIT, asking).await.expect("hangs")?;
        Ok(serde_json::from_str(&answer).unwrap())
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, Failure> {
        self.call_as(ONE, Arc::new(Ear::default()), tool, arguments)
            .await
    }

    async fn text(&self, tool: &str) -> String {
        text(&self.call(tool, json!({})).await.unwrap())
    }

    async fn pid(&self) -> u32 {
        self.text("pid").await.parse().unwrap()
    }

    async fn good(&self) {
        let answer = self.call("echo", json!({ "a": 1 })).await.unwrap();
        assert_eq!(answer["arguments"], json!({ "a": 1 }));
    }
}

fn text(answer: &Value) -> String {
    answer["content"][0]["text"].as_str().unwrap().to_owned()
}

fn why(result: Result<Value, Failure>) -> String {
    match result {
        Err(Failure::Lost(lost)) => lost.to_string(),
        other => panic!("{other:?}"),
    }
}

#[cfg(unix)]
fn lives(pid: u32) -> bool {
    // A process that has ended and is not yet waited for is no life.
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[cfg(unix)]
pub(crate) async fn gone(pid: u32) -> Duration {
    let begun = Instant::now();
    while lives(pid) {
        assert!(begun.elapsed() < LIMIT, "{pid} lives");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    begun.elapsed()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_offered_is_told_before_the_first_request_goes_out() {
    let odd = odd(&[]);
    odd.good().await;
    let all = "opened echo slow hang die change tell ask refuse pid meta stats";
    assert_eq!(odd.door.told(), [all, "admit tools/call echo"]);
    let status = odd.upstream.status();
    assert_eq!(status.server_info["name"], "odd");
    assert_eq!(status.connections.len(), 1);
    assert_eq!(status.connections[0].pid, Some(odd.pid().await));
    let barred = odd.call("barred", json!({})).await;
    assert_eq!(barred, Err(Failure::Barred("it has changed".into())));
}

#[tokio::test(flavor = "multi_thread")]
async fn json_passes_as_it_is_in_both_eras() {
    for era in [&[][..], &["modern"]] {
        let odd = odd(era);
        let listener: Arc<dyn Listener> = Arc::new(Ear::default());
        let connection = odd.upstream.connect(Some(ONE), &listener).await.unwrap();
        let params = r#"{"name":"echo","arguments":{"z":1,"a":null}}"#;
        let asking = odd
            .upstream
            .request(Some(ONE), connection, "tools/call", params, &listener);
        let answer = asking.await.unwrap();
        assert_eq!(
            answer, r#"{"content":[],"x":1.10,"arguments":{"z": 1, "a": null}}"#,
            "{era:?}"
        );
        let refused = odd.call("refuse", json!({})).await;
        let Err(Failure::Refused(refusal)) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!((refusal.code, &*refusal.message), (-32042, "not today"));
        let data = refusal.data.as_deref();
        assert_eq!(data, Some(r#"{"why": "rain", "rate": 1.5}"#));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_it_says_and_asks_reaches_the_caller_in_both_eras() {
    for era in [&[][..], &["modern"]] {
        let odd = odd(era);
        let ear = Ear::able(&[Capability::ElicitationForm, Capability::Sampling]);
        odd.call_as(ONE, ear.clone(), "tell", json!({}))
            .await
            .unwrap();
        assert_eq!(
            ear.heard(),
            [
                json!({ "progress": 1.0, "total": 2.0 }),
                json!({ "progress": 2.0, "total": 2.0 }),
                json!({ "level": "warning", "logger": "odd/odd", "data": { "a": 1 } }),
            ],
            "{era:?}"
        );
        assert!(odd.door.told().contains(&"updated odd://x".to_owned()));
        let params = json!({ "message": "why?", "requestedSchema": {}, "x-own": 1 });
        let asked = json!({ "method": "elicitation/create", "params": params });
        let answer = odd.call_as(ONE, ear.clone(), "ask", asked).await.unwrap();
        assert_eq!(
            serde_json::from_str::<Value>(&text(&answer)).unwrap(),
            json!({
                "to": "elicitation/create",
                "params": {
                    "message": "[server `odd`] why?", "requestedSchema": {}, "x-own": 1
                },
                "own": [1.5]
            })
        );
    }
    // What nobody can answer is refused, and what nobody knows.
    let odd = odd(&[]);
    for method in ["roots/list", "no/such"] {
        let asked = json!({ "method": method, "params": {} });
        let answer = odd.call("ask", asked).await.unwrap();
        let answer: Value = serde_json::from_str(&text(&answer)).unwrap();
        assert_eq!(answer["code"], -32601, "{method}");
    }
}

/// A client that can be asked something need not know all ways of asking.
#[tokio::test(flavor = "multi_thread")]
async fn it_may_ask_only_in_the_ways_that_the_client_knows() {
    use Capability::{ElicitationForm, Sampling, SamplingContext, SamplingTools};
    let sampling = "sampling/createMessage";
    let tools = json!({
        "tools": [], "includeContext": "thisServer", "systemPrompt": "Rhyme."
    });
    let page = json!({ "mode": "url", "message": "?", "url": "https://example.com" });
    for (able, method, params, lacked) in [
        (&[Sampling][..], sampling, &tools, "`sampling.tools`"),
        (
            &[ElicitationForm],
            "elicitation/create",
            &page,
            "`elicitation.url`",
        ),
    ] {
        for era in [&[][..], &["modern"]] {
            let odd = odd(era);
            let asked = json!({ "method": method, "params": params });
            let answer = odd
                .call_as(ONE, Ear::able(able), "ask", asked)
                .await
                .map(|answer| text(&answer));
            let told = match answer {
                Ok(answer) => {
                    let answer: Value = serde_json::from_str(&answer).unwrap();
                    assert_eq!(answer["code"], -32602, "{answer}");
                    answer.to_string()
                }
                // In that era the question is an answer, and has none itself.
                Err(failure) => failure.to_string(),
            };
            assert!(told.contains(lacked), "{era:?}: {told}");
        }
    }
    // It is told who can be asked what, and what it asks of them goes out as it is, but
    // for whose question it is.
    let odd = odd(&[]);
    let ear = || Ear::able(&[Sampling, SamplingTools, SamplingContext]);
    let asked = json!({ "method": sampling, "params": tools });
    let answer = odd.call_as(ONE, ear(), "ask", asked).await.unwrap();
    let answer: Value = serde_json::from_str(&text(&answer)).unwrap();
    let mut asked = tools.clone();
    asked["systemPrompt"] = json!("[server `odd`] Rhyme.");
    // To a client, "this server" would be all of them.
    asked.as_object_mut().unwrap().remove("includeContext");
    assert_eq!(answer["params"], asked);
    let stats = odd.call_as(ONE, ear(), "stats", json!({})).await.unwrap();
    let stats: Value = serde_json::from_str(&text(&stats)).unwrap();
    assert_eq!(
        stats["capabilities"],
        json!({ "sampling": { "tools": {}, "context": {} } })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn it_may_ask_what_the_callers_client_can_do_and_at_once() {
    let odd = odd(&["asks-early"]);
    let ear = || Ear::able(&[Capability::ElicitationUrl, Capability::Roots]);
    odd.call_as(ONE, ear(), "echo", json!({})).await.unwrap();
    let answered = async {
        loop {
            let stats = odd.call_as(ONE, ear(), "stats", json!({})).await.unwrap();
            let stats: Value = serde_json::from_str(&text(&stats)).unwrap();
            if !stats["early"].is_null() {
                return stats;
            }
        }
    };
    let stats = tokio::time::timeout(LIMIT, answered).await.unwrap();
    assert_eq!(
        stats["capabilities"],
        json!({ "elicitation": { "url": {} }, "roots": { "listChanged": true } })
    );
    assert_eq!(stats["early"]["to"], "roots/list");
}

#[tokio::test(flavor = "multi_thread")]
async fn oddities_are_put_up_with() {
    for odds in [
        &["junk"][..],
        &["twice"],
        &["batch"],
        &["floods"],
        &["dies-of-server/discover"],
        &["dies-of-initialize", "modern"],
        &["picky"],
        &["junk", "twice", "batch", "modern"],
    ] {
        let odd = odd(odds);
        odd.good().await;
        odd.good().await;
        assert!(odd.upstream.status().error.is_none(), "{odds:?}");
    }
}

/// An answer that comes late is no fault of the server's, and nothing that a user is to read.
#[tokio::test]
async fn one_that_ignores_what_it_does_not_know_is_asked_in_the_other_way() {
    let (logged, _guard) = dormouse_tests::logged::logged();
    let cases = [
        (ClientEra::Stateless, &["ignores-server/discover"][..]),
        (ClientEra::Stateless, &["late-server/discover"]),
        (ClientEra::default(), &["ignores-initialize", "modern"]),
        (ClientEra::default(), &["late-initialize", "modern"]),
    ];
    let calls = cases.map(async |(era, odds)| {
        let odd = odd(odds);
        let ear = Ear::of(era, &[]);
        let answer = odd.call_as(ONE, ear, "echo", json!({})).await;
        assert!(answer.is_ok(), "{odds:?} {answer:?}");
    });
    futures::future::join_all(calls).await;
    let lines = logged.lines();
    assert!(!lines.is_empty(), "nothing is logged");
    assert!(
        !lines.iter().any(|line| line.contains("WARN")),
        "{lines:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_odd_tool_loses_no_other_and_a_list_without_end_ends() {
    let odd_tools = odd(&["odd-tools"]);
    odd_tools.good().await;
    let all = "opened echo slow hang die change tell ask refuse pid meta stats";
    assert_eq!(odd_tools.door.told()[0], all);
    let endless = odd(&["endless"]);
    endless.good().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_never_answers_is_given_up() {
    let odd = patient(&["silent"], Duration::from_secs(1));
    let why = why(odd.call("echo", json!({})).await);
    assert!(why.contains("did not answer within 1 s"), "{why}");
    assert!(why.contains("odd server starting"), "{why}");
    assert!(why.contains("it was still running, and is ended"), "{why}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_start_is_told_to_all_with_its_reason_and_not_repeated_at_once() {
    let odd = odd(&["dies-on-start"]);
    let calls = (0..20).map(|_| odd.call("echo", json!({})));
    for result in futures::future::join_all(calls).await {
        let why = why(result);
        assert!(why.contains("exit code 3"), "{why}");
        assert!(why.contains("no API key"), "{why}");
    }
    let again = why(odd.call("echo", json!({})).await);
    assert!(again.contains("no API key"), "{again}");
    assert!(again.contains("tried again in"), "{again}");
    let status = odd.upstream.status();
    assert!(status.error.unwrap().contains("no API key"));
    assert!(status.connections.is_empty());
    odd.upstream.stop();
    let stopped = why(odd.call("echo", json!({})).await);
    assert!(!stopped.contains("tried again"), "{stopped}");
}

#[tokio::test]
async fn what_cannot_be_started_says_what_to_do() {
    let hub = Connector::new(None, Path::new("/none"));
    let start = async |stdio| {
        let found = discover(
            &hub,
            "odd",
            &Launch::Stdio(stdio),
            CAPS,
            LIMIT,
            Reactions::default(),
        )
        .await;
        found.unwrap_err().to_string()
    };
    let none = Stdio {
        command: "no-such-program".into(),
        ..Stdio::default()
    };
    let why = start(none).await;
    assert!(why.contains("`no-such-program`"), "{why}");
    assert!(why.contains("hint: install it"), "{why}");
    let nowhere = Stdio {
        command: "python3".into(),
        cwd: Some("/no/such".into()),
        ..Stdio::default()
    };
    assert!(start(nowhere).await.contains("`/no/such` is no folder"));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_dies_mid_call_says_why_and_is_started_again() {
    let odd = odd(&[]);
    let first = odd.pid().await;
    let why = why(odd.call("die", json!({})).await);
    assert!(why.contains("exit code 7"), "{why}");
    assert!(why.contains("> I am dying\n> of this"), "{why}");
    assert_ne!(odd.pid().await, first);
    // One that does nothing else is left alone for a while.
    for _ in 0..2 {
        let _ = odd.call("die", json!({})).await;
    }
    let again = super::tests::why(odd.call("echo", json!({})).await);
    assert!(again.contains("tried again in"), "{again}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_first_calls_make_one_process() {
    let odd = odd(&[]);
    let calls = (0..100).map(|_| odd.pid());
    let pids = futures::future::join_all(calls).await;
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    let opened = odd.door.told();
    let opened = opened.iter().filter(|told| told.starts_with("opened"));
    assert_eq!(opened.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_have_processes_of_their_own_unless_shared() {
    for share in [false, true] {
        let odd = odd(if share { &["shared"] } else { &[] });
        let pid = async |session: Option<SessionId>| {
            let ear = Arc::new(Ear::default());
            let answer = odd.call_as(session, ear, "pid", json!({})).await;
            text(&answer.unwrap()).parse::<u32>().unwrap()
        };
        let (one, two) = (Some(ONE), Some(SessionId(2)));
        let pids = [pid(one).await, pid(two).await, pid(None).await];
        assert_eq!(pids[0] == pids[1], share);
        // What is of no session would else start one each time.
        assert_eq!(pids[0] == pids[2], share);
        assert_eq!(pid(None).await, pids[2]);
        odd.upstream.end_session(ONE);
        assert_eq!(pid(two).await, pids[1]);
        assert_eq!(pid(None).await, pids[2]);
        #[cfg(unix)]
        if !share {
            gone(pids[0]).await;
        }
    }
}

/// Each session may have a process, and clients choose how many sessions there are.
#[tokio::test(flavor = "multi_thread")]
async fn there_are_only_so_many_connections() {
    let limits = UpstreamLimits {
        connections: 2,
        ..CAPS
    };
    let odd = limited(&[], LIMIT, None, limits);
    let pid = async |session: u64| {
        let ear = Arc::new(Ear::default());
        let session = SessionId(session);
        let answer = odd.call_as(session, ear, "pid", json!({})).await;
        text(&answer.unwrap()).parse::<u32>().unwrap()
    };
    let (one, two) = (pid(1).await, pid(2).await);
    // The one that was not used for longest makes room.
    assert_eq!(pid(1).await, one);
    let three = pid(3).await;
    #[cfg(unix)]
    gone(two).await;
    assert_eq!((pid(1).await, pid(3).await), (one, three));
    // None that is in use does: it is waited for.
    let slow = |session: u64, seconds: u64| {
        let ear = Arc::new(Ear::default());
        let arguments = json!({ "seconds": seconds });
        odd.call_as(SessionId(session), ear, "slow", arguments)
    };
    let late = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        pid(4).await
    };
    let (first, second, four) = tokio::join!(slow(1, 2), slow(3, 4), late);
    assert!(first.is_ok() && second.is_ok());
    assert!(four != one && four != three);
}

/// A connection with processes of a session is the last to make room, and the session's client is
/// told.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn connections_with_processes_are_the_last_to_end_and_that_is_told() {
    let limits = UpstreamLimits {
        connections: 2,
        ..CAPS
    };
    let odd = limited(&[], LIMIT, None, limits);
    let ears: Vec<_> = (1..=3)
        .map(|session| {
            let ear = Arc::new(Ear::default());
            let mut clients = odd.door.clients.lock();
            clients.insert(SessionId(session), Arc::clone(&ear));
            ear
        })
        .collect();
    let pid = async |session: u64, starts: bool| {
        let ear = Arc::new(Ear::default());
        let arguments = json!({ "starts": starts });
        let answer = odd.call_as(SessionId(session), ear, "pid", arguments);
        text(&answer.await.unwrap()).parse::<u32>().unwrap()
    };
    let (one, two) = (pid(1, true).await, pid(2, false).await);
    let three = pid(3, true).await;
    gone(two).await;
    assert_eq!(pid(1, false).await, one);
    let told = |at: usize| {
        let heard = ears[at].heard();
        let of_connections = heard.iter().filter(|heard| {
            let text = heard["data"].as_str().unwrap_or_default();
            text.contains("connection to server `odd` was ended")
        });
        of_connections.count()
    };
    assert_eq!([told(0), told(1), told(2)], [0, 1, 0]);
    // Where all have something going on, one of them ends all the same.
    pid(2, false).await;
    gone(three).await;
    assert_eq!([told(0), told(1), told(2)], [0, 1, 1]);
}

/// A session that calls without a pause does not keep the connection from others.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_want_the_same_connection_take_turns() {
    let limits = UpstreamLimits {
        connections: 1,
        ..CAPS
    };
    let odd = limited(&[], LIMIT, None, limits);
    let calls = async |session: u64| {
        for _ in 0..3 {
            let ear = Arc::new(Ear::default());
            let arguments = json!({ "seconds": 0.1 });
            let answer = odd.call_as(SessionId(session), ear, "slow", arguments);
            answer.await.unwrap();
        }
    };
    let ends = std::sync::atomic::AtomicBool::new(false);
    let busy = async {
        let is_over = || ends.load(std::sync::atomic::Ordering::Relaxed);
        while !is_over() {
            calls(1).await;
        }
    };
    let others = async {
        tokio::join!(calls(2), calls(3));
        ends.store(true, std::sync::atomic::Ordering::Relaxed);
    };
    tokio::join!(busy, others);
}

/// A connection that does not end at once counts until it has ended.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_being_ended_count() {
    let limits = UpstreamLimits {
        connections: 2,
        ..CAPS
    };
    let odd = limited(&["stubborn"], LIMIT, None, limits);
    let mut pids = Vec::new();
    for session in 1..=4 {
        let ear = Arc::new(Ear::default());
        let answer = odd.call_as(SessionId(session), ear, "pid", json!({}));
        pids.push(text(&answer.await.unwrap()).parse::<u32>().unwrap());
        let alive = pids.iter().filter(|pid| lives(**pid));
        assert!(alive.count() <= 2, "{pids:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_too_long_for_a_connection_is_told_why() {
    let limits = UpstreamLimits {
        connections: 1,
        ..CAPS
    };
    let odd = limited(&[], Duration::from_secs(5), None, limits);
    let ear = || Arc::new(Ear::default());
    let hangs = odd.call_as(SessionId(1), ear(), "hang", json!({}));
    let late = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let refused = odd.call_as(SessionId(2), ear(), "pid", json!({})).await;
        refused.unwrap_err().to_string()
    };
    let refused = tokio::select! {
        _ = hangs => panic!("it hangs"),
        refused = late => refused,
    };
    assert!(
        refused.contains("1 connections, all of them in use"),
        "{refused}"
    );
    assert!(refused.contains("[servers.odd.limits]"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_upstreams_share_the_connections_of_the_host() {
    let one = odd(&[]);
    one.hub.set_limits(&HostLimits {
        connections: 2,
        ..HostLimits::default()
    });
    let two = Upstream::new(
        Arc::clone(&one.hub),
        Setup {
            limits: CAPS,
            server: "other".into(),
            launch: launch(&[]),
            share: false,
            is_to_stay: false,
            sessionless_patience: Duration::from_secs(600),
            start_timeout: Duration::from_secs(5),
            questions: QuestionLimit::new(8),
            gate: Arc::new(OneToolWithheld::default()),
        },
    );
    let connect = async |upstream: &Arc<Upstream>, session: u64| {
        let listener: Arc<dyn Listener> = Arc::new(Ear::default());
        upstream.connect(Some(SessionId(session)), &listener).await
    };
    let first = connect(&one.upstream, 1).await.unwrap();
    drop(connect(&two, 1).await.unwrap());
    // The other one's is idle, and this one's is not.
    let second = connect(&one.upstream, 2).await.unwrap();
    let open = |upstream: &Upstream| upstream.status().connections.len();
    assert_eq!((open(&one.upstream), open(&two)), (2, 0));
    let Err(refused) = connect(&two, 1).await else {
        panic!("there is room");
    };
    let refused = refused.to_string();
    assert!(refused.contains("the host has 2 connections"), "{refused}");
    drop(first);
    drop(connect(&two, 1).await.unwrap());
    drop(second);
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_are_not_whole_share_their_room() {
    let limits = UpstreamLimits {
        message_bytes: 1 << 20,
        ..CAPS
    };
    let odd = limited(&[], LIMIT, None, limits);
    let slow = |session: u64| {
        let ear = Arc::new(Ear::default());
        let begins = json!({ "begins": 900_000, "seconds": 3 });
        odd.call_as(SessionId(session), ear, "slow", begins)
    };
    let calls = futures::future::join_all((1..=6).map(slow)).await;
    let (whole, cut): (Vec<_>, Vec<_>) = (1..).zip(calls).partition(|(_, call)| call.is_ok());
    assert_eq!((whole.len(), cut.len()), (2, 4), "{cut:?}");
    for (_, why) in cut {
        let why = why.unwrap_err().to_string();
        assert!(
            why.contains("more than 2 MiB together with the others")
                && why.contains("`message` in `[servers.odd.limits]`"),
            "{why}"
        );
    }
    // What they have had is there for others.
    let calls = whole.iter().map(|(session, _)| slow(*session));
    let calls = futures::future::join_all(calls).await;
    assert!(calls.iter().all(Result::is_ok), "{calls:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_caller_who_gives_up_strands_nobody() {
    let odd = odd(&["ignores-server/discover"]);
    let listener: Arc<dyn Listener> = Ear::of(ClientEra::Stateless, &[]);
    {
        let first = odd.upstream.connect(Some(ONE), &listener);
        let soon = tokio::time::timeout(Duration::from_millis(200), first);
        assert!(soon.await.is_err());
    }
    odd.upstream.connect(Some(ONE), &listener).await.unwrap();
    let opened = odd.door.told();
    let opened = opened.iter().filter(|told| told.starts_with("opened"));
    assert_eq!(opened.count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_call_blocks_no_other_and_one_given_up_is_cancelled() {
    let odd = odd(&[]);
    odd.good().await;
    let begun = Instant::now();
    let slow = odd.call("slow", json!({ "seconds": 3 }));
    let fast = async {
        for _ in 0..10 {
            odd.good().await;
        }
        begun.elapsed()
    };
    let (slow, fast) = futures::join!(slow, fast);
    assert_eq!(text(&slow.unwrap()), "slept");
    assert!(fast < Duration::from_secs(2), "{fast:?}");
    let hang = odd.call("hang", json!({}));
    let soon = tokio::time::timeout(Duration::from_millis(200), hang);
    assert!(soon.await.is_err());
    let seen = async {
        loop {
            let stats: Value = serde_json::from_str(&odd.text("stats").await).unwrap();
            if stats["cancelled"]
                .as_array()
                .is_some_and(|ids| ids.len() == 1)
            {
                return;
            }
        }
    };
    tokio::time::timeout(LIMIT, seen).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_its_tools_is_noticed_in_both_eras() {
    for era in [&[][..], &["modern"]] {
        let odd = odd(era);
        odd.call("change", json!({ "tool": "new" })).await.unwrap();
        let noticed = async {
            while !odd.door.told().iter().any(|told| told.ends_with(" new")) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(LIMIT, noticed).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_asked_for_the_resources_that_somebody_wants_to_hear_of() {
    let table = [
        (&[][..], json!(["subscribe odd://x", "unsubscribe odd://x"])),
        (&["modern"], json!(null)),
    ];
    for (era, after) in table {
        let odd = odd(era);
        let heard = async |expected: Value| {
            let heard = async {
                loop {
                    let stats = odd.text("stats").await;
                    let stats: Value = serde_json::from_str(&stats).unwrap();
                    if stats["wanted"] == expected {
                        return;
                    }
                }
            };
            let heard = tokio::time::timeout(LIMIT, heard).await;
            heard.unwrap_or_else(|_| panic!("{expected} {era:?}"));
        };
        let one = odd.upstream.subscribe("odd://x");
        let two = odd.upstream.subscribe("odd://x");
        drop(one);
        let first = if era.is_empty() {
            "subscribe odd://x"
        } else {
            "odd://x"
        };
        heard(json!([first])).await;
        drop(two);
        heard(after).await;
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn all_ends_with_the_hub() {
    let odd = odd(&[]);
    let pid = odd.pid().await;
    odd.hub.close().await;
    assert!(!lives(pid));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_asked_on_behalf_of_another_agent() {
    let able = || Ear::able(&[Capability::Roots]);
    let asked = || json!({ "method": "roots/list", "params": {} });
    let two = [(&["shared"][..], [Some(ONE), Some(SessionId(2))])];
    // Two calls of no session may be of two agents.
    for (odds, [one, other]) in two.into_iter().chain([(&[][..], [None, None])]) {
        let odd = odd(odds);
        let slow = odd.call_as(other, able(), "slow", json!({ "seconds": 2 }));
        let asks = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let answer = odd.call_as(one, able(), "ask", asked()).await.unwrap();
            serde_json::from_str::<Value>(&text(&answer)).unwrap()
        };
        let (slow, answer) = futures::join!(slow, asks);
        slow.unwrap();
        assert_eq!(answer["code"], -32601);
        let why = answer["message"].as_str().unwrap();
        assert!(why.contains("calls of several agents"), "{why}");
        let asks = async || {
            let answer = odd.call_as(one, able(), "ask", asked()).await;
            text(&answer.unwrap())
        };
        assert!(asks().await.contains("roots/list"));
        // A call that was given up may be what it is about, until it is answered.
        let slow = odd.call_as(other, able(), "slow", json!({ "seconds": 2 }));
        let given_up = tokio::time::timeout(Duration::from_millis(300), slow);
        assert!(given_up.await.is_err());
        let why = asks().await;
        assert!(why.contains("were given up and not answered yet"), "{why}");
        let answered = async { while !asks().await.contains("roots/list") {} };
        tokio::time::timeout(LIMIT, answered).await.unwrap();
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn what_is_stopped_ends_with_all_that_it_has_started() {
    for (odds, most) in [(&["family"][..], 5), (&["family", "stubborn"], 10)] {
        let odd = odd(odds);
        let pid = odd.pid().await;
        let stats: Value = serde_json::from_str(&odd.text("stats").await).unwrap();
        let child = u32::try_from(stats["child"].as_u64().unwrap()).unwrap();
        assert!(lives(pid) && lives(child));
        odd.upstream.stop();
        let took = gone(pid).await + gone(child).await;
        assert!(took < Duration::from_secs(most), "{odds:?} {took:?}");
        odd.hub.close().await;
        assert!(odd.upstream.status().connections.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn it_can_be_asked_what_it_offers_and_nothing_else() {
    let hub = Connector::new(None, Path::new("/none"));
    for (era, version) in [(&[][..], "1"), (&["modern"], "2")] {
        let launch = launch(era);
        let offered = discover(&hub, "odd", &launch, CAPS, LIMIT, Reactions::default()).await;
        let offered = offered.unwrap();
        assert_eq!(offered.tools.len(), 11, "{era:?}");
        assert_eq!(offered.server_info["version"], version);
        assert!(offered.tools[0].get().contains(r#""x-rate": 1.5"#));
    }
}

/// Variable that names the reaper for the host that is to be killed.
const REAPER: &str = "DORMOUSE_TEST_REAPER";

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_is_killed_leaves_nothing_behind() {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::fs::PermissionsExt as _;
    use std::process::{Command, Stdio};

    use rustix::process::{Pid, Signal, kill_process};

    let dir = tempfile::TempDir::new().unwrap();
    let this = std::env::current_exe().unwrap();
    let part = |name: &str| format!("--exact tests::{name} --ignored --nocapture");
    let (script, noted) = (dir.path().join("reaper"), dir.path().join("pid"));
    let text = format!(
        "#!/bin/sh\necho $$ > '{}'\nexec '{}' {}\n",
        noted.display(),
        this.display(),
        part("the_reaper_of_another_test")
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut host = Command::new(&this)
        .args(part("the_host_of_another_test").split(' '))
        .env(REAPER, &script)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let said = BufReader::new(host.stdout.take().unwrap()).lines();
    let mut said = said.map_while(Result::ok);
    let pids = said.find_map(|line| Some(line.split_once("pids:")?.1.to_owned()));
    let pids = pids.expect("the host has started nothing");
    let mut pids: Vec<u32> = pids.split(' ').map(|pid| pid.parse().unwrap()).collect();
    pids.push(
        std::fs::read_to_string(noted)
            .unwrap()
            .trim()
            .parse()
            .unwrap(),
    );
    assert!(pids.iter().all(|pid| lives(*pid)), "{pids:?}");
    // What comes from the terminal, or means all processes of a name, ends no reaper.
    let reaper = Pid::from_raw(i32::try_from(pids[2]).unwrap()).unwrap();
    kill_process(reaper, Signal::TERM).unwrap();
    kill_process(reaper, Signal::INT).unwrap();
    host.kill().unwrap();
    host.wait().unwrap();
    for pid in pids {
        assert!(gone(pid).await < Duration::from_secs(10));
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a process of another test"]
async fn the_host_of_another_test() {
    let reaper = std::env::var_os(REAPER).unwrap();
    let odd = watched(&["stubborn", "family"], LIMIT, Some(reaper.into()));
    let pid = odd.pid().await;
    let stats: Value = serde_json::from_str(&odd.text("stats").await).unwrap();
    println!("pids:{pid} {}", stats["child"]);
    std::future::pending::<()>().await;
}

#[test]
#[ignore = "a process of another test"]
fn the_reaper_of_another_test() {
    reaper::run().unwrap();
}
