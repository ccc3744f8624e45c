//! Resources that clients of a profile follow: those of its servers, and of no others, whoever else has
//! the same URI.

use dormouse_tests::http::{Request, Server, Session};
use serde_json::{Value, json};

use crate::scripted::Scripted;

const WORK: &str = "/mcp/p/work";

/// URI of an update that comes after those that are looked for.
const LAST: &str = "v://last";

/// Starts a host with a profile of the first of two servers that have one URI in common.
fn host(all: &Scripted) -> Server {
    for (name, own) in [("victim", "v://1"), ("evil", "e://1")] {
        let uris = [own, "x://both", LAST];
        let uris = &uris[..if name == "victim" { 3 } else { 2 }];
        let resources: Vec<Value> = uris
            .iter()
            .map(|uri| json!({ "uri": uri, "name": uri }))
            .collect();
        let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
        let offered = json!({
            "tools": [tool("updated"), tool("subscribed")],
            "resources": resources, "subscribe": true,
            "resourceTemplates": [{ "uriTemplate": format!("{name}://{{x}}"), "name": "t" }],
            "completions": [],
        });
        all.offers_just(name, &offered);
        all.own(name, "");
        all.home.synced(name).unwrap();
    }
    let config = all.home.config();
    let servers = std::fs::read_to_string(&config).unwrap();
    let profile = "[profiles.work]\nservers = ['victim']\n\n";
    std::fs::write(&config, format!("{profile}{servers}")).unwrap();
    all.home.serve_http(&[]).unwrap()
}

/// Makes the servers say, one after the other, that each of these has changed.
fn say_updates(server: &Server) {
    for (name, uri) in [
        ("evil", "e://1"),
        ("evil", "evil://1"),
        ("evil", "x://both"),
        ("evil", "v://1"),
        ("victim", "v://1"),
        ("victim", "x://both"),
    ] {
        let tool = format!("{name}__updated");
        server.text(&tool, json!({ "uri": uri })).unwrap();
    }
}

/// Checks that a server has heard of none of what is followed.
fn is_left_alone(server: &Server) {
    let subscribed = server.text("evil__subscribed", json!({})).unwrap();
    assert_eq!(subscribed, "");
    let subscribed = server.text("victim__subscribed", json!({})).unwrap();
    assert!(subscribed.contains("x://both"), "{subscribed}");
}

/// Returns the updates that a stream has, from its next message on.
fn updates(server: &Server, mut next: impl FnMut() -> Value) -> Vec<String> {
    say_updates(server);
    let mut heard: Vec<String> = Vec::new();
    let mut hear = |wanted: &[&str]| {
        while !wanted.iter().all(|uri| heard.iter().any(|one| one == uri)) {
            let message = next();
            if message["method"] == "notifications/resources/updated" {
                let uri = message["params"]["uri"].as_str().unwrap();
                heard.push(uri.to_owned());
            }
        }
    };
    hear(&["v://1", "x://both"]);
    // What comes together is in no order: whatever came with them comes before this.
    let last = json!({ "uri": LAST });
    server.text("victim__updated", last).unwrap();
    hear(&[LAST]);
    heard.sort();
    heard
}

const FOLLOWED: [&str; 5] = ["v://1", "x://both", "e://1", "evil://1", LAST];

const HEARD: [&str; 3] = ["v://1", LAST, "x://both"];

/// A URI that names a server is of no other: its mark tells what was meant for whom.
#[test]
fn a_uri_that_names_a_server_of_no_profile_is_read_nowhere() {
    let all = Scripted::new();
    let server = host(&all);
    for uri in [
        "e://1#dormouse-server=evil",
        "v://1#dormouse-server=evil",
        "v://other#dormouse-server=gone",
    ] {
        let read = Request::stateless(1, "resources/read", json!({ "uri": uri })).at(WORK);
        let answer = server.ask(&read).unwrap().messages().unwrap().remove(0);
        let message = answer["error"]["message"].as_str();
        let expected = format!("Unknown resource: `{uri}`");
        assert_eq!(message, Some(&*expected), "{answer}");
    }
}

#[test]
fn a_session_of_a_profile_follows_resources_of_its_servers_alone() {
    let all = Scripted::new();
    let server = host(&all);
    let session = Session::open_at(&server, WORK, json!({})).unwrap();
    let mut news = server.ask(&session.news().at(WORK)).unwrap();
    for (id, uri) in (1..).zip(FOLLOWED) {
        let subscribe = session.request(id, "resources/subscribe", json!({ "uri": uri }));
        server.ask(&subscribe.at(WORK)).unwrap().messages().unwrap();
    }
    let heard = updates(&server, || {
        news.event().unwrap().expect("the stream ends").1
    });
    assert_eq!(heard, HEARD);
    is_left_alone(&server);
}

#[test]
fn a_request_of_a_profile_listens_to_resources_of_its_servers_alone() {
    let all = Scripted::new();
    let server = host(&all);
    let wanted = json!({ "notifications": { "resourceSubscriptions": FOLLOWED } });
    let listen = Request::stateless(1, "subscriptions/listen", wanted).at(WORK);
    let mut stream = server.ask(&listen).unwrap();
    let (_, acknowledged) = stream.event().unwrap().unwrap();
    let said = acknowledged["params"].to_string();
    assert!(said.contains("v://1"), "{acknowledged}");
    let heard = updates(&server, || {
        stream.event().unwrap().expect("the stream ends").1
    });
    assert_eq!(heard, HEARD);
    is_left_alone(&server);
}
