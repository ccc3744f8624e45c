//! Sizes of types, written out, and their limits.

use super::Unfit;

/// Largest size of the types of one function, written out, in bytes. Types share parts in WIT but
/// not in a declaration, so thirty small records can double thirty times over.
const MAX_SIZE: usize = 256 * 1024;
/// Largest size of the types of a whole declaration, written out, in bytes.
const MAX_TOTAL: usize = 32 * 1024 * 1024;
/// Size of a part of a type besides its name and comment, in bytes.
const PART: usize = 32;

/// Sizes of the types so far, written out, in bytes.
#[derive(Debug, Default)]
pub(super) struct WrittenSize {
    function: usize,
    declaration: usize,
}

impl WrittenSize {
    /// Starts on another function.
    pub(super) fn next_function(&mut self) {
        self.function = 0;
    }

    /// Adds a part of a type, with the length of its name and comment in bytes.
    ///
    /// # Errors
    /// The types of the function, or of the declaration, are too large.
    pub(super) fn spend(&mut self, text: usize) -> Result<(), Unfit> {
        self.function += PART + text;
        self.declaration += PART + text;
        if self.function > MAX_SIZE {
            return Err(Unfit(format!(
                "its types are larger than {} KiB written out",
                MAX_SIZE / 1024
            )));
        }
        if self.declaration > MAX_TOTAL {
            return Err(Unfit(format!(
                "all tools together are larger than {} MiB written out",
                MAX_TOTAL / 1024 / 1024
            )));
        }
        Ok(())
    }
}
