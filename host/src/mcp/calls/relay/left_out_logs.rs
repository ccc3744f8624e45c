//! Log messages that found no room on their way to a client, which is told how many these are.

use std::collections::BTreeMap;

use dormouse_protocol::severity;

/// Logger of the messages that say so.
pub(super) const LOGGER: &str = "dormouse";

/// Log messages that were left out, by their servers.
#[derive(Default)]
pub(super) struct LeftOutLogs {
    /// Number of the messages of each server, with the most severe of their levels. There are no
    /// more servers than are configured: no server chooses how its loggers begin.
    by_server: BTreeMap<String, (u64, &'static str)>,
}

impl LeftOutLogs {
    /// Counts a message, by the logger that its client would have been told.
    pub(super) fn add(&mut self, level: &'static str, logger: Option<&str>) {
        let logger = logger.unwrap_or(LOGGER);
        let server = logger.split_once('/').map_or(logger, |(server, _)| server);
        self.count(server, 1, level);
    }

    /// Counts those of another relay, too.
    pub(super) fn add_all(&mut self, others: &Self) {
        for (server, (number, level)) in &others.by_server {
            self.count(server, *number, level);
        }
    }

    /// Takes what is to be said of one server, with the level of that: a client that wanted to have
    /// the messages hears it.
    pub(super) fn take(&mut self) -> Option<(&'static str, String)> {
        let (server, (number, level)) = self.by_server.pop_first()?;
        let messages = match number {
            1 => "1 message".to_owned(),
            number => format!("{number} messages"),
        };
        let whose = match server.as_str() {
            LOGGER => "Dormouse".to_owned(),
            server => format!("server `{server}`"),
        };
        let verb = if number == 1 { "was" } else { "were" };
        let text = format!("{messages} of {whose} {verb} left out: they came too fast");
        Some((level, text))
    }

    fn count(&mut self, server: &str, number: u64, level: &'static str) {
        match self.by_server.get_mut(server) {
            Some((counted, severest)) => {
                *counted += number;
                if severity(level) > severity(severest) {
                    *severest = level;
                }
            }
            None => {
                self.by_server.insert(server.to_owned(), (number, level));
            }
        }
    }
}
