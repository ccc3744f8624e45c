//! Agents that speak raw lines of JSON to a host with real components.

mod against_rmcp;
mod agent;
mod auto_exposure;
mod batch;
mod cancelling;
mod ending;
mod eras;
mod exposure;
mod unknown_servers;

use std::sync::Arc;
use std::time::{Duration, Instant};

use dormouse_protocol::{ListKind, Notice};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::io::{ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use agent::Agent;

use crate::roster::Roster;
use crate::roster::tests::{ADD, Home, SPIN, SUBTRACT, TRAP, component, until};

/// Adds the `_meta` that a request of the stateless era carries to its parameters.
fn stateless(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    params
}

fn home(functions: &[(&str, &str)]) -> Home {
    let home = Home::new();
    home.write("a.wasm", &component(functions));
    home.write("dormouse.toml", b"[servers.math]\ncomponent = 'a.wasm'\n");
    home
}

const SUM: &str = "math__add";

#[tokio::test(flavor = "multi_thread")]
async fn a_legacy_agent_lists_and_calls() {
    let home = home(&[ADD, TRAP]);
    let mut agent = Agent::legacy(&home.open()).await;
    let id = agent.begin("tools/list", json!({})).await;
    let text = agent.text().await;
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"{SUM}","#);
    assert!(text.starts_with(&head), "{text}");
    assert_eq!(agent.names().await, [SUM, "math__trap"]);

    let params = json!({"name": SUM, "arguments": {"a": 5, "b": 3}});
    let result = agent.ask("tools/call", params).await["result"].clone();
    assert_eq!(result["structuredContent"], json!({"result": 8}));
    assert!(result.get("resultType").is_none(), "{result}");

    // What a tool refuses is told to the model …
    let params = json!({"name": SUM, "arguments": {"a": "five"}});
    let result = agent.ask("tools/call", params).await["result"].clone();
    assert_eq!(result["isError"], true, "{result}");
    let params = json!({"name": "math__trap"});
    let result = agent.ask("tools/call", params).await["result"].clone();
    assert_eq!(result["isError"], true, "{result}");

    // … and what is not a call of a tool to its client.
    let wrong = [
        ("tools/call", json!({"name": "math__ad"})),
        ("tools/call", json!({"name": "MATH__ADD"})),
        ("tools/call", json!({"name": SUM, "arguments": [1]})),
        ("tools/call", json!({})),
        ("tools/list", json!({"cursor": "x"})),
    ];
    for (method, params) in wrong {
        let answer = agent.ask(method, params.clone()).await;
        assert_eq!(answer["error"]["code"], -32602, "{params}: {answer}");
    }
    let answer = agent.ask("tools/call", json!({"name": "math__ad"})).await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("did you mean `math__add`?"), "{message}");
    let answer = agent.ask("tools/dance", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");

    // Why a tool is not there, where that is known.
    std::fs::remove_file(home.path("a.wasm")).unwrap();
    agent.notified("notifications/tools/list_changed").await;
    let answer = agent.ask("tools/call", json!({"name": SUM})).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("server `math` has failed"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_without_a_handshake_lists_calls_and_listens() {
    let home = home(&[ADD]);
    let mut agent = Agent::of(&home.open());
    let answer = agent.ask("server/discover", stateless(json!({}))).await;
    let result = &answer["result"];
    assert_eq!(result["resultType"], "complete", "{answer}");
    let versions = result["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{versions:?}");

    let answer = agent.ask("tools/list", stateless(json!({}))).await;
    let result = answer["result"].as_object().unwrap();
    let keys: Vec<_> = result.keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        ["resultType", "ttlMs", "cacheScope", "_meta", "tools"]
    );
    assert_eq!(result["cacheScope"], "private");
    let server = json!({
        "name": "dormouse", "title": "Dormouse", "version": env!("CARGO_PKG_VERSION"),
    });
    let server = json!({ "io.modelcontextprotocol/serverInfo": server });
    assert_eq!(result["_meta"], server);

    let params = json!({"name": SUM, "arguments": {"a": 5, "b": 3}});
    let answer = agent.ask("tools/call", stateless(params.clone())).await;
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["result"], 8);
    assert_eq!(answer["result"]["_meta"], server);
    // It has to bring with it what a handshake would have said.
    let answer = agent.ask("tools/call", params).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");

    let wanted = json!({"notifications": {"toolsListChanged": true, "promptsListChanged": true}});
    let id = agent.begin("subscriptions/listen", stateless(wanted)).await;
    let accepted = agent
        .notified("notifications/subscriptions/acknowledged")
        .await;
    let accepted = &accepted["params"]["notifications"];
    assert_eq!(
        accepted,
        &json!({"toolsListChanged": true, "promptsListChanged": true})
    );
    home.replace("a.wasm", &component(&[ADD, TRAP]));
    let changed = agent.notified("notifications/tools/list_changed").await;
    let of = &changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
    assert_eq!(of, &json!(id), "{changed}");
}

/// On one thread whoever hears an acknowledgement goes on before who has sent it.
#[tokio::test]
async fn what_changes_right_after_an_acknowledgement_is_told() {
    let home = home(&[ADD]);
    let roster = home.open();
    let listening = async move {
        let mut agent = Agent::of(&roster);
        agent.ask("server/discover", stateless(json!({}))).await;
        let wanted = json!({"notifications": {"promptsListChanged": true}});
        agent.begin("subscriptions/listen", stateless(wanted)).await;
        let acknowledged = "notifications/subscriptions/acknowledged";
        agent.notified(acknowledged).await;
        roster.notify("math", Notice::Changed(ListKind::Prompts));
        agent.notified("notifications/prompts/list_changed").await;

        let wrong = json!({"notifications": "all"});
        let answer = agent.ask("subscriptions/listen", stateless(wrong)).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    };
    // What a test does itself is not in turn with the tasks that it has spawned.
    tokio::spawn(listening).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_plugin_is_told_of_only_if_the_list_differs() {
    let home = home(&[ADD]);
    let mut agent = Agent::legacy(&home.open()).await;
    assert_eq!(agent.names().await, [SUM]);
    let sum = json!({"name": SUM, "arguments": {"a": 5, "b": 3}});
    let mut expected = [(SUBTRACT, 2), (ADD, 8)].into_iter().cycle();
    for _ in 0..2 {
        let (function, result) = expected.next().unwrap();
        home.replace("a.wasm", &component(&[function]));
        let answer = agent.ask("tools/call", sum.clone()).await;
        assert_eq!(answer["result"]["structuredContent"]["result"], result);
    }
    home.replace("a.wasm", &component(&[ADD, TRAP]));
    agent.notified("notifications/tools/list_changed").await;
    assert_eq!(agent.names().await, [SUM, "math__trap"]);
    assert!(agent.heard.is_empty(), "{:?}", agent.heard);
}

/// Says how far it is, logs at level `info`, and says how far it is again.
const TALK: &str = r#"(component
    (import "dormouse:plugin/call@0.1.0" (instance $call
        (type $level (enum "debug" "info" "notice" "warning" "error" "critical" "alert" "emergency"))
        (export "log-level" (type $log-level (eq $level)))
        (export "progress" (func
            (param "progress" f64) (param "total" (option f64)) (param "message" (option string))))
        (export "log" (func
            (param "level" $log-level) (param "logger" (option string)) (param "data" string)))))
    (core module $memory (memory (export "memory") 1) (data (i32.const 0) "half way\22tick\22"))
    (core instance $memory (instantiate $memory))
    (core func $progress (canon lower (func $call "progress") (memory (core memory $memory "memory"))))
    (core func $log (canon lower (func $call "log") (memory (core memory $memory "memory"))))
    (core module $m
        (import "call" "progress" (func $progress (param f64 i32 f64 i32 i32 i32)))
        (import "call" "log" (func $log (param i32 i32 i32 i32 i32 i32)))
        (func (export "talk")
            (call $progress (f64.const 1) (i32.const 1) (f64.const 2)
                (i32.const 1) (i32.const 0) (i32.const 8))
            (call $log (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0)
                (i32.const 8) (i32.const 6))
            (call $progress (f64.const 2) (i32.const 1) (f64.const 2)
                (i32.const 0) (i32.const 0) (i32.const 0))))
    (core instance $i (instantiate $m (with "call" (instance
        (export "progress" (func $progress)) (export "log" (func $log))))))
    (func (export "talk") (canon lift (core func $i "talk"))))"#;

#[tokio::test(flavor = "multi_thread")]
async fn what_a_tool_says_reaches_who_wants_to_hear_it() {
    const PROGRESS: &str = "notifications/progress";
    const LOG: &str = "notifications/message";
    let home = home(&[ADD]);
    home.write("a.wasm", &wat::parse_str(TALK).unwrap());
    let roster = home.open();
    let mut agent = Agent::legacy(&roster).await;
    let plain = json!({"name": "math__talk"});
    // The host itself may say how far it is with compiling, before that.
    let mut asked = plain.clone();
    asked["_meta"] = json!({"progressToken": "t"});
    let answer = agent.ask("tools/call", asked).await;
    assert_ne!(answer["result"]["isError"], true, "{answer}");
    let heard = |agent: &Agent, method: &str| -> Vec<Value> {
        let heard = agent.heard.iter().filter(|m| m["method"] == method);
        heard.map(|m| m["params"].clone()).collect()
    };
    let progress = heard(&agent, PROGRESS);
    let said: Vec<_> = progress.iter().filter(|p| p["progress"] == 1).collect();
    assert_eq!(
        said,
        [&json!({"progressToken": "t", "progress": 1, "total": 2, "message": "half way"})]
    );
    let last = json!({"progressToken": "t", "progress": 2, "total": 2});
    assert_eq!(progress.last(), Some(&last));
    let logged = json!({"level": "info", "logger": "math", "data": "tick"});
    assert_eq!(heard(&agent, LOG), std::slice::from_ref(&logged));

    // Nobody asked for progress this time, nor for so little of the log.
    agent.heard.clear();
    agent
        .ask("logging/setLevel", json!({"level": "warning"}))
        .await;
    agent.ask("tools/call", plain.clone()).await;
    assert!(agent.heard.is_empty(), "{:?}", agent.heard);

    // Without a handshake, each call says for itself what it wants to hear.
    let mut agent = Agent::of(&roster);
    agent.ask("tools/call", stateless(plain.clone())).await;
    assert!(agent.heard.is_empty(), "{:?}", agent.heard);
    let mut asked = stateless(plain);
    asked["_meta"]["io.modelcontextprotocol/logLevel"] = "debug".into();
    agent.ask("tools/call", asked).await;
    assert_eq!(heard(&agent, LOG), [logged]);
    assert!(heard(&agent, PROGRESS).is_empty());
    let answer = agent
        .ask("logging/setLevel", stateless(json!({"level": "debug"})))
        .await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nonsense_is_refused_and_the_next_line_is_heard() {
    let home = home(&[ADD]);
    let mut agent = Agent::of(&home.open());
    // Before anything else, too.
    agent.line("hello").await;
    assert_eq!(agent.hear().await["error"]["code"], -32700);
    agent
        .line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
        .await;
    agent.line("[]").await;
    assert_eq!(agent.hear().await["error"]["code"], -32600);
    agent
        .line(r#"{"jsonrpc":"1.0","id":77,"method":"tools/list"}"#)
        .await;
    let answer = agent.hear().await;
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(77), &json!(-32600))
    );
    agent.input.write_all(b"\xff\xfe\n\n\r\n").await.unwrap();
    assert_eq!(agent.hear().await["error"]["code"], -32700);
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":78,"method":"{}"}}"#,
        "x".repeat(17 << 20)
    );
    agent.line(&long).await;
    assert_eq!(agent.hear().await["error"]["code"], -32600);
    let answer = agent.ask("tools/list", stateless(json!({}))).await;
    assert_eq!(answer["result"]["tools"][0]["name"], SUM);
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_listed_byte_for_byte_on_one_line() {
    // Fields that nobody knows, a number that no parser keeps, and lines.
    let tool = "{\"x-first\":1.10,\n  \"name\":\"odd\",\r\n  \"inputSchema\":{\"type\":\"object\"},\"n\":18446744073709551616}";
    let mut declared = dormouse_wit::from_component(&component(&[ADD]))
        .unwrap()
        .declaration;
    declared.tools[0].name = "odd".into();
    declared.tools[0].tool = RawValue::from_string(tool.into()).unwrap();
    let section = dormouse_wit::section::encode(&declared).unwrap();
    let home = home(&[ADD]);
    let packed = dormouse_wit::section::insert(&component(&[ADD]), &section).unwrap();
    home.write("a.wasm", &packed);
    // The second host takes it from the index of the first.
    for _ in 0..2 {
        let roster = home.open();
        let mut agent = Agent::legacy(&roster).await;
        agent.begin("tools/list", json!({})).await;
        let text = agent.text().await;
        let expected = "[{\"x-first\":1.10,   \"name\":\"math__odd\",    \"inputSchema\":{\"type\":\"object\"},\"n\":18446744073709551616}]";
        assert!(text.contains(expected), "{text}");
        roster.save();
    }
}
