//! Status of a host, which `dormouse status` shows.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};

use dormouse_config::{Adapter, ServerConfig, UntrustedProject};
use dormouse_launch::Launch;
use dormouse_runtime::Phase;
use dormouse_text::visible::visible_path;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::changed_items::Gone;
use super::{Roster, Server, Snapshot, memory};
use crate::store::{Gated, Pending, PendingItem, Treatment};

/// Most colliding names that are shown in the state of one server.
const MAX_COLLISIONS: usize = 3;

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
    /// Its servers by name.
    pub servers: Vec<ServerStatus>,
    /// Problems in the user's configuration, outside of servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Project whose servers are left out, because the user has not trusted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<UntrustedProject>,
}

/// Status of a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerStatus {
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: State,
    /// The state as clients call it: connected, pending, failed, disabled,
    /// needs-auth or, where no host runs that could tell, unknown.
    pub client_state: String,
    /// Time since which it is in that state, in seconds since the Unix epoch.
    pub since: Option<u64>,
    /// The plugin's file, where it is a plugin.
    pub component: Option<PathBuf>,
    /// Command or URL by which its upstream is reached, where it has one.
    pub upstream: Option<String>,
    /// Number of its tools.
    pub tools: usize,
    /// Whether its offers are not known: it has only the tool that reads them.
    #[serde(default)]
    pub never_asked: bool,
    /// Calls since the host started.
    pub calls: u64,
    /// Calls that are running.
    pub running: u64,
    /// Live instances.
    pub instances: u64,
    /// The processes of its upstream, where it has one that is a child.
    pub pids: Vec<u32>,
    /// Memory of these processes and all that they have started, in bytes; none where the system
    /// does not tell.
    pub memory: Option<u64>,
    /// Open connections to its upstream.
    pub connections: usize,
    /// Its upstream's own description (MCP `serverInfo`).
    pub server_info: Option<Map<String, Value>>,
    /// Time at which its offers were last read, in seconds since the Unix epoch.
    pub fetched: Option<u64>,
    /// Items that its user has not approved as they are, changed or new: tools by their names.
    pub changed: Vec<String>,
    /// Number of these items, and the time since which they wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<PendingApprovals>,
    /// Items that its user has approved and it no longer offers: tools by their names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// Offered items that are not shown, as sentences.
    #[serde(default)]
    pub not_shown: Vec<String>,
    /// Last error.
    pub error: Option<String>,
    /// Place of its configuration: `file:line`, and the profile of the client if it is for one.
    pub origin: String,
}

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
            item.was.is_some() && server.treatment(item) == Treatment::Withheld
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

/// States of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Switched off in the configuration.
    Disabled,
    /// A value that its start needs is not set.
    NeedsConfig,
    /// Its upstream's offers are not known yet.
    Configured,
    /// Its declaration has been read; it has never been called.
    Known,
    /// Its first call runs.
    Starting,
    /// Loaded.
    Ready,
    /// Stopped after use.
    Idle,
    /// Its upstream requires authorization.
    NeedsAuth,
    /// Some of its tools are hidden, because they are no longer what their user has approved.
    Quarantined,
    /// Its file cannot be read, or it could not be started.
    Failed,
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
}

/// Returns the status of a running host, from its roster.
pub(super) fn of(roster: &Roster) -> Status {
    let snapshot = roster.snapshot();
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
        servers: snapshot
            .servers()
            .values()
            .map(|server| of_server(roster, server, &snapshot))
            .collect(),
        problems: roster
            .config()
            .own_problems
            .iter()
            .map(ToString::to_string)
            .collect(),
        untrusted: snapshot.untrusted().cloned(),
    }
}

/// Returns the error of a plugin in front of an MCP server that nobody lets it start.
fn without_upstream(server: &Server) -> Option<String> {
    let config = server.config();
    let Adapter::Plugin(file) = &config.adapter else {
        return None;
    };
    server.listing()?.upstream_request()?;
    let (name, file) = (&config.name, visible_path(file));
    Some(format!(
        "it stands in front of another MCP server, which it is not granted to start\n\
         hint: `dormouse inspect '{file}'` shows that server; \
         `dormouse add {name} '{file}' --grant-upstream --force` grants it"
    ))
}

/// Returns the error of a server whose upstream wants to know its user.
#[must_use]
pub fn wants_login(config: &ServerConfig) -> String {
    let server = &config.name;
    let launch = config.bridge().map(|bridge| &bridge.launch);
    if let Some(Launch::Http(http)) = launch
        && http.has_authorization()
    {
        return format!(
            "its upstream refuses the `Authorization` header that is configured for it\n\
             hint: correct it in `headers` of `{server}`, or remove it to log in with OAuth"
        );
    }
    format!(
        "its upstream wants to know you first\n\
         hint: call one of its tools, or run `dormouse login {server}`; if it takes a key, put that \
         into `headers`"
    )
}

fn of_server(roster: &Roster, server: &Server, snapshot: &Snapshot) -> ServerStatus {
    let config = server.config();
    let slot = server.slot();
    let mut errors: Vec<String> = server.problem().map(str::to_owned).into_iter().collect();
    let needs = config.bridge().map_or(&[][..], |bridge| &bridge.needs);
    let pending = server.pending();
    let waiting = PendingApprovals::of(server);
    let gone = Gone::of(server);
    let upstream = slot.and_then(|slot| slot.upstream());
    let upstream = upstream
        .map(|upstream| upstream.status())
        .unwrap_or_default();
    errors.extend(roster.not_kept(&config.name));
    errors.extend(config.denied.as_deref().map(denied));
    let (state, since) = if !config.enabled {
        (State::Disabled, None)
    } else if !needs.is_empty() {
        for need in needs {
            let need = need.for_models(&config.origin.scope);
            if !errors.iter().any(|error| error == need) {
                errors.push(need.to_owned());
            }
        }
        (State::NeedsConfig, None)
    } else if server.problem().is_some() {
        (State::Failed, None)
    } else if let Some(lacking) = without_upstream(server) {
        errors.push(lacking);
        (State::NeedsConfig, None)
    } else if upstream.needs_auth.is_some() {
        errors.push(wants_login(config));
        (State::NeedsAuth, None)
    } else {
        let phase = slot.map_or(Phase::Known, |slot| slot.phase());
        let phase = with_upstream(phase, &upstream);
        let bridge = config.bridge().filter(|_| matches!(phase, Phase::Known));
        let failed = bridge.and_then(|bridge| roster.store.failed_start(&bridge.fingerprint));
        match phase {
            Phase::Known if failed.as_ref().is_some_and(|failed| failed.needs_login) => {
                errors.push(wants_login(config));
                (State::NeedsAuth, None)
            }
            Phase::Known if failed.is_some() => {
                errors.extend(failed.map(|failed| failed.why));
                (State::Failed, None)
            }
            Phase::Known if server.is_unknown() => (State::Configured, None),
            Phase::Known => (State::Known, None),
            Phase::Starting => (State::Starting, None),
            Phase::Ready(since) => (State::Ready, Some(seconds(since))),
            Phase::Idle(since) => (State::Idle, Some(seconds(since))),
            Phase::Failed(why, _) => {
                errors.push(why);
                (State::Failed, None)
            }
        }
    };
    // Tools that are hidden are the first thing to know, whatever runs.
    let calm = matches!(state, State::Known | State::Ready | State::Idle);
    let is_withheld = waiting.as_ref().is_some_and(|waiting| waiting.withheld > 0);
    let state = match calm && is_withheld {
        true => State::Quarantined,
        false => state,
    };
    let collisions = snapshot.collisions().iter().filter(|collision| {
        collision
            .owners
            .iter()
            .any(|(name, _)| *name == config.name)
    });
    // Servers choose how many there are.
    let mut collisions = collisions.peekable();
    errors.extend(
        collisions
            .by_ref()
            .take(MAX_COLLISIONS)
            .map(ToString::to_string),
    );
    if collisions.peek().is_some() {
        errors.push(format!("{} more are not shown either", collisions.count()));
    }
    let pids: Vec<u32> = upstream
        .connections
        .iter()
        .filter_map(|one| one.pid)
        .collect();
    ServerStatus {
        name: config.name.clone(),
        state,
        client_state: state.as_clients_say().to_owned(),
        since,
        component: config.component().map(Path::to_owned),
        upstream: config.bridge().map(|bridge| bridge.written.to_string()),
        tools: server.listed().map_or(0, |listing| listing.tools.len()),
        never_asked: config.enabled && server.is_unknown(),
        calls: server.tally().calls.load(Ordering::Relaxed),
        running: server.tally().running.load(Ordering::Relaxed),
        instances: slot.map_or(0, |slot| slot.instances()),
        memory: memory::of_groups(&pids),
        pids,
        connections: upstream.connections.len(),
        server_info: server_info(&upstream, server),
        fetched: server.known().map(|known| known.fetched),
        changed: pending
            .iter()
            .map(|item| match item.kind {
                Gated::Tool => item.name.clone(),
                _ => item.to_string(),
            })
            .collect(),
        waiting,
        gone: gone.map(|gone| gone.names()).unwrap_or_default(),
        not_shown: not_shown(server, &pending),
        error: (!errors.is_empty()).then(|| errors.join("\n")),
        origin: config.origin.to_string(),
    }
}

fn not_shown(server: &Server, pending: &Pending) -> Vec<String> {
    let odd = server.odd().iter().filter(|odd| !odd.shown);
    let new = pending.iter().filter(|item| item.was.is_none());
    let new = new.map(|item| {
        let name = &server.config().name;
        format!(
            "{item} is new, and not shown before its user has approved it\n\
             hint: `dormouse approve {name}` shows and allows it"
        )
    });
    odd.map(ToString::to_string).chain(new).collect()
}

/// Returns the text about a server that a policy denies.
fn denied(why: &str) -> String {
    format!("a policy denies it: {why}")
}

/// Returns the phase of a server in front of an upstream: that of the upstream, which alone matters
/// to its user. The adapter in front of it always loads.
fn with_upstream(phase: Phase, upstream: &dormouse_upstream::Status) -> Phase {
    let since = upstream.connections.iter().map(|one| one.since).min();
    match (since, &upstream.error) {
        _ if matches!(phase, Phase::Failed(..)) => phase,
        (Some(since), _) => Phase::Ready(since),
        (None, _) if upstream.connecting => Phase::Starting,
        (None, Some(why)) => Phase::Failed(why.clone(), Instant::now()),
        (None, None) => phase,
    }
}

/// Returns an upstream's description of itself: that of the running one, or else the last known
/// one.
fn server_info(
    upstream: &dormouse_upstream::Status,
    server: &Server,
) -> Option<Map<String, Value>> {
    if !upstream.server_info.is_empty() {
        return Some(upstream.server_info.clone());
    }
    Some(server.known()?.server_info.clone())
}

impl ServerStatus {
    /// Returns the number of its tools in words, as far as it is known.
    #[must_use]
    pub fn tools_in_words(&self) -> String {
        match self.never_asked {
            true => "?".to_owned(),
            false => self.tools.to_string(),
        }
    }

    /// Returns its plugin's file, or the command or URL by which its upstream is reached.
    #[must_use]
    pub fn runs(&self) -> String {
        match (&self.component, &self.upstream) {
            (Some(file), _) => visible_path(file),
            (None, upstream) => upstream.clone().unwrap_or_default(),
        }
    }
}

impl State {
    /// Returns the name of the state.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::NeedsConfig => "needs-config",
            Self::Configured => "configured",
            Self::Known => "known",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Idle => "idle",
            Self::NeedsAuth => "needs-auth",
            Self::Quarantined => "quarantined",
            Self::Failed => "failed",
        }
    }

    /// Returns the state in words for a person.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Configured => "never asked",
            Self::Known => "asleep",
            Self::Idle => "asleep again",
            Self::Ready => "awake",
            Self::NeedsConfig => "needs settings",
            Self::NeedsAuth => "needs a login",
            Self::Quarantined => "needs approval",
            Self::Disabled => "off",
            Self::Starting | Self::Failed => self.word(),
        }
    }

    /// Returns the state by one of the six words that clients have for it.
    #[must_use]
    pub fn as_clients_say(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Configured | Self::Known | Self::Starting | Self::Idle => "pending",
            Self::Ready => "connected",
            Self::NeedsConfig | Self::Quarantined | Self::Failed => "failed",
            Self::NeedsAuth => "needs-auth",
        }
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
