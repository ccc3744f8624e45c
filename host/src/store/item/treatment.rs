//! Treatment of items that are not what their user has approved.

use dormouse_config::{ChangePolicy, NewTools, OnChange};

use super::gated::Gated;

/// Treatment of an item that is not what its user has approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// The item is shown as it is now, and counts as approved like that.
    Current,
    /// The item is shown as it was approved, and may be used.
    Frozen,
    /// The item is neither shown nor used.
    Withheld,
}

/// Way in which an item is not what its user has approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Novelty {
    /// They have approved something else under its name.
    Changed,
    /// They have seen nothing of its name.
    New,
    /// They have seen something else under its name in another folder, or may have: this counts as
    /// a change, but there is no earlier form to show instead.
    NewHere,
}

impl Treatment {
    /// Returns the treatment by a policy of an item of that kind and name, which is not what its
    /// user has approved.
    pub(in super::super) fn of(
        changes: &ChangePolicy,
        kind: Gated,
        name: &str,
        novelty: Novelty,
    ) -> Self {
        let is_new_tool = novelty == Novelty::New && kind == Gated::Tool;
        match kind.mode(changes, name) {
            OnChange::Accept => Self::Current,
            _ if is_new_tool && changes.new_tools == NewTools::Show => Self::Current,
            _ if novelty != Novelty::Changed => Self::Withheld,
            OnChange::Freeze => Self::Frozen,
            OnChange::Ask | OnChange::Block => Self::Withheld,
        }
    }
}

#[cfg(test)]
mod tests {
    use OnChange::{Accept, Ask, Block, Freeze};
    use Treatment::{Current, Frozen, Withheld};

    use super::*;

    #[test]
    fn treatments() {
        let kinds = [Gated::Prompt, Gated::Template, Gated::Instructions];
        for (mode, changed, new) in [
            (Accept, Current, Current),
            (Freeze, Frozen, Withheld),
            (Ask, Withheld, Withheld),
            (Block, Withheld, Withheld),
        ] {
            let mut changes = ChangePolicy::from(mode);
            let of = |changes: &ChangePolicy, kind, is_new| {
                let novelty = if is_new {
                    Novelty::New
                } else {
                    Novelty::Changed
                };
                Treatment::of(changes, kind, "x", novelty)
            };
            assert_eq!(of(&changes, Gated::Tool, false), changed, "{mode:?}");
            assert_eq!(of(&changes, Gated::Tool, true), new, "{mode:?}");
            changes.new_tools = NewTools::Show;
            assert_eq!(of(&changes, Gated::Tool, false), changed, "{mode:?}");
            assert_eq!(of(&changes, Gated::Tool, true), Current, "{mode:?}");
            let here = Treatment::of(&changes, Gated::Tool, "x", Novelty::NewHere);
            assert_eq!(here, new, "{mode:?}");
            for kind in kinds {
                assert_eq!(of(&changes, kind, false), changed, "{mode:?} {kind}");
                assert_eq!(of(&changes, kind, true), new, "{mode:?} {kind}");
            }
            // What is said of tools by name counts for nothing else of that name.
            changes = ChangePolicy::from(mode);
            changes.tools.insert("x".to_owned(), Accept);
            assert_eq!(of(&changes, Gated::Tool, false), Current, "{mode:?}");
            assert_eq!(of(&changes, Gated::Prompt, false), changed, "{mode:?}");
        }
    }
}
