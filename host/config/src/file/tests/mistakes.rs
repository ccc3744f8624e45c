//! Mistakes, each told with its place.

use super::*;

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
            "its keys are `component`, `enabled`, `prefix`, `instance`, `grants`, `secrets`, `limits`, `settings`, `expose`, `annotations`, `confirm`, `command`, `args`, `env`, `cwd`, `pass_env`, `url`, `headers`, `type`, `oauth`, `tools`, `include_tools`, `exclude_tools`, `clients`, `start_timeout`, `on_change`, `tools_on_change`, `new_tools`, `share`, `from`, `project`",
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
            "grants.net = []",
            "3:8",
            "`net` is no key of `[servers.t.grants]`",
            "its keys are `fs`, `env`, `http`",
        ),
        (
            "grants.http = \"https://a.example\"",
            "3:15",
            "`servers.t.grants.http` has to be an array, and is a string",
            "",
        ),
        (
            "grants.http = [1]",
            "3:16",
            "`servers.t.grants.http[0]` has to be a string, and `1` is an integer",
            "",
        ),
        (
            "grants.http = [\"https://a.example\", \"sk-live-1\"]",
            "3:37",
            "`servers.t.grants.http[1]` cannot be what it is: it is no URL with methods before it or without",
            "write `[METHODS] SCHEME://HOST[:PORT][/PATH] [private]`, such as `GET,POST https://api.example.com/v1`",
        ),
        (
            "grants.http = [\"get https://a.example\"]",
            "3:16",
            "`servers.t.grants.http[0]` cannot be `get https://a.example`: what stands before its URL is no method",
            "write methods in capitals, such as `GET,POST`",
        ),
        (
            "grants.http = [\"https://a.*.example\"]",
            "3:16",
            "`servers.t.grants.http[0]` cannot be `https://a.*.example`: a `*` stands for a name, or before the dot of one",
            "write it as `https://api.example.com`",
        ),
        (
            "grants.http = [\"ftp://a.example\"]",
            "3:16",
            "`servers.t.grants.http[0]` cannot be `ftp://a.example`: it has another scheme",
            "write `https://` or `http://`",
        ),
        (
            "grants.http = [\"https://me:secret@a.example\"]",
            "3:16",
            "`servers.t.grants.http[0]` cannot be what it is: it has a user name",
            "a secret belongs into `secrets`",
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
