//! Requests that their client cancels.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_ends_while_others_go_on() {
    let home = home(&[ADD, SPIN]);
    let roster = home.open();
    let mut agent = Agent::legacy(&roster).await;
    let running = || roster.status().servers[0].running;
    let sum = json!({"name": SUM, "arguments": {"a": 5, "b": 3}});
    let spins = [
        agent
            .begin("tools/call", json!({"name": "math__spin"}))
            .await,
        agent
            .begin("tools/call", json!({"name": "math__spin"}))
            .await,
    ];
    until("both run", || running() == 2).await;
    let answer = agent.ask("tools/call", sum.clone()).await;
    assert_eq!(answer["result"]["structuredContent"]["result"], 8);
    let cancelled = Instant::now();
    for id in spins {
        agent
            .send(
                json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
                         "params": {"requestId": id, "reason": "enough"}}),
            )
            .await;
    }
    until("both have ended", || running() == 0).await;
    assert!(cancelled.elapsed() < Duration::from_secs(1));
    // Nobody is answered who has given up, and everybody else is.
    let answer = agent.ask("tools/call", sum).await;
    assert_eq!(answer["result"]["structuredContent"]["result"], 8);
}

/// Some clients use an id again, although MCP does not allow it.
#[tokio::test(flavor = "multi_thread")]
async fn the_answer_of_a_cancelled_request_is_not_that_of_another() {
    let home = home(&[ADD, SPIN]);
    let roster = home.open();
    let mut agent = Agent::legacy(&roster).await;
    let running = || roster.status().servers[0].running;
    for _ in 0..10 {
        let spin = json!({"name": "math__spin"});
        let id = agent.begin("tools/call", spin).await;
        until("it runs", || running() == 1).await;
        let params = json!({"requestId": id});
        agent
            .send(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}))
            .await;
        agent
            .send(json!({"jsonrpc": "2.0", "id": id, "method": "ping"}))
            .await;
        let answer = agent.answer(id).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
        until("it has ended", || running() == 0).await;
        // And nothing comes under that id later.
        agent.ask("ping", json!({})).await;
    }
}
