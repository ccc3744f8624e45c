//! Texts that steer a terminal, from everybody who can write one: an upstream, a plugin, a web
//! server, an authorization server, an agent, a client of a host's port, a cloned project, another
//! program's file, a folder. All commands are run on a terminal, and none of the steering in these
//! texts reaches it.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test is over when something is not as it should be"
)]

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;

use dormouse_tests::{Home, artifacts, component};
use serde_json::{Value, json};

/// A title of the window, hidden letters, a C1 control, an override of the direction, a
/// letter without width, an answer that would be typed, a step back, a bell, the start of a
/// line, ends of lines that are none in ASCII, a tag, which is not seen at all.
const TEXT: &str = "E\u{1b}]0;x\u{7}\u{1b}[8m\u{9b}8m\u{202e}\u{200b}\u{1b}[6n\u{8}\r\u{2603}\
                    \u{85}\u{2028}\u{2029}\u{e0041}F";

/// Part of it that can be in a header.
const HEADER: &str = "E\u{9b}8m\u{202e}\u{200b}\u{85}\u{2028}\u{2029}\u{e0041}F";

/// Parts of it that must not be seen raw. Dormouse itself writes colours, and `\r` before a line
/// that it replaces.
const STEERING: [&str; 13] = [
    "\u{1b}]",
    "\u{1b}[8m",
    "\u{1b}[6n",
    "\u{9b}",
    "\u{202e}",
    "\u{200b}",
    "\u{7}",
    "\u{8}",
    "\r\u{2603}",
    "\u{85}",
    "\u{2028}",
    "\u{2029}",
    "\u{e0041}",
];

struct Place {
    home: Home,
    changed: PathBuf,
}

impl Place {
    fn new() -> Self {
        let home = Home::new().unwrap();
        let changed = home.path().join("changed");
        let words = Self::words(&changed);
        home.table("up", &format!("command = {}", json!(words)))
            .unwrap();
        home.table(
            "ends",
            &format!(
                "command = [\"sh\", \"-c\", \"printf '%s' \\\"$0\\\" >&2; exit 3\", {}]",
                json!(TEXT)
            ),
        )
        .unwrap();
        // A cloned project, and the file of a client that somebody else has written.
        let project = home.path().join("project");
        fs::create_dir_all(project.join(".git")).unwrap();
        let server = |more: &str| {
            json!({
                "command": format!("c{TEXT}"), "args": [TEXT, more], "cwd": format!("d{TEXT}"),
                "env": { format!("E{TEXT}"): TEXT }
            })
        };
        let remote = json!({
            "type": "http", "url": format!("https://example.com/{TEXT}"), "headers": { TEXT: TEXT }
        });
        let servers = json!({ "mcpServers": {
            format!("p{TEXT}"): server("1"), "plain": server("2"), "remote": remote, "bad": TEXT,
        } });
        fs::write(project.join(".mcp.json"), servers.to_string()).unwrap();
        fs::create_dir_all(home.path().join(".cursor")).unwrap();
        fs::write(home.path().join(".cursor/mcp.json"), servers.to_string()).unwrap();
        plugins(&home);
        let address = web();
        for name in ["broken", "moved", "login", "metadata"] {
            home.table(name, &format!("url = \"http://{address}/{name}\""))
                .unwrap();
        }
        // A project in a folder of that name.
        let project = home.path().join(TEXT);
        fs::create_dir_all(project.join(".git")).unwrap();
        let servers = json!({ "mcpServers": { "odd": { "command": "true" } } });
        fs::write(project.join(".mcp.json"), servers.to_string()).unwrap();
        Self { home, changed }
    }

    fn words(changed: &Path) -> Vec<String> {
        let script = artifacts::workspace().join("tests/servers/escapes.py");
        [
            "python3".to_owned(),
            script.display().to_string(),
            TEXT.to_owned(),
            changed.display().to_string(),
        ]
        .into()
    }

    /// Runs a command on a terminal, where a user says no to each question.
    fn shown(&self, words: &[&str], folder: &str) -> String {
        let script = artifacts::workspace().join("tests/clients/python/terminal.py");
        let run = self.home.command(words);
        let mut command = Command::new(artifacts::python("clients", "python").unwrap());
        let asked: Vec<Value> = match words.first() {
            Some(&"approve" | &"trust" | &"grant" | &"add" | &"uninstall")
                if !words.contains(&"--yes") =>
            {
                vec![json!(["[y/N]", "n\n"])]
            }
            Some(&"serve") if words.contains(&"--http") => {
                let address = words.last().unwrap();
                vec![json!(["listening on", "\u{3}", self.odd_requests(address)])]
            }
            Some(&"serve") => agent_steps(),
            Some(&"call") if words.contains(&"ask") => vec![json!(["c = cancel: ", "c\n"])],
            _ => Vec::new(),
        };
        command
            .arg(script)
            .arg(Value::from(asked).to_string())
            .arg(run.get_program())
            .args(run.get_args())
            .current_dir(self.home.path().join(folder))
            .envs(self.home.environment())
            .env("TERM", "xterm-256color");
        let output = command.output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        if words.first() == Some(&"serve") {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}{shown}");
        }
        shown
    }
}

impl Place {
    /// A program that sends requests with such texts to a host.
    fn odd_requests(&self, address: &str) -> Vec<String> {
        let script = artifacts::workspace().join("tests/clients/python/odd_requests.py");
        let token = self.home.path().join("cache/data/dormouse/http-token");
        let words = [&script, &token].map(|path| path.display().to_string());
        let [script, token] = words;
        [
            "python3".to_owned(),
            script,
            address.to_owned(),
            token,
            TEXT.to_owned(),
            HEADER.to_owned(),
        ]
        .into()
    }
}

/// Returns messages to a host on a terminal, which echoes them: so all of them are ASCII.
fn agent_steps() -> Vec<Value> {
    let initialize = json!({
        "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
        "clientInfo": { "name": TEXT, "title": TEXT, "version": TEXT },
    });
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments, "_meta": { "progressToken": TEXT } });
    let said = json!({ "text": TEXT });
    let requests = [
        ("initialize", initialize),
        ("tools/call", call("up__say", json!({}))),
        ("tools/call", call("up__fail", json!({}))),
        ("tools/call", call("loud__say", said.clone())),
        ("tools/call", call("loud__fail", said.clone())),
        ("tools/call", call("loud__panic", said)),
        ("tools/call", call("ends__discover", json!({}))),
        ("tools/call", call(TEXT, json!({}))),
        ("resources/read", json!({ "uri": TEXT })),
        ("prompts/get", json!({ "name": TEXT })),
        ("logging/setLevel", json!({ "level": TEXT })),
        (TEXT, json!({ TEXT: TEXT })),
    ];
    let mut steps = Vec::new();
    let mut before = String::new();
    for (id, (method, params)) in (700..).zip(requests) {
        let request = request(id, method, &params);
        steps.push(json!([before, format!("{request}\n")]));
        if method == "initialize" {
            let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
            steps.push(json!([answered_as(id), format!("{ready}\n")]));
            before = String::new();
        } else {
            before = answered_as(id);
        }
    }
    // No JSON, what is none of MCP, and a question that nobody has asked.
    for odd in [
        json!({ "jsonrpc": "2.0", "id": TEXT, "result": { TEXT: TEXT } }),
        json!({ "jsonrpc": "2.0", "method": TEXT, "params": { TEXT: TEXT } }),
        json!({ TEXT: TEXT }),
        json!(TEXT),
    ] {
        steps.push(json!([
            std::mem::take(&mut before),
            format!("{}\n", ascii(&odd.to_string()))
        ]));
    }
    let last = request(799, "ping", &json!({}));
    steps.push(json!(["", format!("{last}\n")]));
    steps.push(json!([answered_as(799), "\u{4}"]));
    steps
}

/// Makes a request whose id is its last member: so its echo is not taken for its answer.
fn request(id: u64, method: &str, params: &Value) -> String {
    let method = json!(method);
    ascii(&format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":{method},\"params\":{params},\"id\":{id}}}"
    ))
}

/// Returns the beginning of an answer to a request.
fn answered_as(id: u64) -> String {
    format!("\"id\":{id},\"")
}

/// Returns a JSON text in ASCII.
fn ascii(json: &str) -> String {
    let mut text = String::new();
    for letter in json.chars() {
        if letter.is_ascii() && letter != '\u{7f}' {
            text.push(letter);
        } else {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

/// Adds plugins with these texts: in their declarations, and in their results.
fn plugins(home: &Home) {
    let loud = artifacts::guest("loud").unwrap();
    home.server("loud", &loud).unwrap();
    // With a folder by a link, that leads to one whose name is such a text.
    let folder = home.path().join(format!("folder {TEXT}"));
    fs::create_dir(&folder).unwrap();
    let first = home.path().join("first");
    fs::create_dir(&first).unwrap();
    std::os::unix::fs::symlink(&first, home.path().join("link")).unwrap();
    let link = home.path().join("link").display().to_string();
    home.server_with(
        "folders",
        &loud,
        &format!("grants.fs = [{{ path = {} }}]", json!(link)),
    )
    .unwrap();
    // What `pack` writes, with other texts.
    let file = home.path().join("bad.wasm");
    fs::copy(&loud, &file).unwrap();
    let file = file.display().to_string();
    assert!(home.run(&["pack", &file]).unwrap().status.success());
    let packed = fs::read(&file).unwrap();
    let start = packed.iter().position(|byte| *byte == b'{').unwrap();
    let text = packed.get(start..).unwrap();
    let mut declarations = serde_json::Deserializer::from_slice(text).into_iter();
    let mut declared: Value = declarations.next().unwrap().unwrap();
    for name in ["name", "version", "title", "description"] {
        declared
            .as_object_mut()
            .unwrap()
            .insert(name.to_owned(), TEXT.into());
    }
    for tool in declared.get_mut("tools").unwrap().as_array_mut().unwrap() {
        let tool = tool.get_mut("tool").unwrap().as_object_mut().unwrap();
        tool.insert("title".to_owned(), TEXT.into());
        tool.insert("description".to_owned(), TEXT.into());
        tool.insert("annotations".to_owned(), json!({ "title": TEXT }));
    }
    assert!(
        home.run(&["pack", &file, "--strip"])
            .unwrap()
            .status
            .success()
    );
    let text = declared.to_string();
    let mut section = u32::try_from(text.len()).unwrap().to_le_bytes().to_vec();
    section.extend_from_slice(text.as_bytes());
    let bytes = fs::read(&file).unwrap();
    let bytes = component::with_section_in_front(&bytes, "dormouse:declaration", &section);
    fs::write(&file, bytes).unwrap();
    let other = component::with_section_in_front(&bytes_of(&loud), "dormouse:declaration", b"x");
    fs::write(home.path().join(format!("{TEXT}.wasm")), other).unwrap();
}

fn bytes_of(file: &Path) -> Vec<u8> {
    fs::read(file).unwrap()
}

/// Starts a web server all of whose answers have such texts in them: errors, redirects, and
/// challenges of a login.
fn web() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Whoever goes away early is no concern of the others.
            let _ = answered(stream, address);
        }
    });
    address
}

fn answered(mut stream: TcpStream, address: SocketAddr) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line)?;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    reader.read_exact(&mut vec![0; length])?;
    let base = format!("http://{address}");
    let path = line.split(' ').nth(1).unwrap_or_default();
    let error = json!({ "error": TEXT, "error_description": TEXT, "error_uri": TEXT });
    let (status, headers, body) = match path {
        "/moved" => (
            "302 Found",
            format!("location: /{HEADER}\r\n"),
            TEXT.to_owned(),
        ),
        "/login" | "/metadata" => {
            let metadata = format!("{base}/resource{path}");
            let challenge = format!(
                "www-authenticate: Bearer resource_metadata=\"{metadata}\", error=\"{HEADER}\", \
                 error_description=\"{HEADER}\", scope=\"{HEADER}\"\r\n"
            );
            ("401 Unauthorized", challenge, error.to_string())
        }
        "/.well-known/oauth-protected-resource/login" | "/resource/login" => {
            let resource = json!({
                "resource": format!("{base}/login"), "authorization_servers": [base],
                "resource_name": TEXT, "scopes_supported": [TEXT],
            });
            ("200 OK", String::new(), resource.to_string())
        }
        "/.well-known/oauth-protected-resource/metadata" | "/resource/metadata" => {
            let resource = json!({
                "resource": format!("{base}/{TEXT}"), "authorization_servers": [TEXT],
            });
            ("200 OK", String::new(), resource.to_string())
        }
        "/.well-known/oauth-authorization-server" => {
            let server = json!({
                "issuer": base, "authorization_endpoint": format!("{base}/page?{TEXT}"),
                "token_endpoint": format!("{base}/token"),
                "registration_endpoint": format!("{base}/register"),
                "response_types_supported": ["code"], "scopes_supported": [TEXT],
                "code_challenge_methods_supported": ["S256"],
            });
            ("200 OK", String::new(), server.to_string())
        }
        _ if path.starts_with("/.well-known") => ("404 None", String::new(), TEXT.to_owned()),
        "/register" => ("400 Bad Request", String::new(), error.to_string()),
        _ => (
            "500 Error",
            format!("retry-after: {HEADER}\r\nx-a: {HEADER}\r\n"),
            TEXT.to_owned(),
        ),
    };
    let kind = if body.starts_with('{') {
        "application/json"
    } else {
        "text/plain"
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\n{headers}content-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Returns a port that nobody has.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

#[track_caller]
fn steers_nothing(words: &[&str], shown: &str) {
    // What goes to stdout under `serve` is MCP, for an agent.
    let mut logged = String::new();
    let shown = if words.first() == Some(&"serve") {
        let lines = shown.split_inclusive('\n');
        lines
            .filter(|line| !line.starts_with("{\"jsonrpc\""))
            .for_each(|line| logged.push_str(line));
        &logged
    } else {
        shown
    };
    for steering in STEERING {
        if let Some(at) = shown.find(steering) {
            let from = shown.floor_char_boundary(at.saturating_sub(120));
            let to = shown.ceil_char_boundary((at + 40).min(shown.len()));
            let part = shown.get(from..to).unwrap_or_default();
            panic!(
                "`dormouse {}` shows {steering:?}: {part:?}",
                words.join(" ")
            );
        }
    }
}

#[test]
fn no_command_lets_a_text_steer_the_terminal() {
    let place = Place::new();
    let address = free_address();
    let (bad_name, folder_name) = (format!("{TEXT}.wasm"), format!("folder {TEXT}"));
    let said = json!({ "text": TEXT }).to_string();
    let wrong = json!({ TEXT: TEXT }).to_string();
    let commands: &[(&str, &[&str])] = &[
        (".", &["sync", "up"]),
        (".", &["sync", "ends"]),
        (".", &["list"]),
        (".", &["list", "--json"]),
        (".", &["tools"]),
        (".", &["tools", "up"]),
        (".", &["tools", "up", "--json"]),
        (".", &["prompts"]),
        (".", &["prompts", "--json"]),
        (".", &["resources"]),
        (".", &["resources", "--json"]),
        (".", &["call", "up", "say", "{}"]),
        (".", &["call", "up", "say", "{}", "--json"]),
        (".", &["call", "up", "fail", "{}"]),
        (".", &["call", "up", "ask", "{}"]),
        (".", &["call", "up", TEXT, "{}"]),
        (".", &["call", TEXT, "say", "{}"]),
        (".", &["call", "up", "say", TEXT]),
        (".", &["call", "ends", "x", "{}"]),
        (".", &["prompt", "up", "p"]),
        (".", &["read", "x:one"]),
        (".", &["status"]),
        (".", &["status", "--json"]),
        (".", &["doctor"]),
        (".", &["doctor", "--json"]),
        (".", &["doctor", "--connect"]),
        (".", &["import", "cursor", "--dry-run"]),
        (".", &["import", "--dry-run"]),
        (".", &["install", "cursor", "--dry-run"]),
        (".", &["adapt", "up", "-o", "up.wasm"]),
        (".", &["inspect", "up.wasm"]),
        (".", &["check", "up.wasm"]),
        (".", &["inspect", TEXT]),
        (".", &["login", "up"]),
        (".", &["restart", "up"]),
        (".", &["disable", TEXT]),
        (".", &["cache", "list"]),
        (".", &["wit"]),
        (".", &["completions", "bash"]),
        (".", &["completions", TEXT]),
        // Plugins: what they declare, and what they say.
        (".", &["inspect", "bad.wasm"]),
        (".", &["inspect", "bad.wasm", "--json"]),
        (".", &["check", "bad.wasm"]),
        (".", &["pack", "bad.wasm"]),
        (".", &["inspect", &bad_name]),
        (".", &["check", &bad_name]),
        (".", &["pack", &bad_name]),
        (".", &["add", "bad", "bad.wasm", "--yes"]),
        (".", &["add", "bad", &bad_name]),
        (".", &["add", "adapted", "up.wasm"]),
        (
            ".",
            &["add", "adapted", "up.wasm", "--yes", "--grant-upstream"],
        ),
        (
            ".",
            &["add", "more", "bad.wasm", "--grant-fs", &folder_name],
        ),
        (".", &["tools", "bad"]),
        (".", &["call", "bad", "say", &said]),
        (".", &["call", "loud", "say", &said]),
        (".", &["call", "loud", "say", &said, "--json"]),
        (".", &["call", "loud", "fail", &said]),
        (".", &["call", "loud", "panic", &said]),
        (".", &["call", "loud", "say", &wrong]),
        (".", &["-vvv", "call", "loud", "say", &said]),
        (".", &["remove", "bad"]),
        (".", &["remove", TEXT]),
        (".", &["enable", TEXT]),
        (".", &["disable", "loud"]),
        (".", &["enable", "loud"]),
        // Web servers, and who logs somebody in.
        (".", &["sync", "broken"]),
        (".", &["call", "broken", "x", "{}"]),
        (".", &["sync", "moved"]),
        (".", &["sync", "login"]),
        (".", &["login", "login"]),
        (".", &["login", "metadata"]),
        (".", &["-vvv", "login", "login"]),
        (".", &["logout", "login"]),
        (".", &["logout", TEXT]),
        // Folders.
        (".", &["grant", "folders"]),
        (".", &["grant", "folders", "--yes"]),
        (".", &["grant", TEXT]),
        (".", &["list"]),
        (".", &["status"]),
        (".", &["doctor"]),
        (".", &["serve"]),
        (".", &["serve", "-vv"]),
        (".", &["serve", "-vv", "--http", &address]),
        (".", &["call", "up", "discover", "{}"]),
        (".", &["read", "dormouse://instructions/up"]),
        (
            ".",
            &["install", "cursor", "--http", "127.0.0.1:9", "--dry-run"],
        ),
        (
            ".",
            &["install", "cursor", "--http", "127.0.0.1:9", "--no-sync"],
        ),
        (".", &["install", "cursor", "--no-sync"]),
        (".", &["import", "cursor", "--no-sync"]),
        (".", &["import", "--undo"]),
        (".", &["import", "cursor", "--replace", "--dry-run"]),
        (".", &["import", "cursor", "--replace", "--no-sync"]),
        (".", &["uninstall", "cursor", "--dry-run"]),
        (".", &["uninstall", "cursor"]),
        (".", &["import", "--undo", "--dry-run"]),
        (".", &["import", "--undo"]),
        (TEXT, &["list"]),
        (TEXT, &["trust"]),
        (TEXT, &["trust", "--yes"]),
        (TEXT, &["trust", "--list"]),
        (TEXT, &["doctor"]),
        ("project", &["list"]),
        ("project", &["doctor"]),
        ("project", &["trust"]),
        ("project", &["trust", "--list"]),
    ];
    let mut all = String::new();
    let mut tried = BTreeSet::new();
    for (folder, words) in commands {
        let command = words.iter().find(|word| !word.starts_with('-'));
        tried.extend(command.map(|word| (*word).to_owned()));
        if words == &["grant", "folders"] {
            // By now it is recorded where the link has led.
            let link = place.home.path().join("link");
            fs::remove_file(&link).unwrap();
            std::os::unix::fs::symlink(place.home.path().join(&folder_name), link).unwrap();
        }
        let shown = place.shown(words, folder);
        steers_nothing(words, &shown);
        all.push_str(&shown);
        if words.starts_with(&["serve", "-vv", "--http"]) {
            // Somebody who sits there may see it; elsewhere its file is named.
            let file = place.home.path().join("cache/data/dormouse/http-token");
            let token = fs::read_to_string(file).unwrap();
            assert!(shown.contains(token.trim()), "{shown}");
        }
    }
    // What has changed is shown to whoever is to approve it.
    fs::write(&place.changed, "").unwrap();
    for words in [
        &["sync", "up"][..],
        &["status"],
        &["approve", "up"],
        &["approve", "up", "--dry-run"],
        &["diff"],
        &["list"],
        &["approve", "up", TEXT, "--yes"],
        &["approve", "up", "--yes"],
        &["tools", "up"],
        &["read", "dormouse://instructions/up"],
        &["forget", "up"],
    ] {
        tried.extend(words.first().map(|word| (*word).to_owned()));
        let shown = place.shown(words, ".");
        steers_nothing(words, &shown);
        all.push_str(&shown);
    }
    assert_eq!(tried, place.home.subcommands().unwrap());
    for part in [
        "[y/N]",
        "is granted",
        "does not take Dormouse",
        "listening on",
        "logged in",
        "7 items of `up` allowed",
    ] {
        assert!(all.contains(part), "nobody has shown {part}: {all}");
    }
    // All of it was shown, as its escapes.
    let escapes = all.matches("\\u{202e}").count();
    assert!(escapes > 150, "{escapes} escapes: {all}");
    assert!(
        all.contains("\u{1b}["),
        "nothing was shown in colours: {all}"
    );
}
