use dormouse_protocol::{Answer, AskError, Question, severity};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::model::NumberOrString;
use serde_json::json;

use super::*;
use crate::mcp::client::client_connection::Disconnected;

fn relay(logs: WantedLogs) -> Relay {
    Relay::new(Some(ProgressToken(NumberOrString::Number(1))), logs)
}

fn waiting(relay: &Relay) -> Vec<String> {
    let mut waiting = Vec::new();
    while let NextStep::Note(note) = relay.next() {
        let notification = relay.notification(note).unwrap();
        waiting.push(Value::from(notification.params).to_string());
    }
    waiting
}

#[test]
fn what_a_suspended_call_says_comes_before_what_it_says_later() {
    let first = relay(WantedLogs::Nothing);
    first.progress(1.0, None, None);
    let meanwhile = first.while_suspended();
    first.close();
    meanwhile.progress(2.0, None, None);
    let later = relay(WantedLogs::Nothing);
    later.progress(3.0, None, None);
    later.follow(&meanwhile);
    later.progress(4.0, None, None);
    // Nothing is told that the request before was told already.
    let told = [2, 3, 4].map(|n| json!({ "progressToken": 1, "progress": n }).to_string());
    assert_eq!(waiting(&later), told);
    assert!(waiting(&meanwhile).is_empty());
    // Many can be suspended, and for long.
    let meanwhile = first.while_suspended();
    for n in 0..100 {
        meanwhile.progress(f64::from(n), None, Some("x".repeat(8 << 10)));
    }
    let kept = meanwhile.queue.lock();
    assert!(
        kept.bytes <= MAX_SUSPENDED_BYTES && kept.notes.len() > 1,
        "{}",
        kept.bytes
    );
}

#[test]
fn nothing_is_told_beyond_what_a_number_can_say() {
    let relay = relay(WantedLogs::Nothing);
    relay.progress(1.7e308, None, None);
    relay.preparing("still running".to_owned());
    assert_eq!(waiting(&relay).len(), 1, "what comes after is no number");
}

#[test]
fn progress_only_grows_and_ends_with_the_answer() {
    let relay = relay(WantedLogs::Nothing);
    relay.progress(1.0, Some(2.0), Some("half".into()));
    relay.progress(1.0, Some(2.0), None);
    relay.progress(0.5, None, None);
    relay.progress(f64::NAN, None, None);
    relay.progress(2.0, Some(f64::INFINITY), None);
    relay.close();
    relay.progress(3.0, None, None);
    assert_eq!(
        waiting(&relay),
        [
            r#"{"progressToken":1,"progress":1,"total":2,"message":"half"}"#,
            r#"{"progressToken":1,"progress":2}"#,
        ]
    );
}

#[test]
fn what_the_host_tells_first_takes_no_progress_from_the_call() {
    let relay = relay(WantedLogs::Nothing);
    relay.preparing("one".into());
    relay.preparing("two".into());
    for progress in [0.0, 0.0, 0.001, 0.5, 1.0] {
        relay.progress(progress, Some(1.0), None);
    }
    // Another connection is made.
    relay.preparing("three".into());
    let numbers = waiting(&relay).into_iter().map(|params| {
        let params: Value = serde_json::from_str(&params).unwrap();
        params["progress"].to_string()
    });
    let expected = [
        "0.001", "0.002", "0.002001", "0.002002", "0.5", "1", "1.001",
    ];
    assert_eq!(numbers.collect::<Vec<_>>(), expected);
}

#[test]
fn a_flood_is_bounded_and_keeps_the_newest_progress() {
    let relay = relay(WantedLogs::From(0));
    for i in 0..10_000 {
        relay.log("info", Some("one".into()), json!(i));
    }
    for i in 0..10_000 {
        relay.progress(f64::from(i), None, None);
    }
    let mut waiting = waiting(&relay);
    let left_out = waiting.pop().unwrap();
    assert!(left_out.contains("of server `one` were"), "{left_out}");
    assert!(waiting.len() <= WAITING, "{}", waiting.len());
    assert!(waiting.last().unwrap().contains("9999}"), "{waiting:?}");
}

/// A tool that tells what it has gathered floods nobody.
#[test]
fn all_logs_of_a_burst_arrive() {
    let relay = relay(WantedLogs::From(0));
    let text = "x".repeat(500);
    for number in 0..600 {
        relay.log("info", Some("one".into()), json!([number, text]));
    }
    let waiting = waiting(&relay);
    assert_eq!(waiting.len(), 600);
    assert!(waiting[599].contains("599"), "{}", waiting[599]);
}

#[test]
fn what_is_left_out_is_told_of_each_server_once_with_the_severest_level() {
    let first = relay(WantedLogs::From(0));
    let said = |relay: &Relay| -> Vec<_> {
        let told = waiting(relay).into_iter();
        told.filter(|told| told.contains("left out")).collect()
    };
    for _ in 0..WAITING {
        first.log("debug", Some("one".into()), json!(1));
    }
    first.log("info", Some("one/own".into()), json!(1));
    first.log("error", Some("one".into()), json!(1));
    first.log("info", Some("one/other".into()), json!(1));
    first.log("debug", Some("two".into()), json!(1));
    // The request that a call goes on with tells it of the time before, too.
    let later = relay(WantedLogs::From(0));
    later.follow(&first);
    later.log("info", Some("two".into()), json!(1));
    assert_eq!(
        said(&later),
        [
            r#"{"level":"error","logger":"dormouse","data":"3 messages of server `one` were left out: they came too fast"}"#,
            r#"{"level":"info","logger":"dormouse","data":"2 messages of server `two` were left out: they came too fast"}"#,
        ]
    );
    assert!(said(&first).is_empty());
    // There is room again.
    later.log("info", Some("two".into()), json!("more"));
    assert_eq!(waiting(&later).len(), 1);
}

/// Other calls share the way to the client.
#[tokio::test]
async fn long_logs_are_sent_at_a_pace_by_their_bytes() {
    paced("x", 1).await;
}

#[tokio::test]
async fn what_is_escaped_counts_as_it_is_written() {
    paced("\u{1}", 6).await;
}

/// Sends long logs of one character, for which so many bytes are written.
async fn paced(letter: &str, bytes: usize) {
    let relay = relay(WantedLogs::From(0));
    let told = Told::default();
    let begun = Instant::now();
    let flood = async {
        for _ in 0..200 {
            relay.log("info", None, json!(letter.repeat(256 << 10)));
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        () = relay.run(&told) => {}
        () = flood => {}
    }
    let seconds = usize::try_from(begun.elapsed().as_secs()).unwrap() + 1;
    let sent = told.0.lock().len();
    assert!(
        (1..=seconds * (BYTES_PER_SECOND >> 18).div_ceil(bytes)).contains(&sent),
        "{sent}"
    );
}

#[tokio::test]
async fn others_have_their_turn_while_notifications_go_out() {
    let relay = relay(WantedLogs::From(0));
    for number in 0..WAITING {
        relay.log("info", None, json!(number));
    }
    let told = Told::default();
    let other = async {
        let sent = told.0.lock().len();
        relay.close();
        sent
    };
    let ((), sent) = tokio::join!(relay.run(&told), other);
    assert!((1..PER_SECOND as usize).contains(&sent), "{sent}");
    assert_eq!(told.0.lock().len(), WAITING);
}

#[test]
fn what_waits_is_bounded_in_bytes_too() {
    let relay = relay(WantedLogs::From(0));
    let bytes = |relay: &Relay| relay.queue.lock().bytes;
    let most = |bytes: usize| assert!(bytes <= MAX_WAITING_BYTES, "{bytes}");
    // A text of 64 KiB that takes a megabyte as a value.
    let nested = || Value::Array(vec![json!([]); 30_000]);
    for _ in 0..64 {
        relay.log("info", Some("x".repeat(1000)), nested());
        most(bytes(&relay));
    }
    for at in 0..1000 {
        relay.progress(f64::from(at), None, Some("y".repeat(64 << 10)));
        most(bytes(&relay));
    }
    let mut waiting = waiting(&relay);
    assert!(waiting.pop().unwrap().contains("left out"));
    assert!(waiting.last().unwrap().contains(":999,"));
    assert_eq!(bytes(&relay), 0);
}

#[test]
fn that_a_page_is_done_is_told_until_the_call_is_answered() {
    let relay = relay(WantedLogs::From(0));
    for _ in 0..WAITING {
        relay.log("info", Some("one".into()), json!(1));
    }
    assert!(relay.page_done("p1"));
    relay.close();
    assert!(!relay.page_done("p2"));
    let told = waiting(&relay);
    assert_eq!(told[WAITING - 1], r#"{"elicitationId":"p1"}"#);
    assert!(told[WAITING].contains("1 message of server `one` was left out"));
}

#[test]
fn nobody_hears_what_nobody_asked_for() {
    let silent = Relay::new(None, WantedLogs::Nothing);
    silent.progress(1.0, None, None);
    silent.log("emergency", None, json!("x"));
    assert!(waiting(&silent).is_empty());
    let warned = relay(WantedLogs::From(severity("warning")));
    warned.log("info", None, json!("no"));
    warned.log("error", Some("me".into()), json!("yes"));
    assert_eq!(
        waiting(&warned),
        [r#"{"level":"error","logger":"me","data":"yes"}"#]
    );
    // Of whoever has not said anything, a server knows that.
    let unsaid = relay(WantedLogs::Unsaid);
    unsaid.log("debug", None, json!("told"));
    assert_eq!(waiting(&unsaid).len(), 1);
}

/// A client that keeps what it is told.
#[derive(Default)]
struct Told(Mutex<Vec<Value>>);

impl ClientConnection for Told {
    fn notify(&self, notification: Notification) -> BoxFuture<'_, Result<usize, Disconnected>> {
        let params = Value::from(notification.params);
        let bytes = params.to_string().len();
        self.0.lock().push(params);
        std::future::ready(Ok(bytes)).boxed()
    }

    fn request<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Result<Answer, AskError>> {
        std::future::ready(Err(AskError::Over)).boxed()
    }
}

#[tokio::test]
async fn a_silent_call_is_said_to_go_on_and_progress_still_grows() {
    let silence = Duration::from_millis(50);
    let quick = |token: Option<ProgressToken>| Relay {
        max_silence: silence,
        ..Relay::new(token, WantedLogs::From(0))
    };
    let relay = quick(Some(ProgressToken(NumberOrString::Number(1))));
    let told = Told::default();
    let call = async {
        relay.progress(3.0, None, None);
        tokio::time::sleep(silence * 5).await;
        // Logs are no progress.
        relay.log("info", None, json!("x"));
        tokio::time::sleep(silence * 5).await;
        relay.progress(3.5, None, None);
        relay.close();
    };
    tokio::join!(relay.run(&told), call);
    let told = told.0.into_inner();
    let progress: Vec<_> = told
        .iter()
        .filter_map(|one| one["progress"].as_f64())
        .collect();
    assert!(progress.len() > 4, "{told:?}");
    assert!(
        progress.is_sorted_by(|one, next| one < next),
        "{progress:?}"
    );
    assert_eq!((progress[0], progress[progress.len() - 1]), (3.0, 3.5));
    let words = told
        .iter()
        .filter(|one| one["message"] == "still running after 0 s");
    assert_eq!(words.count(), progress.len() - 2);

    // Nothing for who wants none.
    let unasked = quick(None);
    let told = Told::default();
    let call = async {
        tokio::time::sleep(silence * 3).await;
        unasked.close();
    };
    tokio::join!(unasked.run(&told), call);
    assert!(told.0.into_inner().is_empty());
}
