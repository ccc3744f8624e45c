//! Checks of entries that clients have for single servers, whose tools they so have by the tools' own
//! names.

use dormouse_config::{Client, Configured, install};

use super::Rows;
use crate::roster::{ExposureChoice, Places, Roster};

impl Rows {
    /// Reports the tools that clients are not shown by their own names.
    pub(super) fn own_entries(&mut self, all: &Configured, places: &Places) {
        let Some(around) = &places.around else {
            return;
        };
        let read = all.discovery.clients.as_ref();
        let clients = Client::all().filter(|client| read.is_none_or(|read| read.contains(client)));
        for client in clients {
            for server in install::installed_each(client, around, &places.config) {
                self.own_entry(client, &server, places);
            }
        }
    }

    fn own_entry(&mut self, client: Client, server: &str, places: &Places) {
        let exposure = ExposureChoice {
            server: Some(server.to_owned()),
            own_names: true,
            ..ExposureChoice::default()
        };
        // What is wrong with all servers is told already.
        let Ok(roster) = Roster::open(Places {
            client: Some(client),
            exposure,
            ..places.clone()
        }) else {
            return;
        };
        let snapshot = roster.snapshot();
        let collisions = snapshot.collisions().iter();
        for collision in collisions.filter(|collision| collision.what == "tool") {
            let told = collision.to_string();
            // No prefix counts there.
            let why = told.lines().next().unwrap_or_default();
            self.warning(
                format!("{client} {server}"),
                format!(
                    "{why}; the entry `{server}` of {client} has it by its own name\n\
                     hint: `dormouse install {client}` makes one entry for all servers, in which each \
                     tool has its server's name before its own"
                ),
            );
        }
    }
}
