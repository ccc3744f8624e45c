//! Status of a server.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use dormouse_config::{Adapter, ServerConfig};
use dormouse_launch::Launch;
use dormouse_runtime::Phase;
use dormouse_text::shell_word::shell_word;
use dormouse_text::visible::{visible_line, visible_path};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{PendingApprovals, ServerState, TokenCosts, memory, seconds};
use crate::roster::{Gone, Roster, Server, Snapshot};
use crate::store::{Gated, Pending};

/// Most colliding names that are shown in the state of one server.
const MAX_COLLISIONS: usize = 3;

/// Status of a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ServerStatus {
    /// Its name.
    pub name: String,
    /// Its state.
    pub state: ServerState,
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
    /// Costs of its tools, as those are shown them that have no session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<TokenCosts>,
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

/// Returns the status of a server.
pub(super) fn of_server(roster: &Roster, server: &Server, snapshot: &Snapshot) -> ServerStatus {
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
    let lacking = match config.enabled {
        true => lacking_login(roster, server),
        false => None,
    };
    let (state, since) = if !config.enabled {
        (ServerState::Disabled, None)
    } else if !needs.is_empty() {
        for need in needs {
            let need = need.for_models(&config.origin.scope);
            if !errors.iter().any(|error| error == need) {
                errors.push(need.to_owned());
            }
        }
        (ServerState::NeedsConfig, None)
    } else if server.problem().is_some() {
        (ServerState::Failed, None)
    } else if let Some(lacking) = without_upstream(server) {
        errors.push(lacking);
        (ServerState::NeedsConfig, None)
    } else if upstream.needs_auth.is_some() {
        errors.push(wants_login(config));
        (ServerState::NeedsAuth, None)
    } else if let Some(lacking) = lacking {
        errors.push(lacking);
        (ServerState::NeedsAuth, None)
    } else {
        let phase = slot.map_or(Phase::Known, |slot| slot.phase());
        let phase = with_upstream(phase, &upstream);
        let bridge = config.bridge().filter(|_| matches!(phase, Phase::Known));
        let failed = bridge.and_then(|bridge| roster.store.failed_start(&bridge.fingerprint));
        match phase {
            Phase::Known if failed.as_ref().is_some_and(|failed| failed.needs_login) => {
                errors.push(wants_login(config));
                (ServerState::NeedsAuth, None)
            }
            Phase::Known if failed.is_some() => {
                errors.extend(failed.map(|failed| failed.why));
                (ServerState::Failed, None)
            }
            Phase::Known if server.is_unknown() => (ServerState::Configured, None),
            Phase::Known => (ServerState::Known, None),
            Phase::Starting => (ServerState::Starting, None),
            Phase::Ready(since) => (ServerState::Ready, Some(seconds(since))),
            Phase::Idle(since) => (ServerState::Idle, Some(seconds(since))),
            Phase::Failed(why, _) => {
                errors.push(why);
                (ServerState::Failed, None)
            }
        }
    };
    // Tools that are hidden are the first thing to know, whatever runs.
    let calm = matches!(
        state,
        ServerState::Known | ServerState::Ready | ServerState::Idle
    );
    let is_withheld = waiting.as_ref().is_some_and(|waiting| waiting.withheld > 0);
    let state = match calm && is_withheld {
        true => ServerState::Quarantined,
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
        tokens: None,
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
        not_shown: not_shown(server, pending),
        error: (!errors.is_empty()).then(|| errors.join("\n")),
        origin: config.origin.to_string(),
    }
}

/// Returns the error of a plugin in front of an MCP server that nobody lets it start.
fn without_upstream(server: &Server) -> Option<String> {
    let config = server.config();
    let Adapter::Plugin(file) = &config.adapter else {
        return None;
    };
    server.listing()?.upstream_request()?;
    let (name, file) = (&config.name, shell_word(file));
    Some(format!(
        "it stands in front of another MCP server, which it is not granted to start\n\
         hint: `dormouse inspect {file}` shows that server; \
         `dormouse add {name} {file} --grant-upstream --force` grants it"
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

/// Returns the error of a plugin whose user is not logged in at a provider that its requests need.
fn lacking_login(roster: &Roster, server: &Server) -> Option<String> {
    server
        .provider_logins(roster)
        .find_map(|(provider, login)| {
            let name = &server.config().name;
            match login.is_lacking() {
                Ok(false) => None,
                Ok(true) => Some(lacks_login(name, &provider)),
                Err(failure) => Some(failure.to_string()),
            }
        })
}

/// Returns the error of a plugin whose user is not logged in at a provider.
#[must_use]
pub fn lacks_login(server: &str, provider: &str) -> String {
    format!(
        "its requests need a login at `{}`\n\
         hint: call one of its tools, or run `dormouse login {server}`",
        visible_line(provider)
    )
}

fn not_shown(server: &Server, pending: &Pending) -> Vec<String> {
    let odd = server.odd().iter().filter(|odd| !odd.shown);
    let new = pending.iter().filter(|item| item.before().is_none());
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
fn with_upstream(phase: Phase, upstream: &dormouse_upstream::UpstreamStatus) -> Phase {
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
    upstream: &dormouse_upstream::UpstreamStatus,
    server: &Server,
) -> Option<Map<String, Value>> {
    if !upstream.server_info.is_empty() {
        return Some(upstream.server_info.clone());
    }
    Some(server.known()?.server_info.clone())
}
