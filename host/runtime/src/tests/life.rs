//! Starts and stops of servers and of their instances.

use std::sync::Arc;
use std::time::{Duration, Instant};

use dormouse_catalog::Stamp;
use dormouse_protocol::SessionId;
use dormouse_wit::Instance;
use serde_json::json;

use super::{ODD, cause, place, runtime};
use crate::{Cause, ComponentLocation, Phase, Slot};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_made_before_the_first_call() {
    let place = place();
    let runtime = runtime(place.cache());
    let slot = runtime.slot(place.target());
    assert_eq!(runtime.counts().engines, 0);
    assert_eq!(slot.phase(), Phase::Known);
    assert!(!place.cache().exists());
    place.good(&slot).await;
    assert_eq!(
        (runtime.counts().engines, runtime.counts().compiled),
        (1, 1)
    );
    assert!(matches!(slot.phase(), Phase::Ready(_)));
}

#[tokio::test(flavor = "multi_thread")]
async fn state_is_forgotten_per_call_and_kept_per_session_until_a_trap() {
    let place = place();
    let runtime = runtime(place.cache());
    let count = async |slot: &Arc<Slot>, session| {
        let mut call = place.call("count", json!({}));
        call.session = Some(SessionId(session));
        let result = slot.call(call).await.unwrap().into_value().unwrap();
        result["structuredContent"]["result"].clone()
    };
    let fresh = runtime.slot(place.target());
    assert_eq!(
        (count(&fresh, 1).await, count(&fresh, 1).await),
        (json!(1), json!(1))
    );
    let mut target = place.target();
    target.instance = Instance::PerSession;
    let kept = runtime.slot(target);
    assert_eq!(
        (count(&kept, 1).await, count(&kept, 1).await),
        (json!(1), json!(2))
    );
    assert_eq!(count(&kept, 2).await, json!(1));
    assert_eq!(kept.instances(), 2);
    kept.end_session(SessionId(2));
    assert_eq!(kept.instances(), 1);
    assert!(kept.call(place.call("crash", json!({}))).await.is_err());
    assert_eq!(count(&kept, 1).await, json!(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_first_callers_share_one_start_and_a_cancelled_one_strands_nobody() {
    let place = Arc::new(place());
    let runtime = runtime(place.cache());
    let slot = runtime.slot(place.target());
    let first = place.call("add", json!({ "a": 1, "b": 1 }));
    first.cancel.cancel();
    let calls = (0..100).map(|_| {
        let (slot, place) = (Arc::clone(&slot), Arc::clone(&place));
        tokio::spawn(async move { place.good(&slot).await })
    });
    let calls: Vec<_> = calls.collect();
    let _ = slot.call(first).await;
    for call in calls {
        call.await.unwrap();
    }
    assert_eq!(
        (runtime.counts().compiled, runtime.counts().cache_hits),
        (1, 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_server_is_stopped_and_wakes_again() {
    let place = place();
    let runtime = runtime(place.cache());
    let mut target = place.target();
    target.instance = Instance::PerSession;
    target.limits.idle = Duration::from_millis(200);
    let slot = runtime.slot(target);
    place.good(&slot).await;
    assert_eq!(slot.instances(), 1);
    let deadline = Instant::now() + Duration::from_secs(10);
    while !matches!(slot.phase(), Phase::Idle(_)) {
        assert!(Instant::now() < deadline, "{:?}", slot.phase());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(slot.instances(), 0);
    place.good(&slot).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_start_is_told_and_not_repeated_at_once() {
    let place = place();
    let runtime = runtime(place.cache());
    let mut target = place.target();
    target.functions[0].params.pop();
    let slot = runtime.slot(target);
    let Cause::Load(why) = cause(
        slot.call(place.call("add", json!({ "a": 1, "b": 1 })))
            .await,
    ) else {
        panic!("the lie was believed")
    };
    assert!(why.contains("disagree"), "{why}");
    let again = cause(
        slot.call(place.call("add", json!({ "a": 1, "b": 1 })))
            .await,
    );
    assert!(matches!(again, Cause::Backoff { .. }), "{again}");
    slot.stop();
    let afresh = cause(
        slot.call(place.call("add", json!({ "a": 1, "b": 1 })))
            .await,
    );
    assert!(matches!(afresh, Cause::Load(_)), "{afresh}");
}

/// Another file that is there by the time of the start would run with what its user has agreed to for the
/// one whose declaration was read.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_has_changed_since_its_declaration_was_read_is_not_run() {
    let place = place();
    let runtime = runtime(place.cache());
    let slot = || {
        let stamp = Stamp::of(&std::fs::metadata(&place.path).unwrap());
        let mut target = place.target();
        target.code = ComponentLocation::File(place.path.clone(), Some(stamp));
        runtime.slot(target)
    };
    let (loaded, asleep) = (slot(), slot());
    place.good(&loaded).await;
    let other = place.dir.path().join("other.wasm");
    let code = ODD.replace("60000", "50000");
    std::fs::write(&other, wat::parse_str(code).unwrap()).unwrap();
    std::fs::rename(&other, &place.path).unwrap();
    let call = place.call("add", json!({ "a": 1, "b": 1 }));
    let why = cause(asleep.call(call).await).to_string();
    assert!(
        why.contains("it has changed since its declaration was read"),
        "{why}"
    );
    // What is loaded is what was read, and the new file is what is read now.
    place.good(&loaded).await;
    place.good(&slot()).await;
}

/// Another table makes another slot, while calls go on in the one of before.
#[tokio::test(flavor = "multi_thread")]
async fn slots_of_one_server_share_what_it_may_have() {
    let place = place();
    let runtime = runtime(place.cache());
    let [before, mut after, mut other] = [(); 3].map(|()| place.target());
    after.limits.timeout = Duration::from_secs(7);
    after.limits.instances = 1;
    other.server = "other".to_owned();
    let before = runtime.slot(before);
    let turn = before.room.turns.take().await;
    let [after, other] = [after, other].map(|target| runtime.slot(target));
    // Its code is compiled then.
    place.good(&other).await;
    let mut waiting = std::pin::pin!(place.good(&after));
    let is_soon = tokio::time::timeout(Duration::from_millis(300), &mut waiting).await;
    assert!(is_soon.is_err(), "two calls of one server run");
    drop(turn);
    waiting.await;
    assert!(Arc::ptr_eq(&before.room, &after.room));
}
