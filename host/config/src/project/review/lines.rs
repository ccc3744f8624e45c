//! Lines of a review: what a server is, in plain words.

use super::*;

#[derive(Default)]
pub(super) struct ReviewLines(pub(super) String);

impl ReviewLines {
    pub(super) fn add(&mut self, what: &str, text: String) {
        let _ = writeln!(self.0, "  {:<18} {text}", format!("{what}:"));
    }

    pub(super) fn origin(&mut self, origin: &Origin, folder: &Path) {
        let file = origin.file.strip_prefix(folder).unwrap_or(&origin.file);
        let file = plain_path(file);
        self.add("written in", format!("{file}:{}", origin.line));
    }

    pub(super) fn names<'a>(&mut self, what: &str, names: impl Iterator<Item = &'a String>) {
        let names: Vec<String> = names.map(|name| quoted(name)).collect();
        if !names.is_empty() {
            self.add(what, names.join(", "));
        }
    }

    /// Adds a path, and where it really leads if that is elsewhere.
    pub(super) fn path(&mut self, what: &str, path: &Path) {
        let shown = plain_path(path);
        self.add(what, shown + &really(path));
    }

    /// Adds a granted folder, and its real path if that is another.
    pub(super) fn grant(&mut self, grant: &FsGrant, real: Option<&PathBuf>) {
        let mode = match grant.mode {
            FsMode::ReadOnly => "may read folder",
            FsMode::ReadWrite => "may write folder",
        };
        let really = real.map(|real| leads_to(&grant.path, real, real.exists()));
        let shown = plain_path(&grant.path);
        self.add(mode, shown + &really.unwrap_or_default());
    }

    pub(super) fn bridge(&mut self, bridge: &Bridge) {
        match (&bridge.written, &bridge.launch) {
            (Launch::Stdio(written), Launch::Stdio(filled)) => {
                self.program(written, filled, bridge);
                self.variables(written, filled);
            }
            (Launch::Http(written), Launch::Http(filled)) => {
                self.http(written);
                self.host(filled, &bridge.needs);
                self.login(written);
            }
            (Launch::Stdio(_), Launch::Http(_)) | (Launch::Http(_), Launch::Stdio(_)) => {}
        }
        self.given(&bridge.filled_in);
        let Filter {
            include,
            exclude,
            also,
        } = &bridge.filter;
        for list in include.iter().chain(also) {
            match list.is_empty() {
                true => self.add("shows only", "nothing".to_owned()),
                false => self.names("shows only", list.iter()),
            }
        }
        self.names("hides", exclude.iter());
        self.names("has tools", bridge.stubs.iter());
        if bridge.share {
            let text = "one for all sessions (`share`)";
            self.add("connections", text.to_owned());
        }
        if bridge.changes.clone().remove_acceptance() {
            self.add(
                "changes",
                "`on_change` is not heard of a project: changes and new tools wait for you"
                    .to_owned(),
            );
        }
    }

    /// Adds what is filled into a server of the user's own.
    pub(super) fn filled_in(&mut self, bridge: &Bridge) {
        if let (Launch::Http(written), Launch::Http(filled)) = (&bridge.written, &bridge.launch) {
            self.http(written);
            self.host(filled, &bridge.needs);
            self.names("sends headers", written.headers.keys());
        }
        if let (Launch::Stdio(written), Launch::Stdio(filled)) = (&bridge.written, &bridge.launch) {
            if written.cwd != filled.cwd
                && let Some(folder) = &filled.cwd
            {
                self.path("in folder", folder);
            }
            if let Some(shown) = &bridge.shown
                && (&shown.command, &shown.args) != (&written.command, &written.args)
            {
                self.runs(&shown.command, &shown.args);
            }
            let names = filled.env.keys();
            let names = names.filter(|name| !written.env.contains_key(*name));
            self.names("sets variables", names);
        }
        self.given(&bridge.filled_in);
    }

    /// Adds a launch that nobody could start with the variables that are set now: with others set,
    /// it could be started.
    pub(super) fn unused(
        &mut self,
        written: Option<&Launch>,
        filled_in: &BTreeSet<FilledIn>,
        origin: &Origin,
    ) {
        match written {
            Some(Launch::Stdio(written)) => {
                self.runs(&written.command, &written.args);
                let base = origin.file.parent().unwrap_or(Path::new(""));
                if written.cwd.is_none() && origin.client.is_none() {
                    self.folder(ShownFolder::Known(base.to_owned()));
                }
                if let Some(cwd) = &written.cwd {
                    let text = cwd.to_string_lossy();
                    let is_filled_in = filled_in.iter().any(|filled| filled.place == "cwd");
                    let is_text = is_filled_in && text.contains(['$', '{']);
                    let folder = match cwd.to_str() {
                        Some(text) => paths::expand(text, base).ok(),
                        // A text that a file has is UTF-8: this is the project's own folder.
                        None => Some(cwd.clone()),
                    };
                    self.folder(match folder {
                        Some(folder) if !is_text => ShownFolder::Known(folder),
                        _ => ShownFolder::Written(text.into_owned()),
                    });
                }
                self.variables(written, written);
            }
            Some(Launch::Http(written)) => {
                self.http(written);
                self.login(written);
            }
            None => {}
        }
        self.given(filled_in);
    }

    /// Adds what of the user's is filled in, whether it is there now or not: nobody asks again when
    /// it comes to be there.
    pub(super) fn given(&mut self, filled_in: &BTreeSet<FilledIn>) {
        for filled in filled_in {
            let source = match &filled.source {
                FillSource::Variable(name) => format!("your environment's {}", quoted(name)),
                FillSource::File(file) => {
                    format!("the file {}{}", plain_path(file), really(file))
                }
                // Whether it is there now makes no difference.
                FillSource::VariableInFile { name, file } => format!(
                    "{} of your file {}, now or later",
                    quoted(name),
                    plain_path(file)
                ),
                FillSource::VariableInProjectFile { name, file } => format!(
                    "{} of the project's file {}{}",
                    quoted(name),
                    plain_path(file),
                    really(file)
                ),
                FillSource::Input(id) => {
                    format!("your answer to {}, now or later", quoted(id))
                }
            };
            self.add(
                "is given",
                format!("{source}, in {}", quoted(&filled.place)),
            );
        }
    }

    /// Adds a program with its arguments and its working directory: those that are used, and not
    /// the texts that they are made of, which may read like others.
    pub(super) fn program(&mut self, written: &Stdio, filled: &Stdio, bridge: &Bridge) {
        if let Some(shown) = &bridge.shown {
            self.runs(&shown.command, &shown.args);
            if let Some(folder) = &shown.folder {
                self.folder(folder.clone());
            }
            return;
        }
        self.runs(&written.command, &written.args);
        let is_filled_in = bridge.filled_in.iter().any(|filled| filled.place == "cwd");
        match (&written.cwd, &filled.cwd) {
            (Some(written), _) if is_filled_in => {
                let text = written.to_string_lossy().into_owned();
                self.folder(ShownFolder::Written(text));
            }
            (_, Some(cwd)) => self.folder(ShownFolder::Known(cwd.clone())),
            (_, None) => {}
        }
    }

    pub(super) fn runs(&mut self, command: &String, args: &[String]) {
        let words = std::iter::once(command).chain(args);
        let words: Vec<String> = words.map(shell_word).collect();
        self.add("runs", words.join(" "));
    }

    pub(super) fn folder(&mut self, folder: ShownFolder) {
        match folder {
            ShownFolder::Known(folder) => self.path("in folder", &folder),
            ShownFolder::Written(text) => self.add(
                "in folder",
                format!("{}, whatever that is with what is filled in", quoted(&text)),
            ),
        }
    }

    pub(super) fn variables(&mut self, written: &Stdio, filled: &Stdio) {
        // The filled in ones have those of a file of variables among them. Variables in the name
        // of that file lead to another one where they are others.
        if let Some(file) = written.env.get(ENV_FILE) {
            self.add("variables from", plain(file.expose()));
        }
        let names: BTreeSet<&String> = written.env.keys().chain(filled.env.keys()).collect();
        let names = names.into_iter().filter(|name| *name != ENV_FILE);
        self.names("sets variables", names);
        self.names("sees your variables", filled.pass_env.iter());
    }

    /// Adds a URL, whole: what is written in a project's files is no secret of the user's, and what
    /// is filled in is not in it.
    pub(super) fn http(&mut self, http: &Http) {
        self.add("connects to", plain(&http.url));
    }

    /// Adds the host that a URL leads to, with its variables filled in: the text of the URL could
    /// be taken for another one. A host is no secret: name servers are asked for it, too.
    pub(super) fn host(&mut self, filled: &Http, needs: &[Need]) {
        let host = filled.host().filter(|_| needs.is_empty());
        self.add(
            "its host is",
            host.map_or_else(
                || "not known before all that it needs is set".to_owned(),
                |host| quoted(&host),
            ),
        );
        if filled.names_user() {
            self.add(
                "user name",
                "there is one in the URL, before the `@`".to_owned(),
            );
        }
    }

    pub(super) fn login(&mut self, http: &Http) {
        self.names("sends headers", http.headers.keys());
        self.oauth(&http.oauth);
    }

    pub(super) fn oauth(&mut self, oauth: &OAuth) {
        for (key, value) in oauth.texts() {
            let value = match key {
                "client_secret" => "(not shown)".to_owned(),
                _ => plain(value),
            };
            self.add("login", format!("{key} {value}"));
        }
        if oauth.private_network {
            let text = "may be in your private network (`private_network`)";
            self.add("login", text.to_owned());
        }
        self.names("asks for scopes", oauth.scopes.iter());
    }
}
