//! Arguments with which a client's entry starts Dormouse: written, and recognised again.

use crate::Client;

/// Option before `serve` that names the configuration.
pub(super) const CONFIG: &str = "--config";
const SERVE: &str = "serve";
const CLIENT: &str = "--client";
/// Options with which Dormouse serves one server alone, in place of which the client starts it.
const SERVER: &str = "--server";
const OWN_NAMES: &str = "--own-names";

/// Arguments of Dormouse in a client's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StartArgs<'a> {
    /// The arguments before `serve`.
    pub(super) options: &'a [String],
    /// The client; an entry that its user has written by hand may say none.
    pub(super) client: Option<Client>,
    /// The one server that is served; none where all are.
    pub(super) server: Option<&'a str>,
}

impl<'a> StartArgs<'a> {
    /// Reads an entry's arguments. None where they are not all Dormouse's own: any other is its
    /// user's, and with it the entry.
    pub(super) fn read(args: &'a [String]) -> Option<Self> {
        let count = match args {
            [option, _, ..] if option == CONFIG => 2,
            _ => 0,
        };
        let (options, words) = args.split_at_checked(count)?;
        let words: Vec<&'a str> = words.iter().map(String::as_str).collect();
        let (client, server) = match words.as_slice() {
            [SERVE] => (None, None),
            [SERVE, CLIENT, client] => (Some(*client), None),
            [SERVE, CLIENT, client, SERVER, server, OWN_NAMES] => (Some(*client), Some(*server)),
            [SERVE, CLIENT, client, server, OWN_NAMES] => {
                let value = server.strip_prefix(SERVER)?.strip_prefix('=')?;
                (Some(*client), Some(value))
            }
            _ => return None,
        };
        let client = client.map(str::parse).transpose().ok()?;
        Some(Self {
            options,
            client,
            server,
        })
    }

    /// Returns the arguments as they are written into an entry.
    pub(super) fn words(self) -> Vec<String> {
        let mut words = self.options.to_vec();
        words.push(SERVE.to_owned());
        if let Some(client) = self.client {
            words.extend([CLIENT, client.name()].map(str::to_owned));
        }
        if let Some(server) = self.server {
            // In a word of its own, a name that begins with `-` would be taken for an option.
            words.push(format!("{SERVER}={server}"));
            // The client has the server's name before the names of tools already.
            words.push(OWN_NAMES.to_owned());
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let named = ["--config", "serve"].map(str::to_owned);
        for options in [&[][..], &named] {
            for server in [None, Some("time"), Some("-lead"), Some("--own-names")] {
                let args = StartArgs {
                    options,
                    client: Some(Client::Cursor),
                    server,
                };
                assert_eq!(StartArgs::read(&args.words()), Some(args));
            }
        }
    }

    #[test]
    fn arguments_of_a_user_are_not_dormouses() {
        let read = |line: &str| {
            let args: Vec<_> = line.split(' ').map(str::to_owned).collect();
            StartArgs::read(&args).map(|args| args.server.map(str::to_owned))
        };
        for (line, expected) in [
            ("serve", Some(None)),
            ("--config x serve --client cursor", Some(None)),
            (
                "serve --client cursor --server time --own-names",
                Some(Some("time".to_owned())),
            ),
            ("serve --client cursor --server time", None),
            ("serve --server time", None),
            ("serve --client cursor --profile mine", None),
            ("serve --client cursor --own-names", None),
            ("serve --client other", None),
            ("--config x --quiet serve", None),
            ("-v serve", None),
            ("-y dormouse serve", None),
            ("list", None),
            ("", None),
        ] {
            assert_eq!(read(line), expected, "{line}");
        }
    }
}
