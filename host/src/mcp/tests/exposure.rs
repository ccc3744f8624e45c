//! Agents that find, load and call tools that are not in their lists.

use super::*;

/// A host with three servers: `math`, of which `add` only reads and `trap` may do anything, `more`,
/// and `secret`, which is hidden.
pub(super) fn deferred(exposure: &str) -> (Home, Arc<Roster>) {
    let home = Home::new();
    home.write("a.wasm", &component(&[ADD, TRAP]));
    home.write("b.wasm", &component(&[SUBTRACT]));
    let text = format!(
        "{exposure}\n\
         [servers.math]\ncomponent = 'a.wasm'\nannotations.add = {{ readOnlyHint = true }}\n\
         [servers.more]\ncomponent = 'b.wasm'\nannotations.add = {{ destructiveHint = false }}\n\
         [servers.secret]\ncomponent = 'a.wasm'\nexpose = 'hidden'\n"
    );
    home.write("dormouse.toml", text.as_bytes());
    let roster = home.open();
    (home, roster)
}

impl Agent {
    /// Calls a tool, and returns its result.
    async fn call(&mut self, name: &str, arguments: Value) -> Value {
        let params = json!({"name": name, "arguments": arguments});
        self.ask("tools/call", params).await["result"].clone()
    }

    /// Calls a tool that answers with a text.
    async fn told(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_ne!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Calls a tool that refuses, and returns why.
    async fn refused(&mut self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }
}

const OF_SEARCH: [&str; 5] = [
    "search_tools",
    "describe_tool",
    "call_tool",
    "call_tool_write",
    "call_tool_destructive",
];

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_searched_described_and_called() {
    let (_home, roster) = deferred("exposure.mode = 'search'");
    let mut agent = Agent::legacy(&roster).await;
    assert_eq!(agent.names().await, OF_SEARCH);
    let found = agent.told("search_tools", json!({"query": "add"})).await;
    let first: Vec<_> = found.lines().take(2).collect();
    assert_eq!(
        first,
        [
            "math__add(a: integer, b: integer) [call_tool]",
            "more__add(a: integer, b: integer) [call_tool_write]"
        ]
    );
    let more = json!({"query": "add", "server": "more", "limit": 1});
    let found = agent.told("search_tools", more).await;
    assert!(
        found.starts_with("more__add(") && !found.contains("math"),
        "{found}"
    );
    let described = agent
        .told("describe_tool", json!({"names": ["math__add"]}))
        .await;
    assert!(
        described.starts_with("`math__add`, called by `call_tool`:\n{\""),
        "{described}"
    );
    assert!(described.contains("inputSchema"), "{described}");
    let arguments = json!({"name": "math__add", "arguments": {"a": 5, "b": 3}});
    let result = agent.call("call_tool", arguments).await;
    assert_eq!(
        result["structuredContent"],
        json!({"result": 8}),
        "{result}"
    );
    let arguments = json!({"name": "more__add", "arguments": "{\"a\": 5, \"b\": 3}"});
    let result = agent.call("call_tool_write", arguments).await;
    assert_eq!(
        result["structuredContent"],
        json!({"result": 2}),
        "{result}"
    );
    // One that the agent knows by its name can be called by that.
    let result = agent.call("math__add", json!({"a": 1, "b": 1})).await;
    assert_eq!(result["structuredContent"], json!({"result": 2}));
    // The same without a handshake.
    let call = json!({"name": "call_tool", "arguments": {"name": "math__add", "arguments": {"a": 2, "b": 2}}});
    let result = agent.ask("tools/call", stateless(call)).await["result"].clone();
    assert_eq!(
        result["structuredContent"],
        json!({"result": 4}),
        "{result}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_for_nothing_names_what_it_needs() {
    let (_home, roster) = deferred("exposure.mode = 'search'");
    let mut agent = Agent::legacy(&roster).await;
    for query in [
        json!({}),
        json!({"q": "add"}),
        json!({"query": ""}),
        json!({"query": " "}),
    ] {
        let why = agent.refused("search_tools", query).await;
        assert!(why.starts_with("`search_tools` needs a `query`"), "{why}");
    }
    for query in [json!(""), json!(null)] {
        let arguments = json!({"query": query, "server": "math"});
        let told = agent.told("search_tools", arguments).await;
        assert!(
            told.contains("math__add(") && told.contains("math__trap(") && !told.contains("more__"),
            "{told}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_is_called_by_what_says_truly_what_it_may_do() {
    let (_home, roster) = deferred("exposure.mode = 'search'");
    let mut agent = Agent::legacy(&roster).await;
    let listed = agent.ask("tools/list", json!({})).await["result"]["tools"].clone();
    for (place, hints) in [(2, (true, false)), (3, (false, false)), (4, (false, true))] {
        let said = &listed[place]["annotations"];
        assert_eq!(said["readOnlyHint"], hints.0, "{said}");
        assert_eq!(said["destructiveHint"], hints.1, "{said}");
    }
    for (tool, right) in [
        ("math__add", "call_tool"),
        ("more__add", "call_tool_write"),
        // Nothing is said of it.
        ("math__trap", "call_tool_destructive"),
    ] {
        let arguments = json!({"name": tool, "arguments": {"a": 1, "b": 2}});
        for used in ["call_tool", "call_tool_write", "call_tool_destructive"] {
            if used != right {
                let why = agent.refused(used, arguments.clone()).await;
                assert!(
                    why.starts_with(&format!("`{tool}` was not called: ")),
                    "{why}"
                );
                assert!(
                    why.ends_with(&format!("hint: call it by `{right}`")),
                    "{why}"
                );
            }
        }
    }
    assert_eq!(roster.status().engines, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn search_finds_nothing_that_cannot_be_called() {
    let exposure = "exposure = { mode = 'search', deny = ['more__*'] }";
    let (_home, roster) = deferred(exposure);
    let mut agent = Agent::legacy(&roster).await;
    for (name, why) in [
        (
            "secret__add",
            "its server is configured as `expose = \"hidden\"`",
        ),
        ("more__add", "`deny` of `[exposure]` has `more__*`"),
    ] {
        let found = agent.told("search_tools", json!({"query": name})).await;
        assert!(!found.contains(name), "{found}");
        agent
            .refused("describe_tool", json!({"names": [name]}))
            .await;
        let refused = agent.refused("call_tool", json!({"name": name})).await;
        assert!(refused.contains(why), "{refused}");
        let params = json!({"name": name, "arguments": {"a": 1, "b": 1}});
        let error = agent.ask("tools/call", params).await["error"].clone();
        assert!(error["message"].as_str().unwrap().contains(why), "{error}");
    }
    let listed = agent.ask("tools/list", json!({})).await.to_string();
    assert!(
        !listed.contains("secret") && !listed.contains("more ("),
        "{listed}"
    );
    assert_eq!(roster.status().engines, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_arguments_bring_the_whole_schema() {
    let (_home, roster) = deferred("exposure.mode = 'search'");
    let mut agent = Agent::legacy(&roster).await;
    let arguments = json!({"name": "math__add", "arguments": {"a": "five"}});
    let result = agent.call("call_tool", arguments).await;
    assert_eq!(result["isError"], true);
    let told = result["content"].to_string();
    assert!(
        told.contains("Its input schema: {") && told.contains("`/a`"),
        "{told}"
    );
    for (tool, arguments, why) in [
        (
            "call_tool",
            json!({}),
            "`call_tool` needs the `name` of a tool",
        ),
        (
            "call_tool",
            json!({"name": "math__ad"}),
            "did you mean `math__add`?",
        ),
        (
            "call_tool",
            json!({"name": "call_tool"}),
            "Unknown tool: `call_tool`",
        ),
        (
            "search_tools",
            json!({"query": 1}),
            "`query` has to be a string, not `1`",
        ),
        (
            "search_tools",
            json!({"query": "x", "limit": 0}),
            "`limit` cannot be `0`",
        ),
        (
            "search_tools",
            json!({"query": "x", "server": "mtah"}),
            "did you mean `math`?",
        ),
        ("describe_tool", json!({"names": []}), "from 1 to 5 `names`"),
        (
            "describe_tool",
            json!({"names": "math__ad"}),
            "did you mean `math__add`?",
        ),
        ("load_tools", json!({}), "needs the name of a `server`"),
        (
            "load_tools",
            json!({"server": "math", "names": ["ad"]}),
            "did you mean `add`?",
        ),
    ] {
        let told = agent.refused(tool, arguments).await;
        assert!(told.contains(why), "{tool}: {told}");
    }
    for query in ["…!?", "数学", &"add ".repeat(1 << 18)] {
        agent.told("search_tools", json!({"query": query})).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn loaded_tools_join_the_list_of_their_session_alone() {
    let (_home, roster) = deferred("exposure = { mode = 'index', pinned = ['more__add'] }");
    let mut one = Agent::legacy(&roster).await;
    let mut other = Agent::legacy(&roster).await;
    let of_index = [
        "more__add",
        "list_servers",
        "load_tools",
        "describe_tool",
        "call_tool",
        "call_tool_write",
        "call_tool_destructive",
    ];
    assert_eq!(one.names().await, of_index);
    let listed = one.ask("tools/list", json!({})).await["result"]["tools"].clone();
    let index = listed[2]["description"].as_str().unwrap();
    assert!(index.ends_with("\nmath: add, trap"), "{index}");
    let all = one.told("list_servers", json!({})).await;
    assert!(all.starts_with("math: add, trap\nmore: add\n"), "{all}");
    let loaded = one
        .told("load_tools", json!({"server": "math", "names": ["add"]}))
        .await;
    assert!(
        loaded.starts_with("math__add(a: integer, b: integer) [call_tool]\n"),
        "{loaded}"
    );
    one.notified("notifications/tools/list_changed").await;
    assert_eq!(one.names().await[..2], ["math__add", "more__add"]);
    assert_eq!(other.names().await, of_index);
    let result = one.call("math__add", json!({"a": 5, "b": 3})).await;
    assert_eq!(result["structuredContent"], json!({"result": 8}));
    // What is loaded already changes nothing.
    one.told(
        "load_tools",
        json!({"server": "math", "names": ["math__add"]}),
    )
    .await;
    assert_eq!(one.heard.len(), 0, "{:?}", one.heard);
    // Whoever ignores a changed list calls it all the same, and so does a request of no session.
    let arguments = json!({"name": "math__add", "arguments": {"a": 1, "b": 1}});
    let result = other.call("call_tool", arguments).await;
    assert_eq!(result["structuredContent"], json!({"result": 2}));
    let load = json!({"name": "load_tools", "arguments": {"server": "math"}});
    let result = other.ask("tools/call", stateless(load)).await["result"].clone();
    assert_eq!(result["resultType"], "complete", "{result}");
    let listed = other
        .ask("tools/list", stateless(json!({})))
        .await
        .to_string();
    assert!(!listed.contains("math__add"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn loading_starts_nothing() {
    let (_home, roster) = deferred("exposure.mode = 'index'");
    let mut agent = Agent::legacy(&roster).await;
    agent.told("load_tools", json!({"server": "math"})).await;
    assert_eq!(agent.names().await[..2], ["math__add", "math__trap"]);
    assert_eq!(roster.status().engines, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deferred_server_is_found_beside_those_that_are_listed() {
    let home = Home::new();
    home.write("a.wasm", &component(&[ADD]));
    let text = "[servers.math]\ncomponent = 'a.wasm'\n\
                [servers.more]\ncomponent = 'a.wasm'\nexpose = 'deferred'\n";
    home.write("dormouse.toml", text.as_bytes());
    let mut agent = Agent::legacy(&home.open()).await;
    assert_eq!(agent.names().await[0], SUM);
    assert_eq!(agent.names().await[1..], OF_SEARCH);
    let found = agent
        .told("search_tools", json!({"query": "more__add"}))
        .await;
    assert!(found.starts_with("more__add("), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_servers_tool_has_the_name_of_one_that_finds_or_calls_others() {
    for mode in ["search", "direct"] {
        let home = Home::new();
        let function = |text: &str| text.replace("\"add\"", "\"call-tool\"");
        let (core, lifted) = (function(ADD.0), function(ADD.1));
        home.write("a.wasm", &component(&[(&core, &lifted)]));
        let text = format!(
            "exposure.mode = '{mode}'\n[servers.math]\ncomponent = 'a.wasm'\nprefix = ''\n"
        );
        home.write("dormouse.toml", text.as_bytes());
        let roster = home.open();
        let mut agent = Agent::legacy(&roster).await;
        let names = agent.names().await;
        let snapshot = roster.snapshot();
        // In whatever mode: a session may have begun in another.
        let own: &[&str] = match mode {
            "direct" => &[],
            _ => &OF_SEARCH,
        };
        assert_eq!(names, own, "{mode}");
        let told = snapshot.collisions()[0].to_string();
        assert!(
            told.contains("looks like a tool by which Dormouse"),
            "{told}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_are_listed_with_the_names_by_which_their_tools_are_called() {
    let home = Home::new();
    home.write("a.wasm", &component(&[ADD, TRAP]));
    home.write("b.wasm", &component(&[SUBTRACT]));
    let text = "exposure.mode = 'index'\n\
         [servers.math]\ncomponent = 'a.wasm'\nprefix = 'm'\n\
         [servers.more]\ncomponent = 'b.wasm'\nprefix = ''\n\
         [servers.own]\ncomponent = 'b.wasm'\n";
    home.write("dormouse.toml", text.as_bytes());
    let roster = home.open();
    let mut agent = Agent::legacy(&roster).await;
    let all = agent.told("list_servers", json!({})).await;
    let expected = "math (whole names): m__add, m__trap\nmore (whole names): add\nown: add\n";
    assert!(all.starts_with(expected), "{all}");
    // By any of its names, each is loaded.
    for (server, name, loaded) in [
        ("math", "m__add", "m__add("),
        ("math", "trap", "m__trap("),
        ("more", "add", "add("),
        ("own", "add", "own__add("),
    ] {
        let arguments = json!({"server": server, "names": [name]});
        let told = agent.told("load_tools", arguments).await;
        assert!(told.starts_with(loaded), "{told}");
    }
}
