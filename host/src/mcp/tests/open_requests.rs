//! A client with more requests than may have no answer yet.

use dormouse_tests::logged::logged;
use rmcp::model::{JsonRpcMessage, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::Transport as _;

use super::super::message_room::MessageRoom;
use super::super::wire::{Link, MAX_OPEN_REQUESTS, Wire};
use super::*;

#[tokio::test]
async fn a_client_whose_requests_are_not_read_is_told_of_once_in_the_log() {
    let (logged, _guard) = logged();
    let number = MAX_OPEN_REQUESTS + 100;
    let lines = (0..number).map(|id| {
        let ping = json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        format!("{ping}\n")
    });
    let input = std::io::Cursor::new(lines.collect::<String>());
    let link = Link::new(
        input,
        tokio::io::sink(),
        MessageRoom::new(256 << 20, 16 << 20),
        CancellationToken::new(),
        CancellationToken::new(),
    );
    let mut wire = Wire::new(&link, None, CancellationToken::new());
    let said = || {
        let lines = logged.lines();
        let said = lines.iter().filter(|line| line.contains("no answer yet"));
        said.count()
    };
    let mut ids = Vec::new();
    for answered in 0..3 {
        let more = async {
            while let Some(message) = wire.receive().await {
                if let JsonRpcMessage::Request(request) = message {
                    ids.push(request.id);
                }
            }
        };
        let ended = tokio::time::timeout(Duration::from_millis(200), more).await;
        assert!(ended.is_err(), "more are read");
        assert_eq!(ids.len(), MAX_OPEN_REQUESTS + 1 + answered);
        assert_eq!(said(), 1, "{:?}", logged.lines());
        let id = ids[answered].clone();
        let answer = ServerJsonRpcMessage::response(ServerResult::empty(()), id);
        wire.send(answer).await.unwrap();
    }
}
