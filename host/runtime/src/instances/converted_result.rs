//! A guest's result, converted to MCP.

use dormouse_protocol::Answer;

use crate::error::Cause;
use crate::memory::ServerCharge;
use crate::target::Target;

/// Largest result, in bytes as JSON, that is passed on as values.
const MAX_VALUES_BYTES: u64 = 64 << 10;

/// A guest's result, converted to MCP, that has not been written.
pub(super) struct ConvertedResult {
    pub(super) answer: Answer,
    /// Size of what the guest returned, as JSON, in bytes: a lower bound.
    pub(super) size: u64,
    /// Memory that counts until it is written.
    pub(super) charge: ServerCharge,
}

impl ConvertedResult {
    /// Writes the result if it is long, as values take many times the memory of text. An instance
    /// that is no longer needed should have gone by then.
    ///
    /// # Errors
    /// It is larger than it may be.
    pub(super) fn written(mut self, target: &Target) -> Result<Answer, Cause> {
        // The length of text is known.
        if self.size > MAX_VALUES_BYTES {
            self.answer.write();
        }
        let size = self.answer.size();
        fits(size, target)?;
        if size > MAX_VALUES_BYTES {
            self.answer.write();
        }
        drop(self.charge);
        Ok(self.answer)
    }
}

/// Checks the size of a result as JSON, in bytes.
///
/// # Errors
/// It is larger than the target's limit.
pub(super) fn fits(size: u64, target: &Target) -> Result<(), Cause> {
    let limit = target.limits.result;
    match size > limit {
        true => Err(Cause::ResultTooLarge {
            server: target.server.clone(),
            size,
            limit,
        }),
        false => Ok(()),
    }
}
