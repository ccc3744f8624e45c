//! Grants of plugins, as their user says them on the command line.

use clap::Args;
use dormouse_files::paths;
use dormouse_policy::{FsGrant, FsMode, Grants, HttpGrant, HttpSecret, real_path};
use dormouse_text::shell_word::shell_word;
use dormouse_text::visible::{visible_line, visible_path};
use dormouse_wit::GrantRequest;

use super::consent::{answer, consent};
use super::output;
use crate::roster::{Places, secrets_in_words};
use crate::store::{DecidedBy, Decision, Decisions, RecordedFolders};

/// Grants of one plugin.
#[derive(Debug, Args)]
pub(super) struct GrantArgs {
    /// Grant a folder: `ro` to read (the default), `rw` to write, too. May be repeated.
    #[arg(long, value_name = "PATH[:ro|rw]", value_parser = folder)]
    grant_fs: Vec<FsGrant>,
    /// Grant sight of an environment variable. May be repeated.
    #[arg(long, value_name = "NAME", value_parser = variable)]
    grant_env: Vec<String>,
    /// Grant HTTP requests: `https://api.example.com`, in front of it the methods (`GET,POST`), any
    /// where none are named, and behind it a port and a path. `*.example.com` is for all hosts below
    /// that one, `*` for all; ` private` at the end for those in a private network, too. May be
    /// repeated.
    #[arg(long, value_name = "[METHODS ]URL[ private]")]
    grant_http: Vec<HttpGrant>,
}

impl GrantArgs {
    /// Checks whether anything is to be granted.
    pub(super) fn is_any(&self) -> bool {
        !(self.grant_fs.is_empty() && self.grant_env.is_empty() && self.grant_http.is_empty())
    }

    /// Returns the grants.
    pub(super) fn grants(&self) -> Grants {
        Grants {
            fs: self.grant_fs.clone(),
            env: self.grant_env.clone(),
            http: self.grant_http.clone(),
        }
    }
}

/// Asks the user whether what they are shown is to be granted. Returns whether that is agreed, and
/// keeps who has agreed to it.
pub(super) fn agreed(
    places: &Places,
    server: &str,
    question: &str,
    shown: &str,
    is_agreed_already: bool,
) -> anyhow::Result<bool> {
    let by = consent(question, is_agreed_already)?;
    noted(places, server, shown, by)
}

/// Asks as [`agreed`] does, where more than this is at stake: who says no is not told that nothing is
/// changed.
pub(super) fn agreed_besides(
    places: &Places,
    server: &str,
    question: &str,
    shown: &str,
    is_agreed_already: bool,
) -> anyhow::Result<bool> {
    let by = answer(question, is_agreed_already)?;
    noted(places, server, shown, by)
}

/// Keeps who has agreed to what they were shown. Returns whether anybody has.
fn noted(
    places: &Places,
    server: &str,
    shown: &str,
    by: Option<DecidedBy>,
) -> anyhow::Result<bool> {
    let Some(by) = by else {
        return Ok(false);
    };
    let shown = blake3::hash(shown.as_bytes()).to_hex();
    Decisions::new(&places.data).note(&Decision {
        what: "grant",
        subject: server,
        shown: &shown,
        by,
    })?;
    Ok(true)
}

/// Shows the user what is to be granted to a plugin, and asks as [`agreed`] does.
pub(super) fn shown_and_agreed(
    places: &Places,
    server: &str,
    shown: &str,
    is_agreed_already: bool,
) -> anyhow::Result<bool> {
    output::print(shown)?;
    let question = format!("Grant this to `{server}`?");
    agreed(places, server, &question, shown, is_agreed_already)
}

/// Records where the folders are that have been granted.
pub(super) fn record(places: &Places, grants: &Grants) -> anyhow::Result<()> {
    let real = grants.fs.iter();
    let real = real.map(|grant| (grant.path.clone(), grant.path.clone()));
    RecordedFolders::new(&places.data).record_anew(None, &real.collect())?;
    Ok(())
}

/// Returns what a plugin that has these secrets may do with each of its grants, folders first.
pub(super) fn words(grants: &Grants, secrets: &[HttpSecret]) -> Vec<String> {
    let mut lines = Vec::new();
    for grant in &grants.fs {
        let path = grant.path.to_string_lossy();
        let mode = match grant.mode {
            FsMode::ReadOnly => "read",
            FsMode::ReadWrite => "read and write",
        };
        let real = match grant.path.canonicalize() {
            Ok(real) if real != grant.path => format!(" (which is {})", visible_path(&real)),
            _ => String::new(),
        };
        lines.push(format!("{mode} the folder {path}{real}"));
    }
    for name in &grants.env {
        lines.push(format!("see the environment variable {name}"));
    }
    for grant in &grants.http {
        let along = secrets_in_words(grant, secrets);
        lines.push(format!("send {}{along}", grant.in_words()));
    }
    lines
}

/// Returns the options that stand for each grant, in the order of [`words`], as a shell reads them.
pub(super) fn options(grants: &Grants) -> Vec<String> {
    let option = |name: &str, value: &str| match value.starts_with('-') {
        true => format!("--grant-{name}={}", shell_word(value)),
        false => format!("--grant-{name} {}", shell_word(value)),
    };
    let folders = grants.fs.iter().map(|grant| {
        let mode = match grant.mode {
            FsMode::ReadOnly => "",
            FsMode::ReadWrite => ":rw",
        };
        option("fs", &format!("{}{mode}", grant.path.to_string_lossy()))
    });
    let variables = grants.env.iter().map(|name| option("env", name));
    let http = grants.http.iter();
    let http = http.map(|grant| option("http", &grant.to_string()));
    folders.chain(variables).chain(http).collect()
}

/// Returns the text on the grants that the user is asked about, a line each: a plugin has written
/// some of it.
pub(super) fn shown(
    grants: &Grants,
    secrets: &[HttpSecret],
    upstream: Option<&GrantRequest>,
) -> String {
    let mut lines = words(grants, secrets);
    if let Some(GrantRequest::Upstream {
        command,
        url,
        secrets,
    }) = upstream
    {
        let words: Vec<_> = command.iter().map(shell_word).collect();
        lines.extend((!words.is_empty()).then(|| format!("run {}", words.join(" "))));
        lines.extend(url.iter().map(|url| format!("connect to {url}")));
        for name in secrets {
            lines.push(format!("be given your environment's {name}"));
        }
    }
    listed(&lines)
}

/// Returns lines of a list, of which strangers may have written some.
pub(super) fn listed(lines: &[String]) -> String {
    let lines = lines.iter();
    let lines = lines.map(|line| format!("  {}\n", visible_line(line)));
    lines.collect()
}

/// Returns the path and the mode of `PATH[:ro|rw]`.
pub(super) fn path_and_mode(text: &str) -> (&str, Option<FsMode>) {
    match text.rsplit_once(':') {
        Some((path, "ro")) => (path, Some(FsMode::ReadOnly)),
        Some((path, "rw")) => (path, Some(FsMode::ReadWrite)),
        _ => (text, None),
    }
}

fn folder(text: &str) -> Result<FsGrant, String> {
    let (path, mode) = path_and_mode(text);
    let here = std::env::current_dir().map_err(|error| format!("this folder is gone: {error}"))?;
    // A shell leaves a `~` that is quoted.
    let path = paths::expand(path, &here)?;
    if !path.is_dir() {
        return Err(format!("there is no folder `{}`", visible_path(&path)));
    }
    // What is recorded and shown is what the folder is, and not a way to it that may
    // lead to another one later.
    let path = real_path(&path);
    Ok(FsGrant {
        real: Some(path.clone()),
        path,
        mode: mode.unwrap_or(FsMode::ReadOnly),
    })
}

/// Reads the name of a variable.
pub(super) fn variable(text: &str) -> Result<String, String> {
    if text.is_empty() || text.contains(['=', '\0']) {
        return Err(
            "this is no name of an environment variable\nhint: write only the name, like `TZ`"
                .to_owned(),
        );
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_granted_to_read_unless_more_is_said() {
        let folder_ = tempfile::tempdir().unwrap();
        let path = folder_.path();
        let text = path.to_str().unwrap();
        for (suffix, mode) in [
            ("", FsMode::ReadOnly),
            (":ro", FsMode::ReadOnly),
            (":rw", FsMode::ReadWrite),
        ] {
            let grant = folder(&format!("{text}{suffix}")).unwrap();
            assert_eq!((grant.path.as_path(), grant.mode), (path, mode));
        }
        assert_eq!(
            folder(&format!("{text}:wr")).unwrap_err(),
            format!("there is no folder `{text}:wr`")
        );
        assert!(folder("").is_err());
    }
}
