//! Random configurations of a user's and of a trusted project's: what the user's own files deny, no
//! entry of the project's brings back.

mod files;
mod overrides;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config as RunnerConfig, RngAlgorithm, TestRng, TestRunner};

use self::files::{CLIENTS, Files, Switch, TOOLS, Table, files};
use super::*;
use crate::naming::name::likeness;

/// Number of configurations, each of which is read a few times: the same ones each time.
const CASES: u32 = 800;

/// A home with a project in it, and what is configured there.
struct Home {
    folder: tempfile::TempDir,
    own: String,
}

impl Home {
    fn of(files: &Files) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Self {
            folder,
            own: files.own_text(),
        };
        std::fs::create_dir_all(home.project().join(".git")).unwrap();
        home.write(home.folder.path(), files.of_users(&home.project()));
        home
    }

    fn write(&self, folder: &Path, files: Vec<(&str, String)>) {
        for (file, text) in files {
            let file = folder.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn configured(&self, reviewed: bool) -> Configured {
        let (home, project) = (self.folder.path().to_owned(), self.project());
        let mut around = Surroundings::new(home, [].into(), Some(&project));
        around.system = self.folder.path().join("system");
        let own = file::parse_usable(Path::new("/d/dormouse.toml"), &self.own).unwrap();
        let trust = TestTrust::new(&self.folder.path().join("data"));
        match reviewed {
            true => Configured::for_review(own, Some(&around), &trust, &project),
            false => Configured::new(own, Some(&around), &trust),
        }
    }

    fn trust(&self) -> Configured {
        let project = self.project();
        let review = self.configured(true).review(&project).unwrap();
        let trust = TestTrust::new(&self.folder.path().join("data"));
        trust.grant(&project, &review.content).unwrap();
        self.configured(false)
    }
}

/// Returns the program of a server.
fn command(server: &ServerConfig) -> Option<&str> {
    match &server.bridge()?.launch {
        Launch::Stdio(stdio) => Some(&stdio.command),
        Launch::Http(_) => None,
    }
}

/// All clients that may ask, and one that does not say who it is.
fn askers() -> impl Iterator<Item = Option<Client>> {
    CLIENTS
        .map(|(client, _)| Some(client))
        .into_iter()
        .chain([None])
}

/// Returns what a client may call of a server.
fn callable(server: &ServerConfig, client: Option<Client>) -> BTreeSet<&'static str> {
    let server = server.for_client(client);
    let filter = server.bridge().filter(|_| server.enabled);
    let shown = |tool: &&str| filter.is_some_and(|bridge| bridge.filter.shows(tool));
    TOOLS.into_iter().filter(shown).collect()
}

/// Returns what a client may call of a program, by whatever names.
fn callable_of(all: &Configured, program: &str, client: Option<Client>) -> BTreeSet<&'static str> {
    let servers = all.servers.values();
    let servers = servers.filter(|server| command(server) == Some(program));
    servers
        .flat_map(|server| callable(server, client))
        .collect()
}

/// Facts that are known of a server.
type State<'a> = (&'a str, Option<&'a str>, Vec<BTreeSet<&'static str>>);

fn states<'a>(all: &'a Configured, of_users: bool) -> Vec<State<'a>> {
    let servers = all.servers.values();
    let servers = servers.filter(|server| !(of_users && server.is_of_project()));
    let states = servers.map(|server| {
        let callable = askers().map(|client| callable(server, client));
        (server.name.as_str(), command(server), callable.collect())
    });
    states.collect()
}

/// Checks that all holds of a configuration. A project's files change nothing at all before they are
/// trusted.
fn holds(files: &Files) -> Result<(), TestCaseError> {
    let home = Home::of(files);
    let before = home.configured(false);
    home.write(&home.project(), files.of_project(&home.project()));
    let untrusted = home.configured(false);
    prop_assert_eq!(
        states(&before, false),
        states(&untrusted, false),
        "untrusted"
    );
    let after = home.trust();
    stay_what_they_are(&before, &after, files.overrides().is_empty())?;
    stay_denied_by_launch(files, &before, &after)?;
    stay_denied_by_name(files, &after)?;
    are_the_users_by_name(files, &after)
}

/// The user's own servers are those that there are without the project, and allow no more; nothing of
/// them is other where the project has no entry of one's client and name.
fn stay_what_they_are(
    before: &Configured,
    after: &Configured,
    is_without_overrides: bool,
) -> Result<(), TestCaseError> {
    let users = states(after, true);
    if is_without_overrides {
        prop_assert_eq!(&states(before, true), &users, "changed");
    }
    for (name, program, callable) in &users {
        let server = before.servers.get(*name);
        prop_assert!(server.is_some(), "{} is new", name);
        prop_assert_eq!(server.and_then(command), *program, "{}", name);
        for (client, callable) in askers().zip(callable) {
            let known = self::callable(server.unwrap(), client);
            prop_assert!(
                callable.is_subset(&known),
                "{} {:?} {:?}",
                name,
                client,
                callable
            );
        }
    }
    Ok(())
}

/// Of a program that the user's own files name, nobody may call more than without the project, but
/// the client of which the project's entry says that the user's own entry of that name is on.
fn stay_denied_by_launch(
    files: &Files,
    before: &Configured,
    after: &Configured,
) -> Result<(), TestCaseError> {
    let overrides = files.overrides();
    for program in files.users_programs() {
        let is_said_on = |client: Option<Client>| {
            let mut said = overrides.iter();
            said.any(|(of, _, users, project)| {
                !users.is_unusable()
                    && project.program == Some(program)
                    && project.says_on_in(*of)
                    && client.is_none_or(|client| client == *of)
            })
        };
        for client in askers().filter(|client| !is_said_on(*client)) {
            let known = callable_of(before, program, client);
            let now = callable_of(after, program, client);
            prop_assert!(
                now.is_subset(&known),
                "{} {:?}: {:?} {:?}",
                program,
                client,
                known,
                now
            );
        }
    }
    Ok(())
}

/// A project's entry lifts nothing that the user's denies which the same client has under that name,
/// a server has no name of the user's otherwise, and is off where its client's rules cannot be read.
fn stay_denied_by_name(files: &Files, after: &Configured) -> Result<(), TestCaseError> {
    let overrides = files.overrides();
    for server in after
        .servers
        .values()
        .filter(|server| server.is_of_project())
    {
        let of_it = overrides.iter().filter(|(client, name, _, project)| {
            server.name == *name
                && command(server) == project.program
                && server.from.contains(client)
        });
        for (client, _, users, project) in of_it {
            let is_unusable = users.is_unusable();
            let is_off = users.switch == Switch::Off || is_unusable;
            if is_off && (!project.says_on_in(*client) || is_unusable) {
                prop_assert!(!server.enabled, "{} is off in {}", server.name, client);
            }
            if users.denies_in(*client) {
                for asker in askers() {
                    let callable = callable(server, asker);
                    prop_assert!(
                        !callable.contains(TOOLS[0]),
                        "{} denied in {}",
                        server.name,
                        client
                    );
                }
            }
        }
        // Nobody knows what the rules of these deny.
        let is_known = |client: &Client| {
            *client == Client::Windsurf || files.users.get(client).is_none_or(Option::is_some)
        };
        let is_known = server.origin.client.is_none() || server.from.iter().any(is_known);
        prop_assert!(is_known || !server.enabled, "{} is denied", server.name);
        // The user's names are theirs, but for one client's own precedence.
        let alike = likeness(&server.name);
        let users = files.users.values().flatten().flat_map(BTreeMap::keys);
        let mut users = users.filter(|name| likeness(name) == alike);
        let is_override = overrides.iter().any(|(_, name, ..)| server.name == *name);
        prop_assert!(is_override || users.next().is_none(), "{}", server.name);
    }
    Ok(())
}

/// Rule: the user's own tables have the last word on a server, by its name.
fn are_the_users_by_name(files: &Files, after: &Configured) -> Result<(), TestCaseError> {
    for (name, table) in &files.users_own {
        let server = after.servers.get(*name);
        match table {
            Table::Overlay(switch, denies) => {
                if let Some(server) = server {
                    prop_assert!(
                        *switch != Switch::Off || !server.enabled,
                        "{} overlay",
                        name
                    );
                    for client in askers().filter(|_| *denies) {
                        prop_assert!(!callable(server, client).contains(TOOLS[0]), "{}", name);
                    }
                }
            }
            Table::Whole(_) | Table::Wrong(_) => {
                prop_assert!(
                    server.is_some_and(|server| !server.is_of_project()),
                    "{}",
                    name
                );
            }
        }
    }
    Ok(())
}

#[test]
fn no_entry_of_a_project_brings_back_what_its_user_denies() {
    let config = RunnerConfig {
        failure_persistence: None,
        ..RunnerConfig::with_cases(CASES)
    };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[0; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    if let Err(error) = runner.run(&files(), |files| holds(&files)) {
        panic!("{error}");
    }
}
