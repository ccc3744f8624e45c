//! What a running tool says, on its way to the agent.
#![expect(
    deprecated,
    reason = "MCP's logging is deprecated since 2026-07-28, not gone"
)]

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    LoggingMessageNotification, LoggingMessageNotificationParam, ProgressNotification,
    ProgressNotificationParam, ProgressToken, ServerNotification,
};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::Instant;

use super::level::{self, severity};
use crate::runtime::Listener;

/// How many notifications of one call go out in a second. What comes faster
/// waits; of progress that waits only the newest is kept.
const PER_SECOND: u32 = 50;

/// How many may wait.
const WAITING: usize = 64;

/// Takes what one call says, or what belongs to no call, without ever blocking whoever
/// says it, and sends it to the agent at a pace that the agent can bear.
pub(super) struct Relay {
    /// The agent's name for this call's progress, if it wants to hear of it.
    token: Option<ProgressToken>,
    /// The least severe level that the agent wants to hear, if any.
    least: Option<u8>,
    queue: Mutex<Queue>,
    changed: Notify,
}

#[derive(Default)]
struct Queue {
    notes: VecDeque<Note>,
    /// How far the call was when it last said so.
    furthest: Option<f64>,
    dropped: u64,
    closed: bool,
}

enum Note {
    Progress {
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    },
    Log {
        level: &'static str,
        logger: Option<String>,
        data: Value,
    },
}

enum Next {
    Note(Note),
    Wait,
    End,
}

impl Relay {
    pub(super) fn new(token: Option<ProgressToken>, least: Option<u8>) -> Self {
        Self {
            token,
            least,
            queue: Mutex::default(),
            changed: Notify::new(),
        }
    }

    /// Takes nothing more. What waits is still sent.
    pub(super) fn close(&self) {
        let mut queue = self.queue();
        queue.closed = true;
        if queue.dropped > 0 {
            tracing::debug!(
                "{} log messages came too fast for their agent",
                queue.dropped
            );
        }
        drop(queue);
        self.changed.notify_one();
    }

    /// Sends what comes, until it is closed and empty or the agent has gone.
    pub(super) async fn run(&self, peer: &Peer<RoleServer>) {
        let mut second = Instant::now();
        let mut sent = 0;
        loop {
            if second.elapsed() >= Duration::from_secs(1) {
                second = Instant::now();
                sent = 0;
            }
            // When the call has ended, its answer waits for what is left here.
            if sent >= PER_SECOND && !self.queue().closed {
                tokio::select! {
                    () = tokio::time::sleep_until(second + Duration::from_secs(1)) => {}
                    () = self.changed.notified() => {}
                }
                continue;
            }
            match self.next() {
                Next::Note(note) => {
                    sent += 1;
                    if let Some(notification) = self.notification(note)
                        && peer.send_notification(notification).await.is_err()
                    {
                        return;
                    }
                }
                Next::Wait => self.changed.notified().await,
                Next::End => return,
            }
        }
    }

    /// Whether nothing waits to be sent.
    pub(super) fn is_empty(&self) -> bool {
        self.queue().notes.is_empty()
    }

    /// Ends when something waits to be sent.
    pub(super) async fn waiting(&self) {
        while self.is_empty() {
            self.changed.notified().await;
        }
    }

    fn next(&self) -> Next {
        let mut queue = self.queue();
        match queue.notes.pop_front() {
            Some(note) => Next::Note(note),
            None if queue.closed => Next::End,
            None => Next::Wait,
        }
    }

    fn notification(&self, note: Note) -> Option<ServerNotification> {
        match note {
            Note::Progress {
                progress,
                total,
                message,
            } => {
                let mut param = ProgressNotificationParam::new(self.token.clone()?, progress);
                param.total = total;
                param.message = message;
                Some(ProgressNotification::new(param).into())
            }
            Note::Log {
                level,
                logger,
                data,
            } => {
                let level = serde_json::from_value(level.into()).ok()?;
                let mut param = LoggingMessageNotificationParam::new(level, data);
                param.logger = logger;
                Some(LoggingMessageNotification::new(param).into())
            }
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        // Nothing that is done under this lock can be left half done.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for Relay {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        if self.token.is_none() || !progress.is_finite() {
            return;
        }
        let total = total.filter(|total| total.is_finite());
        let mut queue = self.queue();
        // The protocol wants it to grow.
        if queue.closed || queue.furthest.is_some_and(|furthest| progress <= furthest) {
            return;
        }
        queue.furthest = Some(progress);
        let note = Note::Progress {
            progress,
            total,
            message,
        };
        let waiting = queue.notes.len();
        match queue.notes.back_mut() {
            Some(last @ Note::Progress { .. }) if waiting >= WAITING / 2 => *last = note,
            _ => {
                // The newest progress is worth more than the oldest log message.
                if waiting >= WAITING {
                    queue.notes.pop_front();
                    queue.dropped += 1;
                }
                queue.notes.push_back(note);
            }
        }
        drop(queue);
        self.changed.notify_one();
    }

    fn log(&self, level: &'static str, logger: Option<String>, data: Value) {
        if self.least.is_none_or(|least| severity(level) < least) {
            return;
        }
        let mut queue = self.queue();
        if queue.closed {
            return;
        }
        if queue.notes.len() >= WAITING {
            queue.dropped += 1;
            return;
        }
        queue.notes.push_back(Note::Log {
            level,
            logger,
            data,
        });
        drop(queue);
        self.changed.notify_one();
    }

    fn level(&self) -> Option<&'static str> {
        self.least.and_then(level::name)
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;
    use serde_json::json;

    use super::*;

    fn relay(least: Option<u8>) -> Relay {
        Relay::new(Some(ProgressToken(NumberOrString::Number(1))), least)
    }

    fn waiting(relay: &Relay) -> Vec<String> {
        let mut waiting = Vec::new();
        while let Next::Note(note) = relay.next() {
            let json = serde_json::to_value(relay.notification(note).unwrap()).unwrap();
            waiting.push(json["params"].to_string());
        }
        waiting
    }

    #[test]
    fn progress_only_grows_and_ends_with_the_answer() {
        let relay = relay(None);
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
                r#"{"progressToken":1,"progress":1.0,"total":2.0,"message":"half"}"#,
                r#"{"progressToken":1,"progress":2.0}"#,
            ]
        );
    }

    #[test]
    fn a_flood_is_bounded_and_keeps_the_newest_progress() {
        let relay = relay(Some(0));
        for i in 0..10_000 {
            relay.log("info", None, json!(i));
        }
        for i in 0..10_000 {
            relay.progress(f64::from(i), None, None);
        }
        let waiting = waiting(&relay);
        assert!(waiting.len() <= WAITING, "{}", waiting.len());
        assert!(waiting.last().unwrap().contains("9999.0"), "{waiting:?}");
    }

    #[test]
    fn nobody_hears_what_nobody_asked_for() {
        let silent = Relay::new(None, None);
        silent.progress(1.0, None, None);
        silent.log("emergency", None, json!("x"));
        assert!(waiting(&silent).is_empty());
        let warned = relay(Some(severity("warning")));
        warned.log("info", None, json!("no"));
        warned.log("error", Some("me".into()), json!("yes"));
        assert_eq!(
            waiting(&warned),
            [r#"{"level":"error","logger":"me","data":"yes"}"#]
        );
    }
}
