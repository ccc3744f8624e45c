//! Record of real paths.

use std::os::unix::fs::symlink;

use super::*;

#[test]
fn the_first_real_path_of_a_folder_stays_until_it_is_recorded_anew() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (one, other, link) = (root.join("one"), root.join("other"), root.join("link"));
    std::fs::create_dir(&one).unwrap();
    symlink(&one, &link).unwrap();
    let recorded = RecordedFolders::new(&root.join("data"));
    let written = BTreeSet::from([link.clone(), other.clone()]);
    let first = recorded.record(None, &written).unwrap();
    assert_eq!((&first[&link], &first[&other]), (&one, &other));
    // Both are something else now.
    std::fs::remove_file(&link).unwrap();
    symlink("other", &link).unwrap();
    symlink("one", &other).unwrap();
    assert_eq!(recorded.record(None, &written).unwrap(), first);
    let anew = RealPaths::from([(link.clone(), one.clone())]);
    recorded.record_anew(None, &anew).unwrap();
    assert_eq!(recorded.known(None).unwrap()[&link], one);
    assert_eq!(recorded.known(None).unwrap()[&other], other);
}

/// Who trusts one project has been shown nothing of another's folders.
#[test]
fn what_a_project_is_granted_is_recorded_for_it_alone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (safe, secret, link) = (root.join("safe"), root.join("secret"), root.join("link"));
    let recorded = RecordedFolders::new(&root.join("data"));
    let [a, b] = ["a", "b"].map(|name| root.join(name));
    for folder in [&safe, &secret] {
        std::fs::create_dir(folder).unwrap();
    }
    symlink("safe", &link).unwrap();
    let shown = RealPaths::from([(link.clone(), safe.clone())]);
    recorded.record_anew(Some(&b), &shown).unwrap();
    std::fs::remove_file(&link).unwrap();
    symlink("secret", &link).unwrap();
    let written = BTreeSet::from([link.clone()]);
    let own = recorded.record(None, &written).unwrap();
    assert_eq!(own[&link], secret);
    let shown = RealPaths::from([(link.clone(), secret.clone())]);
    recorded.record_anew(Some(&a), &shown).unwrap();
    for (project, expected) in [(&a, &secret), (&b, &safe)] {
        let known = recorded.record(Some(project), &written).unwrap();
        assert_eq!(&known[&link], expected);
    }
    recorded.record_anew(Some(&b), &shown).unwrap();
    assert_eq!(recorded.known(Some(&b)).unwrap()[&link], secret);
}

/// One project decides what its files name, and others have to be trusted all the same.
#[test]
fn what_one_project_names_leaves_room_for_others() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = RecordedFolders::new(folder.path());
    let file = folder.path().join(PROJECTS_FILE);
    let path = |text: String| PathBuf::from(text);
    let long = RealPaths::from([(path("\"".repeat(1 << 20)), path("\"".repeat(1 << 20)))]);
    let many = (0..4000).map(|n| {
        (
            path(format!("/{}{n}", "\u{1}".repeat(20))),
            path("/b".into()),
        )
    });
    let (large, other) = (Path::new("/large"), Path::new("/other"));
    for real in [long, many.collect()] {
        for outcome in [
            recorded.record_project(large, &real),
            recorded.record_anew(Some(large), &real),
            recorded
                .record(Some(large), &real.into_keys().collect())
                .map(|_| ()),
        ] {
            let error = outcome.unwrap_err().to_string();
            assert!(error.contains("`/large`"), "{error}");
            assert!(error.contains("hint: "), "{error}");
        }
    }
    assert!(!file.exists());
    let real = RealPaths::from([(path("/a".into()), path("/b".into()))]);
    recorded.record_project(other, &real).unwrap();
    assert_eq!(recorded.known(Some(other)).unwrap(), real);
}

/// However many times it is trusted, and whatever its files have said before.
#[test]
fn nothing_is_kept_of_what_a_project_is_not_trusted_with() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = RecordedFolders::new(folder.path());
    let [project, other] = ["/project", "/other"].map(Path::new);
    let real = |name: &str| RealPaths::from([(PathBuf::from(name), PathBuf::from("/real"))]);
    for name in ["/a", "/b"] {
        recorded.record_project(project, &real(name)).unwrap();
        recorded.record_project(other, &real(name)).unwrap();
        assert_eq!(recorded.known(Some(project)).unwrap(), real(name));
    }
    recorded.forget_project(project).unwrap();
    recorded.forget_project(Path::new("/none")).unwrap();
    assert_eq!(recorded.known(Some(project)).unwrap(), RealPaths::new());
    assert_eq!(recorded.known(Some(other)).unwrap(), real("/b"));
    recorded.record_project(other, &RealPaths::new()).unwrap();
    let text = std::fs::read_to_string(folder.path().join(PROJECTS_FILE)).unwrap();
    assert_eq!(text, "{}");
}

/// Whoever works in another project, or in one whose files are others by now, has no plugin that is
/// granted them.
#[test]
fn files_with_secrets_are_those_of_all_projects_that_were_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = RecordedFolders::new(folder.path());
    let [one, other] = ["/one", "/other"].map(Path::new);
    let files = |names: &[&str]| names.iter().map(PathBuf::from).collect::<BTreeSet<_>>();
    let all = || recorded.files_with_secrets().unwrap().into_iter();
    let names = || all().map(|(file, _)| file).collect::<BTreeSet<_>>();
    assert_eq!(names(), files(&[]));
    // Nothing is written for a project without any.
    recorded.record_secrets(one, &files(&[])).unwrap();
    assert!(!folder.path().join("project-secrets.json").exists());
    recorded.record_secrets(one, &files(&["/a", "/b"])).unwrap();
    recorded.record_secrets(other, &files(&["/c"])).unwrap();
    assert_eq!(names(), files(&["/a", "/b", "/c"]));
    assert_eq!(all().next().unwrap().1, one);
    // With what its user was shown last, and not with what its paths lead to since.
    recorded.record_secrets(one, &files(&["/b"])).unwrap();
    recorded
        .record_first_secrets(one, || files(&["/d"]))
        .unwrap();
    assert_eq!(names(), files(&["/b", "/c"]));
    recorded.forget_project(one).unwrap();
    assert_eq!(names(), files(&["/c"]));
    recorded
        .record_first_secrets(one, || files(&["/d"]))
        .unwrap();
    assert_eq!(names(), files(&["/c", "/d"]));
    let many = (0..1000).map(|n| PathBuf::from(format!("/{}{n}", "\u{1}".repeat(100))));
    let error = recorded.record_secrets(one, &many.collect()).unwrap_err();
    assert!(error.to_string().contains("hint: "), "{error}");
    assert_eq!(names(), files(&["/c", "/d"]));
}

/// There is nothing of it that could be somewhere else by now.
#[test]
fn a_project_without_folders_is_trusted_where_the_record_is_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = RecordedFolders::new(folder.path());
    std::fs::write(folder.path().join(PROJECTS_FILE), "{").unwrap();
    let project = Path::new("/project");
    recorded.record_project(project, &RealPaths::new()).unwrap();
    let real = RealPaths::from([(PathBuf::from("/a"), PathBuf::from("/b"))]);
    let error = recorded.record_project(project, &real).unwrap_err();
    assert!(error.to_string().contains("is damaged"), "{error}");
}

/// A host never leaves a file behind that none can read.
#[test]
fn what_could_not_be_read_back_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = RecordedFolders::new(folder.path());
    let long = PathBuf::from("x".repeat(MAX_FILE_BYTES as usize));
    let error = recorded.record_anew(None, &RealPaths::from([(long, PathBuf::new())]));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("nothing is recorded"), "{error}");
    assert!(recorded.known(None).unwrap().is_empty());
    let file = folder.path().join(OWN_FILE);
    std::fs::write(&file, " ".repeat(MAX_FILE_BYTES as usize + 1)).unwrap();
    let error = recorded.known(None).unwrap_err().to_string();
    assert!(error.contains("hint: delete it"), "{error}");
}

/// Of a project that an older host was told to trust.
#[test]
fn what_older_hosts_have_recorded_counts_for_projects() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let recorded = RecordedFolders::new(&root);
    let (path, real) = (root.join("a"), root.join("b"));
    let older = RealPaths::from([(path.clone(), real.clone())]);
    recorded.record_anew(None, &older).unwrap();
    let written = BTreeSet::from([path.clone()]);
    let known = recorded.record(Some(&root), &written);
    assert_eq!(known.unwrap()[&path], real);
    // From then on it is the project's own.
    let later = RealPaths::from([(path.clone(), root.join("c"))]);
    recorded.record_anew(None, &later).unwrap();
    let known = recorded.record(Some(&root), &written);
    assert_eq!(known.unwrap()[&path], real);
}

#[test]
fn what_cannot_be_read_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = RecordedFolders::new(folder.path());
    std::fs::write(folder.path().join("folders.json"), "{").unwrap();
    assert!(
        recorded
            .record(None, &[PathBuf::from("/a")].into())
            .is_err()
    );
    assert!(
        recorded
            .record_anew(None, &RealPaths::from([(PathBuf::new(), PathBuf::new())]))
            .is_err()
    );
    let text = std::fs::read_to_string(folder.path().join("folders.json"));
    assert_eq!(text.unwrap(), "{");
}

/// Where links lead now need not be what was granted.
#[test]
fn what_others_can_have_written_is_not_recorded_anew() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let recorded = RecordedFolders::new(folder.path());
    let written = BTreeSet::from([PathBuf::from("/a")]);
    recorded.record(None, &written).unwrap();
    let file = folder.path().join("folders.json");
    let mode = std::fs::Permissions::from_mode(0o666);
    std::fs::set_permissions(&file, mode).unwrap();
    let error = recorded.record(None, &written).unwrap_err().to_string();
    assert!(error.contains("written by others"), "{error}");
    std::fs::remove_file(&file).unwrap();
    assert_eq!(recorded.record(None, &written).unwrap().len(), 1);
}
