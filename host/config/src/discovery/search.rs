//! The search of one client's files.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use dormouse_launch::Launch;

use super::build::{Refused, build, may_be_started, unfilled};
use super::client_variables::ClientVariables;
use super::dialect::Outcome;
use super::document::{Member, Node, Value};
use super::draft::Written;
use super::entry::{Entry, Reader};
use super::fill_policy::EnteredProject;
use super::filler::Filler;
use super::formats::{self, codex, continue_dev, copilot, forge, vscode};
use super::library::{Document, FileUse, Library, Loaded};
use super::own::{self, Own};
use super::places::{Place, Syntax};
use super::unread::{UnreadRules, has_rules};
use super::{CountedServer, Found, Skipped, Source, SourceState, Surroundings, UnusedLaunch};
use crate::problem::quoted;
use crate::{Client, Inputs, Origin, Problem, RefusedServer, Scope, ShownFolder, ShownProgram};

/// The file that several clients read, each in its own words.
const SHARED: &str = ".mcp.json";

/// Most servers of a file. Nobody has so many; a file made to keep its reader busy has more.
const MAX_SERVERS_OF_FILE: usize = 1000;

/// Setting of the search for all clients' files.
pub(super) struct Setting<'a> {
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
pub(super) struct Search<'a> {
    pub(super) client: Client,
    pub(super) around: &'a Surroundings,
    setting: &'a Setting<'a>,
    pub(super) library: &'a mut Library,
    pub(super) sources: Vec<Source>,
    pub(super) found: Vec<Found>,
    /// Places in `found` of the last server of each written name.
    last_found: HashMap<String, usize>,
    pub(super) skipped: Vec<Skipped>,
    pub(super) counted: Vec<CountedServer>,
    /// Written names of the servers in `counted`.
    counted_names: HashSet<String>,
    pub(super) refused: Vec<RefusedServer>,
    pub(super) unread: Vec<UnreadRules>,
    pub(super) documents: Vec<(Scope, Rc<Loaded>)>,
}

impl<'a> Search<'a> {
    /// Searches all files of a client.
    pub(super) fn of(
        client: Client,
        places: &[Place],
        setting: &'a Setting<'a>,
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

    fn place(&mut self, place: &Place) {
        let project = project_of(&place.scope);
        let loaded = self.library.open(&place.file, place.shape.syntax, project);
        // Other clients have their rules in files of their own.
        if has_rules(self.client) {
            self.note_unread(&place.scope, (&place.file, place.shape.syntax), &loaded);
        }
        let mut read = (0, Vec::new());
        if let Loaded::Document(document) = &*loaded {
            let before = self.found.len() + self.counted.len();
            let problems = self.document(document, place);
            read = (self.found.len() + self.counted.len() - before, problems);
        }
        let profile = place.profile.clone();
        self.add_source((&place.scope, profile), &place.file, &loaded, read);
        self.documents.push((place.scope.clone(), loaded));
    }

    /// Opens a file of rules.
    pub(super) fn open_rules(&mut self, scope: &Scope, file: &Path) -> Rc<Loaded> {
        let syntax = Syntax::of(file);
        let loaded = self.library.open(file, syntax, project_of(scope));
        self.note_unread(scope, (file, syntax), &loaded);
        loaded
    }

    /// Adds a file that was looked for, which is for one profile of the client where one is given.
    /// What was read of it is the number of its servers and its problems.
    pub(super) fn add_source(
        &mut self,
        (scope, profile): (&Scope, Option<String>),
        file: &Path,
        loaded: &Loaded,
        (servers, problems): (usize, Vec<Problem>),
    ) {
        let state = match loaded {
            Loaded::Missing => SourceState::Missing,
            Loaded::Bad(problem) => SourceState::Read {
                servers: 0,
                problems: vec![problem.clone()],
            },
            Loaded::Document(_) => SourceState::Read { servers, problems },
        };
        self.sources.push(Source {
            client: self.client,
            scope: scope.clone(),
            profile,
            file: file.to_owned(),
            state,
        });
    }

    fn document(&mut self, document: &Document, place: &Place) -> Vec<Problem> {
        let mut reader = document.reader();
        let Some(servers) = self.servers(document, place, &mut reader) else {
            return reader.problems;
        };
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
        let context = Context {
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
            let unused = self.server(server, &context, &mut reader);
            if reader.problem_count > before.1 {
                // None of its own, where too much is wrong before it.
                let problems = reader.problems.get(before.0..).unwrap_or_default();
                self.refused.push(RefusedServer {
                    written_name: server.name.to_owned(),
                    origin: context.origin(server, self.client, &reader),
                    written: unused.as_ref().map(|unused| unused.written.clone()),
                    launch: None,
                    filled_in: unused.map(|unused| unused.filled_in).unwrap_or_default(),
                    problems: problems.to_vec(),
                });
            }
        }
        reader
            .problems
            .sort_by_key(|problem| (problem.line, problem.column));
        reader.problems
    }

    /// Returns the servers of a document, where it has any.
    fn servers<'d>(
        &self,
        document: &'d Document,
        place: &Place,
        reader: &mut Reader<'_>,
    ) -> Option<Vec<NamedTable<'d>>> {
        let root = &document.root;
        let keys = place.shape.keys.iter();
        let mut node = keys.clone().try_fold(root, |node, key| node.get(key));
        if self.client == Client::Copilot && node.is_none() && copilot::is_bare(root) {
            node = Some(root);
        }
        let wrong = |node: &Node| match (&node.value, place.shape.list) {
            (Value::Null, _) | (Value::Table(_), false) | (Value::List(_), true) => None,
            (_, false) => Some("a table of servers"),
            (_, true) => Some("a list of servers"),
        };
        // Where the document itself is no table, nothing can be in it.
        let (node, at) = match node {
            Some(node) => (node, place.shape.keys.join(".")),
            None if matches!(root.value, Value::Table(_) | Value::Null) => return None,
            None => {
                let message = format!("the document has to be a table, and is {}", root.kind());
                reader.problem(root.at, message, None);
                return None;
            }
        };
        if let Some(expected) = wrong(node) {
            let message = format!("`{at}` has to be {expected}, and is {}", node.kind());
            reader.problem(node.at, message, None);
            return None;
        }
        let members = node.members().iter().map(NamedTable::member);
        let items = node.items().iter().enumerate();
        let items = items.filter_map(|(index, node)| NamedTable::item(node, index, reader));
        Some(if place.shape.list {
            items.collect()
        } else {
            members.collect()
        })
    }

    /// Whether the servers of a file may be filled in.
    pub(super) fn may_fill(&self, scope: &Scope) -> bool {
        project_of(scope).is_none_or(|project| self.setting.filled.contains(project))
    }

    /// Reads a server. Where it could not be started now, returns its launch as it is written.
    fn server(
        &mut self,
        server: &NamedTable<'_>,
        context: &Context<'_>,
        reader: &mut Reader<'_>,
    ) -> Option<UnusedLaunch> {
        let place = context.place;
        let at = format!("{}.{}", context.keys, shown(server.name));
        if server.node.value == Value::Null {
            return None;
        }
        if !matches!(server.node.value, Value::Table(_)) {
            let message = format!("`{at}` has to be a table, and is {}", server.node.kind());
            reader.problem(server.node.at, message, None);
            return None;
        }
        let origin = context.origin(server, self.client, reader);
        // Whoever reads the shared file leaves Forge's own words to Forge.
        let shared = place.file.file_name().is_some_and(|name| name == SHARED);
        if shared && self.client != Client::Forge && forge::is_own(server.node) {
            self.skip(
                server.name,
                origin,
                "it is written for Forge".to_owned(),
                None,
            );
            return None;
        }
        let mut entry = Entry {
            reader: &mut *reader,
            node: server.node,
            at,
        };
        let mut draft = match formats::read(self.client, &mut entry) {
            Outcome::Server(draft) => *draft,
            Outcome::Skipped(why) => {
                self.skip(server.name, origin, why, None);
                return None;
            }
            Outcome::Bad => return None,
        };
        if let Some(Written::Http(http)) = &mut draft.launch
            && http.oauth.redirect_uri.is_none()
        {
            http.oauth.redirect_uri.clone_from(&context.redirect);
        }
        if !self.may_fill(&place.scope) {
            self.count(server.name, draft.launch.as_ref(), origin);
            return None;
        }
        let Some(written) = draft.launch.take() else {
            self.change(server, draft.enabled, origin, reader);
            return None;
        };
        let folder = place.file.parent().unwrap_or(Path::new(""));
        let project = project_of(&place.scope);
        // All files of a project are one person's.
        let whose = project.unwrap_or(&place.file);
        let left = self.library.left(whose);
        let left_to_show = self.library.left_to_show(whose);
        let mut filler = Filler {
            around: self.around,
            takes_itself: self.setting.has_itself,
            folder,
            variables: &context.variables,
            of_entry: BTreeMap::new(),
            questions: &context.questions,
            inputs: self.setting.inputs,
            entered: self.setting.entered.as_ref().filter(|_| project.is_none()),
            is_of_entered: false,
            left,
            needs: Vec::new(),
            notes: std::mem::take(&mut draft.notes),
            size: 0,
            values: std::mem::take(&mut self.library.values),
            read: Vec::new(),
            filled_in: BTreeSet::new(),
            secrets: Vec::new(),
            left_to_show,
            shown: None,
            users_texts: BTreeMap::new(),
        };
        let says_on = draft.enabled == Some(true);
        let expansion = formats::dialect(self.client).expansion;
        let built = build(
            server.name,
            draft,
            written.clone(),
            origin.clone(),
            expansion,
            &mut filler,
        );
        self.library.values = std::mem::take(&mut filler.values);
        self.library.spend(whose, left - filler.left);
        let shown = left_to_show - filler.left_to_show;
        self.library.note_shown(whose, shown);
        for read in &filler.read {
            let (project, file_use) = match (project, self.setting.entered.as_ref()) {
                (Some(project), _) => (project, FileUse::FilledIn),
                (None, Some(entered)) if read.is_of_entered => {
                    (entered.folder.path.as_path(), FileUse::FilledIntoUsers)
                }
                (None, _) => continue,
            };
            self.library.add(project, &read.file, read.hash, file_use);
        }
        let entered = self.setting.entered.as_ref();
        let entered = entered.filter(|_| filler.is_of_entered);
        // Variables decide what becomes of it, and may be others where the agent starts.
        let unused = || UnusedLaunch {
            written: with_shown(unfilled(&written, project), filler.shown.as_ref()),
            filled_in: filler.filled_in.clone(),
        };
        match built {
            Ok(config) => {
                let bridge = config.bridge()?;
                let filled = &bridge.launch;
                let folder = bridge
                    .shown
                    .as_ref()
                    .and_then(|shown| shown.folder.as_ref());
                let (variables, of_entry) = (context.variables.all(), BTreeMap::new());
                let source = own::Source {
                    server: server.name,
                    around: self.around,
                    expansion,
                    variables: &variables,
                    files: &filler.users_texts,
                    of_entry: &of_entry,
                    inputs: self.setting.inputs,
                    is_folder_known: matches!(folder, Some(ShownFolder::Known(_))),
                    is_env_file_of_project: entered.is_some(),
                    is_env_file_unread: bridge.lacks("envFile"),
                };
                self.add(Found {
                    own: Own::of(&written, filled, &source),
                    filled_from: entered.map(|entered| entered.folder.path.clone()),
                    server: config,
                    written_name: server.name.to_owned(),
                    notes: filler.notes,
                    shadowed_by: None,
                    says_on,
                    unheard: None,
                });
            }
            Err(Refused::Skipped(why)) => self.skip(server.name, origin, why, Some(unused())),
            Err(Refused::Bad(message, hint)) => {
                reader.problem(server.node.at, message, Some(hint));
                return Some(unused());
            }
        }
        None
    }

    /// Counts a server that nothing may be filled into.
    fn count(&mut self, name: &str, written: Option<&Written>, origin: Origin) {
        let is_server = match written {
            Some(written) => may_be_started(name, written),
            // It changes one that an earlier file has.
            None => self.last_found.contains_key(name) || self.counted_names.contains(name),
        };
        if is_server {
            self.counted_names.insert(name.to_owned());
            self.counted.push(CountedServer {
                name: name.to_owned(),
                written_name: name.to_owned(),
                origin,
            });
        }
    }

    fn skip(&mut self, name: &str, origin: Origin, why: String, unused: Option<UnusedLaunch>) {
        self.skipped.push(Skipped {
            origin,
            written_name: name.to_owned(),
            why,
            unused,
        });
    }

    /// Changes a server of an earlier file, for an entry without a launch. The server is added once
    /// more, from where it is changed, so that a project which nobody trusts changes nothing of a
    /// user's.
    fn change(
        &mut self,
        server: &NamedTable<'_>,
        enabled: Option<bool>,
        origin: Origin,
        reader: &mut Reader<'_>,
    ) {
        let earlier = self.last_found.get(server.name);
        let Some(found) = earlier.and_then(|earlier| self.found.get_mut(*earlier)) else {
            let message = format!(
                "{} says nothing of how the server is reached",
                quoted(server.name)
            );
            let hint = "no file that is read before this one has such a server";
            reader.problem(server.at, message, Some(hint));
            return;
        };
        let says_on = enabled == Some(true);
        let enabled = enabled.unwrap_or(found.server.enabled);
        let is_of_this_file = found.server.origin.file == origin.file;
        if is_of_this_file && found.server.origin.scope == origin.scope {
            // However often a file names it, there is one of it.
            found.server.origin = origin;
            found.server.enabled = enabled;
            found.says_on |= says_on;
            return;
        }
        let mut found = found.clone();
        found.server.origin = origin;
        found.server.enabled = enabled;
        found.says_on = says_on;
        self.add(found);
    }

    fn add(&mut self, found: Found) {
        let name = found.written_name.clone();
        self.last_found.insert(name, self.found.len());
        self.found.push(found);
    }
}

/// Returns a launch as people see it before they trust its project.
fn with_shown(mut launch: Launch, shown: Option<&ShownProgram>) -> Launch {
    if let (Launch::Stdio(stdio), Some(shown)) = (&mut launch, shown) {
        stdio.command.clone_from(&shown.command);
        stdio.args.clone_from(&shown.args);
        stdio.cwd = shown.folder.as_ref().map(|folder| match folder {
            ShownFolder::Known(folder) => folder.clone(),
            ShownFolder::Written(text) => text.into(),
        });
    }
    launch
}

/// Data that all servers of one place have in common.
struct Context<'p> {
    place: &'p Place,
    keys: String,
    questions: BTreeMap<String, String>,
    variables: ClientVariables,
    /// Redirect URI for logins, where a server has none.
    redirect: Option<String>,
}

impl Context<'_> {
    fn origin(&self, server: &NamedTable<'_>, client: Client, reader: &Reader<'_>) -> Origin {
        Origin {
            file: self.place.file.clone(),
            line: reader.lines.line(server.at),
            client: Some(client),
            scope: self.place.scope.clone(),
            profile: self.place.profile.clone(),
        }
    }
}

/// A server's table, with its name and its place.
struct NamedTable<'d> {
    name: &'d str,
    at: usize,
    node: &'d Node,
}

impl<'d> NamedTable<'d> {
    fn member(member: &'d Member) -> Self {
        Self {
            name: &member.key,
            at: member.at,
            node: &member.node,
        }
    }

    fn item(node: &'d Node, index: usize, reader: &mut Reader<'_>) -> Option<Self> {
        // A block of Continue's hub is named by what it uses.
        let name = node.get("name").or_else(|| node.get("uses"));
        let Some(name) = name.and_then(Node::text) else {
            let message = format!("server {} of the list has no `name`", index + 1);
            reader.problem(node.at, message, None);
            return None;
        };
        Some(Self {
            name,
            at: node.at,
            node,
        })
    }
}

/// Returns the project in whose folder a file is, where it is in one.
pub(super) fn project_of(scope: &Scope) -> Option<&Path> {
    match scope {
        Scope::Project(folder) => Some(folder.as_path()),
        Scope::Managed | Scope::User | Scope::Local(_) => None,
    }
}

/// Returns a server's name as a part of an entry's name in messages.
fn shown(name: &str) -> String {
    quoted(name).trim_matches('`').to_owned()
}
