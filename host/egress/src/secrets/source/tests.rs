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

#[cfg(unix)]
#[tokio::test]
async fn a_file_is_read_that_its_user_alone_can_read() {
    use std::os::unix::fs::PermissionsExt as _;

    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("key");
    let source = || SecretSource::File(file.clone());
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
        let source = SecretSource::File(special.to_owned());
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
async fn a_command_has_its_time() {
    let time = Duration::from_millis(100);
    let ran = output_within("sleep", &["600".to_owned()], Path::new("/"), time).await;
    assert_eq!(ran, Err("has not ended within 0 seconds".to_owned()));
}
