//! Limits of connections, and of what is not read whole.

use dormouse_policy::HostLimits;
use dormouse_protocol::QuestionLimit;

#[cfg(unix)]
use super::processes::{gone, lives};
use super::*;
use crate::{Setup, Upstream};

/// Each session may have a process, and clients choose how many sessions there are.
#[tokio::test(flavor = "multi_thread")]
async fn there_are_only_so_many_connections() {
    let limits = UpstreamLimits {
        connections: 2,
        ..CAPS
    };
    let odd = limited(&[], LIMIT, None, limits);
    let pid = async |session: u64| {
        let listener = Arc::new(RecordingListener::default());
        let session = SessionId(session);
        let answer = odd.call_as(session, listener, "pid", json!({})).await;
        text(&answer.unwrap()).parse::<u32>().unwrap()
    };
    let (one, two) = (pid(1).await, pid(2).await);
    // The one that was not used for longest makes room.
    assert_eq!(pid(1).await, one);
    let three = pid(3).await;
    #[cfg(unix)]
    gone(two).await;
    assert_eq!((pid(1).await, pid(3).await), (one, three));
    // None that is in use does: it is waited for.
    let slow = |session: u64, seconds: u64| {
        let listener = Arc::new(RecordingListener::default());
        let arguments = json!({ "seconds": seconds });
        odd.call_as(SessionId(session), listener, "slow", arguments)
    };
    let late = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        pid(4).await
    };
    let (first, second, four) = tokio::join!(slow(1, 2), slow(3, 4), late);
    assert!(first.is_ok() && second.is_ok());
    assert!(four != one && four != three);
}

/// A connection with processes of a session is the last to make room, and the session's client is
/// told.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn connections_with_processes_are_the_last_to_end_and_that_is_told() {
    let limits = UpstreamLimits {
        connections: 2,
        ..CAPS
    };
    let odd = limited(&[], LIMIT, None, limits);
    let ears: Vec<_> = (1..=3)
        .map(|session| {
            let listener = Arc::new(RecordingListener::default());
            let mut clients = odd.policy.clients.lock();
            clients.insert(SessionId(session), Arc::clone(&listener));
            listener
        })
        .collect();
    let pid = async |session: u64, starts: bool| {
        let listener = Arc::new(RecordingListener::default());
        let arguments = json!({ "starts": starts });
        let answer = odd.call_as(SessionId(session), listener, "pid", arguments);
        text(&answer.await.unwrap()).parse::<u32>().unwrap()
    };
    let (one, two) = (pid(1, true).await, pid(2, false).await);
    let three = pid(3, true).await;
    gone(two).await;
    assert_eq!(pid(1, false).await, one);
    let told = |at: usize| {
        let heard = ears[at].heard();
        let of_connections = heard.iter().filter(|heard| {
            let text = heard["data"].as_str().unwrap_or_default();
            text.contains("connection to server `odd` was ended")
        });
        of_connections.count()
    };
    assert_eq!([told(0), told(1), told(2)], [0, 1, 0]);
    // Where all have something going on, one of them ends all the same.
    pid(2, false).await;
    gone(three).await;
    assert_eq!([told(0), told(1), told(2)], [0, 1, 1]);
}

/// A session that calls without a pause does not keep the connection from others.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_want_the_same_connection_take_turns() {
    let limits = UpstreamLimits {
        connections: 1,
        ..CAPS
    };
    let odd = limited(&[], LIMIT, None, limits);
    let calls = async |session: u64| {
        for _ in 0..3 {
            let listener = Arc::new(RecordingListener::default());
            let arguments = json!({ "seconds": 0.1 });
            let answer = odd.call_as(SessionId(session), listener, "slow", arguments);
            answer.await.unwrap();
        }
    };
    let ends = std::sync::atomic::AtomicBool::new(false);
    let busy = async {
        let is_over = || ends.load(std::sync::atomic::Ordering::Relaxed);
        while !is_over() {
            calls(1).await;
        }
    };
    let others = async {
        tokio::join!(calls(2), calls(3));
        ends.store(true, std::sync::atomic::Ordering::Relaxed);
    };
    tokio::join!(busy, others);
}

/// A connection that does not end at once counts until it has ended.
#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn connections_that_are_being_ended_count() {
    let limits = UpstreamLimits {
        connections: 2,
        ..CAPS
    };
    let odd = limited(&["stubborn"], LIMIT, None, limits);
    let mut pids = Vec::new();
    for session in 1..=4 {
        let listener = Arc::new(RecordingListener::default());
        let answer = odd.call_as(SessionId(session), listener, "pid", json!({}));
        pids.push(text(&answer.await.unwrap()).parse::<u32>().unwrap());
        let alive = pids.iter().filter(|pid| lives(**pid));
        assert!(alive.count() <= 2, "{pids:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_too_long_for_a_connection_is_told_why() {
    let limits = UpstreamLimits {
        connections: 1,
        ..CAPS
    };
    let odd = limited(&[], Duration::from_secs(5), None, limits);
    let listener = || Arc::new(RecordingListener::default());
    let hangs = odd.call_as(SessionId(1), listener(), "hang", json!({}));
    let late = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let refused = odd
            .call_as(SessionId(2), listener(), "pid", json!({}))
            .await;
        refused.unwrap_err().to_string()
    };
    let refused = tokio::select! {
        _ = hangs => panic!("it hangs"),
        refused = late => refused,
    };
    assert!(
        refused.contains("1 connections, all of them in use"),
        "{refused}"
    );
    assert!(refused.contains("[servers.odd.limits]"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_upstreams_share_the_connections_of_the_host() {
    let one = odd(&[]);
    one.connector.set_limits(&HostLimits {
        connections: 2,
        ..HostLimits::default()
    });
    let two = Upstream::new(
        Arc::clone(&one.connector),
        Setup {
            limits: CAPS,
            server: "other".into(),
            launch: launch(&[]),
            share: false,
            is_to_stay: false,
            sessionless_patience: Duration::from_secs(600),
            start_timeout: Duration::from_secs(5),
            questions: QuestionLimit::new(8),
            policy: Arc::new(OneToolWithheld::default()),
        },
    );
    let connect = async |upstream: &Arc<Upstream>, session: u64| {
        let listener: Arc<dyn Listener> = Arc::new(RecordingListener::default());
        upstream.connect(Some(SessionId(session)), &listener).await
    };
    let first = connect(&one.upstream, 1).await.unwrap();
    drop(connect(&two, 1).await.unwrap());
    // The other one's is idle, and this one's is not.
    let second = connect(&one.upstream, 2).await.unwrap();
    let open = |upstream: &Upstream| upstream.status().connections.len();
    assert_eq!((open(&one.upstream), open(&two)), (2, 0));
    let Err(refused) = connect(&two, 1).await else {
        panic!("there is room");
    };
    let refused = refused.to_string();
    assert!(refused.contains("the host has 2 connections"), "{refused}");
    drop(first);
    drop(connect(&two, 1).await.unwrap());
    drop(second);
}

#[tokio::test(flavor = "multi_thread")]
async fn lines_that_are_not_whole_share_their_room() {
    let limits = UpstreamLimits {
        message_bytes: 1 << 20,
        ..CAPS
    };
    let odd = limited(&[], LIMIT, None, limits);
    let slow = |session: u64| {
        let listener = Arc::new(RecordingListener::default());
        let begins = json!({ "begins": 900_000, "seconds": 3 });
        odd.call_as(SessionId(session), listener, "slow", begins)
    };
    let calls = futures::future::join_all((1..=6).map(slow)).await;
    let (whole, cut): (Vec<_>, Vec<_>) = (1..).zip(calls).partition(|(_, call)| call.is_ok());
    assert_eq!((whole.len(), cut.len()), (2, 4), "{cut:?}");
    for (_, why) in cut {
        let why = why.unwrap_err().to_string();
        assert!(
            why.contains("more than 2 MiB together with the others")
                && why.contains("`message` in `[servers.odd.limits]`"),
            "{why}"
        );
    }
    // What they have had is there for others.
    let calls = whole.iter().map(|(session, _)| slow(*session));
    let calls = futures::future::join_all(calls).await;
    assert!(calls.iter().all(Result::is_ok), "{calls:?}");
}
