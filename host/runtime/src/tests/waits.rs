//! Calls that wait in the midst of their guests, start functions included.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dormouse_policy::HostLimits;
use dormouse_wit::Instance;
use futures::FutureExt as _;
use serde_json::json;

use super::{Place, place, runtime};
use crate::{CallCondition, Cause};

const MIB: u64 = 1 << 20;

/// Returns a component whose function, and start function where it has one, grows by 50 MiB.
fn growing(start: &str) -> Place {
    let wat = format!(
        r#"(component
          (core module $m (memory 1)
            (func $grow (export "grow") (drop (memory.grow (i32.const 800))))
            {start})
          (core instance $i (instantiate $m))
          (func (export "grow") (canon lift (core func $i "grow"))))"#
    );
    of(&wat)
}

fn of(wat: &str) -> Place {
    let mut place = place();
    let bytes = wat::parse_str(wat).unwrap();
    std::fs::write(&place.path, &bytes).unwrap();
    let source = dormouse_wit::source::from_component(&bytes).unwrap();
    place.declaration = source.declaration;
    place
}

/// Rules may become others while a call waits for memory, and what runs as an instance is made is its
/// call's.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_for_memory_goes_on_where_it_still_may() {
    for (start, may) in [
        ("", true),
        ("", false),
        ("(start $grow)", true),
        ("(start $grow)", false),
    ] {
        let place = growing(start);
        let runtime = runtime(place.cache());
        runtime.set_limits(&HostLimits {
            memory: Some(400 * MIB),
            ..HostLimits::default()
        });
        let slot = runtime.slot(place.target());
        slot.call(place.call("grow", json!({}))).await.unwrap();
        // One server has half of it.
        let held = slot.room.memory.charge(170 * MIB).unwrap();
        let holds = Arc::new(AtomicBool::new(true));
        let seen = Arc::clone(&holds);
        let condition: Arc<dyn CallCondition> = Arc::new(move || {
            let holds = seen.load(Ordering::Relaxed);
            let checked = holds.then_some(()).ok_or_else(|| "denied".to_owned());
            std::future::ready(checked).boxed()
        });
        let mut call = place.call("grow", json!({}));
        call.condition = Some(condition);
        let called = Arc::clone(&slot);
        let calling = tokio::spawn(async move { called.call(call).await });
        while !runtime.loader.memory.is_waited_for() {
            assert!(!calling.is_finished(), "it waits for nothing");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        holds.store(may, Ordering::Relaxed);
        drop(held);
        let answered = calling.await.unwrap();
        let failed = (!may).then(|| Cause::Refused("denied".to_owned()));
        let cause = answered.err().map(|error| error.cause);
        assert_eq!(cause, failed, "{start}");
    }
}

/// Its call ends where there is no memory for what it is called with, and its turn is another's.
#[tokio::test(flavor = "multi_thread")]
async fn a_kept_instance_keeps_no_turn_of_a_call_that_did_not_begin() {
    const READS: &str = r#"(component
      (core module $m (memory (export "mem") 32)
        (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
        (func (export "read") (param i32 i32) (result i32) (local.get 1)))
      (core instance $i (instantiate $m))
      (func (export "read") (param "text" string) (result u32)
        (canon lift (core func $i "read") (memory (core memory $i "mem"))
          (realloc (core func $i "realloc")))))"#;
    let place = of(READS);
    let runtime = runtime(place.cache());
    let mut target = place.target();
    target.instance = Instance::PerSession;
    target.limits.instances = 1;
    target.limits.memory = 8 * MIB;
    let slot = runtime.slot(target);
    let read = |bytes: usize| slot.call(place.call("read", json!({ "text": "x".repeat(bytes) })));
    read(1).await.unwrap();
    let refused = read(7 << 20).await;
    assert!(
        matches!(refused, Err(ref error) if matches!(error.cause, Cause::Memory { .. })),
        "{refused:?}"
    );
    assert_eq!(slot.instances(), 1);
    let soon = tokio::time::timeout(Duration::from_secs(10), read(1));
    soon.await.unwrap().unwrap();
}
