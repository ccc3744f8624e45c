//! What a store holds for its guest, and what the host offers to guests.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use wasmtime::component::{HasSelf, Linker, ResourceTable};
use wasmtime::{Engine, ResourceLimiter};
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

use super::Listener;
use super::bindings::dormouse::plugin::{call, settings, types};
use crate::sandbox::Output;

/// How many resources (files, streams, …) a guest may hold at once.
const RESOURCES: usize = 4096;

/// The state of one instance.
pub(super) struct State {
    wasi: WasiCtx,
    table: ResourceTable,
    /// What it prints.
    pub output: Output,
    /// Whom the running call talks to; an instance that is kept has a new one
    /// with each call.
    pub call: Option<Current>,
    settings: Arc<Map<String, Value>>,
    pub memory: MemoryLimit,
}

/// The call that an instance is busy with.
pub(super) struct Current {
    pub listener: Arc<dyn Listener>,
    pub cancel: CancellationToken,
}

impl State {
    pub(super) fn new(
        wasi: WasiCtx,
        output: Output,
        settings: Arc<Map<String, Value>>,
        memory: u64,
    ) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(RESOURCES);
        Self {
            wasi,
            table,
            output,
            call: None,
            settings,
            memory: MemoryLimit {
                limit: usize::try_from(memory).unwrap_or(usize::MAX),
                refused: None,
            },
        }
    }
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

/// Everything that the host offers.
pub(super) fn linker(engine: &Engine) -> wasmtime::Result<Linker<State>> {
    let mut linker = Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
    types::add_to_linker::<_, HasSelf<_>>(&mut linker, |state: &mut State| state)?;
    call::add_to_linker::<_, HasSelf<_>>(&mut linker, |state: &mut State| state)?;
    settings::add_to_linker::<_, HasSelf<_>>(&mut linker, |state: &mut State| state)?;
    Ok(linker)
}

impl types::Host for State {}

impl call::Host for State {
    fn progress(&mut self, progress: f64, total: Option<f64>, message: Option<String>) {
        if let Some(call) = &self.call {
            call.listener.progress(progress, total, message);
        }
    }

    fn log(&mut self, level: call::LogLevel, logger: Option<String>, data: String) {
        let level = match level {
            call::LogLevel::Debug => "debug",
            call::LogLevel::Info => "info",
            call::LogLevel::Notice => "notice",
            call::LogLevel::Warning => "warning",
            call::LogLevel::Error => "error",
            call::LogLevel::Critical => "critical",
            call::LogLevel::Alert => "alert",
            call::LogLevel::Emergency => "emergency",
        };
        let data = serde_json::from_str(&data).unwrap_or(Value::String(data));
        if let Some(call) = &self.call {
            call.listener.log(level, logger, data);
        }
    }

    fn is_cancelled(&mut self) -> bool {
        self.call
            .as_ref()
            .is_some_and(|call| call.cancel.is_cancelled())
    }
}

impl settings::Host for State {
    fn get(&mut self, key: String) -> Option<String> {
        self.settings.get(&key).map(Value::to_string)
    }

    fn all(&mut self) -> String {
        Value::Object(self.settings.as_ref().clone()).to_string()
    }
}

/// The cap on linear memory, which remembers what it refused: a guest that gets
/// no memory traps in its own way, and the model should be told the reason.
pub(super) struct MemoryLimit {
    limit: usize,
    /// The size in bytes that was asked for in vain.
    pub refused: Option<usize>,
}

impl ResourceLimiter for MemoryLimit {
    fn memory_growing(
        &mut self,
        _: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let fits = desired <= self.limit;
        if !fits {
            self.refused = Some(desired);
        }
        Ok(fits)
    }

    fn table_growing(
        &mut self,
        _: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(desired <= 1 << 20)
    }
}
