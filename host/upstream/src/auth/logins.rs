//! The logins of a host.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dormouse_launch::Http;
use dormouse_policy::ProviderLogin;
use parking_lot::Mutex;

use super::Auth;

/// The logins of a host: those at upstreams by their servers, and those at providers by whose they are.
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
        self.kept(server, Auth::new(server, http, &self.data))
    }

    /// Returns the login of a server's plugin at a provider: the same one for all who ask, until the
    /// provider or the server's secret is configured in another way.
    pub(crate) fn at_provider(
        &self,
        server: &str,
        project: Option<&Path>,
        login: &ProviderLogin,
    ) -> Auth {
        let new = Auth::at_provider(server, project, login, &self.data);
        let provider = new.0.http.oauth.provider.as_ref();
        let owner = provider.map_or_else(String::new, |provider| provider.owner.clone());
        self.kept(&owner, new)
    }

    /// Returns the login that is kept under a key where it is configured as the new one is, which is
    /// kept else.
    fn kept(&self, key: &str, new: Auth) -> Auth {
        let mut all = self.all.lock();
        match all.get(key) {
            Some(known)
                if known.0.http == new.0.http && known.0.client_secret == new.0.client_secret =>
            {
                known.clone()
            }
            _ => {
                all.insert(key.to_owned(), new.clone());
                new
            }
        }
    }
}
