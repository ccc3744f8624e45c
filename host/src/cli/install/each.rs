//! Servers that have entries of their own in a client's file.

use dormouse_config::discovery::{SourceState, Surroundings};
use dormouse_config::install::EachServers;
use dormouse_config::{Client, Configured, file};
use dormouse_policy::exposure::ServerExposure;
use dormouse_text::visible::visible_path;

use crate::cli::output;
use crate::roster::Places;
use crate::store::Trust;

/// Returns the servers that Dormouse shows to a client: the user's own that are on, but for those that
/// the client loads itself. Warns of what servers are written in and cannot be read.
pub(super) fn servers_of_each(
    places: &Places,
    client: Client,
    around: &Surroundings,
) -> anyhow::Result<EachServers> {
    let config = dormouse_config::load(&places.config)?;
    let all = Configured::new(config, Some(around), &Trust::new(&places.data));
    let mut unread: Vec<String> = all.own_problems.iter().map(ToString::to_string).collect();
    for source in &all.found.sources {
        if let SourceState::Read { problems, .. } = &source.state {
            unread.extend(problems.iter().map(ToString::to_string));
        }
    }
    // Who is rid of all servers takes their tables out one by one; an editor or a full disk leaves this.
    if file::read(&places.config)?.is_some_and(|text| text.trim().is_empty()) {
        unread.push(format!(
            "`{}` has nothing in it",
            visible_path(&places.config)
        ));
    }
    // Several clients read some files.
    unread.sort_unstable();
    unread.dedup();
    for problem in &unread {
        output::warn(&output::clean(problem));
    }
    let servers = all.servers.values().filter(|server| {
        let is_on = server.enabled && server.denied.is_none();
        is_on && !server.is_of_project() && !server.from.contains(&client)
    });
    let servers = servers.map(|server| server.for_client(Some(client)));
    let servers =
        servers.filter(|server| server.enabled && server.expose != Some(ServerExposure::Hidden));
    Ok(EachServers {
        names: servers.map(|server| server.name).collect(),
        may_lack_some: !unread.is_empty() || !all.found.left_out.is_empty(),
    })
}
