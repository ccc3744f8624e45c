use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_policy::{OwnPlace, OwnPlaces};
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{
    Descriptor, Dir, File as WasiFile, OpenMode, WasiFilesystemCtx, WasiFilesystemCtxView,
};
use wasmtime_wasi::p2::bindings::filesystem::types::{HostDescriptor as _, PathFlags};
use wasmtime_wasi::{FsPerms, ResourceTable};

use super::*;
use crate::sandbox::granted::Preopen;

const YES: FollowSymlinks = FollowSymlinks::Yes;
const NO: FollowSymlinks = FollowSymlinks::No;

/// A folder in memory, which every Linux has.
struct Place {
    root: PathBuf,
    folder: File,
    preopens: Preopens,
    _keep: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let keep = tempfile::tempdir_in("/dev/shm").unwrap();
        let root = keep.path().canonicalize().unwrap();
        let folder = File::open(&root).unwrap();
        let cached = CachedDevice::of(&folder);
        assert!(cached.is_some());
        let dir = folder.try_clone().unwrap();
        let preopen = Preopen {
            dir: Dir::new(dir, FsPerms::ReadOnly, OpenMode::READ, false),
            path: root.display().to_string(),
            cached,
            own: OwnPlaces::new(Vec::<OwnPlace>::new),
        };
        Self {
            root,
            folder,
            preopens: Arc::new([preopen]),
            _keep: keep,
        }
    }

    fn open(&self, path: &str, follow: FollowSymlinks) -> Option<(File, bool)> {
        open(&self.folder, Path::new(path), follow, &self.preopens)
    }
}

#[test]
fn only_files_and_folders_within_are_opened() {
    let place = Place::new();
    let root = &place.root;
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    std::fs::write(root.join("a/file"), "words").unwrap();
    std::fs::write(root.join("a/one"), "words").unwrap();
    std::fs::hard_link(root.join("a/one"), root.join("a/other")).unwrap();
    symlink("file", root.join("a/link")).unwrap();
    symlink("..", root.join("a/up")).unwrap();
    symlink("/etc", root.join("etc")).unwrap();
    symlink("/proc/self/root", root.join("magic")).unwrap();
    let fifo = root.join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    for (path, follow, expected) in [
        ("a", YES, Some(true)),
        (".", YES, Some(true)),
        ("a/b/", NO, Some(true)),
        ("a/file", YES, Some(false)),
        ("a/file", NO, Some(false)),
        ("a/b/../file", NO, Some(false)),
        ("a/link", YES, Some(false)),
        ("a/up/a/file", YES, Some(false)),
        ("a/link", NO, None),
        // Whether it is one of Dormouse's own takes longer.
        ("a/other", NO, None),
        ("a/file/", YES, None),
        ("a/nothing", YES, None),
        ("", YES, None),
        ("a/up/..", YES, None),
        ("..", YES, None),
        ("/etc", YES, None),
        ("etc", YES, None),
        ("etc/passwd", YES, None),
        ("magic/etc", YES, None),
        ("fifo", YES, None),
        ("socket", YES, None),
    ] {
        let opened = place.open(path, follow);
        // A link may have to be noted as read, for which the system waits.
        let is_through_link = follow == YES && (path == "a/link" || path.starts_with("a/up"));
        if opened.is_none() && is_through_link {
            continue;
        }
        let is_folder = opened.as_ref().map(|(_, is_folder)| *is_folder);
        assert_eq!(is_folder, expected, "{path:?}");
        if let Some((file, is_folder)) = opened {
            assert_eq!(file.metadata().unwrap().is_dir(), is_folder, "{path:?}");
            // What reads from it may wait then.
            let flags = fcntl_getfl(&file).unwrap();
            assert!(!flags.contains(OFlags::NONBLOCK), "{path:?}");
        }
    }
}

/// A file of another filesystem may be one whose server has gone away.
#[test]
fn other_filesystems_are_not_looked_at() {
    let place = Place::new();
    let elsewhere = File::open("/proc").unwrap();
    assert_eq!(CachedDevice::of(&elsewhere), None);
    let opened = open(&elsewhere, Path::new("version"), YES, &place.preopens);
    assert!(opened.is_none());
    assert!(found(&elsewhere, &place.preopens).is_none());
    assert!(found_at(&elsewhere, "version", YES, &place.preopens).is_none());
    // It is not the folder but the filesystem that counts.
    let other = Place::new();
    assert!(found(&other.folder, &place.preopens).is_some());
    assert!(found(&place.folder, &(Arc::new([]) as Preopens)).is_none());
}

#[test]
fn what_is_in_memory_is_read_and_its_end_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "words").unwrap();
    let file = File::open(&path).unwrap();
    let mut buffer = [0; 64];
    // Not every filesystem has a way to read that does not wait.
    let Some(bytes) = read(&file, &mut buffer, 0) else {
        assert_eq!(CachedDevice::of(&File::open(folder.path()).unwrap()), None);
        return;
    };
    assert_eq!(&buffer[..bytes], b"words");
    assert_eq!(read(&file, &mut buffer, 3), Some(2));
    assert_eq!(&buffer[..2], b"ds");
    assert_eq!(read(&file, &mut buffer, 5), Some(0));
    // In place of what was read last.
    for offset in [u64::MAX, u64::MAX - 1, 1 << 63] {
        assert_eq!(read(&file, &mut buffer, offset), None);
    }
}

/// A guest must not notice which of the two answers it.
#[tokio::test]
async fn what_is_told_is_what_wasmtime_tells() {
    let place = Place::new();
    let root = &place.root;
    std::fs::create_dir(root.join("folder")).unwrap();
    std::fs::write(root.join("file"), "words").unwrap();
    std::fs::hard_link(root.join("file"), root.join("folder/same")).unwrap();
    symlink("file", root.join("link")).unwrap();
    let before = std::time::SystemTime::UNIX_EPOCH - std::time::Duration::from_secs(9);
    let file = File::options().write(true).open(root.join("file")).unwrap();
    file.set_modified(before).unwrap();
    let mut table = ResourceTable::new();
    let mut context = WasiFilesystemCtx::default();
    let mut wasmtime = WasiFilesystemCtxView {
        ctx: &mut context,
        table: &mut table,
    };
    let [folder, open] = [".", "file"].map(|path| File::open(root.join(path)).unwrap());
    let dir = Dir::new(
        folder.try_clone().unwrap(),
        FsPerms::ReadOnly,
        OpenMode::READ,
        false,
    );
    let at = wasmtime.table.push(Descriptor::Dir(dir)).unwrap();
    let again = || Resource::<Descriptor>::new_borrow(at.rep());
    for (path, follow) in [
        ("file", true),
        ("link", false),
        ("link", true),
        ("folder", true),
        ("folder/same", false),
        ("./folder", false),
    ] {
        let flags = match follow {
            true => PathFlags::SYMLINK_FOLLOW,
            false => PathFlags::empty(),
        };
        let follow = if follow { YES } else { NO };
        let Some(ours) = found_at(&folder, path, follow, &place.preopens) else {
            // A link may have to be noted as read, for which the system waits.
            assert_eq!((path, follow), ("link", YES));
            continue;
        };
        let theirs = wasmtime.stat_at(again(), flags, path.to_owned()).await;
        assert_eq!(told(&ours.stat()), told(&theirs.unwrap()), "{path}");
        let theirs = wasmtime.metadata_hash_at(again(), flags, path.to_owned());
        let theirs = theirs.await.unwrap();
        let ours = super::super::super::metadata::hash(&ours);
        assert_eq!(
            (ours.lower, ours.upper),
            (theirs.lower, theirs.upper),
            "{path}"
        );
    }
    let ours = found(&open, &place.preopens).unwrap();
    let file = WasiFile::new(open, FsPerms::ReadOnly, OpenMode::READ, false);
    let file = wasmtime.table.push(Descriptor::File(file)).unwrap();
    let theirs = wasmtime.stat(file).await.unwrap();
    assert_eq!(told(&ours.stat()), told(&theirs));
    // Names that wasmtime reads in a way of its own.
    for path in ["link/", "link/.", "folder/", "folder/.."] {
        assert!(
            found_at(&folder, path, NO, &place.preopens).is_none(),
            "{path}"
        );
    }
}

/// Returns a text of all that is told.
fn told(stat: &DescriptorStat) -> String {
    format!("{stat:?}")
}
