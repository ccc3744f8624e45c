//! Calls of real servers through the real bridge.

mod login_links;
mod reference_servers;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use dormouse_launch::{Launch, Stdio};
use dormouse_policy::{Grants, Limits};
use dormouse_protocol::{QuestionLimit, SessionId};
use dormouse_upstream::{
    Connector, JudgedItems, Offered, Reactions, Setup, Upstream, UpstreamPolicy,
};
use dormouse_wit::Instance;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Map, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::tests::{NoClients, runtime};
use crate::{
    Arguments, Call, CallError, Callable, Completion, ComponentLocation, GuestRequest,
    PromptRequest, Reference, ResourceRequest, Slot, Target, ToolRequest,
};

/// Answers every question.
#[derive(Default)]
struct Ear {
    able: Vec<Capability>,
    /// Time that it takes to answer.
    thinks: Duration,
}

impl Ear {
    fn able(able: &[Capability]) -> Arc<Self> {
        Arc::new(Self {
            able: able.to_vec(),
            ..Self::default()
        })
    }
}

impl Listener for Ear {
    fn progress(&self, _: f64, _: Option<f64>, _: Option<String>) {}

    fn log(&self, _: &'static str, _: Option<String>, _: Value) {}

    fn supports(&self, capability: Capability) -> bool {
        self.able.contains(&capability)
    }

    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'static, Result<Vec<Answer>, AskError>> {
        let answers = questions.iter().map(|question| {
            let params: Value = serde_json::from_str(&question.to_text()).unwrap();
            Answer::Made(json!({ "to": question.method(), "params": params, "own": [1.5] }))
        });
        let answers: Vec<_> = answers.collect();
        let thinks = self.thinks;
        async move {
            tokio::time::sleep(thinks).await;
            Ok(answers)
        }
        .boxed()
    }
}

/// Allows everything.
struct AllowAll;

impl UpstreamPolicy for AllowAll {
    fn closed(&self, _connection: u64) {}

    fn failed(&self, _: &dormouse_upstream::Lost) {}

    fn missed(&self, _: &str) {}

    fn seen_tools(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn is_known(&self) -> bool {
        true
    }

    fn reactions(&self) -> Reactions {
        Reactions::default()
    }

    fn opened(&self, _: Offered) {}

    fn judged_items(&self, _: &str, _: Option<&str>, _: &Arc<dyn Listener>) -> JudgedItems {
        JudgedItems::default()
    }

    fn is_recorded(&self, _: u64, _: &JudgedItems) -> bool {
        true
    }

    fn admit<'a>(
        &'a self,
        _: &'a str,
        _: Option<&'a str>,
        _: &'a Arc<dyn Listener>,
    ) -> BoxFuture<'a, Result<(), String>> {
        std::future::ready(Ok(())).boxed()
    }

    fn updated(&self, _: &str) {}

    fn client(&self, _: SessionId) -> Option<Arc<dyn Listener>> {
        None
    }

    fn tell(&self, _: Option<SessionId>, _: String) {}
}

/// Launches the scripted server of the tests of `dormouse-upstream`.
fn launch(odd: &[&str]) -> Launch {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("../upstream/src/tests/server.py");
    let server = server.display().to_string();
    let args: Vec<&str> = [server.as_str()].iter().chain(odd).copied().collect();
    run(Path::new("python3"), &args)
}

fn run(program: &Path, args: &[&str]) -> Launch {
    Launch::Stdio(Stdio {
        command: program.display().to_string(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        ..Stdio::default()
    })
}

/// Waits until a process has ended.
#[cfg(unix)]
async fn gone(pid: u32) {
    let begun = Instant::now();
    // A process that has ended and is not yet waited for is not alive.
    let lives = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    while lives() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{pid} lives");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

struct Bridged {
    _dir: TempDir,
    slot: Arc<Slot>,
    upstream: Arc<Upstream>,
}

fn bridged(launch: Launch, limits: Limits) -> Bridged {
    let dir = TempDir::new().unwrap();
    let upstream = Upstream::new(
        Connector::new(None, Path::new("/none")),
        Setup {
            limits: dormouse_policy::UpstreamLimits::default(),
            server: "odd".into(),
            launch,
            share: false,
            is_to_stay: false,
            sessionless_patience: Duration::from_secs(600),
            start_timeout: Duration::from_secs(60),
            questions: QuestionLimit::new(8),
            policy: Arc::new(AllowAll),
        },
    );
    let slot = runtime(dir.path().join("cache")).slot(target(Some(&upstream), limits));
    Bridged {
        _dir: dir,
        slot,
        upstream,
    }
}

fn target(upstream: Option<&Arc<Upstream>>, limits: Limits) -> Target {
    Target {
        server: "odd".into(),
        code: ComponentLocation::Bridge,
        upstream: upstream.cloned(),
        instance: Instance::PerCall,
        functions: Vec::new(),
        grants: Grants::default(),
        grant_questions: None,
        secrets: Vec::new(),
        sent_secrets: Arc::default(),
        logins: std::collections::BTreeMap::new(),
        questions: QuestionLimit::new(limits.questions),
        limits,
        settings: Map::new(),
        clients: Arc::new(NoClients),
    }
}

fn tool(name: &str, arguments: Value) -> GuestRequest {
    GuestRequest::Tool(ToolRequest {
        name: name.into(),
        callable: Arc::new(Callable {
            function: None,
            schemas: None,
        }),
        arguments: arguments.as_object().unwrap().clone().into(),
    })
}

async fn ask(
    slot: &Arc<Slot>,
    wanted: GuestRequest,
    listener: Arc<Ear>,
) -> Result<Value, CallError> {
    let call = Call {
        wanted,
        session: Some(SessionId(1)),
        cancel: CancellationToken::new(),
        listener,
        condition: None,
        upstream_condition: None,
    };
    let answer = slot.call(call).await?;
    Ok(answer.into_value().unwrap())
}

impl Bridged {
    async fn ask(&self, wanted: GuestRequest) -> Result<Value, CallError> {
        ask(&self.slot, wanted, Arc::default()).await
    }

    async fn tool(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        self.ask(tool(name, arguments)).await
    }

    async fn text(&self, name: &str) -> String {
        text(&self.tool(name, json!({})).await.unwrap())
    }
}

fn text(answer: &Value) -> String {
    answer["content"][0]["text"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_goes_to_the_upstream_and_its_answer_comes_back_whole() {
    let odd = bridged(launch(&[]), Limits::default());
    let arguments = json!({ "z": [1, null], "a": "\u{1}\"ü" });
    let answer = odd.tool("echo", arguments.clone()).await.unwrap();
    let whole = json!({ "content": [], "x": 1.10, "arguments": arguments });
    assert_eq!(answer.to_string(), whole.to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_passes_through_the_bridge_with_code_and_data() {
    let odd = bridged(launch(&[]), Limits::default());
    let error = odd.tool("refuse", json!({})).await.unwrap_err();
    let Cause::Upstream {
        code,
        message,
        data,
        ..
    } = error.cause
    else {
        panic!("{error}");
    };
    // Of an error that wants pages opened, only those pages pass.
    let data = data.as_deref();
    assert_eq!((code, message.as_str()), (-32042, "not today"));
    assert_eq!(data, Some(r#"{"elicitations":[]}"#));
    let prompt = GuestRequest::Prompt(PromptRequest {
        name: "p".into(),
        function: None,
        description: None,
        arguments: Arguments::default(),
    });
    let resource = GuestRequest::Resource(ResourceRequest {
        uri: "odd://x".into(),
        function: None,
        mime_type: None,
        variables: Map::new(),
    });
    let completion = GuestRequest::Completion(Completion {
        of: Reference::Prompt("p".into()),
        argument: "a".into(),
        value: String::new(),
        context: vec![("b".into(), "c".into())],
    });
    for wanted in [prompt, resource, completion] {
        let error = odd.ask(wanted).await.unwrap_err();
        let Cause::Upstream { code, .. } = error.cause else {
            panic!("{error}");
        };
        assert_eq!(code, -32601);
    }
}

/// A guest's request to its upstream takes memory of the host until it is answered.
#[tokio::test(flavor = "multi_thread")]
async fn requests_take_memory_of_the_server() {
    let arguments = json!({ "text": "x".repeat(8 << 20) });
    // The guest itself takes 50 MiB of it.
    for (memory, is_answered) in [(64, false), (160, true)] {
        let limits = Limits {
            memory: memory << 20,
            result: 16 << 20,
            ..Limits::default()
        };
        let odd = bridged(launch(&[]), limits);
        match odd.tool("echo", arguments.clone()).await {
            Ok(answer) => assert!(is_answered && answer["arguments"] == arguments),
            Err(error) => {
                assert!(!is_answered, "{memory}: {error}");
                let error = error.to_string();
                assert!(error.contains("no memory for a request of 83"), "{error}");
            }
        }
        // What is small is not held against it.
        odd.tool("echo", json!({})).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_dies_is_told_with_its_last_words() {
    let odd = bridged(launch(&[]), Limits::default());
    let error = odd.tool("die", json!({})).await.unwrap_err();
    assert!(matches!(error.cause, Cause::Unreached(_)), "{error}");
    let text = error.to_string();
    let begins = "server `odd`, tool `die`: its upstream failed: it ended with exit code 7";
    assert!(text.starts_with(begins), "{text}");
    assert!(text.contains("I am dying"), "{text}");
    odd.tool("echo", json!({})).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn starting_takes_its_own_time_and_answering_the_calls() {
    let limits = Limits {
        timeout: Duration::from_secs(2),
        ..Limits::default()
    };
    // That one takes five seconds to be connected to.
    let odd = bridged(launch(&["starts-slowly"]), limits);
    odd.tool("echo", json!({})).await.unwrap();
    let begun = Instant::now();
    let error = odd.tool("hang", json!({})).await.unwrap_err();
    assert!(matches!(error.cause, Cause::Deadline { .. }), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    let told = async { while odd.text("stats").await.contains(r#""cancelled": []"#) {} };
    tokio::time::timeout(Duration::from_secs(10), told)
        .await
        .unwrap();
    // What a person takes to answer does not count.
    let mut ear = Ear::able(&[Capability::ElicitationForm]);
    Arc::get_mut(&mut ear).unwrap().thinks = Duration::from_secs(3);
    let question = json!({ "method": "elicitation/create", "params": { "message": "?" } });
    let asking = ask(&odd.slot, tool("ask", question), ear);
    assert!(text(&asking.await.unwrap()).contains("elicitation/create"));
}

#[tokio::test(flavor = "multi_thread")]
async fn more_calls_than_may_run_wait_for_the_upstream_at_once() {
    let limits = Limits {
        instances: 2,
        ..Limits::default()
    };
    let odd = bridged(launch(&[]), limits);
    odd.tool("echo", json!({})).await.unwrap();
    let begun = Instant::now();
    let slow = (0..10).map(|_| odd.tool("slow", json!({ "seconds": 1 })));
    for answer in futures::future::join_all(slow).await {
        assert_eq!(text(&answer.unwrap()), "slept");
    }
    assert!(begun.elapsed() < Duration::from_secs(4));
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_is_stopped_when_nobody_has_called_for_a_while() {
    let limits = Limits {
        idle: Duration::from_millis(300),
        ..Limits::default()
    };
    let odd = bridged(launch(&[]), limits);
    let pid = odd.text("pid").await.parse().unwrap();
    gone(pid).await;
    assert!(odd.upstream.status().connections.is_empty());
    assert_ne!(odd.text("pid").await, pid.to_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bridge_to_nowhere_is_not_loaded() {
    let dir = TempDir::new().unwrap();
    let runtime = runtime(dir.path().join("cache"));
    let slot = runtime.slot(target(None, Limits::default()));
    let error = ask(&slot, tool("echo", json!({})), Arc::default()).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("this server has no upstream"), "{error}");
}
