//! First and warm calls, small and large, one at a time and many at once.

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use dormouse_tests::artifacts;
use dormouse_tests::wire::{Wire, request};
use serde_json::{Value, json};

use super::fleet;
use super::report::Report;
use super::sample::Samples;

/// Number of warm calls of each kind; enough for a 99th percentile.
const CALLS: u64 = 2000;

/// The tool that both servers have under this name.
pub(super) const ECHO: &str = "p0000__echo";

pub(super) fn measure(report: &mut Report, rounds: usize) -> Result<()> {
    first(report, rounds)?;
    warm(report)?;
    many(report, rounds)
}

/// Measures the first call of a server in a host that has run another one already.
fn first(report: &mut Report, rounds: usize) -> Result<()> {
    let plugin = artifacts::plugin("filesystem")?;
    #[allow(clippy::cast_precision_loss, reason = "a file's size")]
    let size = std::fs::metadata(&plugin)?.len() as f64 / 1024.0;
    println!("\nfirst call in a running host");
    report.value("first call: size of the plugin", size, "KiB");
    let home = fleet::home(&plugin, rounds + 1)?;
    let mut medians = Vec::new();
    for kind in ["not yet compiled", "compiled before"] {
        let (_, _, mut wire) = fleet::spawn_to_list(&mut fleet::dormouse(&home))?;
        let mut samples = Samples::default();
        for number in 0..=rounds {
            let tool = format!("p{number:04}__list_allowed_directories");
            let id = 1000 + u64::try_from(number)?;
            let time = fleet::call(&mut wire, id, &tool, &json!({}));
            // The very first makes the engine, which no later one has to.
            match time {
                Ok(time) if number > 0 => samples.push_time(time),
                Ok(_) => {}
                Err(error) => return Err(error.context("the first call")),
            }
        }
        fleet::leave(wire)?;
        report.value(&format!("first call: {kind}"), samples.median(), "ms");
        medians.push(samples.median());
    }
    report.target(
        "first call, compiled before",
        medians.last().copied().unwrap_or(f64::NAN),
        3.0,
        "ms",
    );
    Ok(())
}

/// Measures calls one after the other, one to each server in turn.
fn warm(report: &mut Report) -> Result<()> {
    let home = fleet::home(&artifacts::guest("bench")?, 1)?;
    let (_, _, mut ours) = fleet::spawn_to_list(&mut fleet::dormouse(&home))?;
    let (_, _, mut floor) = fleet::spawn_to_list(&mut fleet::floor(1)?)?;
    for (size, bytes, calls) in [("100 B", 100, CALLS), ("100 KB", 100_000, CALLS / 5)] {
        println!("\nwarm call, {size}, a fresh instance each");
        let arguments = json!({ "text": "x".repeat(bytes) });
        let [mut with, mut without] = [(); 2].map(|()| Samples::default());
        let base = 10_000 + bytes as u64 * 10;
        for call in 0..calls {
            let ours = fleet::call(&mut ours, base + call, ECHO, &arguments)?;
            let floor = fleet::call(&mut floor, base + call, ECHO, &arguments)?;
            // The first tenth only warms up.
            if call >= calls / 10 {
                with.push_time(ours);
                without.push_time(floor);
            }
        }
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            report.value(
                &format!("warm {size}: floor, {name}"),
                without.percentile(share),
                "ms",
            );
            report.value(
                &format!("warm {size}: {name}"),
                with.percentile(share),
                "ms",
            );
        }
        if bytes == 100 {
            report.target(
                "warm call − floor, p50",
                with.median() - without.median(),
                0.15,
                "ms",
            );
        }
    }
    fleet::leave(ours)?;
    fleet::leave(floor)
}

/// Measures calls per second.
fn many(report: &mut Report, rounds: usize) -> Result<()> {
    let home = fleet::home(&artifacts::guest("bench")?, 1)?;
    let (_, _, mut ours) = fleet::spawn_to_list(&mut fleet::dormouse(&home))?;
    let (_, _, mut floor) = fleet::spawn_to_list(&mut fleet::floor(1)?)?;
    // Compiles, and makes the engine.
    fleet::call(&mut ours, 100, ECHO, &json!({ "text": "" }))?;
    for flight in [1, 64] {
        println!("\ncalls per second, {flight} in flight");
        let [mut with, mut without] = [(); 2].map(|()| Samples::default());
        for _ in 0..rounds {
            with.push(per_second(&mut ours, flight)?);
            without.push(per_second(&mut floor, flight)?);
        }
        report.value(
            &format!("{flight} in flight: floor"),
            without.median(),
            "/s",
        );
        report.value(&format!("{flight} in flight"), with.median(), "/s");
        report.value(
            &format!("{flight} in flight ÷ floor"),
            with.median() / without.median(),
            "×",
        );
    }
    fleet::leave(ours)?;
    fleet::leave(floor)
}

fn per_second(wire: &mut Wire, flight: u64) -> Result<f64> {
    const FIRST: u64 = 1_000_000;
    let params = json!({ "name": ECHO, "arguments": { "text": "x".repeat(100) } });
    let start = Instant::now();
    let mut sent = 0;
    while sent < flight {
        wire.send(&request(FIRST + sent, "tools/call", params.clone()))?;
        sent += 1;
    }
    for _ in 0..CALLS {
        let message = loop {
            let message = wire.receive()?;
            if message.get("id").is_some() {
                break message;
            }
        };
        let result = message
            .get("result")
            .with_context(|| format!("answered with {message}"))?;
        ensure!(
            result.get("isError") != Some(&Value::Bool(true)),
            "answered with {message}"
        );
        if sent < CALLS {
            wire.send(&request(FIRST + sent, "tools/call", params.clone()))?;
            sent += 1;
        }
    }
    #[allow(clippy::cast_precision_loss, reason = "a few thousand")]
    let calls = CALLS as f64;
    Ok(calls / start.elapsed().as_secs_f64())
}
