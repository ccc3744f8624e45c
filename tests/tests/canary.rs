//! Secrets of every kind that a configuration can have: none of the output, the logs and the files
//! of Dormouse has one of them in it.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test is over when something is not as it should be"
)]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dormouse_tests::http::{Request, Server, write_token};
use dormouse_tests::{Client, Home, artifacts, oauth};
use serde_json::{Value, json};

/// Variables of the environment that the configuration fills in.
const VARIABLES: [(&str, &str); 8] = [
    ("IN_PATH", "canary-in-path"),
    ("IN_QUERY", "canary-in-query"),
    ("IN_HEADER", "canary-in-header"),
    ("IN_ENV", "canary-in-env"),
    ("IN_COMMAND", "canary-in-command"),
    ("PASSED", "canary-passed"),
    ("PASSED_TO_ONE", "canary-passed-to-one"),
    // Nothing listens there: what goes wrong is told.
    ("HTTPS_PROXY", "http://u:canary-proxy@127.0.0.1:1"),
];

/// Beginning of every secret here, but for those that are made by chance.
const CANARY: &str = "canary-";

/// Text that must not be anywhere.
struct Hidden(Vec<String>);

impl Hidden {
    /// Returns all secrets that are written here, also where they are within something that is
    /// encoded, in letters or in bytes.
    fn written() -> Self {
        let mut hidden = Self(vec![
            CANARY.to_owned(),
            CANARY.to_uppercase(),
            CANARY.bytes().map(|byte| format!("{byte:02x}")).collect(),
            CANARY.bytes().map(|byte| format!("%{byte:02x}")).collect(),
            CANARY.bytes().map(|byte| format!("%{byte:02X}")).collect(),
            CANARY
                .bytes()
                .map(|byte| format!("\\u00{byte:02x}"))
                .collect(),
        ]);
        // Whatever stands before and behind it, in each of the places that a byte can have.
        hidden.0.extend((0..3).map(|before| {
            let text = format!("{}{CANARY}", "_".repeat(before));
            let encoded = STANDARD.encode(&text);
            let (start, end) = ((before * 8).div_ceil(6), text.len() * 8 / 6);
            encoded.get(start..end).unwrap().to_owned()
        }));
        hidden
    }

    /// Adds a secret that was made by chance.
    fn and(&mut self, secret: &str) {
        assert!(secret.len() >= 10, "`{secret}` is in any text");
        self.0.push(secret.to_owned());
        self.0.push(STANDARD.encode(secret));
    }

    #[track_caller]
    fn are_not_in(&self, what: &str, text: &str) {
        for hidden in &self.0 {
            if let Some(at) = text.find(hidden.as_str()) {
                let from = text.floor_char_boundary(at.saturating_sub(200));
                let to = text.floor_char_boundary((at + 100).min(text.len()));
                panic!("{what}: `{hidden}`: …{}…", &text[from..to]);
            }
        }
    }

    /// Files that Dormouse keeps have none, either, but for the files that are there for them.
    #[track_caller]
    fn are_not_kept(&self, home: &Home) {
        for folder in ["cache", "run"] {
            self.are_not_below(&home.path().join(folder));
        }
    }

    #[track_caller]
    fn are_not_below(&self, folder: &Path) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy();
            if ["tokens", "http-token", "backups"].contains(&&*name) {
                use std::os::unix::fs::PermissionsExt as _;
                let mode = path.metadata().unwrap().permissions().mode();
                assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
            } else if path.is_dir() {
                self.are_not_below(&path);
            } else if path.is_file() {
                let bytes = std::fs::read(&path).unwrap();
                let text = String::from_utf8_lossy(&bytes);
                self.are_not_in(&path.display().to_string(), &text);
            }
        }
    }
}

/// The test would pass if it looked for the wrong things.
#[test]
fn what_is_hidden_is_found_however_it_is_encoded() {
    let hidden = Hidden::written();
    let of = |text: &str| STANDARD.encode(text);
    for text in [
        of("canary-user:canary-password"),
        of("me:canary-password"),
        of("x:canary-password"),
        of("xyz:canary-password"),
        "GET /?q=%63%61%6E%61%72%79%2D%77".to_owned(),
        r"\u0063\u0061\u006e\u0061\u0072\u0079\u002dw".to_owned(),
    ] {
        let found = hidden.0.iter().any(|hidden| text.contains(hidden.as_str()));
        assert!(found, "{text}: {:?}", hidden.0);
    }
    assert!(
        !hidden
            .0
            .iter()
            .any(|hidden| "a canary, Y2FuYXJ5".contains(hidden.as_str()))
    );
}

/// A program that prints its arguments and variables, and refuses to start with them.
const REPEATING: &str = r#"
echo "$@" >&2
env >&2
echo "junk $* $OTHER"
read -r line
echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"$* $OTHER $DATABASE_URL\"}}"
exit 1
"#;

/// A server that repeats all that it was given in messages other than results, lists and questions.
/// It lists something else when there is a file beside it.
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

def tools():
    changed = os.path.exists(sys.argv[0] + ".changed")
    names = ["x", "new"] if changed else ["x"]
    return [{"name": name, "description": str(changed), "inputSchema": {"type": "object"}}
            for name in names]

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
        send(id=id, result={"tools": tools()})
    else:
        token = message.get("params", {}).get("_meta", {}).get("progressToken")
        if token is not None:
            send(method="notifications/progress",
                 params={"progressToken": token, "progress": 1, "message": said})
        send(id=id, error={"code": -32000, "message": said, "data": {"said": said, said: 1}})
"#;

/// Starts a server that refuses everything, and repeats whatever it was sent.
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
    // One that is given a variable of its host, and one behind the proxy.
    let one = format!(
        "command = [\"python3\", \"{}\"]\npass_env = [\"PASSED_TO_ONE\"]",
        home.path().join("talks.py").display()
    );
    home.table("one", &one).unwrap();
    home.table("proxied", "url = \"https://proxied.example/mcp\"")
        .unwrap();
    // A plugin that says what it was given, in all ways.
    let loud = artifacts::guest("loud").unwrap();
    let given = "grants.env = [\"IN_ENV\"]\n\
        settings = { key = \"canary-setting\", url = \"https://u:canary-set@h/\", \
        args = [\"--token\", \"canary-set-argument\"] }";
    home.server_with("loud", &loud, given).unwrap();
    clients(&home);
    let line = "command = \"npx mcp-remote https://x.example/mcp --api-key canary-line\"";
    home.table("line", line).unwrap();
    home
}

/// Writes files of clients, with the secrets that these have: written out, in files that they name,
/// and answers to the questions that a client asks.
fn clients(home: &Home) {
    let talks = home.path().join("talks.py");
    let write = |file: &str, text: &str| {
        let file = home.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    };
    write("secrets.env", "FROM_FILE=canary-env-file\n");
    let cursor = json!({ "mcpServers": {
        "cursor": {
            "command": "python3",
            "args": [talks, "--token", "canary-cursor-argument", "${env:IN_COMMAND}"],
            "env": { "K": "canary-cursor-env", "F": "${env:IN_ENV}" },
            "envFile": "${userHome}/secrets.env",
        },
        "cursor_web": {
            "url": "http://127.0.0.1:1/mcp?key=canary-cursor-query",
            "headers": { "Authorization": "Bearer canary-cursor-bearer" },
        },
        "broken": { "command": 7, "env": "canary-broken-env" },
    } });
    write(".cursor/mcp.json", &cursor.to_string());
    let vscode = json!({
        "inputs": [{ "id": "key", "type": "promptString", "password": true, "description": "a key" }],
        "servers": { "vscode": {
            "type": "stdio", "command": "python3", "args": [talks, "${input:key}"],
            "env": { "K": "${input:key}" },
        } },
    });
    write("config/Code/User/mcp.json", &vscode.to_string());
    let mut config = std::fs::read_to_string(home.config()).unwrap();
    config.push_str(
        "[discovery]\npass_env = [\"PASSED\"]\n\n[discovery.inputs]\nkey = \"canary-input\"\n\n",
    );
    std::fs::write(home.config(), config).unwrap();
}

/// Makes a trusted project, with a server that is given the content of a file beside it.
fn trusted_project(home: &Home) -> PathBuf {
    let project = home.path().join("trusted");
    std::fs::create_dir_all(project.join(".cursor")).unwrap();
    std::fs::write(
        project.join("secrets.env"),
        "FROM_FILE=canary-project-env-file\n",
    )
    .unwrap();
    let servers = json!({ "mcpServers": { "of_trusted": {
        "command": "python3",
        "args": [home.path().join("talks.py")],
        "env": { "K": "canary-project-env" },
        "envFile": "${workspaceFolder}/secrets.env",
    } } });
    std::fs::write(project.join(".cursor/mcp.json"), servers.to_string()).unwrap();
    let mut trust = command(home, &["trust", "--yes"]);
    let output = trust.current_dir(&project).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    Hidden::written().are_not_in("`dormouse trust --yes`", &said.concat());
    project
}

fn command(home: &Home, words: &[&str]) -> Command {
    let mut command = home.command(words);
    command.envs(VARIABLES).env("DORMOUSE_LOG", "trace");
    command
}

#[test]
fn no_command_says_a_secret() {
    let home = home();
    let mut hidden = Hidden::written();
    let mut said = 0;
    let mut tried = BTreeSet::new();
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
        &["call", "talks", "x", "{}", "--json"],
        &["sync", "one"],
        &["call", "one", "x", "{}"],
        &["sync", "proxied"],
        &["call", "proxied", "x", "{}", "--json"],
        &["login", "proxied"],
        &["call", "web", "x", "{}", "--json"],
        &["call", "child", "x", "{}", "--json"],
        &["prompt", "talks", "x"],
        &["tools", "talks"],
        &["tools", "talks", "--json"],
        &["prompts", "--json"],
        &["resources", "--json"],
        &["sync", "loud"],
        &["tools", "loud"],
        &["call", "loud", "spill", "{}"],
        &["call", "loud", "spill", "{}", "--json"],
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
        &["sync", "cursor"],
        &["call", "cursor", "x", "{}"],
        &["sync", "cursor_web"],
        &["sync", "vscode"],
        &["call", "vscode", "x", "{}"],
        &["list", "--json"],
        &["status", "--json"],
        &["doctor", "--connect"],
        &["adapt", "cursor", "-o", "cursor.wasm"],
        &["adapt", "talks", "-o", "talks.wasm"],
        &["inspect", "talks.wasm"],
        &["inspect", "talks.wasm", "--json"],
        &["check", "talks.wasm"],
        &["pack", "talks.wasm", "--wit", "nowhere"],
        &["add", "adapted", "talks.wasm"],
        &["add", "adapted", "talks.wasm", "--yes", "--grant-upstream"],
        &["call", "adapted", "x", "{}"],
        &["grant", "adapted"],
        &["grant", "web"],
        &["remove", "adapted"],
        &["cache", "list"],
        &["wit"],
        &["completions", "bash"],
        &["import", "cursor", "--dry-run"],
        &["import", "vscode", "--dry-run"],
        &["import", "--dry-run"],
        &["install", "cursor", "--dry-run"],
        &["install", "cursor", "--http", "127.0.0.1:9", "--dry-run"],
        &["install", "cursor", "--no-sync"],
        &["install", "vscode", "--http", "127.0.0.1:9", "--no-sync"],
        &["import", "cursor", "--no-sync"],
        &["import", "--undo"],
        &["import", "vscode", "--replace", "--no-sync"],
        &["uninstall", "vscode", "--dry-run"],
        &["uninstall", "vscode"],
        &["list"],
        &["doctor"],
        &["serve"],
        // What has changed, and waits for its user.
        &["sync", "talks", "--json"],
        &["list"],
        &["status", "--json"],
        &["diff"],
        &["approve", "talks", "--dry-run"],
        &["approve", "talks"],
        &["approve", "talks", "--yes"],
        &["tools", "talks", "--json"],
        &["forget", "talks"],
        &["remove", "talks"],
    ] {
        tried.extend(words.first().map(|word| (*word).to_owned()));
        if words == ["sync", "talks", "--json"] {
            std::fs::write(home.path().join("talks.py.changed"), "").unwrap();
        }
        let output = command(&home, words).stdin(Stdio::null()).output().unwrap();
        if words == ["approve", "talks", "--dry-run"] {
            let shown = String::from_utf8_lossy(&output.stdout);
            assert!(shown.contains("new"), "nothing has changed: {shown}");
        }
        for stream in [&output.stdout, &output.stderr] {
            let text = String::from_utf8_lossy(stream);
            said += text.len();
            hidden.are_not_in(&format!("`dormouse {}`", words.join(" ")), &text);
        }
        // Made by the first command that needs it.
        let token = home.path().join("cache/data/dormouse/http-token");
        if hidden.0.len() == Hidden::written().0.len()
            && let Ok(token) = std::fs::read_to_string(token)
        {
            hidden.and(token.trim());
            for stream in [&output.stdout, &output.stderr] {
                let text = String::from_utf8_lossy(stream);
                hidden.are_not_in(&format!("`dormouse {}`", words.join(" ")), &text);
            }
        }
    }
    assert_eq!(tried, home.subcommands().unwrap());
    assert!(said > 1000, "hardly anything was said");
    // What a project's files say is shown to whoever is to trust it: a command whole, and of
    // variables and headers the names.
    let project = home.path().join("project");
    std::fs::create_dir_all(&project).unwrap();
    let servers = json!({ "mcpServers": {
        "of_project": { "command": "python3", "args": ["x.py"], "env": { "K": "canary-cursor-env" } },
        "web_of_project": {
            "url": "https://127.0.0.1:9/",
            "headers": { "Authorization": "Bearer canary-cursor-bearer" },
        },
    } });
    std::fs::write(project.join(".mcp.json"), servers.to_string()).unwrap();
    for words in [&["trust"][..], &["trust", "--yes"], &["list"], &["doctor"]] {
        let mut command = command(&home, words);
        let output = command.current_dir(&project).output().unwrap();
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        let text = text.concat();
        assert!(
            words != ["trust"] || text.contains("web_of_project"),
            "{text}"
        );
        hidden.are_not_in(
            &format!("`dormouse {}` in a project", words.join(" ")),
            &text,
        );
    }
    let project = trusted_project(&home);
    for words in [
        &["sync", "of_trusted"][..],
        &["call", "of_trusted", "x", "{}"],
        &["call", "of_trusted", "x", "{}", "--json"],
        &["list", "--json"],
        &["doctor", "--connect"],
        &["adapt", "of_trusted", "-o", "of_trusted.wasm"],
    ] {
        let mut command = command(&home, words);
        let output = command.current_dir(&project).output().unwrap();
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        let text = text.concat();
        assert!(text.contains("of_trusted"), "{text}");
        assert!(
            output.status.success() || words[0] != "sync",
            "{words:?}: {text}"
        );
        hidden.are_not_in(
            &format!("`dormouse {}` in a trusted project", words.join(" ")),
            &text,
        );
    }
    assert!(
        hidden.0.len() > Hidden::written().0.len(),
        "no token was made"
    );
    hidden.are_not_kept(&home);
}

#[test]
fn no_agent_is_told_a_secret() {
    let home = home();
    let hidden = Hidden::written();
    let log = std::fs::File::create(home.path().join("log")).unwrap();
    let project = trusted_project(&home);
    let mut serve = command(&home, &["serve"]);
    let mut host = Client::start(serve.current_dir(&project).stderr(log)).unwrap();
    for server in [
        "of_trusted",
        "one",
        "proxied",
        "web",
        "old",
        "login",
        "child",
        "ends",
        "repeats",
        "talks",
        "line",
        "cursor",
        "cursor_web",
        "vscode",
    ] {
        let outcome = host.outcome(
            "tools/call",
            json!({ "name": format!("{server}__discover"), "arguments": {} }),
        );
        hidden.are_not_in(server, &outcome.unwrap().to_string());
        let outcome = host.outcome(
            "tools/call",
            json!({ "name": format!("{server}__x"), "arguments": {}, "_meta": { "progressToken": 7 } }),
        );
        hidden.are_not_in(server, &outcome.unwrap().to_string());
        let status = host.outcome(
            "prompts/get",
            json!({ "name": "status", "arguments": { "server": server } }),
        );
        let status = status.unwrap().to_string();
        hidden.are_not_in(server, &status);
        if server == "repeats" {
            // Of what runs, models are told the program or the host alone.
            assert!(status.contains(r#"\"upstream\": \"sh\""#), "{status}");
        }
    }
    let call = json!({
        "name": "loud__spill", "arguments": {}, "_meta": { "progressToken": 7 },
    });
    let outcome = host.outcome("tools/call", call).unwrap().to_string();
    assert!(outcome.contains("panicked"), "{outcome}");
    hidden.are_not_in("a panic", &outcome);
    let told = Value::from(host.notifications.clone()).to_string();
    assert!(told.contains("notifications/progress"), "{told}");
    hidden.are_not_in("the notifications", &told);
    for (method, params) in [
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/list", json!({})),
        ("resources/read", json!({ "uri": "dormouse://status" })),
        ("prompts/get", json!({ "name": "servers" })),
    ] {
        hidden.are_not_in(method, &host.outcome(method, params).unwrap().to_string());
    }
    // The same through the control socket, of a host that has failed at all of them.
    for words in [&["status"][..], &["status", "--json"], &["list", "--json"]] {
        let output = command(&home, words).output().unwrap();
        hidden.are_not_in(
            "the control socket",
            &String::from_utf8_lossy(&output.stdout),
        );
        hidden.are_not_in(
            "the control socket",
            &String::from_utf8_lossy(&output.stderr),
        );
    }
    let said = asked_by_hand(&home);
    assert!(
        said.contains("\"pid\"") && said.contains("-32602"),
        "{said}"
    );
    hidden.are_not_in("the control socket itself", &said);
    drop(host);
    let log = std::fs::read_to_string(home.path().join("log")).unwrap();
    assert!(log.contains("TRACE"), "nothing is logged: {log}");
    hidden.are_not_in("the log at trace", &log);
    hidden.are_not_kept(&home);
}

/// Returns the control socket of the host that runs.
fn control_socket(folder: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::FileTypeExt as _;
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.into_iter().find_map(|path| match path.is_dir() {
        true => control_socket(&path),
        false => path
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.file_type().is_socket())
            .then_some(path),
    })
}

/// Returns the answers of the control socket to requests of all methods, good and bad.
fn asked_by_hand(home: &Home) -> String {
    let socket = control_socket(&home.path().join("run")).unwrap();
    let stream = UnixStream::connect(socket).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap());
    let mut said = String::new();
    for (method, params) in [
        ("status", Value::Null),
        ("status", json!([7])),
        ("reload", json!({ "config": home.config() })),
        ("reload", json!({ "config": "/nowhere" })),
        ("switch", json!({ "server": "web", "on": false })),
        ("switch", json!({ "server": "web", "on": "canary" })),
        ("restart", json!({ "server": "talks" })),
        ("restart", json!({})),
        ("status", Value::Null),
        ("no/such", Value::Null),
    ] {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        writeln!(&stream, "{request}").unwrap();
        assert!(
            answers.read_line(&mut said).unwrap() > 0,
            "{method}: {said}"
        );
    }
    said
}

/// Returns the tokens of a login, and those that it got for them.
fn tokens(home: &Home) -> Vec<String> {
    let folder = home.path().join("cache/data/dormouse/tokens");
    let files = std::fs::read_dir(folder).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let files = files.filter(|file| file.extension().is_some_and(|kind| kind == "json"));
    let mut found = Vec::new();
    for file in files {
        let kept: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let tokens = &kept["credentials"]["token_response"];
        for name in ["access_token", "refresh_token"] {
            found.push(tokens[name].as_str().unwrap().to_owned());
        }
    }
    found
}

/// Makes a home that is logged in at a server of its own, and the secrets of that login, which has
/// repeated none of them.
fn logged_in(server: &oauth::Server) -> (Home, Hidden) {
    let home = Home::new().unwrap();
    let oauth =
        "oauth = { client_id = \"mine\", client_secret = \"${IN_ENV}\", scopes = [\"notes\"] }";
    let table = format!("url = \"{}\"\n{oauth}", server.url());
    home.table("notes", &table).unwrap();
    home.table("web", "url = \"http://127.0.0.1:1/mcp\"")
        .unwrap();
    home.table("talks", "command = \"false\"").unwrap();
    let mut hidden = Hidden::written();
    let mut login = command(&home, &["login", "notes"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut link = String::new();
    let mut stdout = BufReader::new(login.stdout.take().unwrap());
    stdout.read_line(&mut link).unwrap();
    let (_, redirect) = oauth::once("GET", link.trim()).unwrap();
    let redirect = redirect.unwrap();
    let page = oauth::get(&redirect).unwrap();
    let output = login.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let code = redirect.split_once("code=").unwrap().1;
    hidden.and(code.split('&').next().unwrap());
    for token in tokens(&home) {
        hidden.and(&token);
    }
    hidden.are_not_in("the login", &String::from_utf8_lossy(&output.stderr));
    hidden.are_not_in("the page after the login", &page.text);
    (home, hidden)
}

#[test]
fn nobody_is_told_a_token_of_a_login() {
    let options = ["--no-registration", "--client", "mine"];
    let options = [&options[..], &["--client-secret", "canary-in-env"]].concat();
    let server = oauth::Server::start(&options).unwrap();
    let (home, mut hidden) = logged_in(&server);
    let runs = |words: &[&str], hidden: &Hidden| {
        let output = command(&home, words).stdin(Stdio::null()).output().unwrap();
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        hidden.are_not_in(&format!("`dormouse {}`", words.join(" ")), &text.concat());
        text.concat()
    };
    for words in [
        &["sync", "notes"][..],
        &["call", "notes", "whoami", "{}"],
        &["call", "notes", "admin", "{}"],
        &["status", "--json"],
        &["list", "--json"],
        &["doctor", "--connect"],
        &["adapt", "notes", "-o", "notes.wasm"],
        &["inspect", "notes.wasm"],
    ] {
        runs(words, &hidden);
    }
    // An agent, whose calls get others in place of tokens that are no longer good.
    let log = std::fs::File::create(home.path().join("log")).unwrap();
    let mut host = Client::start(command(&home, &["serve"]).stderr(log)).unwrap();
    let before = tokens(&home);
    let mut said = String::new();
    for make in [None, Some("expire"), Some("forget")] {
        make.into_iter().for_each(|what| server.make(what).unwrap());
        for tool in ["whoami", "admin", "nothing"] {
            let call = json!({ "name": format!("notes__{tool}"), "arguments": {} });
            said += &host.outcome("tools/call", call).unwrap().to_string();
        }
        let resource = json!({ "uri": "dormouse://status" });
        said += &host
            .outcome("resources/read", resource)
            .unwrap()
            .to_string();
        tokens(&home).iter().for_each(|token| hidden.and(token));
    }
    assert!(said.contains("mine"), "nobody was let in: {said}");
    assert!(tokens(&home) != before, "no token was made anew");
    said += &asked_by_hand(&home);
    hidden.are_not_in("an agent", &said);
    drop(host);
    let log = std::fs::read_to_string(home.path().join("log")).unwrap();
    assert!(log.contains("TRACE"), "nothing is logged: {log}");
    hidden.are_not_in("the log at trace", &log);
    hidden.are_not_kept(&home);
    runs(&["logout", "notes"], &hidden);
}

#[test]
fn nobody_is_told_the_token_of_a_host() {
    let home = home();
    let words = ["serve", "--http", "127.0.0.1:0"];
    let server = Server::start(&mut command(&home, &words)).unwrap();
    let token = server.token().unwrap().to_owned();
    is_not_told(&home, server, &token);
}

#[test]
fn nobody_is_told_a_token_that_is_given_to_a_host() {
    let home = home();
    let token = "canary-token-of-the-environment";
    let mut serve = command(&home, &["serve", "--http", "127.0.0.1:0"]);
    serve.env("DORMOUSE_TOKEN", token);
    is_not_told(&home, Server::start(&mut serve).unwrap(), token);
    let token = "canary-token-of-a-file";
    // Where nothing else is kept.
    let folder = tempfile::tempdir().unwrap();
    let file = write_token(folder.path(), &format!("{token}\n")).unwrap();
    let file = file.display().to_string();
    let words = ["serve", "--http", "127.0.0.1:0", "--token-file", &file];
    let server = Server::start(&mut command(&home, &words)).unwrap();
    is_not_told(&home, server, token);
}

/// Asks a host in many ways for its token, and checks all its answers.
fn is_not_told(home: &Home, server: Server, token: &str) {
    let mut hidden = Hidden::written();
    hidden.and(token);
    let list = || Request::stateless(1, "tools/list", json!({}));
    let twice = |mut request: Request| {
        let token = ("authorization".to_owned(), format!("Bearer {token}"));
        request.headers.extend([token.clone(), token]);
        request
    };
    let call = json!({ "name": "talks__discover", "arguments": {} });
    let right = format!("Bearer {token}");
    let right_list = || list().header("authorization", &right);
    let right_call = Request::stateless(1, "tools/call", call).header("authorization", &right);
    let mut statuses = Vec::new();
    for request in [
        right_list(),
        right_call,
        list().header("authorization", "Bearer canary-wrong-token"),
        list().header(
            "authorization",
            &format!("Basic {}", STANDARD.encode("u:canary-basic")),
        ),
        list().header("authorization", &format!("Bearer {token}x")),
        list().header("authorization", token),
        twice(list()),
        list()
            .header("host", "evil.example")
            .header("authorization", &right),
        list()
            .header("origin", "http://origin.example")
            .header("authorization", &right),
        Request::get(&format!("/mcp?token={token}")),
        Request::get(&format!("/{token}")).header("authorization", ""),
        Request::post(format!("{{\"token\":\"{token}\"")),
        Request::post("x").header("mcp-session-id", token),
    ] {
        let mut stream = server.connect().unwrap();
        let request = request.header("connection", "close");
        stream.write_all(&request.bytes(&server)).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer);
        hidden.are_not_in(&request.line, &answer);
        statuses.push(answer.split(' ').nth(1).unwrap().to_owned());
    }
    assert_eq!(statuses[..2], ["200", "200"], "{statuses:?}");
    assert_eq!(statuses[2..6], ["401"; 4], "{statuses:?}");
    assert!(["400", "401"].contains(&&*statuses[6]), "{statuses:?}");
    for words in [&["status"][..], &["status", "--json"], &["doctor"]] {
        let output = command(home, words).output().unwrap();
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
        hidden.are_not_in("the control socket", &text.concat());
    }
    let said = server.said();
    assert!(said.contains("DEBUG"), "nothing is logged: {said}");
    hidden.are_not_in("the log at trace", &said);
    drop(server);
    hidden.are_not_kept(home);
}
