//! Targets of launches: what is started or reached, apart from how.

use std::path::{Path, PathBuf};

use dormouse_files::links;
use dormouse_launch::{Http, Launch, Stdio};

use crate::Fingerprint;

/// Programs that start a package or an image by its name, wherever they are started.
const RUNNERS: [&str; 7] = ["bunx", "docker", "npx", "pipx", "pnpx", "podman", "uvx"];

/// Programs that do so with such a word.
const RUNNERS_WITH_WORD: [(&str, &str); 5] = [
    ("bun", "x"),
    ("npm", "exec"),
    ("pnpm", "dlx"),
    ("uv", "tool"),
    ("yarn", "dlx"),
];

/// Program with its arguments, or URL, of a launch, whatever variables, headers and login it has.
/// Where the words lead to another program in another folder, as `node index.js` does, the folder is
/// a part of it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct LaunchTarget {
    words: Fingerprint,
    /// Folder that decides which program it is; none where it does not, or where it is whichever
    /// folder the program is started in.
    folder: Option<PathBuf>,
}

impl LaunchTarget {
    /// Returns the target of a launch. `unfollowed` is the folder of a project in which no link is followed.
    pub(crate) fn of(launch: &Launch, unfollowed: Option<&Path>) -> Self {
        let (target, folder) = match launch {
            Launch::Stdio(stdio) => (
                Launch::Stdio(Stdio {
                    command: stdio.command.clone(),
                    args: stdio.args.clone(),
                    ..Stdio::default()
                }),
                stdio.cwd.as_ref().filter(|_| is_decided_by_folder(stdio)),
            ),
            Launch::Http(http) => (
                Launch::Http(Http {
                    url: http.url.clone(),
                    ..Http::default()
                }),
                None,
            ),
        };
        Self {
            words: Fingerprint::of(&target),
            // So that no other spelling of the folder, and no link to it, makes another target.
            folder: folder.map(|folder| links::real_path_outside(folder, unfollowed)),
        }
    }

    /// Returns the targets that this one is a case of: itself, and the same words in whichever folder.
    pub(crate) fn with_anywhere(self) -> impl Iterator<Item = Self> {
        let anywhere = self.folder.is_some().then(|| Self {
            words: self.words.clone(),
            folder: None,
        });
        std::iter::once(self).chain(anywhere)
    }
}

/// Whether the folder that a program is started in decides which one it is: where its name or an
/// argument that is no option is relative, none of the words names a path or a URL that is the same
/// everywhere, and nothing is started by the name of a package.
fn is_decided_by_folder(stdio: &Stdio) -> bool {
    let args = stdio.args.iter().map(String::as_str);
    let is_relative = Path::new(&stdio.command).components().count() > 1
        || args.clone().any(|arg| !arg.starts_with('-'));
    // A shell has the words of a command in one argument.
    let words = std::iter::once(&*stdio.command).chain(args);
    let words: Vec<&str> = words.flat_map(str::split_whitespace).collect();
    let is_fixed = |word: &&str| {
        let mut parts = word.split(['=', ':', ',', '"', '\'']);
        parts.any(|part| part.starts_with(['/', '\\', '~', '$', '%']))
    };
    let has = |name: &str| {
        let stems = words.iter().map(|word| Path::new(word).file_stem());
        let mut stems = stems.flatten();
        stems.any(|stem| stem.eq_ignore_ascii_case(name))
    };
    let has_runner = RUNNERS.into_iter().any(has)
        || RUNNERS_WITH_WORD
            .into_iter()
            .any(|(runner, word)| has(runner) && words.contains(&word));
    is_relative && !words.iter().any(is_fixed) && !has_runner
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(line: &str, folder: Option<&str>) -> LaunchTarget {
        let mut words = line.split('|').map(str::to_owned);
        let launch = Launch::Stdio(Stdio {
            command: words.next().unwrap(),
            args: words.collect(),
            cwd: folder.map(PathBuf::from),
            ..Stdio::default()
        });
        LaunchTarget::of(&launch, None)
    }

    #[test]
    fn the_folder_is_a_part_of_what_is_started_where_it_decides_what_that_is() {
        for (line, is_decided) in [
            ("node|index.js", true),
            ("node|./dist/index.js", true),
            ("node|--inspect|index.js", true),
            ("npm|start", true),
            ("npm|run|mcp", true),
            ("uv|run|server.py", true),
            ("python3|-m|server", true),
            ("sh|-c|node index.js", true),
            ("./server", true),
            ("bin/server|--stdio", true),
            ("git-mcp", false),
            ("git-mcp|--stdio", false),
            ("/opt/server|x", false),
            ("node|/opt/index.js", false),
            ("node|~/index.js", false),
            ("node|C:\\index.js", false),
            ("node|index.js|--root=/srv", false),
            ("sh|-c|cd /opt && node index.js", false),
            ("sh|-c|node $HOME/index.js", false),
            ("deno|run|https://example.com/mcp.ts", false),
            ("npx|gh", false),
            ("/usr/bin/npx|gh", false),
            ("npx.cmd|gh", false),
            ("cmd|/c|npx|gh", false),
            ("sh|-c|npx gh", false),
            ("uvx|gh", false),
            ("bunx|gh", false),
            ("bun|x|gh", false),
            ("pipx|run|gh", false),
            ("docker|run|-i|gh", false),
            ("npm|exec|gh", false),
            ("pnpm|dlx|gh", false),
            ("yarn|dlx|gh", false),
            ("uv|tool|run|gh", false),
        ] {
            let here = target(line, Some("/a"));
            assert_eq!(here != target(line, Some("/b")), is_decided, "{line}");
            // What is started in whichever folder is started in each.
            let anywhere = target(line, None);
            assert!(here.with_anywhere().any(|case| case == anywhere), "{line}");
            assert_eq!(anywhere.clone().with_anywhere().count(), 1, "{line}");
        }
    }

    #[test]
    fn another_spelling_of_the_folder_makes_no_other_target() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let spelled = format!("{path}/./../{}", path.rsplit('/').next().unwrap());
        let line = "node|index.js";
        assert_eq!(target(line, Some(path)), target(line, Some(&spelled)));
    }
}
