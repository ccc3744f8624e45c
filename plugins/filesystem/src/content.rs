//! Contents of whole files, with three questions to the host for each, where the standard library
//! asks ten.

/// Returns the bytes of the file at an absolute path in a granted folder, if they are at most `limit`.
/// None where that is no file, or one that cannot be read in this way: whoever asks finds out why.
///
/// Links are followed as far as the sandbox does.
#[cfg(target_family = "wasm")]
pub fn of(absolute: &str, limit: u64) -> Option<Vec<u8>> {
    use wasip2::filesystem::types::{DescriptorFlags, DescriptorType, OpenFlags, PathFlags};

    let (folder, path) = crate::grants::holding(absolute)?;
    let file = folder
        .open_at(
            PathFlags::SYMLINK_FOLLOW,
            &path,
            OpenFlags::empty(),
            DescriptorFlags::READ,
        )
        .ok()?;
    let found = file.stat().ok()?;
    if found.type_ != DescriptorType::RegularFile || found.size > limit {
        return None;
    }
    let mut content = Vec::with_capacity(usize::try_from(found.size).ok()?);
    loop {
        let read = content.len() as u64;
        // The host makes room for as much as it is asked for.
        let left = found.size.checked_sub(read).filter(|left| *left > 0);
        let (bytes, has_ended) = file.read(left.unwrap_or(limit + 1), read).ok()?;
        content.extend(bytes);
        if content.len() as u64 > limit {
            return None;
        }
        // Some files tell no size, and have a content.
        let is_all = found.size > 0 && content.len() as u64 == found.size;
        if is_all || has_ended {
            return Some(content);
        }
    }
}

/// Returns none: outside of the sandbox nothing would keep links within the granted folders.
#[cfg(not(target_family = "wasm"))]
pub fn of(_absolute: &str, _limit: u64) -> Option<Vec<u8>> {
    None
}
