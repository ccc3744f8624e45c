//! Hiding of a server's tools until its upstream is asked again.

use anyhow::bail;

use crate::roster::Roster;

impl Roster {
    /// Makes a server show its one tool `discover` again, in place of its offers. Returns false
    /// where it does so already.
    ///
    /// # Errors
    /// There is no such server, its tools are in a file, or it cannot be written down.
    pub fn forget(&self, server: &str) -> anyhow::Result<bool> {
        let found = self.server(server)?;
        let config = found.config();
        let Some(bridge) = config.bridge().filter(|_| config.component().is_none()) else {
            bail!(
                "what server `{server}` offers is in its file, and cannot be forgotten\n\
                 hint: `dormouse disable {server}` hides it"
            );
        };
        let forgotten = self.store.forget(&bridge.fingerprint)?;
        self.reload()?;
        Ok(forgotten)
    }
}
