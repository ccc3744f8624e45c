use dormouse_upstream::Offered;
use serde_json::value::RawValue;

use super::*;
use crate::roster::tests::{ADD, Home, TRAP, component};

/// Returns what is said of a configuration with the plugin `time`, which has the tools `add` and
/// `trap`, and with `web`, of which nothing is known.
fn told(more: &str) -> Vec<String> {
    let home = Home::new();
    home.write("a.wasm", &component(&[ADD, TRAP]));
    let text = format!(
        "{more}\n[servers.time]\ncomponent = 'a.wasm'\n\
         [servers.web]\nurl = 'http://127.0.0.1:9/mcp'\n[servers.web.annotations]\nx = {{}}\n"
    );
    home.write("dormouse.toml", text.as_bytes());
    let roster = home.open();
    let told = roster.unmatched_names();
    told.iter().map(ToString::to_string).collect()
}

#[test]
fn what_matches_nothing_is_said_with_what_was_meant() {
    for (more, begin, hint) in [
        (
            "exposure.deny = ['nosuch__x']",
            "`deny` of `[exposure]` has `nosuch__x`, and no tool",
            "correct it",
        ),
        (
            "exposure.deny = ['time__trp']",
            "`deny` of `[exposure]` has `time__trp`",
            "did you mean `time__trap`?",
        ),
        (
            "exposure.allow = ['time', 'timee']",
            "`allow` of `[exposure]` has `timee`",
            "did you mean `time`?",
        ),
        (
            "exposure.pinned = ['tme__*']",
            "`pinned` of `[exposure]` has `tme__*`",
            "did you mean `time__*`?",
        ),
        (
            "profiles.work.servers = ['tme', 'we*']",
            "`servers` of `[profiles.work]` has `tme`, and no server",
            "did you mean `time`?",
        ),
        (
            "profiles.work.tools = ['time__ad']",
            "`tools` of `[profiles.work]` has `time__ad`",
            "did you mean `time__add`?",
        ),
        (
            "servers.time.annotations.adds = { readOnlyHint = true }",
            "`annotations` of `[servers.time]` has `adds`",
            "did you mean `add`?",
        ),
        (
            "servers.time.settings.foo = 1",
            "`settings` of `[servers.time]` has `foo`, and its plugin",
            "correct it",
        ),
        (
            "servers.time.settings.deny = ['time__add']",
            "`settings` of `[servers.time]` has `deny`, and its plugin",
            "write it into `[exposure]`",
        ),
    ] {
        // A table is written once.
        let (of_time, more) = match more.strip_prefix("servers.time.") {
            Some(of_time) => (of_time, ""),
            None => ("", more),
        };
        let home = Home::new();
        home.write("a.wasm", &component(&[ADD, TRAP]));
        let text = format!(
            "{more}\n[servers.time]\ncomponent = 'a.wasm'\n{of_time}\n\
             [servers.web]\nurl = 'http://127.0.0.1:9/mcp'\n"
        );
        home.write("dormouse.toml", text.as_bytes());
        let told = home.open().unmatched_names();
        let told: Vec<_> = told.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 1, "{text}: {told:?}");
        assert!(told[0].starts_with(begin), "{told:?}");
        assert!(told[0].contains(&format!("\nhint: {hint}")), "{told:?}");
    }
}

#[test]
fn what_may_be_of_a_server_that_nobody_knows_is_not_said() {
    for more in [
        "exposure.deny = ['web__delete_*', 'time__trap', '*__delete_*', 'time*', '*delete*']",
        "exposure.allow = ['web', 'time__*', 'w*']",
        "exposure.pinned = ['web__x', 'time__add']",
        "profiles.work = { servers = ['t*', 'web'], tools = ['web__y', 'time'] }",
    ] {
        assert_eq!(told(more), [""; 0], "{more}");
    }
}

#[test]
fn what_a_component_may_call_at_an_upstream_that_nobody_knows_is_not_said() {
    let home = Home::new();
    home.write("a.wasm", &component(&[ADD]));
    let text = "exposure.allow = ['front__add', 'front__inner']\n\
         [servers.front]\ncomponent = 'a.wasm'\ncommand = ['not-started']\n\
         [servers.front.annotations]\ninner = { readOnlyHint = true }\n";
    home.write("dormouse.toml", text.as_bytes());
    let roster = home.open();
    assert_eq!(roster.unmatched_names(), []);
    // Once it is known, its tools are, whether the component declares them or not.
    let config = roster.config();
    let bridge = config.servers["front"].bridge().unwrap();
    let tool =
        RawValue::from_string(r#"{"name":"inner","inputSchema":{"type":"object"}}"#.to_owned());
    let offered = Offered {
        tools: vec![tool.unwrap()],
        ..Offered::default()
    };
    let snapshot = roster.snapshot();
    let declared = snapshot.servers()["front"].declared();
    let learnt = roster
        .store
        .learn(&bridge.fingerprint, offered, &bridge.changes, declared);
    learnt.unwrap();
    assert_eq!(home.open().unmatched_names(), []);
    let mistyped = text.replace("'front__inner'", "'front__iner'");
    home.write("dormouse.toml", mistyped.as_bytes());
    let told = home.open().unmatched_names();
    assert!(
        told[0].to_string().contains("did you mean `front__inner`?"),
        "{told:?}"
    );
}

/// Whoever has written `add` has read it in a list of tools.
#[test]
fn what_allows_nothing_without_its_servers_name_is_said_with_it() {
    for (more, told) in [
        (
            "exposure.pinned = ['add']",
            Some("did you mean `time__add`?"),
        ),
        ("exposure.allow = ['web__x', 'y']", Some("correct it")),
        ("exposure.deny = ['add', 'y']", None),
        ("exposure.allow = ['time__add', 'web']", None),
    ] {
        let home = Home::new();
        home.write("a.wasm", &component(&[ADD, TRAP]));
        let text = format!(
            "{more}\n[servers.time]\ncomponent = 'a.wasm'\nprefix = ''\n\
             [servers.web]\nurl = 'http://127.0.0.1:9/mcp'\nprefix = ''\n"
        );
        home.write("dormouse.toml", text.as_bytes());
        let found = home.open().unmatched_names();
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(
            found.len(),
            usize::from(told.is_some()),
            "{more}: {found:?}"
        );
        let told = told.map(|told| format!("hint: {told}"));
        let is_said = |told: &String| found.iter().any(|found| found.contains(told));
        assert!(told.iter().all(is_said), "{more}: {found:?}");
    }
}

#[test]
fn a_profile_that_serves_nothing_is_doubtful() {
    let home = Home::new();
    home.write("a.wasm", &component(&[ADD]));
    home.write(
        "dormouse.toml",
        b"[servers.time]\ncomponent = 'a.wasm'\n[profiles]\nwork.servers = ['tme']\nhome.servers = ['time']\n",
    );
    let doubts = |profile: &str| {
        let mut places = home.places();
        places.exposure.profile = Some(profile.to_owned());
        Roster::open(places).unwrap().doubtful_profiles()
    };
    let told = doubts("work");
    assert!(
        told[0].starts_with("profile `work` serves nothing"),
        "{told:?}"
    );
    assert!(told[1].contains("did you mean `time`?"), "{told:?}");
    assert_eq!(doubts("home"), [""; 0]);
}
