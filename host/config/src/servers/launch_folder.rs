//! Launches of programs apart from the folder that they are started in.

use std::path::Path;

use dormouse_launch::Launch;

/// Returns a launch without its folder, where that is one of these: what is started in the folder of
/// a project is the same program as elsewhere. None where it is started in none of them.
pub(crate) fn without_folder(launch: &Launch, folders: &[Option<&Path>]) -> Option<Launch> {
    let Launch::Stdio(stdio) = launch else {
        return None;
    };
    let folder = stdio.cwd.as_deref()?;
    folders.contains(&Some(folder)).then(|| {
        let mut stdio = stdio.clone();
        stdio.cwd = None;
        Launch::Stdio(stdio)
    })
}
