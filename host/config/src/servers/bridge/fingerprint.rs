//! Fingerprints of launches, by which records of upstreams are kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_launch::{Launch, Secret};

/// Hashes of a bridge's configuration, and the scope of the records under them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Fingerprint {
    /// Hash of the launch: hexadecimal digits.
    launch: String,
    /// Hash of the launch without variables, headers and the query of its URL, which have tokens that
    /// change.
    without_values: String,
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
            launch: hash(launch, true),
            without_values: hash(launch, false),
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
    /// differ from one another in values alone, wherever they are started.
    #[must_use]
    pub fn file_stem_without_values(&self, server: &str) -> String {
        let anywhere = Self {
            launch: self.without_values.clone(),
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

    /// Returns the fingerprint of a launch with other values, in the same scope. `launch` are its
    /// [digits](Self::launch); none where these are none.
    #[must_use]
    pub fn with_other_values(&self, launch: &str) -> Option<Self> {
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

/// Returns the hash of a launch, with the values of its variables and headers and the query of its URL, or
/// without all of these.
fn hash(launch: &Launch, has_values: bool) -> String {
    let mut hasher = blake3::Hasher::new();
    // Each part with its length, so that no two lists of parts are one text.
    let mut add_bytes = |part: &[u8]| {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    };
    let mut add = |part: &str| add_bytes(part.as_bytes());
    let table = |add: &mut dyn FnMut(&str), values: &BTreeMap<String, Secret>| {
        add(&values.len().to_string());
        for (name, value) in values {
            add(name);
            add(value.expose());
        }
    };
    match launch {
        Launch::Stdio(stdio) => {
            add("stdio");
            add(&stdio.command);
            add(&stdio.args.len().to_string());
            stdio.args.iter().for_each(|arg| add(arg));
            if has_values {
                table(&mut add, &stdio.env);
            }
            let cwd = stdio.cwd.as_deref().map(Path::as_os_str);
            add_bytes(cwd.unwrap_or_default().as_encoded_bytes());
        }
        Launch::Http(http) => {
            add("http");
            match http.url.split_once(['?', '#']) {
                Some((url, _)) if !has_values => add(url),
                _ => add(&http.url),
            }
            if has_values {
                table(&mut add, &http.headers);
            }
            // Who is logged in may see other tools. Where nothing is said, the
            // hash stays what it was before there was anything to say.
            for (key, text) in http.oauth.identity() {
                add(key);
                add(text);
            }
        }
    }
    hasher.finalize().to_hex().to_string()
}
