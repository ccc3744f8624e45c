//! Changes that are noticed, whenever they are made.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dormouse_tests::artifacts;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use crate::{Identity, JudgedAt, OpenFolder, OwnPlace, OwnPlaceList, OwnPlaces, ResolvedPlaces};

/// A folder in which nobody else makes anything meanwhile, as other tests do in that for temporary files.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir_in(artifacts::target()).unwrap();
    let root = folder.path().canonicalize().unwrap();
    (folder, root)
}

fn place(path: PathBuf) -> OwnPlace {
    let what = "a test's".to_owned();
    OwnPlace { path, what }
}

/// Whether a folder may be granted, and which it is.
type Decision = Option<(Identity, bool)>;

fn decide(granted: &Path, own: &ResolvedPlaces) -> Decision {
    let open = OpenFolder::open(granted).ok()?;
    let overlaps = own.overlapping(&open).is_some();
    Some((open.identity()?.clone(), overlaps))
}

fn judge(own: &OwnPlaces, granted: &Path) -> (Decision, Option<JudgedAt>) {
    let judged = own.judge(&[granted], |own| Ok::<_, ()>(decide(granted, own)));
    judged.unwrap()
}

/// Own places of which some depend on entries of a folder, on a text in a file and on whether a folder is
/// there.
fn own_places(root: &Path, version: &Arc<AtomicU64>) -> OwnPlaces {
    let (root, version) = (root.to_owned(), Arc::clone(version));
    let list = move || {
        let places = ["home/.config/dm", "home/linked", "home/none/yet"];
        let mut places: Vec<_> = places.map(|name| place(root.join(name))).into();
        let read = ["home/listed", "home/names"].map(|name| root.join(name));
        for entry in std::fs::read_dir(&read[0]).into_iter().flatten().flatten() {
            places.push(place(entry.path().join("file")));
        }
        let names = std::fs::read_to_string(&read[1]).unwrap_or_default();
        places.extend(names.lines().map(|name| place(root.join(name))));
        OwnPlaceList {
            places,
            read: read.into(),
            looked_at: vec![root.join("run")],
            ..OwnPlaceList::default()
        }
    };
    OwnPlaces::new(list).with_version(move || version.load(Ordering::Acquire))
}

fn home() -> (tempfile::TempDir, PathBuf) {
    let (keep, root) = folder();
    for path in ["home/.config/dm", "home/listed/a", "dots", "at/notes/deep"] {
        std::fs::create_dir_all(root.join(path)).unwrap();
    }
    std::fs::create_dir_all(root.join("other/deep")).unwrap();
    std::fs::write(root.join("dots/file"), "").unwrap();
    std::fs::write(root.join("home/names"), "dots/file\n").unwrap();
    symlink("first", root.join("home/linked")).unwrap();
    symlink("../dots/second", root.join("home/first")).unwrap();
    symlink("file", root.join("dots/second")).unwrap();
    symlink("../../other", root.join("home/listed/b")).unwrap();
    (keep, root)
}

type Change = fn(&Path);

const NOTICED: [(&str, Change); 19] = [
    ("an own folder is moved", |root| {
        std::fs::rename(root.join("home/.config/dm"), root.join("at/notes/dm")).unwrap();
    }),
    ("a folder above it is moved", |root| {
        std::fs::rename(root.join("home"), root.join("moved")).unwrap();
    }),
    ("two folders are exchanged", |root| {
        let [one, other] = ["home/.config", "other"].map(|name| root.join(name));
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
    }),
    ("what was not there is made", |root| {
        std::fs::create_dir(root.join("home/none")).unwrap();
    }),
    ("it is made a link", |root| {
        symlink("../at/notes", root.join("home/none")).unwrap();
    }),
    ("a link in the middle leads elsewhere", |root| {
        std::fs::write(root.join("at/notes/file"), "").unwrap();
        std::fs::remove_file(root.join("dots/second")).unwrap();
        symlink("../at/notes/file", root.join("dots/second")).unwrap();
    }),
    ("a link is replaced by another at once", |root| {
        symlink("../at/notes/file", root.join("dots/new")).unwrap();
        std::fs::rename(root.join("dots/new"), root.join("dots/second")).unwrap();
    }),
    ("the granted folder is moved", |root| {
        std::fs::rename(root.join("at/notes"), root.join("other/notes")).unwrap();
    }),
    ("it is moved and put back", |root| {
        std::fs::rename(root.join("at/notes"), root.join("other/notes")).unwrap();
        std::fs::rename(root.join("other/notes"), root.join("at/notes")).unwrap();
    }),
    ("a folder above it is moved", |root| {
        std::fs::rename(root.join("at"), root.join("home/.config/dm/at")).unwrap();
    }),
    ("it is removed", |root| {
        std::fs::remove_dir_all(root.join("at/notes")).unwrap();
    }),
    ("a listed folder has one more entry", |root| {
        symlink("../../at/notes", root.join("home/listed/c")).unwrap();
    }),
    ("where an entry of it leads to is changed", |root| {
        std::fs::rename(root.join("other"), root.join("away")).unwrap();
        symlink("at/notes", root.join("other")).unwrap();
    }),
    ("a file that was read says something else", |root| {
        use std::io::Write as _;
        let mut names = std::fs::File::options();
        let mut names = names.append(true).open(root.join("home/names")).unwrap();
        writeln!(names, "at/notes/file").unwrap();
    }),
    ("it is replaced", |root| {
        std::fs::write(root.join("home/new"), "at/notes/file\n").unwrap();
        std::fs::rename(root.join("home/new"), root.join("home/names")).unwrap();
    }),
    ("nobody may look into a folder any more", |root| {
        let mode = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(root.join("home/.config"), mode).unwrap();
    }),
    ("a name of other capitals is made", |root| {
        std::fs::write(root.join("home/NONE"), "").unwrap();
    }),
    ("a name is made that nobody knows how to compare", |root| {
        std::fs::write(root.join("home/ä"), "").unwrap();
    }),
    ("what was looked at is there now", |root| {
        std::fs::create_dir(root.join("run")).unwrap();
    }),
];

#[test]
fn each_change_of_what_was_judged_by_is_noticed() {
    for (what, change) in NOTICED {
        let (_keep, root) = home();
        let version = Arc::new(AtomicU64::new(0));
        let own = own_places(&root, &version);
        let granted = root.join("at/notes");
        let (decision, at) = judge(&own, &granted);
        assert!(matches!(decision, Some((_, false))), "{what}");
        let at = at.expect("a filesystem of whose changes the system tells");
        assert!(own.holds(at) && own.holds(at), "{what}");
        // Another judgement by the same takes nothing from this one.
        let (_, again) = judge(&own, &root.join("other"));
        assert!(again == Some(at) && own.holds(at), "{what}");
        change(&root);
        assert!(!own.holds(at), "{what}");
        assert!(!own.holds(at), "{what}");
        let fresh = decide(&granted, &own.resolved());
        assert_eq!(judge(&own, &granted).0, fresh, "{what}");
    }
    // What is not on disk has a number.
    let (_keep, root) = home();
    let version = Arc::new(AtomicU64::new(0));
    let own = own_places(&root, &version);
    let (_, at) = judge(&own, &root.join("at/notes"));
    version.fetch_add(1, Ordering::Release);
    assert!(!own.holds(at.unwrap()));
}

#[test]
fn what_is_written_elsewhere_changes_nothing() {
    let (_keep, root) = home();
    let own = own_places(&root, &Arc::default());
    let (_, at) = judge(&own, &root.join("at/notes"));
    for path in [
        "at/notes/new",
        "at/notes/deep/new",
        "other/deep/new",
        "home/.config/dm/new",
        // Beside names that were looked up.
        "home/new",
        "dots/new",
        "new",
    ] {
        std::fs::write(root.join(path), "new").unwrap();
        std::fs::remove_file(root.join(path)).unwrap();
    }
    std::fs::create_dir(root.join("at/notes/deep/er")).unwrap();
    std::fs::rename(root.join("at/notes/deep"), root.join("at/notes/moved")).unwrap();
    std::fs::write(root.join("dots/file"), "written").unwrap();
    assert!(own.holds(at.unwrap()));
}

/// What cannot be watched is judged each time.
#[test]
fn what_the_system_tells_nothing_of_never_holds() {
    let own = OwnPlaces::new(|| vec![place("/proc/self/fd".into())]);
    let (_keep, root) = home();
    assert_eq!(judge(&own, &root.join("at/notes")).1, None);
    let own = OwnPlaces::new(|| vec![place("relative".into())]);
    assert_eq!(judge(&own, &root.join("at/notes")).1, None);
    let own = OwnPlaces::new(|| vec![place("/proc/self".into())]);
    assert_eq!(judge(&own, Path::new("/proc/self/fd")).1, None);
    assert_ne!(judge(&own, &root.join("at/notes")).1, None);
}

/// Changes in an order that a number decides.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        usize::try_from(self.0 >> 33).unwrap() % end
    }

    /// Changes something in a folder, if that is possible.
    fn change(&mut self, root: &Path) {
        const NAMES: [&str; 11] = [
            "own", "own/x", "own/x/z", "l", "l/y", "g", "g/h", "g/h/i", "m", "m/n", "m/n/x",
        ];
        const TARGETS: [&str; 7] = ["g", "g/h", "../g/h", "h", "own", "../m/n", "nothing"];
        let one = root.join(NAMES[self.below(NAMES.len())]);
        let other = root.join(NAMES[self.below(NAMES.len())]);
        // Most of these fail in most states.
        let _ = match self.below(8) {
            0 | 1 => std::fs::create_dir(one),
            2 => std::fs::remove_dir(one),
            3 => std::fs::rename(one, other),
            4 => renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).map_err(Into::into),
            5 => symlink(TARGETS[self.below(TARGETS.len())], one),
            6 => std::fs::remove_file(one),
            _ => std::fs::write(one, ""),
        };
    }
}

fn of_random(root: &Path) -> (OwnPlaces, PathBuf) {
    let places = ["own/x", "l/y", "m"].map(|name| root.join(name));
    let own = OwnPlaces::new(move || OwnPlaceList {
        places: places.clone().map(place).into(),
        read: vec![places[2].clone()],
        ..OwnPlaceList::default()
    });
    (own, root.join("g/h"))
}

#[test]
fn whatever_happens_what_holds_is_what_would_be_judged_now() {
    let mut held = 0;
    for seed in 0..20 {
        let (_keep, root) = folder();
        let (own, granted) = of_random(&root);
        let mut random = Random(seed);
        let mut last = None;
        for step in 0..300 {
            random.change(&root);
            let decision = match last.clone().filter(|(_, at)| own.holds(*at)) {
                Some((decision, _)) => {
                    held += 1;
                    decision
                }
                None => {
                    let (decision, at) = judge(&own, &granted);
                    last = at.map(|at| (decision.clone(), at));
                    decision
                }
            };
            let fresh = decide(&granted, &own.resolved());
            assert_eq!(decision, fresh, "seed {seed}, step {step}");
        }
    }
    assert!(held > 500, "{held} of 6000 held");
}

#[test]
fn what_is_changed_while_it_is_judged_does_not_hold() {
    let (mut held, mut judged) = (0, 0);
    for seed in 0..100 {
        let (_keep, root) = folder();
        for path in ["own/x", "g/h", "l", "m/n"] {
            std::fs::create_dir_all(root.join(path)).unwrap();
        }
        let (own, granted) = of_random(&root);
        // Later judgements find some of it watched.
        let mut random = Random(1000 + seed);
        for _ in 0..4 {
            let is_over = AtomicBool::new(false);
            let (decision, at) = std::thread::scope(|scope| {
                scope.spawn(|| {
                    for _ in 0..30 {
                        random.change(&root);
                        if is_over.load(Ordering::Relaxed) {
                            break;
                        }
                    }
                });
                let judged = judge(&own, &granted);
                is_over.store(true, Ordering::Relaxed);
                judged
            });
            let Some(at) = at else { continue };
            judged += 1;
            if own.holds(at) {
                held += 1;
                let fresh = decide(&granted, &own.resolved());
                assert_eq!(decision, fresh, "seed {seed}");
            }
        }
    }
    println!("{held} held of {judged} judgements");
}
