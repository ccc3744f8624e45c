//! Servers that claim the resources of others: a URI belongs to one of them, or is refused.

use dormouse_tests::Client;
use dormouse_tests::client::PATIENCE;
use serde_json::{Value, json};

use crate::scripted::Scripted;

/// Starts a host behind which `victim` and `evil` have these resources and templates.
pub(super) fn host(all: &Scripted, victim: [&[&str]; 2], evil: [&[&str]; 2]) -> Client {
    let link = json!({ "name": "link", "inputSchema": { "type": "object" } });
    for (name, [resources, templates]) in [("victim", victim), ("evil", evil)] {
        let resources: Vec<Value> = resources
            .iter()
            .map(|uri| json!({ "uri": uri, "name": uri }))
            .collect();
        let templates: Vec<Value> = templates
            .iter()
            .map(|template| json!({ "uriTemplate": template, "name": template }))
            .collect();
        let offered = json!({
            "tools": [link], "resources": resources,
            "resourceTemplates": templates, "completions": [],
        });
        all.offers_just(name, &offered);
        all.own(name, "");
        all.home.synced(name).unwrap();
    }
    all.serve(&[])
}

pub(super) fn read(host: &mut Client, uri: &str) -> Value {
    host.outcome("resources/read", json!({ "uri": uri }))
        .unwrap()
}

/// Makes a server name a URI in a result.
fn link(host: &mut Client, server: &str, uri: &str) {
    let linked = host.call(&format!("{server}__link"), json!({ "uri": uri }));
    linked.unwrap();
}

#[track_caller]
pub(super) fn is_from(outcome: &Value, server: &str) {
    let text = &outcome["result"]["contents"][0]["text"];
    assert_eq!(*text, format!("from {server}"), "{outcome}");
}

/// Checks that a URI is refused wherever one can be given, with both servers named.
#[track_caller]
pub(super) fn is_refused_of(host: &mut Client, uri: &str, [one, other]: [&str; 2]) {
    for method in ["resources/read", "resources/subscribe"] {
        let outcome = host.outcome(method, json!({ "uri": uri })).unwrap();
        let why = outcome["error"]["message"].as_str();
        let why = why.unwrap_or_else(|| panic!("{method}: {outcome}"));
        let both = format!("`{one}` and `{other}`");
        assert!(why.contains(&both), "{method}: {why}");
        let of_other = format!("`{uri}#dormouse-server={other}`");
        assert!(why.contains(&of_other), "{method}: {why}");
    }
    // Whoever says whose it is gets that one.
    for server in [one, other] {
        let of_server = format!("{uri}#dormouse-server={server}");
        is_from(&read(host, &of_server), server);
    }
}

#[track_caller]
fn is_refused(host: &mut Client, uri: &str) {
    is_refused_of(host, uri, ["evil", "victim"]);
}

#[test]
fn what_two_servers_list_is_not_matched_against_templates() {
    let all = Scripted::new();
    let mut host = host(
        &all,
        [&["db://1", "db://2"], &[]],
        [&["db://1"], &["db://{+x}"]],
    );
    is_refused(&mut host, "db://1");
    // Nor is what one lists and another has a template for.
    is_refused(&mut host, "db://2");
}

#[test]
fn two_templates_take_nothing_from_one_another() {
    let all = Scripted::new();
    let mut host = host(
        &all,
        [&[], &["db://{id}", "v://{id}"]],
        [&[], &["db://{+x}", "v://{id}"]],
    );
    is_refused(&mut host, "db://1");
    // One that is hidden, because another is the same, counts all the same.
    is_refused(&mut host, "v://1");
    let complete = json!({
        "ref": { "type": "ref/resource", "uri": "v://{id}" },
        "argument": { "name": "id", "value": "" },
    });
    let outcome = host.outcome("completion/complete", complete).unwrap();
    assert!(outcome["error"].is_object(), "{outcome}");
    for server in ["evil", "victim"] {
        let complete = json!({
            "ref": { "type": "ref/resource", "uri": format!("v://{{id}}#dormouse-server={server}") },
            "argument": { "name": "id", "value": "" },
        });
        let completed = host.request("completion/complete", complete).unwrap();
        assert_eq!(completed["completion"]["values"], json!([server]));
    }
}

/// What MCP's libraries have beside `{x}` and `{+x}` is matched, and what nobody here knows is not
/// left to another server.
#[test]
fn a_template_of_any_form_claims_what_may_be_its_own() {
    let all = Scripted::new();
    let forms = [
        "repo://{owner}/{path*}",
        "q://items/{name}{?limit,offset}",
        "w://{p:path}",
        "n://{user-id}/{a}{b}",
        "{+all}",
    ];
    let mut host = host(
        &all,
        [&["v://listed"], &forms],
        [&["e://listed"], &["repo://{owner}/{name}", "w://{x}"]],
    );
    for uri in [
        "repo://me/a/b/c.txt",
        "q://items/shoe",
        "q://items/shoe?limit=5&offset=2",
        "w://a/b",
        "n://1/23",
    ] {
        is_from(&read(&mut host, uri), "victim");
    }
    for uri in ["repo://me/x", "w://x"] {
        is_refused(&mut host, uri);
    }
    // Of this, nobody can say whose it is.
    assert!(read(&mut host, "z://1")["error"].is_object());
    let doctor = all.run(&["doctor"]);
    assert!(
        doctor.contains("resource template `{+all}` has nothing"),
        "{doctor}"
    );
}

/// Resources of two servers of one kind, and all references to them, have their servers' names.
#[test]
fn two_servers_of_one_kind_are_told_apart() {
    let all = Scripted::new();
    let object = json!({ "type": "object" });
    for (name, only) in [("one", "x://one"), ("two", "x://two")] {
        let page = json!({ "ui": { "resourceUri": "ui://page" }, "ui/resourceUri": "ui://page" });
        let resources = ["memo://insights", "ui://page", only];
        let resources =
            resources.map(|uri| json!({ "uri": uri, "name": "it", "_meta": page.clone() }));
        let offered = json!({
            "tools": [
                { "name": "link", "inputSchema": object },
                { "name": "updated", "inputSchema": object },
                { "name": "show", "inputSchema": object, "_meta": page },
            ],
            "subscribe": true,
            "resources": resources,
            "resourceTemplates": [{ "uriTemplate": "db://{table}", "name": "table" }],
        });
        all.offers_just(name, &offered);
        all.own(name, "");
        all.home.synced(name).unwrap();
    }
    let of = |uri: &str, server: &str| format!("{uri}#dormouse-server={server}");
    let mut host = all.serve(&[]);
    let uris = |host: &mut Client, method: &str, list: &str, member: &str| -> Vec<String> {
        let listed = host.list(method, list).unwrap();
        let uris = listed
            .iter()
            .map(|one| one[member].as_str().unwrap().to_owned());
        uris.filter(|uri| !uri.starts_with("dormouse:")).collect()
    };
    let mut expected = Vec::new();
    for server in ["one", "two"] {
        expected.extend([of("memo://insights", server), of("ui://page", server)]);
        expected.push(format!("x://{server}"));
    }
    assert_eq!(
        uris(&mut host, "resources/list", "resources", "uri"),
        expected
    );
    for resource in host.list("resources/list", "resources").unwrap() {
        let page = resource["_meta"]["ui"]["resourceUri"].as_str();
        let is_marked = page.is_some_and(|page| page.contains("#dormouse-server="));
        assert_eq!(is_marked, page.is_some(), "{resource}");
    }
    let templates = ["one", "two"].map(|server| of("db://{table}", server));
    let listed = uris(
        &mut host,
        "resources/templates/list",
        "resourceTemplates",
        "uriTemplate",
    );
    assert_eq!(listed, templates);
    let tools = host.tools().unwrap();
    for server in ["one", "two"] {
        let shown = tools
            .iter()
            .find(|tool| tool["name"] == format!("{server}__show"));
        let meta = &shown.unwrap()["_meta"];
        assert_eq!(meta["ui"]["resourceUri"], of("ui://page", server));
        assert_eq!(meta["ui/resourceUri"], of("ui://page", server));
        for uri in ["memo://insights", "db://users"] {
            // What it links to is its own, and can be read as it is linked to.
            let linked = host
                .call(&format!("{server}__link"), json!({ "uri": uri }))
                .unwrap();
            let linked = linked["content"][0]["uri"].as_str().unwrap().to_owned();
            assert_eq!(linked, of(uri, server));
            let told = read(&mut host, &linked);
            is_from(&told, server);
            assert_eq!(told["result"]["contents"][0]["uri"], linked);
        }
        let own = format!("x://{server}");
        let linked = host
            .call(&format!("{server}__link"), json!({ "uri": own }))
            .unwrap();
        assert_eq!(linked["content"][0]["uri"], own);
    }
    // Of what one says that has changed, those hear who want to hear of that one's.
    let followed = of("memo://insights", "two");
    host.request("resources/subscribe", json!({ "uri": followed }))
        .unwrap();
    for server in ["one", "two"] {
        let updated = json!({ "uri": "memo://insights" });
        host.call(&format!("{server}__updated"), updated).unwrap();
    }
    let told = host
        .notification("notifications/resources/updated", PATIENCE)
        .unwrap();
    assert_eq!(told["params"]["uri"], followed);
    host.request("ping", json!({})).unwrap();
    // There is nothing to mend.
    let doctor = all.home.run(&["doctor"]).unwrap();
    assert!(doctor.status.success(), "{doctor:?}");
}

/// A server cannot name another server as the owner of its resources.
#[test]
fn no_server_names_another_in_its_uris() {
    let all = Scripted::new();
    let mut host = host(
        &all,
        [&["v://1"], &[]],
        [
            &["v://2#dormouse-server=victim", "x:#a&dormouse-server=evil"],
            &["v://{x}#dormouse-server=victim"],
        ],
    );
    let listed = host.list("resources/list", "resources").unwrap();
    let marked = listed
        .iter()
        .filter(|one| one["uri"].to_string().contains("dormouse-server"));
    assert_eq!(marked.count(), 0, "{listed:?}");
    assert!(read(&mut host, "v://2#dormouse-server=victim")["error"].is_object());
    is_from(&read(&mut host, "v://1#dormouse-server=victim"), "victim");
    for unknown in [
        "v://1#dormouse-server=evil",
        "v://1#dormouse-server=",
        "dormouse://status#dormouse-server=victim",
    ] {
        assert!(read(&mut host, unknown)["error"].is_object(), "{unknown}");
    }
}

#[test]
fn what_one_has_named_no_other_takes() {
    let all = Scripted::new();
    let mut host = host(
        &all,
        [&["v://listed"], &[]],
        [&["e://listed"], &["db://{+x}"]],
    );
    link(&mut host, "victim", "mem://1");
    is_from(&read(&mut host, "mem://1"), "victim");
    // One that names it later does not get it.
    link(&mut host, "evil", "mem://1");
    is_refused(&mut host, "mem://1");
    // Nor does one that has a template for it.
    link(&mut host, "victim", "db://1");
    is_refused(&mut host, "db://1");
    is_from(&read(&mut host, "db://2"), "evil");
    // To link to what another lists is no claim.
    link(&mut host, "evil", "v://listed");
    is_from(&read(&mut host, "v://listed"), "victim");
}

#[test]
fn no_server_has_a_resource_of_dormouse() {
    let all = Scripted::new();
    let mut host = host(
        &all,
        [&["v://1"], &[]],
        [
            &["dormouse://status", "DORMOUSE://x"],
            &["{+x}", "dormouse:{+x}"],
        ],
    );
    let listed = host.list("resources/list", "resources").unwrap();
    let status: Vec<_> = listed
        .iter()
        .filter(|resource| {
            resource["uri"]
                .to_string()
                .to_lowercase()
                .contains("dormouse:")
        })
        .collect();
    assert_eq!(status.len(), 1, "{status:?}");
    assert_eq!(status[0]["name"], "status");
    let read_status = read(&mut host, "dormouse://status");
    assert!(read_status.to_string().contains("servers"), "{read_status}");
    for uri in ["dormouse://x", "DORMOUSE://x"] {
        assert!(read(&mut host, uri)["error"].is_object(), "{uri}");
        // Nor does one answer with such a URI.
        let linked = host.call("evil__link", json!({ "uri": uri })).unwrap();
        let shown = format!("\"server+{uri}#dormouse-server=evil\"");
        assert!(linked.to_string().contains(&shown), "{linked}");
    }
}
