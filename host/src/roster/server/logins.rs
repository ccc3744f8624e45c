//! Logins at providers that a server's plugin needs.

use dormouse_upstream::auth::Auth;

use super::Server;
use crate::roster::Roster;

impl Server {
    /// Returns the logins whose tokens stand in its plugin's requests, each with the name of its
    /// provider.
    pub(in crate::roster) fn provider_logins(
        &self,
        roster: &Roster,
    ) -> impl Iterator<Item = (String, Auth)> {
        let config = &self.config;
        config.provider_logins().map(move |login| {
            let auth = roster
                .hub
                .provider_login(&config.name, config.project(), login);
            (login.provider.clone(), auth)
        })
    }
}
