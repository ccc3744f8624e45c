//! A roster over a real folder of real components.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dormouse_config::FilledInFiles;
use dormouse_config::discovery::Surroundings;
use dormouse_protocol::{Era, Listener, SessionId};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{CallContext, ExposureChoice, OfferRefusal, Places, Roster, ServerState};

/// Functions of a component, as the WAT of their core functions and of their exports. Its tools are
/// derived from the types.
pub(crate) const ADD: (&str, &str) = (
    r#"(func (export "add") (param i32 i32) (result i32)
        local.get 0 local.get 1 i32.add)"#,
    r#"(func (export "add") (param "a" s32) (param "b" s32) (result s32)
        (canon lift (core func $i "add")))"#,
);

/// Has the same types as `ADD`.
pub(crate) const SUBTRACT: (&str, &str) = (
    r#"(func (export "add") (param i32 i32) (result i32)
        local.get 0 local.get 1 i32.sub)"#,
    ADD.1,
);

pub(crate) const SPIN: (&str, &str) = (
    r#"(func (export "spin") (loop br 0))"#,
    r#"(func (export "spin") (canon lift (core func $i "spin")))"#,
);

pub(crate) const TRAP: (&str, &str) = (
    r#"(func (export "trap") unreachable)"#,
    r#"(func (export "trap") (canon lift (core func $i "trap")))"#,
);

/// A component with some of the functions above.
pub(crate) fn component(functions: &[(&str, &str)]) -> Vec<u8> {
    let core: String = functions.iter().map(|f| f.0).collect();
    let exports: String = functions.iter().map(|f| f.1).collect();
    wat::parse_str(format!(
        "(component (core module $m {core}) (core instance $i (instantiate $m)) {exports})"
    ))
    .unwrap()
}

/// A folder with a configuration and components.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// Replaces a file as installers do: in one step.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) {
        let new = self.path(&format!("{name}.new"));
        fs::write(&new, bytes).unwrap();
        fs::rename(new, self.path(name)).unwrap();
    }

    pub(crate) fn places(&self) -> Places {
        Places {
            config: self.path("dormouse.toml"),
            cache: self.path("cache"),
            data: self.path("data"),
            token_file: None,
            around: None,
            program: None,
            client: None,
            filled_in: FilledInFiles::default(),
            exposure: ExposureChoice::default(),
        }
    }

    pub(crate) fn open(&self) -> Arc<Roster> {
        Roster::open(self.places()).unwrap()
    }
}

struct Deaf;

impl Listener for Deaf {
    fn progress(&self, _: f64, _: Option<f64>, _: Option<String>) {}
    fn log(&self, _: &'static str, _: Option<String>, _: Value) {}
}

async fn call(roster: &Roster, server: &str, tool: &str) -> Result<Value, OfferRefusal> {
    let Value::Object(arguments) = json!({"a": 5, "b": 3}) else {
        unreachable!()
    };
    let context = CallContext {
        profile: None,
        session: Some(SessionId(1)),
        cancel: CancellationToken::new(),
        listener: Arc::new(Deaf),
    };
    let answer = roster.call(server, tool, arguments.into(), context).await?;
    Ok(answer.into_value().unwrap())
}

async fn sum(roster: &Roster, server: &str) -> Value {
    call(roster, server, "add").await.unwrap()["structuredContent"]["result"].clone()
}

fn shown(roster: &Roster) -> Vec<String> {
    roster.snapshot().names().map(str::to_owned).collect()
}

fn state(roster: &Roster, server: &str) -> (ServerState, Option<String>) {
    let status = roster.status();
    let found = status.servers.into_iter().find(|s| s.name == server);
    let found = found.unwrap();
    (found.state, found.error)
}

/// Waits until `so` returns true; a test that waits in vain fails.
pub(crate) async fn until(what: &str, so: impl Fn() -> bool) {
    for _ in 0..500 {
        if so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("never happened: {what}");
}

#[tokio::test(flavor = "multi_thread")]
async fn listing_makes_no_engine_and_calling_makes_one() {
    let home = Home::new();
    home.write("a.wasm", &component(&[ADD, TRAP]));
    home.write(
        "dormouse.toml",
        b"[servers.one]\ncomponent = 'a.wasm'\n[servers.two]\ncomponent = 'a.wasm'\n",
    );
    let roster = home.open();
    assert_eq!(
        shown(&roster),
        ["one__add", "one__trap", "two__add", "two__trap"]
    );
    let mut list = String::new();
    roster
        .snapshot()
        .write_list(Era::Stateless, |_| true, &mut list);
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!(list[2]["name"], "two__add");
    assert_eq!(roster.status().engines, 0);
    assert_eq!(state(&roster, "one").0, ServerState::Known);

    assert_eq!(sum(&roster, "one").await, 8);
    let status = roster.status();
    assert_eq!((status.engines, status.servers[0].calls), (1, 1));
    assert_eq!(state(&roster, "one").0, ServerState::Ready);
    assert_eq!(state(&roster, "two").0, ServerState::Known);
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_one_name_are_both_left_out_and_named() {
    let home = Home::new();
    home.write("a.wasm", &component(&[ADD, TRAP]));
    home.write("b.wasm", &component(&[ADD]));
    home.write(
        "dormouse.toml",
        b"[servers.a]\ncomponent = 'a.wasm'\nprefix = ''\n[servers.b]\ncomponent = 'b.wasm'\nprefix = ''\n",
    );
    let roster = home.open();
    assert_eq!(shown(&roster), ["trap"]);
    for server in ["a", "b"] {
        let error = state(&roster, server).1.unwrap();
        assert!(
            error.contains("tool `add` of server `a` and tool `add` of server `b`"),
            "{error}"
        );
        // Whoever says which one is meant gets it.
        assert_eq!(sum(&roster, server).await, 8);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_edit_of_the_configuration_changes_nothing() {
    let home = Home::new();
    home.write("a.wasm", &component(&[ADD]));
    home.write("dormouse.toml", b"[servers.a]\ncomponent = 'a.wasm'\n");
    let roster = home.open();
    home.write("dormouse.toml", b"[servers.a\n");
    assert!(roster.reload().is_err());
    assert_eq!(shown(&roster), ["a__add"]);
    let problems = roster.status().problems;
    assert!(
        problems.len() == 1 && problems[0].contains("what it said before stays in force: "),
        "{problems:?}"
    );
    home.write(
        "dormouse.toml",
        b"[servers.a]\ncomponent = 'a.wasm'\nenabled = false\n",
    );
    roster.reload().unwrap();
    assert_eq!(roster.status().problems, [""; 0]);
    assert!(shown(&roster).is_empty());
    let error = call(&roster, "a", "add").await.unwrap_err().to_string();
    assert!(error.contains("`a` is disabled"), "{error}");
    let error = call(&roster, "aa", "add").await.unwrap_err().to_string();
    assert!(error.contains("no server is called `aa`"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_rule_hides_is_called_by_nobody() {
    let home = Home::new();
    home.write("a.wasm", &component(&[ADD, TRAP]));
    let servers = "[servers.a]\ncomponent = 'a.wasm'\n[servers.b]\ncomponent = 'a.wasm'\n";
    for (rules, refused) in [
        (
            "[exposure]\ndeny = ['a__ad*']",
            "`deny` of `[exposure]` has `a__ad*`\nhint: take `a__ad*` out of `deny` in",
        ),
        (
            "[exposure]\nallow = ['b', 'a__trap']",
            "`allow` of `[exposure]` does not have it\nhint: write `a__add` into `allow` in",
        ),
    ] {
        home.write("dormouse.toml", format!("{rules}\n{servers}").as_bytes());
        let roster = home.open();
        let error = call(&roster, "a", "add").await.unwrap_err().to_string();
        let expected = format!("tool `add` of server `a` was not called: {refused}");
        assert!(error.starts_with(&expected), "{error}");
        assert_eq!(roster.status().engines, 0, "{rules}");
        assert_eq!(sum(&roster, "b").await, 8, "{rules}");
    }
    let text = format!("{servers}expose = 'hidden'\n");
    home.write("dormouse.toml", text.as_bytes());
    let error = call(&home.open(), "b", "add")
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("`expose` of `[servers.b]`"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_denied_is_not_called_by_a_component_in_front_either() {
    let home = Home::new();
    home.write("a.wasm", &component(&[ADD]));
    home.write(
        "dormouse.toml",
        b"[exposure]\ndeny = ['*__delete_*']\n\
          [servers.a]\ncomponent = 'a.wasm'\ncommand = ['not-started']\n",
    );
    let roster = home.open();
    let nobody: Arc<dyn Listener> = Arc::new(Deaf);
    let denied = roster.admit_tool("a", "delete_all", &nobody).await;
    let expected = "tool `delete_all` of server `a` was not called: `deny` of `[exposure]` has \
                    `*__delete_*`";
    assert_eq!(denied, Err(expected.to_owned()));
    // Nothing is known of another one, which is why it is refused.
    let unknown = roster.admit_tool("a", "show", &nobody).await.unwrap_err();
    assert!(
        unknown.contains("what the server offers is not known"),
        "{unknown}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replaced_file_is_noticed_by_the_next_call() {
    let home = Home::new();
    home.write("a.wasm", &component(&[ADD]));
    home.write("dormouse.toml", b"[servers.a]\ncomponent = 'a.wasm'\n");
    // Nothing watches: it is the call that looks.
    let roster = home.open();
    assert_eq!(sum(&roster, "a").await, 8);
    home.replace("a.wasm", &component(&[SUBTRACT]));
    assert_eq!(sum(&roster, "a").await, 2);
    home.write("a.wasm", &component(&[ADD]));
    assert_eq!(sum(&roster, "a").await, 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_half_written_file_keeps_its_tools_and_recovers() {
    let home = Home::new();
    let whole = component(&[ADD, TRAP]);
    home.write("a.wasm", &whole);
    home.write("dormouse.toml", b"[servers.a]\ncomponent = 'a.wasm'\n");
    let roster = home.open();
    roster.settle();
    assert_eq!(sum(&roster, "a").await, 8);
    let changes = roster.changes().lists();

    home.write("a.wasm", &whole[..whole.len() / 2]);
    let answer = call(&roster, "a", "add").await.unwrap();
    assert_eq!(answer["isError"], true, "{answer}");
    assert_eq!(shown(&roster), ["a__add", "a__trap"]);
    assert_eq!(state(&roster, "a").0, ServerState::Failed);

    home.write("a.wasm", &whole);
    until("the file is read again", || {
        state(&roster, "a").0 != ServerState::Failed
    })
    .await;
    assert_eq!(sum(&roster, "a").await, 8);
    assert!(!changes.has_changed().unwrap(), "the list is what it was");

    fs::remove_file(home.path("a.wasm")).unwrap();
    until("its tools are gone", || shown(&roster).is_empty()).await;
    home.write("a.wasm", &component(&[ADD]));
    until("its tools are back", || shown(&roster) == ["a__add"]).await;
    assert!(changes.has_changed().unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn edits_apply_at_once_and_folders_may_come_later() {
    let home = Home::new();
    home.write("dormouse.toml", b"");
    let roster = home.open();
    roster.settle();
    home.replace(
        "dormouse.toml",
        b"[servers.late]\ncomponent = 'sub/late.wasm'\n",
    );
    until("the server is there", || {
        roster.snapshot().servers().contains_key("late")
    })
    .await;
    assert_eq!(state(&roster, "late").0, ServerState::Failed);
    fs::create_dir(home.path("sub")).unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    home.write("sub/late.wasm", &component(&[ADD]));
    until("its tools are there", || shown(&roster) == ["late__add"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_prefix_leaves_a_running_server_alone() {
    let home = Home::new();
    home.write("a.wasm", &component(&[ADD]));
    home.write("dormouse.toml", b"[servers.a]\ncomponent = 'a.wasm'\n");
    let roster = home.open();
    sum(&roster, "a").await;
    let mut changes = roster.changes().lists();
    home.write(
        "dormouse.toml",
        b"[servers.a]\ncomponent = 'a.wasm'\nprefix = 'x'\n",
    );
    roster.reload().unwrap();
    assert!(changes.has_changed().unwrap());
    changes.mark_unchanged();
    assert_eq!(shown(&roster), ["x__add"]);
    assert_eq!(state(&roster, "a").0, ServerState::Ready);
    assert_eq!(roster.status().servers[0].calls, 1);

    assert!(roster.restart("a"));
    assert!(!roster.restart("b"));
    assert_eq!(sum(&roster, "a").await, 8);
    roster.reload().unwrap();
    assert!(!changes.has_changed().unwrap(), "nothing has changed");
}

#[tokio::test]
async fn nothing_switches_on_what_a_policy_denies() {
    let home = Home::new();
    fs::create_dir(home.path(".claude")).unwrap();
    home.write(
        ".claude.json",
        br#"{"mcpServers": {"git": {"command": "x"}, "web": {"command": "y"}}}"#,
    );
    let settings = home.path(".claude/settings.json");
    fs::write(
        &settings,
        r#"{"allowedMcpServers": [{"serverName": "web"}]}"#,
    )
    .unwrap();
    let around = Surroundings::new(home.path(""), [].into(), None);
    let places = Places {
        around: Some(around),
        ..home.places()
    };
    let roster = Roster::open(places).unwrap();
    let state = || {
        let servers = roster.status().servers;
        let git = servers.into_iter().find(|server| server.name == "git");
        let git = git.unwrap();
        (git.state, git.error)
    };
    let why = format!(
        "`allowedMcpServers` of {} does not name it",
        settings.display()
    );
    let denied = (
        ServerState::Disabled,
        Some(format!("a policy denies it: {why}")),
    );
    assert_eq!(state(), denied);
    let error = roster.set_enabled("git", true).unwrap_err().to_string();
    assert!(error.contains(&why), "{error}");
    assert!(!home.path("dormouse.toml").exists());
    roster.switch_once("git", true);
    assert_eq!(state(), denied);
    let refused = call(&roster, "git", "x").await.unwrap_err().to_string();
    assert!(refused.contains(&why), "{refused}");
    // Once the policy is another one, it counts at the next look.
    fs::write(&settings, "{}").unwrap();
    roster.reload().unwrap();
    assert_eq!(state(), (ServerState::Configured, None));
}
