//! A live instance, and one call of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use dormouse_protocol::Answer;
use serde_json::{Map, Value};
use tokio::sync::OwnedSemaphorePermit;
use wasmtime::component::{Instance, Val};
use wasmtime::{Store, Trap, UpdateDeadline};
use wasmtime_wasi::I32Exit;

use super::call_memory::CallMemory;
use super::engine::Origin;
use super::error::Cause;
use super::host_share;
use super::link::words;
use super::load::{Bound, Loaded};
use super::memory::{InstanceMemory, Refused};
use super::params::Params;
use super::state::{Current, Pace, State};
use super::value::json_memory;
use super::{Call, Target};
use crate::sandbox::GivenSecrets;

/// Size of a result, as JSON, up to which it goes on as values, in bytes.
const MAX_VALUES_BYTES: u64 = 64 << 10;

/// An instance and its store.
pub(super) struct Live {
    store: Store<State>,
    instance: Instance,
    /// What it is an instance of, and where from.
    loaded: Arc<Loaded>,
    origin: Origin,
    sound: bool,
    /// When it was last given a call.
    used: Instant,
    _alive: Alive,
    // After the store, which it must outlive.
    _place: Option<OwnedSemaphorePermit>,
}

/// Counts an instance while it lives.
struct Alive(Arc<AtomicU64>);

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Live {
    /// Instantiates a component under the target's grants and limits.
    pub(super) async fn start(
        (loaded, (origin, place)): (&Arc<Loaded>, (Origin, Option<OwnedSemaphorePermit>)),
        target: &Target,
        (settings, secrets): (&Arc<Map<String, Value>>, &Arc<GivenSecrets>),
        mut memory: InstanceMemory,
        count: &Arc<AtomicU64>,
    ) -> Result<Self, Cause> {
        let preopens = loaded
            .folders
            .preopens()
            .map_err(|error| Cause::Load(error.to_string()))?;
        let (wasi, output) =
            crate::sandbox::context(&target.server, &target.grants, &target.limits, secrets);
        let bound = loaded
            .get(origin)
            .ok_or_else(|| Cause::Load("it is not loaded".into()))?;
        let begun = memory.begin(&bound.share).await;
        begun.map_err(|refused| cause_of(refused, target))?;
        let state = State::new(
            target,
            (wasi, preopens),
            output,
            Arc::clone(settings),
            memory,
        );
        count.fetch_add(1, Ordering::Relaxed);
        let alive = Alive(Arc::clone(count));
        let mut store = Store::new(bound.pre.engine(), state);
        store.limiter_async(|state| &mut state.memory);
        bound.share.limit(&mut store);
        store.call_hook(|store, passage| {
            if let Some(memory) = &store.data().call_memory {
                memory.passes(passage);
            }
            Ok(())
        });
        store.set_epoch_deadline(1);
        // Tokio looks for what has arrived before it goes on with whoever yields so; whoever only
        // wakes itself is gone on with dozens of times before.
        store.epoch_deadline_callback(|_| {
            let yielded = Box::pin(tokio::task::yield_now());
            Ok(UpdateDeadline::YieldCustom(1, yielded))
        });
        // Its start functions are its code as well.
        let metered = begin_metering(&mut store, target, bound.share.uncounted_factor());
        let started = metered.of(bound.pre.instantiate_async(&mut store)).await;
        store.data_mut().call_memory = None;
        let instance = ended(&store, target, started)?;
        Ok(Self {
            store,
            instance,
            loaded: Arc::clone(loaded),
            origin,
            sound: true,
            used: Instant::now(),
            _alive: alive,
            _place: place,
        })
    }

    /// Makes a call the one that the instance talks to.
    pub(super) fn attach(&mut self, call: &Call, pace: &Pace) {
        // What was refused to another call, or said by it, is not what ends this one.
        self.store.data().output.begin();
        self.store.data_mut().network.begin();
        self.used = Instant::now();
        let memory = &mut self.store.data_mut().memory;
        memory.refused = None;
        memory.waits = Arc::clone(&pace.waits_for_memory);
        self.store.data_mut().call = Some(Current {
            listener: Arc::clone(&call.listener),
            cancel: call.cancel.clone(),
            pace: pace.clone(),
            session: call.session,
            failed: None,
            completed: None,
        });
    }

    /// When it was last given a call.
    pub(super) fn used(&self) -> Instant {
        self.used
    }

    /// How much memory it has, in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.store.data().memory.taken()
    }

    /// Whether it may be used again: not after a trap.
    pub(super) fn is_sound(&self) -> bool {
        self.sound
    }

    /// Calls the plugin, and turns what it returns into what MCP has there.
    pub(super) async fn call(
        &mut self,
        target: &Target,
        call: &Call,
        params: Params,
    ) -> Result<Answer, Cause> {
        // As long as the call is there, so are they.
        let mut charge = None;
        if let Some(bytes) = params.bytes() {
            let memory = &mut self.store.data_mut().memory;
            charge = memory.charge(bytes).await;
            if let Some(refused) = memory.refused.filter(|_| charge.is_none()) {
                return Err(cause_of(refused, target));
            }
        }
        let params = params.values(&call.wanted)?;
        let export = call.wanted.export();
        let function = self
            .loaded
            .get(self.origin)
            .and_then(|bound| bound.function(&export))
            .and_then(|index| self.instance.get_func(&mut self.store, index))
            .ok_or_else(|| Cause::Load(format!("it does not export `{export}`")))?;
        let mut results = vec![Val::Bool(false); call.wanted.results()];
        self.sound = false;
        // What its values take counts for as long as they are there.
        let of_share = |bound: &Bound| bound.share.uncounted_factor();
        let uncounted = self.loaded.get(self.origin).map_or(1, of_share);
        let uncounted = uncounted.max(call.wanted.uncounted_factor());
        let metered = begin_metering(&mut self.store, target, uncounted);
        let call_async = function.call_async(&mut self.store, &params, &mut results);
        let called = metered.of(call_async).await;
        drop((params, charge));
        self.store.data_mut().call_memory = None;
        self.store.data().output.end();
        ended(&self.store, target, called)?;
        self.sound = true;
        let ended = self.store.data_mut().call.take();
        let (failed, completed) = ended.map_or((None, None), |call| (call.failed, call.completed));
        if let Some(cause) = call.wanted.passed_on(results.first(), failed) {
            return Err(cause.within(target));
        }
        let limit = target.limits.result;
        let fits = |size: u64| match size > limit {
            true => Err(Cause::ResultTooLarge {
                server: target.server.clone(),
                size,
                limit,
            }),
            false => Ok(()),
        };
        // Before anything is made of it, for that takes many times its memory.
        let size = call.wanted.result_size(results.first(), limit);
        fits(size)?;
        let server = self.store.data().memory.server();
        let made = results.first().map_or(0, |value| json_memory(value, size));
        let _charge = server
            .charge(made)
            .ok_or_else(|| cause_of(Refused::Host(server.host_limit()), target))?;
        let of = (target, server);
        let result = call.wanted.result(of, results.first(), completed);
        let mut result = result.map_err(|cause| cause.within(target))?;
        // Of what is text the length is known.
        if size > MAX_VALUES_BYTES {
            result.write();
        }
        let size = result.size();
        fits(size)?;
        if size > MAX_VALUES_BYTES {
            result.write();
        }
        Ok(result)
    }
}

/// Has what a guest makes the host allocate count as memory of its server from now on, as long as
/// it is polled through the result, and limits what it may hand over at once. `uncounted` is how
/// many times the memory that wasmtime counts of its values they may take.
fn begin_metering(store: &mut Store<State>, target: &Target, uncounted: usize) -> Arc<CallMemory> {
    let memory = CallMemory::new(Arc::clone(store.data().memory.server()));
    store.data_mut().call_memory = Some(Arc::clone(&memory));
    store.set_hostcall_fuel(fuel(target.limits.result, uncounted));
    memory
}

/// What came of code of a guest that was metered; none where there was no memory for it.
fn ended<T>(
    store: &Store<State>,
    target: &Target,
    outcome: Option<wasmtime::Result<T>>,
) -> Result<T, Cause> {
    match outcome {
        Some(outcome) => outcome.map_err(|error| cause(store, target, &error)),
        None => {
            let host = store.data().memory.server().host_limit();
            Err(cause_of(Refused::Host(host), target))
        }
    }
}

/// Why an instance has no more memory.
fn cause_of(refused: Refused, target: &Target) -> Cause {
    match refused {
        Refused::Instance(wanted) => Cause::Memory {
            server: target.server.clone(),
            wanted,
            limit: target.limits.memory,
        },
        Refused::Host(limit) => Cause::HostMemory { limit },
    }
}

/// Why a guest ended. Never the text of a host backtrace.
fn cause(store: &Store<State>, target: &Target, error: &wasmtime::Error) -> Cause {
    if let Some(refused) = store.data().memory.refused {
        return cause_of(refused, target);
    }
    if let Some(exit) = error.downcast_ref::<I32Exit>() {
        return Cause::Exit(exit.0);
    }
    let trap = error.downcast_ref::<Trap>();
    let mut what = match trap {
        Some(trap) => trap.to_string(),
        None => match error.root_cause().to_string() {
            // It says where in its code, too, which is a path of whoever has built this.
            bug if bug.starts_with("BUG:") => "wasmtime itself has failed".to_owned(),
            what => words(&what),
        },
    };
    if what.contains(EXHAUSTED) {
        return Cause::TooMuch {
            server: target.server.clone(),
            limit: target.limits.result,
        };
    }
    if let Some(held) = host_share::held_too_many(&what) {
        return Cause::Trap(held);
    }
    // A language's runtime says on stderr why it gives up: that is what helps.
    let words = store.data().output.last_words();
    if !words.is_empty() {
        what.push_str("; its last words: ");
        what.push_str(&words);
    }
    // A language's runtime seldom says that of what it was refused.
    let refused = store.data().network.refused();
    if let Some(hint) = refused.or_else(|| trap.and_then(hint)) {
        what.push_str("\nhint: ");
        what.push_str(hint);
    }
    Cause::Trap(what)
}

/// What is behind a trap more often than not.
fn hint(trap: &Trap) -> Option<&'static str> {
    match trap {
        Trap::StackOverflow => Some("does it call itself without end?"),
        // Most languages keep a stack of their own at the beginning of the memory.
        Trap::MemoryOutOfBounds => {
            Some("most often its stack has overflowed: does it call itself without end?")
        }
        _ => None,
    }
}

/// What a guest may hand over at once, in the measure that wasmtime has for it: the
/// memory that the values take here.
///
/// A value takes 40 bytes, a byte of a `list<u8>` too, of which three are four
/// letters in a result. Nothing else takes more for what it is as JSON. `uncounted` is how many
/// times that measure a result may take.
fn fuel(result: u64, uncounted: usize) -> usize {
    const EACH: usize = 32;
    // As much as wasmtime allows of itself: a small result may come of large texts.
    const LEAST: usize = 128 << 20;
    let result = usize::try_from(result).unwrap_or(usize::MAX);
    result.saturating_mul(EACH).max(LEAST) / uncounted.max(1)
}

/// Part of the text of an error whose type wasmtime keeps to itself.
const EXHAUSTED: &str = "fuel allocated for hostcalls has been exhausted";
