//! Fingerprints of launches, by which records of upstreams are kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_launch::redaction::is_secret_name;
use dormouse_launch::{Http, Launch, Secret, Stdio};

/// Hashes of a bridge's configuration, and the scope of the records under them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Fingerprint {
    /// Hash of the launch: hexadecimal digits.
    launch: String,
    /// Hash of the launch without the secrets in it, which are replaced from time to time.
    without_secrets: String,
    known_of: KnownOf,
}

/// Scope of the records of an upstream.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
enum KnownOf {
    /// The upstream, wherever it is started.
    #[default]
    Anywhere,
    /// The folder that the upstream is started in, where another one may start another program.
    Folder(PathBuf),
    /// The project whose file configures the upstream.
    Project(PathBuf),
}

impl Fingerprint {
    /// Makes the fingerprint of a launch, no variable expanded.
    #[must_use]
    pub fn of(launch: &Launch) -> Self {
        Self {
            launch: hash(launch),
            without_secrets: hash_without_secrets(launch),
            known_of: KnownOf::Anywhere,
        }
    }

    /// Returns the fingerprint of the same launch, started in a folder.
    #[must_use]
    pub fn in_folder(&self, folder: &Path) -> Self {
        Self {
            known_of: KnownOf::Folder(folder.to_owned()),
            ..self.clone()
        }
    }

    /// Returns the fingerprint of the same launch, in a file of a project's.
    #[must_use]
    pub fn in_project(&self, folder: &Path) -> Self {
        Self {
            known_of: KnownOf::Project(folder.to_owned()),
            ..self.clone()
        }
    }

    /// Returns the fingerprint of the same launch, in whichever folder it is started.
    #[must_use]
    pub fn anywhere(&self) -> Self {
        let known_of = match &self.known_of {
            KnownOf::Anywhere | KnownOf::Folder(_) => KnownOf::Anywhere,
            KnownOf::Project(_) => self.known_of.clone(),
        };
        Self {
            known_of,
            ..self.clone()
        }
    }

    /// Returns the fingerprint under which older versions keep a project's server; none for others.
    #[must_use]
    pub fn without_project(&self) -> Option<Self> {
        let is_of_project = matches!(self.known_of, KnownOf::Project(_));
        is_of_project.then(|| Self {
            known_of: KnownOf::Anywhere,
            ..self.clone()
        })
    }

    /// Returns the folder that the launch is started in, where that makes a difference.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match &self.known_of {
            KnownOf::Folder(folder) => Some(folder),
            KnownOf::Anywhere | KnownOf::Project(_) => None,
        }
    }

    /// Returns the name of a file for the fingerprint, without an extension.
    #[must_use]
    pub fn file_stem(&self) -> String {
        let hash = |folder: &Path| blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex();
        match &self.known_of {
            KnownOf::Anywhere => self.launch.clone(),
            KnownOf::Folder(folder) => format!("{}{}", self.file_stem_of_folders(), hash(folder)),
            KnownOf::Project(folder) => format!("{}.of-{}", self.launch, hash(folder)),
        }
    }

    /// Returns the name of a file, without an extension, for all launches of the server of a name that
    /// differ from one another in secrets alone, wherever they are started.
    #[must_use]
    pub fn file_stem_without_secrets(&self, server: &str) -> String {
        let anywhere = Self {
            launch: self.without_secrets.clone(),
            ..self.anywhere()
        };
        let server = blake3::hash(server.as_bytes()).to_hex();
        format!("{}.for-{server}", anywhere.file_stem())
    }

    /// Returns the hexadecimal digits of the launch.
    #[must_use]
    pub fn launch(&self) -> &str {
        &self.launch
    }

    /// Returns the fingerprint of a launch with other secrets, in the same scope. `launch` are its
    /// [digits](Self::launch); none where these are none.
    #[must_use]
    pub fn with_other_secrets(&self, launch: &str) -> Option<Self> {
        let is_hash =
            launch.len() == 2 * blake3::OUT_LEN && launch.bytes().all(|b| b.is_ascii_hexdigit());
        is_hash.then(|| Self {
            launch: launch.to_owned(),
            ..self.clone()
        })
    }

    /// Returns the beginning of the [file stem](Self::file_stem) in every folder.
    #[must_use]
    pub fn file_stem_of_folders(&self) -> String {
        format!("{}.in-", self.anywhere().file_stem())
    }
}

/// Returns the hash of a launch.
fn hash(launch: &Launch) -> String {
    let mut hasher = PartsHasher::default();
    match launch {
        Launch::Stdio(stdio) => {
            hasher.add("stdio");
            hasher.add(&stdio.command);
            hasher.add(&stdio.args.len().to_string());
            stdio.args.iter().for_each(|arg| hasher.add(arg));
            hasher.add_values(&stdio.env, |_| false);
            hasher.add_folder(stdio);
        }
        Launch::Http(http) => {
            hasher.add("http");
            hasher.add(&http.url);
            hasher.add_values(&http.headers, |_| false);
            hasher.add_login(http);
        }
    }
    hasher.hash()
}

/// Returns the hash of a launch in which one secret is the same as any other: the value of a variable, a
/// header or a parameter of the URL whose name says that it is one.
fn hash_without_secrets(launch: &Launch) -> String {
    let mut hasher = PartsHasher::default();
    hasher.add("without secrets");
    match launch {
        Launch::Stdio(stdio) => {
            hasher.add("stdio");
            hasher.add(&stdio.command);
            hasher.add(&stdio.args.len().to_string());
            stdio.args.iter().for_each(|arg| hasher.add(arg));
            hasher.add_values(&stdio.env, is_secret_name);
            hasher.add_folder(stdio);
        }
        Launch::Http(http) => {
            hasher.add("http");
            let mut halves = http.url.splitn(2, '?');
            hasher.add(halves.next().unwrap_or_default());
            for part in halves.flat_map(|query| query.split('&')) {
                let name = part.split_once('=').map(|(name, _)| name);
                hasher.add(name.filter(|name| is_secret_name(name)).unwrap_or(part));
            }
            hasher.add_values(&http.headers, is_secret_name);
            hasher.add_login(http);
        }
    }
    hasher.hash()
}

/// Hasher of the parts of a launch, each with its length, so that no two lists of parts are one text.
#[derive(Default)]
struct PartsHasher(blake3::Hasher);

impl PartsHasher {
    fn add_bytes(&mut self, part: &[u8]) {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    fn add(&mut self, part: &str) {
        self.add_bytes(part.as_bytes());
    }

    /// Adds variables or headers, of those with a secret name the name alone.
    fn add_values(
        &mut self,
        values: &BTreeMap<String, Secret>,
        is_left_out: impl Fn(&str) -> bool,
    ) {
        self.add(&values.len().to_string());
        for (name, value) in values {
            self.add(name);
            self.add(match is_left_out(name) {
                true => "",
                false => value.expose(),
            });
        }
    }

    fn add_folder(&mut self, stdio: &Stdio) {
        let cwd = stdio.cwd.as_deref().map(Path::as_os_str);
        self.add_bytes(cwd.unwrap_or_default().as_encoded_bytes());
    }

    /// Adds who is logged in: they may see other tools. Where nothing is said, the hash stays what it was
    /// before there was anything to say.
    fn add_login(&mut self, http: &Http) {
        for (key, text) in http.oauth.identity() {
            self.add(key);
            self.add(text);
        }
    }

    fn hash(&self) -> String {
        self.0.finalize().to_hex().to_string()
    }
}
