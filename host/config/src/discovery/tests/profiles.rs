//! VS Code's named profiles.

use super::*;
use crate::Config;
use crate::install::{ImportRequest, Program, import};

#[test]
fn a_profiles_servers_come_after_the_default_ones() {
    let home = Home::of(&["vscode"]);
    // Chat.md keeps its servers in the settings of the same profiles.
    home.write(
        "home/.config/Code/User/profiles/4328b3eb/settings.json",
        r#"{"chatmd.mcpServers": {"chat": {"command": "x"}}}"#,
    );
    let discovery = discover_all(
        &home.around(),
        &[Client::VsCode, Client::ChatMd],
        &Inputs::new(),
    );
    let origin = |name: &str, taken: bool| {
        let mut found = discovery.found.iter();
        let found = found
            .find(|found| found.written_name == name && found.shadowed_by.is_none() == taken)
            .unwrap();
        home.shown(&found.server.origin.to_string())
    };
    let profiles = "/home/.config/Code/User/profiles";
    let work = format!("{profiles}/4328b3eb");
    assert_eq!(
        origin("tickets", true),
        format!("{work}/mcp.json:4 (profile `Work`)")
    );
    // One that VS Code has forgotten has no name but its folder's.
    assert_eq!(
        origin("tickets", false),
        format!("{profiles}/left-over/mcp.json:1 (profile `left-over`)")
    );
    assert_eq!(
        origin("chat", true),
        format!("{work}/settings.json:1 (profile `Work`)")
    );
    let names = discovery
        .found
        .iter()
        .map(|found| found.written_name.as_str());
    assert!(
        !names.clone().any(|name| name == "unused"),
        "shared with the default profile"
    );
    let user: Vec<_> = discovery
        .found
        .iter()
        .filter(|found| found.written_name == "github" && found.server.origin.scope == Scope::User)
        .map(|found| home.shown(&found.shadowed_by.as_ref().unwrap().to_string()))
        .collect();
    assert_eq!(
        user,
        ["/project/.vscode/mcp.json:3", "/project/.vscode/mcp.json:3"]
    );
}

#[test]
fn replacing_leaves_no_profile_without_its_servers() {
    let home = Home::of(&["vscode"]);
    fs::remove_dir_all(home.path("project/.vscode")).unwrap();
    let around = home.around();
    let clients = [Client::VsCode];
    let discovery = discover_all(&around, &clients, &Inputs::new());
    let program = Program {
        command: "dormouse".to_owned(),
        options: Vec::new(),
        variables: Vec::new(),
    };
    let wanted = ImportRequest {
        clients: &clients,
        replace: Some(&program),
        longest_call: std::time::Duration::from_secs(1),
        force: false,
    };
    let file = home.path("home/dormouse.toml");
    let import = import(&discovery, &around, &Config::default(), &file, wanted).unwrap();
    let taken = import.changes[0].after.as_str();
    assert!(taken.contains("[servers.tickets]"), "{taken}");
    assert!(
        taken.contains("https://api.githubcopilot.com/mcp"),
        "{taken}"
    );
    let changed: Vec<_> = import.changes[1..]
        .iter()
        .map(|change| home.shown(&change.file.display().to_string()))
        .collect();
    assert_eq!(changed, ["/home/.config/Code/User/mcp.json"]);
    assert!(import.left.iter().any(|left| {
        left.starts_with("`tickets` stays in ") && left.contains("the profile `Work`")
    }));
}
