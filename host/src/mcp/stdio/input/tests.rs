//! Tests of lines as messages, and of those that are not read.

use dormouse_protocol::Answer;
use dormouse_tests::logged::logged;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;

#[tokio::test]
async fn a_client_whose_requests_are_not_read_is_told_of_once_in_the_log() {
    let (logged, _guard) = logged();
    let number = MAX_OPEN_REQUESTS + 100;
    let lines = (0..number).map(|id| {
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        format!("{ping}\n")
    });
    let lines = std::io::Cursor::new(lines.collect::<String>());
    let client = StdioClient::new(tokio::io::sink(), CancellationToken::new());
    let room = MessageRoom::new(256 << 20, 16 << 20);
    let mut input = StdioInput::new(lines, client.clone(), room);
    let said = || {
        let lines = logged.lines();
        let said = lines.iter().filter(|line| line.contains("no answer yet"));
        said.count()
    };
    let mut ids = Vec::new();
    for answered in 0..3 {
        let more = async {
            while let Some(message) = input.next().await {
                if let Incoming::Request(request) = message {
                    ids.push(request.id);
                }
            }
        };
        let ended = tokio::time::timeout(Duration::from_millis(200), more).await;
        assert!(ended.is_err(), "more are read");
        assert_eq!(ids.len(), MAX_OPEN_REQUESTS + 1 + answered);
        assert_eq!(said(), 1, "{:?}", logged.lines());
        let id = ids[answered].clone();
        let cancel = CancellationToken::new();
        client
            .answer(&id, &cancel, Ok(Answer::Made(json!({}))))
            .await;
    }
}

fn read(text: &str) -> Incoming {
    Incoming::read(text, &TakenRoom::default())
}

fn nested(depth: usize) -> String {
    format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth))
}

/// Returns the code of the error with which a text is refused, and the id under which it is.
#[track_caller]
fn refused(text: &str) -> (Option<RequestId>, i32) {
    match read(text) {
        Incoming::Refused(id, error) => (id, error.code.0),
        _ => panic!("{text} is not refused"),
    }
}

#[test]
fn what_no_value_can_hold_is_refused_under_its_id() {
    let seven = Some(RequestId::Number(7));
    for arguments in [&nested(126), &nested(100_000), "{\"a\":1e999}"] {
        let call = |id: &str| {
            format!(
                "{{\"jsonrpc\":\"2.0\",{id}\"method\":\"tools/call\",\
                 \"params\":{{\"name\":\"a\",\"arguments\":{arguments}}}}}"
            )
        };
        assert_eq!(refused(&call("\"id\":7,")), (seven.clone(), -32600));
        // Nobody waits for an answer to a notification.
        assert!(matches!(read(&call("")), Incoming::Nothing));
        // What is no message at all has no id either.
        assert_eq!(refused(&format!("[{arguments}]")), (None, -32600));
    }
    // Who has asked the agent something does not wait for ever.
    let answer = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}}",
        nested(200)
    );
    let Incoming::Response(id, Err(_)) = read(&answer) else {
        panic!("no error");
    };
    assert_eq!(Some(id), seven);
    assert_eq!(refused(&nested(200)[1..]), (None, -32700));
}

#[test]
fn a_member_that_is_there_twice_is_refused() {
    for text in [
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{},"p\u0061rams":{}}"#,
    ] {
        assert_eq!(refused(text), (Some(RequestId::Number(7)), -32600));
    }
    let text = r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#;
    assert_eq!(refused(text), (None, -32600));
}

#[test]
fn a_long_id_is_refused() {
    let id = "x".repeat(1 << 20);
    let text = format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#);
    assert_eq!(refused(&text), (None, -32600));
}

#[test]
fn reading_takes_linear_time() {
    let meta = |members: usize| {
        let members = (0..members).map(|number| format!("\"m{number}\":1"));
        let members = members.collect::<Vec<_>>().join(",");
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"a","_meta":{{{members}}}}}}}"#
        )
    };
    dormouse_tests::growth::is_linear("`_meta` of a request", 5_000, meta, |text| {
        assert!(matches!(read(text), Incoming::Request(_)));
    });
}
