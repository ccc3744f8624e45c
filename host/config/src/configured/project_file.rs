//! A project's own file, beside those of clients.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use dormouse_files::ownership;
use dormouse_launch::Launch;
use dormouse_policy::HttpSecret;
use dormouse_text::visible::visible_line;

use super::Configured;
use crate::discovery::{Discovery, Surroundings};
use crate::file::{self, VariableHandling};
use crate::project::project_content::{ProjectHashes, ProjectText};
use crate::project::project_path::{LEADS_OUT, leads_out};
use crate::{ConfigProblem, RefusedServer, Scope, ServerConfig};

/// Name of a project's own file, beside its clients' ones.
pub(crate) const PROJECT: &str = "dormouse.toml";

/// Makes changes of a server of a project wait for its user where the project's file would accept
/// them: no project decides that. Returns a note, if it is so.
pub(super) fn without_acceptance(server: &mut ServerConfig) -> Option<String> {
    let is_said = server.bridge_mut()?.changes.remove_acceptance();
    is_said.then(|| {
        "its changes and new tools wait for you, although a project's file says that they do not \
         (`on_change`, `tools_on_change` or `new_tools`): that is not heard\n\
         hint: write it in your own dormouse.toml"
            .to_owned()
    })
}

/// Computes the hashes of each project's files: of its clients' ones, and of its own one.
pub(super) fn hashes(
    found: &Discovery,
    project: Option<&Path>,
    own: Option<&str>,
) -> BTreeMap<PathBuf, ProjectHashes> {
    let mut hashes: BTreeMap<PathBuf, ProjectHashes> = found
        .projects()
        .map(|(folder, content)| {
            let own = own.filter(|_| project == Some(folder));
            let own = ProjectText::of(folder, own);
            (folder.to_owned(), ProjectHashes::new(Some(content), own))
        })
        .collect();
    if let (Some(project), Some(own)) = (project, own) {
        hashes
            .entry(project.to_owned())
            .or_insert_with(|| ProjectHashes::new(None, ProjectText::of(project, Some(own))));
    }
    hashes
}

impl Configured {
    /// Returns the files that tables name for secrets: those of the user's own file, and those of a project
    /// that the user trusts. Other content than was trusted has no say in what is granted.
    pub(crate) fn files_of_secrets(&self) -> impl Iterator<Item = (&Path, &str)> {
        let [own, of_project] = &self.files_of_secrets;
        let is_trusted = self.trusts_own_project();
        let of_project = of_project.iter().filter(move |_| is_trusted);
        own.iter().chain(of_project)
    }

    /// Returns the files that tables of the project's own file name for secrets, trusted or not.
    pub fn files_of_project_secrets(&self) -> impl Iterator<Item = &Path> {
        let [_, of_project] = &self.files_of_secrets;
        of_project.iter().map(|(file, _)| file)
    }

    /// Reads the text of the project's own file.
    pub(super) fn project_text(
        &mut self,
        around: &Surroundings,
        may_follow: &dyn Fn(&Path) -> bool,
    ) -> Option<String> {
        let project = around.project.as_ref()?;
        let path = project.join(PROJECT);
        let is_out = !may_follow(project) && leads_out(project, &path);
        if !is_out && around.is_configuration(&path) {
            return None;
        }
        self.project_file = Some(path.clone());
        if is_out {
            let path = path.to_string_lossy();
            ownership::warn_once(format!("the file {} {LEADS_OUT}", visible_line(&path)));
            return None;
        }
        match file::read_of_project(&path) {
            Ok(text) => text,
            Err(error) => {
                tracing::warn!("{error:#}");
                None
            }
        }
    }

    /// Reads the servers of the project's own file.
    pub(super) fn read_project(&mut self, folder: &Path, text: &str, variables: VariableHandling) {
        let (mut config, mut problems) = file::parse_of_project(
            &folder.join(PROJECT),
            text,
            variables,
            &self.discovery.inputs,
        );
        for (name, overlay) in config.overlays {
            let problem = ConfigProblem {
                file: overlay.origin.file.clone(),
                line: overlay.origin.line,
                column: 1,
                message: format!(
                    "`[servers.{name}]` names nothing to run, and a project changes no servers \
                     of anybody else's"
                ),
                hint: Some("add a `component`, a `command` or a `url`, or remove it".to_owned()),
            };
            problems.push(problem.clone());
            config.refused.push(RefusedServer {
                written_name: name,
                origin: overlay.origin,
                written: None,
                launch: None,
                filled_in: BTreeSet::new(),
                problems: vec![problem],
            });
        }
        self.problems = problems;
        let scope = Scope::Project(folder.to_owned());
        let servers = config.servers.into_values().map(|mut server| {
            server.origin.scope = scope.clone();
            // What it says of its tools would decide which calls its user is asked about.
            server.hints.0.clear();
            // What the user gives the server in their own file is theirs.
            server.secrets.iter_mut().for_each(HttpSecret::confine);
            // As a client does with a file of the project's: in whatever folder below it the host
            // was started, its programs are those that were looked at.
            if let Some(bridge) = server.bridge_mut()
                && let Launch::Stdio(stdio) = &mut bridge.launch
            {
                stdio.cwd.get_or_insert_with(|| folder.to_owned());
            }
            server
        });
        self.of_project = servers.collect();
        self.files_of_secrets[1] = config.files_of_secrets;
        self.refused_of_project = config.refused;
    }
}
