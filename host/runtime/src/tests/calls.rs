//! Calls, and what they take of their time and of what they are given.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dormouse_policy::{FsGrant, FsMode};
use dormouse_protocol::Listener;
use futures::FutureExt as _;
use serde_json::{Value, json};

use super::{cause, place, runtime};
use crate::{CallCondition, Cause};

/// A check that may take long waits for that of another call of its server, within its own time.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_check_has_to_wait_ends_in_time() {
    let place = place();
    let runtime = runtime(place.cache());
    let mut target = place.target();
    target.limits.timeout = Duration::from_millis(300);
    let slot = runtime.slot(target);
    let checking = slot.room.turns.checking().await;
    // Its schema has not been compiled.
    let call = place.call("add", json!({ "a": 2, "b": 40 }));
    assert!(matches!(
        cause(slot.call(call).await),
        Cause::Deadline { .. }
    ));
    drop(checking);
    place.good(&slot).await;
}

/// A call that has waited for its turn does not begin where it may not by then.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_does_not_begin_where_its_condition_does_not_hold_by_then() {
    let place = place();
    let runtime = runtime(place.cache());
    let mut target = place.target();
    target.limits.instances = 1;
    let slot = runtime.slot(target);
    let holds = Arc::new(AtomicBool::new(true));
    let seen = Arc::clone(&holds);
    let condition: Arc<dyn CallCondition> = Arc::new(move || {
        let checked = match seen.load(Ordering::Relaxed) {
            true => Ok(()),
            false => Err("denied".to_owned()),
        };
        std::future::ready(checked).boxed()
    });
    for (does_hold, failed) in [
        (true, None),
        (false, Some(Cause::Refused("denied".to_owned()))),
    ] {
        let turn = slot.room.turns.take().await;
        let mut call = place.call("add", json!({ "a": 2, "b": 40 }));
        call.condition = Some(Arc::clone(&condition));
        let called = Arc::clone(&slot);
        let calling = tokio::spawn(async move { called.call(call).await });
        tokio::time::sleep(Duration::from_millis(50)).await;
        holds.store(does_hold, Ordering::Relaxed);
        drop(turn);
        let answered = calling.await.unwrap();
        assert_eq!(answered.err().map(|error| error.cause), failed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_guest_does_the_next_call_is_served() {
    let place = place();
    let runtime = runtime(place.cache());
    let mut target = place.target();
    target.limits.timeout = Duration::from_millis(300);
    target.limits.memory = 1 << 20;
    let slot = runtime.slot(target);
    assert!(matches!(
        cause(slot.call(place.call("spin", json!({}))).await),
        Cause::Deadline { .. }
    ));
    place.good(&slot).await;
    assert!(matches!(
        cause(slot.call(place.call("crash", json!({}))).await),
        Cause::Trap(_)
    ));
    place.good(&slot).await;
    assert!(matches!(
        cause(slot.call(place.call("eat", json!({}))).await),
        Cause::Memory { .. }
    ));
    place.good(&slot).await;
    let error = slot
        .call(place.call("add", json!({ "a": -1, "c": 0 })))
        .await
        .unwrap_err();
    let text = error.to_string();
    for part in [
        "server `odd`, tool `add`",
        "`/a`",
        "add(a: integer, b: integer)",
    ] {
        assert!(text.contains(part), "{text}");
    }
    place.good(&slot).await;
    assert_eq!(slot.instances(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_loop_ends_soon_while_others_go_on() {
    let place = place();
    let runtime = runtime(place.cache());
    let slot = runtime.slot(place.target());
    place.good(&slot).await;
    let call = place.call("spin", json!({}));
    let cancel = call.cancel.clone();
    let spinning = {
        let slot = Arc::clone(&slot);
        tokio::spawn(async move { slot.call(call).await })
    };
    tokio::time::sleep(Duration::from_millis(100)).await;
    place.good(&slot).await;
    let began = Instant::now();
    cancel.cancel();
    assert_eq!(cause(spinning.await.unwrap()), Cause::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(1));
    place.good(&slot).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_of_dormouses_own_directories_is_refused() {
    let place = place();
    std::fs::create_dir_all(place.cache().join("components")).unwrap();
    let runtime = runtime(place.cache());
    for path in [
        place.cache(),
        place.dir.path().to_path_buf(),
        place.cache().join("components"),
    ] {
        let mut target = place.target();
        target.grants.fs = vec![FsGrant {
            path,
            real: None,
            mode: FsMode::ReadOnly,
        }];
        let slot = runtime.slot(target);
        let refused = cause(
            slot.call(place.call("add", json!({ "a": 1, "b": 1 })))
                .await,
        );
        assert!(refused.to_string().contains("overlaps"), "{refused}");
    }
}

/// Counts the announcements of a start.
struct Heard(AtomicU64);
impl Listener for Heard {
    fn progress(&self, _: f64, _: Option<f64>, _: Option<String>) {}
    fn preparing(&self, _: String) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn log(&self, _: &'static str, _: Option<String>, _: Value) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn null_for_an_optional_argument_means_that_it_is_not_there() {
    const OPTIONAL: &str = r#"(component
      (core module $m (func (export "f") (param i32 i32) (result i32) (local.get 0)))
      (core instance $i (instantiate $m))
      (func (export "f") (param "a" (option u32)) (result u32) (canon lift (core func $i "f"))))"#;
    let mut place = place();
    let bytes = wat::parse_str(OPTIONAL).unwrap();
    std::fs::write(&place.path, &bytes).unwrap();
    place.declaration = dormouse_wit::source::from_component(&bytes)
        .unwrap()
        .declaration;
    let runtime = runtime(place.cache());
    let slot = runtime.slot(place.target());
    for (arguments, expected) in [
        (json!({}), 0),
        (json!({ "a": null }), 0),
        (json!({ "a": 7.0 }), 1),
    ] {
        let mut call = place.call("f", arguments);
        call.listener = Arc::new(Heard(AtomicU64::new(0)));
        let result = slot.call(call).await.unwrap().into_value().unwrap();
        assert_eq!(result["structuredContent"]["result"], json!(expected));
    }
}
