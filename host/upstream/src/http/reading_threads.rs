//! Threads that read from the connections of upstreams over HTTP.
//!
//! Reading the head of a response, hyper goes through as many heads of informational responses
//! (1xx) as come, almost without a pause, and whatever else has to be done on that thread waits for
//! as long as the server likes. So each upstream has a thread of its own for that, and the system
//! shares the processors between these: one that does this keeps its own calls waiting, and nobody
//! else's.

use std::collections::HashMap;
use std::io;
use std::sync::LazyLock;

use parking_lot::Mutex;
use tokio::runtime::{self, Handle, Runtime};
use tokio_util::context::TokioContext;

/// Most threads. Upstreams beyond that share them.
const MAX_THREADS: usize = 64;

/// The threads, each of which is started when it is first needed, and those of the upstreams.
#[derive(Default)]
struct ReadingThreads {
    runtimes: Vec<Runtime>,
    by_server: HashMap<String, usize>,
}

/// Does something that makes connections to an upstream, or to what it names, so that they are read
/// on the upstream's thread.
pub(crate) async fn on_reading_thread<F: Future>(server: &str, work: F) -> F::Output {
    match handle(server) {
        Ok(thread) => TokioContext::new(work, thread).await,
        // Where there can be no more threads, it is done here.
        Err(_) => work.await,
    }
}

fn handle(server: &str) -> io::Result<Handle> {
    static THREADS: LazyLock<Mutex<ReadingThreads>> = LazyLock::new(Mutex::default);
    THREADS.lock().of(server)
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
            .thread_name("upstream")
            .enable_all()
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
}
