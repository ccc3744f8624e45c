//! Single entries of a file: servers, and changes of those that earlier files have.

use super::*;

/// Use of an entry.
pub(super) enum EntryUse {
    /// The entry is used, or is none that its client means for a server.
    Settled,
    /// The entry cannot be used.
    Unusable {
        /// Program with its arguments, or URL, where the entry is the user's and says that.
        launch: Option<Box<Launch>>,
        /// Launch as it is written, where the entry could be used with other variables set.
        written: Option<Box<UnusedLaunch>>,
    },
}

impl<'a> ClientSearch<'a> {
    /// Reads a server.
    pub(super) fn server(
        &mut self,
        server: &NamedTable<'_>,
        context: &PlaceContext<'_>,
        reader: &mut ClientFileReader<'_>,
    ) -> EntryUse {
        let place = context.place;
        let at = format!("{}.{}", context.keys, shown(server.name));
        if !matches!(server.node.value, DocumentValue::Table(_)) {
            let message = format!("`{at}` has to be a table, and is {}", server.node.kind());
            reader.problem(server.node.at, message, None);
            return self.unusable(None, context);
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
            return EntryUse::Settled;
        }
        let mut entry = ServerEntry {
            reader: &mut *reader,
            node: server.node,
            at,
        };
        let mut draft = match formats::read(self.client, &mut entry) {
            EntryOutcome::Server(draft) => *draft,
            EntryOutcome::Skipped(why, launch) => {
                self.skip(server.name, origin, why, None);
                return match launch {
                    Some(launch) => self.unusable(Some(*launch), context),
                    None => EntryUse::Settled,
                };
            }
            EntryOutcome::Bad(launch) => {
                return self.unusable(launch.map(|launch| *launch), context);
            }
        };
        if let Some(Written::Http(http)) = &mut draft.launch
            && http.oauth.redirect_uri.is_none()
        {
            http.oauth.redirect_uri.clone_from(&context.redirect);
        }
        if !self.may_fill(&place.scope) {
            self.count(server.name, draft.launch.as_ref(), origin);
            return EntryUse::Settled;
        }
        let Some(written) = draft.launch.take() else {
            return match self.change(server, draft.enabled, origin, reader) {
                true => EntryUse::Settled,
                false => self.unusable(None, context),
            };
        };
        let project = project_of(&place.scope);
        let mut filler = self.filler(context);
        filler.notes = std::mem::take(&mut draft.notes);
        let (left, left_to_show) = (filler.left, filler.left_to_show);
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
        self.take_back(&mut filler, (left, left_to_show), context);
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
                let Some(bridge) = config.bridge() else {
                    return EntryUse::Settled;
                };
                let filled = &bridge.launch;
                let folder = bridge
                    .shown
                    .as_ref()
                    .and_then(|shown| shown.folder.as_ref());
                let (variables, of_entry) = (context.variables.all(), BTreeMap::new());
                let source = own::TextSources {
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
                self.add(FoundServer {
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
            Err(DraftRefusal::Itself(why)) => self.skip(server.name, origin, why, Some(unused())),
            Err(DraftRefusal::Skipped(why)) => {
                self.skip(server.name, origin, why, Some(unused()));
                return self.unusable(Some(written), context);
            }
            Err(DraftRefusal::Bad(message, hint)) => {
                reader.problem(server.node.at, message, Some(hint));
                let unused = unused();
                let mut outcome = self.unusable(Some(written), context);
                if let EntryUse::Unusable { written, .. } = &mut outcome {
                    *written = Some(Box::new(unused));
                }
                return outcome;
            }
        }
        EntryUse::Settled
    }

    /// Returns a filler for an entry of a file, with all that may be filled in.
    fn filler<'f>(&mut self, context: &'f PlaceContext<'_>) -> Filler<'f>
    where
        'a: 'f,
    {
        let place = context.place;
        let project = project_of(&place.scope);
        // All files of a project are one person's.
        let whose = project.unwrap_or(&place.file);
        Filler {
            around: self.around,
            takes_itself: self.setting.has_itself,
            folder: place.file.parent().unwrap_or(Path::new("")),
            variables: &context.variables,
            of_entry: BTreeMap::new(),
            questions: &context.questions,
            inputs: self.setting.inputs,
            is_users: project.is_none(),
            entered: self.setting.entered.as_ref().filter(|_| project.is_none()),
            is_of_entered: false,
            left: self.library.left(whose),
            needs: Vec::new(),
            notes: Vec::new(),
            size: 0,
            values: std::mem::take(&mut self.library.values),
            read: Vec::new(),
            filled_in: BTreeSet::new(),
            secrets: Vec::new(),
            left_to_show: self.library.left_to_show(whose),
            shown: None,
            users_texts: BTreeMap::new(),
        }
    }

    /// Takes back from a filler what it was lent. `before` are the bytes that it could fill in and
    /// show.
    fn take_back(
        &mut self,
        filler: &mut Filler<'_>,
        before: (usize, usize),
        context: &PlaceContext<'_>,
    ) {
        let place = context.place;
        let whose = project_of(&place.scope).unwrap_or(&place.file);
        self.library.values = std::mem::take(&mut filler.values);
        self.library.spend(whose, before.0 - filler.left);
        let shown = before.1 - filler.left_to_show;
        self.library.note_shown(whose, shown);
    }

    /// Fills in what is started or reached by an entry that cannot be used. A project's denies nobody
    /// anything, and nothing is filled into it.
    pub(super) fn unusable(
        &mut self,
        launch: Option<Written>,
        context: &PlaceContext<'_>,
    ) -> EntryUse {
        let launch = launch.filter(|_| project_of(&context.place.scope).is_none());
        let launch = launch.map(|launch| {
            let mut filler = self.filler(context);
            let before = (filler.left, filler.left_to_show);
            let expansion = formats::dialect(self.client).expansion;
            let launch = filled_target(launch, expansion, &mut filler);
            self.take_back(&mut filler, before, context);
            Box::new(launch)
        });
        EntryUse::Unusable {
            launch,
            written: None,
        }
    }

    /// Adds an entry that cannot be used. Where it does not say what it starts or reaches, that is
    /// what the entry does that it stands in the place of.
    pub(super) fn add_unusable(&mut self, mut entry: UnusableEntry) {
        let earlier = self.last_found.remove(&entry.written_name);
        let earlier = earlier.and_then(|earlier| self.found.get(earlier));
        let earlier = earlier.filter(|_| !entry.is_of_project());
        let earlier = earlier.and_then(|earlier| earlier.server.bridge());
        entry.launch = entry.launch.or_else(|| Some(earlier?.launch.clone()));
        self.unusable.push(entry);
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
    /// user's. Returns false where there is none that could be used.
    pub(super) fn change(
        &mut self,
        server: &NamedTable<'_>,
        enabled: Option<bool>,
        origin: Origin,
        reader: &mut ClientFileReader<'_>,
    ) -> bool {
        let earlier = self.last_found.get(server.name);
        let Some(found) = earlier.and_then(|earlier| self.found.get_mut(*earlier)) else {
            let message = format!(
                "{} says nothing of how the server is reached",
                quoted(server.name)
            );
            let hint = "no file that is read before this one has such a server";
            reader.problem(server.at, message, Some(hint));
            return false;
        };
        let says_on = enabled == Some(true);
        let enabled = enabled.unwrap_or(found.server.enabled);
        let is_of_this_file = found.server.origin.file == origin.file;
        if is_of_this_file && found.server.origin.scope == origin.scope {
            // However often a file names it, there is one of it.
            found.server.origin = origin;
            found.server.enabled = enabled;
            found.says_on |= says_on;
            return true;
        }
        let mut found = found.clone();
        found.server.origin = origin;
        found.server.enabled = enabled;
        found.says_on = says_on;
        self.add(found);
        true
    }

    pub(super) fn add(&mut self, found: FoundServer) {
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
