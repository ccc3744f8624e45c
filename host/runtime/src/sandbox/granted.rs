//! Granted folders of one server, open for as long as it is loaded.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_policy::{
    FsGrant, FsMode, Grants, Identity, JudgedAt, OpenError, OpenFolder, OwnPlaces, ResolvedPlaces,
    real_path,
};
use parking_lot::Mutex;
use wasmtime_wasi::FsPerms;
use wasmtime_wasi::filesystem::{Dir, OpenMode};

use super::filesystem::CachedDevice;

/// Reason for which a grant cannot be given.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum GrantError {
    #[error(
        "the granted folder `{path}` cannot be opened: {reason}\nhint: create it, or change `fs` in `[servers.{server}.grants]`"
    )]
    Folder {
        server: String,
        path: PathBuf,
        reason: String,
    },
    #[error(
        "the granted folder `{path}` is another than the one that was granted: `{at}` is a link now\nhint: put the folder back, or name another in `fs` of `[servers.{server}.grants]`"
    )]
    Link {
        server: String,
        path: PathBuf,
        at: PathBuf,
    },
    #[error(
        "the granted folder `{path}` is another than the one that was granted: it was `{granted}`, and is `{now}` now\nhint: `dormouse grant {server}` grants what it is now"
    )]
    Moved {
        server: String,
        path: PathBuf,
        granted: PathBuf,
        now: PathBuf,
    },
    #[error(
        "the granted folder `{path}` leads through a link to `{now}`, which could not be recorded when it was granted\nhint: see the log for why; or name `{now}` in `fs` of `[servers.{server}.grants]`"
    )]
    Unrecorded {
        server: String,
        path: PathBuf,
        now: PathBuf,
    },
    #[error(
        "the granted folder `{path}` overlaps `{own}`, {what}\nhint: grant another folder: no plugin may reach what decides about plugins"
    )]
    Own {
        path: PathBuf,
        own: PathBuf,
        what: String,
    },
    #[error(
        "the granted folder `{inner}` is in the granted folder `{outer}`, so that a grant of the one is no protection of the other\nhint: keep one of them in `fs` of `[servers.{server}.grants]`, or make two servers of it"
    )]
    Nested {
        server: String,
        outer: PathBuf,
        inner: PathBuf,
    },
}

/// Folders of an instance.
pub(crate) type Preopens = Arc<[Preopen]>;

/// A folder of an instance.
pub(crate) struct Preopen {
    pub(crate) dir: Dir,
    /// Path that its guest sees.
    pub(crate) path: String,
    /// Its filesystem, where what is in memory can be read without waiting for a disk.
    pub(crate) cached: Option<CachedDevice>,
    /// Places of Dormouse's own, whose files may have names in the folder, too.
    pub(crate) own: OwnPlaces,
}

/// Granted folders of one server. They are kept open until another folder is at one of their paths.
pub struct GrantedFolders {
    server: String,
    grants: Vec<FsGrant>,
    own: OwnPlaces,
    open: Mutex<OpenedFolders>,
}

struct OpenedFolders {
    /// Identity of each folder, in the order of the grants.
    identities: Vec<Identity>,
    preopens: Preopens,
    /// Moment at which they were judged, if it can be told how long that holds.
    judged: Option<JudgedAt>,
}

impl GrantedFolders {
    /// Opens the folders that a server is granted, and checks them.
    ///
    /// # Errors
    /// One of them cannot be opened, or may not be granted.
    pub fn open(server: &str, grants: &Grants, own: &OwnPlaces) -> Result<Self, GrantError> {
        let (folders, judged) = judged(server, &grants.fs, own)?;
        Ok(Self {
            server: server.to_owned(),
            open: Mutex::new(opened(folders, judged, own)),
            grants: grants.fs.clone(),
            own: own.clone(),
        })
    }

    /// Checks the folders that a server is granted.
    ///
    /// # Errors
    /// One of them cannot be opened, or may not be granted.
    pub fn check(server: &str, grants: &Grants, own: &OwnPlaces) -> Result<(), GrantError> {
        match grants.fs.as_slice() {
            [] => Ok(()),
            grants => folders(server, grants, &own.resolved()).map(drop),
        }
    }

    /// Returns the folders for an instance that is made or called now. All grants are checked anew if
    /// anything has changed on the way to them or to a place of Dormouse's own, as a file of a client
    /// may be made in a folder, or become a link into one, at any time; where a path names another
    /// folder than the open one, all folders are replaced.
    ///
    /// # Errors
    /// One of them cannot be opened any more, or may not be granted.
    pub(crate) fn preopens(&self) -> Result<Preopens, GrantError> {
        let mut open = self.open.lock();
        let holds = |judged: JudgedAt| self.own.holds(judged);
        if !self.grants.is_empty() && !open.judged.is_some_and(holds) {
            open.judged = None;
            let (folders, judged) = judged(&self.server, &self.grants, &self.own)?;
            // Those that were judged, and not what is at their paths before or after that.
            let identities = folders.iter().filter_map(|(_, folder)| folder.identity());
            match identities.eq(&open.identities) {
                true => open.judged = judged,
                false => *open = opened(folders, judged, &self.own),
            }
        }
        Ok(Arc::clone(&open.preopens))
    }
}

/// Open folders, each with its grant.
type OpenGrants<'g> = Vec<(&'g FsGrant, OpenFolder)>;

/// Opens the folders of some grants and checks them together. Returns the moment of that, too, if it
/// can be told how long it holds.
fn judged<'g>(
    server: &str,
    grants: &'g [FsGrant],
    own: &OwnPlaces,
) -> Result<(OpenGrants<'g>, Option<JudgedAt>), GrantError> {
    if grants.is_empty() {
        return Ok((Vec::new(), None));
    }
    let paths: Vec<&Path> = grants.iter().map(|grant| grant.path.as_path()).collect();
    own.judge(&paths, |own| folders(server, grants, own))
}

/// Opens the folders of some grants and checks them together, by the places of Dormouse's own.
fn folders<'g>(
    server: &str,
    grants: &'g [FsGrant],
    own: &ResolvedPlaces,
) -> Result<OpenGrants<'g>, GrantError> {
    let mut folders = Vec::with_capacity(grants.len());
    for grant in grants {
        folders.push((grant, folder(server, grant)?));
    }
    judge(server, &folders, own)?;
    Ok(folders)
}

/// Makes what instances are given of these folders.
fn opened(folders: OpenGrants<'_>, judged: Option<JudgedAt>, own: &OwnPlaces) -> OpenedFolders {
    let mut identities = Vec::with_capacity(folders.len());
    let mut preopens = Vec::with_capacity(folders.len());
    for (grant, folder) in folders {
        identities.extend(folder.identity().cloned());
        let (perms, mode) = match grant.mode {
            FsMode::ReadOnly => (FsPerms::ReadOnly, OpenMode::READ),
            FsMode::ReadWrite => (FsPerms::ReadWrite, OpenMode::READ | OpenMode::WRITE),
        };
        preopens.push(Preopen {
            cached: CachedDevice::of(&folder.file),
            // File operations of guests run on threads that may block.
            dir: Dir::new(folder.file, perms, mode, false),
            path: grant.path.to_string_lossy().into_owned(),
            own: own.clone(),
        });
    }
    OpenedFolders {
        identities,
        preopens: preopens.into(),
        judged,
    }
}

fn folder(server: &str, grant: &FsGrant) -> Result<OpenFolder, GrantError> {
    let (server, path) = (server.to_owned(), grant.path.clone());
    let now = real_path(&grant.path);
    match &grant.real {
        Some(granted) if *granted != now => {
            return Err(GrantError::Moved {
                server,
                path,
                granted: granted.clone(),
                now,
            });
        }
        None if now != grant.path => return Err(GrantError::Unrecorded { server, path, now }),
        _ => {}
    }
    OpenFolder::open(grant.real_path()).map_err(|error| match error {
        OpenError::Link { at } => GrantError::Link { server, path, at },
        error => GrantError::Folder {
            server,
            path,
            reason: error.to_string(),
        },
    })
}

/// Refuses grants that overlap Dormouse's own places, and grants of one server that contain one
/// another.
fn judge(
    server: &str,
    folders: &[(&FsGrant, OpenFolder)],
    own: &ResolvedPlaces,
) -> Result<(), GrantError> {
    for (index, (grant, folder)) in folders.iter().enumerate() {
        if let Some(own) = own.overlapping(folder) {
            return Err(GrantError::Own {
                path: grant.path.clone(),
                own: own.path.clone(),
                what: own.what.clone(),
            });
        }
        for (other, (other_grant, other_folder)) in folders.iter().enumerate() {
            let within = |identity| folder.is_within(identity);
            if other != index && other_folder.identity().is_some_and(within) {
                return Err(GrantError::Nested {
                    server: server.to_owned(),
                    outer: other_grant.path.clone(),
                    inner: grant.path.clone(),
                });
            }
        }
    }
    Ok(())
}

#[cfg(unix)]
#[cfg(test)]
mod tests;
