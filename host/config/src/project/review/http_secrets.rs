//! Secrets that a project has put into HTTP requests, in a review.

use dormouse_policy::{HttpSecret, SecretPlacement, SecretSource};

use super::lines::Lines;
use super::{plain_path, quoted, really, shell_word};

impl Lines {
    /// Adds a secret: where it comes from, whom it is sent to, and how.
    pub(super) fn http_secret(&mut self, secret: &HttpSecret) {
        let source = match &secret.source {
            SecretSource::Variable(name) => format!("your environment's {}", quoted(name)),
            SecretSource::File(file) => {
                format!("the file {}{}", plain_path(file), really(file))
            }
            SecretSource::Command {
                program,
                arguments,
                folder,
            } => {
                let words = std::iter::once(program).chain(arguments);
                let words: Vec<String> = words.map(|word| shell_word(word)).collect();
                format!(
                    "what this program says, which is run in {}: {}",
                    plain_path(folder),
                    words.join(" ")
                )
            }
        };
        let hosts = secret.hosts.iter();
        let hosts: Vec<String> = hosts.map(|host| quoted(&host.to_string())).collect();
        let place = match &secret.placement {
            SecretPlacement::Header { name, value } => {
                format!(
                    "in the header {} as {}",
                    quoted(name),
                    quoted(&value.to_string())
                )
            }
            SecretPlacement::Query(name) => format!("in the query as {}", quoted(name)),
            SecretPlacement::Placeholder { variable, header } => format!(
                "in the header {} for a placeholder, which it sees as its variable {}",
                quoted(header),
                quoted(variable)
            ),
        };
        let name = quoted(&secret.name);
        self.add(
            "sends secret",
            format!("{name} to {}, {place}", hosts.join(", ")),
        );
        self.add("it comes from", source);
    }
}
