//! Paths within a project's folder, which the project's author can make links.

use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf, is_separator};

use cap_primitives::ambient_authority;
use cap_primitives::fs::{FollowSymlinks, open_ambient_dir, stat};
use dormouse_files::links;

/// Problem of a file that leads out of a project that nobody trusts, as what follows "the file".
pub(crate) const LEADS_OUT: &str = "is a link out of the project's folder, or by a longer way than any \
    needs, which is followed when `dormouse trust` has been used there";

/// Most names that links add to the way to a file in a project: looking at them takes a while, and each
/// link of a chain of dozens can have thousands.
const MAX_LINKED_NAMES: usize = 64;

/// Whether a path leads out of a project's folder by links in it, or in it by longer ways than anybody
/// needs. Nothing outside of the folder is looked at: it may be on another machine, which would be
/// connected to, or on one that gives no answer. So whoever looks at a path in a project that nobody has
/// ever trusted asks this before; and of a path elsewhere that leads into the folder it is not asked where
/// it goes on.
#[must_use]
pub(crate) fn leads_out(project: &Path, file: &Path) -> bool {
    let Ok(within) = file.strip_prefix(project) else {
        // Where it is not known where the project is, none leads past it for sure.
        let real = project.canonicalize();
        return real.map_or(true, |real| links::leads_into(file, &real));
    };
    leads_out_from(project, within)
}

/// Whether a way in a project's folder leads out of it, as a path does by [`leads_out`].
#[must_use]
pub(crate) fn leads_out_from(project: &Path, within: &Path) -> bool {
    is_way_out(within, |path| {
        let path = project.join(path);
        let found = path.symlink_metadata()?;
        found.is_symlink().then(|| path.read_link()).transpose()
    })
}

/// Whether a way leads out of the folder that it begins in, or is too long. `target_of` looks at one path
/// in the folder, to which no link leads, and returns its target where it is a link.
fn is_way_out(within: &Path, target_of: impl Fn(&Path) -> io::Result<Option<PathBuf>>) -> bool {
    let mut passed = PathBuf::new();
    let mut names = Vec::new();
    if !go_on(&mut names, within) {
        return true;
    }
    let mut linked_names = 0;
    while let Some(name) = names.pop() {
        let Some(name) = name else {
            if !passed.pop() {
                return true;
            }
            continue;
        };
        passed.push(name);
        match target_of(&passed) {
            Ok(None) => {}
            Ok(Some(target)) => {
                passed.pop();
                linked_names += length(&target);
                if linked_names > MAX_LINKED_NAMES || !go_on(&mut names, &target) {
                    return true;
                }
            }
            // What cannot be looked at leads nowhere.
            Err(_) => return false,
        }
    }
    false
}

/// Puts the names of a path, none for `..`, on those that are still to be followed, of which the next one is
/// the last. Returns false for a path that does not begin in the folder.
fn go_on(names: &mut Vec<Option<OsString>>, path: &Path) -> bool {
    for component in path.components().rev() {
        match component {
            Component::Normal(name) => names.push(Some(name.to_owned())),
            Component::ParentDir => names.push(None),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

/// Returns how many names a link's target has, with those that lead nowhere, such as `.`, which take
/// the system as long.
fn length(target: &Path) -> usize {
    let bytes = target.as_os_str().as_encoded_bytes().iter();
    let separators = bytes.filter(|byte| is_separator(char::from(**byte)));
    separators.count().saturating_add(1)
}

/// Location of a file that has been opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    /// In the project's folder, also by the path that links lead to.
    Within,
    /// Somewhere else.
    Elsewhere,
    /// Unknown: something else is at the file's path by now.
    Moved,
}

/// Finds the location of the file that was opened by a path. `project` is a folder without links in
/// its path. Whoever may write in the project can change links meanwhile: what the path leads to
/// now counts only where that is the file which was opened.
#[must_use]
pub(crate) fn location(project: &Path, file: &Path, opened: &std::fs::File) -> Location {
    let Ok(real) = file.canonicalize() else {
        return Location::Moved;
    };
    let (found, is_within) = match real.strip_prefix(project) {
        // Without links, and so not out of the folder either.
        Ok(within) => {
            let folder = open_ambient_dir(project, ambient_authority());
            let found = folder.and_then(|folder| stat(&folder, within, FollowSymlinks::No));
            (found, true)
        }
        Err(_) => {
            let folder = real.parent().zip(real.file_name());
            let Some((folder, name)) = folder else {
                return Location::Moved;
            };
            let folder = open_ambient_dir(folder, ambient_authority());
            let found = folder.and_then(|it| stat(&it, Path::new(name), FollowSymlinks::No));
            (found, false)
        }
    };
    match found {
        Ok(found) if is_same(&found, opened) && is_within => Location::Within,
        Ok(found) if is_same(&found, opened) => Location::Elsewhere,
        Ok(_) | Err(_) => Location::Moved,
    }
}

#[cfg(unix)]
fn is_same(found: &cap_primitives::fs::Metadata, opened: &std::fs::File) -> bool {
    use cap_primitives::fs::MetadataExt as _;
    opened.metadata().is_ok_and(|opened| {
        let opened = cap_primitives::fs::Metadata::from_just_metadata(opened);
        (found.dev(), found.ino()) == (opened.dev(), opened.ino())
    })
}

/// Always true: elsewhere, files have no numbers that could be compared.
#[cfg(not(unix))]
fn is_same(_: &cap_primitives::fs::Metadata, _: &std::fs::File) -> bool {
    true
}

/// Whether a folder has a mark of a project in it. A link is one, wherever it leads: its target is
/// not looked at. Where anybody may write, such as in `/tmp`, a mark of somebody else's makes
/// nobody's project.
#[must_use]
pub(crate) fn is_marked(folder: &Path, mark: &Path) -> bool {
    let begin = mark.components().next();
    let begin = begin.map_or(mark, |begin| Path::new(begin.as_os_str()));
    // Mostly there is none, which is found out without opening the folder for each.
    if let Err(error) = folder.join(begin).symlink_metadata()
        && error.kind() == ErrorKind::NotFound
    {
        return false;
    }
    let Ok(opened) = open_ambient_dir(folder, ambient_authority()) else {
        return false;
    };
    // A folder on the way to it, or a link in place of one, is looked at by itself.
    if let Ok(found) = stat(&opened, begin, FollowSymlinks::No)
        && is_somebody_elses(&opened, &found)
    {
        return false;
    }
    // A link out of this folder, and one by a long way, is one wherever it leads.
    if mark
        .parent()
        .is_some_and(|above| leads_out(folder, &folder.join(above)))
    {
        return true;
    }
    let found = stat(&opened, mark, FollowSymlinks::No);
    found.is_ok_and(|found| !is_somebody_elses(&opened, &found))
}

#[cfg(unix)]
fn is_somebody_elses(folder: &std::fs::File, mark: &cap_primitives::fs::Metadata) -> bool {
    /// Permission bit by which those may write who are neither the owner nor in the group.
    const WRITABLE_BY_ALL: u32 = 0o002;
    let ours = [rustix::process::geteuid().as_raw(), 0];
    let mark_is_ours = ours.contains(&cap_primitives::fs::MetadataExt::uid(mark));
    !mark_is_ours
        && folder.metadata().is_ok_and(|folder| {
            std::os::unix::fs::MetadataExt::mode(&folder) & WRITABLE_BY_ALL != 0
        })
}

#[cfg(not(unix))]
fn is_somebody_elses(_: &std::fs::File, _: &cap_primitives::fs::Metadata) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_lead_out_of_a_project_where_they_end_outside() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("project");
        fs::create_dir_all(project.join("sub")).unwrap();
        fs::write(project.join("sub/file"), "").unwrap();
        fs::write(folder.path().join("outside"), "").unwrap();
        let link = |name: &str, target: &str| symlink(target, project.join(name)).unwrap();
        link("inside", "sub/file");
        link("sub/up", "../sub/file");
        link("through", "inside");
        link("out", "../outside");
        link("absolute", folder.path().join("outside").to_str().unwrap());
        link("dangling", "/nowhere/at/all");
        link("folder", "..");
        link("loop", "loop");
        for (file, is_out) in [
            ("sub/file", false),
            ("missing", false),
            ("missing/file", false),
            ("inside", false),
            ("sub/up", false),
            ("through", false),
            ("loop", true),
            ("out", true),
            ("absolute", true),
            ("dangling", true),
            ("folder/outside", true),
            ("../outside", true),
        ] {
            assert_eq!(leads_out(&project, &project.join(file)), is_out, "{file}");
        }
        assert!(!leads_out(&project, &folder.path().join("outside")));
        symlink(&project, folder.path().join("users")).unwrap();
        assert!(leads_out(&project, &folder.path().join("users/sub/file")));
        // What is a mark is not followed.
        for (mark, is_mark) in [
            ("sub/file", true),
            ("missing", false),
            ("sub/missing", false),
            ("inside", true),
            ("dangling", true),
            ("loop", true),
            ("folder/outside", true),
        ] {
            assert_eq!(is_marked(&project, Path::new(mark)), is_mark, "{mark}");
        }
        // Where a file is, is told of the one that was opened.
        let real = project.canonicalize().unwrap();
        let inside = fs::File::open(project.join("inside")).unwrap();
        let outside = fs::File::open(project.join("out")).unwrap();
        for (file, opened, expected) in [
            ("inside", &inside, Location::Within),
            ("sub/file", &inside, Location::Within),
            ("out", &outside, Location::Elsewhere),
            ("out", &inside, Location::Moved),
            ("inside", &outside, Location::Moved),
            ("missing", &inside, Location::Moved),
        ] {
            assert_eq!(
                location(&real, &project.join(file), opened),
                expected,
                "{file}"
            );
        }
        // The folder itself may be named by a link.
        symlink(&project, folder.path().join("link")).unwrap();
        let link = folder.path().join("link");
        assert!(!leads_out(&link, &link.join("inside")));
        assert!(leads_out(&link, &link.join("out")));
    }

    /// However many links there are, and however long each is, a file is looked for in few steps.
    #[test]
    fn the_way_to_a_file_of_a_project_has_few_steps() {
        let looks = |links: usize, target: &str| {
            let looks = Cell::new(0);
            let is_out = is_way_out(Path::new("0"), |path| {
                looks.set(looks.get() + 1);
                let link: Option<usize> = path.to_str().unwrap().parse().ok();
                let next = link.filter(|link| *link < links).map(|link| link + 1);
                Ok(next.map(|next| format!("{target}{next}").into()))
            });
            (is_out, looks.get())
        };
        assert_eq!(looks(8, "folder/../"), (false, 17));
        for target in ["", "./", ".///", "folder/../", &"folder/../".repeat(400)] {
            let (few, many) = (looks(100, target), looks(400, target));
            assert_eq!(few, many, "{target}");
            assert!(few.0 && few.1 <= MAX_LINKED_NAMES + 1, "{target}: {few:?}");
        }
    }
}
