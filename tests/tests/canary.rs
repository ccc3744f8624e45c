//! Secrets of every kind that a configuration can have, and everything that Dormouse says,
//! logs and keeps: none of it has one of them in it.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};

use dormouse_tests::{Client, Home};
use serde_json::json;

/// Variables of the environment that the configuration fills in.
const VARIABLES: [(&str, &str); 5] = [
    ("IN_PATH", "canary-in-path"),
    ("IN_QUERY", "canary-in-query"),
    ("IN_HEADER", "canary-in-header"),
    ("IN_ENV", "canary-in-env"),
    ("IN_COMMAND", "canary-in-command"),
];

/// What every secret here begins with.
const CANARY: &str = "canary-";

/// A program that prints its arguments and variables, and refuses to start with them.
const REPEATING: &str = r#"
echo "$@" >&2
env >&2
echo "junk $* $OTHER"
read -r line
echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"$* $OTHER $DATABASE_URL\"}}"
exit 1
"#;

/// A server that says all that it was given in whatever is no result.
const TALKATIVE: &str = r#"
import base64, json, os, sys, urllib.parse
words = sys.argv[1:] + list(os.environ.values())
words += [urllib.parse.quote(word) for word in words] + [json.dumps(word) for word in words]
said = " ".join(word for word in words if "canary" in word.lower())

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def log():
    send(method="notifications/message",
         params={"level": "error", "logger": "l", "data": {"said": said}})

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message or "method" not in message:
        continue
    id, method = message["id"], message["method"]
    log()
    if method == "initialize":
        send(id=id, result={
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}, "prompts": {}, "logging": {}},
            "serverInfo": {"name": "talks", "version": "1"}})
    elif method == "tools/list":
        send(id=id, result={"tools": [{"name": "x", "inputSchema": {"type": "object"}}]})
    else:
        token = message.get("params", {}).get("_meta", {}).get("progressToken")
        if token is not None:
            send(method="notifications/progress",
                 params={"progressToken": token, "progress": 1, "message": said})
        send(id=id, error={"code": -32000, "message": said, "data": {"said": said, said: 1}})
"#;

/// A server that refuses everything, and repeats whatever it was sent.
fn reflecting() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut head, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
                    break;
                }
                if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap_or(0);
                }
                head.push_str(&line);
            }
            let mut body = vec![0; length];
            let _ = reader.read_exact(&mut body);
            let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
            let wants_login = target.contains("login");
            let status = if wants_login {
                "401 Unauthorized"
            } else {
                "503 Busy"
            };
            let text = head.replace("\r\n", " ");
            let answer = format!(
                "HTTP/1.1 {status}\r\nretry-after: {target}\r\ncontent-length: {}\r\n\
                 connection: close\r\n\r\n{text}",
                text.len()
            );
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

fn home() -> Home {
    let home = Home::new().unwrap();
    let address = reflecting();
    let url = |rest: &str| {
        format!(
            "url = \"http://canary-user:canary-password@{address}/{rest}?key=canary-literal&q=${{IN_QUERY}}\""
        )
    };
    let headers =
        "headers = { Authorization = \"Bearer canary-bearer\", X-Key = \"${IN_HEADER}\" }";
    home.table("web", &format!("{}\n{headers}", url("${IN_PATH}/mcp")))
        .unwrap();
    home.table(
        "old",
        &format!("type = \"sse\"\n{}\n{headers}", url("${IN_PATH}/sse")),
    )
    .unwrap();
    let oauth = "oauth = { client_id = \"me\", client_secret = \"canary-client-secret\" }";
    home.table("login", &format!("{}\n{oauth}", url("${IN_PATH}/login")))
        .unwrap();
    let child = "command = \"/nowhere/${IN_COMMAND}\"\n\
        args = [\"--api-key\", \"canary-argument\", \"--token=canary-option\", \
        \"https://u:canary-url@example.com/?k=canary-url-key\"]\n\
        env = { SECRET = \"canary-env\", OTHER = \"${IN_ENV}\" }";
    home.table("child", child).unwrap();
    let ends = "command = [\"sh\", \"-c\", \"exit 3\"]\nenv = { SECRET = \"canary-env\" }";
    home.table("ends", ends).unwrap();
    // It repeats all that it was given, in lines and in an error.
    let script = home.path().join("repeats.sh");
    std::fs::write(&script, REPEATING).unwrap();
    let talks = home.path().join("talks.py");
    std::fs::write(&talks, TALKATIVE).unwrap();
    for (name, program, script) in [("repeats", "sh", script), ("talks", "python3", talks)] {
        let given = format!(
            "command = [\"{program}\", \"{}\", \"${{IN_COMMAND}}\", \"--header\", \
             \"X-Key:canary-header\", \"--pass\", \"canary-pass\", \"Server=x;Password=canary-pair\", \
             \"me:canary-user@db\", \"https://canary-login:canary%40word@x/?q=canary-query\"]\n\
             env = {{ DATABASE_URL = \"postgres://me:canary-env-url@db/x\", OTHER = \"${{IN_ENV}}\", \
             KEY = \"canary-\\\"env\\\"/\\u00e9\" }}",
            script.display()
        );
        home.table(name, &given).unwrap();
    }
    let line = "command = \"npx mcp-remote https://x.example/mcp --api-key canary-line\"";
    home.table("line", line).unwrap();
    home
}

fn command(home: &Home, words: &[&str]) -> Command {
    let mut command = home.command(words);
    command.envs(VARIABLES).env("DORMOUSE_LOG", "trace");
    command
}

#[track_caller]
fn has_none(what: &str, text: &str) {
    if let Some(at) = text.find(CANARY) {
        let from = text.floor_char_boundary(at.saturating_sub(200));
        let to = text.floor_char_boundary((at + 100).min(text.len()));
        panic!("{what}: …{}…", &text[from..to]);
    }
}

#[test]
fn no_command_says_a_secret() {
    let home = home();
    let mut said = 0;
    for words in [
        &["list"][..],
        &["list", "--json"],
        &["tools"],
        &["tools", "--json"],
        &["prompts"],
        &["resources"],
        &["status"],
        &["status", "--json"],
        &["doctor"],
        &["doctor", "--json"],
        &["doctor", "--connect"],
        &["sync"],
        &["sync", "--json"],
        &["sync", "web"],
        &["sync", "child"],
        &["sync", "repeats"],
        &["call", "repeats", "x", "{}"],
        &["sync", "talks"],
        &["call", "talks", "x", "{}"],
        &["prompt", "talks", "x"],
        &["sync", "line"],
        &["call", "web", "x", "{}"],
        &["call", "old", "x", "{}"],
        &["call", "child", "x", "{}"],
        &["call", "ends", "x", "{}"],
        &["call", "web", "discover", "{}"],
        &["call", "child", "discover", "{}"],
        &["read", "x://y"],
        &["prompt", "web", "x"],
        &["login", "login"],
        &["login", "web"],
        &["login", "child"],
        &["logout", "login"],
        &["logout", "web"],
        &["approve", "web"],
        &["trust", "--list"],
        &["restart", "web"],
        &["disable", "web"],
        &["enable", "web"],
        &["adapt", "web", "-o", "web.wasm"],
        &["inspect", "web"],
        &["import", "cursor", "--dry-run"],
    ] {
        let output = command(&home, words).stdin(Stdio::null()).output().unwrap();
        for stream in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(stream);
            said += text.len();
            has_none(&format!("`dormouse {}`", words.join(" ")), &text);
        }
    }
    assert!(said > 1000, "hardly anything was said");
    has_none_kept(&home);
}

#[test]
fn no_agent_is_told_a_secret() {
    let home = home();
    let log = std::fs::File::create(home.path().join("log")).unwrap();
    let mut host = Client::start(command(&home, &["serve"]).stderr(log)).unwrap();
    for server in [
        "web", "old", "login", "child", "ends", "repeats", "talks", "line",
    ] {
        let outcome = host.outcome(
            "tools/call",
            json!({ "name": format!("{server}__discover"), "arguments": {} }),
        );
        has_none(server, &outcome.unwrap().to_string());
        let outcome = host.outcome(
            "tools/call",
            json!({ "name": format!("{server}__x"), "arguments": {}, "_meta": { "progressToken": 7 } }),
        );
        has_none(server, &outcome.unwrap().to_string());
        let status = host.outcome(
            "prompts/get",
            json!({ "name": "status", "arguments": { "server": server } }),
        );
        let status = status.unwrap().to_string();
        has_none(server, &status);
        if server == "repeats" {
            // Of what runs, models are told the program or the host alone.
            assert!(status.contains(r#"\"upstream\": \"sh\""#), "{status}");
        }
    }
    for (method, params) in [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("resources/read", json!({ "uri": "dormouse://status" })),
        ("prompts/get", json!({ "name": "servers" })),
    ] {
        has_none(method, &host.outcome(method, params).unwrap().to_string());
    }
    // The same through the control socket, of a host that has failed at all of them.
    for words in [&["status"][..], &["status", "--json"], &["list", "--json"]] {
        let output = command(&home, words).output().unwrap();
        has_none(
            "the control socket",
            &String::from_utf8_lossy(&output.stdout),
        );
        has_none(
            "the control socket",
            &String::from_utf8_lossy(&output.stderr),
        );
    }
    drop(host);
    let log = std::fs::read_to_string(home.path().join("log")).unwrap();
    assert!(log.contains("TRACE"), "nothing is logged: {log}");
    has_none("the log at trace", &log);
    has_none_kept(&home);
}

/// What Dormouse keeps has none, either.
#[track_caller]
fn has_none_kept(home: &Home) {
    fn look(folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                look(&path);
            } else if path.is_file() {
                let bytes = std::fs::read(&path).unwrap();
                has_none(
                    &path.display().to_string(),
                    &String::from_utf8_lossy(&bytes),
                );
            }
        }
    }
    for folder in ["cache", "run"] {
        look(&home.path().join(folder));
    }
}
