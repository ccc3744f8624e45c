//! Calls that wait in the midst of their guests, start functions included.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dormouse_policy::HostLimits;
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
        let condition: CallCondition = Arc::new(move || {
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
