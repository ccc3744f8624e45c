//! Components from the compile cache, and what is not taken from there.

use std::path::{Path, PathBuf};

use super::{ODD, place, runtime};
use crate::ComponentLocation;

fn compiled(cache: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(cache.join("components")).unwrap();
    files
        .find_map(|file| {
            Some(file.unwrap().path())
                .filter(|path| path.extension().is_some_and(|kind| kind == "cwasm"))
        })
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_cache_entry_is_compiled_again() {
    let place = place();
    place
        .good(&runtime(place.cache()).slot(place.target()))
        .await;
    let second = runtime(place.cache());
    place.good(&second.slot(place.target())).await;
    assert_eq!(
        (second.counts().compiled, second.counts().cache_hits),
        (0, 1)
    );
    let file = compiled(&place.cache());
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    // Another file under its name: the one that is mapped must not be cut.
    std::fs::remove_file(&file).unwrap();
    std::fs::write(&file, bytes).unwrap();
    let third = runtime(place.cache());
    place.good(&third.slot(place.target())).await;
    assert_eq!((third.counts().compiled, third.counts().cache_hits), (1, 0));
    assert!(third.clean_cache().unwrap() > 0);
    assert_eq!(third.clean_cache().unwrap(), 0);
}

/// Copies a cache file by file, so that no mapped file is truncated.
fn copied(from: &Path, to: &Path) {
    let (from, to) = (from.join("components"), to.join("components"));
    dormouse_files::replace::make_folder(&to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let path = file.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
}

/// An entry that is not byte for byte the one that this user's Dormouse has kept, under this name
/// and with this key, is compiled again and replaced.
#[tokio::test(flavor = "multi_thread")]
async fn a_cache_entry_that_is_not_its_own_is_compiled_again() {
    let place = place();
    let kept = place.dir.path().join("kept");
    place
        .good(&runtime(kept.clone()).slot(place.target()))
        .await;
    // Another component with the same functions, and its entry.
    let other = place.dir.path().join("other");
    let path = place.dir.path().join("other.wasm");
    let code = ODD.replace("60000", "50000");
    std::fs::write(&path, wat::parse_str(code).unwrap()).unwrap();
    let mut target = place.target();
    target.code = ComponentLocation::File(path, None);
    copied(&kept, &other);
    std::fs::remove_file(compiled(&other)).unwrap();
    place.good(&runtime(other.clone()).slot(target)).await;
    let code = std::fs::read(compiled(&kept)).unwrap();
    let of_other = std::fs::read(compiled(&other)).unwrap();
    assert_ne!(code, of_other);
    let mac = std::fs::read(compiled(&kept).with_extension("mac")).unwrap();
    let mac_of_other = std::fs::read(compiled(&other).with_extension("mac")).unwrap();
    let flipped = |bytes: &[u8], at: usize| {
        let mut bytes = bytes.to_vec();
        bytes[at] ^= 1;
        bytes
    };
    let [half, last] = [code.len() / 2, code.len() - 1];
    let (mut longer_code, mut longer_mac) = (code.clone(), mac.clone());
    longer_code.push(0);
    longer_mac.push(0);
    type Change<'c> = (&'c str, Vec<u8>);
    let mut changes: Vec<Change<'_>> = vec![
        ("cwasm", Vec::new()),
        ("cwasm", code[..half].to_vec()),
        ("cwasm", code[..last].to_vec()),
        ("cwasm", longer_code),
        ("cwasm", of_other.clone()),
        ("mac", Vec::new()),
        ("mac", mac[..31].to_vec()),
        ("mac", longer_mac),
        ("mac", vec![0; 32]),
        ("mac", mac_of_other),
        ("key", vec![7; 32]),
    ];
    changes.extend((0..32).step_by(5).map(|at| ("mac", flipped(&mac, at))));
    let step = (code.len() / 8).max(1);
    changes.extend(
        (0..code.len())
            .step_by(step)
            .map(|at| ("cwasm", flipped(&code, at))),
    );
    for (number, (kind, bytes)) in changes.into_iter().enumerate() {
        let cache = place.dir.path().join(format!("cache{number}"));
        copied(&kept, &cache);
        let control = runtime(cache.clone());
        place.good(&control.slot(place.target())).await;
        assert_eq!(
            control.counts().cache_hits,
            1,
            "{number}: the copy is no copy"
        );
        let file = match kind {
            "key" => cache.join("components/key"),
            kind => compiled(&cache).with_extension(kind),
        };
        // Another file under its name: the one that is mapped must not be cut.
        std::fs::remove_file(&file).unwrap();
        let replaced = dormouse_files::replace::replace(
            &file,
            &bytes,
            dormouse_files::replace::Access::Private,
        );
        replaced.unwrap();
        for (expected, what) in [((1, 0), "changed"), ((0, 1), "mended")] {
            let runtime = runtime(cache.clone());
            place.good(&runtime.slot(place.target())).await;
            let counts = runtime.counts();
            assert_eq!(
                (counts.compiled, counts.cache_hits),
                expected,
                "{number} {kind} {what}"
            );
        }
    }
    // Both halves of another component's entry, under this one's name.
    let cache = place.dir.path().join("swapped");
    copied(&kept, &cache);
    let own = compiled(&cache);
    for kind in ["cwasm", "mac"] {
        let file = own.with_extension(kind);
        std::fs::remove_file(&file).unwrap();
        std::fs::copy(compiled(&other).with_extension(kind), file).unwrap();
    }
    let swapped = runtime(cache);
    place.good(&swapped.slot(place.target())).await;
    assert_eq!(
        (swapped.counts().compiled, swapped.counts().cache_hits),
        (1, 0)
    );
}

/// Returns a component with too many core instances for any pool.
fn crowded() -> String {
    let instances = "(core instance (instantiate $empty))".repeat(40);
    ODD.replacen(
        "(component",
        &format!("(component (core module $empty) {instances}"),
        1,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_fit_the_pool_is_compiled_once_for_all_hosts() {
    let place = place();
    std::fs::write(&place.path, wat::parse_str(crowded()).unwrap()).unwrap();
    for (host, compiled) in [("first", 1), ("second", 0), ("third", 0)] {
        let runtime = runtime(place.cache());
        let slot = runtime.slot(place.target());
        place.good(&slot).await;
        // Nor is it compiled again after it was idle.
        slot.stop();
        place.good(&slot).await;
        let counts = runtime.counts();
        assert_eq!((counts.compiled, counts.engines), (compiled, 2), "{host}");
    }
}
