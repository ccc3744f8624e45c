//! Makes busy guests yield.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use wasmtime::Engine;

/// Interval at which a busy guest yields. It bounds the delay of a deadline or a cancellation, and
/// the time for which others wait for the guest's thread.
const TICK: Duration = Duration::from_millis(2);

/// Number of ticks after the last running call. Where calls come one after the other, no thread has
/// to be woken for each of them.
const LINGER: u32 = 10;

/// Advances the epochs of engines while any call runs. On an idle host no thread wakes up.
#[derive(Default)]
pub(super) struct Ticker(Arc<TickerState>);

#[derive(Default)]
struct TickerState {
    /// Number of running calls.
    running: AtomicU64,
    /// Number of threads that sleep until a call runs: readable without the lock, too, as a thread
    /// hardly ever has to be woken.
    asleep: AtomicU64,
    lock: Mutex<()>,
    changed: Condvar,
}

impl TickerState {
    fn begin(&self) {
        // A thread that falls asleep increments its count before it reads this one for the last
        // time, so that one of the two sees the other.
        self.running.fetch_add(1, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) > 0 {
            let _lock = self.lock.lock();
            self.changed.notify_all();
        }
    }

    fn is_idle(&self) -> bool {
        self.running.load(Ordering::SeqCst) == 0
    }

    /// Sleeps until a call runs.
    fn sleep(&self) {
        let mut lock = self.lock.lock();
        self.asleep.fetch_add(1, Ordering::SeqCst);
        self.changed.wait_while(&mut lock, |()| self.is_idle());
        drop(lock);
        self.asleep.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Held by a call while it runs.
pub(crate) struct RunningGuest(Arc<TickerState>);

impl Drop for RunningGuest {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Ticker {
    /// Advances an engine's epochs from now on, until the engine is dropped.
    ///
    /// # Errors
    /// No thread can be started.
    pub(super) fn begin(&self, engine: &Engine) -> io::Result<()> {
        let (engine, shared) = (engine.weak(), Arc::clone(&self.0));
        let tick = move || {
            let mut idle = 0;
            loop {
                idle = if shared.is_idle() { idle + 1 } else { 0 };
                if idle > LINGER {
                    shared.sleep();
                    idle = 0;
                }
                let Some(engine) = engine.upgrade() else {
                    return;
                };
                engine.increment_epoch();
                drop(engine);
                std::thread::sleep(TICK);
            }
        };
        let thread = std::thread::Builder::new().name("epochs".into());
        thread.spawn(tick).map(drop)
    }

    pub(super) fn busy(&self) -> RunningGuest {
        self.0.begin();
        RunningGuest(Arc::clone(&self.0))
    }
}

impl Drop for Ticker {
    /// Wakes the threads, which end as their engines are gone.
    fn drop(&mut self) {
        self.0.begin();
    }
}
