//! Costs of real servers' tools in tokens, and how agents are shown tools because of them.

use dormouse_tests::{Client, Home, artifacts, captured_tools};
use serde_json::{Value, json};

/// Makes a home with these real servers, more lines in front of them.
fn home(servers: &[&str], exposure: &str) -> Home {
    let home = Home::new().unwrap();
    std::fs::write(home.config(), format!("[exposure]\n{exposure}\n\n")).unwrap();
    let mut all = captured_tools::read(&captured_tools::folder()).unwrap();
    all.retain(|server| servers.contains(&server.name.as_str()));
    assert_eq!(all.len(), servers.len());
    captured_tools::add(&home, &all).unwrap();
    home
}

fn list(home: &Home, client: &str) -> String {
    let mut client = Client::start_as(&mut home.command(&["serve"]), client).unwrap();
    json!(client.tools().unwrap()).to_string()
}

/// Returns the names of the first two tools of a list.
fn first_two(list: &str) -> [String; 2] {
    let list: Value = serde_json::from_str(list).unwrap();
    [0, 1].map(|place| list[place]["name"].as_str().unwrap().to_owned())
}

/// Two servers that cost more than the budget, and one that is cheaper listed than found.
#[test]
fn tools_that_cost_more_than_the_budget_are_shown_as_each_client_takes_them() {
    let home = home(&["github", "notion", "postgres"], "");
    for (client, first) in [
        (
            "claude-code",
            [
                "github__add_comment_to_pending_review",
                "github__add_issue_comment",
            ],
        ),
        ("Cline", ["postgres__query", "list_servers"]),
        ("Zed", ["postgres__query", "search_tools"]),
        ("nobody", ["postgres__query", "search_tools"]),
    ] {
        let first_start = list(&home, client);
        assert_eq!(first_two(&first_start), first, "{client}");
        // Whatever is kept between, the bytes are the same: what a model has read stays valid.
        assert_eq!(list(&home, client), first_start, "{client}");
    }
    let few = self::home(&["time"], "");
    let few = first_two(&list(&few, "nobody"));
    assert_eq!(few, ["time__get_current_time", "time__convert_time"]);
}

#[test]
fn costs_are_counted_by_the_named_tokenizer_and_said_for_a_client() {
    let home = home(&["github", "time"], "");
    let costs = home.json(&["tokens", "--json"]).unwrap();
    assert_eq!(costs["tokenizer"], "o200k_base");
    assert_eq!(costs["mode"], "search", "{costs}");
    let why = costs["why"].as_str().unwrap();
    assert!(
        why.starts_with("all tools cost 1") && why.contains("more than the budget of 8000"),
        "{why}"
    );
    let github = &costs["servers"][0];
    assert_eq!(
        (&github["name"], &github["tools"]),
        (&json!("github"), &json!(44))
    );
    let of = |costs: &Value, key: &str| costs["tokens"][key].as_u64().unwrap();
    assert_eq!(github["tokens"]["is_estimate"], false);
    // What others have counted of it, with a tolerance for what they count as mapped.
    assert!((9_500..11_500).contains(&of(github, "mapped")), "{github}");
    assert!(of(github, "raw") > of(github, "mapped"), "{github}");
    assert_eq!(of(github, "listed"), 0);
    assert!(costs["own"].as_u64().unwrap() > 300, "{costs}");

    // A client that defers by itself is shown all of them.
    let costs = home
        .json(&["tokens", "--client", "claude-code", "--json"])
        .unwrap();
    assert_eq!(costs["mode"], "direct");
    assert_eq!(costs["why"], "the client defers tools by itself");
    assert_eq!(costs["total"]["listed"], costs["total"]["mapped"]);
    assert_eq!(costs["own"], 0);
    let tools = home.json(&["tokens", "time", "--json"]).unwrap();
    assert_eq!(tools["tools"].as_array().unwrap().len(), 2);
    assert_eq!(tools["tools"][0]["name"], "time__get_current_time");

    let output = home
        .run(&["tokens", "--tools", "--client", "cursor"])
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("github__issue_write"), "{printed}");
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.contains("tokens of o200k_base; `cursor-vscode` is shown tools in mode `direct`"),
        "{told}"
    );
    let unknown = home.run(&["tokens", "githb"]).unwrap();
    assert_eq!(unknown.status.code(), Some(1));
    let told = String::from_utf8(unknown.stderr).unwrap();
    assert!(
        told.contains("`githb`") && told.contains("`github`"),
        "{told}"
    );
}

#[test]
fn status_and_doctor_say_which_mode_each_client_got_and_why() {
    let home = home(&["github", "time"], "");
    let mut one = Client::start_as(&mut home.command(&["serve"]), "Cline").unwrap();
    one.tools().unwrap();
    let status = home.status().unwrap();
    assert_eq!(status["tokenizer"], "o200k_base");
    let shown = &status["shown_to"][0];
    assert_eq!(
        (&shown["client"], &shown["mode"]),
        (&json!("Cline"), &json!("index"))
    );
    let why = shown["why"].as_str().unwrap();
    assert!(
        why.ends_with("the client lists again when it is told to"),
        "{why}"
    );
    let github = &status["servers"][0];
    assert!(
        github["tokens"]["mapped"].as_u64().unwrap() > 9_500,
        "{github}"
    );
    for command in ["status", "doctor"] {
        let output = home.run(&[command]).unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(
            printed.contains("Cline: index, all tools cost 1"),
            "{command}: {printed}"
        );
    }
}

/// An estimate stands in until the tokens are counted, and is said to be one; what is damaged is
/// counted once more.
#[test]
fn an_estimate_stands_in_where_nothing_is_counted() {
    let home = home(&["github", "time"], "");
    let file = home.path().join("cache/dormouse/tokens.json");
    let counted = std::fs::read_to_string(&file).unwrap();
    assert!(counted.contains("o200k_base"), "{counted:.80}");
    std::fs::write(&file, "{\"tokenizer\":").unwrap();
    let status = home.json(&["status", "--json"]).unwrap();
    assert_eq!(
        status[0]["servers"][0]["tokens"]["is_estimate"], true,
        "{status}"
    );
    let mut client = Client::start_as(&mut home.command(&["serve"]), "nobody").unwrap();
    client.tools().unwrap();
    let why = home.status().unwrap()["shown_to"][0]["why"].clone();
    assert!(
        why.as_str().unwrap().starts_with("all tools cost about 1"),
        "{why}"
    );
    // The host counts once its first answer is out.
    dormouse_tests::wait::until("the tokens are counted", || {
        let text = std::fs::read_to_string(&file)?;
        anyhow::ensure!(text.ends_with('}'), "{text}");
        Ok(())
    })
    .unwrap();
    drop(client);
    let mut client = Client::start_as(&mut home.command(&["serve"]), "nobody").unwrap();
    client.tools().unwrap();
    let why = home.status().unwrap()["shown_to"][0]["why"].clone();
    assert!(
        why.as_str().unwrap().starts_with("all tools cost 1"),
        "{why}"
    );
}

#[test]
fn a_plugin_that_is_added_is_counted_then() {
    let home = Home::new().unwrap();
    let plugin = artifacts::plugin("github").unwrap();
    let added = home
        .run(&["add", "github", &plugin.to_string_lossy()])
        .unwrap();
    assert!(added.status.success(), "{added:?}");
    let counted = std::fs::read_to_string(home.path().join("cache/dormouse/tokens.json"));
    let counted: Value = serde_json::from_str(&counted.unwrap()).unwrap();
    let counts = counted["counts"].as_object().unwrap();
    // Each of its 29 tools, and Dormouse's own that would stand for them.
    assert!(counts.len() > 29, "{counted}");
}
