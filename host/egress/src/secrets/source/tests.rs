use super::*;

async fn read(source: SecretSource) -> Result<String, String> {
    match text_of(&source).await {
        Ok(text) => Ok(text.expose().to_owned()),
        Err(SecretFault { why, .. }) => Err(why),
    }
}

#[tokio::test]
async fn a_variable_is_read_or_said_not_to_be_set() {
    // Whoever runs the tests has that.
    let set = SecretSource::Variable("CARGO_MANIFEST_DIR".to_owned());
    assert_eq!(read(set).await, Ok(env!("CARGO_MANIFEST_DIR").to_owned()));
    let unset = SecretSource::Variable("DORMOUSE_NONE".to_owned());
    let why = "has no value: the environment variable `DORMOUSE_NONE` is not set";
    assert_eq!(read(unset).await, Err(why.to_owned()));
}

/// Whoever has a project may make a file of it, or a folder on the way there, a link.
#[cfg(unix)]
#[tokio::test]
async fn a_file_that_was_shown_is_read_through_no_link() {
    use std::fs::{Permissions, create_dir, remove_dir_all, remove_file, set_permissions, write};
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let [own, project] = ["own", "project"].map(|name| root.join(name));
    let put = |folder: &Path, text: &str| {
        create_dir(folder).unwrap();
        write(folder.join("key"), text).unwrap();
        set_permissions(folder.join("key"), Permissions::from_mode(0o600)).unwrap();
    };
    put(&own, "private");
    let file = SecretFile {
        path: project.join("key"),
        real: Some(project.join("key")),
    };
    let read = || read(SecretSource::File(file.clone()));
    symlink("own", &project).unwrap();
    let refused = read().await.unwrap_err();
    assert!(refused.contains("is a link"), "{refused}");
    remove_file(&project).unwrap();
    put(&project, "theirs");
    assert_eq!(read().await, Ok("theirs".to_owned()));
    remove_file(project.join("key")).unwrap();
    symlink("../own/key", project.join("key")).unwrap();
    let refused = read().await.unwrap_err();
    assert!(refused.contains("it is a link"), "{refused}");
    remove_dir_all(&project).unwrap();
    assert!(read().await.unwrap_err().contains("cannot be read"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_is_read_that_its_user_alone_can_read() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("key");
    let source = || SecretSource::File(file.clone().into());
    let why = |error: Result<String, String>| error.unwrap_err();
    assert!(why(read(source()).await).contains("cannot be read: "));
    for (text, mode, expected) in [
        ("s3cret\n", 0o600, Ok("s3cret")),
        ("s3cret\r\n", 0o400, Ok("s3cret")),
        ("two\nlines\n\n", 0o600, Ok("two\nlines\n")),
        ("\n", 0o600, Err("is empty")),
        ("s3cret\n", 0o640, Err("can be read by other users")),
        ("s3cret\n", 0o604, Err("can be read by other users")),
        (&"x".repeat(65_537), 0o600, Err("has more than 65536 bytes")),
    ] {
        let _ = std::fs::remove_file(&file);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let read = read(source()).await;
        match expected {
            Ok(expected) => assert_eq!(read.as_deref(), Ok(expected)),
            Err(expected) => {
                let why = read.unwrap_err();
                assert!(why.ends_with(expected), "{why}");
                assert!(!why.contains("s3cret"), "{why}");
            }
        }
    }
    std::fs::write(&file, [0xff, b'a']).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(why(read(source()).await).ends_with("has no text"));
    for special in [dir.path(), Path::new("/dev/zero")] {
        let source = SecretSource::File(special.into());
        assert!(why(read(source).await).ends_with("is no file"));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_says_a_secret_and_nothing_of_its_own_errors() {
    let run = |program: &str, arguments: &[&str]| {
        read(SecretSource::Command {
            program: program.to_owned(),
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
            folder: "/".into(),
            is_confined: false,
        })
    };
    assert_eq!(run("printf", &["s3cret\\n"]).await, Ok("s3cret".to_owned()));
    // It does not work where its host was started.
    assert_eq!(run("pwd", &[]).await, Ok("/".to_owned()));
    // No shell reads it.
    assert_eq!(run("echo", &["$HOME;x"]).await, Ok("$HOME;x".to_owned()));
    for (program, arguments, expected) in [
        (
            "false",
            &[][..],
            "the command `false` has failed (exit status: 1)",
        ),
        (
            "sh",
            &["-c", "echo s3cret >&2; exit 3"],
            "the command `sh` has failed (exit status: 3)",
        ),
        ("true", &[], "the command `true` is empty"),
        (
            "/nowhere/at/all",
            &["s3cret"],
            "the command `/nowhere/at/all` cannot be started: ",
        ),
        (
            "head",
            &["-c", "100000", "/dev/zero"],
            "the command `head` has more than 65536 bytes",
        ),
    ] {
        let why = run(program, arguments).await.unwrap_err();
        assert!(
            why.starts_with(&format!("has no value: {expected}")),
            "{why}"
        );
        assert!(!why.contains("s3cret"), "{why}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_projects_command_sees_of_the_environment_what_children_see() {
    for (is_confined, is_seen) in [(false, true), (true, false)] {
        let source = SecretSource::Command {
            program: "env".to_owned(),
            arguments: Vec::new(),
            folder: "/".into(),
            is_confined,
        };
        let seen = read(source).await.unwrap();
        let sees = |name: &str| seen.lines().any(|line| line.starts_with(name));
        // Whoever runs the tests has that.
        assert_eq!(sees("CARGO_MANIFEST_DIR="), is_seen);
        assert!(sees("PATH=") && !sees("DORMOUSE_"));
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_command_has_its_time() {
    let time = Duration::from_millis(100);
    let mut command = command("sleep", &["600".to_owned()], Path::new("/"), false);
    let ran = output_within(&mut command, time).await;
    assert_eq!(ran, Err("has not ended within 0 seconds".to_owned()));
}
