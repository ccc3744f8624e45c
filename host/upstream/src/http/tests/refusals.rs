//! Answers that are errors of HTTP, or none at all.

use super::*;

#[tokio::test]
async fn refusals_are_the_answers_that_they_are() {
    let server = Server::start(async |seen| {
        let (code, body) = match seen.body.as_str() {
            body if body.contains("tools/call") => (
                400,
                r#"{"jsonrpc":"2.0","error":{"code":-32020,"message":"Header mismatch","data":{"x":1.0}},"id":1}"#,
            ),
            body if body.contains("no-id") => (
                400,
                r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no"},"id":null}"#,
            ),
            body if body.contains("server/discover") => (404, "<html>Not found</html>"),
            body if body.contains("initialize") => (
                400,
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"which version?"}}"#,
            ),
            _ => (500, r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"oh"}}"#),
        };
        text(code, "application/json", body)
    })
    .await;
    let mut channel = server.connect().await;
    for (method, expected) in [
        (
            "tools/call",
            r#"{"jsonrpc":"2.0","error":{"code":-32020,"message":"Header mismatch","data":{"x":1.0}},"id":1}"#,
        ),
        (
            "no-id",
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}"#,
        ),
        (
            "initialize",
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"which version?"}}"#,
        ),
        (
            "other",
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"oh"}}"#,
        ),
    ] {
        channel.sender.send(request(1, method)).await.unwrap();
        assert_eq!(next(&mut channel).await, expected);
    }
    // A server that knows nothing of the newest era is said to know nothing of it.
    channel
        .sender
        .send(modern(request(1, "server/discover")))
        .await
        .unwrap();
    let unknown = next(&mut channel).await;
    assert!(
        unknown.contains("-32601") && unknown.contains("404") && unknown.contains(r#""id":1"#),
        "{unknown}"
    );
    // To a notification there is no answer that could be handed on.
    let why = broken(channel.sender.send(notification("no-id")).await);
    assert!(why.contains("400") && why.contains("-32000"), "{why}");
}

#[tokio::test]
async fn a_lost_session_is_told_from_everything_else_that_is_not_found() {
    let server = Server::start(async |seen| {
        if seen.body.contains("initialize") {
            return with(json(&answer(1)), "mcp-session-id", "s1");
        }
        let session = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#;
        match seen.body.as_str() {
            body if body.contains("old-style") => text(400, "application/json", session),
            body if body.contains("other") => text(400, "text/plain", "session"),
            _ => text(404, "application/json", r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Session not found"}}"#),
        }
    })
    .await;
    let mut channel = server.connect().await;
    // Without a session there is none to lose.
    channel.sender.send(request(1, "tools/list")).await.unwrap();
    assert!(next(&mut channel).await.contains("-32001"));
    channel.sender.send(request(1, "initialize")).await.unwrap();
    next(&mut channel).await;
    for method in ["tools/list", "old-style"] {
        let sent = channel.sender.send(request(1, method)).await;
        assert_eq!(sent, Err(Lost::Session), "{method}");
    }
    assert!(broken(channel.sender.send(request(1, "other")).await).contains("400"));
}

#[tokio::test]
async fn what_is_no_answer_is_told_briefly_and_harmlessly() {
    let server = Server::start(async |seen| match seen.body.as_str() {
        body if body.contains("page") => text(200, "text/html", "<html>"),
        body if body.contains("nothing") => json(""),
        body if body.contains("taken") => status(202),
        body if body.contains("junk") => json("nonsense"),
        body if body.contains("another") => json(&answer(7)),
        body if body.contains("busy") => with(text(503, "text/plain", ""), "retry-after", "120"),
        _ => text(
            500,
            "text/plain",
            &format!("\u{1b}[31m`{}", "x".repeat(100_000)),
        ),
    })
    .await;
    let mut channel = server.connect().await;
    for (method, part) in [
        ("page", "`text/html` instead of JSON\nhint: "),
        ("nothing", "not answered it"),
        ("taken", "not answered it"),
        ("junk", "is no message"),
        ("another", "not answered it"),
        (
            "busy",
            "503 Service Unavailable\nhint: the server wants to be asked again later (`120`)",
        ),
        ("error", "500 Internal Server Error: `\\u{1b}[31m'xxx"),
    ] {
        let why = broken(channel.sender.send(request(1, method)).await);
        assert!(why.contains(part), "{method}: {why}");
        assert!(why.contains(&format!("`{}/mcp`", server.origin)), "{why}");
        assert!(why.len() < 500, "{why}");
        assert_eq!(channel.sender.end_reason(), why);
    }
    // An answer to something else is nevertheless handed on.
    assert_eq!(next(&mut channel).await, answer(7));
}
