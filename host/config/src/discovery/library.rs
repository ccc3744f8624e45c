//! The documents of a search: each file is read once, however many clients keep
//! something in it.

pub(super) mod heard;
mod loaded;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use self::loaded::load;
pub(super) use self::loaded::{Document, LoadedFile};
use super::content::{ContentHash, ProjectContent};
use super::document::{self, Node};
use super::entries::entry::ClientFileReader;
use super::filling::value_files::ValueFiles;
use super::formats::claude_code;
use super::places::{ClientPlace, Syntax};
use super::search::project_of;
use super::{FoundServer, Surroundings, files};
use crate::file::LARGEST_OF_PROJECT;
use crate::project::project_path::{LEADS_OUT, leads_out};
use crate::reading::lines::LineBeginnings;
use crate::reading::units;
use crate::{Client, ConfigProblem, Filter};

/// The files that were read so far, and the projects that they are of.
pub(super) struct Library {
    files: BTreeMap<PathBuf, Rc<LoadedFile>>,
    /// The files that are filled in.
    pub(super) values: ValueFiles,
    /// The projects of which a file was not the same at two looks.
    changed: BTreeSet<PathBuf>,
    projects: BTreeMap<PathBuf, BTreeMap<PathBuf, ProjectFile>>,
    /// Most bytes that may be filled in, and the bytes that were: by project, or else by file.
    max_filled: usize,
    filled: BTreeMap<PathBuf, usize>,
    /// Bytes of the texts of projects' files that are shown, by project, or else by file.
    shown: BTreeMap<PathBuf, usize>,
    /// The projects whose files may be links out of their folders.
    followed: BTreeSet<PathBuf>,
    /// Hashes of the files that are no project's; none where there is no such file.
    pub(super) hashes: BTreeMap<PathBuf, Option<blake3::Hash>>,
    /// Amount that was read of each project.
    read: BTreeMap<PathBuf, ReadOfProject>,
}

/// Most bytes of all files of a project together that servers are written in.
const MAX_PROJECT_BYTES: usize = 4 << 20;

/// Most parts (values, lists and tables) of all files of a project together. A part of two letters
/// takes a hundred bytes of memory.
const MAX_PROJECT_PARTS: usize = 500_000;

/// Most servers of all files of a project together, each counted for each client that reads
/// it.
const MAX_PROJECT_SERVERS: usize = 4000;

/// Most bytes of a project's files that are shown where they are filled in.
const MAX_SHOWN_BYTES: usize = 1 << 20;

/// Most bytes that the filters of all servers of a project take together: each server has what is
/// left of each rule behind its name.
const MAX_PROJECT_FILTERS: usize = 1 << 20;

/// Amount that was read of a project's files.
#[derive(Default)]
struct ReadOfProject {
    bytes: usize,
    parts: usize,
    servers: usize,
    /// Bytes of the filters of its servers.
    filters: usize,
}

/// A file that servers of a project, or of the user's in that project, are made of.
struct ProjectFile {
    /// Hash of all bytes that were read.
    bytes: blake3::Hash,
    /// Hash of the members that are heard in it, where it is a file of settings of which others are
    /// not; none where there are none.
    heard: Option<blake3::Hash>,
    /// The first use that is made of all of it.
    whole: Option<FileUse>,
}

impl ProjectFile {
    /// Returns the hash of what these uses and all before them are made of.
    fn hash(&self, last: FileUse) -> Option<blake3::Hash> {
        match self.whole {
            Some(whole) if whole <= last => Some(self.bytes),
            _ => self.heard,
        }
    }
}

/// Use of a project's file: the first of these that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FileUse {
    /// Servers are written in the file.
    Configuration,
    /// The file is filled into servers of the project.
    FilledIn,
    /// The file is filled into servers of the user's.
    FilledIntoUsers,
}

impl Library {
    /// Makes a library without files, of which `max_filled` bytes may be filled in for each project
    /// and each file of the user's. Files of the `followed` projects may be links out of their
    /// folders. `project` is the folder of the one that the process works in.
    pub(super) fn new(
        max_filled: usize,
        followed: BTreeSet<PathBuf>,
        project: Option<&Path>,
    ) -> Self {
        let project = project.and_then(|project| project.canonicalize().ok());
        Self {
            files: BTreeMap::new(),
            values: ValueFiles::new(project),
            changed: BTreeSet::new(),
            projects: BTreeMap::new(),
            max_filled,
            filled: BTreeMap::new(),
            shown: BTreeMap::new(),
            followed,
            hashes: BTreeMap::new(),
            read: BTreeMap::new(),
        }
    }

    /// Opens those of a client's files that belong to projects.
    pub(super) fn open_projects(
        &mut self,
        client: Client,
        places: &[ClientPlace],
        around: &Surroundings,
    ) {
        for place in places {
            if let Some(project) = project_of(&place.scope) {
                self.open(&place.file, place.shape.syntax, Some(project));
            }
        }
        if client == Client::ClaudeCode {
            for (scope, file) in claude_code::settings(around) {
                if let Some(project) = project_of(&scope) {
                    self.open(&file, Syntax::Json, Some(project));
                }
            }
        }
    }

    /// Returns the bytes that may still be filled in, where `whose` is a project or else a file.
    pub(super) fn left(&self, whose: &Path) -> usize {
        let filled = self.filled.get(whose).copied().unwrap_or_default();
        self.max_filled.saturating_sub(filled)
    }

    /// Notes that bytes were filled in.
    pub(super) fn spend(&mut self, whose: &Path, bytes: usize) {
        let filled = self.filled.entry(whose.to_owned()).or_default();
        *filled = filled.saturating_add(bytes);
    }

    /// Returns the bytes of projects' files that may still be shown where they are filled in.
    pub(super) fn left_to_show(&self, whose: &Path) -> usize {
        let shown = self.shown.get(whose).copied().unwrap_or_default();
        MAX_SHOWN_BYTES.saturating_sub(shown)
    }

    /// Notes that bytes of projects' files are shown.
    pub(super) fn note_shown(&mut self, whose: &Path, bytes: usize) {
        let shown = self.shown.entry(whose.to_owned()).or_default();
        *shown = shown.saturating_add(bytes);
    }

    /// Returns the number of servers that may still be read of a project.
    pub(super) fn servers_left(&self, project: &Path) -> usize {
        let read = self.read.get(project).map_or(0, |read| read.servers);
        MAX_PROJECT_SERVERS.saturating_sub(read)
    }

    /// Notes that servers of a project are read.
    pub(super) fn note_servers(&mut self, project: &Path, servers: usize) {
        let read = self.read.entry(project.to_owned()).or_default();
        read.servers = read.servers.saturating_add(servers);
    }

    /// Applies rules to a server. Where those for the servers of a project are too much together, the
    /// other servers of that project have no tools.
    pub(super) fn restrict(
        &mut self,
        found: &mut FoundServer,
        apply: impl FnOnce(&mut FoundServer),
    ) {
        let Some(project) = project_of(&found.server.origin.scope).map(Path::to_owned) else {
            return apply(found);
        };
        let read = self.read.entry(project).or_default();
        let size = |found: &FoundServer| {
            found
                .server
                .bridge()
                .map_or(0, |bridge| bridge.filter.size())
        };
        let before = size(found);
        if read.filters <= MAX_PROJECT_FILTERS {
            apply(found);
            let more = size(found).saturating_sub(before);
            read.filters = read.filters.saturating_add(more);
        } else if let Some(bridge) = found.server.bridge_mut()
            && bridge.filter != Filter::none()
        {
            bridge.filter = Filter::none();
            found.notes.push(
                "it has no tools: the rules for the servers of its project are too long".to_owned(),
            );
        }
    }

    /// Puts a text in place of a file's content, before the file is opened.
    pub(super) fn put(&mut self, file: &Path, syntax: Syntax, text: &str) {
        let loaded = load(file, syntax, Ok(Some(text.as_bytes().to_vec())));
        self.files.insert(file.to_owned(), Rc::new(loaded));
    }

    /// Whether links that lead out of a project are followed.
    pub(super) fn follows(&self, project: &Path) -> bool {
        self.followed.contains(project)
    }

    /// Opens a file, which is a project's where one is given.
    pub(super) fn open(
        &mut self,
        file: &Path,
        syntax: Syntax,
        project: Option<&Path>,
    ) -> Rc<LoadedFile> {
        // Its own file is a user's in one scope and a project's in none: whose it is
        // never changes between two looks at it.
        if let Some(loaded) = self.files.get(file) {
            return Rc::clone(loaded);
        }
        let bytes = match project {
            Some(project) if !self.follows(project) && leads_out(project, file) => {
                Err(LEADS_OUT.to_owned())
            }
            Some(_) => files::read(file, LARGEST_OF_PROJECT),
            None => files::read_of_user(file, files::CONFIGURATION),
        };
        let too_many_parts = || {
            format!(
                "is not read, because the files of its project have more than {MAX_PROJECT_PARTS} \
                 parts together"
            )
        };
        let bytes = match (project, bytes) {
            (Some(project), Ok(Some(bytes))) => {
                let read = self.read.entry(project.to_owned()).or_default();
                read.bytes += bytes.len();
                if read.bytes > MAX_PROJECT_BYTES {
                    Err(format!(
                        "is not read, because the files of its project have more than {} together",
                        units::human_size(MAX_PROJECT_BYTES as u64)
                    ))
                } else if read.parts.saturating_add(most_parts(&bytes)) > MAX_PROJECT_PARTS {
                    // Parsing takes much longer than this.
                    Err(too_many_parts())
                } else {
                    Ok(Some(bytes))
                }
            }
            (_, bytes) => bytes,
        };
        let hash = match &bytes {
            Ok(Some(bytes)) => Some(blake3::hash(bytes)),
            _ => None,
        };
        if project.is_none() && bytes.is_ok() {
            self.hashes.insert(file.to_owned(), hash);
        }
        let mut loaded = load(file, syntax, bytes);
        if let (Some(project), LoadedFile::Document(document)) = (project, &loaded) {
            let read = self.read.entry(project.to_owned()).or_default();
            read.parts = read.parts.saturating_add(document.root.parts().count());
            if read.parts > MAX_PROJECT_PARTS {
                loaded = load(file, syntax, Err(too_many_parts()));
            }
        }
        if let (Some(project), Some(hash)) = (project, hash) {
            match &mut loaded {
                LoadedFile::Document(document) if heard::is_shared(project, file) => {
                    heard::keep_heard(&mut document.root);
                    self.add_heard(project, file, hash, heard::hash(&document.root));
                }
                // What cannot be read counts by its bytes.
                _ => self.add(project, file, hash, FileUse::Configuration),
            }
        }
        let loaded = Rc::new(loaded);
        self.files.insert(file.to_owned(), Rc::clone(&loaded));
        loaded
    }

    /// Notes that servers depend on all of a file of a project, with the hash of what was read of it.
    /// Where an earlier hash is another one, servers are made of both contents: no hash stands for
    /// that.
    pub(super) fn add(
        &mut self,
        project: &Path,
        file: &Path,
        hash: blake3::Hash,
        file_use: FileUse,
    ) {
        let known = self.project_file(project, file, hash);
        known.whole = Some(known.whole.map_or(file_use, |known| known.min(file_use)));
    }

    /// Notes that servers depend on what is heard in a file of a project.
    fn add_heard(
        &mut self,
        project: &Path,
        file: &Path,
        hash: blake3::Hash,
        heard: Option<blake3::Hash>,
    ) {
        self.project_file(project, file, hash).heard = heard;
    }

    fn project_file(
        &mut self,
        project: &Path,
        file: &Path,
        hash: blake3::Hash,
    ) -> &mut ProjectFile {
        let files = self.projects.entry(project.to_owned()).or_default();
        let known = files.entry(file.to_owned()).or_insert(ProjectFile {
            bytes: hash,
            heard: None,
            whole: None,
        });
        if known.bytes != hash {
            self.changed.insert(project.to_owned());
        }
        known
    }

    /// Returns the contents of the projects, as far as their files were read.
    pub(super) fn contents(&self) -> BTreeMap<PathBuf, ProjectContent> {
        let projects = self.projects.iter();
        projects
            .map(|(project, files)| {
                let of = |last: FileUse| {
                    let files = files.iter();
                    let files: BTreeMap<_, _> = files
                        .filter_map(|(path, file)| Some((path.clone(), file.hash(last)?)))
                        .collect();
                    (!files.is_empty()).then(|| ContentHash::of(project, &files))
                };
                let last = FileUse::FilledIntoUsers;
                let digits = files.iter().filter_map(|(path, file)| {
                    let name = path.strip_prefix(project).unwrap_or(path);
                    let digits = ContentHash::of_file(name, file.hash(last)?);
                    Some((name.to_owned(), digits))
                });
                let content = ProjectContent {
                    files: digits.collect(),
                    own_files: of(FileUse::Configuration),
                    with_filled_in: of(FileUse::FilledIn),
                    with_users_servers: of(FileUse::FilledIntoUsers),
                    changed: self.changed.contains(project),
                };
                (project.clone(), content)
            })
            .collect()
    }
}

/// Returns about the most parts that a text can have where nothing in it stands for another part of
/// it: each but the first comes behind one of these.
fn most_parts(text: &[u8]) -> usize {
    let separates = |byte: &&u8| matches!(byte, b',' | b':' | b'[' | b'{' | b'?' | b'\n');
    text.iter().filter(separates).count()
}
