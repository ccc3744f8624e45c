//! `dormouse remove`

use std::process::ExitCode;

use clap::Args;
use dormouse_config::Config;
use dormouse_config::edit::Editor;
use dormouse_config::name::SEPARATOR;

use super::{hosts, output};
use crate::roster::{Places, Roster};

/// Removes a server and everything configured for it; the plugin's file stays.
#[derive(Debug, Args)]
#[command(after_help = "To hide its tools for a while only: `dormouse disable NAME`.")]
pub(super) struct RemoveArgs {
    /// The server's name.
    name: String,
}

/// Returns the places of a configuration that name a server, and not by a pattern.
fn still_named(config: &Config, server: &str) -> Vec<String> {
    let is_named = |names: &[String]| {
        names.iter().any(|name| {
            let of_server = name
                .split_once(SEPARATOR)
                .map_or(name.as_str(), |(of, _)| of);
            of_server == server
        })
    };
    let exposure = &config.exposure;
    let lists = [
        ("deny", Some(&exposure.deny)),
        ("allow", exposure.allow.as_ref()),
        ("pinned", Some(&exposure.pinned)),
    ];
    let of_exposure = lists.into_iter().filter_map(|(key, names)| {
        let is_here = names.is_some_and(|names| is_named(names));
        is_here.then(|| format!("`{key}` of `[exposure]`"))
    });
    let of_profiles = config.profiles.iter().flat_map(|(profile, lists)| {
        let lists = [("servers", &lists.servers), ("tools", &lists.tools)];
        lists.into_iter().filter_map(move |(key, names)| {
            let is_here = names.as_ref().is_some_and(|names| is_named(names));
            is_here.then(|| format!("`{key}` of `[profiles.{profile}]`"))
        })
    });
    of_exposure.chain(of_profiles).collect()
}

impl RemoveArgs {
    pub(super) fn run(self, places: &Places) -> anyhow::Result<ExitCode> {
        let here = dormouse_config::load(&places.config)?;
        let name = &self.name;
        let is_here = here.servers.contains_key(name)
            || here.overlays.contains_key(name)
            || here
                .refused
                .iter()
                .any(|refused| refused.written_name == *name);
        let roster = Roster::open(places.clone())?;
        let origin = |roster: &Roster| {
            let snapshot = roster.snapshot();
            let server = snapshot.servers().get(name)?;
            let origin = server.config().origin.clone();
            (origin.file != places.config).then_some(origin)
        };
        if let (false, Some(origin)) = (is_here, origin(&roster)) {
            anyhow::bail!(
                "server `{name}` is not in your dormouse.toml, but at {origin}\n\
                 hint: `dormouse disable {name}` hides it from agents; to be rid of it, remove it there"
            );
        }
        Editor::new(&places.config)?.remove(&self.name)?;
        output::say(&format!("removed `{}`", self.name));
        roster.reload()?;
        if roster.snapshot().servers().get(name).is_none() {
            for place in still_named(&here, name) {
                output::warn(&format!("{place} still names `{name}`"));
            }
        }
        if let Some(origin) = origin(&roster) {
            output::say(&format!(
                "hint: there is a server `{name}` at {origin}, which is shown now; `dormouse \
                 disable {name}` hides it"
            ));
        }
        hosts::reload(&places.config)?;
        Ok(ExitCode::SUCCESS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_still_names_a_server_is_found_and_patterns_are_not() {
        let text = "[exposure]\ndeny = ['time__now', 't*']\nallow = ['times__x', '*']\n\
                    [profiles.work]\nservers = ['git', 'time']\n\
                    [profiles.home]\nservers = ['*']\ntools = ['time__x']\n";
        let file = std::path::Path::new("/x/dormouse.toml");
        let config = dormouse_config::file::parse_usable(file, text).unwrap();
        assert_eq!(
            still_named(&config, "time"),
            [
                "`deny` of `[exposure]`",
                "`tools` of `[profiles.home]`",
                "`servers` of `[profiles.work]`"
            ]
        );
        assert_eq!(still_named(&config, "t"), [""; 0]);
    }
}
