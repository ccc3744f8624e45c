//! Number of tokens.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// Bytes of a token of JSON, roughly.
const BYTES_PER_TOKEN: u64 = 4;

/// Number of tokens, counted or estimated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCount {
    /// The number.
    pub tokens: u64,
    /// Whether something of it is an estimate by the number of bytes.
    pub is_estimate: bool,
}

impl TokenCount {
    /// Returns a number that was counted.
    #[must_use]
    pub fn counted(tokens: u64) -> Self {
        Self {
            tokens,
            is_estimate: false,
        }
    }

    /// Returns an estimate for a text of that many bytes.
    #[must_use]
    pub fn estimated(bytes: usize) -> Self {
        Self {
            tokens: (bytes as u64).div_ceil(BYTES_PER_TOKEN),
            is_estimate: bytes > 0,
        }
    }
}

impl Add for TokenCount {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            is_estimate: self.is_estimate || other.is_estimate,
        }
    }
}

impl AddAssign for TokenCount {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sum for TokenCount {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Add::add)
    }
}

impl fmt::Display for TokenCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let roughly = if self.is_estimate { "about " } else { "" };
        write!(f, "{roughly}{}", self.tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_partly_estimated_is_said_to_be() {
        let sum = |counts: &[TokenCount]| counts.iter().copied().sum::<TokenCount>().to_string();
        let counted = TokenCount::counted(3);
        assert_eq!(sum(&[]), "0");
        assert_eq!(sum(&[counted, counted]), "6");
        assert_eq!(sum(&[counted, TokenCount::estimated(5)]), "about 5");
    }
}
