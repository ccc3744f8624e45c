//! Program with which clients start Dormouse, and the variables that they pass to it.

use std::path::Path;

use anyhow::Context as _;
use dormouse_config::discovery::{Discovery, Surroundings};
use dormouse_config::install::Program;
use dormouse_config::{Config, Scope, ServerConfig, install as files};
use dormouse_text::visible::visible_path;

use crate::roster::Places;

/// Returns the program and arguments with which clients start this very program: by its name where
/// that leads to it, and else by its path. `named` says whether the user has named the
/// configuration file, which the clients then have to name, too. `variables` are the names of the
/// environment variables that it needs.
pub(in crate::cli) fn program(
    places: &Places,
    named: bool,
    variables: Vec<String>,
) -> anyhow::Result<Program> {
    let own =
        dormouse_files::own_program::path().context("this program cannot find its own file")?;
    let name = Path::new("dormouse").with_extension(std::env::consts::EXE_EXTENSION);
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path)
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file());
    let by_name =
        first.is_some_and(|file| real(&file).is_some_and(|file| real(&own) == Some(file)));
    let command = match by_name {
        true => "dormouse".to_owned(),
        false => own
            .to_str()
            .with_context(|| {
                format!(
                    "`{}` is not UTF-8, which a client's file has to be",
                    visible_path(&own)
                )
            })?
            .to_owned(),
    };
    Ok(Program {
        command,
        options: options(places, named)?,
        variables,
    })
}

/// Returns the arguments before `serve` with which clients start this very program: none, or those that
/// name the configuration file where its user has.
pub(super) fn options(places: &Places, named: bool) -> anyhow::Result<Vec<String>> {
    Ok(match (named, places.config.to_str()) {
        (false, _) => Vec::new(),
        (true, Some(config)) => vec!["--config".to_owned(), config.to_owned()],
        (true, None) => anyhow::bail!(
            "`{}` is not UTF-8, which a client's file has to be",
            visible_path(&places.config)
        ),
    })
}

/// Returns the environment variables that the user's servers need, wherever they are written. Where a
/// file of theirs is left out, those that clients pass already are needed, too.
pub(in crate::cli) fn variables(
    config: &Config,
    discovery: &Discovery,
    around: &Surroundings,
) -> Vec<String> {
    let found = discovery.found.iter();
    let found = found.filter(|found| found.server.origin.scope == Scope::User);
    let own = config.servers.values();
    let own = own.filter_map(|server| server.bridge().map(|bridge| &bridge.written));
    let launches = own.chain(found.map(|found| &found.own.launch));
    let plugins = config.servers.values();
    let granted = plugins.flat_map(ServerConfig::given_variables);
    let mut names = files::needed_variables(launches, granted, &around.env);
    if !discovery.left_out.is_empty() {
        names.extend(files::passed_variables(around));
    }
    names.into_iter().collect()
}

/// Returns the texts on variables that servers need and that clients do not pass to Dormouse.
pub(in crate::cli) fn not_passed<'s>(
    servers: impl IntoIterator<Item = &'s ServerConfig>,
    places: &Places,
) -> Vec<String> {
    let Some(around) = &places.around else {
        return Vec::new();
    };
    let missing = files::not_passed(servers, around).into_iter();
    let told = missing.map(|missing| {
        let names = missing.variables.iter();
        let names = names.map(|name| format!("`{name}`")).collect::<Vec<_>>();
        format!(
            "{client} starts Dormouse without {}, which servers of yours need: {} names the \
             variables that it passes\nhint: `dormouse install {client}` adds these",
            names.join(", "),
            visible_path(&missing.file),
            client = missing.client,
        )
    });
    told.collect()
}
