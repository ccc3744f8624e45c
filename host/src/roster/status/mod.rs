//! Status of a host, which `dormouse status` shows.

mod memory;
mod pending_approvals;
mod server_status;
mod state;
mod token_costs;

use std::path::PathBuf;
use std::time::SystemTime;

use dormouse_config::UntrustedProject;
use serde::{Deserialize, Serialize};

pub use pending_approvals::PendingApprovals;
use server_status::of_server;
pub use server_status::{ServerStatus, lacks_login, wants_login};
pub use state::ServerState;
pub use token_costs::{ShownTo, TokenCosts};

use super::{Roster, Snapshot};

/// Status of a host and its servers.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Status {
    /// The host's process id; none where no host runs and this was read from the
    /// configuration alone.
    pub pid: Option<u32>,
    /// Dormouse's version.
    pub version: String,
    /// The configuration file in use.
    pub config: PathBuf,
    /// Time at which the host started, in seconds since the Unix epoch.
    pub started: Option<u64>,
    /// Number of wasmtime engines that this host has made: 0 until a tool is called, and most often
    /// 1 from then on.
    pub engines: u64,
    /// Number of components that it has compiled.
    pub compiled: u64,
    /// Number of compiled components that it took from the cache.
    pub cache_hits: u64,
    /// Agents connected.
    pub sessions: u64,
    /// Exposure of tools to each of them, and to those that have no session.
    #[serde(default)]
    pub shown_to: Vec<ShownTo>,
    /// Name of the tokenizer by which tokens are counted; empty where they are not.
    #[serde(default)]
    pub tokenizer: String,
    /// Its servers by name.
    pub servers: Vec<ServerStatus>,
    /// Problems in the user's configuration, outside of servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Project whose servers are left out, because the user has not trusted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<UntrustedProject>,
}

impl Status {
    /// Returns the part of the status that files tell, where no host runs that could tell the rest.
    #[must_use]
    pub fn without_host(mut self) -> Self {
        self.pid = None;
        self.started = None;
        for server in &mut self.servers {
            // Whether it could be connected nobody has tried.
            if server.state.as_clients_say() == "pending" {
                server.client_state = "unknown".to_owned();
            }
        }
        self
    }

    /// Removes what is said of clients that have named another profile, or none, and the problems of
    /// the configuration, whose words may name any server or profile.
    pub fn keep_of_profile(&mut self, profile: Option<&str>) {
        self.shown_to
            .retain(|shown| shown.profile.as_deref() == profile);
        self.problems.clear();
    }
}

/// Returns the status of a running host, from its roster and what is seen of that.
pub(super) fn of(roster: &Roster, snapshot: &Snapshot) -> Status {
    let counts = roster.runtime.counts();
    Status {
        pid: Some(std::process::id()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        config: roster.places.config.clone(),
        started: Some(seconds(roster.started)),
        engines: counts.engines,
        compiled: counts.compiled,
        cache_hits: counts.cache_hits,
        sessions: roster.sessions.count(),
        shown_to: roster.sessions.shown_to(),
        tokenizer: String::new(),
        servers: snapshot
            .servers()
            .values()
            .map(|server| of_server(roster, server, snapshot))
            .collect(),
        problems: problems(roster),
        untrusted: snapshot.untrusted().cloned(),
    }
}

/// Returns what is wrong with the user's configuration and their clients' files, outside of servers.
fn problems(roster: &Roster) -> Vec<String> {
    let unreadable = roster.unreadable.lock().clone();
    let config = roster.config();
    let of_clients = config.problems_of_files();
    let others = config.own_problems.iter().chain(&of_clients);
    let others = others.map(ToString::to_string);
    unreadable.into_iter().chain(others).collect()
}

/// Returns a duration in its two largest units.
#[must_use]
pub fn span(seconds: u64) -> String {
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{minutes} min {} s", seconds % 60),
        3600..86_400 => format!("{hours} h {} min", minutes % 60),
        _ => format!("{} d {} h", hours / 24, hours % 24),
    }
}

/// Returns a time in seconds since the Unix epoch.
fn seconds(at: SystemTime) -> u64 {
    at.duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_their_largest_units() {
        for (seconds, told) in [
            (0, "0 s"),
            (59, "59 s"),
            (61, "1 min 1 s"),
            (3_661, "1 h 1 min"),
            (90_000, "1 d 1 h"),
        ] {
            assert_eq!(span(seconds), told);
        }
    }
}
