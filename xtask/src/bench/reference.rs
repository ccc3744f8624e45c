//! Tools of our plugins, beside the same ones of the reference servers, which are processes of
//! their own.

use std::process::Stdio;

use anyhow::Result;

use super::fleet;
use super::reference_pair::{self, Pair};
use super::report::Report;
use super::sample::Samples;

/// Warm calls to each.
const CALLS: u64 = 200;

/// Measurements of one server.
#[derive(Default)]
struct Measured {
    list: Samples,
    first: Samples,
    warm: Samples,
    memory: Samples,
}

pub(super) fn measure(report: &mut Report, rounds: usize) -> Result<()> {
    // Each of these takes a second to start; a few rounds tell enough.
    let rounds = rounds.min(5);
    for mut pair in reference_pair::all()? {
        println!("\n{}, beside its reference server", pair.name);
        // What is compiled once and for all.
        round(&mut pair, &mut [Measured::default(), Measured::default()])?;
        let mut measured = [Measured::default(), Measured::default()];
        for _ in 0..rounds {
            round(&mut pair, &mut measured)?;
        }
        let [theirs, ours] = &measured;
        for (what, theirs, ours, unit) in [
            ("spawn → list", &theirs.list, &ours.list, "ms"),
            ("first call", &theirs.first, &ours.first, "ms"),
            ("warm call", &theirs.warm, &ours.warm, "ms"),
            ("memory after calls", &theirs.memory, &ours.memory, "MiB"),
        ] {
            let name = pair.name;
            report.value(&format!("{name}: {what}, reference"), theirs.median(), unit);
            report.value(&format!("{name}: {what}"), ours.median(), unit);
            let ratio = theirs.median() / ours.median();
            let what = format!("{name}: {what}, reference ÷ ours");
            match pair.least_ratio_of_warm_calls {
                Some(least) if unit == "ms" && what.contains("warm") => {
                    report.target_at_least(&what, ratio, least, "×");
                }
                _ => report.value(&what, ratio, "×"),
            }
        }
    }
    Ok(())
}

/// Starts both, and calls each in turn.
fn round(pair: &mut Pair, [theirs, ours]: &mut [Measured; 2]) -> Result<()> {
    let (time, _, mut server) = fleet::spawn_to_list(pair.reference.stderr(Stdio::null()))?;
    theirs.list.push_time(time);
    let (time, _, mut host) = fleet::spawn_to_list(&mut pair.ours())?;
    ours.list.push_time(time);
    let our_tool = format!("{}__{}", pair.name, pair.tool);
    let mut call = |id| {
        Ok::<_, anyhow::Error>([
            fleet::call(&mut server, id, pair.tool, &pair.arguments)?,
            fleet::call(&mut host, id, &our_tool, &pair.arguments)?,
        ])
    };
    let [first, our_first] = call(999)?;
    theirs.first.push_time(first);
    ours.first.push_time(our_first);
    for id in 0..CALLS {
        let [warm, our_warm] = call(1000 + id)?;
        theirs.warm.push_time(warm);
        ours.warm.push_time(our_warm);
    }
    theirs.memory.push(fleet::memory(&server));
    ours.memory.push(fleet::memory(&host));
    fleet::leave(server)?;
    fleet::leave(host)
}
