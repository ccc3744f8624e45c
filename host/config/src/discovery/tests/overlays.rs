//! Servers that are taken over together with what their user's own file says of them already.

use super::*;
use crate::install::{ImportRequest, Program, import};
use crate::project::trusted::TestTrust;
use crate::{Configured, ServerConfig, file};

/// Servers of two clients with whatever these can say of them.
fn home() -> Home {
    let home = Home::empty();
    let servers = serde_json::json!({ "mcpServers": {
        "s": {
            "command": "run",
            "args": ["x"],
            "env": { "X_TOKEN": "secret-of-client", "X_MODE": "a" },
            "disabledTools": ["del"],
        },
        "h": {
            "serverUrl": "https://h.example/mcp",
            "headers": { "Authorization": "Bearer secret-of-client", "X-A": "1" },
        },
    }});
    home.write(
        "home/.codeium/windsurf/mcp_config.json",
        servers.to_string(),
    );
    let servers = serde_json::json!({ "mcpServers": {
        "s": {
            "command": "run",
            "args": ["x"],
            "env": { "X_TOKEN": "secret-of-client", "X_MODE": "a" },
            "includeTools": ["get", "put", "del"],
            "timeout": 77000,
        },
    }});
    home.write("home/.gemini/settings.json", servers.to_string());
    home
}

const CLIENTS: [Client; 2] = [Client::Gemini, Client::Windsurf];

fn configured(home: &Home, own: &str) -> Configured {
    let config = file::parse_usable(&home.path("home").join("dormouse.toml"), own).unwrap();
    assert!(
        config.problems.is_empty() && config.refused.is_empty(),
        "{own}"
    );
    let trust = TestTrust::new(&home.path("data"));
    Configured::new(config, Some(&home.around()), &trust)
}

/// Describes how a server is reached and what each client is shown of it.
fn described(server: &ServerConfig) -> String {
    let bridge = server.bridge().unwrap();
    let mut text = format!("enabled {}, limits {:?}\n", server.enabled, server.limits);
    let (settings, patience) = (&server.settings, bridge.start_timeout);
    writeln!(text, "{settings:?} {patience:?} {:?}", bridge.changes).unwrap();
    match &bridge.launch {
        Launch::Stdio(stdio) => {
            writeln!(text, "{} {:?} {:?}", stdio.command, stdio.args, stdio.cwd).unwrap();
            for (name, value) in &stdio.env {
                writeln!(text, "{name}={}", value.expose()).unwrap();
            }
        }
        Launch::Http(http) => {
            writeln!(text, "{} {:?} {:?}", http.url, http.transport, http.oauth).unwrap();
            for (name, value) in &http.headers {
                writeln!(text, "{name}: {}", value.expose()).unwrap();
            }
        }
    }
    let clients = CLIENTS.into_iter().map(Some);
    for client in clients.chain([Some(Client::Cursor), None]) {
        let filter = bridge.rules.filter(&bridge.filter, client);
        let tools = ["get", "put", "del", "echo", "more"];
        let shown = tools.map(|tool| filter.shows(tool));
        let enabled = bridge.rules.enable(client);
        writeln!(text, "{client:?} {enabled} {shown:?}").unwrap();
    }
    text
}

#[test]
fn a_server_that_is_taken_over_is_what_it_was_with_its_overlay() {
    for (name, own) in [
        ("s", ""),
        ("s", "[servers.s.env]\nX_EXTRA = '1' # mine\nX_MODE = 'b'\n"),
        ("s", "[servers.s]\nenv.X_EXTRA = '1'\n"),
        ("s", "[servers.s]\nenv = { X_EXTRA = '1' }\nargs = ['y']\n"),
        ("s", "servers = { s = { env = { X_EXTRA = '1' } } }\n"),
        ("s", "servers.s.env.X_EXTRA = '1'\n"),
        ("h", "[servers.h.headers]\nX-B = '2'\n"),
        ("h", "[servers.h.headers]\nauthorization = 'Bearer mine'\n"),
        ("h", "[servers.h]\ntype = 'sse'\noauth = false\n"),
        (
            "s",
            "[servers.s.clients.cursor]\nexclude_tools = ['echo']\n",
        ),
        (
            "s",
            "[servers.s.clients.windsurf]\nexclude_tools = ['echo']\n",
        ),
        (
            "s",
            "[servers.s]\nclients = { gemini = { include_tools = ['get', 'echo'] } }\n",
        ),
        ("s", "[servers.s.clients]\ngemini.enabled = false\n"),
        ("s", "[servers.s]\nexclude_tools = ['echo']\n"),
        ("s", "[servers.s]\ninclude_tools = ['get', 'del', 'echo']\n"),
        ("s", "[servers.s.limits]\nmemory = '1MiB'\n"),
        (
            "s",
            "[servers.s]\nenabled = false\nstart_timeout = '3s'\nsettings = { a = 1 }\n",
        ),
    ] {
        let home = home();
        let before = described(&configured(&home, own).servers[name]);
        let file = home.path("home").join("dormouse.toml");
        fs::write(&file, own).unwrap();
        // Nobody is writing it.
        let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000);
        let opened = fs::File::options().write(true).open(&file).unwrap();
        opened.set_modified(past).unwrap();
        let discovery = discover_all(&home.around(), &CLIENTS, &Inputs::new());
        let program = Program {
            command: "dormouse".to_owned(),
            options: Vec::new(),
            variables: Vec::new(),
        };
        let wanted = ImportRequest {
            clients: &CLIENTS,
            replace: Some(&program),
            longest_call: std::time::Duration::ZERO,
            force: false,
        };
        let config = file::parse_usable(&file, own).unwrap();
        let import = import(&discovery, &home.around(), &config, &file, wanted).unwrap();
        for change in &import.changes {
            fs::write(&change.file, &change.after).unwrap();
        }
        let text = fs::read_to_string(&file).unwrap();
        let after = configured(&home, &text);
        assert_eq!(described(&after.servers[name]), before, "{own}\n{text}");
        // What the user has written stays as it is written.
        assert_eq!(text.contains("# mine"), own.contains("# mine"), "{text}");
    }
}

#[test]
fn a_table_about_a_projects_server_stays_one() {
    let home = home();
    let file = home.path("home").join("dormouse.toml");
    let own = format!(
        "[servers.s]\nproject = '{}'\nenv = {{ X_EXTRA = '1' }}\n",
        home.path("project").display()
    );
    fs::write(&file, &own).unwrap();
    let discovery = discover_all(&home.around(), &CLIENTS, &Inputs::new());
    let wanted = ImportRequest {
        clients: &CLIENTS,
        replace: None,
        longest_call: std::time::Duration::ZERO,
        force: false,
    };
    let config = file::parse_usable(&file, &own).unwrap();
    let import = import(&discovery, &home.around(), &config, &file, wanted).unwrap();
    let text = &import.changes[0].after;
    assert!(text.starts_with(&own), "{text}");
    assert!(text.contains("[servers.s-gemini]"), "{text}");
}
