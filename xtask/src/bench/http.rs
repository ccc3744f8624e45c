//! Calls over HTTP, by one client and by many, in both eras.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use dormouse_tests::artifacts;
use dormouse_tests::http::{Request, Server, Session};
use serde_json::json;

use super::caller::{Caller, FIRST};
use super::calls::ECHO;
use super::fleet;
use super::report::Report;
use super::sample::Samples;

/// How many clients, and how many calls each of them makes in a round.
const CLIENTS: [(usize, usize); 2] = [(1, 1000), (64, 100)];

/// How many times as much as the floor a call may cost.
const AT_MOST: f64 = 1.3;

#[derive(Debug, Clone, Copy)]
enum Era {
    /// A session for each client. The floor answers with streams of events.
    Legacy,
    /// Each request on its own; answers are JSON.
    Stateless,
}

pub(super) fn measure(report: &mut Report, rounds: usize) -> Result<()> {
    let home = fleet::home(&artifacts::guest("bench")?, 1)?;
    let ours = home.serve_http(&[])?;
    let floor = fleet::floor_http(1)?;
    for (era, name) in [(Era::Legacy, "legacy"), (Era::Stateless, "stateless")] {
        for (clients, calls) in CLIENTS {
            println!("\nHTTP, {name}, clients: {clients}");
            let mut ours = Side::new(&ours, era, (clients, calls))?;
            let mut floor = Side::new(&floor, era, (clients, calls))?;
            for _ in 0..rounds {
                ours.round()?;
                floor.round()?;
            }
            tell(report, &format!("http {name}, {clients}"), &ours, &floor);
        }
    }
    Ok(())
}

fn tell(report: &mut Report, name: &str, ours: &Side<'_>, floor: &Side<'_>) {
    for (what, share) in [("p50", 0.5), ("p99", 0.99)] {
        let [ours, floor] = [ours, floor].map(|side| side.times.percentile(share));
        report.value(&format!("{name}: floor, {what}"), floor, "ms");
        report.value(&format!("{name}: {what}"), ours, "ms");
        let name = format!("{name}: {what} ÷ floor");
        report.target(&name, ours / floor, AT_MOST, "×");
    }
    let [per_second, of_floor] = [ours, floor].map(|side| side.per_second.median());
    report.value(&format!("{name}: floor, calls per second"), of_floor, "/s");
    report.value(&format!("{name}: calls per second"), per_second, "/s");
    // Upside down, so that here too more is worse.
    let worse = format!("{name}: floor ÷ calls per second");
    report.target(&worse, of_floor / per_second, AT_MOST, "×");
    // Says where the time has gone, on a machine with something else to do too.
    let [ours, floor] = [ours, floor].map(Side::cpu_time);
    report.value(&format!("{name}: floor, CPU time of a call"), floor, "ms");
    report.value(&format!("{name}: CPU time of a call"), ours, "ms");
}

/// One of the two servers, its clients and what they have seen of it.
struct Side<'a> {
    server: &'a Server,
    callers: Vec<Caller>,
    /// How many calls each of them makes in a round.
    calls: usize,
    /// The CPU time that the server had used before the first round.
    used: Option<Duration>,
    times: Samples,
    per_second: Samples,
}

impl<'a> Side<'a> {
    /// Connects the clients, and warms up.
    fn new(server: &'a Server, era: Era, (clients, calls): (usize, usize)) -> Result<Self> {
        let mut callers = callers(server, era, clients)?;
        burst(&mut callers, calls)?;
        Ok(Self {
            server,
            callers,
            calls,
            used: server.cpu_time().ok(),
            times: Samples::default(),
            per_second: Samples::default(),
        })
    }

    fn round(&mut self) -> Result<()> {
        let burst = burst(&mut self.callers, self.calls)?;
        #[allow(clippy::cast_precision_loss, reason = "a few thousand")]
        let calls = burst.times.len() as f64;
        self.per_second.push(calls / burst.lasted.as_secs_f64());
        for time in burst.times {
            self.times.push_time(time);
        }
        Ok(())
    }

    /// What a call has cost the server so far, in milliseconds; not a number where
    /// the system does not tell.
    fn cpu_time(&self) -> f64 {
        let used = self.used.zip(self.server.cpu_time().ok());
        #[allow(clippy::cast_precision_loss, reason = "a few thousand")]
        let calls = self.times.len() as f64;
        used.map_or(f64::NAN, |(before, now)| {
            (now - before).as_secs_f64() * 1e3 / calls
        })
    }
}

/// That many clients of a server.
fn callers(server: &Server, era: Era, clients: usize) -> Result<Vec<Caller>> {
    let text = "x".repeat(100);
    let params = json!({ "name": ECHO, "arguments": { "text": text } });
    let caller = |_| {
        let params = params.clone();
        let request = match era {
            Era::Legacy => Session::open(server)?.request(FIRST, "tools/call", params),
            Era::Stateless => Request::stateless(FIRST, "tools/call", params),
        };
        Caller::new(server, &request, &text)
    };
    (0..clients).map(caller).collect()
}

/// What all clients of a server have seen of it in one go.
#[derive(Debug)]
struct Burst {
    times: Vec<Duration>,
    lasted: Duration,
}

/// Has all clients call at the same time, each on a thread of its own.
fn burst(callers: &mut [Caller], calls: usize) -> Result<Burst> {
    let together = Barrier::new(callers.len());
    let one = |caller: &mut Caller| {
        together.wait();
        let start = Instant::now();
        let times: Result<Vec<_>> = (0..calls).map(|_| caller.call()).collect();
        anyhow::Ok((start, times?, Instant::now()))
    };
    let seen = thread::scope(|scope| {
        let threads: Vec<_> = callers
            .iter_mut()
            .map(|caller| scope.spawn(|| one(caller)))
            .collect();
        let joined = threads.into_iter().map(|thread| {
            let seen = thread.join();
            seen.map_err(|_| anyhow!("a client has panicked"))?
        });
        joined.collect::<Result<Vec<_>>>()
    })?;
    let start = seen.iter().map(|(start, ..)| *start).min();
    let end = seen.iter().map(|(.., end)| *end).max();
    let (start, end) = start.zip(end).context("there are no clients")?;
    Ok(Burst {
        times: seen.into_iter().flat_map(|(_, times, _)| times).collect(),
        lasted: end - start,
    })
}
