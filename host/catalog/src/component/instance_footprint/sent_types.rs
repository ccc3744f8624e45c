//! Types that components can send each other.

use wasmparser::{ComponentDefinedType, ComponentType, ComponentValType};

/// Types that components can send each other.
#[derive(Default)]
pub(super) struct SentTypes {
    /// Whether there are futures or streams of a defined type, not a primitive one.
    pub(super) has_values: bool,
    pub(super) max_flags: usize,
}

impl SentTypes {
    pub(super) fn read(&mut self, ty: &ComponentType<'_>) {
        match ty {
            ComponentType::Defined(ComponentDefinedType::Flags(flags)) => {
                self.max_flags = self.max_flags.max(flags.len());
            }
            ComponentType::Defined(
                ComponentDefinedType::Future(Some(sent)) | ComponentDefinedType::Stream(Some(sent)),
            ) => self.has_values |= matches!(sent, ComponentValType::Type(_)),
            _ => {}
        }
    }
}
