//! Grants of the host, as the sandbox tells them.

use crate::paths::{self, Folder, Folders};
use wasip2::filesystem::preopens;
use wasip2::filesystem::types::{Descriptor, DescriptorFlags};

/// Returns the granted folders, in the order of the configuration.
pub fn folders() -> Folders {
    let list = preopens::get_directories()
        .into_iter()
        .map(|(descriptor, path)| {
            // A folder whose flags cannot be read is not known to be writable.
            let flags = descriptor.get_flags().unwrap_or(DescriptorFlags::empty());
            Folder {
                path,
                writable: flags.contains(DescriptorFlags::MUTATE_DIRECTORY),
            }
        });
    let home = std::env::var("HOME")
        .ok()
        .filter(|home| home.starts_with('/'));
    Folders::new(list.collect(), home)
}

/// Returns the innermost granted folder that holds the real path `real`, open, and the path from
/// there on.
pub fn holding(real: &str) -> Option<(Descriptor, String)> {
    let folders = preopens::get_directories().into_iter();
    let (descriptor, folder) = folders
        .filter(|(_, folder)| paths::is_within(real, folder))
        .max_by_key(|(_, folder)| folder.len())?;
    let rest = real
        .strip_prefix(folder.as_str())?
        .trim_start_matches('/')
        .to_owned();
    Some((descriptor, rest))
}
