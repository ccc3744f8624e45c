use std::sync::atomic::{AtomicUsize, Ordering};

use dormouse_launch::Secret;
use dormouse_policy::SecretSource;
use futures::FutureExt as _;
use tokio::sync::Semaphore;

use super::super::plugin_secret::{ResolvedSecret, SecretText};
use super::*;

type Text = Arc<ResolvedSecret>;

/// Lookups that end when they may, and are counted.
#[derive(Clone)]
struct Lookups {
    begun: Arc<AtomicUsize>,
    may_end: Arc<Semaphore>,
}

impl Lookups {
    fn new() -> Self {
        Self {
            begun: Arc::default(),
            may_end: Arc::new(Semaphore::new(0)),
        }
    }

    async fn of(&self, lookup: &SharedLookup<Text>, outcome: Result<&str, ()>) -> LookedUp<Text> {
        let lookups = self.clone();
        let outcome = match outcome {
            Ok(text) => Ok(Arc::new(ResolvedSecret {
                text: Secret::new(text),
                patterns: Vec::new(),
            })),
            Err(()) => Err(SecretFault {
                why: "has no value".to_owned(),
                hint: "see to it".into(),
                is_absent: false,
            }),
        };
        let begin = move || async move {
            lookups.begun.fetch_add(1, Ordering::Relaxed);
            lookups.may_end.acquire().await.unwrap().forget();
            outcome
        };
        lookup.outcome(begin).await
    }

    fn begun(&self) -> usize {
        self.begun.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn requests_that_are_given_up_neither_end_a_lookup_nor_begin_another() {
    for (is_kept, outcome, is_kept_then) in [
        ((|_| true) as fn(&LookedUp<Text>) -> bool, Err(()), true),
        (|_| true, Ok("text"), true),
        (Result::is_ok, Err(()), false),
        (Result::is_ok, Ok("text"), true),
        (|_| false, Ok("text"), false),
    ] {
        let (lookup, lookups) = (SharedLookup::keeping(is_kept), Lookups::new());
        for _ in 0..100 {
            assert!(lookups.of(&lookup, outcome).now_or_never().is_none());
            tokio::task::yield_now().await;
        }
        assert_eq!(lookups.begun(), 1);
        assert!(lookup.kept().is_none());
        // It ends though nobody waits for it.
        lookups.may_end.add_permits(1);
        while lookups.may_end.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        tokio::task::yield_now().await;
        let next = lookups.of(&lookup, outcome).now_or_never();
        assert_eq!(next.is_some(), is_kept_then);
        assert_eq!(lookup.kept().is_some(), is_kept_then && outcome.is_ok());
        lookup.forget_failure();
        lookups.may_end.add_permits(1);
        let after = lookups.of(&lookup, outcome).await;
        assert_eq!(after.is_ok(), outcome.is_ok());
        let is_looked_up_once = is_kept_then && outcome.is_ok();
        assert_eq!(lookups.begun(), if is_looked_up_once { 1 } else { 2 });
    }
}

#[tokio::test]
async fn all_that_wait_have_the_outcome_of_one_lookup() {
    let (lookup, lookups) = (SharedLookup::keeping(|_| false), Lookups::new());
    let all = (0..20).map(|_| lookups.of(&lookup, Ok("text")));
    let all = futures::future::join_all(all);
    let end = async { lookups.may_end.add_permits(1) };
    let (all, ()) = futures::join!(all, end);
    assert!(all.into_iter().all(|outcome| outcome.is_ok()));
    assert_eq!(lookups.begun(), 1);
}

#[tokio::test]
async fn a_lookup_whose_task_is_gone_is_a_failure_and_is_begun_anew() {
    let (lookup, lookups) = (SharedLookup::keeping(|_| true), Lookups::new());
    let gone = lookup.outcome(|| async { panic!("it is meant to be gone") });
    assert!(gone.await.is_err());
    lookups.may_end.add_permits(1);
    assert!(lookups.of(&lookup, Ok("text")).await.is_ok());
}

/// That of a keyring, which is shown at each lookup.
#[tokio::test]
async fn a_prompt_that_was_dismissed_is_shown_once_in_a_call() {
    let text = SecretText::of(&SecretSource::Keyring("name".to_owned()));
    let SecretText::Stored { lookup, .. } = &text else {
        panic!("it is stored elsewhere");
    };
    let lookups = Lookups::new();
    lookups.may_end.add_permits(10);
    for begun in [1, 2] {
        for _ in 0..3 {
            assert!(lookups.of(lookup, Err(())).await.is_err());
        }
        assert_eq!(lookups.begun(), begun);
        // Another call begins.
        text.forget_failure();
    }
    // What is there may be another one at any time.
    for begun in [3, 4] {
        assert!(lookups.of(lookup, Ok("text")).await.is_ok());
        assert_eq!(lookups.begun(), begun);
    }
}
