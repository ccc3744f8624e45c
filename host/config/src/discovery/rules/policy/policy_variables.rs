//! Variables of the user's that are filled into a policy's rules.

use std::cell::Cell;

use crate::discovery::Surroundings;
use crate::variables;

/// Most bytes of variables that are filled into the rules of a list together, or into a server that
/// is held against rules.
const MAX_FILLED_INTO_RULES: usize = 64 << 10;

/// Variables that are filled into the rules of a list, or into a server that is held against rules,
/// as Claude Code does.
pub(super) struct PolicyVariables<'s> {
    around: &'s Surroundings,
    /// Bytes that may still be filled in.
    left: Cell<usize>,
}

impl<'s> PolicyVariables<'s> {
    pub(super) fn new(around: &'s Surroundings) -> Self {
        Self {
            around,
            left: Cell::new(MAX_FILLED_INTO_RULES),
        }
    }

    /// Fills in the variables of a text. One that is too long stays as it is written.
    pub(super) fn fill(&self, text: &str) -> String {
        let value = |name: &str| {
            let value = self.around.value(name)?;
            let left = self.left.get().checked_sub(value.len())?;
            self.left.set(left);
            Some(value.to_owned())
        };
        variables::expand(text, &value).text
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// A stranger's rules do not name a variable of the user's often enough to fill the memory.
    #[test]
    fn variables_in_rules_have_a_size_together() {
        let env = HashMap::from([
            ("SHORT".to_owned(), "short".to_owned()),
            ("LONG".to_owned(), "x".repeat(10_000)),
        ]);
        let around = Surroundings::new("/home/u".into(), env, None);
        let variables = PolicyVariables::new(&around);
        assert_eq!(variables.fill("a ${SHORT} b"), "a short b");
        let text = "${LONG}".repeat(100_000);
        let filled = variables.fill(&text);
        assert!(filled.starts_with('x') && filled.ends_with("${LONG}"));
        assert!(filled.len() <= text.len() + MAX_FILLED_INTO_RULES);
    }
}
