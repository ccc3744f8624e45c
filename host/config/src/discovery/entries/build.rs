//! Building a server that can be started from what a client has written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dormouse_launch::{Http, Launch, Secret, Stdio};
use dormouse_text::server_url::shown_wrong;

use super::draft;
use super::draft::{Draft, DraftText, Written};
use super::{oauth, timeouts};
use crate::discovery::filling::dotenv;
use crate::discovery::filling::expansion::ClientExpansion;
use crate::discovery::filling::filler;
use crate::discovery::filling::filler::{Filled, Filler, ReadText};
use crate::discovery::itself;
use crate::problem::{quoted, within};
use crate::{
    Adapter, Bridge, ChangePolicy, ClientRules, ENV_FILE, FillSource, Fingerprint, Origin, Scope,
    ServerConfig, ShownFolder, ShownProgram,
};

/// Reason why a draft is no server.
pub(in crate::discovery) enum DraftRefusal {
    /// The draft is Dormouse itself, for this reason.
    Itself(String),
    /// The draft cannot be bridged, for this reason.
    Skipped(String),
    /// The server could not be started: the problem, and what to do.
    Bad(String, &'static str),
}

/// Makes a server of a draft. Its name is still the written one.
pub(in crate::discovery) fn build(
    name: &str,
    draft: Draft,
    written: Written,
    origin: Origin,
    expansion: ClientExpansion,
    filler: &mut Filler<'_>,
) -> Result<ServerConfig, DraftRefusal> {
    // A project's server runs in the project's folder, as it does in its client.
    let folder = match &origin.scope {
        Scope::Project(folder) | Scope::Local(folder) => Some(folder.clone()),
        Scope::User | Scope::Managed => None,
    };
    let unfilled = unfilled(&written, folder.as_deref());
    let mut filling = Filling {
        filler,
        expansion,
        folder,
    };
    let mut launch = match written {
        Written::Stdio(stdio) => Launch::Stdio(filling.stdio(stdio)),
        Written::Http(http) => Launch::Http(filling.http(http)?),
    };
    launch.set_filled_in(std::mem::take(&mut filling.filler.secrets));
    let path = filling.filler.around.value("PATH");
    let unfollowed = filling.filler.entered.filter(|entered| !entered.may_fill);
    let unfollowed = unfollowed.and_then(|entered| entered.folder.real.as_deref());
    let is_itself = itself::is(name, &launch) || itself::is_this_program(&launch, path, unfollowed);
    // What people are shown as not used has to stay so. Of a project's server only the words do:
    // which program they lead to, and what is filled into them, may be something else later.
    let is_skipped = match origin.scope {
        Scope::Project(_) => itself::is(name, &unfilled),
        Scope::Managed | Scope::User | Scope::Local(_) => is_itself,
    };
    if is_skipped && !filling.filler.takes_itself {
        return Err(DraftRefusal::Itself(itself::told(&launch, &origin)));
    }
    if is_itself {
        let text = "it is Dormouse itself now, which starts no other of itself".to_owned();
        filling.filler.need(None, text);
    }
    let bridge = Bridge {
        launch,
        fingerprint: Fingerprint::of(&unfilled),
        written: unfilled,
        needs: std::mem::take(&mut filling.filler.needs),
        filled_in: std::mem::take(&mut filling.filler.filled_in),
        shown: filling.filler.shown.take().map(Box::new),
        filter: draft.filter,
        rules: ClientRules::default(),
        stubs: draft.stubs,
        start_timeout: draft.start_timeout,
        changes: ChangePolicy::default(),
        share: false,
    };
    let mut server = ServerConfig::new(name, Adapter::Bridge(Box::new(bridge)), origin);
    server.enabled = draft.enabled.unwrap_or(true);
    let usual = || {
        let client = server.origin.client?;
        timeouts::usual_call_timeout(client, filling.filler.around)
    };
    if let Some(timeout) = draft.call_timeout.or_else(usual) {
        server.limits.timeout = timeout;
    }
    Ok(server)
}

/// Returns what an entry that is not used would start or reach, with everything filled in, and
/// nothing of how but the folder. What cannot be filled in stands there as it is written.
pub(in crate::discovery) fn filled_target(
    written: Written,
    expansion: ClientExpansion,
    filler: &mut Filler<'_>,
) -> Launch {
    let mut filling = Filling {
        filler,
        expansion,
        folder: None,
    };
    match written {
        Written::Stdio(stdio) => {
            let stdio = filling.stdio(draft::StdioDraft {
                env: BTreeMap::new(),
                env_file: None,
                ..stdio
            });
            Launch::Stdio(stdio)
        }
        Written::Http(http) => Launch::Http(Http {
            url: filling.text(&http.url, "url").text,
            written: Some(http.url),
            ..Http::default()
        }),
    }
}

/// Whether a server could be started, by what is written alone.
pub(in crate::discovery) fn may_be_started(name: &str, written: &Written) -> bool {
    let launch = unfilled(written, None);
    let is_web_socket = matches!(&launch, Launch::Http(http) if is_web_socket(&http.url));
    !is_web_socket && !itself::is(name, &launch)
}

/// Returns the launch before anything is filled in, which its fingerprint is of. Values that are
/// taken from elsewhere are there by their names.
pub(in crate::discovery) fn unfilled(written: &Written, folder: Option<&Path>) -> Launch {
    let table = |texts: &BTreeMap<String, DraftText>| {
        let secrets = texts
            .iter()
            .map(|(name, text)| (name.clone(), Secret::new(text.unfilled())));
        secrets.collect::<BTreeMap<_, _>>()
    };
    match written {
        Written::Stdio(stdio) => {
            let mut env = table(&stdio.env);
            if let Some(file) = &stdio.env_file {
                env.insert(ENV_FILE.to_owned(), Secret::new(file.clone()));
            }
            Launch::Stdio(Stdio {
                command: stdio.command.clone(),
                written: None,
                args: stdio.args.clone(),
                env,
                cwd: match (folder, &stdio.cwd) {
                    (Some(folder), Some(cwd)) => Some(folder.join(cwd)),
                    (Some(folder), None) => Some(folder.to_owned()),
                    (None, cwd) => cwd.as_ref().map(PathBuf::from),
                },
                pass_env: Vec::new(),
                filled_in: Vec::new(),
            })
        }
        Written::Http(http) => Launch::Http(Http {
            url: http.url.clone(),
            written: None,
            headers: table(&http.headers),
            transport: http.transport,
            oauth: http.oauth.clone(),
            filled_in: Vec::new(),
        }),
    }
}

/// A launch whose texts are being filled in.
struct Filling<'f, 'a> {
    filler: &'f mut Filler<'a>,
    expansion: ClientExpansion,
    folder: Option<PathBuf>,
}

impl Filling<'_, '_> {
    /// Fills in a text that is no header.
    fn text(&mut self, text: &str, at: &str) -> Filled {
        if self.expansion.headers_only {
            return Filled {
                text: text.to_owned(),
                shown: text.to_owned(),
                is_shown_whole: true,
            };
        }
        self.filler.fill(text, self.expansion, at)
    }

    fn table(&mut self, texts: BTreeMap<String, DraftText>, key: &str) -> BTreeMap<String, Secret> {
        let mut table = BTreeMap::new();
        for (name, text) in texts {
            let at = within(key, &name);
            let value = match text {
                DraftText::Written(text) if key == "headers" => {
                    Some(self.filler.fill(&text, self.expansion, &at).text)
                }
                DraftText::Written(text) => Some(self.text(&text, &at).text),
                DraftText::Variable {
                    name: variable,
                    prefix,
                    needed,
                } => match self.filler.filled_variable(&variable, &at) {
                    Some(value) => Some(format!("{prefix}{value}")),
                    None if needed => {
                        self.filler.need(
                            Some(&at),
                            format!(
                                "set the environment variable {}, which `{at}` is made of",
                                quoted(&variable)
                            ),
                        );
                        // Without it, this would look like a server that asks for none.
                        Some(format!("{prefix}${{{variable}}}"))
                    }
                    None => None,
                },
            };
            if let Some(value) = value {
                table.insert(name, Secret::new(value));
            }
        }
        table
    }

    fn stdio(&mut self, written: draft::StdioDraft) -> Stdio {
        let command = self.text(&written.command, "command");
        let args = written.args.iter().enumerate();
        let args = args.map(|(index, arg)| {
            let arg = self.text(arg, &format!("args[{index}]"));
            (arg.text, arg.shown)
        });
        let (args, shown_args) = args.unzip();
        let filled_cwd = written.cwd.map(|cwd| self.text(&cwd, "cwd"));
        let shown_cwd = filled_cwd
            .as_ref()
            .filter(|cwd| !cwd.is_shown_whole)
            .map(|cwd| cwd.shown.clone());
        let cwd = match (&self.folder, filled_cwd.map(|cwd| cwd.text)) {
            (Some(folder), Some(cwd)) => Some(filler::path(&cwd, folder, &self.filler.around.home)),
            (Some(folder), None) => Some(folder.clone()),
            (None, Some(cwd)) => {
                // In a user's file, a relative folder is one of whatever project
                // the client was started in.
                let around = self.filler.around;
                let base = around.project.as_deref().unwrap_or(&around.home);
                Some(filler::path(&cwd, base, &around.home))
            }
            (None, None) => None,
        };
        self.filler.shown = Some(ShownProgram {
            command: command.shown,
            args: shown_args,
            folder: match shown_cwd {
                Some(text) => Some(ShownFolder::Written(text)),
                None => cwd.clone().map(ShownFolder::Known),
            },
        });
        let command = command.text;
        let mut variables = BTreeMap::new();
        if let Some(file) = written.env_file {
            variables = self.env_file(&file);
        }
        // What is written in the entry itself counts more than what is in its file.
        variables.extend(self.table(written.env, "env"));
        Stdio {
            // As it is, where nothing was filled in.
            written: (command != written.command).then_some(written.command),
            command: self.located(command, cwd.as_deref()),
            args,
            env: variables,
            cwd,
            pass_env: Vec::new(),
            filled_in: Vec::new(),
        }
    }

    /// Resolves a program that is named by a relative path from the folder that it runs in, and not
    /// from the one that Dormouse does. A bare name stays, to be looked for in `PATH`.
    fn located(&mut self, command: String, cwd: Option<&Path>) -> String {
        let path = Path::new(&command);
        let located = match cwd {
            Some(cwd) if path.is_relative() && path.components().count() > 1 => {
                cwd.join(path.strip_prefix(".").unwrap_or(path))
            }
            _ => return command,
        };
        match located.into_os_string().into_string() {
            Ok(located) => located,
            Err(located) => {
                self.filler.need_text(Path::new(&located), "command");
                command
            }
        }
    }

    fn env_file(&mut self, written: &str) -> BTreeMap<String, Secret> {
        let file = self.text(written, "envFile").text;
        let around = self.filler.around;
        let base = self.folder.as_deref().or(around.project.as_deref());
        let path = filler::path(&file, base.unwrap_or(&around.home), &around.home);
        self.filler.note(FillSource::File(path.clone()), "envFile");
        let read = self.filler.read_variables(&path);
        match read.and_then(ReadText::fitting) {
            Ok(text) => {
                let variables = dotenv::parse(&text).into_iter();
                variables
                    .map(|(name, value)| (name, Secret::new(value)))
                    .collect()
            }
            Err(why) => {
                self.filler.need(
                    Some("envFile"),
                    format!(
                        "its variables are in the file {}, which {why}",
                        quoted(written)
                    ),
                );
                BTreeMap::new()
            }
        }
    }

    fn http(&mut self, written: draft::HttpDraft) -> Result<Http, DraftRefusal> {
        // Headers may be made of what the entry sets for itself alone. A variable of the
        // environment that it only names is filled in where it is used, whether it is set now or
        // not.
        let (named, own): (BTreeMap<_, _>, BTreeMap<_, _>) = written
            .env
            .into_iter()
            .partition(|(_, text)| matches!(text, DraftText::Variable { .. }));
        self.table(named, "env");
        let own = self.table(own, "env").into_iter();
        self.filler
            .of_entry
            .extend(own.map(|(name, value)| (name, value.expose().to_owned())));
        let url = self.text(&written.url, "url").text;
        // What is not there yet cannot be judged yet.
        let can_judge = self.filler.needs.is_empty();
        let headers = self.table(written.headers, "headers");
        let oauth = written
            .oauth
            .map(&mut |text, key| self.text(text, &format!("oauth.{key}")).text);
        if self.filler.needs.is_empty() {
            self.filler.notes.extend(oauth::doubt(&oauth));
        }
        let http = Http {
            url,
            written: Some(written.url),
            headers,
            transport: written.transport,
            oauth,
            filled_in: Vec::new(),
        };
        if can_judge {
            judge(&http)?;
        }
        Ok(http)
    }
}

fn is_web_socket(url: &str) -> bool {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    matches!(
        scheme.map(str::to_ascii_lowercase).as_deref(),
        Some("ws" | "wss")
    )
}

fn judge(http: &Http) -> Result<(), DraftRefusal> {
    if is_web_socket(&http.url) {
        return Err(DraftRefusal::Skipped(
            "servers behind WebSockets cannot be bridged".to_owned(),
        ));
    }
    // It is shown as it is written: what was filled in may be a secret.
    http.check_url().map_err(|wrong| {
        let shown = quoted(&shown_wrong(&http.shown()));
        DraftRefusal::Bad(format!("{shown} {wrong}"), wrong.hint())
    })
}
