//! Adding an MCP server that is a program or a URL.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use dormouse_config::discovery::itself;
use dormouse_config::edit::{Editor, launch_table};
use dormouse_launch::redaction::is_secret_name;
use dormouse_launch::{Http, Launch, Secret, Stdio, is_header_byte};
use dormouse_text::visible::{visible_line, visible_path};

use super::{misuse, warn_of_others};
use crate::cli::{hosts, output};
use crate::roster::{Places, Roster};

/// Options of a server that is a program or a URL.
#[derive(Debug, Args)]
pub(super) struct UpstreamArgs {
    /// Give the program a variable: with that value, or as it is in your environment whenever the
    /// program is started. May be repeated.
    #[arg(short, long, value_name = "NAME[=VALUE]")]
    env: Vec<String>,
    /// Start the program in this folder; otherwise in that of the session.
    #[arg(long, value_name = "FOLDER")]
    cwd: Option<PathBuf>,
    /// Send this with each request to the URL. `${NAME}` stands for a variable of your environment.
    /// May be repeated.
    #[arg(short = 'H', long, value_name = "NAME: VALUE")]
    header: Vec<String>,
}

/// Server that is to be added.
pub(super) struct AddedUpstream<'a> {
    pub(super) name: &'a str,
    pub(super) url: Option<String>,
    pub(super) command: Vec<String>,
    pub(super) options: UpstreamArgs,
    /// Whether it may replace a server of that name.
    pub(super) replaces: bool,
}

impl UpstreamArgs {
    /// Returns one of the options that are given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            ("--env", !self.env.is_empty()),
            ("--cwd", self.cwd.is_some()),
            ("--header", !self.header.is_empty()),
        ];
        given
            .into_iter()
            .find_map(|(option, is_given)| is_given.then_some(option))
    }
}

impl AddedUpstream<'_> {
    /// Writes it into the configuration, and tells running hosts.
    pub(super) fn add(self, places: &Places) -> anyhow::Result<()> {
        let (name, replaces) = (self.name, self.replaces);
        let launch = self.launch()?;
        let path = std::env::var("PATH").ok();
        if itself::is(name, &launch) || itself::is_this_program(&launch, path.as_deref(), None) {
            bail!(
                "`{name}` would be Dormouse itself, which starts no other of itself\n\
                 hint: `dormouse install CLIENT` adds it to a client of yours"
            );
        }
        let editor = Editor::new(&places.config)?;
        editor.add(name, launch_table(&launch), replaces)?;
        output::say(&format!(
            "added `{name}` to {}",
            visible_path(&places.config)
        ));
        let roster = Roster::open(places.clone())?;
        let configured = roster.configured()?;
        warn_of_others(&configured, name, places);
        hosts::reload(&places.config)?;
        Ok(())
    }

    fn launch(self) -> anyhow::Result<Launch> {
        let UpstreamArgs { env, cwd, header } = self.options;
        // Clap would repeat a value that is wrong, which may be a secret.
        let env = read("--env", &env, variable)?;
        let header = read("--header", &header, header_of)?;
        if let Some(url) = self.url {
            if !env.is_empty() || cwd.is_some() {
                return Err(misuse(
                    "`--env` and `--cwd` are for programs\nhint: a URL takes `--header`",
                ));
            }
            warn_of_secrets(&header, "header");
            return Ok(Launch::Http(Http {
                url,
                headers: unique(header, "header")?,
                ..Http::default()
            }));
        }
        if !header.is_empty() {
            return Err(misuse(
                "`--header` is for URLs\nhint: a program takes `--env`",
            ));
        }
        warn_of_secrets(&env, "variable");
        let mut words = self.command.into_iter();
        let program = words.next().context("no program is given")?;
        let cwd = cwd.map(folder).transpose()?;
        let (program, args) = (absolute(program)?, words.collect::<Vec<_>>());
        if cwd.is_none() {
            warn_of_relative_files(&args);
        }
        Ok(Launch::Stdio(Stdio {
            command: program,
            args,
            env: unique(env, "variable")?,
            cwd,
            ..Stdio::default()
        }))
    }
}

/// Makes the path of a program absolute: servers are started in other folders. A name is looked for
/// in `PATH`.
fn absolute(program: String) -> anyhow::Result<String> {
    if program.contains("://") {
        return Err(misuse(
            "a URL stands behind `--`, where a program belongs\nhint: `dormouse add NAME URL`",
        ));
    }
    if !program.contains('/') || program.contains("${") || program.starts_with("~/") {
        return Ok(program);
    }
    let path = std::path::absolute(&program)?;
    let path = path.into_os_string().into_string();
    path.map_err(|path| {
        anyhow::anyhow!(
            "`{}` is not UTF-8, which a configuration file has to be",
            visible_path(path.as_ref())
        )
    })
}

/// Returns the path of a folder that is there.
fn folder(path: PathBuf) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    if !path.is_dir() {
        bail!("there is no folder `{}`", visible_path(&path));
    }
    Ok(path)
}

/// Warns of arguments that are files of this folder alone.
fn warn_of_relative_files(args: &[String]) {
    let is_here = |arg: &&String| Path::new(arg).is_relative() && Path::new(arg).is_file();
    if let Some(arg) = args.iter().find(is_here) {
        output::warn(&format!(
            "`{arg}` is a file of this folder, and servers are started in those of sessions\n\
             hint: `--cwd .` has it started here, or give the whole path",
            arg = visible_line(arg)
        ));
    }
}

/// Warns of secrets that are written out.
fn warn_of_secrets(values: &[(String, Secret)], what: &str) {
    for (name, value) in values {
        if is_secret_name(name) && !value.expose().contains("${") {
            output::warn(&format!(
                "the {what} `{name}` is written into the configuration as it is\n\
                 hint: `${{VARIABLE}}` in its value stands for a variable of your environment",
                name = visible_line(name)
            ));
        }
    }
}

/// Reads the values of an option. The error of a wrong one does not repeat it.
fn read(
    option: &str,
    values: &[String],
    one: fn(&str) -> Result<(String, Secret), &'static str>,
) -> anyhow::Result<Vec<(String, Secret)>> {
    let all = values.iter().map(|value| one(value)).enumerate();
    let all = all.map(|(index, value)| {
        let nth = match values.len() {
            1 => String::new(),
            _ => format!(" number {}", index + 1),
        };
        value.map_err(|why| misuse(&format!("`{option}`{nth} is wrong: {why}")))
    });
    all.collect()
}

fn unique(values: Vec<(String, Secret)>, what: &str) -> anyhow::Result<BTreeMap<String, Secret>> {
    let mut all = BTreeMap::new();
    for (name, value) in values {
        if all.insert(name.clone(), value).is_some() {
            bail!("the {what} `{}` is given twice", visible_line(&name));
        }
    }
    Ok(all)
}

fn variable(text: &str) -> Result<(String, Secret), &'static str> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, value.to_owned()),
        None => (text, format!("${{{text}}}")),
    };
    if name.is_empty() {
        return Err("a variable has a name: `NAME` or `NAME=VALUE`");
    }
    Ok((name.to_owned(), Secret::new(value)))
}

fn header_of(text: &str) -> Result<(String, Secret), &'static str> {
    let parts = text.split_once(':');
    let (name, value) = parts.ok_or("a header is `NAME: VALUE`")?;
    if name.trim().is_empty() || !name.trim().bytes().all(is_header_byte) {
        return Err("what stands before its `:` is no name of a header");
    }
    Ok((name.trim().to_owned(), Secret::new(value.trim())))
}
