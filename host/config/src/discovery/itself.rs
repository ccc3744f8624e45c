//! Recognising Dormouse itself among the servers: it must not be its own upstream.

use std::path::{Path, PathBuf};

use dormouse_files::{links, own_program};
use dormouse_launch::Launch;

use crate::{Origin, Scope};

const NAME: &str = "dormouse";

/// Programs that run the program named among their arguments.
const RUNNERS: [&str; 16] = [
    "npx", "npm", "pnpm", "pnpx", "yarn", "bun", "bunx", "uv", "uvx", "pipx", "cargo", "cmd",
    "env", "sh", "bash", "zsh",
];

/// Words that stand between such a program and what it runs.
const BETWEEN: [&str; 9] = [
    "/c", "/C", "dlx", "exec", "global", "npx", "run", "tool", "x",
];

/// Whether a server is Dormouse: `dormouse serve`, directly or through a program
/// that runs others, or a host on this machine under the name that `dormouse install` gives it.
#[must_use]
pub fn is(name: &str, launch: &Launch) -> bool {
    let stdio = match launch {
        Launch::Stdio(stdio) => stdio,
        Launch::Http(http) => return name == NAME && http.is_here(),
    };
    // A shell gets its whole line as one argument.
    let words: Vec<&str> = stdio
        .args
        .iter()
        .flat_map(|arg| arg.split_whitespace())
        .collect();
    if program(&stdio.command) == NAME {
        return words.contains(&"serve");
    }
    if !RUNNERS.contains(&program(&stdio.command)) {
        return false;
    }
    // What is run is the first word that is no option, no variable and no command
    // of the runner's; all that follows is for it.
    let mut words = words
        .iter()
        .skip_while(|word| word.starts_with('-') || word.contains('=') || BETWEEN.contains(word));
    words.next().is_some_and(|word| program(word) == NAME) && words.any(|word| *word == "serve")
}

/// Whether a server is this very program, by its file: `install` writes down the path of whatever
/// is running, which need not be called `dormouse`. The file that is named is looked up in `path`.
/// `unfollowed` is the folder of a project in which no link is followed.
#[must_use]
pub fn is_this_program(launch: &Launch, path: Option<&str>, unfollowed: Option<&Path>) -> bool {
    let Launch::Stdio(stdio) = launch else {
        return false;
    };
    if !stdio.args.iter().any(|arg| arg == "serve") {
        return false;
    }
    let own = own_program::path().and_then(|own| own.canonicalize());
    let is_own = |file: &Path| {
        let own = own.as_ref().ok();
        own.is_some_and(|own| links::real_path_outside(file, unfollowed) == *own)
    };
    let command = Path::new(&stdio.command);
    if command.components().count() > 1 {
        return is_own(command);
    }
    let folders = path.map(std::env::split_paths);
    let is_followed = |file: &PathBuf| unfollowed.is_none_or(|it| !links::leads_into(file, it));
    let files = folders
        .into_iter()
        .flatten()
        .map(|folder| folder.join(command));
    files
        .filter(is_followed)
        .find(|file| file.is_file())
        .is_some_and(|file| is_own(&file))
}

/// Returns the message on an entry that is Dormouse: also that its client is shown twice what it
/// loads itself, where the entry does not say which client it is.
pub(super) fn told(launch: &Launch, origin: &Origin) -> String {
    const ITSELF: &str = "it is Dormouse itself";
    let Some(client) = origin.client.filter(|_| origin.scope == Scope::User) else {
        return ITSELF.to_owned();
    };
    match launch {
        Launch::Stdio(stdio) => {
            let mut words = stdio.args.iter().flat_map(|arg| arg.split_whitespace());
            if words.any(|word| word == "--client" || word.starts_with("--client=")) {
                return ITSELF.to_owned();
            }
            format!(
                "{ITSELF}, without `--client {client}`: other servers in this file are shown to \
                 {client} twice\nhint: `dormouse install {client}` mends it"
            )
        }
        Launch::Http(_) => format!(
            "{ITSELF}, over HTTP: other servers in this file are shown to {client} twice\n\
             hint: `dormouse import {client} --replace` takes them out of it"
        ),
    }
}

/// Returns the name of a program: without its folders, its extension on Windows, and the version
/// that a package runner is given.
fn program(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.split('@').next().unwrap_or(name);
    let extensions = [".exe", ".cmd"];
    let cut = extensions.iter().find_map(|end| name.strip_suffix(end));
    cut.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use dormouse_launch::{Http, Stdio};

    use super::*;
    use crate::Client;

    #[test]
    fn an_entry_without_its_client_is_told() {
        let origin = |client| Origin {
            client,
            ..Origin::default()
        };
        let stdio = |args: &[&str]| {
            Launch::Stdio(Stdio {
                command: "dormouse".to_owned(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                ..Stdio::default()
            })
        };
        let zed = origin(Some(Client::Zed));
        for (launch, origin, hint) in [
            (stdio(&["serve"]), &zed, Some("dormouse install zed")),
            (stdio(&["serve", "--client", "zed"]), &zed, None),
            (stdio(&["serve", "--client=zed"]), &zed, None),
            (stdio(&["serve"]), &origin(None), None),
            (
                Launch::Http(Http::default()),
                &zed,
                Some("dormouse import zed --replace"),
            ),
        ] {
            let told = told(&launch, origin);
            assert_eq!(told.contains("hint"), hint.is_some(), "{told}");
            assert!(told.contains(hint.unwrap_or_default()), "{told}");
        }
    }

    #[test]
    fn this_program_is_recognised_by_its_file() {
        let own = std::env::current_exe().unwrap();
        let folder = own.parent().unwrap().to_str().unwrap();
        let name = own.file_name().unwrap().to_str().unwrap();
        let launch = |command: &str, args: &[&str]| {
            Launch::Stdio(Stdio {
                command: command.to_owned(),
                args: args.iter().map(|arg| (*arg).to_owned()).collect(),
                ..Stdio::default()
            })
        };
        let serve = ["serve", "--client", "cursor"];
        for (command, args, path, itself) in [
            (own.to_str().unwrap(), &serve[..], None, true),
            (name, &serve, Some(folder), true),
            (name, &serve, Some("/nowhere"), false),
            (name, &serve, None, false),
            (own.to_str().unwrap(), &["list"], None, false),
            ("sh", &serve, Some("/bin"), false),
        ] {
            let found = is_this_program(&launch(command, args), path, None);
            assert_eq!(found, itself, "{command} {args:?} {path:?}");
        }
    }

    #[test]
    fn dormouse_is_recognised() {
        for (line, itself) in [
            ("dormouse serve", true),
            ("/usr/bin/dormouse serve --client cursor", true),
            (r"C:\bin\dormouse.exe serve", true),
            ("npx -y dormouse@0.2 serve", true),
            ("npx -y @scope/dormouse serve", true),
            ("cmd /c npx dormouse serve", true),
            ("dormouse list", false),
            ("npx dormouse list", false),
            ("serve dormouse", false),
            ("npx serve dormouse", false),
            ("npx -y server-filesystem /home/dormouse serve", false),
            ("python dormouse serve", false),
            ("", false),
        ] {
            let mut words = line.split(' ').map(str::to_owned);
            let launch = Launch::Stdio(Stdio {
                command: words.next().unwrap(),
                args: words.collect(),
                ..Stdio::default()
            });
            assert_eq!(is("x", &launch), itself, "{line}");
        }
        let shell = Launch::Stdio(Stdio {
            command: "sh".into(),
            args: vec!["-c".into(), "exec dormouse serve".into()],
            ..Stdio::default()
        });
        assert!(is("x", &shell));
        for (name, url, itself) in [
            ("dormouse", "http://127.0.0.1:8080/mcp", true),
            ("dormouse", "http://[::1]:8080/mcp", true),
            ("dormouse", "http://localhost:8080/mcp", true),
            ("other", "http://127.0.0.1:8080/mcp", false),
            ("dormouse", "https://example.com/mcp", false),
            ("dormouse", "", false),
        ] {
            let launch = Launch::Http(Http {
                url: url.into(),
                ..Http::default()
            });
            assert_eq!(is(name, &launch), itself, "{name} {url}");
        }
    }
}
