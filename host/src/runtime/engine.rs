//! The wasmtime engine: one per process, made by the first call.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use wasmtime::{Config, Engine};

use super::state::State;

/// How often a busy guest is made to yield. It bounds how late a deadline or a
/// cancellation takes effect.
const TICK: Duration = Duration::from_millis(10);

/// How much stack a guest may use, in bytes; its fibre gets as much again for
/// host calls.
const GUEST_STACK: usize = 1 << 20;

/// The engine and what hangs on it.
pub(super) struct Machine {
    pub engine: Engine,
    /// With all that the host offers: WASI (whose use is up to each store) and
    /// the contract.
    pub linker: wasmtime::component::Linker<State>,
}

/// An engine that may not exist yet.
#[derive(Default)]
pub(super) struct LazyMachine {
    machine: OnceLock<Result<Machine, String>>,
    made: AtomicU64,
}

impl LazyMachine {
    /// How many engines were made: 0 or 1.
    pub(super) fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    /// The engine, made now if need be.
    pub(super) fn get(&self) -> Result<&Machine, String> {
        self.machine
            .get_or_init(|| {
                self.made.fetch_add(1, Ordering::Relaxed);
                Machine::new().map_err(|error| format!("{error:#}"))
            })
            .as_ref()
            .map_err(Clone::clone)
    }
}

impl Machine {
    fn new() -> wasmtime::Result<Self> {
        let mut config = Config::new();
        config
            .epoch_interruption(true)
            .wasm_component_model(true)
            // Components made by componentize-js need it, also for plain calls.
            .concurrency_support(true)
            .wasm_component_model_map(true)
            .wasm_component_model_fixed_length_lists(true)
            .max_wasm_stack(GUEST_STACK)
            .async_stack_size(2 * GUEST_STACK)
            // The default of 4 GiB for each memory runs out of address space
            // with a few thousand instances.
            .memory_reservation(256 << 20)
            // A guest can see the text of an error; none shows the host's code.
            .wasm_backtrace_max_frames(None);
        let engine = Engine::new(&config)?;
        let weak = engine.weak();
        std::thread::Builder::new()
            .name("epochs".into())
            .spawn(move || {
                while let Some(engine) = weak.upgrade() {
                    engine.increment_epoch();
                    drop(engine);
                    std::thread::sleep(TICK);
                }
            })?;
        let linker = super::state::linker(&engine)?;
        Ok(Self { engine, linker })
    }
}
