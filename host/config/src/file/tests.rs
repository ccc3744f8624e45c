use std::time::Duration;

use dormouse_launch::{HttpTransport, Launch, Secret};
use dormouse_policy::{Limits, UpstreamLimits};
use serde_json::json;

use super::*;
use crate::{Input, Inputs};

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
        }
    );
    assert_eq!(
        files.limits,
        Limits {
            questions: Limits::default().questions,
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

/// Each text, after `[servers.t]` and its component, and what is said of it: the
/// place, the message and the hint.
#[test]
fn each_kind_of_mistake_is_told_with_its_place_and_a_way_out() {
    const SIZE: &str =
        "a size is a whole number above 0 with a unit, like `64KiB`, `256MiB` or `1GiB`";
    const DURATION: &str = "a duration is a whole number above 0 with a unit, like `500ms`, `60s`, `10m` or `1h`, and at most `30d`";
    let table: &[(&str, &str, &str, &str)] = &[
        (
            "enabeld = true",
            "3:1",
            "`enabeld` is no key of `[servers.t]`",
            "did you mean `enabled`?",
        ),
        (
            "commmand = \"npx\"",
            "3:1",
            "`commmand` is no key of `[servers.t]`",
            "did you mean `command`?",
        ),
        (
            "xyz = 1",
            "3:1",
            "`xyz` is no key of `[servers.t]`",
            "its keys are `component`, `enabled`, `prefix`, `instance`, `grants`, `limits`, `settings`, `command`, `args`, `env`, `cwd`, `pass_env`, `url`, `headers`, `type`, `oauth`, `tools`, `include_tools`, `exclude_tools`, `clients`, `start_timeout`, `on_change`, `tools_on_change`, `new_tools`, `share`, `from`, `project`",
        ),
        (
            "url = \"https://x/mcp\"\noauth.clientid = \"x\"",
            "4:7",
            "`clientid` is no key of `[servers.t.oauth]`",
            "did you mean `client_id`?",
        ),
        (
            "url = \"https://x/mcp\"\noauth = true",
            "4:9",
            "`servers.t.oauth` cannot be `true`",
            "leave it out: a server that wants a login gets one",
        ),
        (
            "url = \"https://x/mcp\"\noauth = { callback_port = 99999 }",
            "4:27",
            "`servers.t.oauth.callback_port` cannot be `99999`",
            "use a number from 1 to 65535",
        ),
        (
            "url = \"https://x/mcp\"\noauth = { callback_port = 8080, redirect_uri = \"http://localhost/\" }",
            "4:27",
            "`[servers.t.oauth]` has `callback_port` and `redirect_uri`",
            "keep one of them",
        ),
        (
            "url = \"https://x/mcp\"\noauth = { client_secret = \"hush\" }",
            "1:10",
            "`servers.t.oauth.client_secret` is a client's, and there is no `client_id`",
            "",
        ),
        (
            "args = [\"-y\"]",
            "1:10",
            "`[servers.t]` has `args`, and neither `command` nor `url`",
            "say how its MCP server is reached",
        ),
        (
            "command = \"npx\"\nurl = \"https://x\"",
            "1:10",
            "`[servers.t]` has a `command` and a `url`",
            "a server is reached in one way: remove one of them",
        ),
        (
            "command = \"npx\"\nheaders = {}",
            "1:10",
            "`[servers.t]` has `headers`, and a `command`",
            "that belongs to a server with a `url`",
        ),
        (
            "url = \"https://x\"\ncwd = \"/\"",
            "1:10",
            "`[servers.t]` has `cwd`, and a `url`",
            "that belongs to a server with a `command`",
        ),
        (
            "command = \"npx\"\ntype = \"sse\"",
            "1:10",
            "`[servers.t]` has a `command`, and a `type` without one",
            "leave out `type`",
        ),
        (
            "url = \"example.com\"",
            "1:10",
            "`servers.t.url` is `example.com`, which is no URL of a server",
            "it begins with `https://` or `http://`",
        ),
        (
            "command = 5",
            "3:11",
            "`servers.t.command` has to be an array, and `5` is an integer",
            "",
        ),
        // What stands there may be a secret.
        (
            "url = \"https://x\"\nheaders.Authorization = 12345",
            "4:25",
            "`servers.t.headers.Authorization` has to be a string",
            "",
        ),
        (
            "url = \"https://x\"\non_change = \"never\"",
            "4:13",
            "`servers.t.on_change` cannot be `\"never\"`",
            "use \"freeze\" or \"ask\" or \"block\" or \"accept\"",
        ),
        (
            "url = \"https://x\"\ntools_on_change = { get = \"frezee\" }",
            "4:27",
            "`servers.t.tools_on_change.get` cannot be `\"frezee\"`",
            "use \"freeze\" or \"ask\" or \"block\" or \"accept\"",
        ),
        (
            "url = \"https://x\"\nnew_tools = \"shown\"",
            "4:13",
            "`servers.t.new_tools` cannot be `\"shown\"`",
            "use \"hide\" or \"show\"",
        ),
        (
            "[discovery]\nclients = [\"vim\"]",
            "4:12",
            "`discovery.clients[0]` cannot be `\"vim\"`",
            "the clients are `claude-code`, `claude-desktop`, `copilot`, `vscode`, `cursor`, `opencode`, `codex`, `gemini`, `zed`, `windsurf`, `continue`, `amp`, `forge`, `chatmd`, `goose`",
        ),
        (
            "enabled = \"yes\"",
            "3:11",
            "`servers.t.enabled` has to be true or false, and `\"yes\"` is a string",
            "",
        ),
        (
            "prefix = 5",
            "3:10",
            "`servers.t.prefix` has to be a string, and `5` is an integer",
            "",
        ),
        (
            "prefix = \"a.b\"",
            "3:10",
            "`servers.t.prefix` cannot be `a.b`",
            "use letters (a-z, A-Z), digits, `-` and `_`",
        ),
        (
            "limits.items = 10001",
            "3:16",
            "`servers.t.limits.items` cannot be `10001`",
            "use a number from 1 to 10000",
        ),
        (
            "instance = \"per-sesion\"",
            "3:12",
            "`servers.t.instance` cannot be `\"per-sesion\"`",
            "use \"per-call\" or \"per-session\"",
        ),
        (
            "grants = []",
            "3:10",
            "`servers.t.grants` has to be a table, and is an array",
            "",
        ),
        (
            "grants.http = []",
            "3:8",
            "`http` is no key of `[servers.t.grants]`",
            "its keys are `fs`, `env`",
        ),
        (
            "grants.env = \"TZ\"",
            "3:14",
            "`servers.t.grants.env` has to be an array, and `\"TZ\"` is a string",
            "",
        ),
        (
            "grants.env = [\"TZ\", \"A=b\"]",
            "3:21",
            "`servers.t.grants.env[1]` is no name of an environment variable: it begins with `A`",
            "write only the name, like `TZ`; its value is taken from the environment of `dormouse`",
        ),
        (
            "grants.fs = [\"/a\"]",
            "3:14",
            "`servers.t.grants.fs[0]` has to be a table, and `\"/a\"` is a string",
            "",
        ),
        (
            "grants.fs = [{ mode = \"ro\" }]",
            "3:14",
            "`servers.t.grants.fs[0]` has no `path`",
            "name the folder: `{ path = \"~/notes\", mode = \"ro\" }`",
        ),
        (
            "grants.fs = [{ path = \"/a\", mode = \"wr\" }]",
            "3:36",
            "`servers.t.grants.fs[0].mode` cannot be `\"wr\"`",
            "use \"ro\" or \"rw\"",
        ),
        (
            "grants.fs = [{ path = \"~bob/a\" }]",
            "3:23",
            "`servers.t.grants.fs[0].path`: `~bob/a` names another user's home, which is not looked up",
            "use an absolute path, one from the folder of this file, or one from your home with `~/`",
        ),
        (
            "[servers.t.grants]\nfs = [{ pat = \"/a\", path = \"/a\" }]",
            "4:9",
            "`pat` is no key of `servers.t.grants.fs[0]`",
            "did you mean `path`?",
        ),
        (
            "limits.memory = \"lots\"",
            "3:17",
            "`servers.t.limits.memory` cannot be `\"lots\"`",
            SIZE,
        ),
        (
            "limits.memory = 256",
            "3:17",
            "`servers.t.limits.memory` cannot be `256`",
            SIZE,
        ),
        (
            "limits.timeout = \"0s\"",
            "3:18",
            "`servers.t.limits.timeout` cannot be `\"0s\"`",
            DURATION,
        ),
        (
            "limits.idle = true",
            "3:15",
            "`servers.t.limits.idle` has to be a string, and `true` is a boolean",
            "",
        ),
        (
            "limits.instances = 0",
            "3:20",
            "`servers.t.limits.instances` cannot be `0`",
            "use a number from 1 to 4294967295",
        ),
        (
            "limits.instances = \"4\"",
            "3:20",
            "`servers.t.limits.instances` has to be a whole number, and `\"4\"` is a string",
            "",
        ),
        (
            "limits.timeuot = \"1s\"",
            "3:8",
            "`timeuot` is no key of `[servers.t.limits]`",
            "did you mean `timeout`?",
        ),
        (
            "settings.x = nan",
            "3:14",
            "`servers.t.settings.x` is `nan`, which JSON cannot express",
            "settings reach the plugin as JSON: use a finite number, or a string",
        ),
        (
            "settings = 1",
            "3:12",
            "`servers.t.settings` has to be a table, and `1` is an integer",
            "",
        ),
        (
            "[server.x]\na = 1",
            "3:2",
            "`server` is no key of the configuration",
            "did you mean `servers`?",
        ),
        (
            "[servers.a__b]",
            "3:10",
            "server name `a__b` has a `__` in it",
            "use a single `_`: two of them separate the server from the tool, as in `time__convert_time`",
        ),
        (
            "[servers.\"ä b\"]",
            "3:10",
            "server name `ä b` has a `ä` in it",
            "use letters (a-z, A-Z), digits, `-` and `_`",
        ),
        (
            "[servers]\nu = 1",
            "4:5",
            "`servers.u` has to be a table, and `1` is an integer",
            "",
        ),
    ];
    for (text, place, message, hint) in table {
        let text = format!("[servers.t]\ncomponent = \"t.wasm\"\n{text}\n");
        let (_, problems) = parse(Path::new(FILE), &text);
        let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
        let hint = match *hint {
            "" => String::new(),
            hint => format!("\nhint: {hint}"),
        };
        assert_eq!(told, [format!("{FILE}:{place}: {message}{hint}")], "{text}");
    }
}

#[test]
fn columns_are_characters_and_long_values_are_cut() {
    let (_, problems) = parse(Path::new(FILE), "servers = { \"äö\" = 1, b = 1 }");
    assert_eq!((problems[0].line, problems[0].column), (1, 13));
    assert_eq!(problems[1].column, 27);

    let text = format!("[servers.t]\n{} = 1", "x".repeat(200));
    let (_, problems) = parse(Path::new(FILE), &text);
    let shown = format!("`{}…` is no key", "x".repeat(60));
    assert!(problems[0].message.starts_with(&shown), "{problems:?}");
}

#[test]
fn a_syntax_error_has_a_place() {
    for (text, place) in [
        ("[servers.t\n", "1:11"),
        ("a = 1\na = 2\n", "2:1"),
        ("[servers.t]\ncomponent = t.wasm\n", "2:13"),
    ] {
        let (config, problems) = parse(Path::new(FILE), text);
        assert_eq!(config, Config::default());
        let told = problems[0].to_string();
        assert!(
            told.starts_with(&format!("{FILE}:{place}: this is not TOML: ")),
            "{told}"
        );
        assert!(!told.contains('\n'), "{told}");
    }
}

/// Such a file may be meant to switch a server off.
#[test]
fn servers_that_are_not_in_tables_are_no_configuration() {
    for text in [
        "servers = 5\n",
        "servers = 'x'\n",
        "servers = [{ name = 's', enabled = false }]\n",
        "[[servers]]\nname = 's'\nenabled = false\n",
        "[[server]]\nname = 's'\nenabled = false\n",
    ] {
        let Invalid { problems } = parse_usable(Path::new(FILE), text).unwrap_err();
        assert!(problems[0].message.contains("`server"), "{problems:?}");
    }
    for text in [
        "[server.s]\nenabled = false\n",
        "servers = {}\n",
        "other = 5\n",
    ] {
        assert!(parse_usable(Path::new(FILE), text).is_ok(), "{text}");
    }
}

#[test]
fn all_problems_are_told_and_the_other_servers_still_read() {
    let (config, problems) = parse(
        Path::new(FILE),
        "[servers.bad]\nenabled = 1\nprefix = 2\n[servers.good]\ncomponent = \"g.wasm\"\n",
    );
    let places: Vec<_> = problems.iter().map(|p| (p.line, p.column)).collect();
    assert_eq!(places, [(2, 11), (3, 10)]);
    assert_eq!(config.servers.keys().collect::<Vec<_>>(), ["good"]);
}

#[test]
fn files_that_are_none_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(
        crate::load(&folder.path().join("none.toml")).unwrap(),
        Config::default()
    );
    assert!(crate::load(folder.path()).is_err(), "a folder");
    let file = folder.path().join("x.toml");
    std::fs::write(&file, b"\xff").unwrap();
    assert!(crate::load(&file).is_err(), "not UTF-8");
    std::fs::write(&file, vec![b'\n'; (LARGEST + 1) as usize]).unwrap();
    let error = crate::load(&file).unwrap_err().to_string();
    assert!(error.contains("larger than 4 MiB"), "{error}");
    // Nobody writes to it, and nobody waits for that.
    #[cfg(unix)]
    for (name, make) in [("pipe.toml", "mkfifo"), ("endless.toml", "ln -s /dev/zero")] {
        let file = folder.path().join(name);
        let script = format!("{make} \"$1\"");
        let made = std::process::Command::new("sh")
            .args(["-c", &script, "sh"])
            .arg(&file)
            .status();
        assert!(made.unwrap().success());
        let error = crate::load(&file).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}

#[test]
fn a_program_of_the_home_is_found_there() {
    let home = etcetera::home_dir().unwrap();
    let home = home.to_str().unwrap();
    for (command, program) in [
        (r#""~/a b/c\u00f6.py""#, format!("{home}/a b/c\u{f6}.py")),
        (r#"["~/run", "~/file"]"#, format!("{home}/run")),
        // These are no paths in it, and a shell would not fill in the last one either.
        (r#""~""#, "~".to_owned()),
        (r#""~other/run""#, "~other/run".to_owned()),
        (r#""./~/run""#, "./~/run".to_owned()),
    ] {
        let text = format!("[servers.a]\ncommand = {command}");
        let (config, problems) = parse(Path::new(FILE), &text);
        assert_eq!(problems, []);
        let bridge = config.servers["a"].bridge().unwrap();
        let (Launch::Stdio(stdio), Launch::Stdio(written)) = (&bridge.launch, &bridge.written)
        else {
            panic!("{bridge:?}")
        };
        assert_eq!(stdio.command, program, "{command}");
        // Arguments are the program's own matter, and people read what they have written.
        assert!(stdio.args.iter().all(|arg| arg == "~/file"), "{command}");
        assert_eq!(stdio.shown(), written.command, "{command}");
    }
}

#[test]
fn upstreams_are_read() {
    let (config, problems) = parse(
        Path::new(FILE),
        r#"
[servers.git]
command = ["uvx", "mcp-server-git"]
args = ["--repository", "${PATH:-x}"]
env = { TOKEN = "${DORMOUSE_TEST_IS_NOT_SET}", MODE = "${DORMOUSE_TEST_IS_NOT_SET:-ro}" }
cwd = "work"
tools = ["git_status"]
exclude_tools = ["git_push*"]
start_timeout = "5s"
on_change = "block"
tools_on_change = { "git_log*" = "accept" }
new_tools = "show"
share = true
from = ["cursor"]
limits.timeout = "2m"

[servers.web]
url = "https://example.com/mcp"
headers.Authorization = "Bearer x"
type = "sse"
oauth = { client_id = "me", client_secret = "hush", callback_port = 8080, scopes = ["a", "b"] }

[servers.keyed]
url = "https://example.com/keyed"
oauth = false

[servers.adapted]
component = "git.wasm"
command = "git-mcp"

[servers.elsewhere]
enabled = false
on_change = "accept"

[discovery]
clients = ["cursor", "goose"]
fetch = "background"
filled_in = "1MiB"
inputs = { key = "SECRET", "other key" = { env = "OTHER" } }
"#,
    );
    assert_eq!(problems, []);
    let git = config.servers["git"].bridge().unwrap();
    let Launch::Stdio(stdio) = &git.launch else {
        panic!("{git:?}")
    };
    assert_eq!(stdio.command, "uvx");
    assert_eq!(stdio.args[..2], ["mcp-server-git", "--repository"]);
    assert_eq!(stdio.args[2], std::env::var("PATH").unwrap());
    assert_eq!(stdio.env["MODE"].expose(), "ro");
    assert_eq!(stdio.cwd.as_deref(), Some(Path::new("/etc/dm/work")));
    assert_eq!(git.needs.len(), 1, "{:?}", git.needs);
    assert!(
        git.needs[0]
            .text
            .starts_with("the environment variable `DORMOUSE_TEST_IS_NOT_SET` is not set\n")
    );
    assert!(git.filter.shows("git_status") && !git.filter.shows("git_push_all"));
    assert_eq!(git.stubs, ["git_status"]);
    assert_eq!(git.start_timeout, Some(Duration::from_secs(5)));
    assert_eq!((git.changes.on_change, git.share), (OnChange::Block, true));
    assert_eq!(git.changes.of_tool("git_log_all"), OnChange::Accept);
    assert_eq!(git.changes.new_tools, NewTools::Show);
    assert_eq!(config.servers["git"].from, [Client::Cursor]);
    assert_eq!(
        config.servers["git"].limits.timeout,
        Duration::from_secs(120)
    );

    let web = config.servers["web"].bridge().unwrap();
    let Launch::Http(http) = &web.launch else {
        panic!("{web:?}")
    };
    assert_eq!(http.transport, HttpTransport::Sse);
    assert_eq!(http.oauth.client_id.as_deref(), Some("me"));
    assert_eq!(http.oauth.scopes, ["a", "b"]);
    let redirect = http.oauth.redirect_uri.as_deref();
    assert_eq!(redirect, Some("http://localhost:8080/callback"));
    assert!(
        !format!("{web:?}").contains("hush"),
        "secrets are not shown"
    );
    assert!(
        !format!("{web:?}").contains("Bearer"),
        "secrets are not shown"
    );

    let adapted = &config.servers["adapted"];
    assert!(adapted.component().is_some() && adapted.bridge().is_some());

    let overlay = &config.overlays["elsewhere"];
    assert_eq!(overlay.enabled, Some(false));
    assert_eq!(overlay.on_change, Some(OnChange::Accept));
    assert_eq!(
        config.discovery,
        DiscoveryConfig {
            clients: Some(vec![Client::Cursor, Client::Goose]),
            inputs: Inputs::from([
                ("key".to_owned(), Input::Value(Secret::new("SECRET"))),
                ("other key".to_owned(), Input::Variable("OTHER".to_owned())),
            ]),
            fetch: Fetch::Background,
            filled_in: 1 << 20,
            pass_env: Vec::new(),
        }
    );
    assert!(!format!("{:?}", config.discovery).contains("SECRET"));
}

#[test]
fn no_value_that_may_be_secret_is_in_a_message() {
    const HINT: &str =
        "write the value as a string, or `{ env = \"NAME\" }` for a variable of the environment";
    for (text, message, hint) in [
        (
            "[discovery.inputs]\nkey = 12345678",
            "`discovery.inputs.key` has no value",
            HINT,
        ),
        (
            "[discovery.inputs]\nkey = {}",
            "`discovery.inputs.key` has no value",
            HINT,
        ),
        (
            "[discovery]\ninputs = \"SECRET\"",
            "`discovery.inputs` has to be a table",
            HINT,
        ),
        (
            "[discovery.inputs]\nkey = { Env = \"A\" }",
            "`Env` is no key of `discovery.inputs.key`",
            "did you mean `env`?",
        ),
        (
            "[discovery.inputs]\nkey = { env = \"A=SECRET\" }",
            "`discovery.inputs.key.env` is no name of an environment variable: it begins with `A`",
            "write only the name, like `TZ`; its value is taken from the environment of `dormouse`",
        ),
        (
            "[discovery]\ninput = {}",
            "`input` is no key of `[discovery]`",
            "did you mean `inputs`?",
        ),
        (
            "[servers.t]\ncommand = \"x\"\nenv = \"A=SECRET\"",
            "`servers.t.env` has to be a table of strings",
            "write `NAME = \"value\"` in it",
        ),
        (
            "[servers.t]\nurl = \"https://x\"\nheaders = [\"A: SECRET\"]",
            "`servers.t.headers` has to be a table of strings",
            "write `NAME = \"value\"` in it",
        ),
        (
            "[servers.t]\nurl = \"${PATH}\"",
            "`servers.t.url` is `${PATH}`, which is no URL of a server",
            "it begins with `https://` or `http://`",
        ),
    ] {
        let (_, problems) = parse(Path::new(FILE), text);
        let [problem] = problems.as_slice() else {
            panic!("{text}: {problems:?}");
        };
        assert_eq!(problem.message, message, "{text}");
        assert_eq!(problem.hint.as_deref(), Some(hint), "{text}");
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

/// Whoever has written a project's file decides neither how much is said of it nor how long
/// each thing is.
#[test]
fn messages_are_short_however_long_the_names_are_and_however_much_is_wrong() {
    let long = "n".repeat(100_000);
    let wrong: String = (0..12_000)
        .map(|number| format!("k{number} = 1\n"))
        .collect();
    let nested: String = (0..2_000).map(|n| format!("k{n} = inf\n")).collect();
    for text in [
        format!("[servers.{long}]\ncommand = [\"true\"]\n{wrong}"),
        format!("[discovery.inputs.{long}]\n{wrong}"),
        format!("[servers.a.settings.{long}]\n{nested}"),
        format!("[servers.a.{long}]\n{wrong}"),
        format!("[servers.a]\ncommand = \"x\"\n[servers.a.env]\n{long} = 1\n{wrong}"),
        format!("[servers.a]\nurl = \"https://x/\"\n[servers.a.oauth]\n{long} = 1\n{wrong}"),
        format!("{long} = 1\n{wrong}"),
        format!("[servers.a]\ncomponent = \"~x\\t{long}\"\n"),
    ] {
        let (config, problems) = parse(Path::new("/etc/dm/dormouse.toml"), &text);
        let begin = text.get(..40).unwrap();
        assert!(!problems.is_empty() && problems.len() <= 101, "{begin}");
        for problem in problems
            .iter()
            .chain(config.refused.iter().flat_map(|it| &it.problems))
        {
            let told = problem.to_string();
            assert!(told.len() < 2000, "{begin}: {} bytes", told.len());
        }
    }
    // What is refused is refused, also where nothing more is said of it.
    let servers: String = (0..200)
        .map(|number| format!("[servers.s{number}]\ncommand = \"x\"\nkey = 1\n"))
        .collect();
    let (config, problems) = parse(Path::new("/etc/dm/dormouse.toml"), &servers);
    assert_eq!((config.servers.len(), config.refused.len()), (0, 200));
    assert_eq!(problems.len(), 101);
    let last = problems.last().unwrap().message.as_str();
    assert_eq!(last, "more than 100 things are wrong in this file");
}

#[test]
fn a_projects_file_has_a_thousand_servers_at_most() {
    let servers: String = (0..1100)
        .map(|number| format!("[servers.s{number}]\ncommand = \"x\"\n"))
        .collect();
    let file = Path::new("/p/dormouse.toml");
    let (config, problems) = parse_of_project(file, &servers, Variables::Kept, &Inputs::new());
    assert_eq!(config.servers.len(), 1000);
    assert_eq!(problems[0].message, "there are more than 1000 servers");
    let (config, problems) = parse(file, &servers);
    assert_eq!((config.servers.len(), problems.len()), (1100, 0));
}

#[test]
fn so_much_is_filled_into_a_server_and_no_more() {
    let value = |variables: usize| -> String {
        let variables = (0..variables).map(|number| format!("${{DORMOUSE_NONE_{number}}}"));
        variables.collect()
    };
    let parsed = |variables: usize| {
        let text = format!(
            "[servers.a]\ncommand = \"x\"\nenv = {{ A = \"{}\" }}",
            value(variables)
        );
        parse(Path::new("/etc/dm/dormouse.toml"), &text)
    };
    let (config, problems) = parsed(1000);
    assert_eq!(problems, []);
    let Adapter::Bridge(bridge) = &config.servers["a"].adapter else {
        panic!("no bridge");
    };
    assert_eq!((bridge.needs.len(), bridge.filled_in.len()), (1000, 1000));
    let (config, problems) = parsed(49_000);
    assert!(config.servers.is_empty());
    assert!(
        problems[0].message.contains("too much is filled into"),
        "{problems:?}"
    );
}

/// Trust of a project's file is given to what is named in it.
#[test]
fn what_is_filled_in_is_noted_whether_it_is_set_or_not() {
    let named = |value: &str| {
        let text = format!(
            "[discovery]\nfilled_in = '1KiB'\n\
             [servers.a]\ncommand = 'x'\nenv = {{ A = '{value}' }}\n"
        );
        let (config, problems) = parse(Path::new("/etc/dm/dormouse.toml"), &text);
        let refused = config.refused.iter().map(|refused| &refused.filled_in);
        let filled = config.servers.values().filter_map(ServerConfig::bridge);
        let filled = filled.map(|bridge| &bridge.filled_in).chain(refused);
        let sources: Vec<_> = filled
            .flatten()
            .map(|filled| format!("{:?}", filled.source))
            .collect();
        (sources.join(" "), problems.len())
    };
    for name in ["PATH", "DORMOUSE_TESTS_SET_NO_SUCH_VARIABLE"] {
        let expected = format!("Variable(\"{name}\")");
        for form in [format!("${{{name}}}"), format!("${{{name}:-d}}")] {
            assert_eq!(named(&form), (expected.clone(), 0), "{form}");
        }
        // So it is where that is too much now.
        let (sources, problems) = named(&format!("{}${{{name}}}", "${PATH}".repeat(2000)));
        assert_eq!(problems, 1);
        assert!(sources.contains(&expected), "{sources}");
    }
    assert_eq!(named("${input:x}").0, "Input(\"x\")");
}

#[test]
fn variables_are_passed_by_name_or_all() {
    let read = |text: &str| parse(Path::new(FILE), text);
    let (config, problems) = read(
        "[discovery]\npass_env = 'all'\n\
         [servers.a]\ncommand = 'a'\npass_env = ['AWS_*', 'MINE']\n\
         [servers.b]\npass_env = ['X']\n",
    );
    assert_eq!(problems, []);
    assert_eq!(config.discovery.pass_env, ["*"]);
    let Launch::Stdio(stdio) = &config.servers["a"].bridge().unwrap().launch else {
        panic!("{config:?}");
    };
    assert_eq!(stdio.pass_env, ["AWS_*", "MINE"]);
    assert!(config.overlays.contains_key("b"));
    for (wrong, message) in [
        ("pass_env = 'some'", "cannot be `'some'`"),
        ("pass_env = [1]", "has to be a string"),
        (
            "pass_env = ['A=hush']",
            "is no name of an environment variable",
        ),
        (
            "url = 'https://x/'\npass_env = ['A']",
            "`pass_env`, and a `url`",
        ),
    ] {
        let (_, problems) = read(&format!("[servers.a]\n{wrong}\n"));
        assert!(problems[0].message.contains(message), "{problems:?}");
        assert!(!problems[0].message.contains("hush"), "{problems:?}");
    }
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

/// A question is answered from the file's own answers in the user's file, and from the user's in a
/// project's, whatever that says itself.
#[test]
fn answers_are_filled_into_servers() {
    let text = "[discovery.inputs]\nkey = \"own\"\n[servers.s]\ncommand = [\"x\", \
                \"${input:key}\", \"${input:none}\"]\n";
    let arguments = |config: &Config| {
        let bridge = config.servers["s"].bridge().unwrap();
        let needs: Vec<_> = bridge.needs.iter().map(ToString::to_string).collect();
        match &bridge.launch {
            Launch::Stdio(stdio) => (stdio.args.clone(), needs, bridge.written.to_string()),
            Launch::Http(_) => panic!("{bridge:?}"),
        }
    };
    let (config, problems) = parse(Path::new(FILE), text);
    assert_eq!(problems, []);
    let (args, needs, written) = arguments(&config);
    assert_eq!(args, ["own", "${input:none}"]);
    assert_eq!(written, "x ${input:key} ${input:none}");
    assert_eq!(needs.len(), 1, "{needs:?}");
    assert!(
        needs[0].starts_with("`args[1]` asks for `none`\nhint: "),
        "{needs:?}"
    );
    assert!(
        !needs[0].contains("environment variable `input"),
        "{needs:?}"
    );
    let users = Inputs::from([("key".to_owned(), Input::Value(Secret::new("users")))]);
    let variables = Variables::FilledIn(None);
    let (config, _) = parse_of_project(Path::new(FILE), text, variables, &users);
    assert_eq!(arguments(&config).0[0], "users");
}

/// A mistake in `clients` may hide a client that is not to be asked, so that none is; on no other
/// mistake do the servers of clients depend.
#[test]
fn a_mistake_about_discovery_costs_what_it_is_in() {
    for (text, is_nobody_asked) in [
        ("[discovery]\nclients = [\"vim\", \"cursor\"]", true),
        ("[discovery]\nclients = \"cursor\"", true),
        ("[discovery]\nclient = [\"cursor\"]", true),
        ("[discovery]\nexcept = [\"cursor\"]", true),
        ("discovery = false", true),
        ("[discovery]\nfetch = \"backround\"", false),
        ("[discovery]\nfilled_in = \"much\"", false),
        ("[discovery]\npass_env = \"some\"", false),
        ("[discovery]\npass_envs = [\"A\"]", false),
        ("[discovery.inputs]\npin = 12345678", false),
        ("[discovery.input]\nkey = \"a\"", false),
    ] {
        let config = parse_usable(Path::new("dormouse.toml"), text).unwrap();
        assert_eq!(config.problems.len(), 1, "{text}");
        let clients = config.discovery.clients.as_deref();
        assert_eq!(clients, is_nobody_asked.then_some(&[][..]), "{text}");
    }
}
