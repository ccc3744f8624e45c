use dormouse_policy::{OwnPlace, OwnPlaces};
use rustix::io::Errno;
use wasmtime_wasi::FsPerms;

use super::*;
use crate::sandbox::granted::Preopen;

#[test]
fn a_file_of_dormouses_own_is_not_opened_by_another_name() {
    let keep = tempfile::tempdir().unwrap();
    let root = keep.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("granted")).unwrap();
    let own = root.join("own");
    for (file, name) in [("own", "granted/own"), ("notes", "granted/notes")] {
        std::fs::write(root.join(file), "words").unwrap();
        std::fs::hard_link(root.join(file), root.join(name)).unwrap();
    }
    std::fs::write(root.join("granted/single"), "words").unwrap();
    let folder = || File::open(root.join("granted")).unwrap();
    let preopen = Preopen {
        dir: Dir::new(folder(), FsPerms::ReadWrite, OpenMode::WRITE, false),
        path: root.display().to_string(),
        cached: None,
        own: OwnPlaces::new({
            let path = own.clone();
            move || {
                vec![OwnPlace {
                    path: path.clone(),
                    what: "a test's".to_owned(),
                }]
            }
        }),
    };
    let preopens: Preopens = Arc::new([preopen]);
    let opened = |name: &str, write: bool| {
        let mut options = OpenOptions::new();
        options.read(true).write(write).create(write);
        let follow = FollowSymlinks::No;
        open_plain(&folder(), Path::new(name), &options, follow, &preopens)
    };
    for write in [false, true] {
        let refused = opened("own", write).unwrap_err();
        let errno = Errno::from_io_error(&refused);
        assert_eq!(errno, Some(Errno::PERM), "{write}: {refused}");
        for name in ["notes", "single", "."] {
            let is_folder = name == ".";
            if !(is_folder && write) {
                assert_eq!(opened(name, write).unwrap().1, is_folder, "{name}, {write}");
            }
        }
    }
    // The name alone says nothing.
    std::fs::remove_file(&own).unwrap();
    assert!(opened("own", true).is_ok());
    assert!(opened("new", true).is_ok());
}

/// What a file loses, it loses after it was judged.
#[test]
fn nothing_is_cut_off_by_opening() {
    let dir = tempfile::tempdir().unwrap();
    let file = File::open(dir.path()).unwrap();
    let dir = Dir::new(file, FsPerms::ReadWrite, OpenMode::WRITE, false);
    let how = How::new(
        &dir,
        PathFlags::empty(),
        OpenFlags::CREATE | OpenFlags::TRUNCATE,
        DescriptorFlags::WRITE,
    );
    let how = how.unwrap();
    assert!(how.truncates);
    let name = Path::new("file");
    let preopens: Preopens = Arc::new([]);
    let (file, _) = open_plain(&dir.dir, name, &how.options, how.follow, &preopens).unwrap();
    file.set_len(5).unwrap();
    let (again, _) = open_plain(&dir.dir, name, &how.options, how.follow, &preopens).unwrap();
    assert_eq!(again.metadata().unwrap().len(), 5);
}
