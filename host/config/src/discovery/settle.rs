//! Settling the servers of a client once all of its files are read: its settings turn some off,
//! and others take the place of some.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_text::visible::visible_path;

use super::document::Node;
use super::formats::claude_code::{self, DeniedTools};
use super::formats::{amp, gemini, opencode, unheard};
use super::library::{Document, LoadedFile};
use super::places::CLAUDE_CODE_MANAGED;
use super::rules::policy::Policy;
use super::search::{ClientSearch, project_of};
use super::{FoundServer, SourceState};
use crate::{Adapter, Client, Origin, Scope};

/// Beginning of a note that says why a server is off.
pub(super) const OFF: &str = "it is off: ";

/// Removes from a server what its client's settings deny. Where that is all of it, it is off, and
/// has no tools either: somebody may switch it on again, who has no say in what is denied.
fn deny(found: &mut FoundServer, mut tools: Vec<String>) {
    if tools.iter().any(|tool| tool == "*") {
        found.server.enabled = false;
        let note = format!("{OFF}`permissions.deny` names it");
        found.notes.push(note);
        tools = vec!["*".to_owned()];
    }
    exclude(found, tools);
}

/// Removes tools from a server that its client's settings turn off.
pub(super) fn exclude(found: &mut FoundServer, tools: Vec<String>) {
    if let Adapter::Bridge(bridge) = &mut found.server.adapter {
        bridge.filter.exclude.extend(tools);
    }
}

impl ClientSearch<'_> {
    /// Applies a client's settings that turn servers and tools off.
    pub(super) fn switch(&mut self) {
        match self.client {
            Client::ClaudeCode => self.switch_claude_code(),
            Client::Amp => self.each(|found, document| {
                exclude(found, amp::disabled(&document.root, &found.written_name));
            }),
            Client::Gemini => self.each(|found, document| {
                exclude(found, gemini::excluded(&document.root, &found.written_name));
                if let Some(why) = gemini::off(&document.root, &found.written_name) {
                    found.server.enabled = false;
                    let file = visible_path(&document.file);
                    found.notes.push(format!("{OFF}{why}, in {file}"));
                }
            }),
            Client::OpenCode => self.each(|found, document| {
                if let Adapter::Bridge(bridge) = &mut found.server.adapter {
                    let name = &found.written_name;
                    opencode::add_to(&mut bridge.filter, &document.root, name);
                }
            }),
            _ => {}
        }
        self.apply_rule_files();
        self.deny_unread();
        self.note_unheard();
    }

    /// Notes the rules of the user's files that deny tools, and that only the client hears.
    fn note_unheard(&mut self) {
        let client = self.client;
        let users = self.documents.iter();
        let users = users.filter(|(scope, _)| project_of(scope).is_none());
        let keys = users.filter_map(|(_, loaded)| unheard::denials(client, loaded.root()?));
        let keys: BTreeSet<_> = keys.collect();
        let notes = keys.iter().map(|key| {
            format!(
                "`{key}` of {client} denies tools, which only {client} hears: `exclude_tools` takes \
                 them out here"
            )
        });
        let notes: Vec<_> = notes.collect();
        let keys = keys.into_iter().collect::<Vec<_>>().join("`, `");
        for found in &mut self.found {
            found.own.notes.extend(notes.iter().cloned());
            found.unheard = (!keys.is_empty()).then(|| keys.clone());
        }
    }

    /// Applies each document to each server that it may be about: files in a project's folder are
    /// not about a user's own servers.
    fn each(&mut self, apply: impl Fn(&mut FoundServer, &Document)) {
        for found in &mut self.found {
            for (scope, loaded) in &self.documents {
                let may =
                    project_of(scope).is_none() || project_of(&found.server.origin.scope).is_some();
                if let (true, LoadedFile::Document(document)) = (may, &**loaded) {
                    self.library.restrict(found, |found| apply(found, document));
                }
            }
        }
    }

    /// Applies Claude Code's settings and its user's own file to its servers: the answers to its
    /// question for each server of a project's, and the policy.
    fn switch_claude_code(&mut self) {
        let mut policy = Policy::default();
        let mut documents = Vec::new();
        for (scope, file) in claude_code::settings(self.around) {
            let loaded = self.open_rules(&scope, &file);
            let mut problems = Vec::new();
            match &*loaded {
                LoadedFile::Missing => {}
                LoadedFile::Bad { .. } => policy.add_unread(&scope, &file),
                // Nothing is filled in for a project that nobody trusts.
                LoadedFile::Document(_) if !self.may_fill(&scope) => {}
                LoadedFile::Document(document) => {
                    let mut reader = document.reader();
                    policy.add(&scope, self.around, document, &mut reader);
                    problems = reader.problems;
                }
            }
            self.add_source(&scope, None, &file, &loaded, 0, problems);
            documents.push((scope, loaded));
        }
        for (scope, loaded) in &self.documents {
            if let (Scope::User, LoadedFile::Document(document)) = (scope, &**loaded) {
                policy.add_own(document);
            }
        }
        let folder = self.around.project.as_ref().or(self.around.folder.as_ref());
        // A project's files say nothing of the user's servers, whatever they have in them.
        let own = self.documents.iter().filter_map(|(scope, loaded)| {
            let root = loaded.root().filter(|_| project_of(scope).is_none())?;
            claude_code::of_project(root, folder?)
        });
        let own: Vec<&Node> = own.collect();
        let users = self.documents.iter();
        let users = users.filter(|(scope, _)| *scope == Scope::User);
        let users: Vec<_> = users.filter_map(|(_, loaded)| loaded.root()).collect();
        let folders_off = claude_code::folders_off(&users);
        let settings = documents.iter().filter_map(|(_, loaded)| loaded.root());
        let all: Vec<&Node> = settings.chain(own.iter().copied()).collect();
        let of_user = documents
            .iter()
            .filter_map(|(scope, loaded)| loaded.root().filter(|_| project_of(scope).is_none()));
        let denied_to_all = DeniedTools::of(&of_user.collect::<Vec<_>>());
        let denied_to_projects = DeniedTools::of(&all);
        for found in &mut self.found {
            let denied = match project_of(&found.server.origin.scope) {
                Some(_) => &denied_to_projects,
                None => &denied_to_all,
            };
            self.library.restrict(found, |found| {
                deny(found, denied.of_server(&found.written_name));
            });
            let folders = folders_off.get(found.written_name.as_str());
            if let (Scope::User, Some(folders)) = (&found.server.origin.scope, folders) {
                found.own.notes.push(format!(
                    "Claude Code has it switched off in {folders} folder(s), by `disabledMcpServers`; \
                     here it is on in all"
                ));
            }
            let mut off = claude_code::off_here(&own, &found.written_name);
            if project_of(&found.server.origin.scope).is_some() {
                off = off.or_else(|| claude_code::off(&all, &found.written_name));
            }
            if let Some(why) = off {
                found.server.enabled = false;
                found.notes.push(format!("{OFF}{why}"));
            }
            if let Some(why) = policy.denies(found, self.around) {
                found.server.enabled = false;
                found.notes.push(format!("a policy denies it: {why}"));
                found.server.denied = Some(why);
            }
        }
    }

    /// Notes the servers that this client does not take, because of others of its own.
    pub(super) fn shadow(&mut self) {
        let mut last: BTreeMap<String, usize> = BTreeMap::new();
        for (index, found) in self.found.iter().enumerate() {
            last.insert(found.written_name.clone(), index);
        }
        let managed = self.managed();
        let origins: Vec<Origin> = self
            .found
            .iter()
            .map(|found| found.server.origin.clone())
            .collect();
        for (index, found) in self.found.iter_mut().enumerate() {
            found.shadowed_by = match (&managed, last.get(&found.written_name)) {
                (Some(managed), _) if found.server.origin.scope != Scope::Managed => {
                    Some(managed.clone())
                }
                (_, Some(winner)) if *winner != index => origins.get(*winner).cloned(),
                _ => None,
            };
        }
    }

    /// Returns the place of the managed servers, if there are any: Claude Code takes no others
    /// then.
    fn managed(&self) -> Option<Origin> {
        let mut sources = self.sources.iter();
        let source = sources.find(|source| {
            self.client == Client::ClaudeCode
                && source.file.ends_with(CLAUDE_CODE_MANAGED)
                && source.state != SourceState::Missing
        })?;
        Some(Origin {
            file: source.file.clone(),
            line: 1,
            client: Some(self.client),
            scope: Scope::Managed,
            profile: None,
        })
    }
}
