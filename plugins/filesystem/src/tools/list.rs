//! Listings of directories.

use std::fs;

use crate::collate;
use crate::error::Error;
use crate::paths::{self, Folders};
use crate::scan::{self, Entry, Listing};

/// Order of `list_directory_with_sizes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    /// By name, as a person would sort names.
    Name,
    /// By size, the largest first.
    Size,
}

fn label(entry: &Entry) -> &'static str {
    if entry.is_dir { "[DIR]" } else { "[FILE]" }
}

/// Returns a last line that says what is missing. A name that is not UTF-8 could neither be sent to
/// an agent nor come back from one.
fn note(listing: &Listing) -> Option<String> {
    match listing.unnamed {
        0 => None,
        1 => Some("(1 more entry has a name that is not UTF-8)".to_owned()),
        count => Some(format!(
            "({count} more entries have names that are not UTF-8)"
        )),
    }
}

/// `list_directory`.
pub fn names(folders: &Folders, path: &str) -> Result<String, Error> {
    let listing = scan::directory(&folders.resolve(path)?)?;
    let entries = listing.entries.iter();
    let lines = entries.map(|entry| format!("{} {}", label(entry), entry.name));
    let lines: Vec<String> = lines.chain(note(&listing)).collect();
    Ok(lines.join("\n"))
}

/// `list_directory_with_sizes`: directories, and files that cannot be looked at, have size 0.
pub fn sizes(folders: &Folders, path: &str, sort_by: SortBy) -> Result<String, Error> {
    let real = folders.resolve(path)?;
    let listing = scan::directory(&real)?;
    let mut sized: Vec<(&Entry, u64)> = Vec::new();
    for entry in &listing.entries {
        let path = paths::join(&real, &entry.name);
        let size = match entry.is_dir {
            true => 0,
            false => fs::metadata(path).map_or(0, |metadata| metadata.len()),
        };
        sized.push((entry, size));
    }
    match sort_by {
        SortBy::Name => sized.sort_by_cached_key(|(entry, _)| collate::key(&entry.name)),
        // A directory's own size counts here in the reference, but is shown
        // nowhere and differs between file systems.
        SortBy::Size => sized.sort_by_key(|(_, size)| std::cmp::Reverse(*size)),
    }
    let mut lines: Vec<String> = Vec::with_capacity(sized.len() + 3);
    for (entry, size) in &sized {
        let size = if entry.is_dir {
            String::new()
        } else {
            format!("{:>10}", in_units(*size))
        };
        lines.push(format!("{} {:<30} {size}", label(entry), entry.name));
    }
    let directories = sized.iter().filter(|(entry, _)| entry.is_dir).count();
    let total = sized
        .iter()
        .fold(0_u64, |total, (_, size)| total.saturating_add(*size));
    lines.push(String::new());
    lines.push(format!(
        "Total: {} files, {directories} directories",
        sized.len() - directories
    ));
    lines.push(format!("Combined size: {}", in_units(total)));
    lines.extend(note(&listing));
    Ok(lines.join("\n"))
}

/// Writes a size like `1.50 KB`, with two decimals from 1 KB on.
fn in_units(bytes: u64) -> String {
    let mut unit = 1_u128;
    let mut name = "B";
    for next in ["KB", "MB", "GB", "TB"] {
        if u128::from(bytes) < unit * 1024 {
            break;
        }
        unit *= 1024;
        name = next;
    }
    if unit == 1 {
        return format!("{bytes} B");
    }
    // Halves round up, which `{:.2}` of a float does not do.
    let hundredths = (u128::from(bytes) * 100 + unit / 2) / unit;
    format!("{}.{:02} {name}", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::Folder;

    #[test]
    fn sizes_read_as_in_the_reference() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KB"),
            (1152, "1.13 KB"),
            (1536, "1.50 KB"),
            (1_048_575, "1024.00 KB"),
            (5 << 20, "5.00 MB"),
            (3 << 50, "3072.00 TB"),
        ] {
            assert_eq!(in_units(bytes), text);
        }
    }

    #[test]
    fn directories_are_listed() {
        let (dir, root) = crate::fixture::folder();
        fs::create_dir(format!("{root}/sub")).unwrap();
        fs::write(format!("{root}/B.txt"), "x".repeat(2048)).unwrap();
        fs::write(format!("{root}/a.txt"), "x").unwrap();
        std::os::unix::fs::symlink("sub", format!("{root}/link")).unwrap();
        let folders = Folders::new(
            vec![Folder {
                path: root.clone(),
                writable: false,
            }],
            None,
        );
        assert_eq!(
            names(&folders, "").unwrap(),
            "[FILE] B.txt\n[FILE] a.txt\n[FILE] link\n[DIR] sub"
        );
        let by_size = sizes(&folders, "", SortBy::Size).unwrap();
        assert!(
            by_size.starts_with("[FILE] link "),
            "a link is as large as its target: {by_size}"
        );
        let by_name = sizes(&folders, "", SortBy::Name).unwrap();
        let line = format!("[FILE] {:<30} {:>10}", "a.txt", "1 B");
        assert!(by_name.starts_with(&line), "{by_name}");
        assert!(
            by_name.contains("\n\nTotal: 3 files, 1 directories\nCombined size: "),
            "{by_name}"
        );
        let odd = std::os::unix::ffi::OsStrExt::from_bytes(b"odd\xff");
        fs::write(dir.path().join::<&std::ffi::OsStr>(odd), "").unwrap();
        let noted = names(&folders, "").unwrap();
        assert!(
            noted.ends_with("[DIR] sub\n(1 more entry has a name that is not UTF-8)"),
            "{noted}"
        );
        let error = names(&folders, "a.txt").unwrap_err().to_string();
        assert_eq!(
            error,
            format!("ENOTDIR: not a directory, scandir '{root}/a.txt'")
        );
    }
}
