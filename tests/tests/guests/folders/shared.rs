//! Folders that several servers reach, or that cannot be granted.

use dormouse_tests::artifacts;

use super::*;
use crate::folders::{Granted, stays_well};

#[test]
fn doctor_tells_of_folders_that_are_shared_or_cannot_be_granted() {
    let place = Granted::new(&["work/archive", "notes"]);
    place
        .server("outer", &[("work", "rw")])
        .server("inner", &[("work/archive", "ro")])
        .server("home", &[("", "ro")])
        .server("alone", &[("notes", "rw")]);
    let guest = std::fs::read(artifacts::guest("echo").unwrap()).unwrap();
    std::fs::write(place.at("notes/tool.wasm"), guest).unwrap();
    let tool = place.at("notes/tool.wasm");
    place.home.server("tool", &tool).unwrap();
    let output = place.home.run(&["doctor", "--json"]).unwrap();
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let of = |about: &str, words: &str| {
        let rows = rows.iter().filter(|row| row["about"] == about);
        let rows: Vec<_> = rows.collect();
        let found = rows
            .iter()
            .find(|row| row["message"].as_str().unwrap().contains(words));
        found.unwrap_or_else(|| panic!("{about}: {rows:?}"))["verdict"].clone()
    };
    assert_eq!(of("grants", "server `outer`"), "warning");
    assert_eq!(of("grants", "of server `tool` lies in it"), "warning");
    assert_eq!(of("server home", "overlaps"), "error");
    assert_eq!(of("server alone", ""), "ok");
}

/// A client keeps the log of its servers, and each overlap is in it once, when it comes about.
#[test]
fn the_log_tells_of_folders_that_two_servers_reach() {
    let place = Granted::new(&["work/archive", "notes/tools"]);
    place
        .server("outer", &[("work", "rw")])
        .server("inner", &[("work/archive", "ro")])
        .server("alone", &[("notes", "rw")]);
    let path = place.at("log");
    let log = std::fs::File::create(&path).unwrap();
    let mut client = Client::start(place.home.command(&["serve"]).stderr(log)).unwrap();
    stays_well(&mut client);
    let logged = || std::fs::read_to_string(&path).unwrap();
    let shared = |inner: &str, folder: &str, outer: &str| {
        format!(
            "the folder `{}` of server `{inner}` is in reach of server `{outer}` too",
            place.at(folder).display()
        )
    };
    let first = shared("inner", "work/archive", "outer");
    assert_eq!(logged().matches(&first).count(), 1, "{}", logged());
    assert!(!logged().contains("`alone`"), "{}", logged());
    // Grants that change while it runs are judged again, and what was told is not repeated.
    place.server("guest", &[("notes/tools", "rw")]);
    let second = shared("guest", "notes/tools", "alone");
    dormouse_tests::wait::until("the log tells", || {
        anyhow::ensure!(logged().contains(&second), "{}", logged());
        Ok(())
    })
    .unwrap();
    stays_well(&mut client);
    assert_eq!(
        logged().matches("is in reach of").count(),
        2,
        "{}",
        logged()
    );
}
