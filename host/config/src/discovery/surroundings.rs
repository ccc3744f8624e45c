//! Surroundings of the process: everything that the search for clients' files depends on.
//!
//! They are data, so that tests can have any.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use dormouse_policy::Identity;
use dormouse_text::visible::visible_path;

use crate::problem::quoted;
use crate::project::project_path::is_marked;

/// Mark of a project's folder, beside a client's own file.
const REPOSITORY: &str = ".git";

/// The folders and variables that clients' files are found and read with.
#[derive(Clone, Default)]
pub struct Surroundings {
    /// The user's home folder.
    pub home: PathBuf,
    /// Folder in which programs of the XDG kind keep configuration: `~/.config` unless
    /// `XDG_CONFIG_HOME` names another, on every system.
    pub config_home: PathBuf,
    /// Folder in which desktop programs keep their data: `%APPDATA%` on Windows,
    /// `~/Library/Application Support` on macOS, [`Self::config_home`] elsewhere.
    pub app_data: PathBuf,
    /// Folder of the administrators' files; `/etc` on Linux.
    pub system: PathBuf,
    /// The folder in which the process works; none where it works for no folder in
    /// particular.
    pub folder: Option<PathBuf>,
    /// The folder of the project that [`Self::folder`] belongs to.
    pub project: Option<PathBuf>,
    /// The folder of a project whose files are left out, also those that a variable or a link of
    /// the user's leads to.
    pub left_out: Option<PathBuf>,
    /// The user's own configuration file that is in use: no project's, wherever it lies.
    pub configuration: Option<PathBuf>,
    /// The variables of the environment that are text.
    pub env: HashMap<String, String>,
}

impl fmt::Debug for Surroundings {
    /// Leaves out the values of the environment.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings")
            .field("home", &self.home)
            .field("folder", &self.folder)
            .field("project", &self.project)
            .finish_non_exhaustive()
    }
}

impl Surroundings {
    /// Reads the surroundings of this process. `folder` is the folder that it works in (its working
    /// directory, or what a user names); there is none only where the working directory is gone,
    /// for without it a project's file may pass for one of the user's. The project is that folder
    /// or the nearest one above it that is marked as one.
    ///
    /// # Errors
    /// The user has no home folder.
    pub fn of_process(folder: Option<&Path>) -> anyhow::Result<Self> {
        let home = etcetera::home_dir().context(
            "your home folder cannot be found\nhint: set HOME, or name a file with `--config`",
        )?;
        if !home.is_absolute() {
            anyhow::bail!(
                "`{}` is no absolute path, and so not your home folder\nhint: set HOME, or name a \
                 file with `--config`",
                visible_path(&home)
            );
        }
        if !home.is_dir() {
            tracing::warn!(
                "your home folder `{}` is not there: no client's file is read",
                visible_path(&home)
            );
        }
        let env = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let around = Self::new(home, env, folder);
        for told in around.unheard() {
            tracing::warn!("{told}");
        }
        Ok(around)
    }

    /// Makes the surroundings of a home folder and an environment.
    #[must_use]
    pub fn new(home: PathBuf, env: HashMap<String, String>, folder: Option<&Path>) -> Self {
        // A relative path there is to be ignored, says the XDG specification.
        let named = |name: &str| {
            let path = env.get(name).map(PathBuf::from);
            path.filter(|path| path.is_absolute())
        };
        let config_home = named("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let (app_data, system) = if cfg!(windows) {
            (
                named("APPDATA").unwrap_or_else(|| home.join("AppData").join("Roaming")),
                named("ProgramFiles").unwrap_or_else(|| PathBuf::from(r"C:\Program Files")),
            )
        } else if cfg!(target_os = "macos") {
            (
                home.join("Library").join("Application Support"),
                PathBuf::from("/Library/Application Support"),
            )
        } else {
            (config_home.clone(), PathBuf::from("/etc"))
        };
        let folder = folder.and_then(|folder| std::path::absolute(folder).ok());
        let project = folder
            .as_deref()
            .and_then(|folder| project_of(folder, &home));
        Self {
            home,
            config_home,
            app_data,
            system,
            folder,
            project,
            left_out: None,
            configuration: None,
            env,
        }
    }

    /// Sets the user's own configuration file that is in use.
    #[must_use]
    pub fn with_configuration(mut self, file: &Path) -> Self {
        self.configuration = Some(file.to_owned());
        self
    }

    /// Returns the surroundings of the user's own servers, which are the same in every folder. The
    /// files of the project are still not the user's, and are left out.
    #[must_use]
    pub fn of_users_servers(&self) -> Self {
        let mut around = self.clone();
        around.folder = None;
        around.left_out = around.project.take().or(around.left_out);
        around
    }

    /// Whether a path leads to the configuration file in use, by whatever links and spelling.
    #[must_use]
    pub(crate) fn is_configuration(&self, path: &Path) -> bool {
        let identity = |path: &Path| Identity::at(path).ok();
        let in_use = self.configuration.as_deref().and_then(identity);
        in_use.is_some() && in_use == identity(path)
    }

    /// Returns the folder that decides what is started in it without a folder of its own: the
    /// project, or the folder in which the process works where that is in none. None where that is
    /// the home folder or above it: files there are the user's or the system's.
    #[must_use]
    pub fn deciding_folder(&self) -> Option<&Path> {
        let folder = self.folder.as_deref();
        let folder = folder.filter(|folder| !holds_home(folder, &self.home));
        self.project.as_deref().or(folder)
    }

    /// Returns a variable of the environment. Windows does not tell upper from lower case in such
    /// names.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        let exact = self.env.get(name);
        let value = exact.or_else(|| {
            let mut variables = self.env.iter().filter(|_| cfg!(windows));
            let like = variables.find(|(other, _)| other.eq_ignore_ascii_case(name));
            like.map(|(_, value)| value)
        });
        value.map(String::as_str)
    }

    /// Returns a variable of the environment; none where it is empty, which is how people unset one
    /// for a single command.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.value(name).filter(|value| !value.is_empty())
    }

    /// Returns the path that a variable of a client's names. A relative one would lead into
    /// whichever folder the process works in, and is not heard.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let path = self.variable(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    }

    /// Returns sentences on the variables of clients that are not heard.
    fn unheard(&self) -> impl Iterator<Item = String> {
        let all = super::places::VARIABLES.into_iter();
        all.filter_map(|name| {
            let written = self.variable(name).filter(|_| self.path(name).is_none())?;
            Some(format!(
                "`{name}` is {}, which is no absolute path, and is not heard\n\
                 hint: set it to an absolute path",
                quoted(written)
            ))
        })
    }
}

/// Whether a folder is the home folder, or one above it. Either may be written with links in it.
fn holds_home(folder: &Path, home: &Path) -> bool {
    let real_home = || home.canonicalize().unwrap_or_else(|_| home.to_owned());
    home.starts_with(folder)
        || folder
            .canonicalize()
            .is_ok_and(|folder| real_home().starts_with(folder))
}

/// Finds the project that a folder belongs to: the nearest folder, from it upwards, with a client's
/// project file or a repository in it. The home folder is none, and nothing above it is looked at:
/// what lies there is not the work at hand.
#[must_use]
pub fn project_of(folder: &Path, home: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    folder
        .ancestors()
        .take_while(|folder| !holds_home(folder, home))
        .find(|folder| {
            let marks = super::places::PROJECT_MARKS.iter().copied();
            marks
                .chain([REPOSITORY])
                .any(|mark| is_marked(folder, Path::new(mark)))
        })
        .map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clients_variable_that_is_no_absolute_path_is_told_and_not_heard() {
        for name in super::super::places::VARIABLES {
            for (value, is_heard, is_told) in [
                ("", false, false),
                (".client", false, true),
                ("~/client", false, true),
                ("../a\nb", false, true),
                ("/client", cfg!(unix), !cfg!(unix)),
            ] {
                let env = HashMap::from([(name.to_owned(), value.to_owned())]);
                let around = Surroundings::new("/home/u".into(), env, None);
                assert_eq!(around.path(name).is_some(), is_heard, "{value}");
                let told: Vec<_> = around.unheard().collect();
                assert_eq!(told.len(), usize::from(is_told), "{told:?}");
                let starts = format!("`{name}` is `{}`", value.escape_debug());
                assert!(
                    told.iter().all(|told| told.starts_with(&starts)),
                    "{told:?}"
                );
            }
        }
    }
}
