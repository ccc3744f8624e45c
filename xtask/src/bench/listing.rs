//! From spawn to the whole list, and the memory when nothing more is asked.

use std::fs;
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, ensure};
use dormouse_tests::{Home, artifacts};

use super::fleet::{self, TOOLS};
use super::report::Report;
use super::sample::Samples;

/// How many plugins.
const SIZES: [usize; 4] = [1, 10, 100, 1000];

/// How long the plugins' files are left alone before anything reads them. A file
/// that has changed in the last two seconds may change again without looking
/// different, so the index does not vouch for it, and what is to be a second start
/// would read all components once more.
const SETTLED: Duration = Duration::from_millis(2500);

/// How long a server that has answered is left alone before its memory is read.
/// Dormouse puts work off until its list is out, and lets go of the index then;
/// a reading in the midst of that is of neither the list nor an idle server.
const IDLE: Duration = Duration::from_millis(200);

pub(super) fn measure(report: &mut Report, rounds: usize) -> Result<()> {
    let guest = artifacts::guest("bench")?;
    let mut second_starts = Vec::new();
    for servers in SIZES {
        println!("\nspawn → tools/list, {servers} plugins of {TOOLS} tools");
        let home = fleet::home(&guest, servers)?;
        thread::sleep(SETTLED);
        let [mut floor, mut first, mut second] = [(); 3].map(|()| Samples::default());
        let [mut floor_memory, mut memory] = [(); 2].map(|()| Samples::default());
        for _ in 0..rounds {
            let (time, tools, wire) = fleet::spawn_to_list(&mut fleet::floor(servers)?)?;
            ensure!(
                tools.len() == servers * TOOLS,
                "the floor lists {} tools",
                tools.len()
            );
            floor.push_time(time);
            thread::sleep(IDLE);
            floor_memory.push(fleet::memory(&wire));
            fleet::leave(wire)?;

            // Without an index: the cache is as empty as on the first day.
            let cache = home.path().join("cache");
            fs::remove_dir_all(&cache)?;
            fs::create_dir(&cache)?;
            let (time, tools, wire) = fleet::spawn_to_list(&mut fleet::dormouse(&home))?;
            ensure!(
                tools.len() == servers * TOOLS,
                "dormouse lists {} tools",
                tools.len()
            );
            first.push_time(time);
            // The index is written once the list has been answered.
            fleet::leave(wire)?;

            let written = written(&home)?;
            let (time, tools, wire) = fleet::spawn_to_list(&mut fleet::dormouse(&home))?;
            ensure!(
                tools.len() == servers * TOOLS,
                "dormouse lists {} tools",
                tools.len()
            );
            second.push_time(time);
            thread::sleep(IDLE);
            memory.push(fleet::memory(&wire));
            fleet::leave(wire)?;
            ensure!(
                written == self::written(&home)?,
                "the second start has read components, and written what it found"
            );
        }
        report.value(&format!("list {servers}: floor"), floor.median(), "ms");
        report.value(
            &format!("list {servers}: first start"),
            first.median(),
            "ms",
        );
        report.value(
            &format!("list {servers}: second start"),
            second.median(),
            "ms",
        );
        report.value(
            &format!("list {servers}: memory, floor"),
            floor_memory.median(),
            "MiB",
        );
        report.value(&format!("list {servers}: memory"), memory.median(), "MiB");
        if servers == 100 {
            report.target(
                "second start ÷ floor, 2000 tools",
                second.median() / floor.median(),
                3.0,
                "×",
            );
            report.target(
                "first start ÷ second",
                first.median() / second.median(),
                2.0,
                "×",
            );
            report.target(
                "memory ÷ floor",
                memory.median() / floor_memory.median(),
                2.5,
                "×",
            );
        }
        second_starts.push((servers, second.median()));
    }
    let of = |size| {
        second_starts
            .iter()
            .find(|(servers, _)| *servers == size)
            .map_or(f64::NAN, |(_, time)| *time)
    };
    report.target("1000 plugins ÷ 100", of(1000) / of(100), 10.0, "×");
    Ok(())
}

/// When the catalog's index was written: again only if a component had to be read.
fn written(home: &Home) -> Result<SystemTime> {
    let file = home.path().join("cache/dormouse/catalog.index");
    let time = fs::metadata(&file).and_then(|metadata| metadata.modified());
    time.with_context(|| format!("there is no index `{}`", file.display()))
}
