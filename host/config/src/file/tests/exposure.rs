//! `[exposure]`, profiles, and what a server says of how its tools are shown.

use dormouse_policy::exposure::{
    Confirmation, ExposureMode, ExposureRules, NamedTool, Profile, ServerExposure, ToolAccess,
    ToolHints,
};

use super::*;

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn exposure_is_read() {
    let (config, problems) = parse(
        Path::new(FILE),
        r#"
[exposure]
mode = "search"
budget = 5000
pinned = ["time__now"]
allow = ["time", "git*__get_*"]
deny = ["*delete*"]
confirm = ["destructive"]

[profiles.work]
servers = ["github", "time"]
tools = ["github__get_*", "time"]
expose = "auto"
budget = 100

[profiles.all]

[servers.time]
component = "time.wasm"
expose = "deferred"
confirm = ["write", "destructive"]
annotations = { "*" = { readOnlyHint = true }, "set" = { readOnlyHint = false, destructiveHint = false } }

[servers.github]
expose = "hidden"
confirm = []
annotations.get = { idempotentHint = true, openWorldHint = false }
"#,
    );
    assert_eq!(problems, []);
    let rules = ExposureRules {
        mode: ExposureMode::Search,
        budget: 5000,
        pinned: list(&["time__now"]),
        allow: Some(list(&["time", "git*__get_*"])),
        deny: list(&["*delete*"]),
        confirm: Confirmation::of([ToolAccess::Destructive]),
        profile: None,
    };
    assert_eq!(config.exposure, rules);
    let work = Profile {
        servers: Some(list(&["github", "time"])),
        tools: Some(list(&["github__get_*", "time"])),
        mode: Some(ExposureMode::Auto),
        budget: Some(100),
    };
    assert_eq!(config.profiles["work"], work);
    assert_eq!(config.profiles["all"], Profile::default());
    let time = &config.servers["time"];
    assert_eq!(time.expose, Some(ServerExposure::Deferred));
    assert_eq!(time.hints.of("get").read_only, Some(true));
    assert_eq!(
        (
            time.hints.of("set").read_only,
            time.hints.of("set").destructive
        ),
        (Some(false), Some(false))
    );
    let write = Confirmation::of([ToolAccess::Write]);
    assert_eq!(time.confirm, Some(write));
    let github = &config.overlays["github"];
    assert_eq!(github.confirm, Some(Confirmation::default()));
    assert_eq!(github.expose, Some(ServerExposure::Hidden));
    let hints = ToolHints {
        idempotent: Some(true),
        open_world: Some(false),
        ..ToolHints::default()
    };
    assert_eq!(github.hints.0["get"], hints);
}

#[test]
fn what_is_wrong_there_is_told_and_allows_nothing() {
    for (text, place, message, hint, allows) in [
        (
            "[exposure]\nmode = \"serach\"",
            "2:8",
            "`exposure.mode` cannot be `\"serach\"`",
            "use \"direct\" or \"index\" or \"search\" or \"auto\"",
            true,
        ),
        (
            "[exposure]\ndeni = [\"a\"]",
            "2:1",
            "`deni` is no key of `[exposure]`",
            "did you mean `deny`?",
            false,
        ),
        (
            "[exposure]\ndeny = \"a\"",
            "2:8",
            "`exposure.deny` has to be an array, and `\"a\"` is a string",
            "",
            false,
        ),
        (
            "[exposure]\nconfirm = [\"destructiv\"]",
            "2:12",
            "`exposure.confirm` cannot be `\"destructiv\"`",
            "use \"destructive\" or \"write\"",
            false,
        ),
        (
            "[exposure]\nconfrim = [\"destructive\"]",
            "2:1",
            "`confrim` is no key of `[exposure]`",
            "did you mean `confirm`?",
            false,
        ),
        (
            "[exposure]\nbudgit = 1",
            "2:1",
            "`budgit` is no key of `[exposure]`",
            "did you mean `budget`?",
            true,
        ),
        (
            "[exposur]\nallow = []",
            "1:2",
            "`exposur` is no key of the configuration",
            "did you mean `exposure`?",
            false,
        ),
        (
            "exposure = 1",
            "1:12",
            "`exposure` has to be a table, and `1` is an integer",
            "",
            false,
        ),
        (
            "[profiles.a]\nserver = []",
            "2:1",
            "`server` is no key of `[profiles.a]`",
            "did you mean `servers`?",
            true,
        ),
        (
            "[profiles.a__b]",
            "1:11",
            "a profile is named as a server is, and `a__b` is not",
            "use a single `_`: two of them separate the server from the tool, as in `time__convert_time`",
            true,
        ),
    ] {
        let (config, problems) = parse(Path::new(FILE), text);
        let found = problems.first().unwrap_or_else(|| panic!("{text}"));
        let told = (
            format!("{}:{}", found.line, found.column),
            found.message.as_str(),
            found.hint.as_deref().unwrap_or_default(),
        );
        assert_eq!(told, (place.to_owned(), message, hint), "{text}");
        let names = NamedTool {
            server: "s",
            tool: "t",
            shown: "s__t",
            is_prefixed: true,
            others: &[],
        };
        let hidden = config.exposure.hides(names, None);
        assert_eq!(hidden.is_none(), allows, "{text}");
        assert!(config.profiles.is_empty(), "{text}");
    }
    let (config, problems) = parse(
        Path::new(FILE),
        "[servers.t]\ncomponent = \"t.wasm\"\nannotations = { x = { readonly = true } }",
    );
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert!(config.servers.is_empty() && config.refused.len() == 1);
}

/// In whatever order they are written: one that is misspelt may have denied anything.
#[test]
fn misspelt_and_misplaced_rules_allow_nothing() {
    const SERVER: &str = "[servers.s]\ncommand = ['x']\n";
    for (rules, hint) in [
        (
            "[exposur]\nconfirm = ['destructive']\n",
            "did you mean `exposure`?",
        ),
        ("[Exposure]\ndeny = ['s__*']\n", "did you mean `exposure`?"),
        ("[expose]\ndeny = ['s__*']\n", "did you mean `exposure`?"),
        ("[rules]\ndeny = ['s__*']\n", "its keys are "),
        ("[[rules]]\ndeny = ['s__*']\n", "its keys are "),
        ("[safety.exposure]\ndeny = ['s__*']\n", "its keys are "),
        ("[limit]\ndeny = ['s__*']\n", "did you mean `limits`?"),
    ] {
        for mode in ["", "[exposure]\nmode = 'direct'\nallow = ['s']\n"] {
            for text in [
                format!("{rules}{mode}{SERVER}"),
                format!("{mode}{SERVER}{rules}"),
            ] {
                let (config, problems) = parse(Path::new(FILE), &text);
                assert_eq!(config.exposure.allow, Some(Vec::new()), "{text}");
                assert_eq!(config.discovery.clients, None, "{text}");
                assert_eq!(problems.len(), 1, "{text}: {problems:?}");
                let told = problems[0].hint.as_deref().unwrap_or_default();
                assert!(told.starts_with(hint), "{text}: {told}");
                assert!(config.servers.contains_key("s"), "{text}");
            }
        }
    }
    for (key, hint) in [
        ("deny = ['s__*']", "write it into `[exposure]`"),
        ("allow = ['s']", "write it into `[exposure]`"),
        ("confrm = ['destructive']", "write it into `[exposure]`"),
        (
            "exclude_tools = ['x']",
            "write it into the table of its server",
        ),
    ] {
        let text = format!("{key}\n[exposure]\nmode = 'direct'\n{SERVER}");
        let (config, problems) = parse(Path::new(FILE), &text);
        assert_eq!(config.exposure.allow, Some(Vec::new()), "{text}");
        assert_eq!(problems[0].hint.as_deref(), Some(hint), "{text}");
    }
    for (key, hint) in [
        ("exclude = ['s__*']", "its keys are "),
        ("rules = [{ deny = ['s__*'] }]", "its keys are "),
        ("rules = [[{ a = { deny = ['s__*'] } }]]", "its keys are "),
    ] {
        let (config, problems) = parse(Path::new(FILE), &format!("{key}\n{SERVER}"));
        assert_eq!(config.exposure.allow, Some(Vec::new()), "{key}");
        let told = problems[0].hint.as_deref().unwrap_or_default();
        assert!(told.starts_with(hint), "{key}: {told}");
    }
    // What has nothing to do with it closes nothing.
    for text in [
        "other = 5\n",
        "[profil.deny]\n",
        "[other]\nkey = 1\n",
        "[config]\nx = 1\n",
        "[include]\nx = 1\n",
        "[other]\ninclude = { x = 1 }\n",
        "rules = [{ other = 1 }]\n",
    ] {
        let (config, problems) = parse(Path::new(FILE), &format!("{text}{SERVER}"));
        assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        assert_eq!(config.exposure.allow, None, "{text}");
        assert_eq!(config.discovery.clients, None, "{text}");
    }
}

#[test]
fn misspelt_and_misplaced_discovery_shows_no_clients_servers() {
    for said in [
        "[discovry]\nclients = []\n",
        "[Discovery]\nclients = ['cursor']\n",
        "[other]\nclients = []\n",
    ] {
        let right = "[discovery]\nclients = ['cursor']\n";
        for text in [
            said.to_owned(),
            format!("{said}{right}"),
            format!("{right}{said}"),
        ] {
            let (config, problems) = parse(Path::new(FILE), &text);
            assert_eq!(config.discovery.clients, Some(Vec::new()), "{text}");
            assert_eq!(config.exposure.allow, None, "{text}");
            assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        }
    }
    let (config, problems) = parse(Path::new(FILE), "clients = []\n");
    assert_eq!(config.discovery.clients, Some(Vec::new()));
    let hint = problems[0].hint.as_deref();
    assert_eq!(hint, Some("write it into `[discovery]`"));
}
