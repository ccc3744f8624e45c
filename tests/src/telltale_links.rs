//! Links that tell whether they were followed: the system notes when it follows one.

use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, UTIME_OMIT, utimensat};

/// Time of the last use of a link that was not followed yet, in seconds since 1970.
const UNUSED: i64 = 1;

/// Links in a folder, each with what it leads to beside it.
#[derive(Debug)]
pub struct TelltaleLinks {
    folder: PathBuf,
    links: Vec<PathBuf>,
}

impl TelltaleLinks {
    /// Makes a folder for links.
    ///
    /// # Errors
    /// It cannot be made, or the file system does not note when links are followed.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let mut links = Self {
            folder: folder.to_owned(),
            links: Vec::new(),
        };
        let noted = links.to_file("noted", "")?;
        fs::metadata(noted)?;
        if links.followed()?.is_empty() {
            let why = "the file system does not note when a link is followed (`noatime`)";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        links.links.clear();
        Ok(links)
    }

    /// Makes a link to a file with that text.
    ///
    /// # Errors
    /// They cannot be made.
    pub fn to_file(&mut self, name: &str, text: &str) -> io::Result<PathBuf> {
        let target = self.target(name)?;
        fs::write(&target, text)?;
        self.link(name, &target)
    }

    /// Makes a link to a folder that has a file with that text.
    ///
    /// # Errors
    /// They cannot be made.
    pub fn to_folder(&mut self, name: &str, file: &Path, text: &str) -> io::Result<PathBuf> {
        let target = self.target(name)?;
        let file = target.join(file);
        fs::create_dir_all(file.parent().unwrap_or(&target))?;
        fs::write(file, text)?;
        self.link(name, &target)
    }

    fn target(&self, name: &str) -> io::Result<PathBuf> {
        let targets = self.folder.join("targets");
        fs::create_dir_all(&targets)?;
        Ok(targets.join(name))
    }

    fn link(&mut self, name: &str, target: &Path) -> io::Result<PathBuf> {
        let link = self.folder.join(name);
        symlink(target, &link)?;
        let of_link = AtFlags::SYMLINK_NOFOLLOW;
        let times = Timestamps {
            last_access: Timespec {
                tv_sec: UNUSED,
                tv_nsec: 0,
            },
            last_modification: Timespec {
                tv_sec: 0,
                tv_nsec: UTIME_OMIT,
            },
        };
        utimensat(CWD, &link, &times, of_link)?;
        self.links.push(link.clone());
        Ok(link)
    }

    /// Returns the links that were followed so far, by whichever look: also by one at the properties of
    /// what they lead to.
    ///
    /// # Errors
    /// One of them cannot be looked at.
    pub fn followed(&self) -> io::Result<Vec<&Path>> {
        let mut followed = Vec::new();
        for link in &self.links {
            if link.symlink_metadata()?.atime() != UNUSED {
                followed.push(link.as_path());
            }
        }
        Ok(followed)
    }
}
