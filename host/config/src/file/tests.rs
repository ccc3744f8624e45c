//! `dormouse.toml`, as it is read.

mod exposure;
mod http_secrets;
mod misplaced_keys;
mod mistakes;
mod providers;
mod refusals;
mod upstreams;

use std::time::Duration;

use dormouse_launch::{HttpTransport, Launch, Secret};
use dormouse_policy::{Limits, UpstreamLimits};
use dormouse_wit::Instance;
use serde_json::{Value as Json, json};

use super::*;
use crate::{Adapter, Input, Inputs, NewTools, OnChange, ServerConfig};

const FILE: &str = "/etc/dm/dormouse.toml";

#[test]
fn everything_that_can_be_said_is_read() {
    let (config, problems) = parse(
        Path::new(FILE),
        r#"
# My servers.
[servers.time]
component = "plugins/time.wasm"

[servers.files]
component = "/opt/files.wasm"
enabled = false
prefix = ""
instance = "per-session"

[servers.files.grants]
fs = [{ path = "~/notes", mode = "rw" }, { path = "docs" }]
env = ["TZ", "LANG"]
http = ["GET,POST https://API.example.com/v1", "https://*.example.org", "http://mcp:8080 private"]

[servers.files.limits]
memory = "1GiB"
timeout = "5m"
idle = "30s"
result = "1MiB"
output = "4 KiB"
instances = 3
message = "1MiB"
list = "2MiB"
items = 5
pages = 6
batch = 8
log = "9KiB"
requests = "3MiB"
http_requests = 10
http_bytes = "11KiB"
connections = 7

[servers.files.settings]
name = "x"
deep = { list = [1, 2.5, true], when = 2026-11-21 }
[[servers.files.settings.rows]]
a = 1
"#,
    );
    assert_eq!(problems, []);
    let time = &config.servers["time"];
    assert_eq!(
        time.component(),
        Some(Path::new("/etc/dm/plugins/time.wasm"))
    );
    assert!(time.enabled);
    assert_eq!((&time.prefix, time.instance), (&None, None));
    assert_eq!(time.grants, Grants::default());
    assert_eq!(time.limits, Limits::default());
    assert_eq!(time.origin.to_string(), "/etc/dm/dormouse.toml:3");

    let files = &config.servers["files"];
    assert!(!files.enabled);
    assert_eq!(files.prefix.as_deref(), Some(""));
    assert_eq!(files.instance, Some(Instance::PerSession));
    assert_eq!(
        files.grants,
        Grants {
            fs: vec![
                FsGrant {
                    path: etcetera::home_dir().unwrap().join("notes"),
                    real: None,
                    mode: FsMode::ReadWrite,
                },
                FsGrant {
                    path: "/etc/dm/docs".into(),
                    real: None,
                    mode: FsMode::ReadOnly,
                },
            ],
            env: vec!["TZ".to_owned(), "LANG".to_owned()],
            http: vec![
                "GET,POST https://api.example.com/v1".parse().unwrap(),
                "https://*.example.org".parse().unwrap(),
                "http://mcp:8080 private".parse().unwrap(),
            ],
        }
    );
    assert_eq!(
        files.limits,
        Limits {
            questions: Limits::default().questions,
            http_requests: 10,
            http_bytes: 11 << 10,
            total_timeout: Limits::default().total_timeout,
            memory: 1 << 30,
            timeout: Duration::from_secs(300),
            idle: Duration::from_secs(30),
            result: 1 << 20,
            output: 4 << 10,
            instances: 3,
            upstream: UpstreamLimits {
                message_bytes: 1 << 20,
                list_bytes: 2 << 20,
                list_items: 5,
                list_pages: 6,
                batch_messages: 8,
                log_bytes: 9 << 10,
                request_bytes: 3 << 20,
                connections: 7,
            },
        }
    );
    assert_eq!(
        Json::Object(files.settings.clone()),
        json!({
            "name": "x",
            "deep": { "list": [1, 2.5, true], "when": "2026-11-21" },
            "rows": [{ "a": 1 }],
        })
    );
}

#[test]
fn nothing_is_an_empty_configuration() {
    for text in ["", "# only a comment\n", "[servers]\n", "\u{feff}"] {
        assert_eq!(
            parse(Path::new(FILE), text),
            (Config::default(), vec![]),
            "{text:?}"
        );
    }
}

#[test]
fn reading_takes_linear_time() {
    let good = |size: usize| {
        let servers = (0..size)
            .map(|number| format!("[servers.s{number}]\ncommand = \"x\"\nargs = [\"a\", \"b\"]\n"));
        servers.collect::<String>()
    };
    let one_line = |size: usize| {
        let servers = (0..size).map(|number| format!("s{number} = {{ command = \"x\" }}"));
        format!("servers = {{ {} }}", servers.collect::<Vec<_>>().join(", "))
    };
    let bad = |size: usize| {
        let servers = (0..size).map(|number| format!("s{number} = {{ comand = 7 }}"));
        format!("servers = {{ {} }}", servers.collect::<Vec<_>>().join(", "))
    };
    let inputs: [(&str, &dyn Fn(usize) -> String); 3] = [
        ("servers", &good),
        ("one line", &one_line),
        ("problems", &bad),
    ];
    for (what, input) in inputs {
        dormouse_tests::growth::is_linear(what, 300, input, |text| {
            std::hint::black_box(parse(Path::new("/etc/dm/dormouse.toml"), text));
        });
    }
}

#[test]
fn a_projects_file_has_a_thousand_servers_at_most() {
    let servers: String = (0..1100)
        .map(|number| format!("[servers.s{number}]\ncommand = \"x\"\n"))
        .collect();
    let file = Path::new("/p/dormouse.toml");
    let (config, problems) =
        parse_of_project(file, &servers, VariableHandling::Kept, &Inputs::new());
    assert_eq!(config.servers.len(), 1000);
    assert_eq!(problems[0].message, "there are more than 1000 servers");
    let (config, problems) = parse(file, &servers);
    assert_eq!((config.servers.len(), problems.len()), (1100, 0));
}

#[test]
fn a_server_may_never_be_idle_for_too_long() {
    let text = "[servers.a]\ncommand = 'a'\nlimits = { idle = 'never' }\n";
    let (config, problems) = parse(Path::new(FILE), text);
    assert_eq!(problems, []);
    assert_eq!(config.servers["a"].limits.idle, dormouse_policy::NEVER);
    let (_, problems) = parse(Path::new(FILE), &text.replace("idle", "timeout"));
    assert_eq!(problems.len(), 1, "only that may be");
}

#[test]
fn an_overlay_says_what_it_grants() {
    let (config, problems) = parse(
        Path::new(FILE),
        "[servers.s]\nproject = '/p'\n[servers.s.grants]\nfs = [{ path = '/a' }]\nenv = ['TZ']\n\
         http = ['GET https://*.a.example', 'http://b:8080 private']",
    );
    assert_eq!(problems, []);
    assert_eq!(
        config.overlays["s"].said(),
        [
            "folder /a",
            "variable TZ",
            "GET requests to all hosts below a.example over HTTPS",
            "requests to b (port 8080) over HTTP, which is not encrypted, also where it is in a \
             private network",
        ]
    );
}
