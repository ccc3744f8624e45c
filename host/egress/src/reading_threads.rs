//! Threads that read from the connections of upstreams over HTTP, and from those of plugins.
//!
//! Reading the head of a response, hyper goes through as many heads of informational responses
//! (1xx) as come, almost without a pause, and whatever else has to be done on that thread waits for
//! as long as the host likes. So each upstream has a thread of its own for that, and each server with a
//! plugin, and the system shares the processors between these: one that does this keeps its own calls
//! waiting, and nobody else's.
//!
//! Requests and what comes of them are handed from thread to thread, and each time one of them is woken.
//! A plugin may ask for many things at once, so its requests are carried out as a whole where they are
//! read: each wakes that thread once, and is woken once.

use std::collections::HashMap;
use std::io;
use std::sync::LazyLock;

use parking_lot::Mutex;
use tokio::runtime::{self, Handle, Runtime};
use tokio_util::context::TokioContext;
use tokio_util::task::AbortOnDropHandle;

/// Most threads of upstreams, and of plugins. Servers of which a host hears after that share them.
const MAX_THREADS: usize = 64;

/// Threads of upstreams. They are not those of plugins: both may have one name, and no plugin takes an
/// upstream's place.
static UPSTREAMS: SharedThreads = LazyLock::new(Mutex::default);

/// Threads of plugins.
static PLUGINS: SharedThreads = LazyLock::new(Mutex::default);

type SharedThreads = LazyLock<Mutex<ReadingThreads>>;

/// Turns of connections after which a thread looks what others have to do: a turn of one with heads
/// without end takes some tenths of a second, and the server may have other hosts.
const TURNS_BETWEEN_EVENTS: u32 = 32;

/// Most threads for the lookups of names of one server.
const MAX_LOOKUP_THREADS: usize = 16;

/// The threads, each of which is started when it is first needed, and those of the servers.
#[derive(Default)]
struct ReadingThreads {
    runtimes: Vec<Runtime>,
    by_server: HashMap<String, usize>,
}

/// Does something that makes connections to an upstream, or to what it names, so that they are read
/// on the upstream's thread.
pub async fn on_upstream_reading_thread<F: Future>(server: &str, work: F) -> F::Output {
    let thread = UPSTREAMS.lock().of(server);
    match thread {
        Ok(thread) => TokioContext::new(work, thread).await,
        // Where there can be no more threads, it is done here.
        Err(_) => work.await,
    }
}

/// Does something that makes connections for a plugin on its server's thread, where they are read, until
/// it is dropped. What comes of it may be read anywhere.
pub(crate) async fn on_plugin_reading_thread<F>(server: &str, work: F) -> F::Output
where
    F: Future<Output: Send> + Send + 'static,
{
    let thread = PLUGINS.lock().of(server);
    let Ok(thread) = thread else {
        return work.await;
    };
    let done = AbortOnDropHandle::new(thread.spawn(work)).await;
    // The threads end with the process, and nothing else ends what they do.
    done.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

impl ReadingThreads {
    fn of(&mut self, server: &str) -> io::Result<Handle> {
        let next = self.by_server.len() % MAX_THREADS;
        let place = self.by_server.get(server).copied().unwrap_or(next);
        if let Some(runtime) = self.runtimes.get(place) {
            self.by_server.entry(server.to_owned()).or_insert(place);
            return Ok(runtime.handle().clone());
        }
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("http-reading")
            // Lookups of names.
            .max_blocking_threads(MAX_LOOKUP_THREADS)
            .enable_all()
            .event_interval(TURNS_BETWEEN_EVENTS)
            .build()?;
        let handle = runtime.handle().clone();
        self.runtimes.push(runtime);
        self.by_server.insert(server.to_owned(), place);
        Ok(handle)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_server_has_its_thread_as_long_as_there_are_some() {
        let mut threads = ReadingThreads::default();
        let mut ids = HashSet::new();
        for round in 0..2 {
            for number in 0..MAX_THREADS {
                let handle = threads.of(&format!("server{number}")).unwrap();
                assert_eq!(ids.insert(handle.id()), round == 0, "{number}");
            }
        }
        let other = threads.of("one more").unwrap();
        assert!(ids.contains(&other.id()));
        assert_eq!(threads.runtimes.len(), MAX_THREADS);
        for runtime in threads.runtimes {
            runtime.shutdown_background();
        }
    }

    #[tokio::test]
    async fn a_plugin_and_an_upstream_of_one_name_have_a_thread_each() {
        let id = async || tokio::runtime::Handle::current().id();
        let here = id().await;
        let upstream = on_upstream_reading_thread("one-name", id()).await;
        let plugin = on_plugin_reading_thread("one-name", id()).await;
        assert!(here != upstream && here != plugin && upstream != plugin);
        assert_eq!(on_plugin_reading_thread("one-name", id()).await, plugin);
        assert_ne!(on_plugin_reading_thread("other", id()).await, plugin);
    }
}
