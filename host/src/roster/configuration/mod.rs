//! Configuration of a host: the user's own file and those found around it, read again when they
//! change.

pub mod folders;
mod settled;
mod switch;
pub(super) mod watch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use dormouse_config::{Config, ConfigProblem, Configured, WatchedFile};

use super::{Places, Roster};
use crate::store::Trust;

impl Roster {
    /// Reads the user's own configuration, the files of clients and projects, the trusted projects,
    /// and the files behind all that again, at once. If the user's own configuration cannot be
    /// read, its last state stays in force with all else as it is now.
    ///
    /// # Errors
    /// The user's own configuration cannot be read.
    pub fn reload(&self) -> anyhow::Result<()> {
        let mut reloads = self.reloads.lock();
        *reloads += 1;
        let (own, configured) = self.read_configuration();
        self.apply(own, configured)
    }

    /// Does the same as [`reload`](Self::reload) once these [files](Self::files) are no longer
    /// being written.
    fn reload_settled(&self, files: &BTreeSet<WatchedFile>) -> anyhow::Result<()> {
        loop {
            let before = *self.reloads.lock();
            let (own, configured) = settled::read_settled(files, || self.read_configuration());
            // What was read before somebody had it read at once may be older than that.
            let now = self.reloads.lock();
            if *now == before {
                return self.apply(own, configured);
            }
        }
    }

    /// Reads the user's own configuration, and all else for it, or for its last state if it cannot
    /// be read.
    fn read_configuration(&self) -> (anyhow::Result<Config>, Configured) {
        let own = dormouse_config::load(&self.places.config);
        let usable = match &own {
            Ok(own) => own.clone(),
            Err(_) => self.own.lock().clone(),
        };
        (own, configured(usable, &self.places, &self.trust))
    }

    fn apply(&self, own: anyhow::Result<Config>, configured: Configured) -> anyhow::Result<()> {
        let outcome = own.map(|own| *self.own.lock() = own);
        *self.unreadable.lock() = outcome.as_ref().err().map(|error| {
            format!("it cannot be read, and what it said before stays in force: {error:#}")
        });
        self.refresh(Some(configured));
        outcome
    }

    /// Reads all configuration, from all files, as it is now.
    ///
    /// # Errors
    /// The user's own configuration cannot be read.
    pub fn configured(&self) -> anyhow::Result<Configured> {
        let own = dormouse_config::load(&self.places.config)?;
        Ok(configured(own, &self.places, &self.trust))
    }

    /// Reads all configuration as [`configured`](Self::configured) does, with the values filled in
    /// that a user has to see of a project before they trust it.
    pub(super) fn configured_for_review(&self, project: &Path) -> anyhow::Result<Configured> {
        let own = dormouse_config::load(&self.places.config)?;
        let around = self.places.around.as_ref();
        Ok(Configured::for_review(own, around, &self.trust, project))
    }

    /// Returns the names that both the user and a trusted project have a server of, each with a
    /// sentence on the one that is shown.
    pub fn names_of_two(&self) -> Vec<(String, String)> {
        self.config().names_of_two().collect()
    }

    /// Returns the problems in the files of the user's clients, and of projects that they trust.
    pub fn problems_of_files(&self) -> Vec<ConfigProblem> {
        self.config().problems_of_files()
    }

    /// Returns the names of servers that are not shown because another one has the same launch,
    /// each with the other one's name.
    pub fn merged(&self) -> BTreeMap<String, String> {
        self.config().same_as.clone()
    }

    /// Returns sentences on servers of clients' files, each with the server's name.
    pub fn notes(&self) -> Vec<(String, String)> {
        self.config().notes.clone()
    }

    /// Returns the files whose changes change the roster: the configuration, the clients' files,
    /// the components, the records of upstreams and the trusted projects.
    fn files(&self) -> BTreeSet<WatchedFile> {
        let mut users = vec![self.places.config.clone(), self.trust.file().to_owned()];
        let snapshot = self.snapshot();
        for server in snapshot.servers().values() {
            let config = server.config();
            users.extend(config.component().map(Path::to_owned));
            let upstream = config.bridge().into_iter();
            users.extend(upstream.flat_map(|of| self.store.files(&of.fingerprint)));
        }
        let users = users.into_iter().map(|file| WatchedFile::new(file, None));
        self.config().files().chain(users).collect()
    }
}

/// Combines the user's own configuration with the files found around it.
pub(super) fn configured(own: Config, places: &Places, trust: &Trust) -> Configured {
    let mut configured = Configured::new(own, places.around.as_ref(), trust);
    folders::record(&places.data, &mut configured);
    places.note_filled_in(&configured);
    configured
}
