//! Folders with very many entries, and files that are read by very many streams.
#![cfg(unix)]

use super::*;

/// Number of entries of the folder: about 5 MiB of names.
const ENTRIES: usize = 20_000;

/// Starts a host with a guest that is granted such a folder, to read, and has little memory.
fn host() -> (Host, std::path::PathBuf) {
    let home = Home::new().unwrap();
    let folder = home.path().canonicalize().unwrap().join("many");
    std::fs::create_dir(&folder).unwrap();
    for entry in 0..ENTRIES {
        let name = format!("{entry}-{}", "n".repeat(230));
        std::fs::File::create(folder.join(name)).unwrap();
    }
    std::fs::write(folder.join("large"), vec![b'x'; 1 << 20]).unwrap();
    let more = format!(
        "[servers.bad.limits]\nmemory = \"16MiB\"\n\
         [servers.bad.grants]\nfs = [{{ path = '{}', mode = 'ro' }}]",
        folder.display()
    );
    let guest = artifacts::read(&artifacts::guest("folders").unwrap()).unwrap();
    (Host::in_home(home, &guest, &more), folder)
}

/// Returns the outcome of each step of a call.
fn run(host: &mut Host, steps: &[String]) -> Vec<String> {
    let result = host.client.call("bad__run", json!({ "steps": steps }));
    said(&result.unwrap())
}

fn said(result: &serde_json::Value) -> Vec<String> {
    let said = result["structuredContent"]["result"].as_array();
    let said = said.unwrap_or_else(|| panic!("{result}"));
    said.iter()
        .map(|said| said.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn folders_that_are_listed_at_once_take_little_memory() {
    let (mut host, folder) = host();
    let folder = folder.display();
    let steps = [
        format!("list-at-once|{folder}|100"),
        format!("list-at-once|{folder}|4000"),
        // All of them were given back.
        format!("list-at-once|{folder}|100"),
        format!("count|{folder}"),
    ];
    let params = json!({ "name": "bad__run", "arguments": { "steps": steps } });
    let call = host.client.send("tools/call", params).unwrap();
    let beside = host.client.text("good__echo", json!({ "text": "beside" }));
    assert_eq!(beside.unwrap(), "beside");
    let said = said(&host.client.answer(call).unwrap()["result"]);
    assert_eq!(said[0], "100");
    assert_eq!(said[1], "128, then insufficient-memory");
    assert_eq!(said[2], "100");
    assert_eq!(said[3], format!("{}", ENTRIES + 1));
    let (peak, before) = (host.peak(), host.before);
    assert!(peak < before + (96 << 10), "{before} KiB became {peak} KiB");
    host.stays_well();
}

#[test]
fn what_streams_of_files_read_ahead_counts_as_memory() {
    let (mut host, folder) = host();
    let folder = folder.display();
    let step = format!("read-at-once|{folder}/large|4000");
    let said = run(&mut host, &[step.clone(), step]);
    assert_eq!(said[0], said[1]);
    let opened = said[0].strip_suffix(", then insufficient-memory");
    let opened: u64 = opened
        .unwrap_or_else(|| panic!("{said:?}"))
        .parse()
        .unwrap();
    // 64 KiB each, beside what the guest has itself.
    assert!((100..256).contains(&opened), "{opened}");
    let (peak, before) = (host.peak(), host.before);
    assert!(peak < before + (96 << 10), "{before} KiB became {peak} KiB");
    host.stays_well();
}

/// A host that can open nothing more starts nothing and answers nobody.
#[cfg(target_os = "linux")]
#[test]
fn files_that_a_guest_opens_leave_some_to_the_host() {
    // An instance lists 128 folders at most.
    for (step, limit) in [("open-at-once", 256), ("list-at-once", 128)] {
        let (mut host, folder) = host();
        let nofile = format!("--nofile={limit}");
        let pid = host.client.pid().to_string();
        let limited = std::process::Command::new("prlimit")
            .args(["--pid", &pid, &nofile])
            .status();
        assert!(limited.unwrap().success());
        let folder = folder.display();
        let step = match step {
            "open-at-once" => format!("{step}|{folder}/large|4000"),
            _ => format!("{step}|{folder}|4000"),
        };
        let said = run(&mut host, &[step.clone(), step]);
        for said in said {
            let (opened, why) = said.split_once(", then ").unwrap();
            let opened: u64 = opened.parse().unwrap();
            assert!(
                (limit / 2..=limit - limit / 4).contains(&opened),
                "{opened}, then {why}"
            );
        }
        host.stays_well();
    }
}
