//! From the path that an agent sends to the real path behind it, inside the
//! granted folders or not at all.
//!
//! The sandbox itself refuses paths that leave a granted folder. This module makes the refusals
//! readable, and lets links work that the sandbox alone would not follow: those that lead from one
//! granted folder into another.

use std::collections::VecDeque;
use std::fs;
use std::io;

use unicode_normalization::UnicodeNormalization;

use crate::error::Error;

/// Most links that one path may go through; the same number as on Linux.
const MAX_LINKS: usize = 40;

/// A granted folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Its absolute path, which is the same inside the sandbox and outside.
    pub path: String,
    /// Whether it is granted for writing too.
    pub writable: bool,
}

/// Granted folders.
#[derive(Debug, Clone, Default)]
pub struct Folders {
    list: Vec<Folder>,
    home: Option<String>,
}

impl Folders {
    /// Takes the folders in the order of the configuration, and the path that `~` stands for.
    pub fn new(list: Vec<Folder>, home: Option<String>) -> Self {
        let list = list
            .into_iter()
            .map(|f| Folder {
                path: normalize("/", &f.path),
                ..f
            })
            .collect();
        Self { list, home }
    }

    /// Returns the text of `list_allowed_directories`.
    pub fn allowed(&self) -> String {
        format!("Allowed directories:\n{}", self.joined("\n"))
    }

    /// Returns the real path behind `requested`: absolute, without links, within a granted folder.
    /// The last parts of it need not exist yet.
    ///
    /// A relative path counts from the first granted folder that it stays in.
    pub fn resolve(&self, requested: &str) -> Result<String, Error> {
        self.follow(&self.absolute(requested)?)
    }

    /// Returns `requested` as an absolute path within a granted folder, which may lead through links.
    pub fn absolute(&self, requested: &str) -> Result<String, Error> {
        let first = self.list.first().ok_or(Error::NothingGranted)?;
        let expanded = self.expand_home(requested)?;
        if has_drive(&expanded) {
            return Err(Error::WindowsPath(requested.to_owned()));
        }
        let absolute = if expanded.starts_with('/') {
            normalize("/", &expanded)
        } else {
            self.list
                .iter()
                .map(|folder| normalize(&folder.path, &expanded))
                .find(|candidate| self.folder_of(candidate).is_some())
                .unwrap_or_else(|| normalize(&first.path, &expanded))
        };
        // No file has a NUL in its name, and a path with one would be cut there.
        if self.folder_of(&absolute).is_none() || absolute.contains('\0') {
            return Err(Error::Outside {
                path: absolute,
                allowed: self.joined(", "),
            });
        }
        Ok(absolute)
    }

    /// Fails where the real path `path` may not be written.
    pub fn check_writable(&self, path: &str) -> Result<(), Error> {
        match self.folder_of(path) {
            Some(folder) if folder.writable => Ok(()),
            Some(folder) => Err(Error::ReadOnly {
                path: path.to_owned(),
                folder: folder.path.clone(),
            }),
            None => Err(Error::Outside {
                path: path.to_owned(),
                allowed: self.joined(", "),
            }),
        }
    }

    /// Whether the real path `path` may be written.
    pub fn is_writable(&self, path: &str) -> bool {
        self.check_writable(path).is_ok()
    }

    /// Returns the innermost granted folder that holds `path`; it decides, as it does in WASI's own
    /// look-up.
    fn folder_of(&self, path: &str) -> Option<&Folder> {
        self.list
            .iter()
            .filter(|folder| is_within(path, &folder.path))
            .max_by_key(|folder| folder.path.len())
    }

    fn joined(&self, separator: &str) -> String {
        self.list
            .iter()
            .map(|folder| folder.path.as_str())
            .collect::<Vec<_>>()
            .join(separator)
    }

    fn expand_home(&self, path: &str) -> Result<String, Error> {
        let Some(rest) = path
            .strip_prefix('~')
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))
        else {
            return Ok(path.to_owned());
        };
        let home = self
            .home
            .as_deref()
            .ok_or_else(|| Error::NoHome(path.to_owned()))?;
        Ok(format!("{home}{rest}"))
    }

    /// `realpath`, for a path whose end may be missing.
    fn follow(&self, absolute: &str) -> Result<String, Error> {
        let mut real = String::from("/");
        let mut pending: VecDeque<String> = parts(absolute).map(str::to_owned).collect();
        // How many of the pending parts come from the targets of links.
        let mut from_links = 0_usize;
        let mut links = 0;
        while let Some(part) = pending.pop_front() {
            let of_link = from_links > 0;
            from_links = from_links.saturating_sub(1);
            if part == ".." {
                real = parent(&real);
                continue;
            }
            let here = join(&real, &part);
            // What lies above the granted folders cannot be looked at, and needs
            // not be: only where the path ends up matters.
            if self.folder_of(&here).is_none() {
                real = here;
                continue;
            }
            let metadata = match fs::symlink_metadata(&here) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    if of_link {
                        return Err(Error::NoParent(parent(absolute)));
                    }
                    if let Some(name) = composed_otherwise(&real, &part)? {
                        pending.push_front(name);
                        continue;
                    }
                    // Nothing below exists, so nothing below is a link.
                    real = pending.iter().fold(here, |path, part| join(&path, part));
                    break;
                }
                Err(error) => return Err(Error::system(&error, "realpath", absolute)),
            };
            if !metadata.is_symlink() {
                if !metadata.is_dir() && !pending.is_empty() {
                    let error = io::Error::from(io::ErrorKind::NotADirectory);
                    return Err(Error::system(&error, "realpath", absolute));
                }
                real = here;
                continue;
            }
            links += 1;
            if links > MAX_LINKS {
                return Err(Error::System {
                    code: "ELOOP",
                    message: "too many symbolic links encountered".to_owned(),
                    operation: format!("realpath '{absolute}'"),
                });
            }
            let target = match fs::read_link(&here) {
                Ok(target) => target.to_string_lossy().into_owned(),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err(Error::LinkAbsolute {
                        link: here,
                        allowed: self.joined(", "),
                    });
                }
                Err(error) => return Err(Error::system(&error, "readlink", &here)),
            };
            if target.starts_with('/') {
                real = String::from("/");
            }
            for part in parts(&target).rev() {
                pending.push_front(part.to_owned());
                from_links += 1;
            }
        }
        if self.folder_of(&real).is_none() {
            return Err(Error::LinkOutside {
                target: real,
                allowed: self.joined(", "),
            });
        }
        Ok(real)
    }
}

/// Returns the only name in `directory` that differs from `part` only in the composition of
/// characters: macOS stores `é` as two characters where others store one.
fn composed_otherwise(directory: &str, part: &str) -> Result<Option<String>, Error> {
    if part.is_ascii() {
        return Ok(None);
    }
    let wanted: String = part.nfc().collect();
    let Ok(entries) = fs::read_dir(directory) else {
        return Ok(None);
    };
    let mut names = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name != part && name.nfc().eq(wanted.chars()));
    let found = names.next();
    if names.next().is_some() {
        return Err(Error::Ambiguous(part.to_owned()));
    }
    Ok(found)
}

/// Joins `directory` and `name` with one slash between them.
pub fn join(directory: &str, name: &str) -> String {
    let slash = if directory.ends_with('/') { "" } else { "/" };
    format!("{directory}{slash}{name}")
}

/// Returns the directory that holds `path`; `/` holds itself.
pub fn parent(path: &str) -> String {
    match path.rfind('/') {
        Some(0) | None => String::from("/"),
        Some(end) => path.get(..end).unwrap_or("/").to_owned(),
    }
}

/// Returns the last part of `path`.
pub fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Resolves `path` against `base` where it is relative, without `.`, `..` and doubled slashes.
fn normalize(base: &str, path: &str) -> String {
    let mut kept: Vec<&str> = if path.starts_with('/') {
        Vec::new()
    } else {
        parts(base).collect()
    };
    for part in parts(path) {
        if part == ".." {
            kept.pop();
        } else {
            kept.push(part);
        }
    }
    format!("/{}", kept.join("/"))
}

fn parts(path: &str) -> impl DoubleEndedIterator<Item = &str> {
    path.split('/')
        .filter(|part| !part.is_empty() && *part != ".")
}

/// Whether the absolute path `path` is `folder` or inside it.
pub fn is_within(path: &str, folder: &str) -> bool {
    let folder = folder.trim_end_matches('/');
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Whether `path` starts with a drive, like `C:\` or `C:/`.
fn has_drive(path: &str) -> bool {
    let mut chars = path.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic())
        && chars.next() == Some(':')
        && matches!(chars.next(), None | Some('/' | '\\'))
}

#[cfg(test)]
mod tests;
