//! Reading the command line.

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory as _, Parser as _};

use super::Cli;

impl Cli {
    /// Reads the arguments of this process.
    ///
    /// # Errors
    /// They are misused, or ask for the help or the version.
    pub fn of_arguments() -> Result<Self, clap::Error> {
        Self::try_parse().map_err(without_hidden)
    }
}

/// Takes the subcommands of Dormouse's own processes out of what an error suggests in place of a wrong
/// one: nobody is meant to run them.
fn without_hidden(mut error: clap::Error) -> clap::Error {
    const SUGGESTED: ContextKind = ContextKind::SuggestedSubcommand;
    let mut names = match error.remove(SUGGESTED) {
        Some(ContextValue::Strings(names)) => names,
        Some(ContextValue::String(name)) => vec![name],
        Some(other) => {
            error.insert(SUGGESTED, other);
            return error;
        }
        None => return error,
    };
    let command = Cli::command();
    let hidden: Vec<_> = command
        .get_subcommands()
        .filter(|subcommand| subcommand.is_hide_set())
        .map(clap::Command::get_name)
        .collect();
    names.retain(|name| !hidden.contains(&name.as_str()));
    if !names.is_empty() {
        error.insert(SUGGESTED, ContextValue::Strings(names));
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_hidden_subcommand_is_suggested() {
        let command = Cli::command();
        let subcommands = command.get_subcommands();
        for subcommand in subcommands {
            let name = subcommand.get_name();
            let wrong = format!("{name}x");
            let Err(error) = Cli::try_parse_from(["dormouse", &wrong]) else {
                panic!("{wrong}");
            };
            let quoted = format!("'{name}'");
            assert!(error.to_string().contains(&quoted), "{wrong}: {error}");
            let said = without_hidden(error).to_string();
            let is_shown = !subcommand.is_hide_set();
            assert_eq!(said.contains(&quoted), is_shown, "{wrong}: {said}");
        }
    }
}
