//! Growing of memories, and waits for it.

use futures::FutureExt as _;
use wasmtime::ResourceLimiterAsync as _;

use super::*;
use crate::call::{TestedCondition, Turns};

const MIB: u64 = 1 << 20;

fn instance(server: &Arc<ServerMemory>, limit: u64) -> InstanceMemory {
    InstanceMemory::new(Arc::clone(server), limit, Arc::default())
}

#[tokio::test]
async fn memories_and_tables_of_an_instance_count_together() {
    let host = HostMemory::new(1 << 40);
    let server = ServerMemory::new(Arc::clone(&host));
    let mut one = instance(&server, 10 * MIB);
    let mib = MIB as usize;
    assert!(one.memory_growing(0, 4 * mib, None).await.unwrap());
    assert!(one.memory_growing(0, 4 * mib, None).await.unwrap());
    assert!(!one.memory_growing(0, 4 * mib, None).await.unwrap());
    assert_eq!(one.refused, Some(MemoryRefusal::Instance(12 * MIB)));
    // 8 bytes for each element.
    assert!(!one.table_growing(0, mib, None).await.unwrap());
    assert!(one.table_growing(0, mib / 4, None).await.unwrap());
    assert_eq!((one.taken(), host.taken()), (10 * MIB, 10 * MIB));
    drop(one);
    assert_eq!(host.taken(), 0);
}

#[tokio::test]
async fn a_growth_that_fails_gives_nothing_back() {
    let host = HostMemory::new(1 << 40);
    let server = ServerMemory::new(Arc::clone(&host));
    let mut one = instance(&server, 10 * MIB);
    assert!(one.grow(MIB).await && one.grow(MIB).await);
    let error = || wasmtime::Error::msg("the table would be too large");
    one.table_grow_failed(error()).unwrap();
    one.memory_grow_failed(error()).unwrap();
    assert_eq!((one.taken(), host.taken()), (2 * MIB, 2 * MIB));
}

#[tokio::test]
async fn what_is_charged_is_given_back_once() {
    let host = HostMemory::new(1 << 40);
    let server = ServerMemory::new(Arc::clone(&host));
    let mut one = instance(&server, 10 * MIB);
    assert!(one.grow(MIB).await);
    let first = one.charge(4 * MIB).await.unwrap();
    let second = one.charge(4 * MIB).await.unwrap();
    assert!(one.charge(4 * MIB).await.is_none());
    assert_eq!((one.taken(), host.taken()), (9 * MIB, 9 * MIB));
    drop(first);
    assert_eq!((one.taken(), host.taken()), (5 * MIB, 5 * MIB));
    drop(one);
    assert_eq!(host.taken(), 0);
    drop(second);
    assert_eq!(host.taken(), 0);
}

#[tokio::test]
async fn an_instance_that_becomes_idle_is_offered_to_who_waits() {
    let host = HostMemory::new(8 * MIB);
    let (one, other) = (
        ServerMemory::new(Arc::clone(&host)),
        ServerMemory::new(Arc::clone(&host)),
    );
    let mut held = instance(&one, 8 * MIB);
    assert!(held.grow(4 * MIB).await);
    let mut also_held = instance(&other, 8 * MIB);
    assert!(also_held.grow(4 * MIB).await);
    let third = ServerMemory::new(Arc::clone(&host));
    let mut wants = instance(&third, 8 * MIB);
    let mut growing = std::pin::pin!(wants.grow(MIB));
    assert!(growing.as_mut().now_or_never().is_none());
    // Whoever waits looks again when it is told to, without anything being released yet.
    host.has_become_idle();
    assert!(growing.as_mut().now_or_never().is_none());
    drop(held);
    assert!(growing.await);
}

#[tokio::test]
async fn who_waits_looks_for_idle_instances_only_where_there_may_be_new_ones() {
    let host = HostMemory::new(8 * MIB);
    let server = ServerMemory::new(Arc::clone(&host));
    let mut held = instance(&server, 8 * MIB);
    assert!(held.grow(4 * MIB).await);
    let mut wants = instance(&server, 8 * MIB);
    let mut growing = std::pin::pin!(wants.grow(4 * MIB));
    let looked = || host.looked_for_idle.load(Ordering::Relaxed);
    assert!(growing.as_mut().now_or_never().is_none());
    assert_eq!(looked(), 1);
    for _ in 0..100 {
        host.wake_waiting();
        assert!(growing.as_mut().now_or_never().is_none());
    }
    assert_eq!(looked(), 1);
    host.has_become_idle();
    assert!(growing.as_mut().now_or_never().is_none());
    assert_eq!(looked(), 2);
    drop(held);
    assert!(growing.await);
}

#[tokio::test]
async fn one_server_never_has_more_than_half() {
    let host = HostMemory::new(8 * MIB);
    let (greedy, good) = (
        ServerMemory::new(Arc::clone(&host)),
        ServerMemory::new(Arc::clone(&host)),
    );
    let mut first = instance(&greedy, 4 * MIB);
    assert!(first.grow(4 * MIB).await);
    let mut second = instance(&greedy, 4 * MIB);
    let mut waiting = second.grow(MIB).boxed();
    assert!(futures::poll!(&mut waiting).is_pending());
    assert!(instance(&good, 4 * MIB).grow(4 * MIB).await);
    drop(first);
    assert!(waiting.await);
}

#[tokio::test]
async fn who_waits_gets_what_others_give_back_and_the_call_can_tell() {
    let host = HostMemory::new(4 * MIB);
    let server = ServerMemory::new(Arc::clone(&host));
    let mut first = instance(&server, 4 * MIB);
    assert!(first.grow(2 * MIB).await);
    let mut second = instance(&server, 4 * MIB);
    let waits = Arc::clone(&second.waits);
    let mut waiting = second.grow(MIB).boxed();
    assert!(futures::poll!(&mut waiting).is_pending());
    tokio::time::sleep(Duration::from_millis(20)).await;
    drop(first);
    assert!(waiting.await);
    assert!(waits.is_why_it_was_late(Duration::from_millis(30)));
    assert!(!waits.is_why_it_was_late(Duration::from_secs(60)));
}

#[tokio::test]
async fn where_all_wait_for_one_another_the_last_one_is_refused() {
    let host = HostMemory::new(8 * MIB);
    let server = ServerMemory::new(Arc::clone(&host));
    let (mut first, mut second) = (instance(&server, 8 * MIB), instance(&server, 8 * MIB));
    assert!(first.grow(2 * MIB).await && second.grow(2 * MIB).await);
    let mut waiting = first.grow(MIB).boxed();
    assert!(futures::poll!(&mut waiting).is_pending());
    assert!(!second.grow(MIB).await);
    assert_eq!(second.refused, Some(MemoryRefusal::Host(8 * MIB)));
    drop(second);
    assert!(waiting.await);
}

#[test]
fn files_that_are_loaded_count_and_large_ones_need_room() {
    let host = HostMemory::new(100 * MIB);
    let first = host.hold_file(60 * MIB).unwrap();
    assert_eq!(host.taken(), 60 * MIB);
    // Nothing would make room for that one.
    assert!(host.hold_file(101 * MIB).is_none());
    let small: Vec<_> = (0..3).map(|_| host.hold_file(30 * MIB).unwrap()).collect();
    assert_eq!(host.taken(), 150 * MIB);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| host.hold_file(90 * MIB));
        std::thread::sleep(Duration::from_millis(100));
        assert!(!waiting.is_finished());
        drop((first, small));
        let held = waiting.join().unwrap();
        assert_eq!((held.is_some(), host.taken()), (true, 90 * MIB));
    });
    assert_eq!(host.taken(), 0);
}

/// Memory that was taken for a call that does not go on is free again.
#[tokio::test]
async fn who_has_waited_gets_memory_where_its_call_still_goes_on() {
    for may in [true, false] {
        let host = HostMemory::new(4 * MIB);
        let server = ServerMemory::new(Arc::clone(&host));
        let mut first = instance(&server, 4 * MIB);
        assert!(first.grow(2 * MIB).await);
        let (turns, condition) = (Turns::new(1), TestedCondition::new());
        let mut second = instance(&server, 4 * MIB);
        second.begin_call(&condition.pace(&turns).await);
        let mut waiting = second.memory_growing(0, MIB as usize, None);
        assert!(futures::poll!(&mut waiting).is_pending());
        condition.holds.store(may, Ordering::Relaxed);
        drop(first);
        assert_eq!(waiting.await.ok(), may.then_some(true));
        assert_eq!(host.taken(), if may { MIB } else { 0 });
        // What is there at once is not checked.
        assert!(second.grow(MIB).await);
    }
}

#[tokio::test]
async fn what_was_waited_for_is_given_back_where_its_call_ends_in_the_check_behind_it() {
    let host = HostMemory::new(4 * MIB);
    let server = ServerMemory::new(Arc::clone(&host));
    let mut first = instance(&server, 4 * MIB);
    assert!(first.grow(2 * MIB).await);
    let (turns, condition) = (Turns::new(1), TestedCondition::new());
    let (_answer, answered) = tokio::sync::oneshot::channel();
    *condition.answer.lock() = Some(answered);
    let mut second = instance(&server, 4 * MIB);
    second.begin_call(&condition.pace(&turns).await);
    let mut waiting = second.memory_growing(0, MIB as usize, None);
    assert!(futures::poll!(&mut waiting).is_pending());
    drop(first);
    // Its user is asked by now.
    assert!(futures::poll!(&mut waiting).is_pending());
    assert_eq!(host.taken(), MIB);
    drop(waiting);
    drop(second);
    assert_eq!(host.taken(), 0);
}
