//! Requests of HTTP that are not granted: each is refused in words that say so, and headers and
//! bodies that a plugin makes for them count as its own memory.

use super::*;

#[test]
fn a_request_is_refused_in_plain_words() {
    let mut host = Host::with("http");
    for body in ["", "short", &"long".repeat(100_000)] {
        let arguments = json!({ "authority": "me:secret@api.example.com:8443", "body": body });
        let error = host.client.error("http__post", arguments).unwrap();
        for part in [
            "an HTTP request to `https://api.example.com:8443` was refused",
            "its URL has a user name",
        ] {
            assert!(error.contains(part), "no `{part}` in {error}");
        }
        assert!(!error.contains("secret"), "{error}");
    }
    host.stays_well();
}

#[test]
fn a_refusal_is_in_the_log_with_its_server_and_host() {
    let home = Home::new().unwrap();
    home.guests(&["http", "network"]).unwrap();
    let log = |arguments: &[&str]| {
        let output = home.run(arguments).unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    let post = r#"{"authority": "api.example.com", "body": ""}"#;
    let said = log(&["call", "http", "post", post]);
    let expected = "server `http`: an HTTP request to `https://api.example.com` was refused";
    assert_eq!(said.matches(expected).count(), 1, "{said}");
    for (what, expected) in [
        ("tcp", "server `network`: a TCP socket was refused"),
        ("connect", "server `network`: a TCP socket was refused"),
        ("bind", "server `network`: a UDP socket was refused"),
        (
            "resolve far",
            "server `network`: a lookup of the name `example.com` was refused",
        ),
        (
            "lookup",
            "server `network`: a lookup of the name `localhost` was refused",
        ),
    ] {
        let reach = json!({ "what": what, "port": 80 }).to_string();
        let said = log(&["call", "network", "reach", &reach]);
        assert_eq!(said.matches(expected).count(), 1, "{what}: {said}");
    }
}

/// Parts of a request that a plugin prepares lie in memory of the host.
#[test]
fn headers_and_bodies_count_as_memory_of_the_plugin() {
    let more = "[servers.http.limits]\nmemory = \"24MiB\"";
    for what in [
        "fields",
        "copies",
        "lists",
        "methods",
        "paths",
        "headers of requests",
        "bodies",
        "responses",
    ] {
        let mut host = Host::with_more("http", more);
        let keep = |count: u32| json!({ "what": what, "count": count });
        let kept = host.client.text("http__keep", keep(4)).unwrap();
        assert_ne!(kept, "{\"result\":0}", "{what}");
        host.fails(
            "http__keep",
            keep(1000),
            "of memory where 25165824 are allowed",
        );
        host.stays_well();
    }
}

#[test]
fn what_is_let_go_of_costs_nothing_any_more() {
    let mut host = Host::with_more("http", "[servers.http.limits]\nmemory = \"24MiB\"");
    let made = host
        .client
        .text("http__come_and_go", json!({ "count": 2000 }));
    assert_eq!(made.unwrap(), "{\"result\":2000}");
    host.stays_well();
}

/// Plugins with the HTTP clients that authors use start, do all else, and say why a request fails.
#[test]
fn clients_of_http_that_authors_use_start_and_say_what_is_refused() {
    for guest in ["wstd", "waki"] {
        let mut host = Host::with(guest);
        let add = json!({ "a": 1, "b": 2 });
        let added = host.client.text(&format!("{guest}__add"), add).unwrap();
        assert_eq!(added, "{\"result\":3}", "{guest}");
        for body in ["", &"long".repeat(100_000)] {
            let fetch = json!({ "url": "https://api.example.com/x", "body": body });
            let cause = "an HTTP request to `https://api.example.com` was refused: server `{guest}`: it is not granted";
            let cause = cause.replace("{guest}", guest);
            host.client
                .error(&format!("{guest}__fetch"), fetch)
                .map(|error| {
                    assert!(error.contains(&cause), "{guest}: {error}");
                    let hint = "--grant-http https://api.example.com` allows it";
                    assert!(error.contains(hint), "{guest}: {error}");
                })
                .unwrap();
        }
        host.stays_well();
    }
}

/// A component that starts passes `check` and `add`, and one that does not start fails them.
#[test]
fn check_and_add_say_whether_a_plugin_starts() {
    let started = |home: &Home, file: &std::path::Path| {
        let file = file.to_str().unwrap();
        let check = home.run(&["check", file]).unwrap();
        let add = home.run(&["add", "plugin", file]).unwrap();
        assert_eq!(
            check.status.success(),
            add.status.success(),
            "{check:?} {add:?}"
        );
        let told = [check.stdout, add.stderr];
        (
            add.status.success(),
            told.map(|told| String::from_utf8(told).unwrap()),
        )
    };
    for guest in ["wstd", "waki", "http", "echo"] {
        let home = Home::new().unwrap();
        let file = dormouse_tests::artifacts::guest(guest).unwrap();
        let (is_ok, told) = started(&home, &file);
        assert!(is_ok, "{guest}: {told:?}");
    }
    let exported = |import: &str| {
        let wat = format!(
            r#"(component
                {import}
                (core module $m (func (export "go") (result i32) (i32.const 7)))
                (core instance $i (instantiate $m))
                (func (export "go") (result u32) (canon lift (core func $i "go"))))"#
        );
        wat::parse_str(&wat).unwrap()
    };
    for (import, starts, expected) in [
        (
            r#"(import "wasi:keyvalue/store@0.2.0-draft" (instance (export "open" (func))))"#,
            true,
            "wasi:keyvalue/store@0.2.0-draft: a call of `open` ends the plugin",
        ),
        (
            r#"(import "wasi:cli/environment@0.2.3" (instance (export "get-arguments" (func (result u32)))))"#,
            false,
            "its imports cannot be met",
        ),
        (
            r#"(import "dormouse:plugin/notify@0.2.0" (instance (export "list-changed" (func))))"#,
            false,
            "it imports `dormouse:plugin/notify@0.2.0`, but this host offers `dormouse:plugin@0.1.0`",
        ),
        (r#"(core module (memory 1 1 shared))"#, false, "shared"),
    ] {
        let home = Home::new().unwrap();
        let file = home.plugin_file("odd.wasm", &exported(import)).unwrap();
        let (is_ok, told) = started(&home, &file);
        assert_eq!(is_ok, starts, "{told:?}");
        for told in &told {
            assert!(told.contains(expected), "{told}");
        }
        let mut client = match is_ok {
            true => home.serve().unwrap(),
            false => {
                assert!(
                    !std::fs::read_to_string(home.config())
                        .unwrap()
                        .contains("plugin")
                );
                continue;
            }
        };
        assert_eq!(
            client.text("plugin__go", json!({})).unwrap(),
            "{\"result\":7}"
        );
    }
}
