//! `wasi:filesystem` for guests. Of wasmtime's implementation, functions that open files and
//! folders are replaced, because they resolve a path again for each instance and wait for ever for
//! a pipe; and so are those that keep data in uncounted memory.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;

use cap_primitives::fs::{FollowSymlinks, hard_link, open_dir, read_link_contents, rename, stat};
use wasmtime::StoreContextMut;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::filesystem::{Descriptor, Dir, WasiFilesystemView as _};
use wasmtime_wasi::p2::FsError;
use wasmtime_wasi::p2::bindings::filesystem::types::{ErrorCode, HostDescriptor as _, PathFlags};

#[cfg(unix)]
use super::directory_entries::{self, DirectoryStreams};
use super::file_streams;
use super::granted::Preopens;
use super::wasi::WASI_VERSION;

/// Memory that counts as a guest's until this is dropped.
pub(crate) trait Charge: Send + Sync + 'static {
    /// Merges two charges.
    fn add(&mut self, other: Self);

    /// Gives back the memory above so many bytes.
    fn reduce_to(&mut self, bytes: u64);
}

/// State of a store whose guest has granted folders.
pub(crate) trait FilesystemState: WasiView + 'static {
    /// Memory that counts as the guest's until this is dropped.
    type Charge: Charge;

    /// Returns the folders that the guest is given.
    fn preopens(&self) -> &Preopens;

    /// Takes memory of the host for the guest, in bytes. None where it may have no more.
    fn charge(&mut self, bytes: u64) -> impl Future<Output = Option<Self::Charge>> + Send;

    /// Returns the limit of the folders that the guest lists at once.
    #[cfg(unix)]
    fn directory_streams(&self) -> &DirectoryStreams;
}

/// Replaces wasmtime's functions with Dormouse's own.
///
/// # Errors
/// They cannot be defined.
pub(super) fn add_to_linker<T: FilesystemState>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    let mut preopens = linker.instance(&format!("wasi:filesystem/preopens@{WASI_VERSION}"))?;
    preopens.func_wrap("get-directories", |mut store, (): ()| {
        Ok((directories(store.data_mut())?,))
    })?;
    let mut types = linker.instance(&format!("wasi:filesystem/types@{WASI_VERSION}"))?;
    types.func_wrap_async(
        "[method]descriptor.symlink-at",
        |store, (folder, target, path)| {
            Box::new(async move { Ok((symlink_at(store, folder, (target, path)).await?,)) })
        },
    )?;
    types.func_wrap_async(
        "[method]descriptor.rename-at",
        |store, (folder, path, to, new)| {
            Box::new(async move { Ok((rename_at(store, (folder, path), (to, new)).await?,)) })
        },
    )?;
    types.func_wrap_async(
        "[method]descriptor.link-at",
        |store, (folder, follow, path, to, new)| {
            Box::new(async move {
                let linked = link_at(store, follow, (folder, path), (to, new));
                Ok((linked.await?,))
            })
        },
    )?;
    file_streams::add_to_linker(&mut types)?;
    #[cfg(unix)]
    {
        directory_entries::add_to_linker(&mut types)?;
        types.func_wrap_async(
            "[method]descriptor.open-at",
            |store, (folder, follow, path, how, flags)| {
                Box::new(async move {
                    Ok((open_at(store, folder, (follow, path), (how, flags)).await?,))
                })
            },
        )?;
        types.func_wrap_async(
            "[method]descriptor.set-times-at",
            |store, (folder, follow, path, accessed, modified)| {
                Box::new(async move {
                    let times = (accessed, modified);
                    Ok((set_times_at(store, folder, (follow, path), times).await?,))
                })
            },
        )?;
    }
    Ok(())
}

/// Result of a function of WASI.
pub(super) type Answer<T> = Result<T, ErrorCode>;

/// Separates errors that a guest gets from errors that end it.
pub(super) fn told<T>(result: Result<T, FsError>) -> wasmtime::Result<Answer<T>> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(error) => error.downcast().map(Err),
    }
}

/// Returns the folder of a handle, or the error for the guest.
pub(super) fn dir<T: FilesystemState>(
    store: &mut StoreContextMut<'_, T>,
    folder: &Resource<Descriptor>,
) -> wasmtime::Result<Answer<Dir>> {
    Ok(match store.data_mut().ctx().table.get(folder)? {
        Descriptor::Dir(dir) => Ok(dir.clone()),
        Descriptor::File(_) => Err(ErrorCode::NotDirectory),
    })
}

/// Runs work that may wait for a disk, and returns its result for the guest.
pub(super) async fn blocking<R: Send + 'static>(
    work: impl FnOnce() -> io::Result<R> + Send + 'static,
) -> wasmtime::Result<Answer<R>> {
    let done = tokio::task::spawn_blocking(work).await?;
    told(done.map_err(FsError::from))
}

fn directories<T: FilesystemState>(
    state: &mut T,
) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
    let preopens = Arc::clone(state.preopens());
    let table = state.ctx().table;
    preopens
        .iter()
        .map(|(dir, path)| Ok((table.push(Descriptor::Dir(dir.clone()))?, path.clone())))
        .collect()
}

/// Longest path that a guest may name, in bytes: no system allows longer ones, and each path is
/// copied several times.
const MAX_PATH_BYTES: usize = 64 << 10;

/// Returns the error for paths of which one is too long.
fn too_long(paths: &[&str]) -> Option<ErrorCode> {
    let mut paths = paths.iter();
    paths
        .any(|path| path.len() > MAX_PATH_BYTES)
        .then_some(ErrorCode::NameTooLong)
}

/// Makes a link, if its target is beside or below it, also where it leads through other links: with
/// `..` in a target, it would lead out of the grant once it is moved, for other programs that follow
/// it.
async fn symlink_at<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    folder: Resource<Descriptor>,
    (target, path): (String, String),
) -> wasmtime::Result<Answer<()>> {
    if let Some(refused) = too_long(&[&target, &path]) {
        return Ok(Err(refused));
    }
    if !stays_below(&target) {
        return Ok(Err(ErrorCode::NotPermitted));
    }
    let from = match dir(&mut store, &folder)? {
        Ok(from) => from,
        Err(code) => return Ok(Err(code)),
    };
    if from.perms.write_not_permitted() {
        return Ok(Err(ErrorCode::NotPermitted));
    }
    let (link, led_to) = (path.clone(), target.clone());
    let checked = tokio::task::spawn_blocking(move || {
        let place = Place::open(&from.dir, &link)?;
        check_way(place.parent, Path::new(&led_to), &mut 0)
    });
    if let Err(code) = checked.await? {
        return Ok(Err(code));
    }
    let mut filesystem = store.data_mut().filesystem();
    told(filesystem.symlink_at(folder, target, path).await)
}

/// Most links on the way of a link's target, as systems have it.
const MAX_LINKS: u32 = 40;

/// Checks that what is on the way of a link's target by now, from the folder of the link on, leads to
/// nothing but what lies beside or below it.
///
/// # Errors
/// It does not.
fn check_way(mut folder: File, target: &Path, links: &mut u32) -> Answer<()> {
    for name in target.components() {
        let name = name.as_os_str().as_ref();
        let Ok(found) = stat(&folder, name, FollowSymlinks::No) else {
            // Nothing is there yet.
            return Ok(());
        };
        if found.file_type().is_symlink() {
            *links += 1;
            let through = read_link_contents(&folder, name)?;
            let is_below = through.to_str().is_some_and(stays_below);
            if !is_below || *links > MAX_LINKS {
                return Err(ErrorCode::NotPermitted);
            }
            check_way(folder.try_clone()?, &through, links)?;
        }
        match open_dir(&folder, name) {
            Ok(next) => folder = next,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(ErrorCode::NotPermitted);
            }
            // It is the last one, or what leads nowhere.
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

/// Renames a file or a folder, or a link that cannot lead out from its new place.
async fn rename_at<T: FilesystemState>(
    store: StoreContextMut<'_, T>,
    from: (Resource<Descriptor>, String),
    to: (Resource<Descriptor>, String),
) -> wasmtime::Result<Answer<()>> {
    moved(store, from, to, |from, to| {
        rename(
            &from.parent,
            from.name.as_ref(),
            &to.parent,
            to.name.as_ref(),
        )
    })
    .await
}

/// Gives a second name to a file, or to a link that cannot lead out from there.
async fn link_at<T: FilesystemState>(
    store: StoreContextMut<'_, T>,
    follow: PathFlags,
    from: (Resource<Descriptor>, String),
    to: (Resource<Descriptor>, String),
) -> wasmtime::Result<Answer<()>> {
    if follow.contains(PathFlags::SYMLINK_FOLLOW) {
        return Ok(Err(ErrorCode::Invalid));
    }
    moved(store, from, to, |from, to| {
        hard_link(
            &from.parent,
            from.name.as_ref(),
            &to.parent,
            to.name.as_ref(),
        )
    })
    .await
}

/// Gives another name to what is at a place, unless it is a link that would lead elsewhere from
/// there.
async fn moved<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    (folder, path): (Resource<Descriptor>, String),
    (to, new): (Resource<Descriptor>, String),
    change: fn(&Place, &Place) -> io::Result<()>,
) -> wasmtime::Result<Answer<()>> {
    if let Some(refused) = too_long(&[&path, &new]) {
        return Ok(Err(refused));
    }
    let (folder, to) = match (dir(&mut store, &folder)?, dir(&mut store, &to)?) {
        (Ok(folder), Ok(to)) => (folder, to),
        (Err(code), _) | (_, Err(code)) => return Ok(Err(code)),
    };
    if folder.perms.write_not_permitted() || folder.perms != to.perms {
        return Ok(Err(ErrorCode::NotPermitted));
    }
    let done = tokio::task::spawn_blocking(move || {
        let from = Place::open(&folder.dir, &path)?;
        let to = Place::open(&to.dir, &new)?;
        let is_folder = from.check_movable()?;
        if to.is_of_folder && !is_folder {
            return Err(ErrorCode::NotDirectory);
        }
        change(&from, &to).map_err(ErrorCode::from)
    });
    Ok(done.await?)
}

/// Name in a folder that is held open: whatever is moved meanwhile, it is in that folder.
struct Place {
    parent: File,
    name: OsString,
    /// Whether there is a slash behind the name, which only a folder may have.
    is_of_folder: bool,
}

impl Place {
    /// Opens the folder of a path.
    ///
    /// # Errors
    /// It cannot be opened, or the path does not end with a name.
    fn open(dir: &File, path: &str) -> Answer<Self> {
        let named = path.trim_end_matches('/');
        let is_name = !matches!(named.rsplit('/').next(), Some("." | ".."));
        let named = Path::new(named);
        let name = named.file_name().filter(|_| is_name);
        let name = match (name, path.is_empty()) {
            (Some(name), _) => name.to_owned(),
            (None, true) => return Err(ErrorCode::NoEntry),
            (None, false) => return Err(ErrorCode::Invalid),
        };
        let parent = match named.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => open_dir(dir, parent)?,
            _ => dir.try_clone()?,
        };
        Ok(Self {
            parent,
            name,
            is_of_folder: path.ends_with('/'),
        })
    }

    /// Checks that what is there is no link that would lead elsewhere from another place: no guest
    /// makes such a link, but there may be one.
    ///
    /// Returns whether it is a folder.
    ///
    /// # Errors
    /// It is one, or nothing is there.
    fn check_movable(&self) -> Answer<bool> {
        let name = Path::new(&self.name);
        let kind = stat(&self.parent, name, FollowSymlinks::No)?.file_type();
        if kind.is_symlink() {
            // Also with a slash behind it, with which it would be followed here and not where it is
            // renamed.
            let target = read_link_contents(&self.parent, name)?;
            if !target.to_str().is_some_and(stays_below) {
                return Err(ErrorCode::NotPermitted);
            }
        }
        match self.is_of_folder && !kind.is_dir() {
            true => Err(ErrorCode::NotDirectory),
            false => Ok(kind.is_dir()),
        }
    }
}

/// Checks whether a link to that target leads to a place beside or below it, wherever the link is.
fn stays_below(target: &str) -> bool {
    let mut components = Path::new(target).components();
    components.all(|component| matches!(component, Component::Normal(_) | Component::CurDir))
}

#[cfg(unix)]
use special::{open_at, set_times_at};

#[cfg(unix)]
mod special {
    //! Opening of special files, which wasmtime would open unchecked: a pipe does not open until
    //! another process opens its other end, and opening a device can have an effect of its own.

    use std::time::{Duration, SystemTime};

    use cap_primitives::fs::{OpenOptions, OpenOptionsExt as _, open};
    use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
    use wasmtime_wasi::filesystem::{self as wasi, OpenMode};
    use wasmtime_wasi::p2::bindings::filesystem::types::{
        DescriptorFlags, NewTimestamp, OpenFlags,
    };

    use super::super::files_left::takes_what_is_left;
    use super::*;

    /// Options for opening a file.
    struct How {
        options: OpenOptions,
        follow: FollowSymlinks,
        is_folder: bool,
        mode: OpenMode,
    }

    impl How {
        /// Reads the options of a request, as wasmtime does. The error is for the guest.
        fn new(
            dir: &Dir,
            follow: PathFlags,
            open: OpenFlags,
            flags: DescriptorFlags,
        ) -> Answer<Self> {
            let synchronised = DescriptorFlags::FILE_INTEGRITY_SYNC
                | DescriptorFlags::DATA_INTEGRITY_SYNC
                | DescriptorFlags::REQUESTED_WRITE_SYNC;
            if flags.intersects(synchronised) {
                return Err(ErrorCode::Unsupported);
            }
            let changes = OpenFlags::CREATE | OpenFlags::EXCLUSIVE | OpenFlags::TRUNCATE;
            let is_folder = open.contains(OpenFlags::DIRECTORY);
            if is_folder && open.intersects(changes) {
                return Err(ErrorCode::Invalid);
            }
            let creates = open.contains(OpenFlags::CREATE);
            let truncates = open.contains(OpenFlags::TRUNCATE);
            let writes = flags.contains(DescriptorFlags::WRITE);
            // A file that is not opened for writing is opened for reading.
            let reads = flags.contains(DescriptorFlags::READ) || !writes;
            let mut mode = OpenMode::empty();
            mode.set(OpenMode::READ, reads);
            mode.set(OpenMode::WRITE, writes || creates || truncates);
            if dir.perms.write_not_permitted() && mode.contains(OpenMode::WRITE) {
                return Err(ErrorCode::NotPermitted);
            }
            let is_new = creates && open.contains(OpenFlags::EXCLUSIVE);
            let follow = follows(follow);
            let mut options = OpenOptions::new();
            options
                .read(reads)
                .write(mode.contains(OpenMode::WRITE))
                .create(creates && !is_new)
                .create_new(is_new)
                .truncate(truncates);
            Ok(Self {
                options,
                follow,
                is_folder,
                mode,
            })
        }
    }

    fn follows(flags: PathFlags) -> FollowSymlinks {
        match flags.contains(PathFlags::SYMLINK_FOLLOW) {
            true => FollowSymlinks::Yes,
            false => FollowSymlinks::No,
        }
    }

    /// Returns the error for a path that is neither a file nor a folder, and so is not opened.
    fn refused() -> io::Error {
        io::Error::from(rustix::io::Errno::PERM)
    }

    /// Opens a file or folder, and nothing else. Checks the kind before opening, so that other
    /// kinds are not touched; and opens without waiting and checks again, so that nothing can be
    /// put in its place meanwhile.
    fn open_plain(
        dir: &File,
        path: &Path,
        (options, follow): (&OpenOptions, FollowSymlinks),
    ) -> io::Result<File> {
        if let Ok(metadata) = stat(dir, path, follow) {
            let kind = metadata.file_type();
            if !kind.is_file() && !kind.is_dir() && !kind.is_symlink() {
                return Err(refused());
            }
        }
        let mut options = options.clone();
        let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
        options.custom_flags(nonblocking)._cap_fs_ext_follow(follow);
        let file = open(dir, path, &options)?;
        if takes_what_is_left(&file) {
            return Err(rustix::io::Errno::MFILE.into());
        }
        let kind = file.metadata()?.file_type();
        if !kind.is_file() && !kind.is_dir() {
            return Err(refused());
        }
        let flags = fcntl_getfl(&file)?;
        fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
        Ok(file)
    }

    pub(super) async fn open_at<T: FilesystemState>(
        mut store: StoreContextMut<'_, T>,
        folder: Resource<Descriptor>,
        (follow, path): (PathFlags, String),
        (open, flags): (OpenFlags, DescriptorFlags),
    ) -> wasmtime::Result<Answer<Resource<Descriptor>>> {
        if let Some(refused) = too_long(&[&path]) {
            return Ok(Err(refused));
        }
        let dir = match dir(&mut store, &folder)? {
            Ok(dir) => dir,
            Err(code) => return Ok(Err(code)),
        };
        let how = match How::new(&dir, follow, open, flags) {
            Ok(how) => how,
            Err(code) => return Ok(Err(code)),
        };
        let (perms, mode) = (dir.perms, how.mode);
        let opened = blocking(move || {
            let file = open_plain(&dir.dir, path.as_ref(), (&how.options, how.follow))?;
            let is_dir = file.metadata()?.is_dir();
            if how.is_folder && !is_dir {
                return Err(rustix::io::Errno::NOTDIR.into());
            }
            Ok((file, is_dir))
        });
        let (file, is_dir) = match opened.await? {
            Ok(opened) => opened,
            Err(code) => return Ok(Err(code)),
        };
        let descriptor = match is_dir {
            true => Descriptor::Dir(Dir::new(file, perms, mode, false)),
            false => Descriptor::File(wasi::File::new(file, perms, mode, false)),
        };
        let pushed = store.data_mut().ctx().table.push(descriptor);
        told(pushed.map_err(FsError::from))
    }

    pub(super) async fn set_times_at<T: FilesystemState>(
        mut store: StoreContextMut<'_, T>,
        folder: Resource<Descriptor>,
        (follow, path): (PathFlags, String),
        (accessed, modified): (NewTimestamp, NewTimestamp),
    ) -> wasmtime::Result<Answer<()>> {
        if let Some(refused) = too_long(&[&path]) {
            return Ok(Err(refused));
        }
        if !follow.contains(PathFlags::SYMLINK_FOLLOW) {
            let mut filesystem = store.data_mut().filesystem();
            let set = filesystem.set_times_at(folder, follow, path, accessed, modified);
            return told(set.await);
        }
        let dir = match dir(&mut store, &folder)? {
            Ok(dir) if dir.perms.write_not_permitted() => return Ok(Err(ErrorCode::NotPermitted)),
            Ok(dir) => dir,
            Err(code) => return Ok(Err(code)),
        };
        let mut times = std::fs::FileTimes::new();
        match time(accessed) {
            Ok(Some(time)) => times = times.set_accessed(time),
            Ok(None) => {}
            Err(code) => return Ok(Err(code)),
        }
        match time(modified) {
            Ok(Some(time)) => times = times.set_modified(time),
            Ok(None) => {}
            Err(code) => return Ok(Err(code)),
        }
        blocking(move || {
            // A guest that may change a file's times may not always write to it or read it.
            let open = |write: bool| {
                let mut options = OpenOptions::new();
                options.read(!write).write(write);
                open_plain(&dir.dir, path.as_ref(), (&options, FollowSymlinks::Yes))
            };
            use io::ErrorKind::{IsADirectory, PermissionDenied};
            let file = match open(true) {
                Err(error) if matches!(error.kind(), IsADirectory | PermissionDenied) => {
                    open(false)
                }
                opened => opened,
            };
            file?.set_times(times)
        })
        .await
    }

    /// Returns the time that is to be set, if one is.
    fn time(of: NewTimestamp) -> Answer<Option<SystemTime>> {
        let time = match of {
            NewTimestamp::NoChange => return Ok(None),
            NewTimestamp::Now => return Ok(Some(SystemTime::now())),
            NewTimestamp::Timestamp(time) => time,
        };
        SystemTime::UNIX_EPOCH
            .checked_add(Duration::from_secs(time.seconds))
            .and_then(|at| at.checked_add(Duration::from_nanos(time.nanoseconds.into())))
            .map(Some)
            .ok_or(ErrorCode::Overflow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_what_is_beside_or_below_them() {
        for (target, stays) in [
            ("a", true),
            ("./a/b", true),
            ("a/./b/", true),
            ("..", false),
            ("a/../b", false),
            ("../a", false),
            ("a/b/..", false),
            ("/", false),
            ("/etc", false),
        ] {
            assert_eq!(stays_below(target), stays, "{target}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_way_of_a_target_leads_through_no_link_that_leads_out() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/file"), "").unwrap();
        for (target, link) in [
            ("..", "a/up"),
            ("/etc", "etc"),
            ("a", "below"),
            ("below/up", "chain"),
            ("loop", "loop"),
            ("nothing", "dangling"),
        ] {
            symlink(target, root.join(link)).unwrap();
        }
        for (target, is_fine) in [
            ("a/file", true),
            ("a/b/new/x", true),
            ("new", true),
            ("below/file", true),
            ("a/file/x", true),
            ("dangling/x", true),
            ("a/up", false),
            ("a/up/x", false),
            ("below/up/x", false),
            ("etc", false),
            ("etc/passwd", false),
            ("chain", false),
            ("chain/x", false),
        ] {
            let dir = File::open(root).unwrap();
            let checked = check_way(dir, Path::new(target), &mut 0);
            assert_eq!(checked.is_ok(), is_fine, "{target}");
        }
        // It ends.
        let looped = check_way(File::open(root).unwrap(), Path::new("loop/x"), &mut 0);
        assert_eq!(looped, Err(ErrorCode::NotPermitted));
    }

    /// Another call of the guest's may exchange folders between a look at a link and its move.
    #[cfg(unix)]
    #[test]
    fn what_is_moved_is_what_was_looked_at() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let dir = File::open(root).unwrap();
        for folder in ["harmless", "links"] {
            std::fs::create_dir(root.join(folder)).unwrap();
        }
        std::fs::write(root.join("harmless/l"), "file").unwrap();
        symlink("..", root.join("links/l")).unwrap();
        symlink("/etc", root.join("links/root")).unwrap();
        symlink("l", root.join("links/beside")).unwrap();
        let place = |path| Place::open(&dir, path);
        let (from, to) = (place("harmless/l").unwrap(), place("moved").unwrap());
        std::fs::rename(root.join("harmless"), root.join("away")).unwrap();
        std::fs::rename(root.join("links"), root.join("harmless")).unwrap();
        from.check_movable().unwrap();
        rename(
            &from.parent,
            from.name.as_ref(),
            &to.parent,
            to.name.as_ref(),
        )
        .unwrap();
        assert_eq!(std::fs::read_to_string(root.join("moved")).unwrap(), "file");
        assert!(root.join("harmless/l").is_symlink());
        for (path, code) in [
            ("harmless/l", ErrorCode::NotPermitted),
            ("harmless/l/", ErrorCode::NotPermitted),
            ("harmless/root", ErrorCode::NotPermitted),
            ("harmless/beside/", ErrorCode::NotDirectory),
            ("harmless/nothing", ErrorCode::NoEntry),
        ] {
            let refused = place(path).unwrap().check_movable().unwrap_err();
            assert_eq!(refused, code, "{path}");
        }
        for path in ["harmless/beside", "harmless/", "./harmless"] {
            place(path).unwrap().check_movable().unwrap();
        }
        for path in ["", ".", "..", "/", "harmless/.", "harmless/..", "nothing/x"] {
            assert!(place(path).is_err(), "{path}");
        }
    }
}
