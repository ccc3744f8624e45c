//! Real servers behind Dormouse, beside the same ones as a client has them today: all started with
//! the client.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Result, ensure};
use dormouse_tests::processes::{self, Process};
use dormouse_tests::upstream::{self, Upstream};
use dormouse_tests::wire::Wire;
use dormouse_tests::{Home, artifacts};
use serde_json::json;

use super::fleet;
use super::report::Report;
use super::sample::Samples;

/// Number of servers that a user of five clients may have.
const SERVERS: usize = 20;

/// Warm calls to each; enough for a 99th percentile.
const CALLS: u64 = 2000;

pub(super) fn measure(report: &mut Report, rounds: usize) -> Result<()> {
    // Twenty servers take seconds to start; a few rounds tell enough.
    let rounds = rounds.min(5);
    start(report, rounds)?;
    first(report, rounds)?;
    warm(report)
}

/// Returns twenty real servers, in a home that knows them.
fn servers(home: &Home) -> Result<Vec<(String, Upstream)>> {
    let repository = home.path().join("repository");
    let made = Command::new("git")
        .args(["init", "--quiet"])
        .arg(&repository)
        .status();
    ensure!(made?.success(), "git cannot make a repository");
    // None of them starts its browser before it is told to.
    let browser = PathBuf::from("chromium");
    let mut all = Vec::new();
    for number in 0..SERVERS {
        let (kind, server) = match number % 7 {
            0 => ("everything", upstream::everything()),
            1 => ("filesystem", upstream::filesystem(home.path())),
            2 => ("memory", upstream::memory(&home.path().join("graph.jsonl"))),
            3 => ("playwright", upstream::playwright(&browser, home.path())),
            4 => ("time", upstream::time()),
            5 => ("fetch", upstream::fetch()),
            _ => ("git", upstream::git(&repository)),
        };
        all.push((format!("{kind}{number:02}"), server?));
    }
    Ok(all)
}

/// Prepares a home with these servers, all of them known.
fn known(home: &Home, servers: &[(String, Upstream)]) -> Result<()> {
    home.lists_all()?;
    for (name, server) in servers {
        home.upstream(name, server, "")?;
    }
    home.json(&["sync", "--json"])?;
    Ok(())
}

/// Returns the memory of a process and its descendants, in MiB. Memory that they share counts for
/// each of them, as in every list of processes.
fn memory(wire: &Wire) -> Result<f64> {
    let own = Process::of(wire.pid());
    let all = processes::descendants(wire.pid())?.into_iter().chain(own);
    let kib: u64 = all.filter_map(|one| one.memory()).sum();
    #[allow(clippy::cast_precision_loss, reason = "a few million")]
    let kib = kib as f64;
    Ok(kib / 1024.0)
}

/// Starts servers as a client does, all at once, and lists their tools.
fn all_at_once(servers: &[(String, Upstream)]) -> Result<(Vec<Wire>, usize)> {
    let started: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = servers
            .iter()
            .map(|(_, server)| scope.spawn(|| fleet::spawn_to_list(&mut server.command())))
            .collect();
        let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined.collect()
    });
    let (mut wires, mut tools) = (Vec::new(), 0);
    for one in started {
        let one = one.map_err(|_| anyhow::anyhow!("a client has panicked"))?;
        let (_, listed, wire) = one?;
        tools += listed.len();
        wires.push(wire);
    }
    Ok((wires, tools))
}

/// Measures the start until the tools of all servers are there, in time and memory.
fn start(report: &mut Report, rounds: usize) -> Result<()> {
    println!("\n{SERVERS} real servers, from the start to all tools");
    let home = fleet::empty_home()?;
    let servers = servers(&home)?;
    known(&home, &servers)?;
    let [mut time, mut their_time, mut size, mut their_size] = [(); 4].map(|()| Samples::default());
    let mut awake = Samples::default();
    for _ in 0..rounds {
        let start = Instant::now();
        let (wires, their_tools) = all_at_once(&servers)?;
        their_time.push_time(start.elapsed());
        let all: Result<Vec<f64>> = wires.iter().map(memory).collect();
        their_size.push(all?.iter().sum());
        // Some take their time to leave, which is nobody's business here.
        drop(wires);

        let (took, tools, mut host) = fleet::spawn_to_list(&mut fleet::dormouse(&home))?;
        time.push_time(took);
        // More, because some show tools only to clients that can be asked something,
        // and `sync` asks what they offer as one that can.
        ensure!(
            tools.len() >= their_tools,
            "Dormouse lists {} tools, and the servers themselves {their_tools}",
            tools.len()
        );
        size.push(memory(&host)?);
        let arguments = json!({ "message": "awake" });
        fleet::call(&mut host, 1000, "everything00__echo", &arguments)?;
        awake.push(memory(&host)?);
        fleet::leave(host)?;
    }
    let all = "20 servers";
    report.value(
        &format!("{all}: list, all started"),
        their_time.median(),
        "ms",
    );
    report.value(&format!("{all}: list, Dormouse"), time.median(), "ms");
    report.value(
        &format!("{all}: memory, all started"),
        their_size.median(),
        "MiB",
    );
    report.value(&format!("{all}: memory, Dormouse"), size.median(), "MiB");
    report.value(
        &format!("{all}: memory, Dormouse, one awake"),
        awake.median(),
        "MiB",
    );
    report.target(
        "20 servers: list, Dormouse ÷ all started",
        time.median() / their_time.median(),
        0.1,
        "×",
    );
    report.target(
        "20 servers: memory, Dormouse ÷ all started",
        size.median() / their_size.median(),
        0.1,
        "×",
    );
    Ok(())
}

/// Measures a call to a server that sleeps, beside starting it for that call.
fn first(report: &mut Report, rounds: usize) -> Result<()> {
    println!("\nfirst call of a sleeping server, beside starting it oneself");
    let echo = json!({ "message": "awake" });
    let zone = json!({ "timezone": "UTC" });
    let npx = npx(&artifacts::npm());
    let floor = floor()?;
    let text = json!({ "text": "awake" });
    for (name, server, tool, arguments) in [
        ("everything (node)", upstream::everything()?, "echo", &echo),
        ("everything (npx)", npx, "echo", &echo),
        (
            "time (Python)",
            upstream::time()?,
            "get_current_time",
            &zone,
        ),
        ("rmcp", floor, ECHO, &text),
    ] {
        let home = fleet::empty_home()?;
        known(&home, &[("one".to_owned(), server.clone())])?;
        let [mut ours, mut theirs] = [(); 2].map(|()| Samples::default());
        for round in 0..=rounds {
            let start = Instant::now();
            let mut direct = Wire::spawn(&mut server.command())?;
            direct.initialize()?;
            fleet::call(&mut direct, 1, tool, arguments)?;
            let their_time = start.elapsed();
            drop(direct);

            let (_, _, mut host) = fleet::spawn_to_list(&mut fleet::dormouse(&home))?;
            let tool = format!("one__{tool}");
            let time = fleet::call(&mut host, 1000, &tool, arguments)?;
            // The very first compiles the bridge, once for all servers and for good.
            if round > 0 {
                ours.push_time(time);
                theirs.push_time(their_time);
            }
            fleet::leave(host)?;
        }
        let what = format!("first call, {name}");
        report.value(&format!("{what}: started for it"), theirs.median(), "ms");
        report.value(&format!("{what}: Dormouse"), ours.median(), "ms");
        report.value(
            &format!("{what}: more"),
            ours.median() - theirs.median(),
            "ms",
        );
    }
    Ok(())
}

/// Returns a server as most users' files have it, of a package that is installed already.
fn npx(packages: &Path) -> Upstream {
    Upstream::new("npx".as_ref())
        .arg("--no-install")
        .arg("@modelcontextprotocol/server-everything")
        .cwd(packages)
}

/// Returns the fastest server that there is, behind which Dormouse's share is seen best.
fn floor() -> Result<Upstream> {
    let floor = Upstream::new(&artifacts::dist("dormouse-floor")?);
    Ok(floor.arg(1).arg(1))
}

/// The floor's only tool.
const ECHO: &str = "p0000__echo";

/// Measures calls one after the other, to the server and through Dormouse in turn.
fn warm(report: &mut Report) -> Result<()> {
    let text = "x".repeat(100);
    let message = json!({ "message": text });
    let text = json!({ "text": text });
    for (name, server, tool, arguments) in [
        ("rmcp", floor()?, ECHO, &text),
        ("everything", upstream::everything()?, "echo", &message),
    ] {
        println!("\nwarm calls to {name}, directly and through Dormouse");
        let home = fleet::empty_home()?;
        known(&home, &[("one".to_owned(), server.clone())])?;
        let (_, _, mut direct) = fleet::spawn_to_list(&mut server.command())?;
        let (_, _, mut host) = fleet::spawn_to_list(&mut fleet::dormouse(&home))?;
        let [mut ours, mut theirs] = [(); 2].map(|()| Samples::default());
        let through = format!("one__{tool}");
        for call in 0..CALLS {
            let with = fleet::call(&mut host, 1000 + call, &through, arguments)?;
            let without = fleet::call(&mut direct, 1000 + call, tool, arguments)?;
            // The first tenth only warms up.
            if call >= CALLS / 10 {
                ours.push_time(with);
                theirs.push_time(without);
            }
        }
        for (what, share) in [("p50", 0.5), ("p99", 0.99)] {
            let (with, without) = (ours.percentile(share), theirs.percentile(share));
            report.value(
                &format!("bridged call, {name}: direct, {what}"),
                without,
                "ms",
            );
            report.value(&format!("bridged call, {name}: {what}"), with, "ms");
        }
        report.target(
            &format!("bridged call, {name}: added at p50"),
            ours.median() - theirs.median(),
            0.3,
            "ms",
        );
        fleet::leave(host)?;
        drop(direct);
    }
    Ok(())
}
