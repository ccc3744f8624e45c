//! From spawn to the whole list, and the memory when nothing more is asked.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, ensure};
use dormouse_tests::wire::Wire;
use dormouse_tests::{Home, artifacts};

use super::fleet::{self, TOOLS};
use super::report::Report;
use super::sample::Samples;

/// Numbers of plugins.
const SIZES: [usize; 4] = [1, 10, 100, 1000];

/// Time for which the plugins' files are left alone before anything reads them. A file that has
/// changed in the last two seconds may change again without looking different, so the index does
/// not vouch for it, and a second start would read all components once more.
const SETTLED: Duration = Duration::from_millis(2500);

/// Time for which a server that has answered is left alone before its memory is read. Dormouse puts
/// work off until its list is out, and lets go of the index then; a reading in the midst of that is
/// of neither the list nor an idle server.
const IDLE: Duration = Duration::from_millis(200);

/// Home of so many plugins, and the measurements with it.
struct Size {
    servers: usize,
    home: Home,
    floor: Samples,
    first: Samples,
    second: Samples,
    floor_memory: Samples,
    memory: Samples,
}

impl Size {
    fn new(guest: &Path, servers: usize) -> Result<Self> {
        let [floor, first, second, floor_memory, memory] = [(); 5].map(|()| Samples::default());
        Ok(Self {
            servers,
            home: fleet::home(guest, servers)?,
            floor,
            first,
            second,
            floor_memory,
            memory,
        })
    }

    fn round(&mut self) -> Result<()> {
        let (time, wire) = self.start("the floor", &mut fleet::floor(self.servers)?)?;
        self.floor.push_time(time);
        thread::sleep(IDLE);
        self.floor_memory.push(fleet::memory(&wire));
        fleet::leave(wire)?;

        // Without an index: the cache is as empty as on the first day.
        let cache = self.home.path().join("cache");
        fs::remove_dir_all(&cache)?;
        fs::create_dir(&cache)?;
        let (time, wire) = self.start("dormouse", &mut fleet::dormouse(&self.home))?;
        self.first.push_time(time);
        // The index is written once the list has been answered.
        fleet::leave(wire)?;

        let written = written(&self.home)?;
        let (time, wire) = self.start("dormouse", &mut fleet::dormouse(&self.home))?;
        self.second.push_time(time);
        thread::sleep(IDLE);
        self.memory.push(fleet::memory(&wire));
        fleet::leave(wire)?;
        ensure!(
            written == self::written(&self.home)?,
            "the second start has read components, and written what it found"
        );
        Ok(())
    }

    /// Starts a server that has to list all tools.
    fn start(&self, name: &str, command: &mut Command) -> Result<(Duration, Wire)> {
        let (time, tools, wire) = fleet::spawn_to_list(command)?;
        ensure!(
            tools.len() == self.servers * TOOLS,
            "{name} lists {} tools",
            tools.len()
        );
        Ok((time, wire))
    }
}

pub(super) fn measure(report: &mut Report, rounds: usize) -> Result<()> {
    let guest = artifacts::guest("bench")?;
    let sizes = SIZES.map(|servers| Size::new(&guest, servers));
    let mut sizes = sizes.into_iter().collect::<Result<Vec<_>>>()?;
    thread::sleep(SETTLED);
    // The sizes are compared too, so they take turns like everything else.
    for _ in 0..rounds {
        sizes.iter_mut().try_for_each(Size::round)?;
    }
    for size in &sizes {
        let servers = size.servers;
        println!("\nspawn → tools/list, {servers} plugins of {TOOLS} tools");
        for (what, samples, unit) in [
            ("floor", &size.floor, "ms"),
            ("first start", &size.first, "ms"),
            ("second start", &size.second, "ms"),
            ("memory, floor", &size.floor_memory, "MiB"),
            ("memory", &size.memory, "MiB"),
        ] {
            report.value(&format!("list {servers}: {what}"), samples.median(), unit);
        }
        if servers == 100 {
            let [floor, first, second] =
                [&size.floor, &size.first, &size.second].map(Samples::median);
            report.target("second start ÷ floor, 2000 tools", second / floor, 3.0, "×");
            report.target("first start ÷ second", first / second, 2.0, "×");
            let ratio = size.memory.median() / size.floor_memory.median();
            report.target("memory ÷ floor", ratio, 2.5, "×");
        }
    }
    let of = |servers| {
        let size = sizes.iter().find(|size| size.servers == servers);
        size.map_or(f64::NAN, |size| size.second.median())
    };
    report.target("1000 plugins ÷ 100", of(1000) / of(100), 10.0, "×");
    Ok(())
}

/// Returns the time at which the catalog's index was written: again only if a component had to be
/// read.
fn written(home: &Home) -> Result<SystemTime> {
    let file = home.path().join("cache/dormouse/catalog.index");
    let time = fs::metadata(&file).and_then(|metadata| metadata.modified());
    time.with_context(|| format!("there is no index `{}`", file.display()))
}
