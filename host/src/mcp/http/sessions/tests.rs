use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::{FutureExt as _, StreamExt as _};
use rmcp::model::{
    ClientJsonRpcMessage, GetExtensions as _, NumberOrString, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::OriginatingRequestId;
use rmcp::transport::Transport as _;
use serde_json::{Value, json};

use super::reader::Reader;
use super::*;

/// Returns a notification that belongs to no request, of about that many bytes.
pub(super) fn log(bytes: usize) -> ServerJsonRpcMessage {
    let params = json!({ "level": "info", "data": "x".repeat(bytes) });
    let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
    serde_json::from_value(log).unwrap()
}

fn id(number: i64) -> RequestId {
    NumberOrString::Number(number)
}

fn answer(request: i64) -> ServerJsonRpcMessage {
    let result = json!({ "jsonrpc": "2.0", "id": request, "result": { "made": request } });
    serde_json::from_value(result).unwrap()
}

/// Progress of the request with that id, as the host sends it.
fn progress(request: i64) -> ServerJsonRpcMessage {
    let params = json!({ "progressToken": request, "progress": 1 });
    let said = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
    let mut said = serde_json::from_value(said).unwrap();
    if let ServerJsonRpcMessage::Notification(said) = &mut said {
        let origin = OriginatingRequestId(id(request));
        said.notification.extensions_mut().insert(origin);
    }
    said
}

fn said(message: Value) -> ClientJsonRpcMessage {
    serde_json::from_value(message).unwrap()
}

/// A session, and rmcp's place in it.
struct Pair {
    session: Arc<Session>,
    pipe: Pipe,
}

impl Pair {
    async fn of(version: &str) -> Self {
        let (session, said_by_it) = Session::new(Arc::default());
        let mut pipe = Pipe::new(session.clone(), said_by_it);
        let initialize = said(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": { "protocolVersion": version, "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" } } }));
        let result = json!({ "jsonrpc": "2.0", "id": 0, "result": {
            "protocolVersion": version, "capabilities": {},
            "serverInfo": { "name": "test", "version": "1" } } });
        let (shaken, ()) = tokio::join!(session.shake_hands(initialize), async {
            assert!(pipe.receive().await.is_some());
            let Ok(()) = pipe.send(serde_json::from_value(result).unwrap()).await;
        });
        shaken.unwrap();
        Self { session, pipe }
    }

    /// Asks something.
    async fn ask(&mut self, number: i64) -> Reader {
        let claim = self.session.claim(&id(number)).unwrap();
        let request = json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call",
            "params": { "name": "x" } });
        let reader = self.session.ask(said(request)).await.unwrap();
        drop(claim);
        assert!(self.pipe.receive().await.is_some());
        reader
    }

    /// Sends a message as rmcp does. It never waits for anybody.
    fn say(&mut self, message: ServerJsonRpcMessage) {
        let Ok(()) = self.pipe.send(message).now_or_never().unwrap();
    }

    fn resume(&self, after: &str) -> Reader {
        self.session.resume(after.parse().unwrap())
    }

    fn is_over(&self, after: &str) -> bool {
        self.session.is_over(after.parse().unwrap())
    }
}

/// An event as a client sees it: its id, and its message, if it has one.
type Seen = (String, Option<Value>);

/// Returns the events that a reader gets now, and whether its stream is over then.
fn read(reader: &mut Reader) -> (Vec<Seen>, bool) {
    let mut seen = Vec::new();
    loop {
        match reader.next().now_or_never() {
            Some(Some(event)) => {
                let message = event.message.map(|message| {
                    let message: &ServerJsonRpcMessage = &message;
                    serde_json::to_value(message).unwrap()
                });
                seen.push((event.event_id.unwrap(), message));
            }
            Some(None) => return (seen, true),
            None => return (seen, false),
        }
    }
}

fn ids(seen: &[Seen]) -> Vec<&str> {
    seen.iter().map(|(id, _)| id.as_str()).collect()
}

/// Returns the message that came last, which is an answer or an error.
fn last(seen: &[Seen]) -> &Value {
    seen.last().unwrap().1.as_ref().unwrap()
}

#[tokio::test]
async fn an_answer_waits_for_who_comes_back() {
    let mut pair = Pair::of("2025-11-25").await;
    let mut reader = pair.ask(7).await;
    assert_eq!(read(&mut reader), (vec![("0/1".into(), None)], false));
    pair.say(progress(7));
    assert_eq!(ids(&read(&mut reader).0), ["1/1"]);
    drop(reader);
    pair.say(progress(7));
    pair.say(answer(7));
    // As often as it is asked for, without what was had before.
    for (after, expected) in [
        ("0/1", vec!["1/1", "2/1", "3/1"]),
        ("1/1", vec!["2/1", "3/1"]),
        ("1/1", vec!["2/1", "3/1"]),
        ("3/1", vec![]),
    ] {
        let (seen, over) = read(&mut pair.resume(after));
        assert!(over, "{after}");
        assert_eq!(ids(&seen), expected, "{after}");
        if !seen.is_empty() {
            assert_eq!(last(&seen)["result"]["made"], 7);
        }
    }
    for unknown in ["4/1", "0/2", "3/0"] {
        assert_eq!(read(&mut pair.resume(unknown)), (vec![], true), "{unknown}");
    }
}

#[tokio::test]
async fn who_comes_back_for_nothing_is_told_so() {
    let mut pair = Pair::of("2025-11-25").await;
    let _readers = [pair.session.listen(), pair.ask(1).await, pair.ask(2).await];
    pair.say(progress(1));
    pair.say(answer(1));
    for (after, over) in [
        // There is the answer, or there will be.
        ("0/1", false),
        ("1/1", false),
        ("0/2", false),
        ("0/0", false),
        // That was the answer.
        ("2/1", true),
        // There are no such events.
        ("3/1", true),
        ("1/2", true),
        ("1/0", true),
        ("0/9", true),
    ] {
        assert_eq!(pair.is_over(after), over, "{after}");
    }
}

/// A client that loses its connection twice may have forgotten what it came back with.
#[tokio::test]
async fn who_comes_back_gets_an_id_for_the_next_time() {
    for (version, primed) in [("2025-11-25", true), ("2025-06-18", false)] {
        let mut pair = Pair::of(version).await;
        drop(pair.ask(1).await);
        pair.say(progress(1));
        // Where something waits, that has one.
        let mut waiting = pair.resume("0/1");
        if primed {
            assert_eq!(ids(&read(&mut waiting).0), ["1/1"]);
        }
        let had = if primed { "1/1" } else { "0/1" };
        let (seen, over) = read(&mut pair.resume(had));
        assert_eq!(seen.len(), usize::from(primed), "{version}");
        assert!(!over);
        pair.say(answer(1));
        let (seen, over) = read(&mut pair.resume(had));
        assert!(over);
        assert_eq!(last(&seen)["result"]["made"], 1);
    }
}

#[tokio::test]
async fn who_stays_away_has_cancelled() {
    let mut pair = Pair::of("2025-11-25").await;
    let readers = [pair.ask(1).await, pair.ask(2).await, pair.ask(3).await];
    drop(readers);
    let start = Instant::now();
    // One comes back for good, and one to leave again.
    let stays = pair.resume("0/1");
    tokio::time::sleep(Duration::from_millis(500)).await;
    drop(pair.resume("0/2"));
    for (request, stream, after) in [(3, 3, 2000), (2, 2, 2500)] {
        let heard = pair.pipe.receive().await.unwrap();
        let heard = serde_json::to_value(heard).unwrap();
        assert_eq!(heard["method"], "notifications/cancelled", "{heard}");
        assert_eq!(heard["params"]["requestId"], request);
        assert!(start.elapsed() >= Duration::from_millis(after));
        // Its id is free, and whoever comes back too late hears of it.
        assert!(pair.session.claim(&id(request)).is_some());
        let (seen, over) = read(&mut pair.resume(&format!("0/{stream}")));
        assert!(over);
        assert_eq!(last(&seen)["id"], request);
        assert!(last(&seen)["error"]["message"].is_string(), "{seen:?}");
    }
    assert!(pair.session.claim(&id(1)).is_none());
    assert!(start.elapsed() < Duration::from_secs(6));
    drop(stays);
}

#[tokio::test]
async fn no_two_events_of_a_session_have_the_same_id() {
    let mut pair = Pair::of("2025-11-25").await;
    let mut readers = vec![pair.session.listen(), pair.ask(1).await, pair.ask(2).await];
    for number in [1, 2, 3] {
        pair.say(log(1));
        pair.say(progress(number));
    }
    let mut seen: Vec<Seen> = readers.iter_mut().flat_map(|one| read(one).0).collect();
    readers.push(pair.session.listen());
    pair.say(answer(1));
    pair.say(answer(2));
    seen.extend(readers.iter_mut().flat_map(|one| read(one).0));
    let distinct: HashSet<&str> = ids(&seen).into_iter().collect();
    // Three streams and the news once more begin with an id, and there are eight messages.
    assert_eq!((seen.len(), distinct.len()), (12, 12), "{seen:?}");
}

#[tokio::test]
async fn the_news_go_to_who_came_last() {
    let mut pair = Pair::of("2025-11-25").await;
    // What nobody was there for comes first, and is an id to come back with.
    pair.say(log(1));
    let mut first = pair.session.listen();
    assert_eq!(ids(&read(&mut first).0), ["0/0"]);
    let mut second = pair.session.listen();
    assert_eq!(read(&mut first), (vec![], true));
    assert_eq!(read(&mut second), (vec![("1/0".into(), None)], false));
    drop(first);
    pair.say(log(1));
    assert_eq!(ids(&read(&mut second).0), ["2/0"]);
    drop(second);
    pair.say(log(1));
    let mut third = pair.resume("1/0");
    assert_eq!(ids(&read(&mut third).0), ["2/0", "3/0"]);
}

#[tokio::test]
async fn only_who_knows_them_gets_events_that_say_nothing() {
    for (version, primed) in [
        ("2025-11-25", true),
        ("2025-06-18", false),
        ("2024-11-05", false),
    ] {
        let mut pair = Pair::of(version).await;
        for mut reader in [pair.session.listen(), pair.ask(1).await] {
            assert_eq!(read(&mut reader).0.len(), usize::from(primed), "{version}");
        }
        let mut reader = pair.ask(2).await;
        pair.say(answer(2));
        let first = reader.next().await.unwrap();
        // All are told when to come back.
        assert!(first.retry.is_some(), "{version}");
        assert_eq!(first.message.is_none(), primed, "{version}");
    }
}

#[tokio::test]
async fn who_does_not_read_holds_up_nobody_else() {
    let mut pair = Pair::of("2025-11-25").await;
    let mut unread = pair.session.listen();
    let mut slow = pair.ask(1).await;
    for _ in 0..64 {
        pair.say(log(1 << 20));
        let mut other = pair.ask(2).await;
        pair.say(progress(2));
        pair.say(answer(2));
        let (seen, over) = read(&mut other);
        assert!(over);
        assert_eq!(last(&seen)["result"]["made"], 2);
    }
    // It is sent away, and has missed only what could not be kept.
    assert_eq!(read(&mut unread).0.last().unwrap().1, None);
    let back = read(&mut pair.resume("0/0")).0;
    assert!((4..=8).contains(&back.len()), "{:?}", ids(&back));
    assert_eq!(ids(&back).last(), Some(&"64/0"));
    // An answer is owed to whoever is there, however long it is.
    let long = json!({ "jsonrpc": "2.0", "id": 1, "result": { "long": "x".repeat(16 << 20) } });
    pair.say(serde_json::from_value(long).unwrap());
    pair.say(log(1 << 20));
    let (seen, over) = read(&mut slow);
    assert!(over);
    let long = last(&seen)["result"]["long"].as_str().unwrap();
    assert_eq!(long.len(), 16 << 20);
    // To keep it as well would be too much.
    drop(slow);
    let (seen, over) = read(&mut pair.resume("0/1"));
    assert!(over);
    assert!(last(&seen)["error"]["message"].is_string());
}

#[tokio::test]
async fn who_cancels_or_ends_it_waits_for_nothing() {
    let mut pair = Pair::of("2025-11-25").await;
    let (mut cancelled, mut running) = (pair.ask(1).await, pair.ask(2).await);
    let brief = pair.session.claim(&id(3)).unwrap();
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 1 } });
    pair.session.tell(said(cancel)).await.unwrap();
    pair.say(answer(1));
    // An error in place of the answer, or else clients came back for more.
    let (seen, over) = read(&mut cancelled);
    assert!(over);
    assert_eq!(ids(&seen), ["0/1", "1/1"]);
    assert_eq!(last(&seen)["id"], 1);
    assert!(last(&seen)["error"]["message"].is_string(), "{seen:?}");
    assert!(pair.is_over("1/1") && !pair.is_over("0/1"));
    assert!(pair.session.claim(&id(1)).is_some());
    let mut news = pair.session.listen();
    assert!(!read(&mut news).1 && !read(&mut running).1);
    pair.session.end();
    assert!(read(&mut news).1 && read(&mut running).1);
    assert!(brief.cancel.is_cancelled());
    let mut heard = Vec::new();
    while let Some(message) = pair.pipe.receive().await {
        let message = serde_json::to_value(message).unwrap();
        heard.push(message["params"]["requestId"].clone());
    }
    assert_eq!(heard, [json!(1), json!(2)]);
    // There is nothing more to be had of it.
    assert!(read(&mut pair.session.listen()).1);
    assert!(read(&mut pair.resume("0/2")).1);
}

#[tokio::test]
async fn the_session_that_is_missed_least_makes_room() {
    let sessions = Sessions::new(2, Duration::from_secs(60));
    let open = async || sessions.create_session().await;
    let (first, _first) = open().await.unwrap();
    let (second, _second) = open().await.unwrap();
    let asked = sessions.claim(&first, &id(1)).unwrap().unwrap();
    assert!(sessions.claim(&first, &id(1)).is_err());
    assert!(sessions.claim("none", &id(1)).unwrap().is_none());
    let (third, _third) = open().await.unwrap();
    assert!(!sessions.has_session(&second).await.unwrap());
    let busy = sessions.claim(&third, &id(1)).unwrap().unwrap();
    assert_eq!(sessions.make_room("other 1"), Err(NoRoom::OfAll));
    assert!(matches!(open().await, Err(Error::Full)));
    drop((asked, busy));
    // Who listens stays for longer.
    let _listens = sessions.create_standalone_stream(&first).await.unwrap();
    let (_fourth, _pipe) = open().await.unwrap();
    assert!(sessions.has_session(&first).await.unwrap());
    assert!(!sessions.has_session(&third).await.unwrap());
}
