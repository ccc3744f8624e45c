//! Log of the problems of servers and their items.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::Hash;

use dormouse_config::Configured;
use dormouse_policy::LogBudget;

use crate::roster::Snapshot;

/// Target of the log lines about problems of servers and their offers.
pub const PROBLEMS_OF_SERVERS: &str = "dormouse::servers";

/// Most problems of one kind that are logged one by one at once; of the rest, their number is.
const LOGGED_AT_ONCE: usize = 3;

/// Budget of log lines about servers' offers, which they may change as often as they like.
static OFFERS: LogBudget = LogBudget::new(Cow::Borrowed("items and names of servers"));

/// Logs the problems of clients' files that are new.
pub(super) fn log_problems_of_files(old: &Configured, new: &Configured) {
    let (old, new) = (old.problems_of_files(), new.problems_of_files());
    let problems = only_in(&new, &old);
    for problem in problems.iter().take(LOGGED_AT_ONCE) {
        tracing::error!(target: PROBLEMS_OF_SERVERS, "{problem}");
    }
    if let Some(more @ 1..) = problems.len().checked_sub(LOGGED_AT_ONCE) {
        tracing::error!(
            target: PROBLEMS_OF_SERVERS,
            "{more} more problems in clients' files\nhint: `dormouse doctor` shows them"
        );
    }
}

/// Logs the problems that are new.
pub(super) fn log_new_problems(old: &Snapshot, new: &Snapshot) {
    for (name, server) in new.servers() {
        let before = old.servers().get(name).and_then(|server| server.problem());
        if let Some(problem) = server.problem()
            && before != Some(problem)
        {
            tracing::error!(target: PROBLEMS_OF_SERVERS, "server `{name}`: {problem}");
        }
        let before = old
            .servers()
            .get(name)
            .map_or(&[][..], |server| server.odd());
        let odd = only_in(server.odd(), before);
        for odd in odd.iter().take(LOGGED_AT_ONCE) {
            let line = format!("server `{name}`: {odd}");
            let Some(line) = OFFERS.take(&line) else {
                break;
            };
            // What is mended is nothing that its user would miss.
            match odd.shown {
                true => tracing::info!(target: PROBLEMS_OF_SERVERS, "{line}"),
                false => tracing::warn!(target: PROBLEMS_OF_SERVERS, "{line}"),
            }
        }
        let rest = odd.get(LOGGED_AT_ONCE..).unwrap_or_default();
        if !rest.is_empty() {
            let more = rest.len();
            let line = format!(
                "server `{name}`: {more} more items are not as MCP has them\nhint: `dormouse doctor` shows them"
            );
            match OFFERS.take(&line) {
                Some(line) if rest.iter().all(|odd| odd.shown) => {
                    tracing::info!(target: PROBLEMS_OF_SERVERS, "{line}");
                }
                Some(line) => tracing::warn!(target: PROBLEMS_OF_SERVERS, "{line}"),
                None => {}
            }
        }
    }
    let collisions = only_in(new.collisions(), old.collisions());
    for collision in collisions.iter().take(LOGGED_AT_ONCE) {
        if let Some(line) = OFFERS.take(&collision.to_string()) {
            tracing::error!(target: PROBLEMS_OF_SERVERS, "{line}");
        }
    }
    let more = collisions.len().checked_sub(LOGGED_AT_ONCE);
    if let Some(more) = more.filter(|more| *more > 0) {
        let line = format!(
            "{more} more names are those of several things\nhint: `dormouse doctor` shows them"
        );
        if let Some(line) = OFFERS.take(&line) {
            tracing::error!(target: PROBLEMS_OF_SERVERS, "{line}");
        }
    }
}

/// Returns the problems that were not there before.
pub(super) fn only_in<'a, T: Eq + Hash>(now: &'a [T], before: &[T]) -> Vec<&'a T> {
    let before: HashSet<&T> = before.iter().collect();
    now.iter().filter(|one| !before.contains(one)).collect()
}
