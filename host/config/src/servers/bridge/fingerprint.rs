//! Fingerprints of launches, by which records of upstreams are kept.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_launch::{Launch, Secret};

/// Hash of a bridge's configuration, and the scope of the records under it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Fingerprint {
    /// Hexadecimal digits.
    launch: String,
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
                table(&mut add, &stdio.env);
                let cwd = stdio.cwd.as_deref().map(Path::as_os_str);
                add_bytes(cwd.unwrap_or_default().as_encoded_bytes());
            }
            Launch::Http(http) => {
                add("http");
                add(&http.url);
                table(&mut add, &http.headers);
                // Who is logged in may see other tools. Where nothing is said, the
                // hash stays what it was before there was anything to say.
                for (key, text) in http.oauth.identity() {
                    add(key);
                    add(text);
                }
            }
        }
        Self {
            launch: hasher.finalize().to_hex().to_string(),
            known_of: KnownOf::Anywhere,
        }
    }

    /// Returns the fingerprint of the same launch, started in a folder.
    #[must_use]
    pub fn in_folder(&self, folder: &Path) -> Self {
        Self {
            launch: self.launch.clone(),
            known_of: KnownOf::Folder(folder.to_owned()),
        }
    }

    /// Returns the fingerprint of the same launch, in a file of a project's.
    #[must_use]
    pub fn in_project(&self, folder: &Path) -> Self {
        Self {
            launch: self.launch.clone(),
            known_of: KnownOf::Project(folder.to_owned()),
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
            launch: self.launch.clone(),
            known_of,
        }
    }

    /// Returns the fingerprint under which older versions keep a project's server; none for others.
    #[must_use]
    pub fn without_project(&self) -> Option<Self> {
        let is_of_project = matches!(self.known_of, KnownOf::Project(_));
        is_of_project.then(|| Self {
            launch: self.launch.clone(),
            known_of: KnownOf::Anywhere,
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

    /// Returns the beginning of the [file stem](Self::file_stem) in every folder.
    #[must_use]
    pub fn file_stem_of_folders(&self) -> String {
        format!("{}.in-", self.anywhere().file_stem())
    }
}
