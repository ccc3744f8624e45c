use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// A folder with files, and the grant of it.
struct Home {
    _dir: tempfile::TempDir,
    root: String,
}

impl Home {
    fn new() -> Self {
        let (dir, root) = crate::fixture::folder();
        fs::create_dir_all(format!("{root}/in/sub")).unwrap();
        fs::create_dir_all(format!("{root}/also")).unwrap();
        fs::create_dir_all(format!("{root}/out")).unwrap();
        fs::write(format!("{root}/in/a.txt"), "a").unwrap();
        fs::write(format!("{root}/also/b.txt"), "b").unwrap();
        fs::write(format!("{root}/out/secret"), "s").unwrap();
        Self { _dir: dir, root }
    }

    fn folders(&self) -> Folders {
        Folders::new(
            vec![
                Folder {
                    path: format!("{}/in/", self.root),
                    writable: true,
                },
                Folder {
                    path: format!("{}/also", self.root),
                    writable: false,
                },
            ],
            None,
        )
    }

    fn path(&self, rest: &str) -> String {
        format!("{}/{rest}", self.root)
    }

    fn resolve(&self, path: &str) -> Result<String, String> {
        self.folders()
            .resolve(path)
            .map_err(|error| error.to_string())
    }
}

#[test]
fn paths_inside_are_found_however_they_are_written() {
    let home = Home::new();
    for written in [
        "in/a.txt",
        "in/./a.txt",
        "in//a.txt",
        "in/sub/../a.txt",
        "in/a.txt/",
        "out/../in/a.txt",
    ] {
        assert_eq!(
            home.resolve(&home.path(written)).unwrap(),
            home.path("in/a.txt"),
            "{written}"
        );
    }
    assert_eq!(home.resolve("a.txt").unwrap(), home.path("in/a.txt"));
    assert_eq!(home.resolve("").unwrap(), home.path("in"));
    assert_eq!(
        home.resolve("../also/b.txt").unwrap(),
        home.path("also/b.txt")
    );
    assert_eq!(
        home.resolve(&home.path("in/new/deep/file")).unwrap(),
        home.path("in/new/deep/file")
    );
}

#[test]
fn paths_outside_are_refused_in_the_words_of_the_reference() {
    let home = Home::new();
    let allowed = format!("{}, {}", home.path("in"), home.path("also"));
    for outside in ["out/secret", "in/../out/secret", "in-between", "in/../.."] {
        let absolute = normalize("/", &home.path(outside));
        assert_eq!(
            home.resolve(&home.path(outside)).unwrap_err(),
            format!(
                "Access denied - path outside allowed directories: {absolute} not in {allowed}"
            )
        );
    }
    assert!(
        home.resolve("/")
            .unwrap_err()
            .starts_with("Access denied - path outside")
    );
    assert!(
        home.resolve(&home.path("in/a\0b"))
            .unwrap_err()
            .starts_with("Access denied - path outside")
    );
    for windows in ["C:\\Users\\me", "c:/x", "D:"] {
        assert_eq!(
            home.resolve(windows).unwrap_err(),
            format!("Access denied - Windows-style path received on a POSIX host: {windows}")
        );
    }
    let nothing = Folders::default().resolve("/x").unwrap_err().to_string();
    assert!(
        nothing.contains("dormouse grant SERVER --grant-fs"),
        "{nothing}"
    );
}

#[test]
fn links_are_followed_inside_and_refused_outside() {
    let home = Home::new();
    symlink("a.txt", home.path("in/near")).unwrap();
    symlink("../../also", home.path("in/sub/across")).unwrap();
    symlink("../out/secret", home.path("in/away")).unwrap();
    symlink(home.path("out"), home.path("in/absolute")).unwrap();
    symlink("nowhere", home.path("in/dangling")).unwrap();
    symlink("loop", home.path("in/loop")).unwrap();
    assert_eq!(
        home.resolve(&home.path("in/near")).unwrap(),
        home.path("in/a.txt")
    );
    assert_eq!(
        home.resolve(&home.path("in/sub/across/b.txt")).unwrap(),
        home.path("also/b.txt")
    );
    assert_eq!(
        home.resolve(&home.path("in/sub/across/new")).unwrap(),
        home.path("also/new")
    );
    let allowed = format!("{}, {}", home.path("in"), home.path("also"));
    assert_eq!(
        home.resolve(&home.path("in/away")).unwrap_err(),
        format!(
            "Access denied - symlink target outside allowed directories: {} not in {allowed}",
            home.path("out/secret")
        )
    );
    assert!(
        home.resolve(&home.path("in/absolute/secret"))
            .unwrap_err()
            .contains("symlink target outside")
    );
    assert_eq!(
        home.resolve(&home.path("in/dangling")).unwrap_err(),
        format!("Parent directory does not exist: {}", home.path("in"))
    );
    assert_eq!(
        home.resolve(&home.path("in/loop")).unwrap_err(),
        format!(
            "ELOOP: too many symbolic links encountered, realpath '{}'",
            home.path("in/loop")
        )
    );
    assert_eq!(
        home.resolve(&home.path("in/a.txt/x")).unwrap_err(),
        format!(
            "ENOTDIR: not a directory, realpath '{}'",
            home.path("in/a.txt/x")
        )
    );
}

#[test]
fn home_is_expanded_where_it_is_known() {
    let home = Home::new();
    assert!(
        home.resolve("~/a.txt")
            .unwrap_err()
            .contains("--grant-env HOME")
    );
    let mut folders = home.folders();
    folders.home = Some(home.path("in"));
    assert_eq!(folders.resolve("~/a.txt").unwrap(), home.path("in/a.txt"));
    assert_eq!(folders.resolve("~").unwrap(), home.path("in"));
    assert_eq!(folders.resolve("~other").unwrap(), home.path("in/~other"));
}

#[test]
fn the_innermost_folder_decides_about_writing() {
    let folder = |path: &str, writable| Folder {
        path: path.to_owned(),
        writable,
    };
    let folders = Folders::new(
        vec![
            folder("/", false),
            folder("/a", true),
            folder("/a/b", false),
        ],
        None,
    );
    assert!(!folders.is_writable("/x"));
    assert!(folders.is_writable("/a"));
    assert!(folders.is_writable("/a/bc"));
    let error = folders.check_writable("/a/b/c").unwrap_err().to_string();
    assert!(
        error.contains("`/a/b` is granted read-only") && error.contains("--grant-fs FOLDER:rw"),
        "{error}"
    );
}

#[test]
fn names_match_however_they_are_composed() {
    let home = Home::new();
    fs::write(home.path("in/cafe\u{301}"), "").unwrap();
    assert_eq!(
        home.resolve(&home.path("in/caf\u{e9}")).unwrap(),
        home.path("in/cafe\u{301}")
    );
    fs::create_dir(home.path("in/u\u{308}\u{323}")).unwrap();
    fs::create_dir(home.path("in/u\u{323}\u{308}")).unwrap();
    let both = home.resolve(&home.path("in/\u{1ee5}\u{308}")).unwrap_err();
    assert_eq!(both, "Ambiguous Unicode path component: \u{1ee5}\u{308}");
    assert_eq!(
        home.resolve(&home.path("in/\u{e8}")).unwrap(),
        home.path("in/\u{e8}")
    );
}
