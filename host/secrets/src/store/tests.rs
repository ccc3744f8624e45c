//! Named secrets where no keyring runs: `.cargo/config.toml` switches it off in these tests.

use super::*;

const TEXT: &str = "canary-7c1f2a9e";

fn store() -> (tempfile::TempDir, SecretStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = SecretStore::open(&folder.path().join("data"));
    (folder, store)
}

fn set(store: &SecretStore, name: &str, text: &str) {
    let place = store.set(name, &Secret::new(text)).unwrap();
    assert_eq!(place, SecretPlace::File);
}

fn text(store: &SecretStore, name: &str) -> Option<String> {
    let text = store.get(name).unwrap();
    text.map(|text| text.expose().to_owned())
}

fn files(store: &SecretStore) -> Vec<PathBuf> {
    let folders = [store.data.clone(), store.folder()];
    let entries = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_file()).collect()
}

#[test]
fn a_secret_is_kept_changed_listed_and_removed() {
    let (_folder, store) = store();
    assert_eq!(text(&store, "token"), None);
    assert!(!store.contains("token").unwrap());
    assert!(!store.remove("token").unwrap());
    assert!(store.list().unwrap().is_empty());
    // Nobody has kept anything, so nothing was made.
    assert!(!store.data.exists());

    set(&store, "token", TEXT);
    set(&store, "Token", "another");
    let first = store.version("token").unwrap().unwrap();
    assert_eq!(text(&store, "token").as_deref(), Some(TEXT));
    set(&store, "token", "new");
    assert_eq!(text(&store, "token").as_deref(), Some("new"));
    assert_eq!(text(&store, "Token").as_deref(), Some("another"));
    assert_ne!(store.version("token").unwrap().unwrap(), first);

    let names: Vec<_> = store
        .list()
        .unwrap()
        .into_iter()
        .map(|one| one.name)
        .collect();
    assert_eq!(names, ["Token", "token"]);
    assert!(store.remove("token").unwrap());
    assert_eq!(text(&store, "token"), None);
    assert_eq!(store.version("token").unwrap(), None);
    assert_eq!(text(&store, "Token").as_deref(), Some("another"));
}

/// `secret set` that is killed leaves the text, encrypted with the key that is beside it.
#[cfg(unix)]
#[test]
fn what_killed_processes_have_left_is_gone_after_the_next_change() {
    let (_folder, store) = store();
    set(&store, "token", TEXT);
    let left = store.folder().join(".dormouse-new-aB3dE6.json");
    let changes: [&dyn Fn(); 3] = [
        &|| set(&store, "other", "new"),
        &|| assert!(!store.remove("none").unwrap()),
        &|| assert!(store.remove("token").unwrap()),
    ];
    for change in changes {
        fs::copy(store.file("other"), &left)
            .or_else(|_| fs::copy(store.file("token"), &left))
            .unwrap();
        change();
        assert!(!left.exists());
    }
    assert_eq!(text(&store, "other").as_deref(), Some("new"));
}

#[test]
fn no_file_has_its_text_and_nobody_else_reads_them() {
    let (_folder, store) = store();
    set(&store, "token", TEXT);
    let all = files(&store);
    // The key, the lock and the secret.
    assert_eq!(all.len(), 3, "{all:?}");
    for file in &all {
        let bytes = fs::read(file).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains(TEXT), "{}", file.display());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{}", file.display());
        }
    }
}

#[test]
fn what_cannot_be_a_secret_is_refused() {
    let (_folder, store) = store();
    let long = "a".repeat(Secret::MAX_NAME + 1);
    for name in ["", "a b", "ä", "../x", "a/b", "a.b", "a\u{1b}", &long] {
        let error = store.set(name, &Secret::new(TEXT)).unwrap_err().to_string();
        assert!(error.contains("is no name of a secret\nhint: "), "{error}");
        assert!(!error.contains('\u{1b}'), "{error:?}");
        for other in [
            store.get(name).err(),
            store.remove(name).err(),
            store.contains(name).err(),
        ] {
            assert_eq!(other.unwrap().to_string(), error);
        }
    }
    let too_long = "a".repeat(MAX_SECRET_BYTES + 1);
    for text in ["", &too_long] {
        let error = store.set("x", &Secret::new(text)).unwrap_err().to_string();
        assert!(error.contains("`x`"), "{error}");
        assert!(error.len() < 200, "{error}");
    }
    assert!(!store.data.exists());
    let longest = "a".repeat(MAX_SECRET_BYTES);
    set(&store, &"n".repeat(Secret::MAX_NAME), &longest);
    assert_eq!(text(&store, &"n".repeat(Secret::MAX_NAME)), Some(longest));
}

#[test]
fn a_damaged_file_is_told_without_its_text_and_hides_no_other() {
    let (_folder, store) = store();
    set(&store, "token", TEXT);
    set(&store, "other", "other");
    fs::write(
        store.file("token"),
        format!("{{\"name\":7,\"x\":\"{TEXT}\"}}"),
    )
    .unwrap();
    for error in [
        store.get("token").err().unwrap().to_string(),
        store
            .set("token", &Secret::new(TEXT))
            .unwrap_err()
            .to_string(),
    ] {
        assert!(error.contains("`token`"), "{error}");
        assert!(error.contains("\nhint: "), "{error}");
        assert!(!error.contains(TEXT), "{error}");
    }
    let names: Vec<_> = store
        .list()
        .unwrap()
        .into_iter()
        .map(|one| one.name)
        .collect();
    assert_eq!(names, ["other"]);
}

#[test]
fn a_file_that_was_moved_is_another_secrets() {
    let (_folder, store) = store();
    set(&store, "token", TEXT);
    fs::copy(store.file("token"), store.file("other")).unwrap();
    assert_eq!(text(&store, "other"), None);
    assert_eq!(store.list().unwrap().len(), 1);
}

#[test]
fn without_its_key_a_secret_is_an_error_and_stays() {
    let (_folder, store) = store();
    set(&store, "token", TEXT);
    let key = store.data.join("age-identity.txt");
    let kept = fs::read(&key).unwrap();
    fs::remove_file(&key).unwrap();
    let error = store.get("token").err().unwrap().to_string();
    assert!(error.contains("age-identity.txt"), "{error}");
    assert!(error.contains("\nhint: "), "{error}");
    // A new key does not read it, and the old one does, when it is put back.
    set(&store, "other", "other");
    assert!(store.get("token").is_err());
    fs::write(&key, kept).unwrap();
    assert_eq!(text(&store, "token").as_deref(), Some(TEXT));

    fs::write(&key, "no key").unwrap();
    let error = store
        .set("new", &Secret::new(TEXT))
        .unwrap_err()
        .to_string();
    assert!(error.contains("age-identity.txt"), "{error}");
    assert!(!error.contains(TEXT), "{error}");
}

#[test]
fn many_who_begin_at_once_have_one_key() {
    let (_folder, store) = store();
    std::thread::scope(|scope| {
        for number in 0..8 {
            let store = &store;
            scope.spawn(move || set(store, &format!("s{number}"), &format!("text {number}")));
        }
    });
    for number in 0..8 {
        assert_eq!(
            text(&store, &format!("s{number}")),
            Some(format!("text {number}"))
        );
    }
    assert_eq!(store.list().unwrap().len(), 8);
}

#[cfg(unix)]
#[test]
fn what_others_can_have_written_does_not_count() {
    use std::os::unix::fs::PermissionsExt as _;

    let (_folder, store) = store();
    set(&store, "token", TEXT);
    let open = |mode| fs::set_permissions(&store.data, fs::Permissions::from_mode(mode)).unwrap();
    open(0o777);
    assert_eq!(text(&store, "token"), None);
    assert!(store.set("token", &Secret::new("new")).is_err());
    open(0o700);
    assert_eq!(text(&store, "token").as_deref(), Some(TEXT));
}
