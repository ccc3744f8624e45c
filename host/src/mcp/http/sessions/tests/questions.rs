//! Room of questions to the client of a session.

use std::future::poll_fn;

use dormouse_protocol::{Capability, Question, QuestionOrigin};

use super::*;
use crate::mcp::http::answers::sse::EventText;

const MIB: usize = 1 << 20;

/// Returns a question of a little more than a MiB.
fn question() -> Question {
    let params = json!({ "messages": ["x".repeat(MIB)], "maxTokens": 1 });
    Question {
        id: "q".to_owned(),
        origin: QuestionOrigin::Server,
        capability: Capability::Sampling,
        params: params.as_object().unwrap().clone(),
        text: None,
    }
}

#[tokio::test]
async fn a_question_takes_room_until_it_has_gone_out() {
    let room = Arc::new(AnswerRoom::new(64 * MIB));
    let session = HttpSession::new(
        &ProtocolVersion::V_2025_06_18,
        Arc::default(),
        room.of_client("test".to_owned()),
    );
    let claimed = session.claim(&id(1)).unwrap();
    let mut events = EventText::new(claimed.stream().boxed());
    let question = question();
    let connection = claimed.connection();
    let (mut unread, mut number) = (Vec::new(), 0);
    let refused = loop {
        let mut asked = connection.request(&question);
        if let Some(asked) = asked.as_mut().now_or_never() {
            break asked.unwrap_err();
        }
        // Its head, its message and its end.
        for _ in 0..3 {
            unread.push(poll_fn(|cx| events.poll(cx)).await.unwrap());
        }
        // The answer may come before anybody has read it.
        session.questions.answered(&id(number), Ok("{}".to_owned()));
        asked.await.unwrap();
        number += 1;
    };
    assert!((16..40).contains(&number), "{number}");
    let why = refused.to_string();
    assert!(why.contains("too many long messages"), "{why}");
    // What is short goes out.
    connection
        .notify(Notification::log("info", None, json!("x")))
        .await
        .unwrap();
    // The session keeps some, for a client that comes back.
    drop(unread);
    let asked = connection.request(&question);
    assert!(asked.now_or_never().is_none(), "it is asked again");
}

#[tokio::test]
async fn a_question_takes_room_until_it_is_answered() {
    let room = Arc::new(AnswerRoom::new(64 * MIB));
    let room = room.of_client("test".to_owned());
    let session = HttpSession::new(&ProtocolVersion::V_2025_06_18, Arc::default(), room);
    let connection = session.connection();
    let question = question();
    // Nobody reads what is sent, and so it is kept no longer.
    let mut open = Vec::new();
    let refused = loop {
        let mut asked = connection.request(&question);
        match asked.as_mut().now_or_never() {
            Some(asked) => break asked.unwrap_err(),
            None => open.push(asked),
        }
    };
    assert!((4..10).contains(&open.len()), "{}", open.len());
    let why = refused.to_string();
    assert!(why.contains("too many long messages"), "{why}");
    open.pop();
    assert!(connection.request(&question).now_or_never().is_none());
}
