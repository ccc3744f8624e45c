//! The logins at all upstreams of a host.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dormouse_launch::Http;
use parking_lot::Mutex;

use super::Auth;

/// The logins at all upstreams of a host.
pub(crate) struct Logins {
    data: PathBuf,
    all: Mutex<HashMap<String, Auth>>,
}

impl Logins {
    /// Creates logins that are kept below `data` (Dormouse's data folder). Does nothing yet.
    pub(crate) fn new(data: &Path) -> Self {
        Self {
            data: data.to_owned(),
            all: Mutex::default(),
        }
    }

    /// Returns the login of a server: the same one for all who ask, until the server is configured
    /// in another way.
    pub(crate) fn of(&self, server: &str, http: &Http) -> Auth {
        let mut all = self.all.lock();
        match all.get(server) {
            Some(known) if known.0.http == *http => known.clone(),
            _ => {
                let new = Auth::new(server, http, &self.data);
                all.insert(server.to_owned(), new.clone());
                new
            }
        }
    }
}
