//! A home in which every text of a stranger steers a terminal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dormouse_tests::{Home, artifacts, component};
use serde_json::{Value, json};

use crate::web::web;
use crate::{HEADER, TEXT};

pub(super) struct Place {
    pub(crate) home: Home,
    pub(super) changed: PathBuf,
}

impl Place {
    pub(crate) fn new() -> Self {
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

    pub(super) fn words(changed: &Path) -> Vec<String> {
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
    pub(super) fn shown(&self, words: &[&str], folder: &str) -> String {
        let script = artifacts::workspace().join("tests/clients/python/terminal.py");
        let run = self.home.command(words);
        let mut command = Command::new(artifacts::python("clients", "python").unwrap());
        let asked: Vec<Value> = match words.first() {
            Some(&"approve" | &"trust" | &"grant" | &"add") if !words.contains(&"--yes") => {
                vec![json!(["[y/N]", "n\n"])]
            }
            Some(&"serve") if words.contains(&"--http") => {
                let address = words.last().unwrap();
                vec![json!(["listening on", "\u{3}", self.odd_requests(address)])]
            }
            Some(&"serve") => agent_steps(),
            Some(&"call") if ["ask", "bad"].iter().any(|word| words.contains(word)) => {
                vec![json!(["c = cancel: ", "c\n"])]
            }
            Some(&"secret") if words.contains(&"set") => vec![json!([": ", "a text\n"])],
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
    pub(super) fn odd_requests(&self, address: &str) -> Vec<String> {
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
    let requests = json!([
        { "kind": "fs", "write": true, "why": TEXT },
        { "kind": "env", "name": TEXT, "why": TEXT },
        { "kind": "http", "origin": TEXT, "why": TEXT },
        { "kind": "http", "origin": "https://api.example.com", "why": TEXT },
    ]);
    declared
        .as_object_mut()
        .unwrap()
        .insert("grants".to_owned(), requests);
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
