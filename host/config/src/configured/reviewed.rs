//! Projects as their users are shown them.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Context as _, bail};
use dormouse_text::visible::visible_path;

use super::Configured;
use crate::discovery::SourceState;
use crate::project::review::{ProjectReview, ReviewedProject, ReviewedServer};
use crate::{ConfigProblem, Scope};

impl Configured {
    /// Makes the review of a project before it is trusted. `self` is from [`Self::for_review`].
    ///
    /// # Errors
    /// The project has no servers, and no server of the user's is made of it, or its files have
    /// changed while they were read.
    pub fn review(&self, project: &Path) -> anyhow::Result<ProjectReview> {
        let hashes = self.projects.get(project).with_context(|| {
            format!(
                "`{}` has no file with MCP servers, so there is nothing to trust\n\
                 hint: `dormouse doctor` lists the files that are looked for",
                visible_path(project)
            )
        })?;
        if hashes.changed {
            bail!(
                "the files of `{}` have changed while they were read\nhint: look again",
                visible_path(project)
            );
        }
        let is_here = |scope: &Scope| matches!(scope, Scope::Project(of) if of == project);
        let reviewed = |config, written_name| ReviewedServer {
            config,
            written_name,
            name_of_users: self.name_of_users(config),
            whose_prefix: self.whose_prefix(config),
            said_of_it: self
                .overlays
                .get(&config.name)
                .map(|overlay| overlay.for_server(config).said())
                .unwrap_or_default(),
        };
        let own = self.of_project.iter();
        let own = own.map(|server| reviewed(server, server.name.as_str()));
        let found = self.found.found.iter();
        let found = found.map(|found| reviewed(&found.server, found.written_name.as_str()));
        let servers = own
            .chain(found)
            .filter(|server| is_here(&server.config.origin.scope));
        let of_clients = self.found.refused.iter();
        let of_clients = of_clients.filter(|refused| is_here(&refused.origin.scope));
        let refused: Vec<_> = self.refused_of_project.iter().chain(of_clients).collect();
        let users = self.found.found.iter();
        let users = users.filter(|found| found.filled_from.as_deref() == Some(project));
        let sources = self.found.sources.iter();
        let sources = sources.filter(|source| is_here(&source.scope));
        let problems = sources.flat_map(|source| match &source.state {
            SourceState::Missing => &[],
            SourceState::Read { problems, .. } => problems.as_slice(),
        });
        let mut told: HashSet<&ConfigProblem> = refused
            .iter()
            .flat_map(|refused| &refused.problems)
            .collect();
        let problems = problems.chain(&self.problems);
        let problems: Vec<_> = problems.filter(|problem| told.insert(*problem)).collect();
        let skipped = self.found.skipped.iter();
        Ok(ProjectReview::new(&ReviewedProject {
            folder: project,
            content: &hashes.recorded(),
            servers: servers.collect(),
            problems,
            users_servers: users.map(|found| &found.server).collect(),
            skipped: skipped
                .filter(|skipped| is_here(&skipped.origin.scope))
                .collect(),
            refused,
        }))
    }

    /// Checks that a project is still what its user was shown.
    ///
    /// # Errors
    /// The project has changed.
    pub fn check(&self, shown: &ProjectReview) -> anyhow::Result<()> {
        if self.review(&shown.folder).ok().as_ref() != Some(shown) {
            bail!(
                "`{}` has changed while you were reading, and is not trusted\n\
                 hint: look again",
                visible_path(&shown.folder)
            );
        }
        Ok(())
    }
}
