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

/// Numbers of clients, each with the number of calls that each client makes in a round.
const CLIENTS: [(usize, usize); 2] = [(1, 1000), (64, 100)];

/// Number of processes of each server that take part. The place of a process in memory and on the
/// processors changes its times by a tenth for as long as it runs.
const PROCESSES: usize = 5;

/// Largest ratio of a call's cost to that of the floor.
const AT_MOST: f64 = 1.3;

#[derive(Debug, Clone, Copy)]
pub(super) enum Era {
    /// Session for each client. The floor answers with streams of events.
    Legacy,
    /// Requests on their own; answers are JSON.
    Stateless,
}

pub(super) fn measure(report: &mut Report, rounds: usize) -> Result<()> {
    let home = fleet::home(&artifacts::guest("bench")?, 1)?;
    let eras = [(Era::Legacy, "legacy"), (Era::Stateless, "stateless")];
    let cases = eras
        .iter()
        .flat_map(|era| CLIENTS.map(|clients| (*era, clients)));
    let mut cases: Vec<_> = cases
        .map(|case| (case, Seen::default(), Seen::default()))
        .collect();
    for _ in 0..PROCESSES {
        let (ours, floor) = (home.serve_http(&[])?, fleet::floor_http(1)?);
        for (((era, _), (clients, calls)), of_ours, of_floor) in &mut cases {
            let mut ours = Side::new(&ours, *era, *clients, *calls, of_ours)?;
            let mut floor = Side::new(&floor, *era, *clients, *calls, of_floor)?;
            for _ in 0..rounds.div_ceil(PROCESSES) {
                ours.round()?;
                floor.round()?;
            }
            ours.end();
            floor.end();
        }
    }
    for (((_, name), (clients, _)), ours, floor) in &cases {
        println!("\nHTTP, {name}, clients: {clients}");
        tell(report, &format!("http {name}, {clients}"), ours, floor);
    }
    Ok(())
}

fn tell(report: &mut Report, name: &str, ours: &Seen, floor: &Seen) {
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
    let [ours, floor] = [ours, floor].map(Seen::cpu_time);
    report.value(&format!("{name}: floor, CPU time of a call"), floor, "ms");
    report.value(&format!("{name}: CPU time of a call"), ours, "ms");
}

/// Measurements by the clients of one of the two servers, in all its processes.
#[derive(Default)]
struct Seen {
    times: Samples,
    per_second: Samples,
    /// CPU time that the server has used; none where the system does not tell.
    used: Option<Duration>,
}

impl Seen {
    /// Returns the CPU time of a call, in milliseconds; not a number where the system does not
    /// tell.
    fn cpu_time(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "a few thousand")]
        let calls = self.times.len() as f64;
        self.used
            .map_or(f64::NAN, |used| used.as_secs_f64() * 1e3 / calls)
    }
}

/// Process of a server, and its clients.
struct Side<'a> {
    server: &'a Server,
    callers: Vec<Caller>,
    /// Number of calls that each client makes in a round.
    calls: usize,
    /// The CPU time that the server had used before the first round.
    before: Option<Duration>,
    seen: &'a mut Seen,
}

impl<'a> Side<'a> {
    /// Connects the clients, and warms up.
    fn new(
        server: &'a Server,
        era: Era,
        clients: usize,
        calls: usize,
        seen: &'a mut Seen,
    ) -> Result<Self> {
        let mut callers = callers(server, era, clients)?;
        burst(&mut callers, calls)?;
        Ok(Self {
            server,
            callers,
            calls,
            before: server.cpu_time().ok(),
            seen,
        })
    }

    fn round(&mut self) -> Result<()> {
        let burst = burst(&mut self.callers, self.calls)?;
        #[allow(clippy::cast_precision_loss, reason = "a few thousand")]
        let calls = burst.times.len() as f64;
        self.seen
            .per_second
            .push(calls / burst.lasted.as_secs_f64());
        for time in burst.times {
            self.seen.times.push_time(time);
        }
        Ok(())
    }

    /// Adds the CPU time of the server since the first round.
    fn end(self) {
        if let (Some(before), Ok(now)) = (self.before, self.server.cpu_time()) {
            *self.seen.used.get_or_insert_default() += now - before;
        }
    }
}

/// Connects that many clients to a server.
pub(super) fn callers(server: &Server, era: Era, clients: usize) -> Result<Vec<Caller>> {
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

/// Measurements by all clients of a server in one go.
#[derive(Debug)]
pub(super) struct Burst {
    times: Vec<Duration>,
    pub(super) lasted: Duration,
}

/// Makes all clients call at the same time, each on a thread of its own.
pub(super) fn burst(callers: &mut [Caller], calls: usize) -> Result<Burst> {
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
