//! Reading secrets of HTTP requests: `[servers.NAME.secrets]`.

use std::path::PathBuf;

use dormouse_files::paths;
use dormouse_launch::{Secret, is_header_byte};
use dormouse_policy::{HttpSecret, SecretHost, SecretPlacement, SecretSource, ValueTemplate};

use super::*;

/// Most secrets of one server.
const MAX_SECRETS: usize = 100;

const SECRET: &[&str] = &[
    "env",
    "file",
    "command",
    "keyring",
    "op",
    "login",
    "scopes",
    "hosts",
    "header",
    "value",
    "query",
    "placeholder",
];
pub(super) const SOURCES: [&str; 5] = ["env", "file", "command", "keyring", "op"];
/// Source of a text that a login brings.
const LOGIN: &str = "login";
const PLACES: [&str; 3] = ["header", "query", "placeholder"];

/// Header in which a placeholder is replaced, where no other is named.
const AUTHORIZATION: &str = "Authorization";

/// Headers by which a request is sent at all.
const OF_CONNECTION: [&str; 10] = [
    "accept-encoding",
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl DocumentReader<'_> {
    /// Reads the secrets of a server.
    pub(super) fn http_secrets(&mut self, item: &Item, at: &str) -> Vec<HttpSecret> {
        let Some(table) = self.table(item, at) else {
            return Vec::new();
        };
        if let Some((name, _)) = table.iter().nth(MAX_SECRETS) {
            let message = format!("`{at}` has more than {MAX_SECRETS} secrets");
            self.problem(key_span(table, name), message, None);
        }
        let mut secrets = Vec::new();
        for (name, item) in table.iter().take(MAX_SECRETS) {
            if !Secret::is_name(name) {
                self.no_secret_name(name, key_span(table, name));
            }
            secrets.extend(self.http_secret(name, item, &within(at, name)));
        }
        secrets
    }

    fn http_secret(&mut self, name: &str, item: &Item, at: &str) -> Option<HttpSecret> {
        let table = self.table(item, at)?;
        for (key, _) in table.iter().filter(|(key, _)| !SECRET.contains(key)) {
            self.unknown(table, key, &format!("`[{at}]`"), SECRET);
        }
        let span = item.span();
        let source = self.one_of(
            table,
            &[&SOURCES[..], &[LOGIN]].concat(),
            at,
            span.clone(),
            "where its text comes from",
        );
        let source = match source {
            Some((LOGIN, item)) => self.secret_login(table, item, at),
            Some((key, item)) => self.secret_source(key, item, at),
            None => None,
        };
        if let Some(scopes) = table.get("scopes").filter(|_| !table.contains_key(LOGIN)) {
            let message = format!("`{at}` has `scopes`, and no `{LOGIN}`");
            let hint = "`scopes` are what a login is for";
            self.problem(scopes.span(), message, Some(hint.to_owned()));
        }
        // A placeholder may say in which header.
        let is_placeholder = table.contains_key("placeholder");
        let places = match is_placeholder {
            true => &["query", "placeholder"][..],
            false => &PLACES,
        };
        let place = self.one_of(
            table,
            places,
            at,
            span.clone(),
            "where it stands in a request",
        );
        let placement = place.and_then(|place| self.secret_placement(table, place, at));
        let hosts = self.secret_hosts(table.get("hosts"), at, span);
        Some(HttpSecret {
            name: name.to_owned(),
            source: source?,
            hosts,
            placement: placement?,
        })
    }

    /// Returns the one of these keys that a table has, with what it has there.
    pub(super) fn one_of<'t>(
        &mut self,
        table: &'t dyn TableLike,
        keys: &[&'static str],
        at: &str,
        span: Option<Range<usize>>,
        what: &str,
    ) -> Option<(&'static str, &'t Item)> {
        let here = keys.iter().copied();
        let here: Vec<_> = here
            .filter_map(|key| Some((key, table.get(key)?)))
            .collect();
        let (message, hint) = match *here.as_slice() {
            [one] => return Some(one),
            [] => (
                format!("`{at}` does not say {what}"),
                format!("write one of `{}`", keys.join("`, `")),
            ),
            [(one, _), (other, _), ..] => (
                format!("`{at}` has `{one}` and `{other}`"),
                format!("it says {what} once: keep one of them"),
            ),
        };
        self.problem(span, message, Some(hint));
        None
    }

    fn secret_login(
        &mut self,
        table: &dyn TableLike,
        item: &Item,
        at: &str,
    ) -> Option<SecretSource> {
        let mut login = self.provider_login(item, &within(at, LOGIN))?;
        if let Some(scopes) = table.get("scopes") {
            login.oauth.scopes = self.scopes(scopes, &within(at, "scopes"));
        }
        Some(SecretSource::Login(Box::new(login)))
    }

    pub(super) fn secret_source(
        &mut self,
        key: &str,
        item: &Item,
        at: &str,
    ) -> Option<SecretSource> {
        let here = within(at, key);
        Some(match key {
            "env" => SecretSource::Variable(self.variable(item, &here)?),
            "file" => SecretSource::File(self.path(item, &here)?.into()),
            "keyring" => self.stored_secret(item, &here)?,
            "op" => self.op_reference(item, &here)?,
            _ => self.secret_command(item, &here)?,
        })
    }

    fn no_secret_name(&mut self, name: &str, span: Option<Range<usize>>) {
        let hint = format!(
            "use letters (a-z, A-Z), digits, `-` and `_`, at most {}",
            Secret::MAX_NAME
        );
        let message = format!("{} is no name of a secret", quoted(name));
        self.problem(span, message, Some(hint));
    }

    fn stored_secret(&mut self, item: &Item, at: &str) -> Option<SecretSource> {
        let name = self.string(item, at)?;
        if Secret::is_name(name) {
            return Some(SecretSource::Keyring(name.to_owned()));
        }
        self.no_secret_name(name, item.span());
        None
    }

    /// Reads a reference to a secret of 1Password, which its own program looks up.
    fn op_reference(&mut self, item: &Item, at: &str) -> Option<SecretSource> {
        let reference = self.string(item, at)?;
        let parts = reference.strip_prefix("op://").map(|path| path.split('/'));
        let is_reference = parts.is_some_and(|mut parts| {
            parts.clone().count() >= 3 && parts.all(|part| !part.is_empty())
        });
        if !is_reference || reference.contains(char::is_control) {
            let message = format!("`{at}` cannot be {}: it is no reference", self.shown(item));
            let hint = "write it as 1Password shows it: `op = \"op://vault/item/field\"`";
            self.problem(item.span(), message, Some(hint.to_owned()));
            return None;
        }
        let arguments = ["read", "--no-newline", reference];
        Some(SecretSource::Command {
            program: "op".to_owned(),
            arguments: arguments.map(str::to_owned).to_vec(),
            folder: self.file.parent().unwrap_or(Path::new("")).to_owned(),
            is_confined: false,
        })
    }

    fn secret_command(&mut self, item: &Item, at: &str) -> Option<SecretSource> {
        let words = self.strings(item, at);
        let folder = self.file.parent().unwrap_or(Path::new(""));
        let hint = "write the program and its arguments: `[\"pass\", \"show\", \"x\"]`";
        let mut refuse = |message| self.problem(item.span(), message, Some(hint.to_owned()));
        let Some((program, arguments)) = words.split_first().filter(|(first, _)| !first.is_empty())
        else {
            refuse(format!("`{at}` names no program"));
            return None;
        };
        // A name is looked for; a path is one from the folder of this file.
        let program = match program.contains(std::path::is_separator) {
            true => match paths::expand(program, folder).map(PathBuf::into_os_string) {
                Ok(path) => path.into_string().ok(),
                Err(why) => {
                    refuse(format!("`{at}`: {why}"));
                    None
                }
            },
            false => Some(program.clone()),
        };
        Some(SecretSource::Command {
            program: program?,
            arguments: arguments.to_vec(),
            folder: folder.to_owned(),
            is_confined: false,
        })
    }

    fn secret_hosts(
        &mut self,
        item: Option<&Item>,
        at: &str,
        span: Option<Range<usize>>,
    ) -> Vec<SecretHost> {
        let here = within(at, "hosts");
        let items = item.map(|item| self.items(item, &here));
        let items = items.unwrap_or_default();
        if items.is_empty() && item.is_none_or(Item::is_array) {
            let message = format!("`{at}` names no hosts");
            let hint = "name those that get it: `hosts = [\"api.example.com\"]`";
            self.problem(span, message, Some(hint.to_owned()));
        }
        let mut hosts = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let here = format!("{here}[{index}]");
            match self.string(item, &here).map(str::parse::<SecretHost>) {
                Some(Ok(host)) => hosts.push(host),
                Some(Err(error)) => {
                    let message = format!("`{here}` cannot be {}: {error}", self.shown(item));
                    self.problem(item.span(), message, Some(error.hint().to_owned()));
                }
                None => {}
            }
        }
        hosts
    }

    fn secret_placement(
        &mut self,
        table: &dyn TableLike,
        (key, item): (&str, &Item),
        at: &str,
    ) -> Option<SecretPlacement> {
        let here = within(at, key);
        if key != "header"
            && let Some(value) = table.get("value")
        {
            let message = format!("`{at}` has `value`, and `{key}`");
            let hint = "`value` is what stands in a `header` of the secret's own";
            self.problem(value.span(), message, Some(hint.to_owned()));
        }
        Some(match key {
            "header" => SecretPlacement::Header {
                name: self.secret_header(item, &here)?,
                value: match table.get("value") {
                    Some(value) => self.value_template(value, &within(at, "value"))?,
                    None => ValueTemplate::default(),
                },
            },
            "query" => {
                let name = self.string(item, &here)?;
                if name.is_empty() {
                    let message = format!("`{here}` is empty");
                    let hint = "name the parameter, as `query = \"key\"`";
                    self.problem(item.span(), message, Some(hint.to_owned()));
                }
                SecretPlacement::Query(name.to_owned())
            }
            _ => SecretPlacement::Placeholder {
                variable: self.variable(item, &here)?,
                header: match table.get("header") {
                    Some(header) => self.secret_header(header, &within(at, "header"))?,
                    None => AUTHORIZATION.to_owned(),
                },
            },
        })
    }

    fn secret_header(&mut self, item: &Item, at: &str) -> Option<String> {
        let name = self.string(item, at)?;
        let is_header = !name.is_empty() && name.bytes().all(is_header_byte);
        let is_of_connection = OF_CONNECTION.contains(&name.to_ascii_lowercase().as_str());
        let (shown, why, hint) = match (is_header, is_of_connection) {
            (true, false) => return Some(name.to_owned()),
            (true, true) => (
                quoted(name),
                "a request is sent by it",
                "a secret belongs into a header such as `Authorization`",
            ),
            (false, _) => (
                self.shown(item),
                "it is no name of a header",
                "write the name alone, as `header = \"Authorization\"`",
            ),
        };
        let message = format!("`{at}` cannot be {shown}: {why}");
        self.problem(item.span(), message, Some(hint.to_owned()));
        None
    }

    fn value_template(&mut self, item: &Item, at: &str) -> Option<ValueTemplate> {
        match self.string(item, at)?.parse() {
            Ok(template) => Some(template),
            Err(error) => {
                let message = format!("`{at}` cannot be {}: {error}", self.shown(item));
                let hint = "write it as `value = \"Bearer {}\"`";
                self.problem(item.span(), message, Some(hint.to_owned()));
                None
            }
        }
    }
}
