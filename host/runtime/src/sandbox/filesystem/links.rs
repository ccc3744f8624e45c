//! Links that guests make, none of which leads out of its folder.

use std::fs::File;
use std::io;
use std::path::Path;

use cap_primitives::fs::{FollowSymlinks, open_dir, read_link_contents, stat};
use wasmtime::StoreContextMut;
use wasmtime::component::Resource;
use wasmtime_wasi::filesystem::{Descriptor, WasiFilesystemView as _};
use wasmtime_wasi::p2::bindings::filesystem::types::{ErrorCode, HostDescriptor as _};

use super::place::{NameInFolder, stays_below};
use super::{FilesystemResult, FilesystemState, dir, told, too_long};

/// Makes a link, if its target is beside or below it, also where it leads through other links: with
/// `..` in a target, it would lead out of the grant once it is moved, for other programs that follow
/// it.
pub(super) async fn symlink_at<T: FilesystemState>(
    mut store: StoreContextMut<'_, T>,
    folder: Resource<Descriptor>,
    target: String,
    path: String,
) -> wasmtime::Result<FilesystemResult<()>> {
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
        let place = NameInFolder::open(&from.dir, &link)?;
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
fn check_way(mut folder: File, target: &Path, links: &mut u32) -> FilesystemResult<()> {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
