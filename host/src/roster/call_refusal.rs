//! Reason why a tool is not called, or why its call does not go on.

use std::fmt;

use dormouse_policy::exposure::ToolAccess;

/// Reason why a tool is not called, or why its call does not go on: for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRefusal {
    /// The tool, in words.
    tool: String,
    why: String,
    hint: Option<String>,
    /// Whether its user was shown a form before, and has not agreed.
    is_after_form: bool,
}

impl CallRefusal {
    /// Makes that of a tool, in words, with a hint at what to do before it is called.
    pub(super) fn new(tool: String, why: impl Into<String>, hint: Option<&str>) -> Self {
        Self {
            tool,
            why: why.into(),
            hint: hint.map(str::to_owned),
            is_after_form: false,
        }
    }

    /// Says that its user was shown a form before, and has not agreed.
    pub(super) fn after_form(self) -> Self {
        Self {
            is_after_form: true,
            ..self
        }
    }

    /// Whether its user was shown a form before, and has not agreed.
    pub(super) fn is_after_form(&self) -> bool {
        self.is_after_form
    }

    /// Returns the text for a call that may have begun. Whoever is told that it was not made, or to make
    /// it again, has what it did done twice.
    pub(super) fn of_begun_call(&self) -> String {
        let Self { tool, why, .. } = self;
        format!(
            "the call of {tool} did not go on: {why}; what it has done so far is done\n\
             hint: ask the user what to do before any of it is done once more"
        )
    }
}

impl fmt::Display for CallRefusal {
    /// Writes the text for a call that has not begun.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tool, why, hint, ..
        } = self;
        write!(f, "{tool} was not called: {why}")?;
        match hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Returns the reason why a tool is not called by the tool that was used for it: clients decide by
/// that one's hints what their user is asked.
#[must_use]
pub fn wrong_access(name: &str, needed: ToolAccess, used: ToolAccess) -> CallRefusal {
    let does = match needed {
        ToolAccess::Read => "only reads",
        ToolAccess::Write => "changes something, and destroys nothing",
        ToolAccess::Destructive => "may change or remove anything",
    };
    CallRefusal::new(
        format!("`{name}`"),
        format!("it {does}, and `{}` is not for that", used.call_tool()),
        Some(&format!("call it by `{}`", needed.call_tool())),
    )
}

/// Returns the reason why a tool is not called by one of Dormouse's own, which models use.
#[must_use]
pub fn not_for_models(name: &str) -> CallRefusal {
    CallRefusal::new(
        format!("`{name}`"),
        "its server declares that it is not for models",
        Some("the server's own page calls it, or a person by `dormouse call`"),
    )
}
