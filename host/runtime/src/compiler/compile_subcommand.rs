//! The subcommand that compiles one component, with limits of its own.

use std::borrow::Cow;
use std::io::{self, BufRead as _, Read as _, Write as _};

use dormouse_catalog::addressed_bytes;
use dormouse_files::process_limits::ProcessLimits;
use serde::{Deserialize, Serialize};

use crate::engine::{EngineKind, InstanceOrigin, Machine};

/// Most bytes of compiled code: a base for any component, and a number for each byte of the
/// component. Components of known toolchains become four times as large.
const CODE_BYTES: (u64, u64) = (64 << 20, 100);

/// Largest compiled code of any component, in bytes.
pub(super) const MAX_CODE_BYTES: u64 = 1 << 30;

/// Longest first line that the process reads, in bytes.
const MAX_ORDER_BYTES: u64 = 64 << 10;

/// Most globals and items of passive element segments that a core module may declare. Each takes 16
/// bytes of every instance, which no limit on memories or tables counts; modules of known
/// toolchains have some thousands at most.
const MAX_MODULE_ITEMS: u64 = 1 << 16;

/// Order to the process, as one line of JSON; the component follows.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CompilationRequest {
    /// Whether the code is for the engine with the component model's concurrency.
    pub(super) concurrent: bool,
    /// Length of the component, in bytes.
    pub(super) length: u64,
    /// Most time of all processors together, in seconds.
    pub(super) seconds: u64,
    /// Most address space, in bytes.
    pub(super) memory: u64,
}

/// Returns the largest size of the code of a component of so many bytes, in bytes.
pub(super) fn max_code_bytes(component: u64) -> u64 {
    let (any, times) = CODE_BYTES;
    component
        .saturating_mul(times)
        .saturating_add(any)
        .min(MAX_CODE_BYTES)
}

/// Exit code of a process whose component cannot be compiled.
pub(super) const REFUSED: u8 = 1;

/// Runs such a process: limits it, reads an order and a component from its input, and writes
/// compiled code and its length to its output.
///
/// # Errors
/// The component cannot be compiled, or the code cannot be written.
pub fn run() -> anyhow::Result<()> {
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    (&mut input)
        .take(MAX_ORDER_BYTES)
        .read_until(b'\n', &mut line)?;
    let order: CompilationRequest = serde_json::from_slice(&line)?;
    // The length stands after the code.
    let file = max_code_bytes(order.length).saturating_add(4096);
    let limits = ProcessLimits {
        seconds: order.seconds,
        memory: order.memory,
        file,
    };
    limits.apply()?;
    let mut component = Vec::new();
    (&mut input)
        .take(order.length)
        .read_to_end(&mut component)?;
    drop(input);
    end_with_host()?;
    let items = dormouse_catalog::max_module_items(&component);
    anyhow::ensure!(
        items <= MAX_MODULE_ITEMS,
        "a core module of it has `{items}` globals and items of passive element segments, more than the {MAX_MODULE_ITEMS} that one may have"
    );
    if let Some(name) = addressed_bytes::reserved_export(&component) {
        anyhow::bail!(
            "it exports `{name}`: names that begin with `dormouse-addressed-` are Dormouse's own"
        );
    }
    let kind = EngineKind {
        origin: InstanceOrigin::Demand,
        concurrent: order.concurrent,
    };
    let engine = Machine::engine(kind).map_err(|error| anyhow::anyhow!("{error:#}"))?;
    // How values of functions that run side by side are reached differs.
    let component = match order.concurrent {
        true => Cow::Borrowed(component.as_slice()),
        false => addressed_bytes::with_addressed_bytes(&component),
    };
    let code = match dormouse_catalog::with_epoch_checks(&component) {
        Ok(component) => engine.precompile_component(&component),
        // Bytes that cannot be read are no component for the engine either, and its error says
        // more.
        Err(error) => match engine.precompile_component(&component) {
            Ok(_) => Err(error.into()),
            refused => refused,
        },
    };
    let code = code.map_err(|error| anyhow::anyhow!("{error:#}"))?;
    let mut output = io::stdout().lock();
    output.write_all(&code)?;
    output.write_all(&(code.len() as u64).to_le_bytes())?;
    output.flush()?;
    Ok(())
}

/// Ends this process when its input does: then its host has gone.
fn end_with_host() -> io::Result<()> {
    let wait = || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(i32::from(REFUSED));
    };
    let thread = std::thread::Builder::new().name("host".into());
    thread.spawn(wait).map(drop)
}
