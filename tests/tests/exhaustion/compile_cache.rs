//! The cache of compiled components, where something goes wrong with it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use super::*;

fn good_call(mut client: Client) {
    let told = client.text("good__echo", json!({ "text": "well" }));
    assert_eq!(told.unwrap(), "well");
    assert!(client.close(Duration::from_secs(6)).unwrap().success());
}

fn home() -> Home {
    let home = Home::with_empty_cache().unwrap();
    home.server("good", &artifacts::guest("echo").unwrap())
        .unwrap();
    home
}

/// Starts `dormouse serve` from a shell that has run a command first.
fn behind_shell(home: &Home, first: &str) -> Client {
    let serve = home.command(&["serve"]);
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("{first}; exec \"$@\""), "sh"])
        .arg(serve.get_program())
        .args(serve.get_args())
        .envs(home.environment())
        .current_dir(home.path());
    Client::start(&mut command).unwrap()
}

/// Returns the files in a folder and below, with their modes.
fn modes(folder: &Path) -> Vec<(std::path::PathBuf, u32)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            found.push((entry.path(), metadata.permissions().mode() & 0o777));
            if metadata.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found
}

fn compiled(home: &Home) -> usize {
    let files = modes(&home.path().join("cache"));
    let kept = files.iter().filter(|(path, _)| {
        path.parent()
            .is_some_and(|folder| folder.ends_with("components"))
    });
    kept.count()
}

/// The umask of a host may let everybody read the files that it writes: only the user reads these.
#[test]
fn what_is_compiled_is_the_users_alone_whatever_the_umask_is() {
    let home = home();
    good_call(behind_shell(&home, "umask 000"));
    assert!(compiled(&home) > 0, "nothing is kept");
    let cache = home.path().join("cache/dormouse");
    let kept = modes(&cache);
    assert!(!kept.is_empty());
    for (path, mode) in kept {
        // Nobody gets to what lies in a folder that nobody else can enter.
        let mut folders = path
            .ancestors()
            .skip(1)
            .take_while(|one| one.starts_with(&cache));
        let is_hidden = folders.any(|folder| {
            let mode = std::fs::metadata(folder).unwrap().permissions().mode();
            mode & 0o077 == 0
        });
        assert!(
            is_hidden || mode & 0o077 == 0,
            "{}: {mode:o}",
            path.display()
        );
        assert_eq!(mode & 0o022, 0, "{}: {mode:o}", path.display());
    }
}

/// A host is killed at any time while it compiles and writes the result.
#[test]
fn a_host_that_is_killed_leaves_nothing_that_another_one_stumbles_over() {
    let home = home();
    for round in 0_u64..25 {
        let cache = home.path().join("cache/dormouse");
        if round % 5 == 4 {
            // So that it is compiled again.
            let _ = std::fs::remove_dir_all(&cache);
        }
        let mut client = home.serve().unwrap();
        let params = json!({ "name": "good__echo", "arguments": { "text": "x" } });
        client.send("tools/call", params).unwrap();
        std::thread::sleep(Duration::from_millis(round * 12));
        let pid = rustix::process::Pid::from_raw(client.pid().try_into().unwrap()).unwrap();
        let compiling = processes::descendants(client.pid()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        let _ = client.wait(Duration::from_secs(6));
        processes::gone(&compiling).unwrap();
    }
    good_call(home.serve().unwrap());
    good_call(home.serve().unwrap());
    let files = compiled(&home);
    assert!(files < 10, "{files} files are left");
}

/// A component that there is no room to keep is compiled each time, and does not fail.
#[test]
fn a_full_disk_is_compiled_past() {
    let home = home();
    let cache = home.path().join("cache/dormouse");
    std::fs::create_dir_all(&cache).unwrap();
    let mounted = |size: &str, then: &str| {
        let mount = format!("mount -t tmpfs -o size={size},mode=700 none \"$0\" && {then}");
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", &mount]).arg(&cache);
        command.envs(home.environment()).current_dir(home.path());
        command
    };
    if !mounted("16k", "true")
        .status()
        .is_ok_and(|made| made.success())
    {
        let id = Command::new("id").arg("-u").output().unwrap();
        assert_ne!(
            id.stdout, b"0\n",
            "`unshare --mount` fails although this is root"
        );
        eprintln!("skipped: a file system of its own takes root");
        return;
    }
    let serve = home.command(&["serve"]);
    for (size, is_kept) in [("16k", false), ("64m", true)] {
        let count = "exec 3>&1; \"$@\"; find \"$0\" -path '*components/*' -type f -size +2k >kept";
        let mut command = mounted(size, count);
        command.arg(serve.get_program()).args(serve.get_args());
        let mut client = Client::start(&mut command).unwrap();
        for _ in 0..2 {
            let told = client.text("good__echo", json!({ "text": "well" }));
            assert_eq!(told.unwrap(), "well", "{size}");
        }
        assert!(client.close(Duration::from_secs(6)).unwrap().success());
        let kept = std::fs::read_to_string(home.path().join("kept")).unwrap();
        // The control: with room, it is kept.
        assert_eq!(!kept.is_empty(), is_kept, "{size}: {kept}");
    }
}
