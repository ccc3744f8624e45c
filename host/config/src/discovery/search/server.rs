//! Single entries of a file: servers, and changes of those that earlier files have.

use super::*;

impl Search<'_> {
    /// Reads a server. Where it could not be started now, returns its launch as it is written.
    pub(super) fn server(
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
    pub(super) fn count(&mut self, name: &str, written: Option<&Written>, origin: Origin) {
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

    pub(super) fn skip(
        &mut self,
        name: &str,
        origin: Origin,
        why: String,
        unused: Option<UnusedLaunch>,
    ) {
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
    pub(super) fn change(
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

    pub(super) fn add(&mut self, found: Found) {
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
