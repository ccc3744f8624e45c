//! Questions to the user at the terminal about something that was shown.

use std::io::{IsTerminal as _, Write as _};

use anyhow::bail;

use super::{output, stdin};
use crate::store::DecidedBy;

/// Asks a question that `--yes` answers with yes, and says that nothing is changed where the answer
/// is no. None where it is.
///
/// # Errors
/// There is no terminal to ask on, and no `--yes`.
pub(super) fn consent(question: &str, yes: bool) -> anyhow::Result<Option<DecidedBy>> {
    let by = answer(question, yes)?;
    if by.is_none() {
        output::say("nothing is changed");
    }
    Ok(by)
}

/// Whether there is somebody at a terminal who can be asked.
pub(super) fn can_ask() -> bool {
    std::io::stdin().is_terminal()
        && std::io::stdout().is_terminal()
        && std::io::stderr().is_terminal()
}

/// Asks a question that `--yes` answers with yes. None where the answer is no.
///
/// # Errors
/// There is no terminal to ask on, and no `--yes`.
pub(super) fn answer(question: &str, yes: bool) -> anyhow::Result<Option<DecidedBy>> {
    if yes {
        return Ok(Some(DecidedBy::Flag));
    }
    if !can_ask() {
        bail!(
            "there is no terminal to ask on, so nothing is allowed\n\
             hint: read what is shown above, and allow it with `--yes`"
        );
    }
    stdin::forget_typed_ahead();
    eprint!("{} [y/N] ", output::clean(question));
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    let agreed = matches!(answer.trim(), "y" | "Y" | "yes");
    Ok(agreed.then_some(DecidedBy::Terminal))
}
