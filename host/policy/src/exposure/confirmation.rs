//! Confirmation of calls: how much a tool may do whose calls the user is asked about.

use super::ToolAccess;

/// Tools whose calls the user is asked about, each time or once in a session: `confirm`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Confirmation {
    /// Least access of such a tool; none where no call is asked about.
    from: Option<ToolAccess>,
}

impl Confirmation {
    /// Words of the configuration, each with the least access that it is about.
    pub const WORDS: [(&'static str, ToolAccess); 2] = [
        ("destructive", ToolAccess::Destructive),
        ("write", ToolAccess::Write),
    ];

    /// Makes it of what the words of a configuration are about: none, and no call is asked about.
    #[must_use]
    pub fn of(words: impl IntoIterator<Item = ToolAccess>) -> Self {
        let from = words.into_iter().min();
        Self { from }
    }

    /// Whether the user is asked about calls of a tool with that access.
    #[must_use]
    pub fn asks_about(self, access: ToolAccess) -> bool {
        self.from.is_some_and(|from| access >= from)
    }

    /// Returns what asks about all calls that either of two asks about.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        Self::of(self.from.into_iter().chain(other.from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_asked_about_changes_is_asked_about_destruction() {
        use ToolAccess::{Destructive, Read, Write};
        for (words, asked) in [
            (&[][..], [false, false, false]),
            (&[Destructive], [false, false, true]),
            (&[Write], [false, true, true]),
            (&[Destructive, Write], [false, true, true]),
        ] {
            let confirmation = Confirmation::of(words.iter().copied());
            let found = [Read, Write, Destructive].map(|access| confirmation.asks_about(access));
            assert_eq!(found, asked, "{words:?}");
            for other in [Confirmation::default(), Confirmation::of([Write])] {
                let both = confirmation.stricter(other);
                let either = |access| confirmation.asks_about(access) || other.asks_about(access);
                for access in [Read, Write, Destructive] {
                    assert_eq!(both.asks_about(access), either(access), "{words:?}");
                }
            }
        }
    }
}
