//! Hints on the tools of a project's servers (`annotations`), which are the user's alone.

use dormouse_policy::exposure::ToolHints;

use super::*;

#[test]
fn hints_on_the_tools_of_a_projects_server_are_the_users() {
    let theirs = "[servers.hub]\ncommand = ['theirs']\n\
        [servers.hub.annotations]\nget = { readOnlyHint = true }\n'*' = { destructiveHint = false }\n";
    let annotations = "annotations.get = { readOnlyHint = false, destructiveHint = true }\n\
        annotations.set = { readOnlyHint = true, idempotentHint = false }\n";
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().canonicalize().unwrap();
    let project = folder.join("project");
    let hints = |own: &str| {
        let all = trusted_in_home(&folder, &[("project/dormouse.toml", theirs)], own);
        assert!(all.servers["hub"].is_of_project());
        let hints = &all.servers["hub"].hints;
        ["get", "set", "other"].map(|tool| hints.of(tool))
    };
    let none = ToolHints::default();
    let get = ToolHints {
        read_only: Some(false),
        destructive: Some(true),
        ..none
    };
    let careful = ToolHints {
        idempotent: Some(false),
        ..none
    };
    let set = ToolHints {
        read_only: Some(true),
        ..careful
    };
    assert_eq!(hints(""), [none; 3]);
    // A table that may be meant for another server of that name makes more calls asked about, never less.
    for whose in ["", "project = '/elsewhere'\n"] {
        let own = format!("[servers.hub]\n{whose}{annotations}");
        assert_eq!(hints(&own), [get, careful, none], "{whose}");
    }
    let own = format!(
        "[servers.hub]\nproject = '{}'\n{annotations}",
        project.display()
    );
    assert_eq!(hints(&own), [get, set, none]);
}
