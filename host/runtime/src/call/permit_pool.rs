//! Permits of which there may be more or fewer later.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Permits of which there may be more or fewer later, given out one after the other.
pub(super) struct PermitPool {
    free: Arc<Semaphore>,
    size: Mutex<PoolSize>,
}

struct PoolSize {
    permits: usize,
    /// Permits that are held and are not free again, because there are fewer by now.
    surplus: usize,
}

/// A permit, until it is dropped.
pub(super) struct PoolPermit {
    pool: Arc<PermitPool>,
    permit: Option<OwnedSemaphorePermit>,
}

impl PermitPool {
    pub(super) fn new(permits: usize) -> Arc<Self> {
        Arc::new(Self {
            free: Arc::new(Semaphore::new(permits)),
            size: Mutex::new(PoolSize {
                permits,
                surplus: 0,
            }),
        })
    }

    /// Waits for a permit.
    pub(super) async fn take(self: &Arc<Self>) -> PoolPermit {
        // One becomes free at some time: nobody closes the semaphore.
        let permit = Arc::clone(&self.free).acquire_owned().await.ok();
        PoolPermit {
            pool: Arc::clone(self),
            permit,
        }
    }

    /// Changes the number of permits. Where that are fewer, those that are held stay it.
    pub(super) fn resize(&self, permits: usize) {
        let mut size = self.size.lock();
        let before = std::mem::replace(&mut size.permits, permits);
        if let Some(less) = before.checked_sub(permits) {
            size.surplus += less - self.free.forget_permits(less);
        } else {
            let more = permits - before;
            let kept = more.min(size.surplus);
            size.surplus -= kept;
            self.free.add_permits(more - kept);
        }
    }
}

impl Drop for PoolPermit {
    fn drop(&mut self) {
        let mut size = self.pool.size.lock();
        match self.permit.take() {
            Some(permit) if size.surplus > 0 => {
                size.surplus -= 1;
                permit.forget();
            }
            permit => drop(permit),
        }
    }
}
