//! Messages in calls, in both eras.

use std::time::Instant;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn what_is_offered_is_told_before_the_first_request_goes_out() {
    let odd = odd(&[]);
    odd.good().await;
    let all = "opened echo slow hang die change tell ask refuse pid meta stats";
    assert_eq!(odd.policy.told(), [all, "admit tools/call echo"]);
    let status = odd.upstream.status();
    assert_eq!(status.server_info["name"], "odd");
    assert_eq!(status.connections.len(), 1);
    assert_eq!(status.connections[0].pid, Some(odd.pid().await));
    let barred = odd.call("barred", json!({})).await;
    assert_eq!(barred, Err(Failure::Barred("it has changed".into())));
}

/// Its user has answered for the tool as it was.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_not_sent_to_a_tool_that_has_changed_meanwhile() {
    for (is_stateless, changes) in [(true, false), (true, true), (false, false), (false, true)] {
        let odd = odd(if is_stateless { &["modern"] } else { &[] });
        *odd.policy.changing.lock() = changes.then_some("ask");
        let era = if is_stateless {
            ClientEra::Stateless
        } else {
            ClientEra::default()
        };
        let listener = RecordingListener::of(era, &[Capability::ElicitationForm]);
        let params = json!({
            "mode": "form", "message": "Name?",
            "requestedSchema": { "type": "object", "properties": {} },
        });
        let asked = json!({ "method": "elicitation/create", "params": params });
        let answer = odd.call_as(ONE, listener.clone(), "ask", asked).await;
        let case = format!("{is_stateless} {changes}: {answer:?}");
        match (changes, is_stateless) {
            (true, true) => assert_eq!(answer, Err(Failure::Barred("it has changed".into()))),
            // It hears that it has no answer.
            (true, false) => assert!(text(&answer.unwrap()).contains("may not go on"), "{case}"),
            (false, _) => assert!(!text(&answer.unwrap()).contains("may not go on"), "{case}"),
        }
        assert_eq!(listener.asked(), 1, "{case}");
        let admitted = odd.policy.told().into_iter();
        let admitted = admitted.filter(|told| told == "admit tools/call ask");
        assert_eq!(admitted.count(), 2, "{case}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn names_of_questions_have_the_limit_of_ids() {
    let odd = odd(&["modern"]);
    for (bytes, fits) in [(4096, true), (4097, false)] {
        let listener = RecordingListener::able(&[Capability::Roots]);
        let asked = json!({ "method": "roots/list", "params": {}, "q": "q".repeat(bytes) });
        let answer = odd.call_as(ONE, listener.clone(), "ask", asked).await;
        assert_eq!(answer.is_ok(), fits, "{answer:?}");
        assert_eq!(listener.asked(), usize::from(fits));
        if !fits {
            let why = why(answer);
            assert!(
                why.contains("the name of a question has 4097 bytes"),
                "{why}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn json_passes_as_it_is_in_both_eras() {
    for era in [&[][..], &["modern"]] {
        let odd = odd(era);
        let listener: Arc<dyn Listener> = Arc::new(RecordingListener::default());
        let connection = odd.upstream.connect(Some(ONE), &listener).await.unwrap();
        let params = r#"{"name":"echo","arguments":{"z":1,"a":null}}"#;
        let request = called(params);
        let asking = odd
            .upstream
            .request(Some(ONE), connection, &request, &listener);
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
        let listener =
            RecordingListener::able(&[Capability::ElicitationForm, Capability::Sampling]);
        odd.call_as(ONE, listener.clone(), "tell", json!({}))
            .await
            .unwrap();
        assert_eq!(
            listener.heard(),
            [
                json!({ "progress": 1.0, "total": 2.0 }),
                json!({ "progress": 2.0, "total": 2.0 }),
                json!({ "level": "warning", "logger": "odd/odd", "data": { "a": 1 } }),
            ],
            "{era:?}"
        );
        assert!(odd.policy.told().contains(&"updated odd://x".to_owned()));
        let params = json!({ "message": "why?", "requestedSchema": {}, "x-own": 1 });
        let asked = json!({ "method": "elicitation/create", "params": params });
        let answer = odd
            .call_as(ONE, listener.clone(), "ask", asked)
            .await
            .unwrap();
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

/// Whoever was asked to open a page waits for that. Nobody is told of others' pages.
#[tokio::test(flavor = "multi_thread")]
async fn that_a_page_is_done_is_told_to_whom_was_asked_to_open_it() {
    let odd = odd(&[]);
    let listener = || RecordingListener::able(&[Capability::ElicitationUrl]);
    let (client, caller) = (listener(), listener());
    odd.policy.clients.lock().insert(ONE, client.clone());
    let page = |id: &str| json!({ "mode": "url", "message": "?", "url": "https://x", "elicitationId": id });
    let asked = |id: &str, done: &[&str]| json!({ "method": "elicitation/create", "params": page(id), "done": done });
    // While the call waits, it is the call's. To the client each id is one of the server's.
    for (id, done) in [("a", "odd/a"), ("dormouse-1", "odd/dormouse-1")] {
        let asked = asked(id, &["b", id, id]);
        odd.call_as(ONE, caller.clone(), "ask", asked)
            .await
            .unwrap();
        assert_eq!(caller.heard().pop(), Some(json!({ "done": done })));
    }
    assert_eq!(caller.heard().len(), 2, "{:?}", caller.heard());
    assert!(client.heard().is_empty());
    // When the call has ended, it is its session's.
    odd.call_as(ONE, listener(), "ask", asked("c", &[]))
        .await
        .unwrap();
    odd.call_as(ONE, caller.clone(), "ask", asked("d", &["c"]))
        .await
        .unwrap();
    assert_eq!(client.heard(), [json!({ "done": "odd/c" })]);
    // So are pages that have to be opened before a call.
    let refused = json!({ "elicitations": [page("e")] });
    let refused = odd.call_as(ONE, caller.clone(), "refuse", refused).await;
    assert!(refused.is_err());
    odd.good().await;
    let done = [caller.heard(), client.heard()].concat();
    let last = json!({ "done": "odd/e" });
    assert_eq!(
        done.iter().filter(|heard| **heard == last).count(),
        1,
        "{done:?}"
    );
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
                .call_as(ONE, RecordingListener::able(able), "ask", asked)
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
    let listener = || RecordingListener::able(&[Sampling, SamplingTools, SamplingContext]);
    let asked = json!({ "method": sampling, "params": tools });
    let answer = odd.call_as(ONE, listener(), "ask", asked).await.unwrap();
    let answer: Value = serde_json::from_str(&text(&answer)).unwrap();
    let mut asked = tools.clone();
    asked["systemPrompt"] = json!("[server `odd`] Rhyme.");
    // To a client, "this server" would be all of them.
    asked.as_object_mut().unwrap().remove("includeContext");
    assert_eq!(answer["params"], asked);
    let stats = odd
        .call_as(ONE, listener(), "stats", json!({}))
        .await
        .unwrap();
    let stats: Value = serde_json::from_str(&text(&stats)).unwrap();
    assert_eq!(
        stats["capabilities"],
        json!({ "sampling": { "tools": {}, "context": {} } })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn it_may_ask_what_the_callers_client_can_do_and_at_once() {
    let odd = odd(&["asks-early"]);
    let listener = || RecordingListener::able(&[Capability::ElicitationUrl, Capability::Roots]);
    odd.call_as(ONE, listener(), "echo", json!({}))
        .await
        .unwrap();
    let answered = async {
        loop {
            let stats = odd
                .call_as(ONE, listener(), "stats", json!({}))
                .await
                .unwrap();
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
async fn nobody_is_asked_on_behalf_of_another_agent() {
    let able = || RecordingListener::able(&[Capability::Roots]);
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
