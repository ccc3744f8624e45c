//! Another process exchanges files in a granted folder, or the folder itself, for links that lead
//! out of it, again and again, while a plugin reads and writes there.

use std::fs::{read_dir, read_to_string, write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::*;
use super::{Granted, run, stays_well, step};

/// Least number of exchanges while a plugin is at work.
const SWAPS: u64 = 20_000;

/// Most calls of a plugin.
const CALLS: usize = 2_000;

/// Exchanges two files for one another, without end.
struct Swapping {
    ends: Arc<AtomicBool>,
    swaps: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Swapping {
    fn start(one: PathBuf, other: PathBuf) -> Self {
        let (ends, swaps) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (end, count) = (ends.clone(), swaps.clone());
        let thread = std::thread::spawn(move || {
            while !end.load(Ordering::Relaxed) {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
                count.fetch_add(1, Ordering::Relaxed);
            }
            // As it was.
            if count.load(Ordering::Relaxed) % 2 == 1 {
                renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        Self {
            ends,
            swaps,
            thread: Some(thread),
        }
    }

    fn swaps(&self) -> u64 {
        self.swaps.load(Ordering::Relaxed)
    }
}

impl Drop for Swapping {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Makes a granted folder with `here`, a folder, and `away`, a link to a folder that is not
/// granted; both have a file `f`, and so has the granted folder, beside a link to the other one.
fn place() -> Granted {
    let place = Granted::new(&["notes/here", "outside"]);
    write(place.at("notes/here/f"), "inside").unwrap();
    write(place.at("notes/f"), "inside").unwrap();
    write(place.at("outside/f"), "OUTSIDE").unwrap();
    symlink(place.at("outside"), place.at("notes/away")).unwrap();
    symlink(place.at("outside/f"), place.at("notes/link")).unwrap();
    place.server("files", &[("notes", "rw")]);
    place
}

fn is_untouched(outside: &Path) {
    let names: Vec<_> = read_dir(outside)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["f"]);
    assert_eq!(read_to_string(outside.join("f")).unwrap(), "OUTSIDE");
}

/// Calls the plugin until there were enough swaps. Returns how often it has read what is inside,
/// and how often it was refused.
fn race(place: &Granted, swapped: [&str; 2], steps: &[String]) -> (usize, usize) {
    let mut client = place.serve();
    let warm = run(&mut client, "files", &["granted".to_owned()]);
    assert_eq!(warm, [place.at("notes").display().to_string()]);
    let [one, other] = swapped.map(|path| place.at(path));
    let swapping = Swapping::start(one, other);
    let (mut inside, mut refused) = (0, 0);
    for _ in 0..CALLS {
        if swapping.swaps() >= SWAPS && inside > 0 && refused > 0 {
            break;
        }
        for said in run(&mut client, "files", steps) {
            assert!(!said.contains("OUTSIDE"), "{said}");
            inside += usize::from(said.contains("inside"));
            refused += usize::from(said.starts_with("error: "));
        }
    }
    assert!(swapping.swaps() >= SWAPS, "{}", swapping.swaps());
    drop(swapping);
    is_untouched(&place.at("outside"));
    stays_well(&mut client);
    (inside, refused)
}

#[test]
fn a_folder_that_is_exchanged_in_a_race_is_never_left() {
    let place = place();
    let here = place.at("notes/here");
    let steps: Vec<_> = (0..50)
        .flat_map(|number| {
            let new = here.join(format!("new{number}"));
            let other = here.join("other");
            [
                step("read", &[&here.join("f")]),
                step("write", &[&new, Path::new("inside")]),
                step("rename", &[&new, &other]),
                step("link", &[&other, &new]),
                step("list", &[&here]),
                step("read", &[&here.join("../here/f")]),
            ]
        })
        .collect();
    let (inside, refused) = race(&place, ["notes/here", "notes/away"], &steps);
    assert!(
        inside > 0 && refused > 0,
        "{inside} inside, {refused} refused"
    );
}

#[test]
fn a_file_that_is_exchanged_in_a_race_is_never_another() {
    let place = place();
    let file = place.at("notes/f");
    let steps: Vec<_> = (0..100)
        .flat_map(|_| {
            [
                step("read", &[&file]),
                step("write", &[&file, Path::new("inside")]),
                step("touch", &[&file]),
            ]
        })
        .collect();
    let (inside, refused) = race(&place, ["notes/f", "notes/link"], &steps);
    assert!(
        inside > 0 && refused > 0,
        "{inside} inside, {refused} refused"
    );
}

/// Each call has the folder that was granted, or none.
#[test]
fn a_granted_folder_that_is_exchanged_itself_is_never_another() {
    let place = place();
    symlink(place.at("outside"), place.at("other")).unwrap();
    let mut client = place.serve();
    let notes = place.at("notes");
    let steps = [
        step("read", &[&notes.join("f")]),
        step("write", &[&notes.join("new"), Path::new("inside")]),
    ];
    run(&mut client, "files", &steps);
    let call = json!({ "name": "files__run", "arguments": { "steps": steps } });
    let swapping = Swapping::start(notes, place.at("other"));
    let (mut opened, mut refused) = (0, 0);
    for _ in 0..CALLS {
        if opened > 5 && refused > 5 && swapping.swaps() >= SWAPS {
            break;
        }
        let answer = client.request("tools/call", call.clone()).unwrap();
        let answer = answer.to_string();
        assert!(!answer.contains("OUTSIDE"), "{answer}");
        opened += usize::from(answer.contains("inside"));
        refused += usize::from(answer.contains("is a link now"));
    }
    assert!(
        opened > 0 && refused > 0,
        "{opened} opened, {refused} refused"
    );
    assert!(swapping.swaps() >= SWAPS, "{}", swapping.swaps());
    drop(swapping);
    is_untouched(&place.at("outside"));
    stays_well(&mut client);
}

/// Each start opens the folder that was granted, or none.
#[test]
fn a_folder_above_a_grant_is_exchanged_while_its_server_starts() {
    let place = Granted::new(&["above/notes", "outside/notes"]);
    write(place.at("above/notes/f"), "inside").unwrap();
    write(place.at("outside/notes/f"), "OUTSIDE").unwrap();
    symlink(place.at("outside"), place.at("link")).unwrap();
    place.server("files", &[("above/notes", "rw")]);
    let mut client = place.serve();
    let notes = place.at("above/notes");
    let call = json!({ "name": "files__run", "arguments": { "steps": [
        step("read", &[&notes.join("f")]),
        step("write", &[&notes.join("new"), Path::new("inside")]),
    ] } });
    run(&mut client, "files", &["granted".to_owned()]);
    let swapping = Swapping::start(place.at("above"), place.at("link"));
    let (mut opened, mut refused) = (0, 0);
    // As many as it takes until both have happened.
    for _ in 0..200 {
        if opened > 5 && refused > 5 {
            break;
        }
        assert!(
            place
                .home
                .run(&["restart", "files"])
                .unwrap()
                .status
                .success()
        );
        let answer = client
            .request("tools/call", call.clone())
            .unwrap()
            .to_string();
        assert!(!answer.contains("OUTSIDE"), "{answer}");
        opened += usize::from(answer.contains("inside"));
        refused += usize::from(answer.contains("\"isError\":true"));
    }
    assert!(swapping.swaps() > 1_000, "{}", swapping.swaps());
    assert!(
        opened > 0 && refused > 0,
        "{opened} opened, {refused} refused"
    );
    drop(swapping);
    let names: Vec<_> = read_dir(place.at("outside/notes")).unwrap().collect();
    assert_eq!(names.len(), 1, "{names:?}");
    stays_well(&mut client);
}

/// A process that can write beside the configuration keeps only its watcher busy: a plugin may be
/// granted a folder of a project, and the project's files are watched there.
#[test]
fn a_host_goes_on_while_files_beside_its_configuration_change_without_a_pause() {
    let place = Granted::new(&["config/one", "config/other"]);
    let mut client = place.serve();
    stays_well(&mut client);
    let swapping = Swapping::start(place.at("config/one"), place.at("config/other"));
    for number in 0..20 {
        // It is read again, and what is to be watched is looked at anew.
        let mut config = read_to_string(place.home.config()).unwrap();
        config.push_str(&format!("# {number}\n"));
        write(place.home.config(), config).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        client.request("ping", json!({})).unwrap();
        stays_well(&mut client);
    }
    assert!(swapping.swaps() > 1_000, "{}", swapping.swaps());
    drop(swapping);
    // And then it hears of changes as before.
    place.home.guests(&["counter"]).unwrap();
    dormouse_tests::wait::until("the new server", || {
        let tools = client.tools()?;
        let has = tools.iter().any(|tool| {
            let name = tool["name"].as_str();
            name.is_some_and(|name| name.starts_with("counter__"))
        });
        anyhow::ensure!(has, "{tools:?}");
        Ok(())
    })
    .unwrap();
}
