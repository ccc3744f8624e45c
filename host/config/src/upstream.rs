//! Reading the upstreams of `dormouse.toml`.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_files::paths;
use dormouse_launch::environment::secret_in;
use dormouse_launch::{Http, HttpTransport, Launch, OAuth, Secret, Stdio};
use dormouse_text::server_url::shown_wrong;
use toml_edit::{Item, TableLike};

use super::bridge::{Bridge, FillSource, FilledIn, Filter, Fingerprint, MAX_FILLED_IN, Need};
use super::inputs::{self as questions, INPUT};
use super::on_change::ChangePolicy;
use super::overlay::{LaunchOverlay, UpstreamOverlay};
use super::problem::{quoted, unquoted, within};
use super::reader::{Reader, Variables};
use super::variables::expand;
use super::{ClientRules, Input, units};

/// The keys of a server's table that are about its upstream, as they are written.
#[derive(Default)]
pub(super) struct UpstreamTable {
    command: Vec<String>,
    args: Vec<String>,
    env: BTreeMap<String, Secret>,
    cwd: Option<String>,
    pass_env: Vec<String>,
    url: Option<String>,
    headers: BTreeMap<String, Secret>,
    kind: Option<Kind>,
    oauth: OAuth,
    stubs: Option<Vec<String>>,
    include: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
    rules: Option<ClientRules>,
    start_timeout: Option<Duration>,
}

/// Upstream of a server's table.
pub(super) enum UpstreamEntry {
    /// Upstream with its launch.
    Bridge(Box<Bridge>),
    /// Changes of an upstream that is configured elsewhere.
    Overlay(Box<UpstreamOverlay>),
    /// None that could be meant; a problem says so.
    Wrong,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Stdio,
    Http,
    Sse,
}

const KINDS: [(&str, Kind); 3] = [
    ("stdio", Kind::Stdio),
    ("http", Kind::Http),
    ("sse", Kind::Sse),
];

/// The keys of a child process, and those of an endpoint.
const OF_STDIO: [&str; 4] = ["args", "env", "cwd", "pass_env"];
const OF_HTTP: [&str; 2] = ["headers", "oauth"];

const OAUTH: &[&str] = &[
    "client_id",
    "client_secret",
    "client_metadata_url",
    "scopes",
    "callback_port",
    "redirect_uri",
    "metadata_url",
    "authorization_url",
    "token_url",
    "private_network",
];

impl Reader<'_> {
    /// Reads one key, and returns whether it is one of an upstream's.
    pub(super) fn upstream_key(
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
            "command" => table.command = self.strings(item, at),
            "args" => table.args = self.strings(item, at),
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
    pub(super) fn pass_env(&mut self, item: &Item, at: &str) -> Vec<String> {
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

    fn oauth(&mut self, item: &Item, at: &str) -> OAuth {
        let mut oauth = OAuth::default();
        match item.as_bool() {
            Some(false) => {
                oauth.off = true;
                return oauth;
            }
            Some(true) => {
                self.problem(
                    item.span(),
                    format!("`{at}` cannot be `true`"),
                    Some("leave it out: a server that wants a login gets one".to_owned()),
                );
                return oauth;
            }
            None => {}
        }
        let Some(table) = self.table(item, at) else {
            return oauth;
        };
        for (key, item) in table.iter() {
            let here = within(at, key);
            let place = match key {
                "client_id" => &mut oauth.client_id,
                "client_metadata_url" => &mut oauth.client_metadata_url,
                "redirect_uri" => &mut oauth.redirect_uri,
                "metadata_url" => &mut oauth.metadata_url,
                "authorization_url" => &mut oauth.authorization_url,
                "token_url" => &mut oauth.token_url,
                "client_secret" => {
                    // A message must not repeat it.
                    match item.as_str() {
                        Some(secret) => oauth.client_secret = Some(Secret::new(secret)),
                        None => {
                            let message = format!("`{here}` has to be a string");
                            self.problem(item.span(), message, None);
                        }
                    }
                    continue;
                }
                "scopes" => {
                    oauth.scopes = self.strings(item, &here);
                    continue;
                }
                "private_network" => {
                    oauth.private_network = self.boolean(item, &here).unwrap_or_default();
                    continue;
                }
                "callback_port" => {
                    if let Some(port) = self.port(item, &here) {
                        if table.contains_key("redirect_uri") {
                            self.problem(
                                item.span(),
                                format!("`[{at}]` has `callback_port` and `redirect_uri`"),
                                Some("keep one of them".to_owned()),
                            );
                        }
                        oauth.redirect_uri = Some(OAuth::callback(port));
                    }
                    continue;
                }
                _ => {
                    self.unknown(table, key, &format!("`[{at}]`"), OAUTH);
                    continue;
                }
            };
            *place = self.string(item, &here).map(str::to_owned);
        }
        oauth
    }

    fn port(&mut self, item: &Item, at: &str) -> Option<u16> {
        let port = u16::try_from(self.count(item, at)?).ok();
        if port.is_none() {
            let message = format!("`{at}` cannot be {}", self.shown(item));
            self.problem(
                item.span(),
                message,
                Some(format!("use a number from 1 to {}", u16::MAX)),
            );
        }
        port
    }

    pub(super) fn strings(&mut self, item: &Item, at: &str) -> Vec<String> {
        let items = self.items(item, at);
        let texts = items.iter().enumerate().filter_map(|(index, item)| {
            let text = self.string(item, &format!("{at}[{index}]"))?;
            Some(text.to_owned())
        });
        texts.collect()
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
                let message = format!("`{}` has to be a string", within(at, name));
                self.problem(item.span(), message, None);
            }
        }
        secrets
    }

    /// Reads the upstream of a table, or changes of one where the table does not say how it is
    /// reached.
    pub(super) fn bridge(
        &mut self,
        upstream: UpstreamTable,
        (at, table, span): (&str, &dyn TableLike, Option<Range<usize>>),
    ) -> UpstreamEntry {
        let has = |key: &str| table.contains_key(key);
        let mut refuse = |message: String, hint: &str| {
            self.problem(span.clone(), message, Some(hint.to_owned()));
        };
        let written = match (upstream.command.as_slice(), &upstream.url) {
            ([], None) if has("command") || has("url") => return UpstreamEntry::Wrong,
            ([], None) => return self.upstream_overlay(upstream, (at, table, span)),
            ([_, ..], Some(_)) => {
                refuse(
                    format!("`[{at}]` has a `command` and a `url`"),
                    "a server is reached in one way: remove one of them",
                );
                return UpstreamEntry::Wrong;
            }
            ([command, more @ ..], None) => {
                for key in OF_HTTP.iter().filter(|key| has(key)) {
                    let message = format!("`[{at}]` has `{key}`, and a `command`");
                    refuse(message, "that belongs to a server with a `url`");
                }
                if upstream.kind.is_some_and(|kind| kind != Kind::Stdio) {
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
                if upstream.kind == Some(Kind::Stdio) {
                    let message = format!("`[{at}]` has a `url`, and the `type` `stdio`");
                    refuse(message, "leave out `type`");
                }
                Launch::Http(Http {
                    url: url.clone(),
                    ..upstream.http()
                })
            }
        };
        let Expanded {
            launch,
            needs,
            filled_in,
            is_whole,
        } = self.expanded((at, span.clone()), &written);
        let can_judge = is_whole && needs.is_empty() && self.variables != Variables::Kept;
        if let Launch::Http(http) = &launch
            && can_judge
            && let Err(wrong) = http.check_url()
        {
            // As it is written: what was filled in may be a secret.
            let url = quoted(&shown_wrong(&http.shown()));
            let message = format!("`{at}.url` is {url}, which {wrong}");
            self.problem(span.clone(), message, Some(wrong.hint().to_owned()));
        }
        self.check_login((at, span), &launch, can_judge);
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
        (at, table, span): (&str, &dyn TableLike, Option<Range<usize>>),
    ) -> UpstreamEntry {
        let said = |keys: &[&'static str]| {
            let keys = keys.iter().copied();
            keys.filter(|key| table.contains_key(key))
                .collect::<BTreeSet<_>>()
        };
        let (of_stdio, of_http) = (said(&OF_STDIO), said(&OF_HTTP));
        let transport = upstream.kind.map(Kind::transport);
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
            let expanded = self.expanded((at, span.clone()), &written);
            if !expanded.is_whole {
                return UpstreamEntry::Wrong;
            }
            let can_judge = expanded.needs.is_empty() && self.variables != Variables::Kept;
            self.check_login((at, span), &expanded.launch, can_judge);
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

    fn check_login(
        &mut self,
        (at, span): (&str, Option<Range<usize>>),
        launch: &Launch,
        can_judge: bool,
    ) {
        if let Launch::Http(http) = launch
            && can_judge
            && let Err(wrong) = http.oauth.check()
        {
            let message = format!("`{at}.oauth.{}` {}", wrong.key, wrong.why);
            self.problem(span, message, None);
        }
    }

    /// Expands the variables of a launch. Where that would be too much, adds a problem, and expands
    /// no more of them.
    fn expanded(&mut self, (at, span): (&str, Option<Range<usize>>), written: &Launch) -> Expanded {
        let left = match self.variables {
            // No file is so large that its own text would be too much.
            Variables::Kept => None,
            Variables::FilledIn(left) => Some(Cell::new(left.unwrap_or(usize::MAX))),
        };
        let is_too_much = Cell::new(false);
        let inputs = self.inputs.clone().unwrap_or_default();
        let mut missing: BTreeMap<String, String> = BTreeMap::new();
        let mut filled_in = BTreeSet::new();
        let secrets_filled_in = RefCell::new(Vec::new());
        let mut text = |text: &str, place: &str| {
            let Some(left) = &left else {
                return text.to_owned();
            };
            let named = RefCell::new(Vec::new());
            let expanded = expand(text, &|name| {
                named.borrow_mut().push(name.to_owned());
                let id = name.strip_prefix(INPUT);
                let value = match id.map(|id| inputs.get(id)) {
                    None => std::env::var(name).ok()?,
                    Some(answer) => match answer? {
                        Input::Value(value) => value.expose().to_owned(),
                        Input::Variable(name) => std::env::var(name).ok()?,
                    },
                };
                match left.get().checked_sub(value.len()) {
                    Some(rest) => left.set(rest),
                    None => {
                        left.set(0);
                        is_too_much.set(true);
                        return Some(String::new());
                    }
                }
                let secret = match id {
                    Some(_) => Some(value.as_str().into()),
                    None => secret_in(name, &value),
                };
                secrets_filled_in
                    .borrow_mut()
                    .extend(secret.map(Secret::new));
                Some(value)
            });
            for name in named.into_inner() {
                if filled_in.len() >= MAX_FILLED_IN {
                    is_too_much.set(true);
                    break;
                }
                filled_in.insert(FilledIn {
                    source: match name.strip_prefix(INPUT) {
                        Some(id) => FillSource::Input(id.to_owned()),
                        None => FillSource::Variable(name),
                    },
                    place: place.to_owned(),
                });
            }
            for name in expanded.missing {
                missing.entry(name).or_insert_with(|| place.to_owned());
            }
            expanded.text
        };
        let mut launch = match written {
            Launch::Stdio(stdio) => {
                let base = self.file.parent().unwrap_or(Path::new(""));
                let args = stdio.args.iter().enumerate();
                Launch::Stdio(Stdio {
                    command: program(text(&stdio.command, "command"), base),
                    written: Some(stdio.command.clone()),
                    args: args
                        .map(|(index, arg)| text(arg, &format!("args[{index}]")))
                        .collect(),
                    env: secrets("env", &stdio.env, &mut text),
                    cwd: stdio.cwd.as_deref().map(|cwd| {
                        let cwd = text(&cwd.to_string_lossy(), "cwd");
                        paths::expand(&cwd, base).unwrap_or_else(|_| PathBuf::from(cwd))
                    }),
                    filled_in: Vec::new(),
                    pass_env: stdio.pass_env.clone(),
                })
            }
            Launch::Http(http) => Launch::Http(Http {
                url: text(&http.url, "url"),
                written: Some(http.url.clone()),
                headers: secrets("headers", &http.headers, &mut text),
                transport: http.transport,
                oauth: http
                    .oauth
                    .map(&mut |value, key| text(value, &format!("oauth.{key}"))),
                filled_in: Vec::new(),
            }),
        };
        launch.set_filled_in(secrets_filled_in.into_inner());
        if let Some(left) = left {
            self.variables = Variables::FilledIn(Some(left.get()));
        }
        if is_too_much.get() {
            let message = format!("too much is filled into `[{at}]` and the servers before it");
            let hint = format!(
                "`filled_in` in `[discovery]` says how much may be, of at most {MAX_FILLED_IN} \
                 variables in one server"
            );
            self.problem(span, message, Some(hint));
        }
        let needs = missing.into_iter().map(|(name, place)| {
            let id = name.strip_prefix(INPUT);
            let text = match id.map(|id| (id, inputs.get(id))) {
                None => {
                    let name = unquoted(&name);
                    format!(
                        "the environment variable `{name}` is not set\nhint: set it where your \
                         agent starts `dormouse serve`, or write `${{{name}:-…}}`"
                    )
                }
                Some((id, Some(Input::Variable(variable)))) => format!(
                    "set the environment variable {}, from which `[discovery.inputs]` takes {} \
                     for `{place}`",
                    quoted(variable),
                    quoted(id)
                ),
                Some((id, _)) => questions::unanswered(&place, id),
            };
            Need {
                place: Some(place),
                text,
            }
        });
        Expanded {
            needs: needs.collect(),
            launch,
            filled_in,
            is_whole: !is_too_much.get(),
        }
    }
}

/// Expands a `~` for the user's home at the beginning of the path of a program: nothing that starts
/// it does.
fn program(command: String, base: &Path) -> String {
    let is_of_home = command
        .strip_prefix('~')
        .is_some_and(|rest| rest.starts_with(std::path::is_separator));
    if !is_of_home {
        return command;
    }
    let path = paths::expand(&command, base).ok();
    let path = path.and_then(|path| path.into_os_string().into_string().ok());
    path.unwrap_or(command)
}

/// A launch with its variables expanded.
struct Expanded {
    launch: Launch,
    /// Needs for the variables that are missing.
    needs: Vec<Need>,
    /// Sources that the launch is made of, and the place of each.
    filled_in: BTreeSet<FilledIn>,
    /// Whether all variables are expanded: not where that would be too much.
    is_whole: bool,
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
            transport: self.kind.and_then(Kind::transport).unwrap_or_default(),
            oauth: self.oauth.clone(),
            ..Http::default()
        }
    }
}

impl Kind {
    /// Returns the transport over HTTP that is meant; none where it is not one of them.
    fn transport(self) -> Option<HttpTransport> {
        match self {
            Self::Stdio => None,
            Self::Http => Some(HttpTransport::Streamable),
            Self::Sse => Some(HttpTransport::Sse),
        }
    }
}

fn secrets(
    key: &str,
    values: &BTreeMap<String, Secret>,
    expand: &mut dyn FnMut(&str, &str) -> String,
) -> BTreeMap<String, Secret> {
    let values = values.iter();
    values
        .map(|(name, value)| {
            let value = expand(value.expose(), &within(key, name));
            (name.clone(), Secret::new(value))
        })
        .collect()
}
