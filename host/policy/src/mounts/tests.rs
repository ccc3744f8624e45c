//! Paths that lead to one place, by the mounts of systems.

use super::*;

const TEXT: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
24 27 0:6 / /dev rw,relatime - devtmpfs devtmpfs rw,size=4k
25 24 0:23 / /dev/shm rw,relatime - tmpfs tmpfs rw
27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw
30 25 0:27 / /dev/shm rw,relatime - tmpfs tmpfs rw
41 27 254:0 /home/u/.config/dm /home/u/granted/sub rw - ext4 /dev/vda rw
42 27 8:1 /vol\\040one /home/u/.local rw - xfs /dev/sdb rw
43 27 8:1 / /mnt/all rw - xfs /dev/sdb rw
44 42 9:1 /backups /home/u/.local/data/backups rw - xfs /dev/sdc rw
45 27 9:1 /backups/deep /srv/copy rw - xfs /dev/sdc rw
no line
46 x 1:2 / /x rw
47 27 1 / /x rw
48 27 0:4 net:[4026532] /run/netns/a rw - nsfs nsfs rw
";

fn mounts() -> Mounts {
    Mounts::parse(TEXT.as_bytes())
}

fn location(mounts: &Mounts, path: &str) -> Option<(u32, u32, PathBuf)> {
    let path = Path::new(path);
    let mut above: Vec<_> = path.ancestors().collect();
    above.reverse();
    let mount = above
        .into_iter()
        .fold(None, |above, path| mounts.enter(above, path));
    let MountedPath { filesystem, path } = mounts.location(mount?, path)?;
    Some((filesystem.major, filesystem.minor, path))
}

#[test]
fn a_path_leads_into_the_last_mount_on_its_way() {
    let mounts = mounts();
    assert_eq!(mounts.mounts.len(), 11);
    for (path, major, minor, expected) in [
        ("/", 254, 0, "/"),
        ("/home/u", 254, 0, "/home/u"),
        ("/home/u/granted/sub/x", 254, 0, "/home/u/.config/dm/x"),
        ("/home/u/granted/subs", 254, 0, "/home/u/granted/subs"),
        ("/dev/shm/x", 0, 27, "/x"),
        ("/home/u/.local/data", 8, 1, "/vol one/data"),
        ("/mnt/all/vol one", 8, 1, "/vol one"),
        ("/home/u/.local/data/backups/a", 9, 1, "/backups/a"),
    ] {
        let expected = Some((major, minor, expected.into()));
        assert_eq!(location(&mounts, path), expected, "{path}");
    }
    assert_eq!(location(&Mounts::default(), "/home"), None);
    // Of a mount that another one covers nothing is seen any more.
    let covered = format!("{TEXT}49 27 7:7 / /home rw - xfs x rw\n50 27 7:8 / / rw - xfs x rw\n");
    let covered = Mounts::parse(covered.as_bytes());
    assert_eq!(
        location(&covered, "/home/u/.local"),
        Some((7, 8, "/home/u/.local".into()))
    );
    // One that is mounted on itself ends.
    let circle = Mounts::parse(b"1 1 0:1 / / rw\n2 3 0:2 / /a rw\n3 2 0:3 / /a rw\n");
    assert_eq!(location(&circle, "/"), Some((0, 1, "/".into())));
    assert_eq!(location(&circle, "/a"), Some((0, 1, "/a".into())));
}

#[test]
fn what_is_reached_is_told_whatever_its_path_is() {
    let mounts = mounts();
    let at = |path: &str| {
        let (major, minor, path) = location(&mounts, path).unwrap();
        let filesystem = Filesystem { major, minor };
        MountedPath { filesystem, path }
    };
    for (folder, own, contains, has_within) in [
        ("/home/u/granted", "/home/u/.config/dm", true, true),
        ("/home/u/granted", "/home/u/.config/dm/file", true, false),
        ("/home/u/granted", "/home/u/.config", false, true),
        ("/home/u/granted", "/home/u/.config/dmx", false, false),
        ("/home/u/granted", "/home/u/.confi", false, false),
        ("/home/u/granted/sub", "/home/u/.config/dm", true, true),
        ("/home/u/granted/sub/in", "/home/u/.config/dm", false, true),
        ("/home/u/granted/other", "/home/u/.config/dm", false, false),
        ("/mnt/all", "/home/u/.local/data", true, false),
        ("/mnt", "/home/u/.local/data", true, false),
        ("/mnt/all/other", "/home/u/.local/data", false, false),
        ("/srv/copy/x", "/home/u/.local/data/backups", false, true),
        ("/srv", "/home/u/.local/data/backups", false, true),
    ] {
        let reached = mounts.reached(Path::new(folder));
        let found = (reached.contains(&at(own)), reached.has_within(&at(own)));
        assert_eq!(found, (contains, has_within), "{folder} and {own}");
    }
}

#[test]
fn many_mounts_take_linear_time() {
    let several: fn(usize) -> String = |number| format!("/b/{number}");
    let one: fn(usize) -> String = |_| "/b".to_owned();
    for (what, at) in [
        ("mounts at many paths", several),
        ("mounts at one path", one),
    ] {
        let input = |size| {
            let line = |number| {
                format!(
                    "{} {} 0:1 /a/{number} {} rw\n",
                    number + 2,
                    number + 1,
                    at(number)
                )
            };
            let lines: String = (0..size).map(line).collect();
            format!("1 0 0:1 / / rw\n{lines}")
        };
        dormouse_tests::growth::is_linear(what, 500, input, |text| {
            let mounts = Mounts::parse(text.as_bytes());
            let reached = mounts.reached(Path::new("/b"));
            let own = mounts.all().filter(|(_, own)| reached.contains(own));
            assert_eq!(own.count(), text.lines().count() - 1);
        });
    }
}

#[test]
fn escaped_characters_are_read() {
    for (written, path) in [
        ("/a\\040b\\134c\\012", "/a b\\c\n"),
        ("/a\\", "/a\\"),
        ("/a\\04", "/a\\04"),
        ("/a\\089", "/a\\089"),
        ("/\\303\\244", "/ä"),
    ] {
        assert_eq!(unescaped(written.as_bytes()), Path::new(path), "{written}");
    }
}
