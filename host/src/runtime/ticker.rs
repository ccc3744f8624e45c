//! Makes busy guests yield.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wasmtime::Engine;

/// How often a busy guest yields. It bounds how late a deadline or a cancellation
/// takes effect, and how long others wait for its thread.
const TICK: Duration = Duration::from_millis(2);

/// Advances the epochs of engines while any call runs. A host that is not busy
/// wakes nobody's processor.
#[derive(Default)]
pub(super) struct Ticker(Arc<Shared>);

#[derive(Default)]
struct Shared {
    running: Mutex<u64>,
    changed: Condvar,
}

impl Shared {
    fn running(&self) -> MutexGuard<'_, u64> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Held by a call while it runs.
pub(super) struct Busy(Arc<Shared>);

impl Drop for Busy {
    fn drop(&mut self) {
        *self.0.running() -= 1;
    }
}

impl Ticker {
    /// Advances an engine's epochs from now on, until there is no such engine.
    ///
    /// # Errors
    /// No thread can be started.
    pub(super) fn begin(&self, engine: &Engine) -> io::Result<()> {
        let (engine, shared) = (engine.weak(), Arc::clone(&self.0));
        let tick = move || {
            loop {
                let running = shared.running();
                let idle = |running: &mut u64| *running == 0;
                drop(shared.changed.wait_while(running, idle));
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

    pub(super) fn busy(&self) -> Busy {
        let mut running = self.0.running();
        *running += 1;
        if *running == 1 {
            self.0.changed.notify_all();
        }
        Busy(Arc::clone(&self.0))
    }
}

impl Drop for Ticker {
    /// Lets the threads see that their engines are gone.
    fn drop(&mut self) {
        *self.0.running() += 1;
        self.0.changed.notify_all();
    }
}
