//! Agents of the revision that has batches.

use super::*;

impl Agent {
    /// The next line, an array: its messages by their ids.
    async fn together(&mut self) -> Vec<(Value, Value)> {
        let line = self.hear().await;
        let all = line.as_array().unwrap_or_else(|| panic!("{line}"));
        let mut all: Vec<_> = all
            .iter()
            .map(|one| (one["id"].clone(), one.clone()))
            .collect();
        all.sort_by_key(|(id, _)| id.to_string());
        all
    }
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn ids(answers: &[(Value, Value)]) -> Vec<Value> {
    answers.iter().map(|(id, _)| id.clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_together_is_answered_together() {
    let home = home(&[ADD]);
    let mut agent = Agent::of(&home.open());
    agent.shake("2025-03-26").await;
    let sum = json!({"name": SUM, "arguments": {"a": 5, "b": 3}});
    agent
        .send(json!([
            request(10, "ping", json!({})),
            request(11, "tools/list", json!({})),
            {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
            request(12, "tools/call", sum.clone()),
            request(13, "no/such", json!({})),
            {"id": 14, "method": "ping"},
            request(15, "initialize", json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            })),
            request(10, "ping", json!({})),
            7,
        ]))
        .await;
    let answers = agent.together().await;
    let expected = [10, 10, 11, 12, 13, 14, 15].map(Value::from);
    assert_eq!(ids(&answers)[..7], expected, "{answers:?}");
    assert_eq!(answers[7].0, Value::Null, "what has no id");
    let twice: Vec<_> = answers[..2]
        .iter()
        .filter(|(_, one)| one["error"]["code"] == -32600)
        .collect();
    assert_eq!(twice.len(), 1, "{answers:?}");
    let code = |place: usize| answers[place].1["error"]["code"].clone();
    assert_eq!(answers[2].1["result"]["tools"][0]["name"], SUM);
    assert_eq!(answers[3].1["result"]["structuredContent"]["result"], 8);
    assert_eq!(
        [code(4), code(5), code(6), code(7)],
        [-32601, -32600, -32600, -32600]
    );

    // Nobody waits for an answer to these, and one is answered as ever.
    agent
        .send(json!([{"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}]))
        .await;
    let answer = agent.ask("tools/call", sum).await;
    assert_eq!(answer["result"]["structuredContent"]["result"], 8);
    agent.line("[]").await;
    assert_eq!(agent.hear().await["error"]["code"], -32600);
    agent.line("[{]").await;
    assert_eq!(agent.hear().await["error"]["code"], -32700);
    agent.line("[[], 1]").await;
    assert_eq!(agent.together().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_waits_for_its_own_answers_only() {
    let home = home(&[ADD, SPIN]);
    let roster = home.open();
    let mut agent = Agent::of(&roster);
    agent.shake("2025-03-26").await;
    let spin = json!({"name": "math__spin"});
    agent
        .send(json!([
            request(20, "ping", json!({})),
            request(21, "tools/call", spin)
        ]))
        .await;
    until("it runs", || roster.status().servers[0].running == 1).await;
    agent.send(json!([request(22, "ping", json!({}))])).await;
    assert_eq!(ids(&agent.together().await), [22]);
    assert_eq!(agent.ask("ping", json!({})).await["result"], json!({}));
    // What was cancelled has no answer, and keeps nobody waiting.
    agent
        .send(
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                     "params": {"requestId": 21}}),
        )
        .await;
    assert_eq!(ids(&agent.together().await), [20]);
    until("it has ended", || roster.status().servers[0].running == 0).await;
    agent
        .send(json!([
            request(23, "tools/call", json!({"name": "math__spin"})),
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 23}},
            request(24, "ping", json!({})),
        ]))
        .await;
    assert_eq!(ids(&agent.together().await), [24]);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_revisions_have_no_batches() {
    let home = home(&[ADD]);
    let roster = home.open();
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut agent = Agent::of(&roster);
        agent.shake(version).await;
        agent.send(json!([request(30, "ping", json!({}))])).await;
        let refused = agent.hear().await;
        assert_eq!(refused["error"]["code"], -32600, "{version}: {refused}");
    }
}
