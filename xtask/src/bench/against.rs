//! An older `dormouse` and this one, in interleaved pairs: a machine's speed drifts over
//! minutes, and then it drifts for both.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use dormouse_tests::http::Server;
use dormouse_tests::wire::{Wire, request};
use dormouse_tests::{Home, Upstream, artifacts};
use serde_json::{Value, json};

use super::calls::ECHO;
use super::fleet;
use super::http::{self, Era};
use super::report::Report;
use super::sample::Samples;

/// Pairs of each measurement, at least.
const MIN_PAIRS: usize = 5;

/// The largest ratio of this `dormouse` to the older one that is not worse.
const MAX_RATIO: f64 = 1.1;

/// Plugins in the home whose list is measured.
const PLUGINS: usize = 100;

/// Calls that one sample of a warm call is the median of.
const CALLS: u64 = 500;

/// Time in which a file that was just written may change again without looking
/// different, so that the index of the catalog does not vouch for it.
const SETTLED: Duration = Duration::from_millis(2500);

/// Time that a host is left alone before its memory is read.
const IDLE: Duration = Duration::from_millis(200);

/// Program of one side, with homes of its own.
struct Side {
    /// A home with many plugins.
    many: Home,
    /// A home with one plugin and one bridged server.
    one: Home,
    /// Options without which `serve --http` wants a token.
    http_options: &'static [&'static str],
    id: u64,
}

impl Side {
    fn new(program: &Path) -> Result<Self> {
        let guest = artifacts::guest("bench")?;
        let one = fleet::home_of(program, &guest, 1)?;
        let floor = Upstream::new(&artifacts::dist("dormouse-floor")?);
        one.upstream("bridged", &floor.arg(1).arg(1), "")?;
        one.synced("bridged")?;
        let help = Command::new(program).args(["serve", "--help"]).output()?;
        let has_tokens = String::from_utf8_lossy(&help.stdout).contains("--no-token");
        Ok(Self {
            many: fleet::home_of(program, &guest, PLUGINS)?,
            one,
            http_options: if has_tokens { &["--no-token"] } else { &[] },
            id: 1000,
        })
    }

    fn host(home: &Home) -> Result<Wire> {
        let (_, _, wire) = fleet::spawn_to_list(&mut fleet::dormouse(home))?;
        Ok(wire)
    }

    /// Returns the milliseconds from the start to the whole list.
    fn list(&mut self) -> Result<f64> {
        let (time, _, wire) = fleet::spawn_to_list(&mut fleet::dormouse(&self.many))?;
        fleet::leave(wire)?;
        Ok(milliseconds(time))
    }

    /// Returns the memory of a host that has listed and does nothing, in MiB.
    fn idle_memory(&mut self) -> Result<f64> {
        let wire = Self::host(&self.many)?;
        thread::sleep(IDLE);
        let memory = fleet::memory(&wire);
        fleet::leave(wire)?;
        Ok(memory)
    }

    /// Returns the milliseconds of a compiled plugin's first call, in a host that has called
    /// another.
    fn first_call(&mut self) -> Result<f64> {
        let mut wire = Self::host(&self.many)?;
        let text = json!({ "text": "" });
        fleet::call(&mut wire, 1000, ECHO, &text)?;
        let mut samples = Samples::default();
        for plugin in 1..=10 {
            let tool = format!("p{plugin:04}__echo");
            samples.push_time(fleet::call(&mut wire, 1000 + plugin, &tool, &text)?);
        }
        fleet::leave(wire)?;
        Ok(samples.median())
    }

    /// Returns the median milliseconds of a warm call of this tool.
    fn warm(&mut self, tool: &str, bytes: usize) -> Result<f64> {
        let mut wire = Self::host(&self.one)?;
        let text = json!({ "text": "x".repeat(bytes) });
        let mut samples = Samples::default();
        for call in 0..CALLS {
            self.id += 1;
            let time = fleet::call(&mut wire, self.id, tool, &text)?;
            if call >= CALLS / 10 {
                samples.push_time(time);
            }
        }
        fleet::leave(wire)?;
        Ok(samples.median())
    }

    /// Returns the milliseconds for many calls over stdio, 64 of them at a time.
    fn in_flight(&mut self) -> Result<f64> {
        let mut wire = Self::host(&self.one)?;
        let params = json!({ "name": ECHO, "arguments": { "text": "x".repeat(100) } });
        fleet::call(&mut wire, 1000, ECHO, &json!({ "text": "" }))?;
        let start = Instant::now();
        let (mut sent, mut answered) = (0, 0);
        while answered < 4 * CALLS {
            if sent < 4 * CALLS && sent - answered < 64 {
                wire.send(&request(100_000 + sent, "tools/call", params.clone()))?;
                sent += 1;
                continue;
            }
            let message = wire.receive()?;
            if message.get("id").is_some() {
                message
                    .get("result")
                    .filter(|result| result.get("isError") != Some(&Value::Bool(true)))
                    .with_context(|| format!("answered with {message}"))?;
                answered += 1;
            }
        }
        let time = start.elapsed();
        fleet::leave(wire)?;
        Ok(milliseconds(time))
    }

    /// Returns the milliseconds for a burst of calls of 64 clients over HTTP.
    fn http(&mut self, era: Era) -> Result<f64> {
        let mut options = vec!["serve", "--http", "127.0.0.1:0"];
        options.extend_from_slice(self.http_options);
        let server = Server::start(self.one.command(&options).stdin(Stdio::null()))?;
        let mut callers = http::callers(&server, era, 64)?;
        http::burst(&mut callers, 20)?;
        let mut samples = Samples::default();
        for _ in 0..3 {
            samples.push_time(http::burst(&mut callers, 50)?.lasted);
        }
        Ok(samples.median())
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A measurement, in a unit of which less is better.
type Measure = fn(&mut Side) -> Result<f64>;

/// Measurements, with their units.
const MEASURES: [(&str, &str, Measure); 9] = [
    ("start to list, 100 plugins", "ms", Side::list),
    ("memory of an idle host", "MiB", Side::idle_memory),
    ("first call of a compiled plugin", "ms", Side::first_call),
    ("warm call, 100 B", "ms", |side| side.warm(ECHO, 100)),
    ("warm call, 100 KB", "ms", |side| side.warm(ECHO, 100_000)),
    ("2000 calls, 64 in flight", "ms", Side::in_flight),
    ("HTTP, stateless, 64 clients", "ms", |side| {
        side.http(Era::Stateless)
    }),
    ("HTTP, sessions, 64 clients", "ms", |side| {
        side.http(Era::Legacy)
    }),
    ("bridged call, 100 B", "ms", |side| {
        side.warm("bridged__p0000__echo", 100)
    }),
];

/// Copies a program. The part of a used file that is in memory depends on how the system has read
/// or written that file; of two copies it is the same.
fn copied(program: &Path, copy: &Path) -> Result<PathBuf> {
    std::fs::copy(program, copy)
        .with_context(|| format!("`{}` cannot be copied", program.display()))?;
    Ok(copy.to_owned())
}

pub(super) fn measure(report: &mut Report, older: &Path, rounds: usize) -> Result<()> {
    let programs = tempfile::tempdir()?;
    let mut sides = [
        Side::new(&copied(older, &programs.path().join("older"))?)
            .with_context(|| format!("`{}` cannot be measured", older.display()))?,
        Side::new(&copied(
            &artifacts::dist("dormouse")?,
            &programs.path().join("newer"),
        )?)?,
    ];
    // The first start reads and compiles, which is not what is compared.
    for side in &mut sides {
        thread::sleep(SETTLED);
        side.first_call()?;
        side.warm(ECHO, 100)?;
    }
    for (name, unit, measure) in MEASURES {
        println!("\n{name}");
        let mut samples = [Samples::default(), Samples::default()];
        let mut ratios = Samples::default();
        for round in 0..rounds.max(MIN_PAIRS) {
            let mut pair = [f64::NAN; 2];
            // Who comes first changes, so that nobody always runs on the other's heat.
            for place in [round % 2, 1 - round % 2] {
                let (Some(side), Some(value)) = (sides.get_mut(place), pair.get_mut(place)) else {
                    continue;
                };
                *value = measure(side).with_context(|| name.to_owned())?;
            }
            let [old, new] = pair;
            ratios.push(new / old);
            for (samples, value) in samples.iter_mut().zip(pair) {
                samples.push(value);
            }
        }
        let [old, new] = samples.map(|samples| samples.median());
        report.value(&format!("{name}: older"), old, unit);
        report.value(&format!("{name}: this one"), new, unit);
        report.target(
            &format!("{name}: this one ÷ older"),
            ratios.median(),
            MAX_RATIO,
            "×",
        );
    }
    Ok(())
}
