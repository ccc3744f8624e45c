//! Reading the upstreams of `dormouse.toml`.

mod expanded;
mod login;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_files::paths;
use dormouse_launch::environment::secret_in;
use dormouse_launch::{Http, HttpTransport, Launch, OAuth, Secret, Stdio};
use dormouse_text::server_url::shown_wrong;
use toml_edit::{Item, TableLike, Value};

use super::bridge::{Bridge, FillSource, FilledIn, Filter, Fingerprint, MAX_FILLED_IN, Need};
use super::on_change::ChangePolicy;
use super::overlay::{LaunchOverlay, UpstreamOverlay};
use super::upstream::expanded::ExpandedLaunch;
use crate::inputs as questions;
use crate::inputs::INPUT;
use crate::problem::{quoted, unquoted, within};
use crate::reading::reader::{DocumentReader, VariableHandling};
use crate::reading::units;
use crate::variables::expand;
use crate::{ClientRules, Input};

/// The keys of a server's table that are about its upstream, as they are written.
#[derive(Default)]
pub(crate) struct UpstreamTable {
    command: Vec<String>,
    args: Vec<String>,
    env: BTreeMap<String, Secret>,
    cwd: Option<String>,
    pass_env: Vec<String>,
    url: Option<String>,
    headers: BTreeMap<String, Secret>,
    kind: Option<UpstreamType>,
    oauth: OAuth,
    stubs: Option<Vec<String>>,
    include: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
    rules: Option<ClientRules>,
    start_timeout: Option<Duration>,
}

/// Upstream of a server's table.
pub(crate) enum UpstreamEntry {
    /// Upstream with its launch.
    Bridge(Box<Bridge>),
    /// Changes of an upstream that is configured elsewhere.
    Overlay(Box<UpstreamOverlay>),
    /// None that could be meant; a problem says so.
    Wrong,
}

#[derive(Clone, Copy, PartialEq)]
enum UpstreamType {
    Stdio,
    Http,
    Sse,
}

const KINDS: [(&str, UpstreamType); 3] = [
    ("stdio", UpstreamType::Stdio),
    ("http", UpstreamType::Http),
    ("sse", UpstreamType::Sse),
];

/// The keys of a child process, and those of an endpoint.
const OF_STDIO: [&str; 4] = ["args", "env", "cwd", "pass_env"];
const OF_HTTP: [&str; 2] = ["headers", "oauth"];

impl DocumentReader<'_> {
    /// Reads one key, and returns whether it is one of an upstream's.
    pub(crate) fn upstream_key(
        &mut self,
        table: &mut UpstreamTable,
        key: &str,
        item: &Item,
        at: &str,
    ) -> bool {
        match key {
            // One text is the program, with whatever spaces its path has.
            "command" if item.is_str() => {
                let text = self.string(item, at).unwrap_or_default();
                table.command = vec![text.to_owned()];
            }
            "command" => table.command = self.words(item, at),
            "args" => table.args = self.words(item, at),
            "env" => table.env = self.secrets(item, at),
            "cwd" => table.cwd = self.string(item, at).map(str::to_owned),
            "pass_env" => table.pass_env = self.pass_env(item, at),
            "url" => table.url = self.string(item, at).map(str::to_owned),
            "headers" => table.headers = self.secrets(item, at),
            "type" => table.kind = self.choice(item, at, &KINDS),
            "oauth" => table.oauth = self.oauth(item, at),
            "tools" => table.stubs = Some(self.strings(item, at)),
            "include_tools" => table.include = Some(self.strings(item, at)),
            "exclude_tools" => table.exclude = Some(self.strings(item, at)),
            "clients" => table.rules = Some(self.client_rules(item, at)),
            "start_timeout" => table.start_timeout = self.measure(item, at, units::duration),
            _ => return false,
        }
        true
    }

    /// Reads names of variables, or `"all"`.
    pub(crate) fn pass_env(&mut self, item: &Item, at: &str) -> Vec<String> {
        if item.is_str() {
            let all = self.choice(item, at, &[("all", "*")]);
            return all.map(str::to_owned).into_iter().collect();
        }
        let items = self.items(item, at);
        let names = items.iter().enumerate();
        names
            .filter_map(|(index, item)| self.variable(item, &format!("{at}[{index}]")))
            .collect()
    }

    pub(crate) fn strings(&mut self, item: &Item, at: &str) -> Vec<String> {
        let items = self.items(item, at);
        let texts = items.iter().enumerate().filter_map(|(index, item)| {
            let text = self.string(item, &format!("{at}[{index}]"))?;
            Some(text.to_owned())
        });
        texts.collect()
    }

    /// Reads the words of a program. What is no text or no array is reported, and read as what it may
    /// mean all the same: what its table starts, no other file brings up.
    fn words(&mut self, item: &Item, at: &str) -> Vec<String> {
        if let Some(text) = item.as_str() {
            self.items(item, at);
            return text.split_whitespace().map(str::to_owned).collect();
        }
        let items = self.items(item, at);
        let words = items.iter().enumerate().filter_map(|(index, item)| {
            let text = self.string(item, &format!("{at}[{index}]"));
            match item.as_value()? {
                Value::Integer(number) => Some(number.value().to_string()),
                Value::Float(number) => Some(number.value().to_string()),
                Value::Boolean(boolean) => Some(boolean.value().to_string()),
                _ => text.map(str::to_owned),
            }
        });
        words.collect()
    }

    fn secrets(&mut self, item: &Item, at: &str) -> BTreeMap<String, Secret> {
        // Its values may be secrets, so what is said of them must not repeat any.
        let Some(table) = item.as_table_like() else {
            let message = format!("`{at}` has to be a table of strings");
            let hint = "write `NAME = \"value\"` in it";
            self.problem(item.span(), message, Some(hint.to_owned()));
            return BTreeMap::new();
        };
        let mut secrets = BTreeMap::new();
        for (name, item) in table.iter() {
            if let Some(value) = item.as_str() {
                secrets.insert(name.to_owned(), Secret::new(value));
            } else {
                if item.is_array() {
                    self.misplaced.add_array(name);
                }
                let message = format!("`{}` has to be a string", within(at, name));
                self.problem(item.span(), message, None);
            }
        }
        secrets
    }

    /// Reads the upstream of a table, or changes of one where the table does not say how it is
    /// reached.
    pub(crate) fn bridge(
        &mut self,
        upstream: UpstreamTable,
        at: &str,
        table: &dyn TableLike,
        span: Option<Range<usize>>,
    ) -> UpstreamEntry {
        let has = |key: &str| table.contains_key(key);
        let mut refuse = |message: String, hint: &str| {
            self.problem(span.clone(), message, Some(hint.to_owned()));
        };
        let written = match (upstream.command.as_slice(), &upstream.url) {
            ([], None) if has("command") || has("url") => return UpstreamEntry::Wrong,
            ([], None) => return self.upstream_overlay(upstream, at, table, span),
            ([command, more @ ..], url) => {
                if url.is_some() {
                    refuse(
                        format!("`[{at}]` has a `command` and a `url`"),
                        "a server is reached in one way: remove one of them",
                    );
                }
                let of_http = OF_HTTP.iter().filter(|key| url.is_none() && has(key));
                for key in of_http {
                    let message = format!("`[{at}]` has `{key}`, and a `command`");
                    refuse(message, "that belongs to a server with a `url`");
                }
                let is_other = upstream
                    .kind
                    .is_some_and(|kind| kind != UpstreamType::Stdio);
                if is_other && url.is_none() {
                    let message = format!("`[{at}]` has a `command`, and a `type` without one");
                    refuse(message, "leave out `type`");
                }
                Launch::Stdio(Stdio {
                    command: command.clone(),
                    args: more.iter().chain(&upstream.args).cloned().collect(),
                    ..upstream.stdio()
                })
            }
            ([], Some(url)) => {
                for key in OF_STDIO.iter().filter(|key| has(key)) {
                    let message = format!("`[{at}]` has `{key}`, and a `url`");
                    refuse(message, "that belongs to a server with a `command`");
                }
                if upstream.kind == Some(UpstreamType::Stdio) {
                    let message = format!("`[{at}]` has a `url`, and the `type` `stdio`");
                    refuse(message, "leave out `type`");
                }
                Launch::Http(Http {
                    url: url.clone(),
                    ..upstream.http()
                })
            }
        };
        let ExpandedLaunch {
            launch,
            needs,
            filled_in,
            is_whole,
        } = self.expanded(at, span.clone(), &written);
        let can_judge = is_whole && needs.is_empty() && self.variables != VariableHandling::Kept;
        if let Launch::Http(http) = &launch
            && can_judge
            && let Err(wrong) = http.check_url()
        {
            // As it is written: what was filled in may be a secret.
            let url = quoted(&shown_wrong(&http.shown()));
            let message = format!("`{at}.url` is {url}, which {wrong}");
            self.problem(span.clone(), message, Some(wrong.hint().to_owned()));
        }
        self.check_login(at, span, &launch, can_judge);
        UpstreamEntry::Bridge(Box::new(Bridge {
            fingerprint: Fingerprint::of(&written),
            written,
            shown: None,
            needs,
            filled_in,
            launch,
            filter: Filter {
                include: upstream.include,
                exclude: upstream.exclude.unwrap_or_default(),
                also: Vec::new(),
            },
            rules: upstream.rules.unwrap_or_default(),
            stubs: upstream.stubs.unwrap_or_default(),
            start_timeout: upstream.start_timeout,
            changes: ChangePolicy::default(),
            share: false,
        }))
    }

    /// Reads changes of an upstream that is configured elsewhere.
    fn upstream_overlay(
        &mut self,
        upstream: UpstreamTable,
        at: &str,
        table: &dyn TableLike,
        span: Option<Range<usize>>,
    ) -> UpstreamEntry {
        let said = |keys: &[&'static str]| {
            let keys = keys.iter().copied();
            keys.filter(|key| table.contains_key(key))
                .collect::<BTreeSet<_>>()
        };
        let (of_stdio, of_http) = (said(&OF_STDIO), said(&OF_HTTP));
        let transport = upstream.kind.map(UpstreamType::transport);
        let written = match (of_stdio.first(), of_http.first(), transport) {
            (Some(one), Some(other), _) => {
                self.problem(
                    span,
                    format!("`[{at}]` has `{one}` and `{other}`"),
                    Some(format!(
                        "`{one}` belongs to a server with a `command`, and `{other}` to one with \
                         a `url`"
                    )),
                );
                return UpstreamEntry::Wrong;
            }
            (Some(key), None, Some(Some(_))) => {
                let message = format!("`[{at}]` has `{key}`, and the `type` of one with a `url`");
                self.problem(span, message, Some("leave out `type`".to_owned()));
                return UpstreamEntry::Wrong;
            }
            (Some(_), None, None | Some(None)) => Some(Launch::Stdio(upstream.stdio())),
            (None, Some(_), _) | (None, None, Some(Some(_))) => Some(Launch::Http(upstream.http())),
            (None, None, None | Some(None)) => None,
        };
        let mut keys = &of_stdio | &of_http;
        keys.extend(transport.flatten().map(|_| "type"));
        let mut overlay = UpstreamOverlay {
            launch: None,
            stubs: upstream.stubs,
            include: upstream.include,
            exclude: upstream.exclude,
            rules: upstream.rules,
            start_timeout: upstream.start_timeout,
        };
        if let Some(written) = written {
            let expanded = self.expanded(at, span.clone(), &written);
            if !expanded.is_whole {
                return UpstreamEntry::Wrong;
            }
            let can_judge = expanded.needs.is_empty() && self.variables != VariableHandling::Kept;
            self.check_login(at, span, &expanded.launch, can_judge);
            overlay.launch = Some(LaunchOverlay {
                keys,
                written,
                filled: expanded.launch,
                transport: transport.flatten(),
                needs: expanded.needs,
                filled_in: expanded.filled_in,
            });
        }
        UpstreamEntry::Overlay(Box::new(overlay))
    }
}

impl UpstreamTable {
    /// Returns the program that is meant, without its name.
    fn stdio(&self) -> Stdio {
        Stdio {
            args: self.args.clone(),
            env: self.env.clone(),
            cwd: self.cwd.clone().map(PathBuf::from),
            pass_env: self.pass_env.clone(),
            ..Stdio::default()
        }
    }

    /// Returns the endpoint that is meant, without its URL.
    fn http(&self) -> Http {
        Http {
            headers: self.headers.clone(),
            transport: self
                .kind
                .and_then(UpstreamType::transport)
                .unwrap_or_default(),
            oauth: self.oauth.clone(),
            ..Http::default()
        }
    }
}

impl UpstreamType {
    /// Returns the transport over HTTP that is meant; none where it is not one of them.
    fn transport(self) -> Option<HttpTransport> {
        match self {
            Self::Stdio => None,
            Self::Http => Some(HttpTransport::Streamable),
            Self::Sse => Some(HttpTransport::Sse),
        }
    }
}
