//! Pipes and devices, which are never opened, and a compile cache with files of others.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use dormouse_tests::{artifacts, processes};

use super::*;
use crate::folders::{Granted, run, stays_well, step};

fn make_fifo(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().unwrap();
    assert!(made.success());
}

#[test]
fn pipes_and_devices_are_never_opened() {
    let place = Granted::new(&["pipes"]);
    place
        .server("one", &[("pipes", "rw")])
        .server("two", &[("pipes", "ro")]);
    let pipes = place.at("pipes");
    for index in 0..600 {
        make_fifo(&pipes.join(index.to_string()));
    }
    let _socket = std::os::unix::net::UnixListener::bind(pipes.join("socket")).unwrap();
    symlink("0", pipes.join("link")).unwrap();
    let mut client = place.serve();
    stays_well(&mut client);
    for server in ["one", "two"] {
        run(&mut client, server, &["granted".to_owned()]);
    }
    let before = threads(&client);
    let memory = processes::memory(client.pid()).unwrap();
    for chunk in 0..6 {
        let names = (chunk * 100..(chunk + 1) * 100).map(|index| index.to_string());
        let names: Vec<_> = names.chain(["socket", "link"].map(str::to_owned)).collect();
        for server in ["one", "two"] {
            let steps: Vec<_> = names
                .iter()
                .flat_map(|name| {
                    let path = pipes.join(name);
                    [
                        step("read", &[&path]),
                        step("write", &[&path, Path::new("x")]),
                        step("touch", &[&path]),
                    ]
                })
                .collect();
            let said = run(&mut client, server, &steps);
            assert!(
                said.iter().all(|said| said == "error: not-permitted"),
                "{said:?}"
            );
        }
        stays_well(&mut client);
    }
    let after = threads(&client);
    assert!(after < before + 64, "{before} threads became {after}");
    processes::gives_back(client.pid(), memory).unwrap();
}

/// Returns the number of threads of a host.
fn threads(client: &Client) -> usize {
    let tasks = format!("/proc/{}/task", client.pid());
    std::fs::read_dir(tasks).map_or(0, Iterator::count)
}

#[test]
fn a_component_that_becomes_a_pipe_or_a_device_is_not_read() {
    let home = Home::new().unwrap();
    home.server("good", &artifacts::guest("echo").unwrap())
        .unwrap();
    let bytes = std::fs::read(artifacts::guest("counter").unwrap()).unwrap();
    let component = home.plugin_file("counter.wasm", &bytes).unwrap();
    home.server("swapped", &component).unwrap();
    let mut client = home.serve().unwrap();
    client.tools().unwrap();
    stays_well(&mut client);
    let before = memory(&client);
    for device in [false, true] {
        std::fs::remove_file(&component).unwrap();
        match device {
            true => symlink("/dev/zero", &component).unwrap(),
            false => make_fifo(&component),
        }
        let result = client.call("swapped__count", json!({}));
        assert!(result.is_err() || result.unwrap()["isError"] == true);
        stays_well(&mut client);
        let memory = memory(&client);
        assert!(memory.is_none_or(|kib| kib < 512 << 10), "{memory:?} KiB");
        if let Some(before) = before {
            processes::gives_back(client.pid(), before).unwrap();
        }
    }
}

#[test]
fn a_pipe_in_the_compile_cache_is_compiled_past() {
    let home = Home::with_empty_cache().unwrap();
    home.guests(&["counter"]).unwrap();
    let mut client = home.serve().unwrap();
    client.call("counter__count", json!({})).unwrap();
    client.close(Duration::from_secs(10)).unwrap();
    let components = home.path().join("cache/dormouse/components");
    let mut swapped = 0;
    for entry in std::fs::read_dir(&components).unwrap() {
        let path = entry.unwrap().path();
        std::fs::remove_file(&path).unwrap();
        make_fifo(&path);
        swapped += 1;
    }
    assert!(swapped >= 3);
    let index = home.path().join("cache/dormouse/catalog.index");
    let _ = std::fs::remove_file(&index);
    make_fifo(&index);
    let mut client = home.serve().unwrap();
    let result = client.call("counter__count", json!({})).unwrap();
    assert_eq!(result["structuredContent"]["result"], 1, "{result}");
}

#[test]
fn a_key_that_others_can_read_or_replace_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;

    let home = Home::with_empty_cache().unwrap();
    home.guests(&["counter"]).unwrap();
    let calls = |home: &Home| {
        let mut client = home.serve().unwrap();
        client.call("counter__count", json!({})).unwrap();
        let status = home.status().unwrap();
        let hits = status["cache_hits"].as_u64();
        client.close(Duration::from_secs(10)).unwrap();
        hits.unwrap_or_else(|| panic!("{status}"))
    };
    let dormouse = home.path().join("cache/dormouse");
    let set = |path: PathBuf, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    calls(&home);
    assert_eq!(calls(&home), 1);
    for (path, bad, good) in [
        ("components/key", 0o666, 0o600),
        ("components/key", 0o640, 0o600),
        ("components", 0o777, 0o700),
        ("", 0o777, 0o700),
        ("..", 0o777, 0o755),
    ] {
        set(dormouse.join(path), bad);
        assert_eq!(calls(&home), 0, "{path} {bad:o}");
        set(dormouse.join(path), good);
        assert_eq!(calls(&home), 1, "{path} {good:o}");
    }
    // Whoever owns a folder above may put another one in its place. Only root can give one
    // to somebody else here.
    let above = dormouse.join("..");
    let me = std::os::unix::fs::MetadataExt::uid(&above.metadata().unwrap());
    if me == 0 {
        std::os::unix::fs::chown(&above, Some(12_345), None).unwrap();
        assert_eq!(calls(&home), 0);
        std::os::unix::fs::chown(&above, Some(me), None).unwrap();
        assert_eq!(calls(&home), 1);
    }
}

/// Returns the memory of a host, in KiB.
fn memory(client: &Client) -> Option<u64> {
    dormouse_tests::processes::Process::of(client.pid())?.memory()
}
