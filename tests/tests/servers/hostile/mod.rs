//! Servers that are sound but for one fault each: with any of these, a call has an answer in time,
//! and other servers answer meanwhile.

#[cfg(target_os = "linux")]
mod endless;
pub(crate) mod floods;
mod forged_words;
mod leftovers;
mod log_floods;
mod odd;
mod redirects;
mod templates;
mod updates;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::ensure;
use dormouse_tests::{Client, Home, artifacts, client, wait};
use serde_json::{Value, json};

use crate::scripted::{asks, tools};

/// Home with such servers, each with a file that says its fault.
pub(crate) struct Hostile(pub(crate) Home);

impl Hostile {
    pub(crate) fn new() -> Self {
        Self(Home::new().unwrap())
    }

    fn file(&self, name: &str, what: &str) -> PathBuf {
        self.0.path().join(format!("{name}.{what}"))
    }

    /// Sets the fault of a server from its next start on.
    fn is(&self, name: &str, kind: &str) {
        fs::write(self.file(name, "kind"), kind).unwrap();
    }

    /// Adds another server, with more lines in its table.
    pub(crate) fn and(self, name: &str, kind: &str, more: &str) -> Self {
        self.is(name, kind);
        let script = artifacts::workspace().join("tests/servers/hostile.py");
        let words = [
            "python3".into(),
            script,
            self.file(name, "starts"),
            self.file(name, "kind"),
        ];
        let lines = format!("command = {}\n{more}", json!(words));
        self.0.table(name, &lines).unwrap();
        self
    }

    fn starts(&self, name: &str) -> usize {
        let starts = fs::read_to_string(self.file(name, "starts")).unwrap_or_default();
        starts.lines().count()
    }
}

fn call(name: &str) -> Value {
    json!({ "name": format!("{name}__echo"), "arguments": {} })
}

/// A call of seven seconds is allowed four without a word, and not five in all.
#[test]
fn progress_puts_the_end_of_a_call_off_up_to_a_total() {
    let limits =
        |more: &str| format!("tools = [\"echo\"]\nlimits = {{ timeout = \"4s\"{more} }}\n");
    let all = Hostile::new()
        .and("patient", "slow with progress", &limits(""))
        .and(
            "hasty",
            "slow with progress",
            &limits(", total_timeout = \"5s\""),
        );
    let mut host = Client::start(&mut all.0.command(&["serve"])).unwrap();
    assert_eq!(host.text("patient__echo", json!({})).unwrap(), "echo");
    let error = host.error("hasty__echo", json!({})).unwrap();
    assert!(error.contains("took longer than 5 s"), "{error}");
}

/// Checks that the call of a server was answered as it should be: an error names the server and the
/// cause, and has a hint.
#[track_caller]
fn answered(answer: &Value, kind: &str, server: &str, fails: bool, expected: &str) {
    let result = &answer["result"];
    let told = client::text(result).unwrap_or_else(|| panic!("{kind}: {answer}"));
    assert_eq!(result["isError"] == true, fails, "{kind}: {told}");
    if !fails {
        assert_eq!(told, expected, "{kind}");
        return;
    }
    assert!(told.contains(&format!("`{server}`")), "{kind}: {told}");
    assert!(told.contains(expected), "{kind}: {told}");
    assert!(told.contains("\nhint: "), "{kind}: {told}");
}

#[test]
fn each_call_is_answered() {
    let fine = [
        "wrong ids",
        "odd ids",
        "a batch of doubles",
        "null bytes",
        "a flood of news",
        "a flood of changes",
        "a flood of questions",
        "an endless list",
        "10000 tools",
        "odd tools",
    ];
    let mut table: Vec<(&str, bool, &str)> = fine.map(|kind| (kind, false, "echo")).to_vec();
    table.extend([
        ("an heir that goes on", false, "echo"),
        ("no UTF-8", false, "caf\u{fffd}"),
        ("half a character", false, "\u{fffd}!"),
        ("deep nesting", true, "nested more than 127 levels"),
        ("50 MB", true, "where 8388608 are allowed\nhint: "),
        ("a line without end", true, "more than 64 MiB"),
        ("no result", true, "neither a result nor an error"),
        ("an odd result", true, "expected an object"),
        (
            "stdout closed",
            true,
            "closed its stdout\nhint: call it again",
        ),
    ]);
    let named = |kind: &str| kind.replace(' ', "-");
    let mut all = Hostile::new().and("good", "nothing", "");
    for (kind, ..) in &table {
        all = all.and(&named(kind), kind, "tools = [\"echo\"]\n");
    }
    let mut host = all.0.serve().unwrap();
    let calls: Vec<_> = table
        .iter()
        .map(|(kind, ..)| host.send("tools/call", call(&named(kind))).unwrap())
        .collect();
    host.text("good__discover", json!({})).unwrap();
    assert_eq!(host.text("good__echo", json!({})).unwrap(), "echo");
    for ((kind, fails, expected), id) in table.iter().zip(calls) {
        let answer = host.answer(id).unwrap();
        answered(&answer, kind, &named(kind), *fails, expected);
    }
    // What they have sent is long gone, however much it was.
    #[cfg(target_os = "linux")]
    {
        let status = fs::read_to_string(format!("/proc/{}/status", host.pid())).unwrap();
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let most = most.unwrap().trim().trim_end_matches(" kB");
        assert!(most.parse::<u64>().unwrap() < 1 << 20, "{most} KiB");
    }
    assert!(host.close(client::PATIENCE).unwrap().success());
}

/// A start that fails is one start, unless the server ends at the first request of its client's era
/// and knows the other one.
#[test]
fn failed_starts_are_not_repeated() {
    let all = Hostile::new()
        .and("early", "dies at once", "")
        .and("old", "dies of a question", "");
    let mut host = all.0.serve().unwrap();
    let told = host.error("early__discover", json!({})).unwrap();
    for part in ["`early`", "exit code 1", "no API key"] {
        assert!(told.contains(part), "no `{part}` in {told}");
    }
    let told = host.error("early__discover", json!({})).unwrap();
    assert!(told.contains("tried again in"), "{told}");
    assert_eq!(all.starts("early"), 1);

    let text = |host: &mut Client, tool: &str| {
        let result = host.call_stateless(tool, json!({})).unwrap();
        client::text(&result).unwrap().to_owned()
    };
    text(&mut host, "old__discover");
    assert_eq!(text(&mut host, "old__echo"), "echo");
    assert_eq!(all.starts("old"), 2, "once to learn what it dies of");
    drop(host);
    // The next host knows, and so does whoever looks what there is.
    all.0.synced("old").unwrap();
    let mut host = all.0.serve().unwrap();
    assert_eq!(text(&mut host, "old__echo"), "echo");
    assert_eq!(all.starts("old"), 4);
    // One that shakes hands never asks it that.
    assert_eq!(host.text("old__echo", json!({})).unwrap(), "echo");
    assert_eq!(all.starts("old"), 5);
    // Whatever it dies of from now on, that is said once for each start.
    drop(host);
    all.is("old", "dies of any question");
    let mut host = all.0.serve().unwrap();
    let told = host.error("old__echo", json!({})).unwrap();
    assert!(told.contains("questions kill me"), "{told}");
    assert_eq!(all.starts("old"), 6);
}

/// A server that no longer reads is replaced by the next call.
#[test]
fn what_hears_nothing_is_replaced() {
    for (kind, cause) in [
        ("stdin closed", "takes no more input"),
        ("an heir", "what it has started reads nothing"),
    ] {
        let lines = "limits = { timeout = \"4s\" }\ntools = [\"echo\"]\n";
        let all = Hostile::new().and("odd", kind, lines);
        let mut host = all.0.serve().unwrap();
        // The first one closes its ears or ends, and may be answered or not.
        host.call("odd__echo", json!({})).unwrap();
        let told = wait::until("the cause", || {
            let told = host.error("odd__echo", json!({}))?;
            ensure!(told.contains(cause), "{told}");
            Ok(told)
        });
        let told = told.unwrap();
        assert!(told.contains("hint: call it again"), "{told}");
        all.is("odd", "nothing");
        assert_eq!(host.text("odd__echo", json!({})).unwrap(), "echo", "{kind}");
        assert_eq!(all.starts("odd"), 2, "{kind}");
    }
}

/// Tools that are only there for clients that can be asked something are not taken away, and
/// brought back, by clients that cannot.
#[test]
fn less_able_clients_take_nothing_away() {
    let all = Hostile::new().and("odd", "asks", "");
    all.0.synced("odd").unwrap();
    let both = ["odd__ask", "odd__echo"];
    for starts in [3, 4] {
        let mut host = all.0.serve().unwrap();
        assert_eq!(host.text("odd__echo", json!({})).unwrap(), "echo");
        let told = host.error("odd__ask", json!({})).unwrap();
        for part in ["`odd`", "`ask`", "can be asked more", "`echo`"] {
            assert!(told.contains(part), "no `{part}` in {told}");
        }
        // Where it is called, somebody looks once whether it is there at all.
        wait::until("the look", || {
            ensure!(all.starts("odd") == starts, "{}", all.starts("odd"));
            Ok(())
        })
        .unwrap();
        assert_eq!(tools(&mut host), both);
        assert_eq!(host.notifications, [json!(null); 0]);
    }
    let mut able = Client::start_able(&mut all.0.command(&["serve"]), asks()).unwrap();
    assert_eq!(able.text("odd__ask", json!({})).unwrap(), "ask");

    // One that is gone is gone for all.
    all.is("odd", "nothing");
    let mut host = all.0.serve().unwrap();
    assert_eq!(host.text("odd__echo", json!({})).unwrap(), "echo");
    all.0.synced("odd").unwrap();
    crate::scripted::comes_to(&mut host, &["odd__echo"]);
}

/// The same holds over HTTP.
#[test]
fn each_call_over_http_is_answered() {
    let script = artifacts::workspace().join("tests/servers/hostile_http.py");
    let mut server = Command::new("python3")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    let stdout = server.stdout.as_mut().unwrap();
    BufReader::new(stdout).read_line(&mut port).unwrap();
    let table = [
        ("string-id", false, "echo"),
        ("batch", false, "echo"),
        ("two-answers", false, "echo"),
        ("junk-events", false, "echo"),
        ("old", false, "echo"),
        ("no-UTF-8", false, "caf\u{fffd}"),
        ("half-a-character", false, "\u{fffd}!"),
        ("slow-head", true, "took longer than 3 s"),
        ("endless-head", true, "head is too large"),
        ("broken-chunk", true, "has been cut off"),
        ("cut-off", true, "has been cut off"),
        ("cut-event", true, "has not finished its answer"),
        ("hangs-up", true, "has not answered"),
        ("no-HTTP", true, "has not answered"),
        ("accepted", true, "not answered it"),
        ("other-id", true, "not answered it"),
        ("too-many", true, "asked again later (`120`)"),
        ("no-session", true, "has ended the session"),
        ("loop", true, "redirects more than 5 times"),
    ];
    let home = Home::new().unwrap();
    for (kind, ..) in table {
        let url = format!("http://127.0.0.1:{}/{kind}", port.trim());
        let lines = format!("url = '{url}'\ntools = ['echo']\nlimits = {{ timeout = '3s' }}\n");
        home.table(kind, &lines).unwrap();
    }
    let mut host = home.serve().unwrap();
    let calls = table.map(|(kind, ..)| host.send("tools/call", call(kind)).unwrap());
    for ((kind, fails, expected), id) in table.into_iter().zip(calls) {
        answered(&host.answer(id).unwrap(), kind, kind, fails, expected);
    }
    assert!(host.close(client::PATIENCE).unwrap().success());
    drop(server.stdin.take());
    server.wait().unwrap();
}
