//! How many questions of one server wait for a person at once.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::AskError;

/// Counts the questions of a server that wait. Clones count together.
#[derive(Debug, Clone)]
pub struct QuestionLimit {
    max: u32,
    free: Arc<Semaphore>,
}

impl QuestionLimit {
    /// Lets that many wait.
    #[must_use]
    pub fn new(max: u32) -> Self {
        Self {
            max,
            free: Arc::new(Semaphore::new(max as usize)),
        }
    }

    /// Counts questions as waiting until what this gives is dropped.
    ///
    /// # Errors
    /// There would be too many.
    pub fn take(&self, server: &str, count: usize) -> Result<OwnedSemaphorePermit, AskError> {
        let permits = u32::try_from(count).unwrap_or(u32::MAX);
        let taken = Arc::clone(&self.free).try_acquire_many_owned(permits);
        taken.map_err(|_| {
            AskError::Failed(format!(
                "server `{server}` asks too much at once: {} of its questions may wait for an answer\n\
                 hint: `questions` in `[servers.{server}.limits]` says how many",
                self.max
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_wait() {
        let limit = QuestionLimit::new(2);
        let one = limit.take("x", 1).unwrap();
        let AskError::Failed(why) = limit.clone().take("x", 2).unwrap_err() else {
            panic!("another error")
        };
        assert!(
            why.contains("`[servers.x.limits]`") && why.contains(": 2 of"),
            "{why}"
        );
        let _two = limit.take("x", 1).unwrap();
        assert!(limit.take("x", 1).is_err());
        drop(one);
        assert!(limit.take("x", 1).is_ok());
    }
}
