//! Number of items of a server that wait for approval.

use std::fmt;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{seconds, span};
use crate::roster::Server;
use crate::store::{PendingItem, Treatment};

/// Number of a server's pending items, and the time since which they wait.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingApprovals {
    /// The server's name.
    pub server: String,
    /// Number of items that are not what its user has approved.
    pub changed: usize,
    /// Number of items that they have never approved.
    pub new: usize,
    /// Number of these items that are not shown, not even as they were approved.
    pub withheld: usize,
    /// Time at which the first of them came, in seconds since the Unix epoch; none where that is
    /// not known.
    pub since: Option<u64>,
}

impl PendingApprovals {
    /// Counts the pending items of a server. None where there are none.
    #[must_use]
    pub fn of(server: &Server) -> Option<Self> {
        let pending = server.pending();
        let count = |is: &dyn Fn(&&PendingItem) -> bool| pending.iter().filter(is).count();
        let is_withheld = |item: &&PendingItem| {
            item.before().is_some() && server.treatment(item) == Treatment::Withheld
        };
        (!pending.is_empty()).then(|| Self {
            server: server.config().name.clone(),
            changed: count(&|item| item.was.is_some()),
            new: count(&|item| item.was.is_none()),
            withheld: count(&is_withheld),
            since: pending.iter().filter_map(|item| item.since).min(),
        })
    }

    /// Returns the time since the first item came, in seconds.
    #[must_use]
    pub fn seconds(&self) -> Option<u64> {
        Some(seconds(SystemTime::now()).saturating_sub(self.since?))
    }
}

/// Models read this text, so it contains no text of the server.
impl fmt::Display for PendingApprovals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            server,
            changed,
            new,
            withheld,
            ..
        } = self;
        match changed - withheld {
            0 => {}
            frozen => write!(
                f,
                "{frozen} of what it offers has changed, and is shown as it was approved"
            )?,
        }
        let between = |is_first: bool| if is_first { "" } else { "; " };
        if *withheld > 0 {
            let between = between(changed == withheld);
            write!(
                f,
                "{between}{withheld} of what it offers has changed, and is not shown"
            )?;
        }
        if *new > 0 {
            let between = between(*changed == 0);
            write!(
                f,
                "{between}{new} of what it offers is new, and is not shown"
            )?;
        }
        if let Some(seconds) = self.seconds() {
            write!(f, " (for {})", span(seconds))?;
        }
        write!(
            f,
            "\nhint: `dormouse diff {server}` shows how, and `dormouse approve {server}` allows it"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_told_in_numbers() {
        for (changed, new, withheld, told) in [
            (
                2,
                0,
                0,
                "2 of what it offers has changed, and is shown as it was approved",
            ),
            (2, 0, 2, "2 of what it offers has changed, and is not shown"),
            (0, 3, 0, "3 of what it offers is new, and is not shown"),
            (
                2,
                1,
                1,
                "1 of what it offers has changed, and is shown as it was approved; \
                 1 of what it offers has changed, and is not shown; \
                 1 of what it offers is new, and is not shown",
            ),
        ] {
            let waiting = PendingApprovals {
                server: "post".to_owned(),
                changed,
                new,
                withheld,
                since: None,
            };
            let hint =
                "hint: `dormouse diff post` shows how, and `dormouse approve post` allows it";
            assert_eq!(waiting.to_string(), format!("{told}\n{hint}"));
        }
    }
}
