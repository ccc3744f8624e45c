//! Ends of a host over stdio.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_input_ends_the_host_at_once() {
    let home = home(&[ADD, SPIN]);
    let roster = home.open();
    let mut agent = Agent::legacy(&roster).await;
    agent
        .begin("tools/call", json!({"name": "math__spin"}))
        .await;
    until("it runs", || roster.status().servers[0].running == 1).await;
    assert_eq!(roster.status().sessions, 1);
    // What has been asked is still answered.
    let sum = json!({"name": SUM, "arguments": {"a": 5, "b": 3}});
    let id = agent.begin("tools/call", sum).await;
    agent.input.shutdown().await.unwrap();
    let closed = Instant::now();
    let answer = agent.answer(id).await;
    assert_eq!(answer["result"]["structuredContent"]["result"], 8);
    agent.host.await.unwrap().unwrap();
    assert!(
        closed.elapsed() < Duration::from_secs(3),
        "{:?}",
        closed.elapsed()
    );
    assert_eq!(roster.status().sessions, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_reads_nothing_is_not_waited_for() {
    let home = home(&[ADD]);
    for closes in [true, false] {
        let mut agent = Agent::of(&home.open());
        // More answers than the pipe holds.
        for _ in 0..400 {
            agent.begin("tools/list", stateless(json!({}))).await;
        }
        match closes {
            true => agent.input.shutdown().await.unwrap(),
            false => agent.stop.cancel(),
        }
        let ended = tokio::time::timeout(Duration::from_secs(20), agent.host);
        ended.await.expect("it goes on").unwrap().unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_the_host_with_its_calls() {
    let home = home(&[SPIN]);
    let roster = home.open();
    let mut agent = Agent::legacy(&roster).await;
    agent
        .begin("tools/call", json!({"name": "math__spin"}))
        .await;
    until("it runs", || roster.status().servers[0].running == 1).await;
    let stopped = Instant::now();
    agent.stop.cancel();
    agent.host.await.unwrap().unwrap();
    assert!(stopped.elapsed() < Duration::from_secs(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_leaves_without_a_word_is_no_error() {
    let home = home(&[ADD]);
    let agent = Agent::of(&home.open());
    drop((agent.input, agent.output));
    agent.host.await.unwrap().unwrap();
}
