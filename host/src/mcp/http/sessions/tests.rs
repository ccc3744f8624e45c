mod questions;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use dormouse_protocol::Answer;
use futures::{FutureExt as _, StreamExt as _};
use rmcp::model::{ProtocolVersion, RequestId};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::claimed_request_id::ClaimedRequestId;
use super::reader::StreamEventReader;
use super::session::HttpSession;
use super::*;
use crate::mcp::client::client_connection::{ClientConnection, Notification};
use crate::mcp::common::Common;
use crate::mcp::http::answers::answer_room::{AnswerRoom, ClientAnswerRoom};
use crate::mcp::http::answers::written::WrittenMessage;
use crate::roster::tests::Home;

/// Returns a notification that belongs to no request, of about that many bytes.
pub(super) fn log(bytes: usize) -> WrittenMessage {
    let data = Value::from("x".repeat(bytes));
    WrittenMessage::notification(Notification::log("info", None, data), &room()).unwrap()
}

/// Returns the answer to the request with that id.
pub(super) fn answer(request: i64) -> WrittenMessage {
    message(request, json!({ "made": request }))
}

fn message(request: i64, result: Value) -> WrittenMessage {
    WrittenMessage::answer(&id(request), Ok(Answer::Made(result)), &room())
}

fn room() -> ClientAnswerRoom {
    Arc::<AnswerRoom>::default().of_client("test".to_owned())
}

/// Returns a message as a value.
pub(super) fn value(message: &WrittenMessage) -> Value {
    let text: Vec<Bytes> = message.clone().into_parts().collect();
    serde_json::from_slice(&text.concat()).unwrap()
}

fn id(number: i64) -> RequestId {
    RequestId::Number(number)
}

/// A session, and the requests in it that have no answer yet.
struct Pair {
    session: Arc<HttpSession>,
    asked: Vec<(i64, ClaimedRequestId)>,
}

impl Pair {
    fn of(version: &str) -> Self {
        let version: ProtocolVersion = serde_json::from_value(json!(version)).unwrap();
        Self {
            session: HttpSession::new(&version, Arc::default(), room()),
            asked: Vec::new(),
        }
    }

    /// Asks something that has a stream.
    fn ask(&mut self, number: i64) -> StreamEventReader {
        let claimed = self.session.claim(&id(number)).unwrap();
        let reader = claimed.stream();
        self.asked.push((number, claimed));
        reader
    }

    /// Sends something that belongs to no request. Nobody waits for anybody.
    fn say(&self, message: WrittenMessage) {
        self.session.send(None, message).unwrap();
    }

    fn claimed(&self, request: i64) -> &ClaimedRequestId {
        let mut asked = self.asked.iter();
        let found = asked.find(|(number, _)| *number == request);
        &found.unwrap().1
    }

    /// Sends progress of the request with that id.
    fn progress(&self, request: i64) {
        let token = rmcp::model::ProgressToken(id(request));
        let progress = Notification::progress(&token, 1.0, None, None);
        let connection = self.claimed(request).connection();
        let sent = connection.notify(progress).now_or_never();
        sent.unwrap().unwrap();
    }

    /// Answers the request with that id.
    fn answer(&mut self, request: i64, with: WrittenMessage) {
        self.claimed(request).answer(with);
        self.asked.retain(|(number, _)| *number != request);
    }

    fn cancel(&self, request: i64) -> CancellationToken {
        self.claimed(request).cancel().clone()
    }

    fn resume(&self, after: &str) -> StreamEventReader {
        self.session.resume(after.parse().unwrap())
    }

    fn is_over(&self, after: &str) -> bool {
        self.session.is_over(after.parse().unwrap())
    }
}

/// An event as a client sees it: its id, and its message, if it has one.
type Seen = (String, Option<Value>);

/// Returns the events that a reader gets now, and whether its stream is over then.
fn read(reader: &mut StreamEventReader) -> (Vec<Seen>, bool) {
    let mut seen = Vec::new();
    loop {
        match reader.next().now_or_never() {
            Some(Some(event)) => {
                let message = event.message.as_ref().map(value);
                seen.push((event.id.unwrap().to_string(), message));
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
    let mut pair = Pair::of("2025-11-25");
    let mut reader = pair.ask(7);
    assert_eq!(read(&mut reader), (vec![("0/1".into(), None)], false));
    pair.progress(7);
    assert_eq!(ids(&read(&mut reader).0), ["1/1"]);
    drop(reader);
    pair.progress(7);
    pair.answer(7, answer(7));
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
    let mut pair = Pair::of("2025-11-25");
    let _readers = [pair.session.listen(), pair.ask(1), pair.ask(2)];
    pair.progress(1);
    pair.answer(1, answer(1));
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
        let mut pair = Pair::of(version);
        drop(pair.ask(1));
        pair.progress(1);
        // Where something waits, that has one.
        let mut waiting = pair.resume("0/1");
        if primed {
            assert_eq!(ids(&read(&mut waiting).0), ["1/1"]);
        }
        let had = if primed { "1/1" } else { "0/1" };
        let (seen, over) = read(&mut pair.resume(had));
        assert_eq!(seen.len(), usize::from(primed), "{version}");
        assert!(!over);
        pair.answer(1, answer(1));
        let (seen, over) = read(&mut pair.resume(had));
        assert!(over);
        assert_eq!(last(&seen)["result"]["made"], 1);
    }
}

#[tokio::test]
async fn who_stays_away_has_cancelled() {
    let mut pair = Pair::of("2025-11-25");
    let readers = [pair.ask(1), pair.ask(2), pair.ask(3)];
    drop(readers);
    let start = Instant::now();
    // One comes back for good, and one to leave again.
    let stays = pair.resume("0/1");
    tokio::time::sleep(Duration::from_millis(500)).await;
    drop(pair.resume("0/2"));
    for (request, stream, after) in [(3, 3, 2000), (2, 2, 2500)] {
        pair.cancel(request).cancelled().await;
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
    let mut pair = Pair::of("2025-11-25");
    let mut readers = vec![pair.session.listen(), pair.ask(1), pair.ask(2)];
    for number in [1, 2] {
        pair.say(log(1));
        pair.progress(number);
    }
    let mut seen: Vec<Seen> = readers.iter_mut().flat_map(|one| read(one).0).collect();
    readers.push(pair.session.listen());
    pair.answer(1, answer(1));
    pair.answer(2, answer(2));
    seen.extend(readers.iter_mut().flat_map(|one| read(one).0));
    let distinct: HashSet<&str> = ids(&seen).into_iter().collect();
    // Three streams and the news once more begin with an id, and there are six messages.
    assert_eq!((seen.len(), distinct.len()), (10, 10), "{seen:?}");
}

#[tokio::test]
async fn the_news_go_to_who_came_last() {
    let pair = Pair::of("2025-11-25");
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
        let mut pair = Pair::of(version);
        for mut reader in [pair.session.listen(), pair.ask(1)] {
            assert_eq!(read(&mut reader).0.len(), usize::from(primed), "{version}");
        }
        let mut reader = pair.ask(2);
        pair.answer(2, answer(2));
        let first = reader.next().await.unwrap();
        // All are told when to come back.
        assert!(first.retry.is_some(), "{version}");
        assert_eq!(first.message.is_none(), primed, "{version}");
    }
}

#[tokio::test]
async fn who_does_not_read_holds_up_nobody_else() {
    let mut pair = Pair::of("2025-11-25");
    let mut unread = pair.session.listen();
    let mut slow = pair.ask(1);
    for _ in 0..64 {
        pair.say(log(1 << 20));
        let mut other = pair.ask(2);
        pair.progress(2);
        pair.answer(2, answer(2));
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
    let long = message(1, json!({ "long": "x".repeat(16 << 20) }));
    pair.answer(1, long);
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
    let mut pair = Pair::of("2025-11-25");
    let (mut cancelled, mut running) = (pair.ask(1), pair.ask(2));
    let brief = pair.session.claim(&id(3)).unwrap();
    pair.session.cancel(&id(1));
    assert!(pair.cancel(1).is_cancelled() && !pair.cancel(2).is_cancelled());
    pair.answer(1, answer(1));
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
    assert!(brief.cancel().is_cancelled() && pair.cancel(2).is_cancelled());
    assert!(pair.session.send(None, log(1)).is_err());
    // There is nothing more to be had of it.
    assert!(read(&mut pair.session.listen()).1);
    assert!(read(&mut pair.resume("0/2")).1);
}

#[tokio::test]
async fn the_session_that_is_missed_least_makes_room() {
    let home = Home::new();
    let common = Common::new(home.open(), 8).unwrap();
    let sessions = HttpSessions::new(2, Duration::from_secs(60), Arc::default());
    let open = |client: &str| {
        let said = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": client, "version": "1" } });
        let said = serde_json::from_value(said).unwrap();
        let begin = || {
            let session = AgentSession::begin(common.clone());
            let (closed, ending) = (CancellationToken::new(), CancellationToken::new());
            let host = Host::over_http(common.clone(), Some(session.id()), None, closed, ending);
            (session, host)
        };
        sessions.open(said, begin).map(|opened| opened.id)
    };
    let find = |session: &str| sessions.find(session, None).unwrap().session.clone();
    let first = open("a").unwrap();
    let second = open("b").unwrap();
    let asked = find(&first).claim(&id(1)).unwrap();
    assert!(find(&first).claim(&id(1)).is_none());
    let third = open("b").unwrap();
    assert!(sessions.find(&second, None).is_none());
    let busy = find(&third).claim(&id(1)).unwrap();
    for client in ["a", "b", "c"] {
        assert!(open(client).is_err(), "{client}");
    }
    drop((asked, busy));
    // Who listens stays for longer.
    let _listens = find(&first).listen();
    let _fourth = open("c").unwrap();
    assert!(sessions.find(&first, None).is_some() && sessions.find(&third, None).is_none());
    sessions.end_all();
    assert!(sessions.find(&first, None).is_none());
}
