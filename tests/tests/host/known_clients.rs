//! Each client of the table of clients (`clients.json`), as far as its documentation goes: what it
//! leaves out, cuts and does not hear of. Whatever that is, it reaches every tool.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use dormouse_tests::client::{PATIENCE, text};
use dormouse_tests::{Client, Home, artifacts, captured_tools};
use serde_json::{Value, json};

/// Real servers whose tools are too many for clients with a limit, and cost more than the budget.
const SERVERS: [&str; 3] = ["github", "playwright-community", "redis"];

/// Tool whose name is cut for all clients.
const LONG_NAME: &str =
    "a_tool_whose_author_was_never_told_that_names_are_to_be_short_and_so_goes_on";

fn home() -> Home {
    let home = Home::new().unwrap();
    let script = artifacts::workspace().join("tests/servers/scripted.py");
    let lists = home.path().join("verbose.lists");
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let tool = json!({ "name": LONG_NAME, "description": "Is long.", "inputSchema": schema });
    let said = json!({ "tools": [tool], "instructions": "Say it at length. ".repeat(2000) });
    fs::write(&lists, said.to_string()).unwrap();
    let words = json!(["python3", script, home.path().join("verbose.starts"), lists]);
    home.table("verbose", &format!("command = {words}"))
        .unwrap();
    let mut servers = captured_tools::read(&captured_tools::folder()).unwrap();
    servers.retain(|server| SERVERS.contains(&server.name.as_str()));
    captured_tools::add(&home, &servers).unwrap();
    home
}

/// A client that keeps to the limits of a row of the table.
struct LimitedClient<'t> {
    client: Client,
    row: &'t Value,
    name: &'t str,
}

impl<'t> LimitedClient<'t> {
    fn start(home: &Home, words: &[&str], row: &'t Value, name: &'t str) -> Self {
        let client = Client::start_as(&mut home.command(words), name).unwrap();
        Self { client, row, name }
    }

    fn limit(&self, key: &str) -> Option<usize> {
        self.row[key]
            .as_u64()
            .map(|limit| usize::try_from(limit).unwrap())
    }

    fn hears_of_changes(&self) -> bool {
        self.row["list_changed"] == true
    }

    /// Returns the tools as its model has them: with cut descriptions, and without those that it
    /// leaves out because of their names or their number.
    fn tools(&mut self) -> Vec<Value> {
        let mut tools = self.client.tools().unwrap();
        // What it puts before names, and counts with them.
        let before = match self.row["id"] == "cursor" {
            true => "dormouse".len(),
            false => "mcp__dormouse__".len(),
        };
        if let Some(most) = self.limit("name_chars") {
            tools.retain(|tool| before + tool["name"].as_str().unwrap().len() <= most);
        }
        if let Some(most) = self.limit("description_bytes") {
            for tool in &mut tools {
                let said = tool["description"].as_str().unwrap_or_default();
                tool["description"] = json!(said[..said.floor_char_boundary(most)]);
            }
        }
        tools.truncate(self.limit("most_tools").unwrap_or(usize::MAX));
        tools
    }
}

fn names(tools: &[Value]) -> BTreeSet<String> {
    let names = tools.iter().map(|tool| tool["name"].as_str().unwrap());
    names.map(str::to_owned).collect()
}

/// Returns the tools that a reply has, each with the tool that calls it.
fn callers(reply: &str) -> BTreeMap<String, String> {
    let lines = reply.lines().filter_map(|line| {
        let (name, rest) = line.split_once('(')?;
        let (_, caller) = rest.rsplit_once(" [")?;
        Some((name.to_owned(), caller.strip_suffix(']')?.to_owned()))
    });
    lines.collect()
}

impl LimitedClient<'_> {
    /// Returns the tools that it finds and that are not in its list, each with the tool that calls it.
    fn finds(
        &mut self,
        missing: &BTreeSet<&(String, String)>,
        listed: &[Value],
    ) -> BTreeMap<String, String> {
        let listed = names(listed);
        let mut found = BTreeMap::new();
        if listed.contains("load_tools") {
            let index = self.client.text("list_servers", json!({})).unwrap();
            for server in missing
                .iter()
                .map(|(server, _)| server)
                .collect::<BTreeSet<_>>()
            {
                let line = index
                    .lines()
                    .find_map(|line| line.strip_prefix(&format!("{server}: ")));
                let names: Vec<_> = line
                    .unwrap_or_else(|| panic!("no {server} in {index}"))
                    .split(", ")
                    .collect();
                for names in names.chunks(50) {
                    let arguments = json!({ "server": server, "names": names });
                    let reply = self.client.text("load_tools", arguments).unwrap();
                    found.extend(callers(&reply));
                }
            }
        } else {
            for (server, shown) in missing {
                let own = shown
                    .split_once("__")
                    .map_or(shown.as_str(), |(_, own)| own);
                let arguments = json!({ "query": own, "server": server });
                let reply = self.client.text("search_tools", arguments).unwrap();
                found.extend(callers(&reply));
            }
        }
        found
    }

    /// Calls a tool in the way in which its model would.
    fn call(
        &mut self,
        tool: &str,
        found: &BTreeMap<String, String>,
        listed: &BTreeSet<String>,
    ) -> Value {
        let arguments = json!({ "text": "hello" });
        match listed.contains(tool) {
            true => self.client.call(tool, arguments),
            false => {
                let through = json!({ "name": tool, "arguments": arguments });
                self.client.call(&found[tool], through)
            }
        }
        .unwrap()
    }

    fn reaches_all(&mut self, all: &BTreeSet<(String, String)>) {
        let name = self.name;
        let said = self.client.hello["instructions"].as_str().unwrap().len();
        let most = self.limit("instructions_bytes").unwrap_or(usize::MAX);
        assert!(
            said <= most,
            "{name} would cut the instructions, which have {said} bytes"
        );
        let own: BTreeSet<_> = names(&self.client.tools().unwrap());
        let before = self.tools();
        for tool in &before {
            let name_of_tool = tool["name"].as_str().unwrap();
            // Our own descriptions are whole: the index in one of them would be cut.
            let is_ours = !name_of_tool.contains("__");
            let kept = tool["description"].as_str().unwrap().len();
            let most = self.limit("description_bytes").unwrap_or(usize::MAX);
            assert!(!is_ours || kept < most, "{name} cuts `{name_of_tool}`");
        }
        let mut listed = names(&before);
        let missing: BTreeSet<_> = all
            .iter()
            .filter(|(_, tool)| !listed.contains(tool))
            .collect();
        let mut found = BTreeMap::new();
        if !missing.is_empty() {
            found = self.finds(&missing, &before);
            if listed.contains("load_tools") {
                let changed = "notifications/tools/list_changed";
                self.client.notification(changed, PATIENCE).unwrap();
                if self.hears_of_changes() {
                    listed = names(&self.tools());
                    assert!(listed.len() > before.len(), "{name} lists no more");
                }
            }
        }
        for (_, tool) in all {
            let through = found.get(tool).filter(|through| own.contains(*through));
            assert!(
                listed.contains(tool) || through.is_some(),
                "{name} does not reach `{tool}`"
            );
        }
        let (_, long) = all.iter().find(|(server, _)| server == "verbose").unwrap();
        for tool in ["redis__hset", long.as_str()] {
            let result = self.call(tool, &found, &listed);
            let answered = text(&result).unwrap_or_default();
            assert!(answered.contains("hello"), "{name}: {result}");
        }
    }
}

#[test]
fn each_known_client_reaches_every_tool_within_its_limits() {
    let home = home();
    let everything = Client::start(&mut home.command(&["serve", "--expose", "direct"]));
    let everything = everything.unwrap().tools().unwrap();
    let all: BTreeSet<_> = names(&everything)
        .into_iter()
        .map(|tool| (tool.split_once("__").unwrap().0.to_owned(), tool))
        .collect();
    assert!(
        all.len() > 128,
        "{} tools are in no client's way",
        all.len()
    );
    let table = artifacts::workspace().join("host/src/mcp/client/clients.json");
    let table: Value = serde_json::from_str(&fs::read_to_string(table).unwrap()).unwrap();
    let mut driven = 0;
    for row in table["clients"].as_array().unwrap() {
        // What is decided for it, and what its user may choose.
        let modes: &[&[&str]] = match row["description_bytes"].is_u64() {
            true => &[&[], &["--expose", "index"], &["--expose", "search"]],
            false => &[&[]],
        };
        for name in row["names"].as_array().unwrap() {
            for mode in modes {
                let words = [&["serve"], *mode].concat();
                let mut client = LimitedClient::start(&home, &words, row, name.as_str().unwrap());
                client.reaches_all(&all);
                driven += 1;
            }
        }
    }
    assert!(driven > 20, "{driven}");
}
