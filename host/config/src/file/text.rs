//! Texts of configuration files.

use super::*;

/// Largest configuration file, in bytes; a larger one was named by mistake.
pub(super) const LARGEST: u64 = 4 << 20;

/// Reads the text of a configuration file; none where there is no such file.
///
/// # Errors
/// The file cannot be read, is too large, or is not UTF-8.
pub fn read(path: &Path) -> anyhow::Result<Option<String>> {
    read_at_most(path, LARGEST)
}

/// Reads the text of a project's configuration file; none where there is no such file.
///
/// # Errors
/// The file cannot be read, is too large, or is not UTF-8.
pub fn read_of_project(path: &Path) -> anyhow::Result<Option<String>> {
    read_at_most(path, LARGEST_OF_PROJECT)
}

fn read_at_most(path: &Path, largest: u64) -> anyhow::Result<Option<String>> {
    let shown = visible_path(path);
    let cannot = || format!("the configuration file `{shown}` cannot be read");
    let bytes = match read_regular_file(path, largest) {
        Ok(Some(bytes)) => bytes,
        // What it led to may have denied something, and may come back.
        Ok(None) if leads_nowhere(path) => bail!(
            "the configuration file `{shown}` is a link to nothing\n\
             hint: remove the link, or bring back what it leads to"
        ),
        Ok(None) => return Ok(None),
        Err(error) if error.kind() == ErrorKind::FileTooLarge => bail!(
            "the configuration file `{shown}` is larger than {} MiB\nhint: is it a configuration file?",
            largest >> 20
        ),
        Err(error) => return Err(error).with_context(cannot),
    };
    let text = String::from_utf8(bytes)
        .map_err(|error| error.utf8_error())
        .with_context(cannot)?;
    Ok(Some(text))
}

/// Whether a path is a link to nothing, or is below one.
pub(crate) fn leads_nowhere(path: &Path) -> bool {
    let mut ancestors = path.ancestors();
    ancestors
        .find_map(|above| above.symlink_metadata().ok().map(|found| (above, found)))
        .is_some_and(|(above, found)| found.is_symlink() && !above.exists())
}
