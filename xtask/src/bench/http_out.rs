//! HTTP requests of a plugin, and the same ones sent natively.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use dormouse_tests::artifacts;
use dormouse_tests::wire::Wire;
use serde_json::{Value, json};

use super::fleet;
use super::report::Report;
use super::sample::Samples;

/// Requests of one measurement.
const REQUESTS: u32 = 800;

/// Number of requests at once for which the throughput is measured.
const IN_FLIGHT: u32 = 32;

/// Body of each response.
const BODY: &str = "it is well";

pub(super) fn measure(report: &mut Report, rounds: usize) -> Result<()> {
    println!("\nHTTP requests of a plugin, and natively by reqwest");
    let authority = host()?;
    let home = fleet::empty_home()?;
    let limits = format!("[servers.http.limits]\nhttp_requests = {}", 2 * REQUESTS);
    let more = format!("[servers.http.grants]\nhttp = [\"http://{authority}\"]\n{limits}");
    home.server_with("http", &artifacts::guest("http")?, &more)?;
    let (_, _, mut wire) = fleet::spawn_to_list(&mut fleet::dormouse(&home))?;
    // Compiles, and makes the engine.
    by_plugin(&mut wire, 10, &authority, 1)?;
    let [mut with, mut without] = [(); 2].map(|()| Samples::default());
    let [mut many, mut natively] = [(); 2].map(|()| Samples::default());
    for round in 0..rounds as u64 {
        with.push(median(&by_plugin(
            &mut wire,
            100 + 2 * round,
            &authority,
            1,
        )?)?);
        without.push(median(&by_reqwest(&authority, 1)?)?);
        let all = by_plugin(&mut wire, 101 + 2 * round, &authority, IN_FLIGHT)?;
        many.push(per_second(&all)?);
        natively.push(per_second(&by_reqwest(&authority, IN_FLIGHT)?)?);
    }
    fleet::leave(wire)?;
    report.value("a GET of a plugin, p50", with.median(), "ms");
    report.value("natively, p50", without.median(), "ms");
    let added = with.median() - without.median();
    report.target("a GET of a plugin − natively, p50", added, 0.15, "ms");
    report.value("GETs of a plugin, 32 in flight", many.median(), "/s");
    report.value("natively, 32 in flight", natively.median(), "/s");
    let part = many.median() / natively.median();
    report.target_at_least("of a plugin ÷ natively, 32 in flight", part, 0.7, "×");
    Ok(())
}

/// Returns the times of requests that a plugin sends within one call.
fn by_plugin(wire: &mut Wire, id: u64, authority: &str, in_flight: u32) -> Result<Value> {
    let arguments = json!({ "authority": authority, "count": REQUESTS, "in_flight": in_flight });
    let call = json!({ "name": "http__time_gets", "arguments": arguments });
    let result = wire.request(id, "tools/call", call)?;
    let result = result.get("result").cloned().unwrap_or(result);
    let times = result.get("structuredContent").cloned();
    times.with_context(|| format!("answered with {result}"))
}

fn by_reqwest(authority: &str, in_flight: u32) -> Result<Value> {
    let mut command = Command::new(artifacts::dist("dormouse-floor")?);
    let numbers = [REQUESTS, in_flight].map(|number| number.to_string());
    let output = command.args(["--gets", authority]).args(numbers).output()?;
    ensure!(output.status.success(), "{output:?}");
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn median(times: &Value) -> Result<f64> {
    let each = times.get("each").and_then(Value::as_array);
    let each = each.with_context(|| format!("no times in {times}"))?;
    let mut samples = Samples::default();
    // The first ones make connections.
    let warm = each.iter().skip(each.len() / 10).filter_map(Value::as_f64);
    warm.for_each(|time| samples.push(time));
    Ok(samples.median())
}

fn per_second(times: &Value) -> Result<f64> {
    let total = times.get("total").and_then(Value::as_f64);
    let total = total.with_context(|| format!("no times in {times}"))?;
    Ok(f64::from(REQUESTS) / total * 1e3)
}

/// Starts a host that answers requests without bodies, and keeps their connections. Returns where.
fn host() -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let authority = listener.local_addr()?.to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(&stream));
        }
    });
    Ok(authority)
}

/// Answers all requests of a connection.
fn answer(stream: &TcpStream) {
    // A client that leaves is none of a host's business.
    let _ = stream.set_nodelay(true);
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{BODY}",
        BODY.len()
    );
    let lines = BufReader::new(stream).lines();
    for line in lines.map_while(std::io::Result::ok) {
        if line.is_empty() && (&mut &*stream).write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}
