//! The plugin `fetch` beside `mcp-server-fetch`.

use std::process::{Command, Stdio};

use dormouse_tests::compressed::{deflate, gzip};
use dormouse_tests::recording_host::{RecordingHost, http};
use dormouse_tests::{Client, Home, artifacts, client};
use serde_json::{Value, json};

use super::{is_error, signatures};

const ARTICLE: &str = include_str!("../../fixtures/article.html");

/// Without its program in Node, which it would install first: by itself it takes out nothing but
/// scripts and styles.
fn reference() -> Client {
    let mut server = Command::new(artifacts::python("servers", "mcp-server-fetch").unwrap());
    let server = server.arg("--allow-private-ips").env("PATH", "");
    Client::start(server.stderr(Stdio::null())).unwrap()
}

fn ours(home: &Home, hosts: &[&RecordingHost]) -> Client {
    let grants: Vec<_> = hosts.iter().map(|host| url(host, "")).collect();
    let more = format!("prefix = \"\"\n[servers.fetch.grants]\nhttp = {grants:?}");
    home.server_with("fetch", &artifacts::plugin("fetch").unwrap(), &more)
        .unwrap();
    home.serve().unwrap()
}

fn url(host: &RecordingHost, path: &str) -> String {
    format!("http://{}{path}", host.authority())
}

/// Starts a host that answers each path with that status, these lines of a head, and that body.
fn host(pages: &'static [(&str, &str, &str, &str)]) -> RecordingHost {
    RecordingHost::start(move |request| {
        let path = request.split(' ').nth(1);
        let page = pages.iter().find(|(at, ..)| Some(*at) == path);
        match page {
            Some((_, status, head, body)) => http(status, head, body),
            None => http("404 Not Found", "", "There is no such page."),
        }
    })
    .unwrap()
}

/// Pages of each kind.
const PAGES: &[(&str, &str, &str, &str)] = &[
    (
        "/robots.txt",
        "200 OK",
        "content-type: text/plain\r\n",
        "User-agent: *\nDisallow: /private\n",
    ),
    ("/article", "200 OK", "content-type: text/html\r\n", ARTICLE),
    (
        "/private",
        "200 OK",
        "content-type: text/plain\r\n",
        "Not for robots.",
    ),
    (
        "/json",
        "200 OK",
        "content-type: application/json\r\n",
        r#"{"months":7}"#,
    ),
    (
        "/text",
        "200 OK",
        "content-type: text/plain; charset=utf-8\r\n",
        "żółw śpi, a popielica śpi dłużej",
    ),
    (
        "/empty",
        "200 OK",
        "content-type: text/html\r\n",
        "<html></html>",
    ),
    ("/teapot", "418 I'm a teapot", "", ""),
    ("/moved", "301 Moved", "location: /json\r\n", ""),
    (
        "/moved-to-private",
        "302 Found",
        "location: private\r\n",
        "",
    ),
    ("/loop", "302 Found", "location: /loop\r\n", ""),
];

#[test]
fn has_the_same_tools() {
    let home = Home::new().unwrap();
    let mut ours = ours(&home, &[]);
    let mut theirs = reference();
    let [our_tools, their_tools] = [&mut ours, &mut theirs].map(|it| it.tools().unwrap());
    assert_eq!(signatures(&our_tools), signatures(&their_tools));
    let hints = |tools: &[Value]| tools[0]["annotations"].clone();
    assert_eq!(hints(&our_tools), hints(&their_tools));
    let limits = |tools: &[Value]| {
        let properties = &tools[0]["inputSchema"]["properties"];
        let of = |argument: &str, keys: &[&str]| -> Vec<Value> {
            keys.iter()
                .map(|key| properties[argument][*key].clone())
                .collect()
        };
        [
            of("url", &["type", "description", "format", "minLength"]),
            of("max_length", &["type", "description", "minimum", "maximum"]),
            of("start_index", &["type", "description", "minimum"]),
            of("raw", &["type", "description"]),
        ]
    };
    assert_eq!(limits(&our_tools), limits(&their_tools));
    let [ours, theirs] = [&mut ours, &mut theirs].map(|it| {
        let prompts = it.list("prompts/list", "prompts").unwrap();
        ["name", "description", "arguments"].map(|key| prompts[0][key].clone())
    });
    assert_eq!(ours, theirs);
}

#[test]
fn answers_alike() {
    let host = host(PAGES);
    let home = Home::new().unwrap();
    let mut ours = ours(&home, &[&host]);
    let mut theirs = reference();
    for (path, more) in [
        ("/json", json!({})),
        ("/json", json!({ "raw": true })),
        ("/json#part", json!({})),
        ("/article", json!({ "raw": true })),
        (
            "/article",
            json!({ "raw": true, "start_index": 100, "max_length": 200 }),
        ),
        ("/text", json!({ "max_length": 4 })),
        ("/text", json!({ "start_index": 5, "max_length": 3 })),
        ("/text", json!({ "start_index": 27, "max_length": 999_999 })),
        ("/text", json!({ "start_index": 1000 })),
        ("/moved", json!({})),
        ("/empty", json!({})),
        // Errors.
        ("/private", json!({})),
        ("/moved-to-private", json!({})),
        ("/missing", json!({})),
        ("/teapot", json!({})),
    ] {
        let mut arguments = json!({ "url": url(&host, path) });
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let [ours, theirs] = [&mut ours, &mut theirs].map(|it| {
            let result = it.call("fetch", arguments.clone()).unwrap();
            let text = client::text(&result).unwrap();
            let text = text.trim_start_matches("Error executing tool fetch: ");
            (is_error(&result), text.to_owned())
        });
        assert_eq!(ours, theirs, "{arguments}");
    }
    for path in ["/json", "/private", "/missing"] {
        let params = json!({ "name": "fetch", "arguments": { "url": url(&host, path) } });
        let [ours, theirs] = [&mut ours, &mut theirs]
            .map(|it| it.request("prompts/get", params.clone()).unwrap()["messages"].clone());
        assert_eq!(ours, theirs, "{path}");
    }
    // Each has told the host its name, which says who decides.
    for who in ["Autonomous", "User-Specified"] {
        let agent = format!(
            "user-agent: modelcontextprotocol/1.0 ({who}; +https://github.com/modelcontextprotocol/servers)\r\n"
        );
        let received = host.received().join("").to_lowercase();
        let requests = received
            .split("get ")
            .filter(|it| it.starts_with("/missing "));
        let named = requests.filter(|it| it.contains(&agent.to_lowercase()));
        assert_eq!(named.count(), 2, "{who}: {received}");
    }
}

#[test]
fn refuses_alike() {
    let pages = host(PAGES);
    let denying =
        |status: &'static str| RecordingHost::start(move |_| http(status, "", "")).unwrap();
    let [unauthorized, forbidden] = ["401 Unauthorized", "403 Forbidden"].map(denying);
    let broken = RecordingHost::start(|_| Vec::new()).unwrap();
    let home = Home::new().unwrap();
    let mut ours = ours(&home, &[&pages, &unauthorized, &forbidden, &broken]);
    let mut theirs = reference();
    let page = |host: &RecordingHost| url(host, "/json");
    for (arguments, expected) in [
        (
            json!({ "url": page(&unauthorized) }),
            "received status 401 so assuming that autonomous fetching is not allowed",
        ),
        (
            json!({ "url": page(&forbidden) }),
            "received status 403 so assuming that autonomous fetching is not allowed",
        ),
        (
            json!({ "url": page(&broken) }),
            "/robots.txt due to a connection issue",
        ),
        (
            json!({ "url": url(&pages, "/loop") }),
            "Exceeded maximum allowed redirects.",
        ),
        (json!({ "url": "nowhere" }), "relative URL without a base"),
        (json!({ "url": "" }), ""),
        (json!({}), ""),
        (json!({ "url": page(&pages), "max_length": 0 }), ""),
        (json!({ "url": page(&pages), "max_length": 1_000_000 }), ""),
        (json!({ "url": page(&pages), "max_length": "10" }), ""),
        (json!({ "url": page(&pages), "start_index": -1 }), ""),
        (json!({ "url": page(&pages), "raw": "yes" }), ""),
    ] {
        for client in [&mut ours, &mut theirs] {
            let error = client.error("fetch", arguments.clone()).unwrap();
            assert!(error.contains(expected), "{arguments}: {error}");
        }
    }
}

/// Two ports of Readability differ: what counts is that nothing of the article is lost, and that
/// what is around it is left out.
#[test]
fn an_article_is_the_same_as_markdown() {
    let host = host(PAGES);
    let home = Home::new().unwrap();
    let arguments = json!({ "url": url(&host, "/article"), "max_length": 999_999 });
    let [ours, theirs] = [ours(&home, &[&host]), reference()]
        .map(|mut client| client.text("fetch", arguments.clone()).unwrap());
    for part in [
        "## Winter",
        "## Summer",
        "### In figures",
        "The dormouse is a rodent of Europe, and known above all for its long sleep",
        "It was always six o'clock now, said the Hatter",
        "Hazelnuts are what it likes best",
        "Chestnuts come second",
        "while is_winter() { sleep() }",
    ] {
        for text in [&ours, &theirs] {
            assert!(text.contains(part), "no {part:?} in {text}");
        }
    }
    for part in [
        "sleeps for **seven** months".to_owned(),
        "[buds of the trees](https://example.com/buds)".to_owned(),
        format!("[twice as heavy]({})", url(&host, "/weight?of=dormouse")),
        "May | awake".to_owned(),
    ] {
        assert!(ours.contains(&part), "no {part:?} in {ours}");
    }
    for around in ["Log in", "Imprint", "track(", "color"] {
        assert!(!ours.contains(around), "{around:?} in {ours}");
    }
}

/// The host decides what the plugin reaches, at each redirect anew, and its words come through.
#[test]
fn a_redirect_leads_no_further_than_the_grants() {
    let other = host(PAGES);
    let to_other = http(
        "302 Found",
        &format!("location: {}\r\n", url(&other, "/json")),
        "",
    );
    let first =
        RecordingHost::start(
            move |request| match request.starts_with("GET /robots.txt ") {
                true => http("404 Not Found", "", ""),
                false => to_other.clone(),
            },
        )
        .unwrap();
    let home = Home::new().unwrap();
    let arguments = json!({ "url": url(&first, "/") });
    let error = ours(&home, &[&first]).error("fetch", arguments).unwrap();
    let expected = format!(
        "Failed to fetch robots.txt {} due to a connection issue: an HTTP request to `{}` was refused: server `fetch`: it is not granted\nhint: ",
        url(&other, "/robots.txt"),
        url(&other, "")
    );
    assert!(error.starts_with(&expected), "{error}");
    assert_eq!(other.received(), [""; 0]);
}

#[test]
fn settings_take_the_place_of_the_options() {
    let host = host(PAGES);
    let home = Home::new().unwrap();
    let more = format!(
        "prefix = \"\"\n[servers.fetch.grants]\nhttp = [\"{}\"]\n[servers.fetch.settings]\nignore_robots_txt = true\nuser_agent = \"Turtle/1.0\"",
        url(&host, "")
    );
    home.server_with("fetch", &artifacts::plugin("fetch").unwrap(), &more)
        .unwrap();
    let arguments = json!({ "url": url(&host, "/private") });
    let text = home.serve().unwrap().text("fetch", arguments).unwrap();
    assert!(text.ends_with(":\nNot for robots."), "{text}");
    let received = host.received();
    assert_eq!(received.len(), 1, "{received:?}");
    assert!(
        received[0].contains("user-agent: Turtle/1.0\r\n"),
        "{received:?}"
    );
}

/// Starts a host whose pages are compressed, each in another way.
fn compressed() -> RecordingHost {
    RecordingHost::start(|request| {
        let (coding, body) = match request.split(' ').nth(1) {
            Some("/gzip") => ("gzip", gzip(ARTICLE.as_bytes()).unwrap()),
            Some("/deflate") => ("deflate", deflate(ARTICLE.as_bytes()).unwrap()),
            Some("/cut") => ("gzip", gzip(ARTICLE.as_bytes()).unwrap()[..200].to_vec()),
            // 64 MiB of page in 64 KiB.
            Some("/bomb") => ("gzip", gzip(&vec![b' '; 64 << 20]).unwrap()),
            _ => return http("404 Not Found", "", ""),
        };
        let head = format!("content-type: text/html\r\ncontent-encoding: {coding}\r\n");
        http("200 OK", &head, &body)
    })
    .unwrap()
}

#[test]
fn compressed_pages_are_read_alike() {
    let host = compressed();
    let home = Home::new().unwrap();
    let mut ours = ours(&home, &[&host]);
    let mut theirs = reference();
    for path in ["/gzip", "/deflate"] {
        let arguments = json!({ "url": url(&host, path), "raw": true, "start_index": 4, "max_length": 999_999 });
        let [ours, theirs] =
            [&mut ours, &mut theirs].map(|it| it.text("fetch", arguments.clone()).unwrap());
        assert_eq!(ours, theirs, "{path}");
        assert!(ours.ends_with(&ARTICLE[4..]), "{ours}");
    }
    let asked = host.received().join("").to_lowercase();
    let offers = asked.matches("accept-encoding: gzip, deflate").count();
    // Each has asked for robots.txt, too.
    assert_eq!(offers, 8, "{asked}");
}

/// The host passes what is compressed as it is, so what it becomes is for the plugin to limit.
#[test]
fn a_page_that_grows_without_end_is_an_error_and_not_a_crash() {
    let host = compressed();
    let home = Home::new().unwrap();
    let mut ours = ours(&home, &[&host]);
    let longer = "the answer is longer than 10485760 bytes when it is decompressed";
    for (path, expected) in [("/bomb", longer), ("/cut", "the answer is no valid gzip: ")] {
        let at = url(&host, path);
        let error = ours.error("fetch", json!({ "url": at })).unwrap();
        let expected = format!("Failed to fetch {at}: {expected}");
        assert!(error.starts_with(&expected), "{error}");
    }
    let text = ours
        .text("fetch", json!({ "url": url(&host, "/gzip") }))
        .unwrap();
    assert!(text.contains("## Winter"), "{text}");
}

/// A page is read as far as memory allows, and no further.
#[test]
fn a_page_of_any_length_is_an_error_and_not_a_crash() {
    let host = RecordingHost::start(|request| {
        let length = match request.split(' ').nth(1) {
            Some("/long") => 9 << 20,
            Some("/too-long") => 11 << 20,
            _ => return http("404 Not Found", "", ""),
        };
        http(
            "200 OK",
            "content-type: text/html\r\n",
            &"<p>turtle ".repeat(length / 10),
        )
    })
    .unwrap();
    let home = Home::new().unwrap();
    let mut ours = ours(&home, &[&host]);
    let mut raw = |path| {
        ours.call("fetch", json!({ "url": url(&host, path), "raw": true }))
            .unwrap()
    };
    let long = raw("/long");
    assert!(
        client::text(&long).unwrap().contains("start_index of 5000"),
        "{long}"
    );
    let error = raw("/too-long");
    let expected = format!(
        "Failed to fetch {}: the answer is longer than 10485760 bytes",
        url(&host, "/too-long")
    );
    assert_eq!(client::text(&error), Some(expected.as_str()));
}
