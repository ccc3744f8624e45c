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
    /// A session for each client; answers are streams of events.
    Legacy,
    /// Each request on its own; answers are JSON.
    Stateless,
}

/// What was measured of one server.
#[derive(Debug, Default)]
struct Figures {
    times: Samples,
    per_second: Samples,
}

pub(super) fn measure(report: &mut Report, rounds: usize) -> Result<()> {
    let home = fleet::home(&artifacts::guest("bench")?, 1)?;
    let ours = home.serve_http(&[])?;
    let floor = fleet::floor_http(1)?;
    for (era, name) in [(Era::Legacy, "legacy"), (Era::Stateless, "stateless")] {
        for (clients, calls) in CLIENTS {
            println!("\nHTTP, {name}, clients: {clients}");
            let [mut with, mut without] = [(); 2].map(|()| Figures::default());
            let mut callers_of_ours = callers(&ours, era, clients)?;
            let mut callers_of_floor = callers(&floor, era, clients)?;
            // The first of these only warms up.
            for round in 0..=rounds {
                let our_burst = burst(&mut callers_of_ours, calls)?;
                let its_burst = burst(&mut callers_of_floor, calls)?;
                if round > 0 {
                    with.push(our_burst);
                    without.push(its_burst);
                }
            }
            tell(report, &format!("http {name}, {clients}"), &with, &without);
        }
    }
    Ok(())
}

impl Figures {
    fn push(&mut self, burst: Burst) {
        #[allow(clippy::cast_precision_loss, reason = "a few thousand")]
        let calls = burst.times.len() as f64;
        self.per_second.push(calls / burst.lasted.as_secs_f64());
        for time in burst.times {
            self.times.push_time(time);
        }
    }
}

fn tell(report: &mut Report, name: &str, ours: &Figures, floor: &Figures) {
    for (what, share) in [("p50", 0.5), ("p99", 0.99)] {
        let [ours, floor] = [ours, floor].map(|figures| figures.times.percentile(share));
        report.value(&format!("{name}: floor, {what}"), floor, "ms");
        report.value(&format!("{name}: {what}"), ours, "ms");
        let name = format!("{name}: {what} ÷ floor");
        report.target(&name, ours / floor, AT_MOST, "×");
    }
    let [ours, floor] = [ours, floor].map(|figures| figures.per_second.median());
    report.value(&format!("{name}: floor, calls per second"), floor, "/s");
    report.value(&format!("{name}: calls per second"), ours, "/s");
    // Upside down, so that here too more is worse.
    let name = format!("{name}: floor ÷ calls per second");
    report.target(&name, floor / ours, AT_MOST, "×");
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
