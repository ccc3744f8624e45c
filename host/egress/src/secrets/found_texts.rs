//! Texts of secrets that are found in a response.

use super::Mask;

/// Texts that are found in a response, by how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FoundTexts {
    All,
    /// Texts of ASCII alone.
    Ascii,
    Nothing,
}

impl FoundTexts {
    /// Whether all that a mask hides is found.
    pub(crate) fn has_all_of(self, mask: &Mask) -> bool {
        match self {
            Self::All => true,
            Self::Ascii => mask.is_ascii(),
            Self::Nothing => false,
        }
    }
}
