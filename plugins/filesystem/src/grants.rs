//! What the host has granted, as the sandbox tells it.

use crate::paths::{Folder, Folders};
use wasip2::filesystem::preopens;
use wasip2::filesystem::types::DescriptorFlags;

/// The granted folders, in the order of the configuration.
pub fn folders() -> Folders {
    let list = preopens::get_directories().into_iter().map(|(descriptor, path)| {
        // A folder whose flags cannot be read is not known to be writable.
        let flags = descriptor.get_flags().unwrap_or(DescriptorFlags::empty());
        Folder { path, writable: flags.contains(DescriptorFlags::MUTATE_DIRECTORY) }
    });
    let home = std::env::var("HOME").ok().filter(|home| home.starts_with('/'));
    Folders::new(list.collect(), home)
}
