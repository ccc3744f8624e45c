//! Logins that the requests of a guest need, while it runs.

use std::sync::Arc;

use dormouse_upstream::auth::NotLoggedIn;

use super::{CANCELLED, InstanceState};

impl InstanceState {
    /// Has the user of the running call log in at a provider, where they are not logged in there. The
    /// call's deadline waits with it. They are asked once in a call, however many requests it makes.
    ///
    /// # Errors
    /// They are not logged in; with the reason.
    pub(super) async fn log_user_in_at(&mut self, provider: &str) -> Result<(), NotLoggedIn> {
        let (Some(login), Some(call)) = (self.logins.get(provider), &mut self.call) else {
            return Ok(());
        };
        let cancelled = || NotLoggedIn::new(CANCELLED);
        let needs_login = call.unless_cancelled(login.needs_login()).await;
        if !needs_login.ok_or_else(cancelled)? {
            return Ok(());
        }
        if let Some(why) = call.failed_logins.get(provider) {
            return Err(why.clone());
        }
        let listener = Arc::clone(&call.listener);
        let authorizing = login.authorize(&listener, None);
        let authorized = call.pace.wait(call.unless_cancelled(authorizing)).await;
        let authorized = authorized.map_err(|error| NotLoggedIn::new(error.to_string()))?;
        let authorized = authorized.ok_or_else(cancelled)?;
        if let Err(why) = &authorized {
            let failed = &mut call.failed_logins;
            failed.insert(provider.to_owned(), why.clone());
        }
        authorized
    }
}
