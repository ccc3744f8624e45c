//! Files of WIT, read with the packages that they bring.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use wit_parser::{PackageId, Resolve, UnresolvedPackageGroup};

use super::hints;
use crate::error::Error;
use crate::{CONTRACT, CONTRACT_WIT};

/// Most bytes of one file of WIT.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Returns what files and folders have, with the main package, which is in the last path, and the
/// files that were read.
///
/// # Errors
/// A path is missing or no file, or the WIT does not parse.
pub(super) fn push(paths: &[&Path]) -> Result<(Resolve, PackageId, Vec<PathBuf>), Error> {
    let failed = |message: String| Error::Wit {
        paths: paths.iter().map(|path| path.to_path_buf()).collect(),
        message: format!("{}{}", hints::plain(&message), hints::on(&message)),
    };
    if let Some(path) = paths.iter().find(|path| !path.exists()) {
        let message = "there is no such file or folder".into();
        return Err(Error::Wit {
            paths: vec![path.to_path_buf()],
            message,
        });
    }
    for path in paths {
        check_files(path).map_err(failed)?;
    }
    // The parser asserts that nobody gives it a package twice, so that has to be
    // known before.
    let mut brought = HashSet::new();
    for package in paths.iter().flat_map(|path| packages(path)) {
        if let Some(package) = brought.replace(package) {
            return Err(failed(format!("the package `{package}` is there twice")));
        }
    }
    let mut resolve = Resolve::default();
    if !brought.contains(CONTRACT) {
        let pushed = resolve.push_str("plugin.wit", CONTRACT_WIT);
        pushed.map_err(|error| failed(resolve.render_error(&error)))?;
    }
    let mut main = None;
    let mut files = Vec::new();
    for path in paths {
        let pushed = resolve.push_path(path);
        let (package, sources) = pushed.map_err(|error| failed(resolve.render_error(&error)))?;
        files.extend(sources.paths().map(Path::to_path_buf));
        main = Some(package);
    }
    let main = main.ok_or_else(|| failed("no path was given".into()))?;
    Ok((resolve, main, files))
}

/// Checks the files that the parser would read whole, and without looking at what they are: a pipe
/// or a device among them would keep it waiting, or fill the memory. The error is for people.
fn check_files(path: &Path) -> Result<(), String> {
    let in_folder = |folder: &Path| {
        let entries = folder.read_dir().into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let mut all = vec![path.to_owned()];
    if path.is_dir() {
        let deps = in_folder(&path.join("deps"));
        let folders = deps.iter().filter(|dep| dep.is_dir());
        all = folders.flat_map(|dep| in_folder(dep)).collect();
        all.extend(in_folder(path).into_iter().chain(deps));
    }
    let is_read = |file: &&PathBuf| {
        let end = file.extension().and_then(OsStr::to_str);
        **file == *path || end.is_some_and(|end| matches!(end, "wit" | "wasm" | "wat"))
    };
    for file in all.iter().filter(is_read) {
        let Ok(metadata) = file.metadata() else {
            // Whoever reads it words that better.
            continue;
        };
        let shown = file.display();
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(format!("`{shown}` is no file"));
        }
        if metadata.is_file() && metadata.len() > MAX_FILE_BYTES {
            return Err(format!("`{shown}` has more than {MAX_FILE_BYTES} bytes"));
        }
    }
    Ok(())
}

/// Returns the names of the packages in a path. Files that cannot be parsed have none here; pushing
/// them gives the error.
fn packages(path: &Path) -> Vec<String> {
    let mut groups = Vec::new();
    if path.is_dir() {
        groups.extend(UnresolvedPackageGroup::parse_dir(path));
        let deps = path.join("deps").read_dir().into_iter().flatten().flatten();
        for dep in deps.map(|dep| dep.path()) {
            if dep.is_dir() {
                groups.extend(UnresolvedPackageGroup::parse_dir(dep));
            } else if dep.extension().is_some_and(|extension| extension == "wit") {
                groups.extend(parse_file(&dep));
            }
        }
    } else {
        groups.extend(parse_file(path));
    }
    let packages = groups
        .into_iter()
        .flat_map(|group| group.nested.into_iter().chain([group.main]));
    packages.map(|package| package.name.to_string()).collect()
}

fn parse_file(path: &Path) -> Option<UnresolvedPackageGroup> {
    let text = std::fs::read_to_string(path).ok()?;
    UnresolvedPackageGroup::parse(path.to_str()?, &text).ok()
}
