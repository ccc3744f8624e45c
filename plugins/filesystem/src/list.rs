//! What is in a directory.

use std::fs;

use crate::collate;
use crate::error::Error;
use crate::paths::{self, Folders};

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name.
    pub name: String,
    /// Whether it is a directory; a link to one is not.
    pub is_dir: bool,
    /// Whether it is a link.
    pub is_link: bool,
}

impl Entry {
    fn label(&self) -> &'static str {
        if self.is_dir { "[DIR]" } else { "[FILE]" }
    }
}

/// How `list_directory_with_sizes` sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    /// As a person would sort names.
    Name,
    /// The largest first.
    Size,
}

/// The entries of the directory at the real path `real`, sorted by the bytes of
/// their names. A name that is not UTF-8 cannot be sent to an agent, nor come
/// back from one: where the sandbox passes it on at all, it is shown with U+FFFD
/// for what cannot be shown.
pub fn entries(real: &str) -> Result<Vec<Entry>, Error> {
    let failed = |error| Error::system(&error, "scandir", real);
    let mut entries = Vec::new();
    for entry in fs::read_dir(real).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = entry.file_type();
        entries.push(Entry {
            name: entry.file_name().to_string_lossy().into_owned(),
            is_dir: kind.as_ref().is_ok_and(fs::FileType::is_dir),
            is_link: kind.as_ref().is_ok_and(fs::FileType::is_symlink),
        });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// `list_directory`.
pub fn names(folders: &Folders, path: &str) -> Result<String, Error> {
    let entries = entries(&folders.resolve(path)?)?;
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| format!("{} {}", entry.label(), entry.name))
        .collect();
    Ok(lines.join("\n"))
}

/// `list_directory_with_sizes`: what cannot be looked at has size 0.
pub fn sizes(folders: &Folders, path: &str, sort_by: SortBy) -> Result<String, Error> {
    let real = folders.resolve(path)?;
    let mut sized: Vec<(Entry, u64)> = Vec::new();
    for entry in entries(&real)? {
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
        lines.push(format!("{} {:<30} {size}", entry.label(), entry.name));
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
    Ok(lines.join("\n"))
}

/// Like `1.50 KB`, with two decimals from 1 KB on.
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
        let dir = tempfile::tempdir().unwrap();
        let root = dir
            .path()
            .canonicalize()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
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
        let error = names(&folders, "a.txt").unwrap_err().to_string();
        assert_eq!(
            error,
            format!("ENOTDIR: not a directory, scandir '{root}/a.txt'")
        );
    }
}
