//! Tools of our plugins, beside the same ones of the reference servers, which are processes of
//! their own.

use std::process::{Command, Stdio};

use anyhow::Result;
use dormouse_tests::{Home, artifacts};
use serde_json::{Value, json};

use super::fleet;
use super::report::Report;
use super::sample::Samples;

/// Warm calls to each.
const CALLS: u64 = 200;

/// A reference server and our plugin in its place.
struct Pair {
    name: &'static str,
    reference: Command,
    home: Home,
    tool: &'static str,
    arguments: Value,
}

pub(super) fn measure(report: &mut Report, rounds: usize) -> Result<()> {
    // Each of these takes a second to start; a few rounds tell enough.
    let rounds = rounds.min(5);
    for mut pair in [time()?, filesystem()?] {
        println!("\n{}, beside its reference server", pair.name);
        let ours = format!("{}__{}", pair.name, pair.tool);
        let [mut list, mut their_list, mut warm, mut their_warm] =
            [(); 4].map(|()| Samples::default());
        let [mut memory, mut their_memory] = [(); 2].map(|()| Samples::default());
        for _ in 0..rounds {
            let (time, _, mut theirs) = fleet::spawn_to_list(pair.reference.stderr(Stdio::null()))?;
            their_list.push_time(time);
            let (time, _, mut host) = fleet::spawn_to_list(&mut fleet::dormouse(&pair.home))?;
            list.push_time(time);
            for id in 0..CALLS {
                their_warm.push_time(fleet::call(
                    &mut theirs,
                    1000 + id,
                    pair.tool,
                    &pair.arguments,
                )?);
                warm.push_time(fleet::call(&mut host, 1000 + id, &ours, &pair.arguments)?);
            }
            their_memory.push(fleet::memory(&theirs));
            memory.push(fleet::memory(&host));
            fleet::leave(theirs)?;
            fleet::leave(host)?;
        }
        for (what, theirs, ours, unit) in [
            ("spawn → list", &their_list, &list, "ms"),
            ("warm call", &their_warm, &warm, "ms"),
            ("memory after calls", &their_memory, &memory, "MiB"),
        ] {
            let name = pair.name;
            report.value(&format!("{name}: {what}, reference"), theirs.median(), unit);
            report.value(&format!("{name}: {what}"), ours.median(), unit);
            report.value(
                &format!("{name}: {what}, reference ÷ ours"),
                theirs.median() / ours.median(),
                "×",
            );
        }
    }
    Ok(())
}

fn time() -> Result<Pair> {
    let home = fleet::empty_home()?;
    home.server("time", &artifacts::plugin("time")?)?;
    let reference = Command::new(artifacts::python("reference", "mcp-server-time")?);
    let arguments = json!({ "timezone": "Europe/Zurich" });
    Ok(Pair {
        name: "time",
        reference,
        home,
        tool: "get_current_time",
        arguments,
    })
}

fn filesystem() -> Result<Pair> {
    let home = fleet::empty_home()?;
    let folder = home.path().join("granted");
    std::fs::create_dir(&folder)?;
    let file = folder.join("file.txt");
    std::fs::write(&file, "a line\n".repeat(100))?;
    let grants = format!(
        "[servers.filesystem.grants]\nfs = [{{ path = '{}', mode = \"ro\" }}]",
        folder.display()
    );
    home.server_with("filesystem", &artifacts::plugin("filesystem")?, &grants)?;
    let mut reference = Command::new(artifacts::node()?);
    reference
        .arg(artifacts::npm_file(
            "@modelcontextprotocol/server-filesystem",
            "dist/index.js",
        )?)
        .arg(&folder);
    let arguments = json!({ "path": file });
    Ok(Pair {
        name: "filesystem",
        reference,
        home,
        tool: "read_text_file",
        arguments,
    })
}
