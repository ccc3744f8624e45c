//! From spawn to the whole list, and the memory then.

use anyhow::{Result, ensure};
use dormouse_tests::artifacts;

use super::fleet::{self, TOOLS};
use super::report::Report;
use super::sample::Samples;

/// How many plugins.
const SIZES: [usize; 4] = [1, 10, 100, 1000];

pub(super) fn measure(report: &mut Report, rounds: usize) -> Result<()> {
    let guest = artifacts::guest("bench")?;
    let mut second_starts = Vec::new();
    for servers in SIZES {
        println!("\nspawn → tools/list, {servers} plugins of {TOOLS} tools");
        let home = fleet::home(&guest, servers)?;
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
            floor_memory.push(fleet::memory(&wire));
            fleet::leave(wire)?;

            // Without an index: the cache is as empty as on the first day.
            let cache = home.path().join("cache");
            std::fs::remove_dir_all(&cache)?;
            std::fs::create_dir(&cache)?;
            let (time, tools, wire) = fleet::spawn_to_list(&mut fleet::dormouse(&home))?;
            ensure!(
                tools.len() == servers * TOOLS,
                "dormouse lists {} tools",
                tools.len()
            );
            first.push_time(time);
            // The index is written once the list has been answered.
            fleet::leave(wire)?;

            let (time, tools, wire) = fleet::spawn_to_list(&mut fleet::dormouse(&home))?;
            ensure!(
                tools.len() == servers * TOOLS,
                "dormouse lists {} tools",
                tools.len()
            );
            second.push_time(time);
            memory.push(fleet::memory(&wire));
            fleet::leave(wire)?;
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
