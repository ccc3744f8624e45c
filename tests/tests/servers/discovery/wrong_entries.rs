//! Entries that are wrong, and have a secret in a wrong place: errors do not repeat it.

use anyhow::ensure;
use dormouse_tests::{Client, wait};
use serde_json::json;

use crate::scripted::{Scripted, comes_to, tools, write};

/// Returns the output of each command that shows the configuration, or tries to use it.
fn said(all: &Scripted) -> String {
    let commands: [&[&str]; 5] = [
        &["list"],
        &["doctor"],
        &["sync"],
        &["status", "--json"],
        &["adapt", "wrong", "-o", "x.wasm"],
    ];
    commands
        .map(|words| all.run_in(all.home.path(), words).1)
        .concat()
}

#[test]
fn errors_of_wrong_urls_and_names_of_headers_repeat_no_secret() {
    let ok = "https://127.0.0.1:1/mcp";
    for (url, header, told) in [
        (
            r"https://u:hunter-two\x@h/mcp",
            "A",
            "has a backslash in it",
        ),
        ("//u:hunter-two@h", "A", "is no URL of a server"),
        ("https://u:hunter two@h/", "A", "has a space in it"),
        ("htp://u:hunter-two@h/", "A", "is no URL of a server"),
        (
            ok,
            "Authorization: Bearer hunter-two",
            "what begins with `Authorization` cannot be the name",
        ),
    ] {
        let all = Scripted::new();
        let table = format!(
            "url = {}\nheaders = {{ {} = 'x' }}\n",
            json!(url),
            json!(header)
        );
        all.home.table("wrong", &table).unwrap();
        let of_own_file = said(&all);
        let all = Scripted::new();
        let server = json!({ "url": url, "headers": { header: "x" } });
        write(
            &all.cursor(),
            &json!({ "mcpServers": { "wrong": server } }).to_string(),
        );
        for said in [of_own_file, said(&all)] {
            assert!(said.contains(told), "{url} {header}: {said}");
            for secret in ["hunter-two", "hunter two"] {
                assert!(!said.contains(secret), "{url} {header}: {said}");
            }
        }
    }
}

#[test]
fn a_wrong_table_costs_its_server_and_the_others_run() {
    let all = Scripted::new();
    for name in ["notes", "post"] {
        all.offers(name, &[("add", "Adds something.")]);
    }
    all.configure(&all.cursor(), &["notes", "post"]);
    all.run(&["sync"]);
    let mut host = all.serve(&[]);
    comes_to(&mut host, &["notes__add", "post__add"]);

    // Half of what its user wants is not what they want.
    let wrong = "[servers.post]\nexclude_tools = ['delete_*']\nenabeld = true\n\n\
                 [servers.dormouse]\ncommand = 'x'\n\n[limits]\nmemory = 5\n";
    write(&all.home.config(), wrong);
    comes_to(&mut host, &["notes__add"]);
    host.text("notes__add", json!({})).unwrap();
    let starts = all.starts("post");
    let refused = host
        .outcome("tools/call", json!({ "name": "post__add" }))
        .unwrap();
    let refused = refused.to_string();
    assert!(
        refused.contains("something is wrong in its table"),
        "{refused}"
    );
    assert!(!refused.contains("enabeld"), "{refused}");
    assert_eq!(all.starts("post"), starts);

    // A host that starts with it runs the others as well.
    let mut another = all.serve(&[]);
    assert_eq!(tools(&mut another), ["notes__add"]);
    another.text("notes__add", json!({})).unwrap();
    drop(another);
    for problem in [
        "something is wrong in its table",
        "`dormouse`",
        "`limits.memory`",
    ] {
        // What `list` says of it is the line of a host's log.
        for words in ["list", "status"] {
            let (_, told) = all.run_in(all.home.path(), &[words]);
            assert!(told.contains(problem), "{words:?}: {told}");
        }
    }
    for problem in ["did you mean `enabled`?", "`dormouse`", "`limits.memory`"] {
        assert!(all.fails(&["doctor"]).contains(problem));
    }
    for verb in ["sync", "restart", "enable", "login"] {
        all.run_in(all.home.path(), &[verb, "post"]);
        assert_eq!(all.starts("post"), starts, "{verb}");
    }
    let list = all.run(&["list"]);
    assert!(list.contains("post") && list.contains("failed"), "{list}");

    // A file that is no TOML at all changes nothing for those who run.
    write(&all.home.config(), "[servers");
    assert!(all.fails(&["list"]).contains("this is not TOML"));
    host.text("notes__add", json!({})).unwrap();
    write(
        &all.home.config(),
        "[servers.post]\nexclude_tools = ['delete_*']\n",
    );
    comes_to(&mut host, &["notes__add", "post__add"]);
    host.text("post__add", json!({})).unwrap();
}

#[test]
fn every_key_can_be_said_of_a_server_in_a_clients_file() {
    let all = Scripted::new();
    all.offers("notes", &[("add", "Adds."), ("delete_all", "Deletes all.")]);
    all.configure(&all.cursor(), &["notes"]);
    all.run(&["sync"]);
    let mut host = all.serve(&[]);
    comes_to(&mut host, &["notes__add", "notes__delete_all"]);
    let before = std::fs::read(all.cursor()).unwrap();
    let own =
        "[servers.notes]\nexclude_tools = ['delete_*']\nprefix = 'n'\nstart_timeout = '20s'\n";
    write(&all.home.config(), own);
    comes_to(&mut host, &["n__add"]);
    host.text("n__add", json!({})).unwrap();
    // With another environment it is another launch, of which nothing is known.
    let env = format!("{own}env = {{ DORMOUSE_TEST_MARK = 'here' }}\n");
    write(&all.home.config(), &env);
    all.run(&["sync", "notes"]);
    comes_to(&mut host, &["n__add"]);
    host.text("n__add", json!({})).unwrap();
    let status = all.home.server_status("notes").unwrap();
    let pid = status["pids"][0].as_u64().unwrap();
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap();
    let environment = String::from_utf8_lossy(&environment);
    assert!(environment.contains("DORMOUSE_TEST_MARK=here"));
    assert!(environment.contains("SECRET=hunter-two"));
    assert_eq!(std::fs::read(all.cursor()).unwrap(), before);
}

/// The user decides about changes of a server, whatever file the server is in.
#[test]
fn what_happens_to_changes_can_be_said_of_a_server_in_a_clients_file() {
    const OLD: [(&str, &str); 3] = [("send", "Sends."), ("read", "Reads."), ("find", "Finds.")];
    const NEW: [(&str, &str); 4] = [
        ("send", "Sends all."),
        ("read", "Reads all."),
        ("find", "Finds."),
        ("more", "Is new."),
    ];
    for (own, described, added) in [
        ("prefix = 'post'", ["Sends.", "Reads."], false),
        (
            "tools_on_change = { 're*' = 'accept' }",
            ["Sends.", "Reads all."],
            false,
        ),
        ("new_tools = 'show'", ["Sends.", "Reads."], true),
        (
            "on_change = 'accept'\ntools_on_change = { send = 'freeze' }",
            ["Sends.", "Reads all."],
            true,
        ),
    ] {
        let all = Scripted::new();
        all.offers("post", &OLD);
        all.configure(&all.cursor(), &["post"]);
        all.run(&["sync"]);
        write(&all.home.config(), &format!("[servers.post]\n{own}\n"));
        all.offers("post", &NEW);
        all.run(&["sync"]);
        let mut host = all.serve(&[]);
        let tools = host.tools().unwrap();
        let of = |name: &str| {
            let tool = tools
                .iter()
                .find(|tool| tool["name"] == format!("post__{name}"));
            tool.map(|tool| tool["description"].as_str().unwrap())
        };
        assert_eq!(
            ["send", "read"].map(|name| of(name).unwrap()),
            described,
            "{own}"
        );
        assert_eq!(of("find"), Some("Finds."), "{own}");
        assert_eq!(of("more").is_some(), added, "{own}");
        let call = json!({ "name": "post__more", "arguments": {} });
        let answer = host.outcome("tools/call", call).unwrap();
        let is_called = answer["result"]["content"][0]["text"] == "more {}";
        assert_eq!(is_called, added, "{own}: {answer}");
    }
}

/// A client shows the log of a host to anybody, models too: the log says which table is wrong, and
/// `doctor` which key.
#[test]
fn the_log_names_the_server_of_a_wrong_table_and_doctor_the_key() {
    let all = Scripted::new();
    for name in ["post", "good"] {
        all.offers(name, &[("add", "Adds.")]);
    }
    all.configure(&all.cursor(), &["post", "good"]);
    all.run(&["sync"]);
    let path = all.home.path().join("log");
    let mut host = None;
    for (number, (table, key)) in [
        ("new_tools = 'hunter-two'", "servers.post.new_tools"),
        ("clients = { emacs = {} }", "servers.post.clients.emacs"),
        ("pass_env = 'hunter-two'", "servers.post.pass_env"),
        (
            "tools_on_change = 'hunter-two'",
            "servers.post.tools_on_change",
        ),
        (
            "tools_on_change = { add = 'hunter-two' }",
            "servers.post.tools_on_change.add",
        ),
        ("tools_on_chnage = { add = 'accept' }", "`tools_on_chnage`"),
    ]
    .into_iter()
    .enumerate()
    {
        let lines = "\n".repeat(number);
        write(
            &all.home.config(),
            &format!("{lines}[servers.post]\n{table}\n"),
        );
        // The first one is there from the start, the others come while it runs.
        let host = host.get_or_insert_with(|| {
            let log = std::fs::File::create(&path).unwrap();
            Client::start(all.home.command(&["serve"]).stderr(log)).unwrap()
        });
        let told = format!(
            "server `post`: something is wrong in its table in your configuration, line {}",
            number + 1
        );
        wait::until("the log tells", || {
            let log = std::fs::read_to_string(&path)?;
            let line = log.lines().find(|line| line.contains(&told));
            ensure!(
                line.is_some_and(|line| line.contains("ERROR")),
                "{table}: {log}"
            );
            ensure!(log.contains("`dormouse doctor` says what"), "{log}");
            assert!(!log.contains("hunter"), "{log}");
            Ok(())
        })
        .unwrap();
        comes_to(host, &["good__add"]);
        let doctor = all.fails(&["doctor"]);
        assert!(
            doctor.contains(key) && !doctor.contains("hunter"),
            "{doctor}"
        );
    }
}

/// A value of the wrong kind may be a secret in a wrong place.
#[test]
fn values_of_the_wrong_kind_are_not_repeated() {
    for table in [
        "command = 'x'\nargs = '--token=hunter-TWO-99'",
        "command = 'x'\nsettings = 'hunter-TWO-99'",
        "command = ['npx', { k = 'hunter-TWO-99' }]",
        "command = 'x'\ncwd = ['hunter-TWO-99']",
        "command = 'x'\npass_env = 'hunter-TWO-99'",
        "url = ['https://u:hunter-TWO-99@h/']",
        "url = 'https://h/'\noauth = 'hunter-TWO-99'",
        "url = 'https://h/'\noauth = { client_id = ['hunter-TWO-99'] }",
        "url = 'https://h/'\ntype = 'hunter-TWO-99'",
        "command = 'x'\ngrants = { env = 'hunter-TWO-99' }",
        "command = 'x'\nenabled = 'hunter-TWO-99'",
        "command = 'x'\nlimits = { memory = 'hunter-TWO-99' }",
        "command = 'x'\nenv = 'hunter-TWO-99'",
    ] {
        let all = Scripted::new();
        all.home.table("wrong", &format!("{table}\n")).unwrap();
        let said = said(&all);
        assert!(said.contains("servers.wrong"), "{table}: {said}");
        assert!(!said.contains("hunter"), "{table}: {said}");
    }
}
