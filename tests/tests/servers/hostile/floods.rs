//! Servers that send far too much of one thing: there is a limit, which is told, and the host
//! answers all other requests meanwhile.

use std::fs;
use std::process::Command;
use std::time::Duration;

use dormouse_tests::client::PATIENCE;
use dormouse_tests::{Client, Home, processes, wait};
use serde_json::{Value, json};

use crate::hostile::Hostile;

/// Makes a home with a server that is hostile in that way, of which one tool is known by name.
pub(crate) fn hostile(kind: &str) -> Hostile {
    Hostile::new()
        .and("good", "nothing", "tools = [\"echo\"]\n")
        .and(
            "odd",
            kind,
            "tools = [\"echo\"]\nenv = { TOKEN = \"hunter-two\" }\n",
        )
}

/// Checks that the host answers its client, another server's tool and `dormouse status`.
#[track_caller]
pub(crate) fn goes_on(home: &Home, host: &mut Client) {
    host.request("ping", json!({})).unwrap();
    assert_eq!(host.text("good__echo", json!({})).unwrap(), "echo");
    assert_eq!(home.server_status("good").unwrap()["state"], "ready");
}

/// Calls the hostile server's tool, and makes other requests meanwhile. Returns the host's answer
/// to the call, and the most memory that the host has had.
#[track_caller]
pub(crate) fn asked(kind: &str) -> (Value, u64) {
    let all = hostile(kind);
    // It can be asked, and does not answer.
    let able = json!({ "sampling": {} });
    let mut host = Client::start_able(&mut all.0.command(&["serve"]), able).unwrap();
    goes_on(&all.0, &mut host);
    let before = processes::memory(host.pid()).unwrap();
    let call = json!({ "name": "odd__echo", "arguments": {} });
    let id = host.send("tools/call", call).unwrap();
    goes_on(&all.0, &mut host);
    let answer = host.answer(id).unwrap();
    goes_on(&all.0, &mut host);
    let memory = processes::most_memory(host.pid()).unwrap();
    processes::gives_back(host.pid(), before).unwrap();
    let kill = Command::new("kill").arg(host.pid().to_string()).status();
    assert!(kill.unwrap().success());
    assert!(host.close(PATIENCE).unwrap().success());
    (answer, memory)
}

pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .or_else(|| answer["error"]["message"].as_str())
        .unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn an_object_of_very_many_members_is_refused_at_once() {
    let (answer, memory) = asked("members");
    assert!(
        text(&answer).contains("more than 65536 members"),
        "{answer}"
    );
    assert!(memory < 512 << 10, "{memory} KiB");
}

#[test]
fn long_ids_are_refused() {
    let (answer, memory) = asked("long ids");
    assert_eq!(text(&answer), "echo");
    assert!(memory < 1 << 20, "{memory} KiB");
}

#[test]
fn what_is_asked_at_once_has_a_size() {
    let (answer, memory) = asked("large questions");
    assert_eq!(text(&answer), "echo");
    assert!(memory < 1 << 20, "{memory} KiB");
}

#[test]
fn an_error_is_no_longer_than_a_result() {
    for kind in ["60 MB error", "60 MB data"] {
        let (answer, _) = asked(kind);
        let told = text(&answer);
        assert!(told.contains("an error of 60"), "{kind}: {told:.200}");
        assert!(
            told.contains("`result` in `[servers.odd.limits]`"),
            "{told:.200}"
        );
    }
}

#[test]
fn values_of_which_nothing_is_wanted_are_never_made() {
    for (kind, told) in [
        ("values in an introduction", "echo"),
        ("values in a discovery", "echo"),
        ("values in progress", "echo"),
        ("values in an error", "an error of 60"),
        ("values in pages", "no"),
    ] {
        let (answer, memory) = asked(kind);
        assert!(text(&answer).contains(told), "{kind}: {answer:.200}");
        assert!(memory < 768 << 10, "{kind}: {memory} KiB");
    }
}

#[test]
fn deep_content_is_refused() {
    let (answer, _) = asked("deep content");
    let told = text(&answer);
    assert!(
        told.contains("nested more than 127 levels deep"),
        "{told:.200}"
    );
}

#[test]
fn an_answer_with_two_results_is_refused() {
    let (answer, _) = asked("two results");
    let told = text(&answer);
    assert!(told.contains("`result` is there twice"), "{told:.200}");
}

#[test]
fn one_page_of_a_million_tools_is_cut() {
    let all = hostile("a million tools");
    let mut host = all.0.serve().unwrap();
    goes_on(&all.0, &mut host);
    let before = processes::memory(host.pid()).unwrap();
    let call = json!({ "name": "odd__echo", "arguments": {} });
    let id = host.send("tools/call", call).unwrap();
    goes_on(&all.0, &mut host);
    assert_eq!(text(&host.answer(id).unwrap()), "echo");
    let tools = host.tools().unwrap();
    assert!(tools.len() <= 10_001, "{}", tools.len());
    goes_on(&all.0, &mut host);
    processes::gives_back(host.pid(), before).unwrap();
    assert!(host.close(PATIENCE).unwrap().success());
}

#[test]
fn what_a_server_says_of_itself_has_a_size() {
    let all = hostile("a long introduction");
    let mut host = all.0.serve().unwrap();
    goes_on(&all.0, &mut host);
    let before = processes::memory(host.pid()).unwrap();
    assert_eq!(host.text("odd__echo", json!({})).unwrap(), "echo");
    goes_on(&all.0, &mut host);
    let info = &all.0.server_status("odd").unwrap()["server_info"];
    assert_eq!(*info, json!({ "version": "1" }));
    processes::gives_back(host.pid(), before).unwrap();
    assert!(host.close(PATIENCE).unwrap().success());
    // What is kept of it is read again at each start.
    let folder = all.0.path().join("data/dormouse/servers");
    let folder = match folder.is_dir() {
        true => folder,
        false => find(all.0.path(), "servers").unwrap(),
    };
    let sizes = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().metadata().unwrap().len());
    let largest = sizes.max().unwrap();
    assert!(largest < 1 << 20, "{largest} bytes");
}

/// Writes the record of a server as a Dormouse without caps has written it.
fn recorded(home: &Home, tools: &[String]) {
    home.synced("odd").unwrap();
    let folder = home.path().join("data/dormouse/servers");
    let folder = match folder.is_dir() {
        true => folder,
        false => find(home.path(), "servers").unwrap(),
    };
    let files = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path());
    let mut files = files.filter(|file| file.extension().is_some_and(|kind| kind == "json"));
    let file = files.next().unwrap();
    let text = fs::read_to_string(&file).unwrap();
    let tools = tools.join(",");
    let text = text.replacen("\"tools\":[", &format!("\"tools\":[{tools},"), 1);
    fs::write(file, text).unwrap();
}

fn find(folder: &std::path::Path, name: &str) -> Option<std::path::PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let folders = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    let folders: Vec<_> = folders.collect();
    let found = folders
        .iter()
        .find(|path| path.file_name().is_some_and(|own| own == name));
    found
        .cloned()
        .or_else(|| folders.iter().find_map(|folder| find(folder, name)))
}

#[test]
fn a_recorded_tool_of_four_megabytes_is_left_out_and_told() {
    let all = Hostile::new().and("odd", "nothing", "");
    let mut host = all.0.serve().unwrap();
    host.tools().unwrap();
    let before = processes::memory(host.pid()).unwrap();
    assert!(host.close(PATIENCE).unwrap().success());
    let many = vec!["\"title\":1"; 400_000].join(",");
    recorded(
        &all.0,
        &[format!(
            "{{\"name\":\"large\",\"inputSchema\":{{\"type\":\"object\"}},{many}}}"
        )],
    );
    let mut host = all.0.serve().unwrap();
    let tools = host.tools().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["odd__echo"]);
    let status = all.0.server_status("odd").unwrap();
    let told = status["not_shown"][0].as_str().unwrap();
    assert!(
        told.contains("`large`") && told.contains("bytes where 1048576 are allowed"),
        "{told}"
    );
    assert_eq!(host.text("odd__echo", json!({})).unwrap(), "echo");
    processes::gives_back(host.pid(), before).unwrap();
    assert!(host.close(PATIENCE).unwrap().success());
}

/// In any flood, the host ends when it is told to: when the server has hardly begun, and when the
/// host has some of it.
#[test]
fn a_host_ends_in_the_middle_of_a_flood() {
    let kinds = [
        "members",
        "long ids",
        "large questions",
        "60 MB error",
        "a million tools",
        "deep content",
    ];
    for kind in kinds {
        for later in [Duration::ZERO, Duration::from_secs(1)] {
            let all = hostile(kind);
            let able = json!({ "sampling": {} });
            let mut host = Client::start_able(&mut all.0.command(&["serve"]), able).unwrap();
            let call = json!({ "name": "odd__echo", "arguments": {} });
            host.send("tools/call", call).unwrap();
            let starts = all.0.path().join("odd.starts");
            wait::until("it has been started", || Ok(fs::metadata(&starts)?)).unwrap();
            std::thread::sleep(later);
            let kill = Command::new("kill").arg(host.pid().to_string()).status();
            assert!(kill.unwrap().success());
            let ended = host.wait(PATIENCE).unwrap();
            assert!(ended.success(), "{kind}, {later:?} later: {ended}");
        }
    }
}

#[test]
fn sixty_thousand_recorded_names_that_collide_take_no_time() {
    let all = Hostile::new().and("odd", "nothing", "");
    let tools: Vec<_> = (0..30_000)
        .flat_map(|number| ["?", "!"].map(|end| format!("t{number}{end}")))
        .map(|name| format!("{{\"name\":\"{name}\",\"inputSchema\":{{\"type\":\"object\"}}}}"))
        .collect();
    recorded(&all.0, &tools);
    let before = {
        let none = Hostile::new().and("odd", "nothing", "");
        let mut host = none.0.serve().unwrap();
        host.tools().unwrap();
        none.0.status().unwrap();
        processes::memory(host.pid()).unwrap()
    };
    let mut host = all.0.serve().unwrap();
    host.tools().unwrap();
    host.request("ping", json!({})).unwrap();
    let status = all.0.server_status("odd").unwrap();
    let told = status["not_shown"].to_string();
    assert!(told.contains("where 10000 are allowed"), "{told:.300}");
    let cpu = cpu_time(host.pid());
    processes::gives_back(host.pid(), before).unwrap();
    assert!(host.close(PATIENCE).unwrap().success());
    // What a host does with as many tools whose names differ.
    let tools: Vec<_> = tools
        .iter()
        .map(|tool| tool.replace('?', "x").replace('!', "y"))
        .collect();
    let all = Hostile::new().and("odd", "nothing", "");
    recorded(&all.0, &tools);
    let mut host = all.0.serve().unwrap();
    host.tools().unwrap();
    let control = cpu_time(host.pid());
    assert!(cpu < 4 * control, "{cpu} ticks instead of {control}");
}

/// Returns the CPU time of a process, in ticks.
pub(crate) fn cpu_time(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<_> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    let times = [11, 12].map(|field: usize| fields[field].parse::<u64>().unwrap());
    times.iter().sum::<u64>().max(1)
}

/// Each cap is the configured one, and errors name it.
#[test]
fn caps_are_the_configured_ones_and_are_told() {
    for (kind, limit, told) in [
        (
            "an endless list",
            "pages = 3",
            "more than 3 pages (`pages`)",
        ),
        ("10000 tools", "items = 7", "more than 7 items (`items`)"),
        (
            "10000 tools",
            "list = '10KiB'",
            "more than 10240 bytes (`list`)",
        ),
        (
            "a batch of doubles",
            "batch = 1",
            "sends more messages as one than its `limits.batch` allows",
        ),
        (
            "news at start",
            "log = '1KiB'",
            "more than 1024 bytes would be logged within 10 s",
        ),
        (
            "a flood of questions",
            "requests = '1B'",
            "asks with more bytes at once than its `limits.requests` allows",
        ),
        (
            "50 MB",
            "message = '1MiB'",
            "`message` in `[servers.odd.limits]` sets how long one may be",
        ),
        (
            "50 MB",
            "result = '1MiB'",
            "`result` in `[servers.odd.limits]`",
        ),
    ] {
        let table = format!("tools = [\"echo\"]\n[servers.odd.limits]\n{limit}\n");
        let all = Hostile::new().and("odd", kind, &table);
        let run = |words: &[&str]| {
            let output = all.0.command(words).output().unwrap();
            String::from_utf8_lossy(&output.stderr).into_owned()
        };
        let log = run(&["-v", "sync", "odd"]) + &run(&["-v", "call", "odd", "echo"]);
        assert!(log.contains(told), "{kind}, {limit}: {log:.2000}");
    }
}
