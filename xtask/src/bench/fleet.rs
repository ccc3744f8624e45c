//! Many servers of one plugin, each a file of its own.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use dormouse_tests::http::Server;
use dormouse_tests::wire::{Wire, request};
use dormouse_tests::{Home, artifacts, component};
use serde_json::{Value, json};

/// Number of tools of the `bench` guest.
pub(super) const TOOLS: usize = 20;

/// Makes a home without servers, for the `dormouse` that is shipped.
pub(super) fn empty_home() -> Result<Home> {
    Home::of(artifacts::dist("dormouse")?)
}

/// Makes a home with that many servers, `p0000` and so on. Their files do not have the same bytes,
/// so that nothing can be found by digest that should be read.
pub(super) fn home(component: &Path, servers: usize) -> Result<Home> {
    home_of(&artifacts::dist("dormouse")?, component, servers)
}

/// Makes the same for a `dormouse` of the caller's choice.
pub(super) fn home_of(program: &Path, component: &Path, servers: usize) -> Result<Home> {
    let home = Home::of(program.to_owned())?;
    home.lists_all()?;
    let bytes = artifacts::read(component)?;
    for number in 0..servers {
        let name = format!("p{number:04}");
        let distinct = component::with_section(&bytes, "bench", name.as_bytes());
        let file = home.plugin_file(&format!("{name}.wasm"), &distinct)?;
        home.server(&name, &file)?;
    }
    Ok(home)
}

/// Returns the command of `dormouse serve` in that home.
pub(super) fn dormouse(home: &Home) -> Command {
    quiet(home.command(&["serve"]))
}

/// Returns the command of the rmcp-only server with as many tools.
pub(super) fn floor(servers: usize) -> Result<Command> {
    Ok(quiet(floor_with(&[], servers)?))
}

/// Starts the same server, listening.
pub(super) fn floor_http(servers: usize) -> Result<Server> {
    Server::start(&mut floor_with(&["--http"], servers)?)
}

fn floor_with(options: &[&str], servers: usize) -> Result<Command> {
    let mut command = Command::new(artifacts::dist("dormouse-floor")?);
    command.args(options);
    command.arg(servers.to_string()).arg(TOOLS.to_string());
    Ok(command)
}

fn quiet(mut command: Command) -> Command {
    command.stderr(Stdio::null());
    command
}

/// Starts a server and reads its whole list. Returns the time from spawning to the arrival of the
/// list, the tools, and the server, still running. Parsing the list is this client's own affair,
/// and for a thousand plugins it takes as long as all the rest.
pub(super) fn spawn_to_list(command: &mut Command) -> Result<(Duration, Vec<Value>, Wire)> {
    let start = Instant::now();
    let mut wire = Wire::spawn(command)?;
    wire.initialize()?;
    let mut tools = Vec::new();
    let mut params = json!({});
    let mut id = 1;
    loop {
        wire.send(&request(id, "tools/list", params))?;
        let (time, mut answer) = loop {
            let line = wire.receive_raw()?;
            let time = start.elapsed();
            let message: Value = serde_json::from_slice(&line)?;
            if message.get("id").and_then(Value::as_u64) == Some(id) {
                break (time, message);
            }
        };
        match answer.pointer_mut("/result/tools").map(Value::take) {
            Some(Value::Array(page)) => tools.extend(page),
            _ => anyhow::bail!("a page without `tools`: {answer}"),
        }
        match answer.pointer("/result/nextCursor") {
            Some(cursor) if !cursor.is_null() => params = json!({ "cursor": cursor }),
            _ => return Ok((time, tools, wire)),
        }
        id += 1;
    }
}

/// Closes a server's input, and waits for its end and its last writes.
pub(super) fn leave(mut wire: Wire) -> Result<()> {
    wire.close();
    wire.wait(Duration::from_secs(30)).map(drop)
}

/// Returns the memory that a process really has, in MiB; not a number where the system does not
/// tell.
pub(super) fn memory(wire: &Wire) -> f64 {
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", wire.pid())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib / 1024.0)
}

/// Makes a call, and returns its time. The answer must not be an error.
pub(super) fn call(wire: &mut Wire, id: u64, tool: &str, arguments: &Value) -> Result<Duration> {
    let params = json!({ "name": tool, "arguments": arguments });
    let start = Instant::now();
    let result = wire.request(id, "tools/call", params)?;
    let time = start.elapsed();
    ensure!(
        result.get("isError") != Some(&Value::Bool(true)),
        "`{tool}` failed: {result}"
    );
    result
        .get("content")
        .with_context(|| format!("`{tool}` answered without content: {result}"))?;
    Ok(time)
}
