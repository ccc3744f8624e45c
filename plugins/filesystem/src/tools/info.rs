//! Facts about a file or directory besides its content.

use std::fs;
use std::io;
use std::time::SystemTime;

use crate::date;
use crate::error::Error;
use crate::paths::Folders;

/// Text for a fact that does not get through the sandbox.
const UNKNOWN: &str = "unknown (not visible in the sandbox)";

/// `get_file_info`. WASI tells neither the mode nor the time of creation; the permission of the
/// grant stands for the mode.
pub fn of(folders: &Folders, path: &str) -> Result<String, Error> {
    let real = folders.resolve(path)?;
    let metadata = fs::metadata(&real).map_err(|error| Error::system(&error, "stat", &real))?;
    let time =
        |time: io::Result<SystemTime>| time.map_or_else(|_| UNKNOWN.to_owned(), date::format);
    // What WASI has in its place is when the file was last renamed, written or
    // otherwise touched, so it would be wrong more often than not.
    let created = match cfg!(target_family = "wasm") {
        true => UNKNOWN.to_owned(),
        false => time(metadata.created()),
    };
    let permissions = if folders.is_writable(&real) {
        "granted read-write"
    } else {
        "granted read-only"
    };
    Ok(format!(
        "size: {}\ncreated: {created}\nmodified: {}\naccessed: {}\nisDirectory: {}\nisFile: {}\npermissions: {permissions}",
        metadata.len(),
        time(metadata.modified()),
        time(metadata.accessed()),
        metadata.is_dir(),
        metadata.is_file(),
    ))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::paths::Folder;

    #[test]
    fn facts_are_told_one_a_line() {
        let (_dir, root) = crate::fixture::folder();
        let file = fs::File::create(format!("{root}/f")).unwrap();
        file.set_len(5).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_000_000_000))
            .unwrap();
        let folders = Folders::new(
            vec![Folder {
                path: root.clone(),
                writable: false,
            }],
            None,
        );
        let info = of(&folders, "f").unwrap();
        let lines: Vec<&str> = info.lines().collect();
        assert_eq!(lines[0], "size: 5");
        assert_eq!(
            lines[2],
            "modified: Sun Sep 09 2001 01:46:40 GMT+0000 (Coordinated Universal Time)"
        );
        assert_eq!(
            lines[4..],
            [
                "isDirectory: false",
                "isFile: true",
                "permissions: granted read-only"
            ]
        );
        let error = of(&folders, "g").unwrap_err().to_string();
        assert_eq!(
            error,
            format!("ENOENT: no such file or directory, stat '{root}/g'")
        );
    }
}
