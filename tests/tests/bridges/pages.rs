//! Servers that offer tools with pages (MCP Apps) to those clients that show pages.

use anyhow::ensure;
use dormouse_tests::{Client, Home, Upstream, artifacts, wait};
use serde_json::{Value, json};

/// Returns the capabilities of a client that shows pages.
fn shows_pages() -> Value {
    json!({ "extensions": {
        "io.modelcontextprotocol/ui": { "mimeTypes": ["text/html;profile=mcp-app"] },
    } })
}

fn server() -> Upstream {
    let script = artifacts::workspace().join("tests/servers/pages.mjs");
    let server = Upstream::new(&artifacts::node().unwrap()).arg(script.display());
    server.env("DORMOUSE_TEST_NPM", artifacts::npm().display())
}

fn home() -> Home {
    let home = Home::new().unwrap();
    home.upstream("weather", &server(), "").unwrap();
    home
}

fn serve(home: &Home, able: Value) -> Client {
    Client::start_able(&mut home.command(&["serve"]), able).unwrap()
}

/// Returns the names of tools, as the server has them.
fn names(host: &mut Client) -> Vec<String> {
    let tools = host.tools().unwrap().into_iter();
    let names = tools.map(|tool| tool["name"].as_str().unwrap().replace("weather__", ""));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Whether a tool of the server waits for its user, and no other one does.
fn waits(home: &Home) -> bool {
    let shown = home.run(&["diff", "weather"]).unwrap();
    let text = [shown.stdout, shown.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    let nothing = text.contains("nothing of `weather` has changed");
    assert!(
        nothing || text.starts_with("1 new\ntool `show`, new\n"),
        "{text}"
    );
    !nothing
}

/// A client that meets a server first is offered the same by it as directly.
#[test]
fn a_server_offers_its_pages_to_exactly_those_who_show_them() {
    for (able, expected) in [
        (shows_pages(), &["show", "weather"][..]),
        (
            json!({ "extensions": { "io.modelcontextprotocol/ui": {} } }),
            &["weather"],
        ),
        (json!({ "extensions": { "other/ui": {} } }), &["weather"]),
        (json!({ "elicitation": {} }), &["weather"]),
    ] {
        let mut direct = Client::start_able(&mut server().command(), able.clone()).unwrap();
        let home = home();
        let mut through = serve(&home, able.clone());
        through.text("weather__discover", json!({})).unwrap();
        for host in [&mut direct, &mut through] {
            wait::until("the tools", || {
                let names = names(host);
                ensure!(names == expected, "{able}: {names:?}");
                Ok(())
            })
            .unwrap();
        }
        if expected.len() > 1 {
            assert_eq!(through.text("weather__show", json!({})).unwrap(), "shown");
            let page = json!({ "uri": "ui://weather/page" });
            let read = through.request("resources/read", page).unwrap();
            assert_eq!(read["contents"][0]["text"], "<p>sunny", "{read}");
        }
    }
}

/// Tools with pages of a server that is known wait for its user once. Clients that do not show
/// pages do not bother the user with them.
#[test]
fn pages_wait_for_those_who_show_them_and_for_nobody_else() {
    let home = home();
    home.synced("weather").unwrap();
    let call = |able: Value| {
        let mut host = serve(&home, able);
        assert_eq!(host.text("weather__weather", json!({})).unwrap(), "sunny");
        names(&mut host)
    };
    assert_eq!(call(json!({ "roots": {} })), ["weather"]);
    assert!(!waits(&home));
    assert_eq!(call(shows_pages()), ["weather"]);
    assert!(waits(&home));
    assert!(
        home.run(&["approve", "weather", "--yes"])
            .unwrap()
            .status
            .success()
    );
    for able in [
        shows_pages(),
        json!({}),
        json!({ "roots": {} }),
        shows_pages(),
    ] {
        assert_eq!(call(able.clone()), ["show", "weather"], "{able}");
        assert!(!waits(&home));
        home.synced("weather").unwrap();
        assert!(!waits(&home));
    }
    let mut host = serve(&home, shows_pages());
    assert_eq!(host.text("weather__show", json!({})).unwrap(), "shown");
}
