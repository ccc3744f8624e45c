//! Answers that users have given plugins for the session, and how long they hold.

use std::cell::RefCell;

use dormouse_catalog::Stamp;
use dormouse_config::ServerConfig;
use dormouse_policy::HttpGrant;

use super::http_grant::PluginGrants;
use super::revoked_answers::RevokedAnswers;
use crate::roster::Roster;

impl Roster {
    /// Forgets what was given to plugins of servers that are gone or switched off.
    pub(in crate::roster) fn end_session_answers(&self, shown: &[ServerConfig]) {
        let is_on = |name: &str| {
            let mut shown = shown.iter();
            shown.any(|server| server.enabled && server.name == name)
        };
        self.answered_inputs.retain(is_on);
        self.plugin_grants.lock().retain(|name, grants| {
            let is_kept = is_on(name);
            if !is_kept {
                grants.session().take_back(|_| true);
            }
            is_kept
        });
    }

    /// Adds to a server's configuration what its plugin was given, whose file has that stamp now; none
    /// where it cannot be read. Forgets what another component was given, and what was given of that
    /// which the configuration grants no more: what a user always allows is written there, and ends with
    /// its line. Calls that have something of what is forgotten end.
    pub(in crate::roster) fn add_session_answers(
        &self,
        server: &mut ServerConfig,
        stamp: Option<Stamp>,
    ) {
        if self.take_back_ended(server, stamp) {
            self.end_all_calls(&server.name);
        }
        self.answered_inputs.add_to(server, stamp);
    }

    /// Takes back the requests that a server's plugin was granted for the session: all of them where it
    /// is another one, else those that the configuration grants no more. Returns whether there were any.
    fn take_back_ended(&self, server: &ServerConfig, stamp: Option<Stamp>) -> bool {
        let mut all = self.plugin_grants.lock();
        let Some(grants) = all.get_mut(&server.name) else {
            return false;
        };
        if grants.is_of(server.component(), stamp) {
            return grants.configure(&server.grants.http);
        }
        let ended = all.remove(&server.name);
        ended.is_some_and(|ended| ended.session().take_back(|_| true))
    }

    /// Returns what a server's plugin was given for the session.
    #[must_use]
    pub fn session_answers(&self, server: &str) -> RevokedAnswers {
        let mut all = self.answered_inputs.given_to(server);
        let plugins = self.plugin_grants.lock();
        let requests = plugins.get(server).map(PluginGrants::of_session);
        let requests = requests.iter().flatten().map(ToString::to_string);
        all.requests.extend(requests);
        all
    }

    /// Takes back what a plugin was given for the session, and ends its calls where there was any of
    /// that. Returns those that there were.
    pub fn revoke_session_answers(&self, server: &str, revoked: &RevokedAnswers) -> RevokedAnswers {
        let mut all = self.answered_inputs.take_back(server, revoked);
        let session = self
            .plugin_grants
            .lock()
            .get(server)
            .map(PluginGrants::session);
        let http = revoked.http();
        let taken = RefCell::new(Vec::new());
        let is_meant = |granted: &HttpGrant| {
            let is_meant = revoked.all || granted.is_within(&http);
            if is_meant {
                taken.borrow_mut().push(granted.clone());
            }
            is_meant
        };
        let is_request = session.is_some_and(|session| session.take_back(is_meant));
        all.extend(RevokedAnswers {
            all: revoked.all && is_request,
            requests: revoked.requests_of(&taken.into_inner()),
            ..RevokedAnswers::default()
        });
        if all == RevokedAnswers::default() {
            return all;
        }
        self.end_all_calls(server);
        self.refresh(None);
        all
    }

    /// Ends the calls of a server, also those that go on although it was replaced since they began.
    fn end_all_calls(&self, server: &str) {
        if let Some(found) = self.snapshot().servers().get(server) {
            found.end_calls();
        }
        self.replaced.end(server);
    }
}
