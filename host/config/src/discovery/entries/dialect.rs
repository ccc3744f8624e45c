//! Dialects in which clients write servers, as data: most of them are alike.

use std::collections::BTreeMap;

use dormouse_launch::HttpTransport;
use dormouse_launch::redaction::is_setting;

use super::draft::{Draft, HttpDraft, StdioDraft, Written};
use super::entry::{ServerEntry, Unit};
use super::oauth;
use crate::discovery::document::Node;
use crate::discovery::filling::expansion::ClientExpansion;
use crate::problem::quoted;

/// Dialect in which a client writes a server.
#[derive(Debug, Clone, Copy)]
pub(in crate::discovery) struct EntryDialect {
    /// The key of the program: a string, or a list with its arguments.
    pub(in crate::discovery) command: &'static str,
    /// Whether a program that is a string is split on white space.
    pub(in crate::discovery) command_line: bool,
    pub(in crate::discovery) env: &'static str,
    pub(in crate::discovery) env_file: Option<&'static str>,
    /// The keys of the URL; the first that is there counts.
    pub(in crate::discovery) urls: &'static [(&'static str, HttpTransport)],
    pub(in crate::discovery) headers: &'static str,
    /// Whether the URL counts, where there is a program too and no type.
    pub(in crate::discovery) url_first: bool,
    /// Key of the longest time for a call, with its unit.
    pub(in crate::discovery) call_timeout: Option<(&'static str, Unit)>,
    /// Keys of the longest time for the start; the first that is there counts.
    pub(in crate::discovery) start_timeouts: &'static [(&'static str, Unit)],
    /// The key of the tools that alone are shown.
    pub(in crate::discovery) include: Option<&'static str>,
    /// The key of the tools that are not shown.
    pub(in crate::discovery) exclude: Option<&'static str>,
    /// The client's own key that switches a server on or off.
    pub(in crate::discovery) switch: Option<&'static str>,
    /// Dialect of the client's OAuth settings.
    pub(in crate::discovery) oauth: oauth::OAuthDialect,
    /// Forms that are filled into the client's texts.
    pub(in crate::discovery) expansion: ClientExpansion,
}

/// Dialect that most clients have taken over from the first one.
pub(in crate::discovery) const COMMON: EntryDialect = EntryDialect {
    command: "command",
    command_line: false,
    env: "env",
    env_file: None,
    urls: &[("url", HttpTransport::Auto)],
    headers: "headers",
    url_first: false,
    call_timeout: None,
    start_timeouts: &[],
    include: None,
    exclude: None,
    switch: None,
    oauth: oauth::NONE,
    expansion: crate::discovery::filling::expansion::NONE,
};

/// Keys that switch a server on or off, each with its value for on. Whoever writes that one is off in
/// a word that their client does not know has still meant it.
const SWITCHES: [(&str, bool); 3] = [("enabled", true), ("disabled", false), ("disable", false)];

/// Outcome of reading an entry.
pub(in crate::discovery) enum EntryOutcome {
    /// A server; its problems have been reported, and harmful ones have made it [`EntryOutcome::Bad`].
    Server(Box<Draft>),
    /// An entry that is no server which could be bridged: the reason, and its launch, where it has one.
    Skipped(String, Option<Box<Written>>),
    /// An entry that cannot be used: its launch, as far as it can be read. Its problems have been
    /// reported.
    Bad(Option<Box<Written>>),
}

/// Meaning of a `type`.
enum TransportType {
    Stdio,
    Http(HttpTransport),
}

impl EntryDialect {
    /// Reads an entry.
    pub(in crate::discovery) fn read(&self, entry: &mut ServerEntry<'_, '_>) -> EntryOutcome {
        let mut outcome = self.read_whole(entry);
        if let EntryOutcome::Skipped(_, launch) | EntryOutcome::Bad(launch) = &mut outcome {
            *launch = self.read_launch(entry).map(Box::new);
        }
        outcome
    }

    /// Reads an entry in which nothing is wrong.
    fn read_whole(&self, entry: &mut ServerEntry<'_, '_>) -> EntryOutcome {
        let before = entry.reader.problem_count;
        let mut draft = Draft::default();
        match self.kind(entry) {
            Err(outcome) => return outcome,
            Ok(None) => {}
            Ok(Some(TransportType::Stdio)) => draft.launch = self.stdio(entry),
            Ok(Some(TransportType::Http(transport))) => {
                draft.launch = self.http(entry, transport, &mut draft.notes);
            }
        }
        draft.enabled = self.switch(entry);
        draft.filter.include = self.include.and_then(|key| entry.names(key));
        let exclude = self.exclude.map(|key| entry.denied_tools(key));
        draft.filter.exclude = exclude.unwrap_or_default();
        if self.include != Some("tools") {
            draft.stubs = entry.tool_names("tools");
        }
        // A server that is not quite what its user wrote is not theirs; only a
        // timeout is of no such weight.
        if entry.reader.problem_count > before {
            return EntryOutcome::Bad(None);
        }
        draft.call_timeout = self
            .call_timeout
            .and_then(|(key, unit)| entry.duration(key, unit));
        draft.start_timeout = self
            .start_timeouts
            .iter()
            .find(|(key, _)| entry.has(key))
            .and_then(|(key, unit)| entry.duration(key, *unit));
        EntryOutcome::Server(Box::new(draft))
    }

    /// Reads the launch of an entry that cannot be used, as far as that is possible, whatever its
    /// type. Nothing is reported a second time.
    fn read_launch(&self, entry: &ServerEntry<'_, '_>) -> Option<Written> {
        let mut reader = entry.reader.unheard();
        let mut entry = ServerEntry {
            reader: &mut reader,
            node: entry.node,
            at: entry.at.clone(),
        };
        let is_url = matches!(self.kind(&mut entry), Ok(Some(TransportType::Http(_))));
        let mut program = self.stdio(&mut entry);
        // Arguments may stand in one text.
        let args = entry.node.get("args").and_then(Node::text);
        if let (Some(Written::Stdio(stdio)), Some(args)) = (&mut program, args) {
            stdio
                .args
                .extend(args.split_whitespace().map(str::to_owned));
        }
        let mut url = || self.http(&mut entry, HttpTransport::Auto, &mut Vec::new());
        match is_url {
            true => url().or(program),
            false => program.or_else(url),
        }
    }

    /// Returns whether an entry says that its server is on or off. Any key says that it is off, and
    /// only the client's own that it is on.
    fn switch(&self, entry: &mut ServerEntry<'_, '_>) -> Option<bool> {
        let mut said = None;
        for (key, on) in SWITCHES {
            match entry.boolean(key).map(|value| value == on) {
                Some(false) => said = Some(false),
                Some(true) if self.switch == Some(key) => said = said.or(Some(true)),
                Some(true) | None => {}
            }
        }
        said
    }

    /// Returns the kind of the server; none where the entry has no launch, and so only changes a
    /// server that is written elsewhere.
    fn kind(&self, entry: &mut ServerEntry<'_, '_>) -> Result<Option<TransportType>, EntryOutcome> {
        let url = self.urls.iter().find(|(key, _)| entry.has(key));
        let program = entry.has(self.command);
        if entry.has("type") {
            let Some(written) = entry.text("type") else {
                return Err(EntryOutcome::Bad(None));
            };
            // HTTP without more is whichever of its two transports answers: that is
            // how clients treat it, whatever its name once meant.
            return match written.as_str() {
                "stdio" | "local" => Ok(Some(TransportType::Stdio)),
                "http" | "remote" => Ok(Some(TransportType::Http(HttpTransport::Auto))),
                "streamable-http" | "streamable_http" | "streamableHttp" => {
                    Ok(Some(TransportType::Http(HttpTransport::Streamable)))
                }
                "sse" => Ok(Some(TransportType::Http(HttpTransport::Sse))),
                // Anything else may be a value that belongs elsewhere, such as a key.
                other if is_setting(other) => {
                    let why = format!("servers of type {} cannot be bridged", quoted(other));
                    Err(EntryOutcome::Skipped(why, None))
                }
                _ => Err(EntryOutcome::Skipped(
                    "its `type` is none of a server that can be bridged (`stdio`, `http`, `sse`)"
                        .to_owned(),
                    None,
                )),
            };
        }
        match url {
            Some((_, transport)) if !program || self.url_first => {
                Ok(Some(TransportType::Http(*transport)))
            }
            _ if program => Ok(Some(TransportType::Stdio)),
            _ if SWITCHES.iter().any(|(key, _)| entry.has(key)) => Ok(None),
            _ => {
                let message = format!(
                    "`{}` has neither a `{}` nor a `{}`",
                    entry.at,
                    self.command,
                    self.url_key()
                );
                entry.problem(
                    "",
                    message,
                    Some("a server is a program to run or a URL to reach"),
                );
                Err(EntryOutcome::Bad(None))
            }
        }
    }

    fn url_key(&self) -> &'static str {
        self.urls.first().map_or("url", |(key, _)| key)
    }

    fn stdio(&self, entry: &mut ServerEntry<'_, '_>) -> Option<Written> {
        let mut words = match entry.node.get(self.command) {
            Some(node) if node.text().is_none() => entry.texts(self.command)?,
            _ => {
                let command = entry.text(self.command).unwrap_or_default();
                if self.command_line {
                    command.split_whitespace().map(str::to_owned).collect()
                } else {
                    vec![command]
                }
            }
        }
        .into_iter();
        let command = words.next().unwrap_or_default();
        if command.trim().is_empty() {
            let message = format!("`{}` has no `{}`", entry.at, self.command);
            entry.problem(
                self.command,
                message,
                Some("name the program that is the server"),
            );
            return None;
        }
        let mut args: Vec<String> = words.collect();
        args.extend(entry.texts("args").unwrap_or_default());
        Some(Written::Stdio(StdioDraft {
            command,
            args,
            env: entry.table(self.env),
            env_file: self.env_file.and_then(|key| entry.text(key)),
            cwd: entry.text("cwd"),
        }))
    }

    fn http(
        &self,
        entry: &mut ServerEntry<'_, '_>,
        transport: HttpTransport,
        notes: &mut Vec<String>,
    ) -> Option<Written> {
        let key = self.urls.iter().find(|(key, _)| entry.has(key));
        let key = key.map_or_else(|| self.url_key(), |(key, _)| key);
        let url = entry.text(key).unwrap_or_default();
        if url.trim().is_empty() {
            let message = format!("`{}` has no `{key}`", entry.at);
            entry.problem(key, message, Some("give the URL of the server"));
            return None;
        }
        Some(Written::Http(HttpDraft {
            url: url.trim().to_owned(),
            headers: entry.table(self.headers),
            transport,
            oauth: self.oauth.read(entry, notes),
            env: BTreeMap::new(),
        }))
    }
}
