//! Folders that servers are granted: where each was when it was granted, and folders that two
//! servers reach.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use dormouse_config::{Configured, ServerConfig};
use dormouse_files::links;
use dormouse_launch::Launch;
use dormouse_policy::{Grants, HttpSecret, SecretSource, SharedFolder, WritableCode, real_path};
use dormouse_runtime::{GrantError, GrantedFolders};

use crate::roster::Places;
use crate::store::{RealPaths, RecordedFolders};

/// Fills in where each server's folders were when they were granted, and files that a project's secrets
/// are read from when it was trusted, and records the folders that were not known yet. If that cannot be
/// recorded, it is logged, and no link is followed.
pub(super) fn record(data: &Path, configured: &mut Configured) {
    let recorded = RecordedFolders::new(data);
    let known = |project: Option<&Path>, written: &BTreeSet<PathBuf>| {
        let known = recorded.record(project, written).or_else(|error| {
            tracing::error!("the granted folders cannot be recorded: {error:#}");
            recorded.known(project)
        });
        known.unwrap_or_default()
    };
    fill_in(configured, known, |_| None);
}

/// Fills in the same without recording anything.
pub fn recall(data: &Path, configured: &mut Configured) {
    let recorded = RecordedFolders::new(data);
    let known =
        |project: Option<&Path>, _: &BTreeSet<PathBuf>| recorded.known(project).unwrap_or_default();
    fill_in(configured, known, |path| Some(real_path(path)));
}

/// Path whose links are followed once.
struct ResolvedPath<'c> {
    written: PathBuf,
    real: &'c mut Option<PathBuf>,
    /// Whether it is of a file with a secret, which is known where its user was shown it, by `trust`,
    /// and nowhere else.
    is_of_secret: bool,
}

/// Returns the paths of a server whose links are followed once: of its folders, and of a project's files
/// with secrets. Files that the user has named may be links to whatever they become.
fn resolved_once(server: &mut ServerConfig) -> impl Iterator<Item = ResolvedPath<'_>> {
    let is_of_project = server.is_of_project();
    let folders = server.grants.fs.iter_mut().map(|grant| ResolvedPath {
        written: grant.path.clone(),
        real: &mut grant.real,
        is_of_secret: false,
    });
    let secrets = server.secrets.iter_mut().filter(move |_| is_of_project);
    let files = secrets.filter_map(HttpSecret::file_mut);
    folders.chain(files.map(|file| ResolvedPath {
        written: file.path.clone(),
        real: &mut file.real,
        is_of_secret: true,
    }))
}

/// Fills in these real paths: those of a trusted project are recorded for that project, and all others for
/// the user. `known` returns what is known of one of these, and is given what has to be recorded;
/// `of_unknown` says where a folder is of which nothing is.
fn fill_in(
    configured: &mut Configured,
    known: impl Fn(Option<&Path>, &BTreeSet<PathBuf>) -> RealPaths,
    of_unknown: impl Fn(&Path) -> Option<PathBuf>,
) {
    // What nobody trusts is not among them.
    let mut paths: BTreeMap<Option<PathBuf>, Vec<ResolvedPath<'_>>> = BTreeMap::new();
    for server in configured.servers.values_mut() {
        let project = server.project().map(Path::to_owned);
        let mut resolved = resolved_once(server).peekable();
        if resolved.peek().is_some() {
            paths.entry(project).or_default().extend(resolved);
        }
    }
    for (project, paths) in paths {
        let folders = paths.iter().filter(|path| !path.is_of_secret);
        let written = folders.map(|path| path.written.clone()).collect();
        let known = known(project.as_deref(), &written);
        for path in paths {
            let recorded = known.get(&path.written).cloned();
            *path.real = recorded.or_else(|| match path.is_of_secret {
                true => Some(path.written),
                false => of_unknown(&path.written),
            });
        }
    }
}

/// Opens and checks the folders that a server is granted, as its start does.
///
/// # Errors
/// One of them cannot be opened, or may not be granted.
pub fn check(places: &Places, server: &str, grants: &Grants) -> Result<(), GrantError> {
    GrantedFolders::check(server, grants, &places.own())
}

/// Returns warnings about the grants of several servers together, as sentences with the names of
/// the two servers that each is about.
#[must_use]
pub fn doubts(configured: &Configured) -> Vec<([String; 2], String)> {
    let servers = configured.servers.values();
    let servers: Vec<_> = servers.filter(|server| server.enabled).collect();
    let grants = || {
        servers.iter().flat_map(|server| {
            let grants = server.grants.fs.iter();
            grants.map(|grant| (server.name.as_str(), grant))
        })
    };
    if grants().next().is_none() {
        return Vec::new();
    }
    let unfollowed = configured.unfollowed();
    let files = servers.iter().flat_map(|server| {
        let files = code(server, unfollowed).into_iter();
        let real = |file: PathBuf| match is_unfollowed(&file, unfollowed) {
            true => links::real_path_outside(&file, unfollowed),
            false => real_path(&file),
        };
        files.map(move |file| (server.name.as_str(), real(file)))
    });
    let shared = SharedFolder::all(grants()).into_iter().map(|shared| {
        let text = shared.to_string();
        ([shared.outer.0, shared.inner.0], text)
    });
    let writable = WritableCode::all(grants(), files).into_iter().map(|code| {
        let text = code.to_string();
        ([code.writer, code.server], text)
    });
    shared.chain(writable).collect()
}

/// Returns the files that a server is run from, and those of programs that print its secrets, as far
/// as its configuration names them.
fn code(server: &ServerConfig, unfollowed: Option<&Path>) -> Vec<PathBuf> {
    let mut files: Vec<_> = server.component().map(Path::to_owned).into_iter().collect();
    if let Some(Launch::Stdio(launch)) = server.bridge().map(|bridge| &bridge.launch) {
        files.extend(code_of_command(&launch.command, &launch.args, unfollowed));
    }
    for secret in &server.secrets {
        if let Some(SecretSource::Command {
            program, arguments, ..
        }) = secret.looked_up()
        {
            files.extend(code_of_command(program, arguments, unfollowed));
        }
    }
    files
}

/// Whether a path leads into the folder in which no link is followed.
fn is_unfollowed(path: &Path, unfollowed: Option<&Path>) -> bool {
    unfollowed.is_some_and(|folder| links::leads_into(path, folder))
}

/// Returns the files that a command runs, as far as it names them.
fn code_of_command(program: &str, arguments: &[String], unfollowed: Option<&Path>) -> Vec<PathBuf> {
    let named = arguments.iter().enumerate().filter(|(index, argument)| {
        let before = index.checked_sub(1).and_then(|at| arguments.get(at));
        let before = before.map(String::as_str);
        let path = Path::new(argument);
        let is_folder = !is_unfollowed(path, unfollowed) && path.is_dir();
        !is_folder || is_code_folder(program, before)
    });
    let words = std::iter::once(program).chain(named.map(|(_, argument)| argument.as_str()));
    words
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .collect()
}

/// Programs whose first argument may be a folder with the program that they run.
const RUNNERS: [&str; 12] = [
    "bun", "bunx", "deno", "node", "npx", "php", "pipx", "pnpm", "python", "python3", "ruby", "uvx",
];

/// Words before a folder with a program that is run.
const BEFORE_CODE: [&str; 16] = [
    "--",
    "--cwd",
    "--dir",
    "--directory",
    "--from",
    "--prefix",
    "--project",
    "--require",
    "--with",
    "--with-editable",
    "--yes",
    "-C",
    "-r",
    "-y",
    "exec",
    "run",
];

/// Checks whether a folder among a program's arguments contains a program that is run, by the
/// argument before it. Otherwise it is a folder to work in, which many servers are given.
fn is_code_folder(program: &str, before: Option<&str>) -> bool {
    match before {
        Some(before) => BEFORE_CODE.contains(&before),
        None => {
            let name = Path::new(program).file_stem();
            name.is_some_and(|name| RUNNERS.iter().any(|runner| name == *runner))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_to_work_in_are_no_code() {
        for (program, before, expected) in [
            (
                "npx",
                Some("@modelcontextprotocol/server-filesystem"),
                false,
            ),
            ("mcp-server-filesystem", None, false),
            ("mcp-server-git", Some("--repository"), false),
            ("node", Some("/opt/filesystem/index.js"), false),
            ("/usr/bin/node", None, true),
            ("npx", Some("-y"), true),
            ("uv", Some("--directory"), true),
            ("uvx", Some("--from"), true),
        ] {
            assert_eq!(
                is_code_folder(program, before),
                expected,
                "{program} {before:?}"
            );
        }
    }

    /// Who has written it may have made a link there to a file system that gives no answer.
    #[cfg(unix)]
    #[test]
    fn nothing_in_a_project_that_was_never_trusted_is_looked_at() {
        use dormouse_config::discovery::Surroundings;
        use dormouse_tests::telltale_links::TelltaleLinks;

        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().canonicalize().unwrap().join(name);
        std::fs::create_dir_all(path("project/.git")).unwrap();
        std::fs::create_dir(path("outside")).unwrap();
        let mut links = TelltaleLinks::new(&path("outside")).unwrap();
        let link = links.to_folder("link", Path::new("program"), "").unwrap();
        std::os::unix::fs::symlink(link, path("project/server")).unwrap();
        let folder = path("project/server");
        let (folder, granted) = (folder.display(), path("granted"));
        let own = format!(
            "[servers.a]\ncommand = [\"node\", \"{folder}/program\", \"{folder}\"]\n\
             [servers.b]\ncomponent = \"b.wasm\"\n[[servers.b.grants.fs]]\npath = {granted:?}\n"
        );
        std::fs::write(path("own.toml"), own).unwrap();
        let around = Surroundings::new(path(""), [].into(), Some(&path("project")));
        let trust = crate::store::Trust::new(&path("data"));
        let configured = || {
            let own = dormouse_config::load(&path("own.toml")).unwrap();
            Configured::new(own, Some(&around), &trust)
        };
        assert_eq!(configured().servers.len(), 2);
        assert!(doubts(&configured()).is_empty());
        assert!(links.followed().unwrap().is_empty());
    }
}
