//! Agents that go from one era to the other, and back.

use super::*;

const CANCELLED: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;

impl Agent {
    /// Shakes hands, whatever was said before.
    pub(super) async fn shake(&mut self, version: &str) -> Value {
        let hello = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        let answer = self.ask("initialize", hello).await;
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        answer["result"].clone()
    }

    /// Asserts that the agent is served in both eras, in each as that era has it.
    async fn is_served(&mut self) {
        let legacy = self.ask("tools/list", json!({})).await;
        assert_eq!(legacy["result"]["tools"][0]["name"], SUM, "{legacy}");
        assert!(legacy["result"].get("resultType").is_none(), "{legacy}");
        let params = json!({"name": SUM, "arguments": {"a": 5, "b": 3}});
        let legacy = self.ask("tools/call", params).await;
        assert_eq!(legacy["result"]["structuredContent"]["result"], 8);
        assert_eq!(self.ask("ping", json!({})).await["result"], json!({}));
        let modern = self.ask("tools/list", stateless(json!({}))).await;
        assert_eq!(modern["result"]["resultType"], "complete", "{modern}");
        let modern = self.ask("ping", stateless(json!({}))).await;
        assert_eq!(modern["error"]["code"], -32601, "{modern}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_that_comes_after_a_probe_ends_the_host() {
    let home = home(&[ADD]);
    let roster = home.open();
    let mut unknown = stateless(json!({}));
    unknown["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01".into();
    for (method, params) in [
        ("server/discover", stateless(json!({}))),
        ("server/discover", json!({})),
        ("ping", json!({})),
        ("tools/list", json!({})),
        ("tools/list", unknown),
        ("initialize", json!({})),
    ] {
        for stray in [
            CANCELLED,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/else"}"#,
            r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":99,"error":{"code":1,"message":"no"}}"#,
        ] {
            let mut agent = Agent::of(&roster);
            // Without waiting in between.
            let id = agent.begin(method, params.clone()).await;
            agent.line(stray).await;
            let list = agent.begin("tools/list", stateless(json!({}))).await;
            agent.answer(id).await;
            let answer = agent.answer(list).await;
            assert_eq!(
                answer["result"]["tools"][0]["name"], SUM,
                "{method} {stray}"
            );
            assert_eq!(
                agent.shake("2025-06-18").await["protocolVersion"],
                "2025-06-18"
            );
            agent.is_served().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hands_may_be_shaken_after_requests_without() {
    let home = home(&[ADD, SPIN]);
    let roster = home.open();
    for first in ["tools/list", "tools/call", "no/such/method"] {
        let mut agent = Agent::of(&roster);
        let params = stateless(json!({"name": SUM, "arguments": {"a": 5, "b": 3}}));
        let id = agent.begin(first, params).await;
        let shaken = agent.begin(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            }),
        );
        let shaken = shaken.await;
        // What was asked before is answered before.
        assert_eq!(agent.hear().await["id"], id);
        let answer = agent.hear().await;
        assert_eq!(answer["id"], shaken);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
        agent.is_served().await;
    }
    assert_eq!(roster.status().servers[0].running, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_runs_when_hands_are_shaken_is_answered_once() {
    let home = home(&[ADD, SPIN]);
    let roster = home.open();
    let mut agent = Agent::of(&roster);
    let wanted = json!({"notifications": {"toolsListChanged": true}});
    let listen = agent.begin("subscriptions/listen", stateless(wanted)).await;
    agent
        .notified("notifications/subscriptions/acknowledged")
        .await;
    let spin = json!({"name": "math__spin"});
    let spin = agent.begin("tools/call", stateless(spin)).await;
    until("it runs", || roster.status().servers[0].running == 1).await;

    let begun = Instant::now();
    let hello = agent.begin(
        "initialize",
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }),
    );
    let hello = hello.await;
    let mut answers = Vec::new();
    while !answers.iter().any(|answer: &Value| answer["id"] == hello) {
        answers.push(agent.hear().await);
    }
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(
        ids,
        [json!(listen), json!(spin), json!(hello)],
        "{answers:?}"
    );
    assert_eq!(answers[0]["result"]["resultType"], "complete");
    assert_eq!(answers[1]["result"]["isError"], true, "{answers:?}");
    assert!(begun.elapsed() < Duration::from_secs(3));
    until("it has ended", || roster.status().servers[0].running == 0).await;
    assert_eq!(roster.status().sessions, 1);

    // From now on the agent is told of changes as the era with sessions has it.
    agent
        .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        .await;
    agent.is_served().await;
    home.replace("a.wasm", &component(&[ADD, TRAP]));
    let changed = agent.notified("notifications/tools/list_changed").await;
    assert_eq!(changed.get("params"), None, "{changed}");

    // And the end of the input is noticed as ever.
    agent.input.shutdown().await.unwrap();
    agent.host.await.unwrap().unwrap();
    assert_eq!(roster.status().sessions, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn hands_may_be_shaken_again() {
    let home = home(&[ADD]);
    let mut agent = Agent::of(&home.open());
    assert_eq!(
        agent.shake("2025-06-18").await["protocolVersion"],
        "2025-06-18"
    );
    // What both know counts, not what was asked for.
    assert_eq!(
        agent.shake("2026-07-28").await["protocolVersion"],
        "2025-11-25"
    );
    agent.is_served().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_rmcp_drops_of_a_list_is_refused() {
    let home = home(&[ADD]);
    let mut agent = Agent::legacy(&home.open()).await;
    for method in [
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ] {
        for cursor in [json!(7), json!({}), json!([]), json!(true), json!("x")] {
            for mut params in [json!({}), stateless(json!({}))] {
                params["cursor"] = cursor.clone();
                let answer = agent.ask(method, params).await;
                assert_eq!(
                    answer["error"]["code"], -32602,
                    "{method} {cursor}: {answer}"
                );
            }
        }
        let answer = agent.ask(method, json!(["x"])).await;
        assert_eq!(answer["error"]["code"], -32600, "{method}: {answer}");
        for params in [json!({}), json!({"cursor": null}), Value::Null] {
            let answer = agent.ask(method, params).await;
            assert!(answer.get("result").is_some(), "{method}: {answer}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_level_that_is_none_is_refused() {
    let home = home(&[ADD]);
    let mut agent = Agent::of(&home.open());
    let sum = json!({"name": SUM, "arguments": {"a": 5, "b": 3}});
    for (method, params) in [
        ("tools/call", sum.clone()),
        ("tools/list", json!({})),
        ("server/discover", json!({})),
        ("subscriptions/listen", json!({"notifications": {}})),
    ] {
        for level in [json!("loud"), json!(7), json!("")] {
            let mut params = stateless(params.clone());
            params["_meta"]["io.modelcontextprotocol/logLevel"] = level.clone();
            let answer = agent.ask(method, params).await;
            assert_eq!(
                answer["error"]["code"], -32602,
                "{method} {level}: {answer}"
            );
            let why = answer["error"]["message"].as_str().unwrap();
            assert!(why.contains(&format!("`{level}`")), "{why}");
        }
    }
    for level in [json!("alert"), Value::Null] {
        let mut params = stateless(sum.clone());
        params["_meta"]["io.modelcontextprotocol/logLevel"] = level;
        let answer = agent.ask("tools/call", params).await;
        assert_eq!(
            answer["result"]["structuredContent"]["result"], 8,
            "{answer}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_subscribes_to_the_status() {
    const STATUS: &str = "dormouse://status";
    let home = home(&[ADD]);
    let mut agent = Agent::legacy(&home.open()).await;
    let answer = agent
        .ask("resources/subscribe", json!({"uri": STATUS}))
        .await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("`dormouse://status`"), "{why}");
    let wanted = json!({"notifications": {
        "toolsListChanged": true, "resourceSubscriptions": [STATUS],
    }});
    agent.begin("subscriptions/listen", stateless(wanted)).await;
    let told = agent
        .notified("notifications/subscriptions/acknowledged")
        .await;
    let told = &told["params"]["notifications"];
    assert_eq!(told, &json!({"toolsListChanged": true}));
}
