//! Learning of what upstreams offer.

use std::sync::Arc;

use dormouse_catalog::Listing;
use dormouse_config::Fingerprint;
use dormouse_text::visible::first_names;
use dormouse_upstream::Offered;

use super::policy::CHANGED;
use crate::roster::Roster;
use crate::store::Asker;

impl Roster {
    /// Records the offers of an upstream that was launched for a server, and notifies agents of
    /// changes.
    ///
    /// # Errors
    /// The server is another one by now, or the record cannot be written. Then the upstream gets no
    /// requests until it can be, because agents would be shown an outdated state.
    pub(super) fn learn(
        &self,
        server: &str,
        fingerprint: &Fingerprint,
        asker: Asker,
        offered: Offered,
    ) -> Result<(), String> {
        let found = self.reached_by(server, fingerprint);
        let found = found.ok_or_else(|| format!("server `{server}`: {CHANGED}"))?;
        let Some(upstream) = found.config().bridge() else {
            return Ok(());
        };
        // What a component says that its upstream has is what its user has seen. One that cannot be
        // read says nothing.
        let unread = Arc::new(Listing::empty());
        let has_component = found.config().component().is_some();
        let seen = found
            .declared()
            .or_else(|| has_component.then_some(&unread));
        let learnt = self.store.learn_as(
            &upstream.fingerprint,
            asker,
            offered,
            &upstream.changes,
            seen,
        );
        let news = match learnt {
            Ok(news) => news,
            Err(error) => {
                let why = format!(
                    "what server `{server}` offers now cannot be kept, and so it is not used: \
                     {error:#}\nhint: put that right, and call it again"
                );
                tracing::error!("{why}");
                self.unkept.lock().insert(server.to_owned(), why.clone());
                // The next call connects, and says what it offers, once more.
                if let Some(slot) = found.slot() {
                    slot.stop();
                }
                return Err(why);
            }
        };
        self.unkept.lock().remove(server);
        self.store.note_secrets(server, &upstream.fingerprint);
        if !news.untold.is_empty() {
            tracing::warn!(
                "server `{server}` is not what its user has approved ({}): none of that is shown \
                 as it is now\n\
                 hint: `dormouse diff {server}` shows it, and `dormouse approve {server}` allows it",
                first_names(&news.untold)
            );
        }
        self.refresh(None);
        Ok(())
    }

    /// Returns the reason for which a server's upstream gets no requests, if its offers could not
    /// be recorded.
    pub(in super::super) fn not_kept(&self, server: &str) -> Option<String> {
        self.unkept.lock().get(server).cloned()
    }
}
