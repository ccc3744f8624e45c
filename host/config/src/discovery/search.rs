//! The search of one client's files.

mod named_table;
mod server;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use dormouse_launch::Launch;

use self::named_table::{DocumentServers, NamedTable, PlaceContext, shown};
use self::server::EntryUse;
use super::document::{DocumentMember, DocumentValue, Node};
use super::entries::build::{DraftRefusal, build, filled_target, may_be_started, unfilled};
use super::entries::dialect::EntryOutcome;
use super::entries::draft::Written;
use super::entries::entry::{ClientFileReader, ServerEntry};
use super::filling::client_variables::ClientVariables;
use super::filling::fill_policy::EnteredProject;
use super::filling::filler::Filler;
use super::formats::{self, codex, continue_dev, copilot, forge, vscode};
use super::library::{Document, FileUse, Library, LoadedFile};
use super::own::{self, Own};
use super::places::{ClientPlace, Syntax};
use super::rules::unread::{UnreadRules, has_rules};
use super::unusable_entry::UnusableEntry;
use super::{
    CountedServer, DiscoverySource, FoundServer, Skipped, SourceState, Surroundings, UnusedLaunch,
};
use crate::problem::quoted;
use crate::{
    Client, ConfigProblem, Inputs, Origin, RefusedServer, Scope, ShownFolder, ShownProgram,
};

/// The file that several clients read, each in its own words.
const SHARED: &str = ".mcp.json";

/// Most servers of a file. Nobody has so many; a file made to keep its reader busy has more.
const MAX_SERVERS_OF_FILE: usize = 1000;

/// Setting of the search for all clients' files.
pub(super) struct DiscoverySetting<'a> {
    pub(super) around: &'a Surroundings,
    pub(super) inputs: &'a Inputs,
    /// The projects whose servers may be filled in.
    pub(super) filled: BTreeSet<PathBuf>,
    /// The project that the process works in.
    pub(super) entered: Option<EnteredProject>,
    /// Whether Dormouse itself is found, too, and not skipped.
    pub(super) has_itself: bool,
}

/// The search of one client's files, and its results.
pub(super) struct ClientSearch<'a> {
    pub(super) client: Client,
    pub(super) around: &'a Surroundings,
    setting: &'a DiscoverySetting<'a>,
    pub(super) library: &'a mut Library,
    pub(super) sources: Vec<DiscoverySource>,
    pub(super) found: Vec<FoundServer>,
    /// Places in `found` of the last server of each written name.
    last_found: HashMap<String, usize>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) counted: Vec<CountedServer>,
    /// Written names of the servers in `counted`.
    counted_names: HashSet<String>,
    pub(super) refused: Vec<RefusedServer>,
    pub(super) unusable: Vec<UnusableEntry>,
    pub(super) unread: Vec<UnreadRules>,
    pub(super) documents: Vec<(Scope, Rc<LoadedFile>)>,
}

impl<'a> ClientSearch<'a> {
    /// Searches all files of a client.
    pub(super) fn of(
        client: Client,
        places: &[ClientPlace],
        setting: &'a DiscoverySetting<'a>,
        library: &'a mut Library,
    ) -> Self {
        let mut search = Self {
            client,
            around: setting.around,
            setting,
            library,
            sources: Vec::new(),
            found: Vec::new(),
            last_found: HashMap::new(),
            skipped: Vec::new(),
            counted: Vec::new(),
            counted_names: HashSet::new(),
            refused: Vec::new(),
            unusable: Vec::new(),
            unread: Vec::new(),
            documents: Vec::new(),
        };
        for place in places {
            search.place(place);
        }
        search.switch();
        search.shadow();
        search
    }

    fn place(&mut self, place: &ClientPlace) {
        let project = project_of(&place.scope);
        let loaded = self.library.open(&place.file, place.shape.syntax, project);
        // Other clients have their rules in files of their own.
        if has_rules(self.client) {
            let shape = &place.shape;
            self.note_unread(
                &place.scope,
                &place.file,
                shape.syntax,
                Some(shape),
                &loaded,
            );
        }
        let (mut servers, mut problems) = (0, Vec::new());
        if let LoadedFile::Document(document) = &*loaded {
            let before = self.found.len() + self.counted.len();
            problems = self.document(document, place);
            servers = self.found.len() + self.counted.len() - before;
        }
        let profile = place.profile.clone();
        self.add_source(
            &place.scope,
            profile,
            &place.file,
            &loaded,
            servers,
            problems,
        );
        self.documents.push((place.scope.clone(), loaded));
    }

    /// Opens a file of rules.
    pub(super) fn open_rules(&mut self, scope: &Scope, file: &Path) -> Rc<LoadedFile> {
        let syntax = Syntax::of(file);
        let loaded = self.library.open(file, syntax, project_of(scope));
        self.note_unread(scope, file, syntax, None, &loaded);
        loaded
    }

    /// Adds a file that was looked for, which is for one profile of the client where one is given.
    /// What was read of it is the number of its servers and its problems.
    pub(super) fn add_source(
        &mut self,
        scope: &Scope,
        profile: Option<String>,
        file: &Path,
        loaded: &LoadedFile,
        servers: usize,
        problems: Vec<ConfigProblem>,
    ) {
        let state = match loaded {
            LoadedFile::Missing => SourceState::Missing,
            LoadedFile::Bad { problem, .. } => SourceState::Read {
                servers: 0,
                problems: vec![problem.clone()],
            },
            LoadedFile::Document(_) => SourceState::Read { servers, problems },
        };
        self.sources.push(DiscoverySource {
            client: self.client,
            scope: scope.clone(),
            profile,
            file: file.to_owned(),
            state,
        });
    }

    fn document(&mut self, document: &Document, place: &ClientPlace) -> Vec<ConfigProblem> {
        let mut reader = document.reader();
        let DocumentServers {
            servers,
            unusable: others,
        } = self.servers(document, place, &mut reader);
        if servers.is_empty() && others.is_empty() {
            return reader.problems;
        }
        let questions = match self.client {
            Client::VsCode => vscode::questions(&document.root),
            _ => BTreeMap::new(),
        };
        let variables = match self.client {
            Client::Continue if self.may_fill(&place.scope) => {
                continue_dev::secrets(self.around, project_of(&place.scope), self.library)
            }
            _ => ClientVariables::default(),
        };
        let context = PlaceContext {
            place,
            keys: place.shape.keys.join("."),
            questions,
            variables,
            redirect: match self.client {
                Client::Codex => codex::redirect(&document.root),
                _ => None,
            },
        };
        let most = match project_of(&place.scope) {
            Some(project) => {
                let most = MAX_SERVERS_OF_FILE.min(self.library.servers_left(project));
                self.library.note_servers(project, servers.len().min(most));
                most
            }
            None => MAX_SERVERS_OF_FILE,
        };
        if let Some(server) = servers.get(most) {
            let message = match most {
                MAX_SERVERS_OF_FILE => format!("there are more than {MAX_SERVERS_OF_FILE} servers"),
                _ => "there are too many servers in the files of this project".to_owned(),
            };
            reader.problem(server.at, message, Some("those from here on are not read"));
        }
        for server in servers.iter().take(most) {
            let before = (reader.problems.len(), reader.problem_count);
            let read = self.server(server, &context, &mut reader);
            let is_wrong = reader.problem_count > before.1;
            // None of its own, where too much is wrong before it.
            let problems = reader.problems.get(before.0..).unwrap_or_default();
            let problems = is_wrong.then(|| problems.to_vec());
            let origin = context.origin(server, self.client, &reader);
            self.note_unusable(server, read, problems, origin);
        }
        // A project's denies nobody anything.
        let others = others.into_iter().take(most);
        for (server, problem) in others.filter(|_| project_of(&place.scope).is_none()) {
            let origin = context.origin(&server, self.client, &reader);
            let mut entry = ServerEntry {
                reader: &mut reader.unheard(),
                node: server.node,
                at: String::new(),
            };
            let launch = match formats::read(self.client, &mut entry) {
                EntryOutcome::Server(draft) => draft.launch,
                EntryOutcome::Skipped(_, launch) | EntryOutcome::Bad(launch) => {
                    launch.map(|launch| *launch)
                }
            };
            let read = self.unusable(launch, &context);
            let problems = (!server.name.is_empty()).then(|| vec![problem]);
            self.note_unusable(&server, read, problems, origin);
        }
        reader
            .problems
            .sort_by_key(|problem| (problem.line, problem.column));
        reader.problems
    }

    /// Notes an entry that cannot be used, and the problems of any.
    fn note_unusable(
        &mut self,
        server: &NamedTable<'_>,
        read: EntryUse,
        problems: Option<Vec<ConfigProblem>>,
        origin: Origin,
    ) {
        let mut unused = None;
        if let EntryUse::Unusable { launch, written } = read {
            unused = written.map(|written| *written);
            if self.may_fill(&origin.scope) {
                self.add_unusable(UnusableEntry {
                    origin: origin.clone(),
                    written_name: server.name.to_owned(),
                    name: server.name.to_owned(),
                    launch: launch.map(|launch| *launch),
                    problems: problems.clone(),
                    place: self.found.len(),
                });
            }
        }
        if let Some(problems) = problems {
            self.refused.push(RefusedServer {
                written_name: server.name.to_owned(),
                origin,
                written: unused.as_ref().map(|unused| unused.written.clone()),
                launch: None,
                filled_in: unused.map(|unused| unused.filled_in).unwrap_or_default(),
                problems,
            });
        }
    }

    /// Returns the servers of a document.
    fn servers<'d>(
        &self,
        document: &'d Document,
        place: &ClientPlace,
        reader: &mut ClientFileReader<'_>,
    ) -> DocumentServers<'d> {
        let root = &document.root;
        let keys = place.shape.keys.iter();
        let mut node = keys.clone().try_fold(root, |node, key| node.get(key));
        if self.client == Client::Copilot && node.is_none() && copilot::is_bare(root) {
            node = Some(root);
        }
        // Where the document itself is no table, nothing can be in it.
        let (node, at) = match node {
            Some(node) => (node, place.shape.keys.join(".")),
            None if matches!(root.value, DocumentValue::Table(_) | DocumentValue::Null) => {
                return DocumentServers::default();
            }
            None => {
                let message = format!("the document has to be a table, and is {}", root.kind());
                reader.problem(root.at, message, None);
                return DocumentServers::default();
            }
        };
        DocumentServers::of(node, &at, place.shape.list, reader)
    }

    /// Whether the servers of a file may be filled in.
    pub(super) fn may_fill(&self, scope: &Scope) -> bool {
        project_of(scope).is_none_or(|project| self.setting.filled.contains(project))
    }
}

/// Returns the project in whose folder a file is, where it is in one.
pub(super) fn project_of(scope: &Scope) -> Option<&Path> {
    scope.project()
}
