//! Tools that are not in the list: found, described, loaded, and called.

use std::fs;
use std::path::Path;

use dormouse_tests::{Client, Home, artifacts};
use serde_json::{Value, json};

use crate::{Sdk, call, home, is_error, names, text};

const CALL_TOOLS: [&str; 3] = ["call_tool", "call_tool_write", "call_tool_destructive"];

/// Returns a home with that exposure, in which a tool of each kind can be called.
pub(crate) fn home_with(exposure: &str) -> Home {
    let home = home(&["echo"]);
    let mut config = fs::read_to_string(home.config()).unwrap();
    config.push_str(
        "[servers.echo.annotations]\nadd = { readOnlyHint = false, destructiveHint = false }\n\n",
    );
    fs::write(home.config(), format!("[exposure]\n{exposure}\n{config}")).unwrap();
    home
}

fn by(meta_tool: &str, tool: &str, arguments: &Value) -> Value {
    call(meta_tool, json!({ "name": tool, "arguments": arguments }))
}

pub(crate) fn tools_are_searched_described_and_called(sdk: Sdk) {
    let home = home_with("mode = 'search'");
    let sum = json!({ "a": 2, "b": 3 });
    let [list, found, described, added, wrong, unfit, echoed, by_name] = sdk
        .run(
            &home,
            &[
                json!({ "do": "list" }),
                search("add two numbers"),
                call("describe_tool", json!({ "names": ["echo__add"] })),
                by("call_tool_write", "echo__add", &sum),
                by("call_tool", "echo__add", &sum),
                by("call_tool_write", "echo__add", &json!({ "a": "two" })),
                by("call_tool", "echo__echo", &json!({ "text": "well" })),
                call("echo__echo", json!({ "text": "by its name" })),
            ],
        )
        .unwrap();
    let listed = names(&list["tools"]);
    assert_eq!(listed[..2], ["search_tools", "describe_tool"]);
    assert_eq!(listed[2..], CALL_TOOLS);
    let first = text(&found).lines().next().unwrap();
    assert_eq!(first, "echo__add(a: integer, b: integer) [call_tool_write]");
    let described = text(&described);
    let (head, object) = described.split_once('\n').unwrap();
    assert_eq!(head, "`echo__add`, called by `call_tool_write`:");
    let object: Value = serde_json::from_str(object).unwrap();
    assert_eq!(object["inputSchema"]["required"], json!(["a", "b"]));
    assert_eq!(added["structuredContent"]["result"], 5, "{added}");
    assert!(is_error(&wrong), "{wrong}");
    assert!(
        text(&wrong).ends_with("hint: call it by `call_tool_write`"),
        "{wrong}"
    );
    assert!(is_error(&unfit), "{unfit}");
    assert!(
        unfit["content"].to_string().contains("Its input schema: {"),
        "{unfit}"
    );
    assert_eq!(text(&echoed), "well");
    assert_eq!(text(&by_name), "by its name");
}

/// Each session has the tools in its list that it has loaded, and no others; who has no session, or
/// takes no changed list, calls them by the tools that call others.
pub(crate) fn tools_are_loaded_for_one_session_alone(sdk: Sdk) {
    let home = home_with("mode = 'index'");
    let load = |tool: &str| {
        let arguments = json!({ "server": "echo", "names": [tool] });
        json!({ "do": "load", "tool": "load_tools", "arguments": arguments })
    };
    let beside = [
        json!({ "do": "list" }),
        load("add"),
        json!({ "do": "list" }),
    ];
    let [before, loaded, beside, after, called, ignored] = sdk
        .run(
            &home,
            &[
                json!({ "do": "list" }),
                load("echo"),
                json!({ "do": "beside", "steps": beside }),
                json!({ "do": "list" }),
                call("echo__echo", json!({ "text": "loaded" })),
                by("call_tool_write", "echo__add", &json!({ "a": 2, "b": 3 })),
            ],
        )
        .unwrap();
    let unloaded = names(&before["tools"]);
    let mut expected = vec!["list_servers", "load_tools", "describe_tool"];
    expected.extend(CALL_TOOLS);
    assert_eq!(unloaded, expected);
    assert!(
        text(&loaded["result"]).starts_with("echo__echo(text: string) [call_tool]\n"),
        "{loaded}"
    );
    let with = |tool: &'static str| match sdk.is_modern() {
        // A list must not depend on the connection.
        true => expected.clone(),
        false => [&[tool], expected.as_slice()].concat(),
    };
    assert_eq!(names(&loaded["tools"]), with("echo__echo"));
    assert_eq!(names(&after["tools"]), with("echo__echo"));
    assert_eq!(names(&beside["outcomes"][0]["tools"]), expected);
    assert_eq!(names(&beside["outcomes"][1]["tools"]), with("echo__add"));
    assert_eq!(names(&beside["outcomes"][2]["tools"]), with("echo__add"));
    assert_eq!(text(&called), "loaded");
    assert_eq!(ignored["structuredContent"]["result"], 5, "{ignored}");
}

/// Neither a search nor an index nor a description tells of a tool that is hidden, denied or waits
/// for its user, and no call reaches one.
pub(crate) fn what_cannot_be_called_is_not_found(sdk: Sdk) {
    for (mode, finding) in [
        ("search", search("known fail secret waits")),
        ("index", call("list_servers", json!({}))),
    ] {
        let home = home_with(&format!("mode = '{mode}'\ndeny = ['echo__fail']"));
        let echo = artifacts::guest("echo").unwrap();
        home.server_with("secret", &echo, "expose = 'hidden'")
            .unwrap();
        home.table("scripted", &scripted(home.path(), &["known"]))
            .unwrap();
        home.synced("scripted").unwrap();
        scripted(home.path(), &["known", "waits"]);
        home.synced("scripted").unwrap();

        let hidden = ["echo__fail", "secret__echo", "scripted__waits"];
        let mut waiting = by("call_tool_destructive", hidden[2], &json!({}));
        // Its user is asked, where the client can, and does not want it.
        waiting["answers"] = json!({ "elicit": [{ "action": "decline" }] });
        let [list, found, described, denied, secret, waiting] = sdk
            .run(
                &home,
                &[
                    json!({ "do": "list" }),
                    finding,
                    call("describe_tool", json!({ "names": hidden })),
                    by("call_tool_destructive", hidden[0], &json!({})),
                    by("call_tool", hidden[1], &json!({ "text": "x" })),
                    waiting,
                ],
            )
            .unwrap();
        let list = list["tools"].to_string();
        assert!(list.contains("scripted"), "{list}");
        let found = text(&found);
        assert!(found.contains("known"), "{found}");
        for told in [&list, found] {
            for name in ["fail", "secret", "waits"] {
                assert!(!told.contains(name), "`{name}` in {told}");
            }
        }
        assert!(is_error(&described), "{described}");
        assert!(
            !described.to_string().contains("inputSchema"),
            "{described}"
        );
        for result in [denied, secret, waiting] {
            assert!(is_error(&result), "{result}");
        }
    }
}

fn search(query: &str) -> Value {
    call("search_tools", json!({ "query": query }))
}

/// Returns the TOML of a server with these tools, which can be others the next time.
fn scripted(folder: &Path, tools: &[&str]) -> String {
    let tool = |name: &&str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let tools: Vec<_> = tools.iter().map(tool).collect();
    fs::write(folder.join("lists"), json!(tools).to_string()).unwrap();
    let script = artifacts::workspace().join("tests/servers/scripted.py");
    let words = json!([
        "python3",
        script,
        folder.join("starts"),
        folder.join("lists")
    ]);
    format!("command = {words}")
}

/// What a project's server is known to have is not found once the project is no longer the trusted
/// one.
#[test]
fn what_nobody_trusts_is_not_found() {
    for (mode, finding) in [
        ("search", ("search_tools", json!({ "query": "burrow" }))),
        ("index", ("list_servers", json!({}))),
    ] {
        let home = home_with(&format!("mode = '{mode}'"));
        let project = home.path().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        scripted(&project, &["burrow"]);
        let script = artifacts::workspace().join("tests/servers/scripted.py");
        let write = |more: &str| {
            let arguments = json!([script, project.join("starts"), project.join("lists"), more]);
            let server = json!({ "command": "python3", "args": arguments });
            let servers = json!({ "mcpServers": { "digger": server } });
            fs::write(project.join(".mcp.json"), servers.to_string()).unwrap();
        };
        let there = |words: &[&str]| {
            let mut command = home.command(words);
            command.current_dir(&project);
            command
        };
        write("trusted");
        for words in [&["trust", "--yes"][..], &["sync", "digger"]] {
            let output = there(words).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
        let ask = || {
            let mut client = Client::start(&mut there(&["serve"])).unwrap();
            let list = json!(client.tools().unwrap()).to_string();
            let (tool, arguments) = finding.clone();
            let found = client.text(tool, arguments).unwrap();
            let names = json!({ "names": ["digger__burrow"] });
            let described = client.call("describe_tool", names).unwrap();
            let arguments = json!({ "name": "digger__burrow", "arguments": {} });
            let called = client.call("call_tool_destructive", arguments).unwrap();
            (list, found, described, called)
        };
        let (list, found, described, called) = ask();
        assert!(list.contains("digger"), "{list}");
        assert!(found.contains("burrow"), "{found}");
        assert!(!is_error(&described) && !is_error(&called), "{called}");

        write("changed");
        let (list, found, described, called) = ask();
        for told in [&list, &found] {
            assert!(
                !told.contains("digger") && !told.contains("burrow"),
                "{told}"
            );
        }
        assert!(is_error(&described) && is_error(&called), "{called}");
    }
}
