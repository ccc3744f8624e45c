//! Another user of the same machine: one who is neither root nor the host's user gets nothing from
//! a host that runs, and nothing from its files. Where the tests run as root they become such a
//! user; elsewhere they cannot, and say so.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use dormouse_tests::http::{Request, Server};
use dormouse_tests::{Home, oauth};
use serde_json::json;

/// The user `nobody` of most systems; any that is not root will do.
const OTHER: u32 = 65534;

/// Whether the tests run as root, who alone can become another user.
fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let root = uid.unwrap().split_whitespace().next() == Some("0");
    if !root {
        eprintln!("skipped: only root can become another user");
    }
    root
}

/// Runs a shell's words as the other user. Returns whether they succeed, and their output.
fn as_other(words: &str, arguments: &[&Path]) -> (bool, String) {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", words, "sh"]).args(arguments);
    let output = command
        .uid(OTHER)
        .gid(OTHER)
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.success(),
        text(&output.stdout) + &text(&output.stderr),
    )
}

/// Returns all files and folders below a folder.
fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(all(&path));
        }
        found.push(path);
    }
    found
}

/// Makes a home whose folders others can enter, as in most homes: files that Dormouse makes in them
/// have to be private by themselves.
fn home() -> (Home, Server) {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::with_empty_cache().unwrap();
    home.guests(&["echo"]).unwrap();
    for folder in ["", "cache", "run"] {
        let path = home.path().join(folder);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let server = home.serve_http(&[]).unwrap();
    server.text("echo__echo", json!({ "text": "x" })).unwrap();
    home.status().unwrap();
    (home, server)
}

#[test]
fn another_user_gets_nothing_over_http() {
    if !is_root() {
        return;
    }
    let (_home, server) = home();
    let list = Request::stateless(1, "tools/list", json!({})).header("authorization", "");
    let folder = tempfile::tempdir().unwrap();
    let request = folder.path().join("request");
    std::fs::write(&request, list.bytes(&server)).unwrap();
    use std::os::unix::fs::PermissionsExt as _;
    for path in [folder.path(), &request] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    // The other user's own connection to the port, with a program that they have.
    let script = format!(
        "exec python3 -c 'import socket,sys; s=socket.create_connection((\"127.0.0.1\", {})); \
         s.sendall(open(sys.argv[1],\"rb\").read()); s.settimeout(10); print(s.recv(65536).decode())' \"$1\"",
        server.address().port()
    );
    let (_, said) = as_other(&script, &[&request]);
    assert!(said.starts_with("HTTP/1.1 401"), "{said}");
    assert!(!said.contains("echo__echo"), "{said}");
    assert!(!said.contains(server.token().unwrap()), "{said}");
}

#[test]
fn another_user_reads_none_of_its_files() {
    if !is_root() {
        return;
    }
    let (home, server) = home();
    let upstream = logged_in(&home);
    home.secret("token", "canary-of-a-file", &[]).unwrap();
    let data = home.path().join("cache/data/dormouse");
    for name in ["http-token", "age-identity.txt"] {
        assert!(data.join(name).exists(), "no `{name}`");
    }
    let own = ["cache/dormouse", "cache/data/dormouse", "run/dormouse"];
    let mut files = 0;
    let mut kinds = BTreeSet::new();
    for folder in own {
        let folder = home.path().join(folder);
        let (listed, said) = as_other("ls \"$1\"", &[&folder]);
        assert!(!listed, "{}: {said}", folder.display());
        for path in all(&folder) {
            files += 1;
            let kind = path.parent().unwrap().file_name().unwrap();
            kinds.insert(kind.to_string_lossy().into_owned());
            // What is known by name is as closed as what is not.
            for words in [
                "cat \"$1\"",
                "ls -d \"$1\"",
                "touch \"$1\"",
                "echo x >> \"$1\"",
            ] {
                let (done, said) = as_other(words, &[&path]);
                assert!(!done, "{words} {}: {said}", path.display());
            }
        }
    }
    assert!(files > 3, "there are hardly any files: {files}");
    for kind in ["tokens", "secrets", "components", "servers"] {
        assert!(kinds.contains(kind), "no `{kind}` in {kinds:?}");
    }
    // They cannot plant anything beside them, either.
    for folder in own {
        let (done, said) = as_other("touch \"$1/planted\"", &[&home.path().join(folder)]);
        assert!(!done, "{folder}: {said}");
    }
    drop((server, upstream));
}

/// Logs the user of a home in at a server, and makes Dormouse learn its tools.
fn logged_in(home: &Home) -> oauth::Server {
    let upstream = oauth::Server::start(&[]).unwrap();
    let url = format!("url = \"{}\"\n", upstream.url());
    home.table("notes", &url).unwrap();
    oauth::log_in(home, "notes").unwrap();
    home.synced("notes").unwrap();
    upstream
}

/// Whoever becomes root by `su` often keeps the environment of the user that they were.
#[test]
fn nothing_is_made_in_a_runtime_folder_of_another_user() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

    if !is_root() {
        return;
    }
    let home = Home::new().unwrap();
    home.guests(&["echo"]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (theirs, ours) = (folder.path().join("theirs"), folder.path().join("ours"));
    for folder in [&theirs, &ours] {
        std::fs::create_dir(folder).unwrap();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    symlink(&ours, theirs.join("dormouse")).unwrap();
    chown(&theirs, Some(OTHER), Some(OTHER)).unwrap();
    for words in [["disable", "echo"], ["call", "echo"], ["doctor", "--json"]] {
        let mut command = home.command(&words);
        command.env("XDG_RUNTIME_DIR", &theirs).output().unwrap();
    }
    assert_eq!(std::fs::metadata(&ours).unwrap().mode() & 0o777, 0o755);
    assert_eq!(std::fs::read_dir(&ours).unwrap().count(), 0);
}

/// Root may have kept the home of the user that they were, as `sudo` does with some settings: its user
/// could not read what root made there.
#[test]
fn root_makes_nothing_in_the_home_of_another_user() {
    use std::os::unix::fs::{MetadataExt as _, chown};

    if !is_root() {
        return;
    }
    let home = Home::new().unwrap();
    home.guests(&["echo"]).unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    std::fs::create_dir(home.path().join(".cursor")).unwrap();
    let text = r#"{"mcpServers": {"x": {"command": "x"}}}"#;
    for file in [
        project.join(".mcp.json"),
        home.path().join(".cursor/mcp.json"),
    ] {
        std::fs::write(file, text).unwrap();
    }
    let files = || {
        let mut files = all(home.path());
        files.sort();
        files
    };
    let before = files();
    for file in before.iter().map(PathBuf::as_path).chain([home.path()]) {
        chown(file, Some(OTHER), Some(OTHER)).unwrap();
    }
    for words in [
        &["disable", "echo"][..],
        &["trust", "--yes"],
        &["install", "cursor", "--no-sync"],
        &["import", "cursor", "--replace", "--no-sync"],
    ] {
        let mut command = home.command(words);
        let output = command
            .current_dir(&project)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{words:?}: {said}");
        assert!(
            said.contains("run it as that user, without `sudo`"),
            "{said}"
        );
        assert_eq!(files(), before, "{words:?}");
    }
    for file in before {
        let owner = std::fs::metadata(&file).unwrap().uid();
        assert_eq!(owner, OTHER, "{}", file.display());
    }
}

/// Whoever can write `dormouse.toml` says what is run.
#[test]
fn a_configuration_of_another_user_is_not_run() {
    use std::os::unix::fs::chown;

    if !is_root() {
        return;
    }
    let home = Home::new().unwrap();
    let own = home.path().join("config/dormouse/dormouse.toml");
    std::fs::create_dir(own.parent().unwrap()).unwrap();
    std::fs::write(&own, "[servers.theirs]\ncommand = ['true']\n").unwrap();
    let run = |words: &[&str]| {
        let mut command = Command::new(home.command(&[]).get_program());
        let command = command.args(words).envs(home.environment());
        let output = command.current_dir(home.path()).output().unwrap();
        let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
        (output.status.success(), said.concat())
    };
    let (done, said) = run(&["list"]);
    assert!(done && said.contains("theirs"), "{said}");
    for theirs in [own.as_path(), own.parent().unwrap()] {
        chown(theirs, Some(OTHER), None).unwrap();
        for words in [&["list"][..], &["sync"], &["doctor"]] {
            let (done, said) = run(words);
            assert!(!done, "{words:?}: {said}");
            let why = format!("`{}` is another user's (uid {OTHER})", theirs.display());
            assert!(said.contains(&why) && said.contains("hint: "), "{said}");
        }
        chown(theirs, Some(0), None).unwrap();
    }
}

/// Root may have kept a variable that names a client's folder of whom they were.
#[test]
fn a_clients_file_of_another_user_is_not_run() {
    use std::os::unix::fs::{PermissionsExt as _, chown};

    if !is_root() {
        return;
    }
    let (home, folder) = (Home::new().unwrap(), tempfile::tempdir().unwrap());
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), mode).unwrap();
    let (theirs, ran) = (folder.path().join("config.toml"), home.path().join("ran"));
    let text = "[mcp_servers.theirs]\ncommand = 'touch'\nargs = ['RAN']\n";
    std::fs::write(&theirs, text.replace("RAN", ran.to_str().unwrap())).unwrap();
    let run = |words: &[&str]| {
        let mut command = home.command(words);
        let command = command.env("CODEX_HOME", folder.path());
        let output = command.stdin(Stdio::null()).output().unwrap();
        let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
        said.concat()
    };
    for path in [theirs.as_path(), folder.path()] {
        chown(path, Some(OTHER), None).unwrap();
        run(&["sync"]);
        let said = run(&["doctor", "--connect"]);
        assert!(!ran.exists(), "{said}");
        let why = format!("`{}` is another user's (uid {OTHER})", path.display());
        assert!(said.contains(&why) && said.contains("hint: "), "{said}");
        chown(path, Some(0), None).unwrap();
    }
    let said = run(&["sync"]);
    assert!(ran.exists(), "{said}");
}

/// The link of a login is among the arguments of a browser, which every user can read.
#[test]
fn another_user_ends_no_login_with_a_code_of_their_own() {
    if !is_root() {
        return;
    }
    let home = Home::new().unwrap();
    let upstream = oauth::Server::start(&[]).unwrap();
    let url = format!("url = \"{}\"\n", upstream.url());
    home.table("notes", &url).unwrap();
    let mut login = home.command(&["login", "notes"]);
    let mut login = login
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut link = String::new();
    let stdout = login.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut link).unwrap();
    let (_, callback) = oauth::once("GET", link.trim()).unwrap();
    let callback = callback.unwrap();
    // One that waits for what it is answered, and one that has gone before anybody looks.
    for end in ["print(s.recv(65536).decode())", "s.close()"] {
        let script = format!(
            "exec python3 -c 'import socket,sys; from urllib.parse import urlsplit; u=urlsplit(sys.argv[1]); \
             s=socket.create_connection((u.hostname, u.port)); s.settimeout(10); \
             s.sendall((\"GET %s?%s HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n\" % (u.path, u.query, u.netloc)).encode()); {end}' \"$1\""
        );
        let (_, said) = as_other(&script, &[Path::new(&callback)]);
        assert!(!said.contains("HTTP/1.1"), "{said}");
        assert!(login.try_wait().unwrap().is_none(), "{end}");
    }
    oauth::get(&callback).unwrap();
    assert!(login.wait().unwrap().success());
}

#[test]
fn another_user_has_no_control_of_a_host() {
    if !is_root() {
        return;
    }
    let (home, server) = home();
    let socket = home
        .path()
        .join(format!("run/dormouse/{}.sock", server.pid()));
    assert!(socket.exists());
    let script = "exec python3 -c 'import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); \
         print(\"connected\")' \"$1\"";
    let (done, said) = as_other(script, &[&socket]);
    assert!(!done && !said.contains("connected"), "{said}");
    // Also where the folder above were open.
    use std::os::unix::fs::PermissionsExt as _;
    let folder = socket.parent().unwrap();
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let (done, said) = as_other(script, &[&socket]);
    assert!(!done && !said.contains("connected"), "{said}");
}

#[test]
fn another_user_sees_no_token_in_the_process() {
    if !is_root() {
        return;
    }
    let (_home, server) = home();
    let token = server.token().unwrap();
    let process = PathBuf::from(format!("/proc/{}", server.pid()));
    // Everybody sees the words that a process was started with.
    let (done, words) = as_other("tr '\\0' ' ' < \"$1/cmdline\"", &[&process]);
    assert!(done && words.contains("serve"), "{words}");
    assert!(!words.contains(token), "{words}");
    // Its memory, its environment and its open files are nobody's but its user's.
    for (words, file) in [
        ("cat \"$1\"", "environ"),
        ("cat \"$1\"", "maps"),
        ("head -c 1 \"$1\"", "mem"),
        ("ls \"$1\"", "fd"),
    ] {
        let (done, said) = as_other(words, &[&process.join(file)]);
        assert!(!done, "{file}: {said}");
    }
}
