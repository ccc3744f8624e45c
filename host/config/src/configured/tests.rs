//! Servers from everywhere, as one.

mod denials;
mod denied_targets;
mod folders;
mod random_configurations;
#[cfg(unix)]
mod untrusted_links;
mod unusable_entries;
mod users_hints;
mod users_launches;
mod users_names;
mod users_tables;

use std::time::Duration;

use dormouse_launch::{HttpTransport, Launch};
use dormouse_policy::{Limits, SecretSource};
use dormouse_wit::Instance;

use super::*;
use crate::project::trusted::TestTrust;
use crate::{ChangePolicy, OnChange, file};

/// Servers with a text in `dormouse.toml`, where Cursor has a server `git` and another one.
fn with(own: &str) -> Configured {
    let home = tempfile::tempdir().unwrap();
    let cursor = home.path().join(".cursor");
    std::fs::create_dir(&cursor).unwrap();
    let text = r#"{"mcpServers": {
        "git": {"command": "npx", "args": ["git"]},
        "web": {"url": "https://example.com/mcp"}
    }}"#;
    std::fs::write(cursor.join("mcp.json"), text).unwrap();
    let around = Surroundings::new(home.path().to_owned(), [].into(), None);
    let config = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
    let trust = TestTrust::new(&home.path().join("data"));
    Configured::new(config, Some(&around), &trust)
}

fn names(all: &Configured) -> Vec<&str> {
    all.servers.keys().map(String::as_str).collect()
}

#[test]
fn one_that_is_reached_in_the_same_way_is_the_same() {
    for own in [
        "[servers.mine]\ncommand = [\"npx\", \"git\"]",
        "[servers.mine]\ncomponent = \"git.wasm\"\ncommand = [\"npx\", \"git\"]",
        "[servers.mine]\ncommand = [\"npx\", \"git\"]\nenabled = false",
        "[servers.git]\ncomponent = \"git.wasm\"\ncommand = [\"npx\", \"git\"]",
    ] {
        let all = with(own);
        let name = if own.contains("mine") { "mine" } else { "git" };
        assert_eq!(names(&all), [name, "web"], "{own}");
        let server = &all.servers[name];
        assert_eq!(server.from, [Client::Cursor]);
        assert_eq!(server.component().is_some(), own.contains("component"));
        // Somebody who looks for `git` is told where it is.
        let told = all
            .notes
            .iter()
            .any(|(of, note)| of == "mine" && note.contains("`git`"));
        assert_eq!(told, name == "mine", "{own}");
    }
}

#[test]
fn many_servers_take_linear_time() {
    let home = tempfile::tempdir().unwrap();
    let cursor = home.path().join(".cursor");
    std::fs::create_dir(&cursor).unwrap();
    let servers = (0..1000).map(|n| format!(r#""c{n}": {{"command": "c{n}"}}"#));
    let servers: Vec<_> = servers.collect();
    let text = format!(r#"{{"mcpServers": {{{}}}}}"#, servers.join(","));
    std::fs::write(cursor.join("mcp.json"), text).unwrap();
    let around = Surroundings::new(home.path().to_owned(), [].into(), None);
    let trust = TestTrust::new(&home.path().join("data"));
    let own = |size: usize| {
        let servers = (0..size).map(|n| format!("[servers.s{n}]\ncommand = \"x{n}\"\n"));
        let text: String = servers.collect();
        file::parse(Path::new("/d/dormouse.toml"), &text).0
    };
    dormouse_tests::growth::is_linear("servers", 300, own, |own| {
        let all = Configured::new(own.clone(), Some(&around), &trust);
        assert_eq!(all.servers.len(), own.servers.len() + 1000);
    });
}

#[test]
fn the_most_cautious_of_servers_of_one_launch_counts_for_all() {
    let two = |first: &str, second: &str| {
        let all = with(&format!(
            "[servers.one]\ncommand = ['x']\non_change = '{first}'\n\
             [servers.two]\ncommand = ['x']\non_change = '{second}'\n"
        ));
        let of = |name: &str| all.servers[name].bridge().unwrap().changes.on_change;
        let told = all
            .notes
            .iter()
            .any(|(_, note)| note.contains("less cautious"));
        (of("one"), of("two"), told)
    };
    use OnChange::{Accept, Ask, Block, Freeze};
    assert_eq!(two("accept", "accept"), (Accept, Accept, false));
    assert_eq!(two("accept", "freeze"), (Freeze, Freeze, true));
    assert_eq!(two("freeze", "ask"), (Ask, Ask, true));
    assert_eq!(two("accept", "ask"), (Ask, Ask, true));
    assert_eq!(two("block", "accept"), (Block, Block, true));
    assert_eq!(two("block", "ask"), (Block, Block, true));
}

#[test]
fn one_that_is_reached_in_another_way_is_another() {
    let all = with(
        "[servers.mine]\ncomponent = \"git.wasm\"\ncommand = [\"npx\", \"git\", \"-v\"]\n\
         [servers.web]\ncomponent = \"web.wasm\"",
    );
    assert_eq!(names(&all), ["git", "mine", "web"]);
    // A plugin has no upstream, so that only its name can be another's.
    assert!(matches!(all.servers["web"].adapter, Adapter::Plugin(_)));
    assert_eq!(all.overridden.len(), 1);
}

/// The program, the arguments and the variables of a server.
fn program(all: &Configured, name: &str) -> (String, Vec<String>, Vec<(String, String)>) {
    let server = &all.servers[name];
    let Some(Launch::Stdio(stdio)) = server.bridge().map(|bridge| &bridge.launch) else {
        panic!("{server:?}");
    };
    let env = stdio.env.iter();
    let env = env.map(|(name, value)| (name.clone(), value.expose().to_owned()));
    (stdio.command.clone(), stdio.args.clone(), env.collect())
}

/// Servers in a project with these files, which is trusted or not, where the user has servers of
/// Claude Code's.
fn in_project(files: &[(&str, &str)], trusted: bool) -> Configured {
    let home = tempfile::tempdir().unwrap();
    let text = r#"{"mcpServers": {
        "gh": {"command": "npx", "args": ["gh"]},
        "web": {"url": "https://example.com/mcp", "type": "http"},
        "guard": {"command": "guard"}
    }}"#;
    std::fs::write(home.path().join(".claude.json"), text).unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    for (file, text) in files {
        let file = project.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let text = text.replace("PROJECT", project.to_str().unwrap());
        std::fs::write(file, text).unwrap();
    }
    let around = Surroundings::new(home.path().to_owned(), [].into(), Some(&project));
    let trust = TestTrust::new(&home.path().join("data"));
    if trusted {
        let all = Configured::for_review(Config::default(), Some(&around), &trust, &project);
        let review = all.review(&project).unwrap();
        trust.grant(&project, &review.content).unwrap();
    }
    Configured::new(Config::default(), Some(&around), &trust)
}

/// Writes files below a home, and returns the servers where the project in it is trusted.
fn trusted_in_home(home: &Path, files: &[(&str, &str)], own: &str) -> Configured {
    let project = home.join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    for (file, text) in files {
        let file = home.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let own = file::parse_usable(Path::new("/d/dormouse.toml"), own).unwrap();
    let trust = TestTrust::new(&home.join("data"));
    let around = Surroundings::new(home.to_owned(), [].into(), Some(&project));
    let project = around.project.clone().unwrap();
    let all = Configured::for_review(own.clone(), Some(&around), &trust, &project);
    let review = all.review(&project).unwrap();
    trust.grant(&project, &review.content).unwrap();
    Configured::new(own, Some(&around), &trust)
}

/// The host's token is among the variables, and keys of its user.
#[test]
fn programs_that_say_a_secret_are_confined_where_a_project_has_named_them() {
    let home = tempfile::tempdir().unwrap();
    let server = |name: &str| {
        format!(
            "[servers.{name}]\ncomponent = \"a.wasm\"\ngrants.http = [\"https://a.example\"]\n\
             [servers.{name}.secrets]\n\
             run = {{ command = [\"op\", \"run\", \"--\", \"env\"], hosts = [\"https://a.example\"], header = \"A\" }}\n\
             one = {{ op = \"op://a/b/c\", hosts = [\"https://a.example\"], header = \"B\" }}\n"
        )
    };
    // What the user gives a project's server in their own file is theirs.
    let project = home.path().join("project");
    let given = format!(
        "[servers.theirs]\nproject = {:?}\n\
         secrets.given = {{ command = [\"vault\"], hosts = [\"https://a.example\"], header = \"C\" }}\n",
        project.to_str().unwrap()
    );
    let all = trusted_in_home(
        home.path(),
        &[("project/dormouse.toml", &server("theirs"))],
        &format!("{}{given}", server("mine")),
    );
    let is_confined = |server: &str, secret: &str| {
        let mut secrets = all.servers[server].secrets.iter();
        let secret = secrets.find(|one| one.name == secret).unwrap();
        matches!(
            secret.source,
            SecretSource::Command {
                is_confined: true,
                ..
            }
        )
    };
    assert!(is_confined("theirs", "run"));
    for (server, secret) in [
        ("theirs", "one"),
        ("theirs", "given"),
        ("mine", "run"),
        ("mine", "one"),
    ] {
        assert!(!is_confined(server, secret), "{server} {secret}");
    }
}

/// What a user names as their configuration is theirs, also where it lies in a repository.
#[test]
fn the_configuration_in_use_is_no_file_of_a_project() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let own = project.join("dormouse.toml");
    std::fs::write(&own, "[servers.mine]\ncommand = [\"x\"]\n").unwrap();
    let trust = TestTrust::new(&home.path().join("data"));
    let untrusted = |configuration: Option<&Path>| {
        let around = Surroundings::new(home.path().to_owned(), [].into(), Some(&project));
        let around = match configuration {
            Some(file) => around.with_configuration(file),
            None => around,
        };
        let config = crate::load(&own).unwrap();
        Configured::new(config, Some(&around), &trust).untrusted
    };
    assert!(untrusted(None).is_some());
    let other = home.path().join("dormouse.toml");
    std::fs::write(&other, "").unwrap();
    assert!(untrusted(Some(&other)).is_some());
    assert!(untrusted(Some(&own)).is_none());
    // By whatever spelling.
    let odd = project.join(".git").join("..").join("dormouse.toml");
    assert!(untrusted(Some(&odd)).is_none());
    #[cfg(unix)]
    {
        let link = home.path().join("link.toml");
        std::os::unix::fs::symlink(&own, &link).unwrap();
        assert!(untrusted(Some(&link)).is_none());
    }
}

#[test]
fn mistakes_that_are_not_said_any_more_count_as_well() {
    let wrong: String = (0..150)
        .map(|n| format!(r#""w{n}": {{"command": 5}}, "#))
        .collect();
    let text = format!(
        r#"{{"mcpServers": {{{wrong} "zz": {{"command": "x", "args": "y"}}, "ok": {{"command": "x"}}}}}}"#
    );
    let all = in_project(&[(".mcp.json", &text)], true);
    assert_eq!(names(&all), ["gh", "guard", "ok", "web"]);
}

#[test]
fn keys_and_values_of_toml_are_counted_before_they_are_read() {
    let many = format!("a = [{}]\n", "1,".repeat(50_000));
    let (_, problems) = file::parse_of_project(
        Path::new("/x"),
        &many,
        VariableHandling::Kept,
        &crate::Inputs::new(),
    );
    assert!(
        problems[0].message.contains("more than 50000"),
        "{problems:?}"
    );
}

#[test]
fn a_projects_server_that_is_the_users_is_not_shown_beside_it() {
    let servers = r#"{"mcpServers": {"gh2": {"command": "npx", "args": ["gh"]}}}"#;
    for file in [".mcp.json", ".cursor/mcp.json"] {
        let all = in_project(&[(file, servers)], true);
        assert_eq!(names(&all), ["gh", "guard", "web"], "{file}");
    }
    // Another folder may have another program in it.
    let other = servers.replace("]}", r#"], "cwd": "PROJECT/sub"}"#);
    let all = in_project(&[(".cursor/mcp.json", &other)], true);
    assert_eq!(names(&all), ["gh", "gh2", "guard", "web"]);
}
