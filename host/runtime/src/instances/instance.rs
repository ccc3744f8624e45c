//! A live instance, and the calls of its functions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use dormouse_protocol::Answer;
use tokio::sync::OwnedSemaphorePermit;
use wasmtime::component::{Instance, Val};
use wasmtime::{Store, Trap, UpdateDeadline};
use wasmtime_wasi::I32Exit;

use super::guest_function::GuestFunction;
use super::{ConvertedResult, Instances, fits};
use crate::call::{Call, Pace};
use crate::engine::InstanceOrigin;
use crate::error::Cause;
use crate::loader::{Bound, LoadedComponent, words};
use crate::memory::{CallMemory, InstanceMemory, MemoryRefusal, held_too_many};
use crate::request::CheckedParams;
use crate::sandbox::{NetworkGate, Preopens};
use crate::state::InstanceState;
use crate::target::Target;
use crate::value::json_memory;

/// An instance and its store.
pub(crate) struct Live {
    store: Store<InstanceState>,
    instance: Instance,
    /// The component that it is an instance of, and the engine's kind.
    loaded: Arc<LoadedComponent>,
    origin: InstanceOrigin,
    sound: bool,
    /// Time of its last call.
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
    /// Instantiates a component under its server's grants and limits, in a call that its start functions
    /// are a part of.
    pub(super) async fn start(
        instances: &Instances,
        loaded: &Arc<LoadedComponent>,
        (origin, place): (InstanceOrigin, Option<OwnedSemaphorePermit>),
        call: &Call,
        pace: &Pace,
    ) -> Result<Self, Cause> {
        let Instances {
            target,
            settings,
            secrets,
            http,
            alive: count,
            ..
        } = instances;
        let preopens = loaded
            .folders
            .preopens()
            .map_err(|error| Cause::Load(error.to_string()))?;
        let (wasi, output) = crate::sandbox::context(
            &target.server,
            &target.grants,
            &target.limits,
            http.secrets(),
            secrets,
        );
        let bound = loaded
            .get(origin)
            .ok_or_else(|| Cause::Load("it is not loaded".into()))?;
        let mut memory = InstanceMemory::new(
            Arc::clone(&instances.memory),
            target.limits.memory,
            Arc::clone(&pace.waits_for_memory),
        );
        memory.begin_call(pace);
        let begun = memory.begin(&bound.share).await;
        pace.condition.has_held()?;
        begun.map_err(|refused| cause_of(refused, target))?;
        let http = Arc::clone(http);
        let network = NetworkGate::new(&target.server, output.clone(), http, &target.limits);
        let settings = Arc::clone(settings);
        let mut state =
            InstanceState::new(target, wasi, preopens, output, settings, memory, network);
        state.begin(call, pace);
        count.fetch_add(1, Ordering::Relaxed);
        let alive = Alive(Arc::clone(count));
        let mut store = Store::new(bound.pre.engine(), state);
        store.limiter_async(|state| &mut state.memory);
        bound.share.limit(&mut store);
        store.call_hook(|store, passage| {
            if let Some(memory) = &store.data().call_memory {
                memory.passes(passage);
            }
            Ok(store.data().goes_on()?)
        });
        store.set_epoch_deadline(1);
        // Tokio looks for arrived events before it resumes a task that yields like this; a task
        // that only wakes itself is resumed dozens of times before.
        store.epoch_deadline_callback(|_| {
            let yielded = Box::pin(tokio::task::yield_now());
            Ok(UpdateDeadline::YieldCustom(1, yielded))
        });
        // The component's start functions are its code as well.
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

    /// Begins another call, in an instance that was kept.
    pub(super) fn attach(&mut self, call: &Call, pace: &Pace) {
        self.used = Instant::now();
        self.store.data_mut().begin(call, pace);
    }

    /// Ends its call, whose turn is another's then, also where it has not come to the guest.
    pub(super) fn detach(&mut self) {
        self.store.data_mut().end();
    }

    /// Whether it has other folders than these, or holds something open that is in none of them.
    pub(super) fn has_left(&mut self, folders: &Preopens) -> bool {
        self.store.data_mut().has_left(folders)
    }

    /// Returns the time of its last call.
    pub(super) fn used(&self) -> Instant {
        self.used
    }

    /// Returns its memory in bytes.
    pub(super) fn memory(&self) -> u64 {
        self.store.data().memory.taken()
    }

    /// Checks whether it may be used again: not after a trap, nor after a call for which alone something
    /// was granted.
    pub(super) fn is_sound(&self) -> bool {
        self.sound
    }

    /// Calls the plugin, and converts its result to MCP.
    pub(super) async fn call(
        &mut self,
        target: &Target,
        call: &Call,
        params: CheckedParams,
    ) -> Result<ConvertedResult, Cause> {
        let export = call.wanted.export();
        let function = self
            .loaded
            .get(self.origin)
            .and_then(|bound| bound.function(&export))
            .ok_or_else(|| Cause::Load(format!("it does not export `{export}`")))?;
        let function = GuestFunction::new(&self.instance, function);
        // The charge lasts as long as the parameters.
        let mut charge = None;
        let mut bytes = params.bytes();
        if function.makes_values_of_bytes() {
            let values = call.wanted.base64() / 4 * 3 * size_of::<Val>() as u64;
            bytes = (values > 0)
                .then(|| bytes.unwrap_or_default() + values)
                .or(bytes);
        }
        if let Some(bytes) = bytes {
            let memory = &mut self.store.data_mut().memory;
            charge = memory.charge(bytes).await;
            self.store.data().goes_on()?;
            let memory = &self.store.data().memory;
            if let Some(refused) = memory.refused.filter(|_| charge.is_none()) {
                return Err(cause_of(refused, target));
            }
        }
        let params = params.values(&call.wanted)?;
        self.sound = false;
        // Memory of the result's values counts for as long as they are there.
        let of_share = |bound: &Bound| bound.share.uncounted_factor();
        let uncounted = self.loaded.get(self.origin).map_or(1, of_share);
        let uncounted = uncounted.max(call.wanted.uncounted_factor());
        let limit = target.limits.result;
        let metered = begin_metering(&mut self.store, target, uncounted);
        let called = function.call(&mut self.store, &call.wanted, params, limit);
        let called = metered.of(called).await;
        drop(charge);
        self.store.data_mut().call_memory = None;
        self.store.data().output.end();
        let returned = ended(&self.store, target, called)?;
        // Requests that are allowed for this call alone are open in the instance, and end with it.
        self.sound = !self.store.data().network.has_granted_once();
        let ended = self.store.data_mut().end();
        let (failed, not_logged_in, completed, pace) = match ended {
            Some(call) => (
                call.failed,
                call.not_logged_in,
                call.completed,
                Some(call.pace),
            ),
            None => (None, None, None, None),
        };
        // Its guest was not given the link, so it cannot pass it on to the user of the call.
        let of_network = self.store.data().network.not_logged_in();
        let link = not_logged_in.or_else(|| of_network.map(Cause::Refused));
        if let Some(cause) = call.wanted.passed_on(returned.as_ref(), failed) {
            return Err(cause.within(target));
        }
        // Before the result is converted, which takes many times its memory.
        let size = call.wanted.result_size(returned.as_ref(), limit);
        fits(size, target)?;
        let server = self.store.data().memory.server();
        let made = returned.as_ref();
        let made = made.map_or(0, |value| json_memory(value, size));
        let charge = server
            .charge(made)
            .ok_or_else(|| cause_of(MemoryRefusal::Host(server.host_limit()), target))?;
        let checking = match &pace {
            Some(pace) if call.wanted.has_output_schema() => pace.checking().await?,
            _ => None,
        };
        let has_failed = matches!(returned, Some(Val::Result(Err(_))));
        let result = call.wanted.result(target, server, returned, completed);
        drop(checking);
        if let Some(link) = link
            && (has_failed || result.as_ref().is_ok_and(Answer::is_error))
        {
            return Err(link.within(target));
        }
        let answer = result.map_err(|cause| cause.within(target))?;
        Ok(ConvertedResult {
            answer,
            size,
            charge,
        })
    }
}

/// Charges to the server all memory that the guest makes the host allocate, as long as the guest is
/// polled through the returned value, and limits the values that it may hand over at once.
/// `uncounted` is the most memory that these may take, as a multiple of the memory that wasmtime
/// counts.
fn begin_metering(
    store: &mut Store<InstanceState>,
    target: &Target,
    uncounted: usize,
) -> Arc<CallMemory> {
    let memory = CallMemory::new(Arc::clone(store.data().memory.server()));
    store.data_mut().call_memory = Some(Arc::clone(&memory));
    store.set_hostcall_fuel(fuel(target.limits.result, uncounted));
    memory
}

/// Returns the outcome of a guest's code that was metered; an error where there was no memory for
/// it.
fn ended<T>(
    store: &Store<InstanceState>,
    target: &Target,
    outcome: Option<wasmtime::Result<T>>,
) -> Result<T, Cause> {
    match outcome {
        Some(outcome) => outcome.map_err(|error| cause(store, target, &error)),
        None => {
            let host = store.data().memory.server().host_limit();
            Err(cause_of(MemoryRefusal::Host(host), target))
        }
    }
}

/// Returns the cause for an instance that was refused memory.
fn cause_of(refused: MemoryRefusal, target: &Target) -> Cause {
    match refused {
        MemoryRefusal::Instance(wanted) => Cause::Memory {
            server: target.server.clone(),
            wanted,
            limit: target.limits.memory,
        },
        MemoryRefusal::Host(limit) => Cause::HostMemory { limit },
    }
}

/// Returns the cause for which a guest ended, without the text of a host backtrace.
fn cause(store: &Store<InstanceState>, target: &Target, error: &wasmtime::Error) -> Cause {
    // The host's own, by which it has ended the guest.
    if let Some(cause) = error.downcast_ref::<Cause>() {
        return cause.clone();
    }
    // It may also have ended itself when it got no memory for that.
    if let Err(cause) = store.data().goes_on() {
        return cause;
    }
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
            // The message names a place in wasmtime's source, which is a path of the machine that
            // built this.
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
    if let Some(held) = held_too_many(&what) {
        return Cause::Trap(held);
    }
    // The runtime of a language gives its reason on stderr: that is what helps.
    let words = store.data().output.last_words();
    if !words.is_empty() {
        what.push_str("; its last words: ");
        what.push_str(&words);
    }
    // The runtime of a language seldom reports a refused connection.
    let refused = store.data().network.refused();
    if let Some(refused) = refused {
        what.push('\n');
        what.push_str(&refused);
    } else if let Some(hint) = trap.and_then(hint) {
        what.push_str("\nhint: ");
        what.push_str(hint);
    }
    Cause::Trap(what)
}

/// Returns the most frequent reason for a trap.
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

/// Returns the limit on values that a guest hands over at once, in wasmtime's measure: the memory
/// that the values take here.
///
/// A value takes 40 bytes, even a byte of a `list<u8>`, of which three become four letters in a
/// result. No other value takes more, relative to its JSON. `uncounted` is the most memory that a
/// result may take, as a multiple of that measure.
fn fuel(result: u64, uncounted: usize) -> usize {
    const EACH: usize = 32;
    // Wasmtime's own default: a small result may come of large texts.
    const LEAST: usize = 128 << 20;
    let result = usize::try_from(result).unwrap_or(usize::MAX);
    result.saturating_mul(EACH).max(LEAST) / uncounted.max(1)
}

/// Part of the text of an error whose type wasmtime keeps to itself.
const EXHAUSTED: &str = "fuel allocated for hostcalls has been exhausted";
