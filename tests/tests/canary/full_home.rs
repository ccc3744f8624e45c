//! A home with a secret in each place that can have one.

use std::path::PathBuf;

use dormouse_tests::{Home, artifacts};
use serde_json::json;

use crate::commands::command;
use crate::hidden::Hidden;
use crate::servers::{TALKATIVE, reflecting};

/// Variables of the environment that the configuration fills in.
pub(super) const VARIABLES: [(&str, &str); 8] = [
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

/// A program that prints its arguments and variables, and refuses to start with them.
const REPEATING: &str = r#"
echo "$@" >&2
env >&2
echo "junk $* $OTHER"
read -r line
echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32000,\"message\":\"$* $OTHER $DATABASE_URL\"}}"
exit 1
"#;

pub(super) fn home() -> Home {
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
pub(super) fn trusted_project(home: &Home) -> PathBuf {
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
