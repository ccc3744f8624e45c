//! Questions for folders, variables, settings and secrets that a plugin asks for, before it is started.
//!
//! They are asked once, in one form, on the first call of its server, and never for one call alone: an
//! instance that is kept has what it was made with.

mod input_form;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_catalog::Stamp;
use dormouse_config::edit::{Editor, PluginInputs};
use dormouse_config::{Scope, ServerConfig};
use dormouse_policy::{FsGrant, FsMode, Grants, SecretSource};
use dormouse_protocol::MAX_WAIT_FOR_OTHER;
use dormouse_runtime::QuestionTurns;
use dormouse_upstream::without_blocking;
use dormouse_wit::GrantRequest;
use parking_lot::Mutex;
use serde_json::{Map, Value};

use self::input_form::{Chosen, InputForm};
use super::asked_plugin::AskedPlugin;
use super::code_block::code_block;
use super::confirm::{answer_to, can_ask};
use super::revoked_answers::{RevokedAnswers, RevokedFolder};
use crate::roster::requests::{HeldByPlugin, missing_command, missing_names};
use crate::roster::{CallContext, Roster, Server, folders};
use crate::store::{DecidedBy, Decision, RecordedFolders};

/// Forms that a user is shown one after the other, where what they fill in is wrong.
const MAX_FORMS: usize = 3;

/// Answers of users for as long as this host runs, by their servers' names.
#[derive(Default)]
pub(in crate::roster) struct AnsweredInputs {
    given: Mutex<BTreeMap<String, GivenInSession>>,
    refused: Mutex<BTreeSet<String>>,
    /// Server whose question is open.
    asking: Mutex<BTreeMap<String, Arc<QuestionTurns>>>,
}

/// Folders, variables and settings that a user has given one plugin.
struct GivenInSession {
    component: PathBuf,
    /// Stamp of the component's file.
    stamp: Stamp,
    grants: Grants,
    settings: Map<String, Value>,
}

impl AnsweredInputs {
    /// Adds what was given for as long as the host runs to a server's configuration, whose plugin's
    /// file has that stamp now. Where another plugin has its name by now, that is forgotten.
    pub(super) fn add_to(&self, server: &mut ServerConfig, stamp: Option<Stamp>) {
        let mut all = self.given.lock();
        let Some(given) = all.get(&server.name) else {
            return;
        };
        let is_component = server.component() == Some(given.component.as_path());
        if !is_component || stamp.is_some_and(|stamp| stamp != given.stamp) {
            all.remove(&server.name);
            return;
        }
        // A file that cannot be read now may be that one again.
        if stamp.is_none() {
            return;
        }
        for folder in &given.grants.fs {
            let is_other =
                |own: &FsGrant| own.path != folder.path && own.real_path() != folder.real_path();
            if server.grants.fs.iter().all(is_other) {
                server.grants.fs.push(folder.clone());
            }
        }
        for name in &given.grants.env {
            // A plugin never has the text of its own secrets, whoever says so.
            let is_secret = server.secrets.iter().any(|secret| {
                let is_text = matches!(
                    secret.looked_up(),
                    Some(SecretSource::Variable(variable)) if variable == name
                );
                is_text || secret.placeholder_variable() == Some(name)
            });
            if !is_secret && !server.grants.env.contains(name) {
                server.grants.env.push(name.clone());
            }
        }
        for (name, value) in &given.settings {
            if !server.settings.contains_key(name) {
                server.settings.insert(name.clone(), value.clone());
            }
        }
    }

    /// Forgets what was given to all servers but some.
    pub(super) fn retain(&self, is_kept: impl Fn(&str) -> bool) {
        self.given.lock().retain(|name, _| is_kept(name));
    }

    /// Returns what a server was given.
    pub(super) fn given_to(&self, server: &str) -> RevokedAnswers {
        let all = self.given.lock();
        let Some(given) = all.get(server) else {
            return RevokedAnswers::default();
        };
        let folders = given.grants.fs.iter().map(|folder| RevokedFolder {
            path: folder.path.clone(),
            is_writable: Some(folder.mode == FsMode::ReadWrite),
        });
        RevokedAnswers {
            folders: folders.collect(),
            variables: given.grants.env.clone(),
            settings: given.settings.keys().cloned().collect(),
            ..RevokedAnswers::default()
        }
    }

    /// Takes back what a server was given. Returns those that there were.
    pub(super) fn take_back(&self, server: &str, revoked: &RevokedAnswers) -> RevokedAnswers {
        let mut all = self.given.lock();
        let Some(GivenInSession {
            grants, settings, ..
        }) = all.get_mut(server)
        else {
            return RevokedAnswers::default();
        };
        let is_any = grants.fs.len() + grants.env.len() + settings.len() > 0;
        let folders = revoked.folders.iter();
        let folders = folders.filter(|folder| grants.fs.iter().any(|given| folder.is_of(given)));
        let variables = revoked.variables.iter();
        let names = revoked.settings.iter();
        let taken = RevokedAnswers {
            all: revoked.all && is_any,
            folders: folders.cloned().collect(),
            variables: variables
                .filter(|name| grants.env.contains(name))
                .cloned()
                .collect(),
            requests: Vec::new(),
            settings: names
                .filter(|name| settings.contains_key(*name))
                .cloned()
                .collect(),
        };
        grants.fs.retain(|folder| {
            let mut named = settings.iter();
            let is_named = named.any(|(name, value)| {
                let is_path = |text| folder.path.as_os_str() == text;
                revoked.has_setting(name) && value.as_str().is_some_and(is_path)
            });
            !is_named && !revoked.has_folder(folder)
        });
        grants.env.retain(|name| !revoked.has_variable(name));
        settings.retain(|name, _| !revoked.has_setting(name));
        taken
    }

    fn add(&self, server: &str, plugin: &AskedPlugin, chosen: &Chosen) {
        let mut all = self.given.lock();
        let given = all
            .remove(server)
            .filter(|given| given.component == plugin.component && given.stamp == plugin.stamp);
        let mut given = given.unwrap_or_else(|| GivenInSession {
            component: plugin.component.clone(),
            stamp: plugin.stamp,
            grants: Grants::default(),
            settings: Map::new(),
        });
        given.grants.fs.extend(chosen.grants.fs.iter().cloned());
        given.grants.env.extend(chosen.grants.env.iter().cloned());
        given.settings.extend(chosen.settings.clone());
        all.insert(server.to_owned(), given);
    }

    fn turns(&self, server: &str) -> Arc<QuestionTurns> {
        let mut asking = self.asking.lock();
        Arc::clone(asking.entry(server.to_owned()).or_default())
    }
}

impl Roster {
    /// Returns a server as it may be started: with what its plugin asks for, as far as its user gives
    /// it now or has done so before.
    ///
    /// # Errors
    /// It does not work without something that it has not, in words for a model, with the command
    /// that gives it; or its plugin is not the one any more that the call was for.
    pub(in crate::roster) async fn with_inputs(
        &self,
        server: &Arc<Server>,
        context: &CallContext,
    ) -> Result<Arc<Server>, String> {
        // Why its file cannot be used is told as it is started.
        if missing(server).is_empty() || server.problem().is_some() {
            return Ok(Arc::clone(server));
        }
        let name = &server.config().name;
        let called = AskedPlugin::of(server);
        // Another one is not asked about, and may do something else with the call.
        let is_called =
            |found: &Arc<Server>| called.as_ref().is_some_and(|called| called.is_of(found));
        let turns = self.answered_inputs.turns(name);
        let asked = async {
            let _turn = turns.turn(MAX_WAIT_FOR_OTHER).await;
            // Another call may have been answered meanwhile.
            let found = self.current(name).ok().filter(is_called)?;
            if !self.answered_inputs.refused.lock().contains(name) {
                self.ask_for_inputs(&found, context).await;
            }
            self.server(name).ok()
        };
        let found = tokio::select! {
            found = asked => found,
            () = context.cancel.cancelled() => Some(Arc::clone(server)),
        };
        let found = found.filter(is_called).ok_or_else(|| is_another(name))?;
        let held = HeldByPlugin::of(found.config());
        let requests = found.listing().map_or(&[][..], |listing| &listing.grants);
        let needed: Vec<_> = requests.iter().filter(|one| held.needs(one)).collect();
        match needed.is_empty() {
            true => Ok(found),
            false => Err(format!(
                "server `{name}` is not started: its plugin needs {}, which its user has not given it yet\n\
                 hint: `{}`",
                missing_names(&needed),
                missing_command(name, &needed)
            )),
        }
    }

    /// Asks the user for what a plugin asks for and has not.
    async fn ask_for_inputs(&self, server: &Arc<Server>, context: &CallContext) {
        let missing = missing(server);
        let config = server.config();
        let (name, Some(plugin)) = (&config.name, AskedPlugin::of(server)) else {
            return;
        };
        if missing.is_empty() {
            return;
        }
        // What a project's plugin is granted, its file says.
        let is_lasting = !matches!(config.origin.scope, Scope::Project(_));
        let mut wrong = String::new();
        for _ in 0..MAX_FORMS {
            let form = InputForm::new(name, &missing, is_lasting);
            let shown = form.shown(&wrong);
            let asks = match form.is_of_secrets() {
                true => "Is it given now?",
                false => "May it?",
            };
            let message = format!("{}\n{asks}", code_block(&shown));
            if can_ask(&context.listener, &message).is_err() {
                return;
            }
            let answer = answer_to(&context.listener, message, form.schema()).await;
            let Some(answer) = answer else {
                return;
            };
            if !self.has_plugin(name, &plugin) {
                tracing::warn!("server `{name}`: nothing is given, as its plugin is another one");
                return;
            }
            // A no to another form, which this one has given way to, is the no to both.
            if self.answered_inputs.refused.lock().contains(name) {
                return;
            }
            let chosen = match form.chosen(&answer) {
                Ok(Some(chosen)) => chosen,
                Ok(None) => break,
                Err(why) => {
                    wrong = why;
                    continue;
                }
            };
            // Together with those that it has.
            let mut all = config.grants.clone();
            all.fs.extend(chosen.grants.fs.iter().cloned());
            if let Err(why) = folders::check(&self.places, name, &all) {
                wrong = why.to_string();
                continue;
            }
            let given = without_blocking(usize::MAX, || match chosen.is_lasting && is_lasting {
                true => self.keep_inputs(name, &chosen, &shown),
                false => {
                    self.answered_inputs.add(name, &plugin, &chosen);
                    // Secrets are given in a terminal meanwhile.
                    self.reload()
                }
            });
            if let Err(error) = given {
                tracing::warn!("what server `{name}` was given cannot be kept: {error:#}");
            }
            // What was left out is not asked for again.
            if chosen.is_partial {
                break;
            }
            return;
        }
        self.answered_inputs.refused.lock().insert(name.clone());
    }

    /// Writes what was chosen into the configuration.
    fn keep_inputs(&self, server: &str, chosen: &Chosen, shown: &str) -> anyhow::Result<()> {
        self.decisions.note(&Decision {
            what: "grant",
            subject: server,
            shown: &blake3::hash(shown.as_bytes()).to_hex(),
            by: DecidedBy::Client,
        })?;
        let editor = Editor::new(&self.places.config)?;
        if !chosen.settings.is_empty() {
            let inputs = PluginInputs {
                settings: chosen.settings.clone(),
                ..PluginInputs::default()
            };
            editor.set_inputs(server, &inputs)?;
        }
        editor.grant(server, &chosen.grants)?;
        let real = chosen.grants.fs.iter();
        let real = real.map(|grant| (grant.path.clone(), grant.path.clone()));
        RecordedFolders::new(&self.places.data).record_anew(None, &real.collect())?;
        self.reload()
    }
}

/// Returns the reason why a server is not started for a call that was for another plugin.
fn is_another(server: &str) -> String {
    format!(
        "server `{server}` is not started: its plugin was replaced, switched off or removed after it \
         was called, and nothing is given to another one\n\
         hint: call it again; its user is shown what it asks for now"
    )
}

/// Returns what the plugin of a server asks for, is given before it is started, and has not: folders,
/// variables, and the settings that it needs.
fn missing(server: &Server) -> Vec<GrantRequest> {
    if server.config().component().is_none() {
        return Vec::new();
    }
    let held = HeldByPlugin::of(server.config());
    let requests = server.listing().map_or(&[][..], |listing| &listing.grants);
    let is_missing = |request: &&GrantRequest| match request {
        // Who has granted one to read has decided.
        GrantRequest::Fs { .. } => held.grants.fs.is_empty(),
        GrantRequest::Env { .. } => !held.has(request),
        GrantRequest::Setting(_) | GrantRequest::Secret(_) => held.needs(request),
        GrantRequest::Http { .. }
        | GrantRequest::Upstream { .. }
        | GrantRequest::Unusable { .. }
        | GrantRequest::Other => false,
    };
    requests.iter().filter(is_missing).cloned().collect()
}
