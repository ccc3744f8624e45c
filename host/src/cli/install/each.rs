//! Servers that have entries of their own in a client's file.

use dormouse_config::discovery::Surroundings;
use dormouse_config::{Client, Configured};
use dormouse_policy::exposure::ServerExposure;

use crate::roster::Places;
use crate::store::Trust;

/// Returns the names of the servers that Dormouse shows to a client: the user's own that are on, but for
/// those that the client loads itself.
pub(super) fn servers_of_each(
    places: &Places,
    client: Client,
    around: &Surroundings,
) -> anyhow::Result<Vec<String>> {
    let config = dormouse_config::load(&places.config)?;
    let all = Configured::new(config, Some(around), &Trust::new(&places.data));
    let servers = all.servers.values().filter(|server| {
        let is_on = server.enabled && server.denied.is_none();
        is_on && !server.is_of_project() && !server.from.contains(&client)
    });
    let servers = servers.map(|server| server.for_client(Some(client)));
    let servers =
        servers.filter(|server| server.enabled && server.expose != Some(ServerExposure::Hidden));
    Ok(servers.map(|server| server.name).collect())
}
