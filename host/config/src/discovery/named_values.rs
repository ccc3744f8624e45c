//! Files that entries of the user's take values from, by what is written alone: also those of entries
//! that cannot be used, that others take the place of, and that are of clients which are not searched.
//! What is no server today may be one tomorrow, and its client starts it today. No file is opened because
//! an entry names it.

mod unreadable;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use dormouse_text::nearest::is_within_one_edit;

use super::document::{DocumentMember, DocumentValue, Node};
use super::entries::dialect::EntryDialect;
use super::filling::client_variables::ClientVariables;
use super::filling::expansion::{ExpansionForm, ReadForm, TextMeaning};
use super::filling::filler::{self, Filler};
use super::filling::value_files::ValueFiles;
use super::formats::{self, continue_dev};
use super::library::{Library, LoadedFile};
use super::places::{self, ClientPlace};
use super::search::{DiscoverySetting, project_of};
use super::{Discovery, Surroundings, files};
use crate::named_files::{MAX_PATH_BYTES, named};
use crate::{Client, Inputs, NamedFiles};

/// Most files that one file names which others can have written, one that is named twice counted twice:
/// each is looked at whenever grants are judged.
const MAX_OF_OTHERS: usize = 1000;

impl Discovery {
    /// Notes the files that the user's entries name: those in the places of the clients that were
    /// searched, and of all others. Of these only such files are read as may name any, and none of a
    /// project's but where it is the user's client that reads it wherever they work, and they have trusted
    /// the project once.
    pub(super) fn name_files(
        &mut self,
        searched: &[(Client, Vec<ClientPlace>)],
        setting: &DiscoverySetting<'_>,
        library: &mut Library,
    ) {
        for client in Client::all().filter(|client| names_files(*client)) {
            // As the client reads them, whichever project claims them for itself.
            let mut places = places::files(client, setting.around);
            places.retain(|place| project_of(&place.scope).is_none());
            // No link in a project that nobody has ever trusted is followed, whoever has led there.
            if let Some(folder) = setting.entered.as_ref().map(|entered| &entered.folder)
                && !library.follows(&folder.path)
            {
                places.retain(|place| !folder.has(&place.file));
            }
            if !searched.iter().any(|(of, _)| *of == client) {
                let files = places.iter().map(|place| place.file.clone());
                self.unsearched.extend(files);
            }
            let variables = match client {
                Client::Continue => continue_dev::secrets(setting.around, None, library),
                _ => ClientVariables::default(),
            };
            for place in &places {
                let loaded = library.open(&place.file, place.shape.syntax, None);
                let mut of_others = NamedFiles::default();
                let is_unread = matches!(&*loaded, LoadedFile::Bad { text, .. } if text.is_empty());
                let mut naming = Naming {
                    client,
                    dialect: formats::dialect(client),
                    has_forms: has_forms(client),
                    around: setting.around,
                    inputs: setting.inputs,
                    variables: &variables,
                    folder: place.file.parent().unwrap_or(Path::new("")),
                    is_of_others: is_unread,
                    left: if is_unread { MAX_OF_OTHERS } else { usize::MAX },
                    files: match is_unread {
                        true => &mut of_others,
                        false => &mut self.named_files,
                    },
                };
                match &*loaded {
                    LoadedFile::Missing => {}
                    // Its client starts what is in it, and so does Dormouse once it is the user's alone.
                    LoadedFile::Bad { .. } if is_unread => {
                        if let Some(text) = files::text_of_others(&place.file) {
                            naming.unreadable(&text);
                        }
                    }
                    // All of its text may be entries once it can be read.
                    LoadedFile::Bad { text, .. } => naming.unreadable(text),
                    LoadedFile::Document(document) => {
                        naming.document(&document.root, &place.shape.keys);
                    }
                }
                self.named_files.add_others(of_others);
            }
        }
    }
}

/// Whether the entries of a client can take values from files.
fn names_files(client: Client) -> bool {
    formats::dialect(client).env_file.is_some() || has_forms(client)
}

/// Whether texts of a client's entries can name files.
fn has_forms(client: Client) -> bool {
    let forms = formats::dialect(client).expansion.forms;
    let mut forms = forms.iter();
    // Continue takes variables from a file of its own.
    client == Client::Continue || forms.any(|form| matches!(form, ExpansionForm::File { .. }))
}

/// Reading of the files that are named in one file of a client's.
struct Naming<'n> {
    client: Client,
    dialect: EntryDialect,
    /// Whether texts can name files.
    has_forms: bool,
    around: &'n Surroundings,
    inputs: &'n Inputs,
    variables: &'n ClientVariables,
    /// Folder of the client's file.
    folder: &'n Path,
    /// Whether others can write that file.
    is_of_others: bool,
    /// Files that may still be named.
    left: usize,
    files: &'n mut NamedFiles,
}

impl Naming<'_> {
    /// Notes what is named by all entries below these keys, however they are written, also below a key
    /// that is there twice, or may have been meant. Other parts of a document name files, too, which are
    /// nothing to servers; a file of variables is one of a server wherever it stands.
    fn document(&mut self, root: &Node, keys: &[String]) {
        let is_meant = |member: &DocumentMember, key: &str| is_within_one_edit(&member.key, key);
        let mut tables = vec![root];
        for key in keys {
            let members = tables.into_iter().flat_map(Node::members);
            let members = members.filter(|member| is_meant(member, key));
            tables = members.map(|member| &member.node).collect();
        }
        for table in tables {
            for member in table.members() {
                self.entry(&member.node, &member.key);
            }
            for item in table.items() {
                let name = item.get("name").and_then(Node::text);
                self.entry(item, name.unwrap_or_default());
            }
        }
        if !matches!(root.value, DocumentValue::Table(_)) {
            return self.entry(root, "");
        }
        let takes = self.of_client();
        let first = keys.first().map_or("", String::as_str);
        let others = root.members().iter();
        for member in others.filter(|member| !is_meant(member, first)) {
            self.env_files(&member.key, &member.node, &takes);
        }
    }

    fn entry(&mut self, entry: &Node, name: &str) {
        let takes = match name {
            "" => self.of_client(),
            _ => format!("{} of {}", named("server", name), self.client),
        };
        if self.has_forms {
            for text in entry.parts().filter_map(Node::text) {
                self.text(text, &takes);
            }
        }
        self.env_files("", entry, &takes);
    }

    /// Returns what takes values from a file, where no server's name is known.
    fn of_client(&self) -> String {
        match self.is_of_others {
            true => format!("a file of {} that others can write", self.client),
            false => format!("a server of {}", self.client),
        }
    }

    /// Notes the files of variables that a key names, or one below it: it may have been meant for one, or
    /// be in the wrong place. How deep that is, the parser limits.
    fn env_files(&mut self, key: &str, node: &Node, takes: &str) {
        let Some(written) = self.dialect.env_file else {
            return;
        };
        if is_within_one_edit(key, written) {
            for text in node.parts().filter_map(Node::text) {
                self.env_file(text, takes);
            }
            return;
        }
        for item in node.items() {
            self.env_files(key, item, takes);
        }
        // A variable may have that name, too.
        let variables = self.dialect.env;
        let members = node.members().iter();
        for member in members.filter(|member| member.key != variables) {
            self.env_files(&member.key, &member.node, takes);
        }
    }

    /// Notes a file of variables, whose path is made of variables itself, unless it is one in whatever
    /// project is worked in: what such a server takes from it is trusted with that project.
    fn env_file(&mut self, written: &str, takes: &str) {
        if self.left == 0 {
            return;
        }
        let home = &self.around.home;
        let filled = self.filled(written);
        let project = self.around.project.as_deref();
        let path = filler::path(&filled, project.unwrap_or(home), home);
        let is_relative = !filled.starts_with("~/") && Path::new(&filled).is_relative();
        if is_relative {
            // So it is read where no project is worked in.
            self.name(filler::path(&filled, home, home), takes);
        }
        let is_within = project.is_some_and(|project| {
            let mut inside = path
                .strip_prefix(project)
                .into_iter()
                .flat_map(Path::components);
            path.starts_with(project) && inside.all(|part| matches!(part, Component::Normal(_)))
        });
        let of_project = |form: ReadForm<'_>| match form {
            ReadForm::Exact { means, .. } => means == TextMeaning::Project,
            _ => false,
        };
        // Two projects may have one name.
        let follows_project = is_relative || self.forms(written).any(of_project);
        if !is_within || !follows_project {
            self.name(path, takes);
        }
    }

    /// Returns a text with its variables. No dialect has both files of variables, and a form for other
    /// files: those would be opened.
    fn filled(&self, written: &str) -> String {
        let mut filler = Filler {
            around: self.around,
            takes_itself: false,
            folder: self.folder,
            variables: self.variables,
            of_entry: BTreeMap::new(),
            questions: &BTreeMap::new(),
            inputs: self.inputs,
            needs: Vec::new(),
            notes: Vec::new(),
            size: 0,
            entered: None,
            is_of_entered: false,
            is_users: true,
            // What is longer is no path.
            left: MAX_PATH_BYTES,
            values: ValueFiles::default(),
            read: Vec::new(),
            filled_in: BTreeSet::new(),
            secrets: Vec::new(),
            left_to_show: 0,
            shown: None,
            users_texts: BTreeMap::new(),
        };
        filler.fill(written, self.dialect.expansion, "envFile").text
    }

    fn name(&mut self, file: PathBuf, takes: &str) {
        if let Some(left) = self.left.checked_sub(1) {
            self.left = left;
            self.files.add(file, takes);
        }
    }

    /// Notes the files that are named in a text.
    fn text(&mut self, text: &str, takes: &str) {
        let mut named = Vec::new();
        for form in self.forms(text) {
            if named.len() >= self.left {
                break;
            }
            match form {
                ReadForm::File { path } => {
                    named.push(filler::path(path, self.folder, &self.around.home));
                }
                ReadForm::Variable { .. } | ReadForm::Bare { .. } => {
                    named.extend(self.variables.users_file.clone());
                }
                ReadForm::Exact { .. } | ReadForm::Input { .. } | ReadForm::Own { .. } => {}
            }
        }
        for file in named {
            self.name(file, takes);
        }
    }

    /// Returns the forms in a text.
    fn forms<'t>(&self, text: &'t str) -> impl Iterator<Item = ReadForm<'t>> + use<'t> {
        let forms = self.dialect.expansion.forms;
        let mut rest = text;
        std::iter::from_fn(move || {
            // All forms begin with one of these.
            while let Some(at) = rest.find(['$', '{']) {
                rest = rest.get(at..).unwrap_or_default();
                if let Some((read, after)) = forms.iter().find_map(|form| form.read(rest)) {
                    rest = after;
                    return Some(read);
                }
                rest = rest.get(1..).unwrap_or_default();
            }
            None
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::document;
    use crate::discovery::places::Syntax;

    /// Each line of a file that another user can write may be many times as long as it is written.
    #[test]
    fn a_file_of_others_names_few_files_and_none_at_which_there_can_be_none() {
        let mut around = Surroundings::default();
        let long = format!("/{}", "x".repeat(200)).repeat(7);
        around.env.insert("LONG".to_owned(), long);
        let mut files = NamedFiles::default();
        let mut naming = Naming {
            client: Client::Cursor,
            dialect: formats::dialect(Client::Cursor),
            has_forms: false,
            around: &around,
            inputs: &Inputs::new(),
            variables: &ClientVariables::default(),
            folder: Path::new("/a"),
            is_of_others: true,
            left: MAX_OF_OTHERS,
            files: &mut files,
        };
        let line = |number: usize| {
            let filled = "${env:LONG}".repeat(number % 7);
            format!("\"envFile\": \"{filled}/{number}\"\n")
        };
        let lines: String = (0..2 * MAX_OF_OTHERS).map(line).collect();
        naming.unreadable(&lines);
        assert_eq!(naming.left, 0);
        let lengths: Vec<usize> = files
            .iter()
            .map(|(file, _)| file.as_os_str().len())
            .collect();
        assert!(lengths.len() <= MAX_OF_OTHERS);
        assert!(lengths.len() > MAX_OF_OTHERS / 3, "{}", lengths.len());
        assert!(lengths.iter().all(|length| *length <= MAX_PATH_BYTES));
        // What fits is taken.
        assert!(lengths.iter().any(|length| *length > 2 * 1400));
    }

    #[test]
    fn keys_below_each_other_are_read_in_linear_time() {
        let input = |size: usize| {
            let (begin, end) = ("{\"envFile\": ".repeat(size), "}".repeat(size));
            let files = vec!["\"/a\""; 50 * size].join(",");
            document::parse(&format!("{begin}[{files}]{end}"), Syntax::Json).unwrap()
        };
        let around = Surroundings::default();
        dormouse_tests::growth::is_linear("keys below each other", 4, input, |root| {
            let mut files = NamedFiles::default();
            let mut naming = Naming {
                client: Client::Cursor,
                dialect: formats::dialect(Client::Cursor),
                has_forms: false,
                around: &around,
                inputs: &Inputs::new(),
                variables: &ClientVariables::default(),
                folder: Path::new("/a"),
                is_of_others: false,
                left: usize::MAX,
                files: &mut files,
            };
            naming.entry(root, "");
            assert_eq!(files.iter().count(), 1);
        });
    }
}
