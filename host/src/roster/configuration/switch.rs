//! Switching servers on and off.

use anyhow::bail;
use dormouse_config::Configured;
use dormouse_config::edit::Editor;

use crate::roster::Roster;

impl Roster {
    /// Switches a server on or off for good, in the user's own configuration. Returns whether that
    /// changed anything.
    ///
    /// # Errors
    /// There is no such server, or the configuration cannot be edited.
    pub fn set_enabled(&self, server: &str, on: bool) -> anyhow::Result<bool> {
        let found = self.server(server)?;
        if let (true, Some(why)) = (on, &found.config().denied) {
            bail!("server `{server}` cannot be switched on: a policy denies it: {why}");
        }
        if on && self.config().is_wholly_denied(server) {
            bail!(
                "server `{server}` cannot be switched on: its client's settings deny all of its \
                 tools\nhint: `dormouse list` says which; change them there"
            );
        }
        // What is on needs no word of the user's, and with one it would stay on when its client's
        // file says otherwise.
        let is_on = |config: &Configured| config.servers.get(server).is_some_and(|it| it.enabled);
        if on && is_on(&self.config()) {
            let was_switched = self.once.lock().remove(server).is_some();
            self.refresh(None);
            return Ok(was_switched);
        }
        let origin = &found.config().origin;
        let elsewhere = origin.file != self.places.config;
        let changed = Editor::new(&self.places.config)?.set_enabled(server, on, elsewhere)?;
        self.once.lock().remove(server);
        self.reload()?;
        Ok(changed)
    }

    /// Switches a server on or off for as long as this host runs. Returns false where there is no
    /// such server.
    pub fn switch_once(&self, server: &str, on: bool) -> bool {
        let known = self.server(server).is_ok();
        if known {
            self.once.lock().insert(server.to_owned(), on);
            self.refresh(None);
        }
        known
    }
}
