//! Notifications of a running call, on their way to the agent.

mod left_out_logs;

use std::collections::VecDeque;
use std::time::Duration;

use dormouse_protocol::Listener;
use parking_lot::{Mutex, MutexGuard};
use rmcp::model::ProgressToken;
use serde_json::Value;
use tokio::sync::Notify;
use tokio::task::coop::consume_budget;
use tokio::time::Instant;

use crate::mcp::client::client_connection::{ClientConnection, Notification};
use crate::mcp::client::level::WantedLogs;

use left_out_logs::{LOGGER, LeftOutLogs};

/// Most notifications of one call that are sent in a second, and most bytes that are written for these.
/// Those that come faster wait; where many wait, only the newest progress is kept.
const PER_SECOND: u32 = 500;
const BYTES_PER_SECOND: usize = 4 << 20;

/// Most notifications that may wait: a tool may tell what it has gathered all at once.
const WAITING: usize = 1000;

/// Most memory of all waiting notifications, in bytes.
const MAX_WAITING_BYTES: usize = 1 << 20;

/// Most memory that the notifications of a suspended call may take, in bytes: many calls can be
/// suspended, for minutes.
const MAX_SUSPENDED_BYTES: usize = 64 << 10;

/// Time without progress after which the agent is told that the call goes on. Clients give a call up
/// that is silent for some minutes.
const MAX_SILENCE: Duration = Duration::from_secs(60);

/// Queue for the notifications of one call, or those that belong to no call. It never blocks the
/// sender, and sends them to the agent at a pace that the agent can bear.
pub(in crate::mcp) struct Relay {
    /// Agent's token for this call's progress, if it wants to get that.
    token: Option<ProgressToken>,
    /// Logs that the agent wants to get.
    logs: WantedLogs,
    /// Most memory of all waiting notifications, in bytes.
    max_bytes: usize,
    /// Time without progress after which the agent is told that the call goes on.
    max_silence: Duration,
    queue: Mutex<Queue>,
    changed: Notify,
}

#[derive(Default)]
struct Queue {
    notes: VecDeque<Note>,
    /// Memory of the waiting notifications, in bytes.
    bytes: usize,
    /// Progress that the call has reported last.
    said: Option<f64>,
    /// Progress that was queued for the agent last.
    told: Option<f64>,
    /// Logs that found no room, and that the agent was not told of yet.
    left_out: LeftOutLogs,
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
    /// Page that is done, by its id.
    PageDone(String),
}

impl Note {
    /// Returns the memory of the notification, in bytes.
    fn bytes(&self) -> usize {
        let content = match self {
            Self::Progress { message, .. } => message.as_ref().map_or(0, String::len),
            Self::Log { logger, data, .. } => {
                logger.as_ref().map_or(0, String::len) + value_bytes(data)
            }
            Self::PageDone(id) => id.len(),
        };
        size_of::<Self>() + content
    }
}

/// Returns the memory of a value, in bytes.
fn value_bytes(value: &Value) -> usize {
    let inner = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(value_bytes).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| size_of::<String>() + name.len() + value_bytes(value))
            .sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    size_of::<Value>() + inner
}

impl Queue {
    /// Queues a notification, if there is room for it.
    fn push(&mut self, note: Note, max_bytes: usize) {
        let bytes = note.bytes();
        if self.notes.len() >= WAITING || self.bytes.saturating_add(bytes) > max_bytes {
            return self.leave_out(&note);
        }
        self.bytes += bytes;
        self.notes.push_back(note);
    }

    /// Queues a notification that is worth more than the oldest log message.
    fn push_instead(&mut self, note: Note, max_bytes: usize) {
        let bytes = note.bytes();
        while self.notes.len() >= WAITING
            || self.bytes > 0 && self.bytes.saturating_add(bytes) > max_bytes
        {
            if let Some(oldest) = self.pop_log().or_else(|| self.pop()) {
                self.leave_out(&oldest);
            }
        }
        self.push(note, max_bytes);
    }

    /// Takes out the oldest log: it is told how many of these are left out.
    fn pop_log(&mut self) -> Option<Note> {
        let is_log = |note: &Note| matches!(note, Note::Log { .. });
        let place = self.notes.iter().position(is_log)?;
        let note = self.notes.remove(place)?;
        self.bytes = self.bytes.saturating_sub(note.bytes());
        Some(note)
    }

    fn pop(&mut self) -> Option<Note> {
        let note = self.notes.pop_front()?;
        self.bytes = self.bytes.saturating_sub(note.bytes());
        Some(note)
    }

    /// Counts a log that has no room. Of progress, the newest says all.
    fn leave_out(&mut self, note: &Note) {
        if let Note::Log { level, logger, .. } = note {
            self.left_out.add(level, logger.as_deref());
        }
    }

    /// Takes the notification that is sent next: what was left out is told after all that waited.
    fn take(&mut self) -> Option<Note> {
        self.pop().or_else(|| {
            let (level, text) = self.left_out.take()?;
            let logger = Some(LOGGER.to_owned());
            let data = Value::from(text);
            Some(Note::Log {
                level,
                logger,
                data,
            })
        })
    }
}

enum NextStep {
    Note(Note),
    Wait,
    End,
}

impl Relay {
    pub(in crate::mcp) fn new(token: Option<ProgressToken>, logs: WantedLogs) -> Self {
        Self {
            token,
            logs,
            max_bytes: MAX_WAITING_BYTES,
            max_silence: MAX_SILENCE,
            queue: Mutex::default(),
            changed: Notify::new(),
        }
    }

    /// Makes a relay that keeps notifications while the client answers a question: they are sent to
    /// the request that the call goes on with, see [`Self::follow`].
    pub(in crate::mcp) fn while_suspended(&self) -> Self {
        Self {
            max_bytes: MAX_SUSPENDED_BYTES,
            ..Self::new(self.token.clone(), self.logs)
        }
    }

    /// Takes over the notifications that wait in another relay, to be sent before those that wait
    /// here.
    pub(in crate::mcp) fn follow(&self, earlier: &Self) {
        let mut earlier = std::mem::take(&mut *earlier.queue.lock());
        let mut queue = self.queue.lock();
        queue.bytes += earlier.bytes;
        earlier.notes.append(&mut queue.notes);
        queue.notes = earlier.notes;
        queue.said = queue.said.or(earlier.said);
        queue.told = queue.told.or(earlier.told);
        queue.left_out.add_all(&earlier.left_out);
        drop(queue);
        self.changed.notify_one();
    }

    /// Refuses further notifications. Waiting ones are still sent.
    pub(in crate::mcp) fn close(&self) {
        self.queue.lock().closed = true;
        self.changed.notify_one();
    }

    /// Sends notifications until the relay is closed and empty or the agent has gone. Where the agent
    /// wants progress and there is none for a while, it is told that the call goes on.
    pub(in crate::mcp) async fn run(&self, connection: &dyn ClientConnection) {
        let mut second = Instant::now();
        let (mut sent, mut sent_bytes) = (0, 0);
        let begun = second;
        let mut progressed = second;
        loop {
            if second.elapsed() >= Duration::from_secs(1) {
                second = Instant::now();
                (sent, sent_bytes) = (0, 0);
            }
            // When the call has ended, its answer waits for what is left here.
            let is_fast = sent >= PER_SECOND || sent_bytes >= BYTES_PER_SECOND;
            if is_fast && !self.queue.lock().closed {
                tokio::select! {
                    () = tokio::time::sleep_until(second + Duration::from_secs(1)) => {}
                    () = self.changed.notified() => {}
                }
                continue;
            }
            match self.next() {
                NextStep::Note(note) => {
                    sent += 1;
                    // A client may take them as fast as they come.
                    consume_budget().await;
                    if matches!(note, Note::Progress { .. }) {
                        progressed = Instant::now();
                    }
                    let Some(notification) = self.notification(note) else {
                        continue;
                    };
                    match connection.notify(notification).await {
                        Ok(bytes) => sent_bytes += bytes,
                        Err(_) => return,
                    }
                }
                NextStep::Wait => tokio::select! {
                    () = self.changed.notified() => {}
                    () = tokio::time::sleep_until(progressed + self.max_silence),
                        if self.token.is_some() =>
                    {
                        // Also where there is no room for it.
                        progressed = Instant::now();
                        self.preparing(format!("still running after {} s", begun.elapsed().as_secs()));
                    }
                },
                NextStep::End => return,
            }
        }
    }

    fn next(&self) -> NextStep {
        let mut queue = self.queue.lock();
        match queue.take() {
            Some(note) => NextStep::Note(note),
            None if queue.closed => NextStep::End,
            None => NextStep::Wait,
        }
    }

    /// Returns a notification as it is sent; none of progress that nobody wants to hear of.
    fn notification(&self, note: Note) -> Option<Notification> {
        Some(match note {
            Note::Progress {
                progress,
                total,
                message,
            } => Notification::progress(self.token.as_ref()?, progress, total, message),
            Note::Log {
                level,
                logger,
                data,
            } => Notification::log(level, logger, data),
            Note::PageDone(id) => Notification::page_done(id),
        })
    }

    /// Queues progress for the agent, if it is more than the last one.
    fn tell(
        &self,
        mut queue: MutexGuard<'_, Queue>,
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    ) {
        let grows = progress.is_finite() && queue.told.is_none_or(|told| progress > told);
        if self.token.is_none() || queue.closed || !grows {
            return;
        }
        queue.told = Some(progress);
        let total = total.filter(|total| total.is_finite());
        let note = Note::Progress {
            progress,
            total,
            message,
        };
        let is_full = queue.notes.len() >= WAITING / 2 || queue.bytes >= self.max_bytes / 2;
        if is_full && matches!(queue.notes.back(), Some(Note::Progress { .. })) {
            let last = queue.notes.pop_back();
            let bytes = last.as_ref().map_or(0, Note::bytes);
            queue.bytes = queue.bytes.saturating_sub(bytes);
        }
        queue.push_instead(note, self.max_bytes);
        drop(queue);
        self.changed.notify_one();
    }
}

/// Returns a number plus so many millionths, with no more digits than that needs.
fn beyond(number: f64, millionths: f64) -> f64 {
    ((number * 1e6).round() + millionths) / 1e6
}

impl Listener for Relay {
    fn progress(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        if !progress.is_finite() {
            return;
        }
        let mut queue = self.queue.lock();
        // The protocol wants it to grow.
        if queue.said.is_some_and(|said| progress <= said) {
            return;
        }
        queue.said = Some(progress);
        // What the host has told before the call began may be more than that.
        let told = queue.told.filter(|told| progress <= *told);
        let progress = told.map_or(progress, |told| beyond(told, 1.0));
        self.tell(queue, progress, total, message);
    }

    fn preparing(&self, what: String) {
        let queue = self.queue.lock();
        let progress = beyond(queue.told.unwrap_or_default(), 1000.0);
        self.tell(queue, progress, None, Some(what));
    }

    fn log(&self, level: &'static str, logger: Option<String>, data: Value) {
        if !self.logs.take(level) {
            return;
        }
        let mut queue = self.queue.lock();
        if queue.closed {
            return;
        }
        let note = Note::Log {
            level,
            logger,
            data,
        };
        queue.push(note, self.max_bytes);
        drop(queue);
        self.changed.notify_one();
    }

    fn page_done(&self, id: &str) -> bool {
        let mut queue = self.queue.lock();
        if queue.closed {
            return false;
        }
        queue.push_instead(Note::PageDone(id.to_owned()), self.max_bytes);
        drop(queue);
        self.changed.notify_one();
        true
    }

    fn level(&self) -> Option<&'static str> {
        self.logs.asked()
    }
}

#[cfg(test)]
mod tests;
