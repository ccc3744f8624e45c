//! Condition on which a call goes on, and what has come of it.

use std::sync::{Arc, OnceLock};

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::CallCondition;
use crate::error::Cause;

/// Condition of a call, and the reason why it has not held: the guest may have requests open, so the
/// host ends it where that is so, rather than tell it.
#[derive(Clone, Default)]
pub(crate) struct CheckedCondition {
    condition: Option<Arc<dyn CallCondition>>,
    failed: Arc<OnceLock<String>>,
}

impl CheckedCondition {
    pub(crate) fn new(condition: Option<Arc<dyn CallCondition>>) -> Self {
        Self {
            condition,
            failed: Arc::default(),
        }
    }

    /// Returns the called tool, by its server's name, where the condition depends on what that is now.
    pub(crate) fn judged_tool(&self) -> Option<String> {
        self.condition.as_ref()?.judged_tool()
    }

    /// Checks it now.
    ///
    /// # Errors
    /// It does not hold; with the reason.
    pub(crate) fn check(&self) -> BoxFuture<'static, Result<(), String>> {
        let Some(condition) = &self.condition else {
            return std::future::ready(Ok(())).boxed();
        };
        let (checking, failed) = (condition.check(), Arc::clone(&self.failed));
        async move {
            let checked = checking.await;
            if let Err(why) = &checked {
                failed.get_or_init(|| why.clone());
            }
            checked
        }
        .boxed()
    }

    /// Records a reason why the call does not go on. Returns it as the cause by which the guest ends.
    pub(crate) fn fail(&self, why: String) -> Cause {
        Cause::Refused(self.failed.get_or_init(|| why).clone())
    }

    /// Checks that it has held whenever it was checked.
    ///
    /// # Errors
    /// It has not; with the reason, by which the guest ends.
    pub(crate) fn has_held(&self) -> Result<(), Cause> {
        match self.failed.get() {
            Some(why) => Err(Cause::Refused(why.clone())),
            None => Ok(()),
        }
    }
}
