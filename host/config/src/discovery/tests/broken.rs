//! Files that are not what they should be.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

/// The files of each client in its home, as they are under a copy of it.
static FILES: LazyLock<Vec<(Client, String)>> = LazyLock::new(files);

fn files() -> Vec<(Client, String)> {
    let mut files = Vec::new();
    for client in Client::all() {
        let home = Home::of(&[client.name()]);
        let root = home.path("");
        for place in places::files(client, &home.around()) {
            if place.file.exists() {
                let inside = place.file.strip_prefix(&root).unwrap();
                files.push((client, inside.to_str().unwrap().to_owned()));
            }
        }
    }
    files.dedup();
    files
}

fn all() -> Vec<Client> {
    Client::all().collect()
}

/// Discovers servers with one file replaced, and checks that this takes at most twenty seconds.
fn with(home: &Home, file: &str, bytes: &[u8]) -> Discovery {
    let before = fs::read(home.path(file)).unwrap();
    home.write(file, bytes);
    let start = Instant::now();
    let discovery = discover_all(&home.around(), &all(), &Inputs::new());
    assert!(start.elapsed() < Duration::from_secs(20), "{file}");
    home.write(file, before);
    for problem in discovery.problems() {
        assert!(problem.line > 0 && problem.column > 0);
        assert!(!problem.to_string().contains("SECRET"), "{problem}");
    }
    discovery
}

/// Checks that a broken file was told of, and did no harm to the others.
fn alone(home: &Home, discovery: &Discovery, file: &str) {
    let broken = home.path(file);
    let told = discovery.problems().any(|problem| problem.file == broken);
    assert!(told, "{file}");
    // Only what changes an entry of the broken file can have lost its meaning.
    let whole = discover_all(&home.around(), &all(), &Inputs::new());
    for found in &whole.found {
        let origin = &found.server.origin;
        let still = discovery
            .found
            .iter()
            .any(|other| other.server.origin == *origin);
        let own = whole.found.iter().any(|other| {
            other.server.origin.file == broken && other.written_name == found.written_name
        });
        assert!(still || own, "{file} {origin}");
    }
}

#[test]
fn a_broken_file_stops_no_other() {
    assert!(FILES.len() > 25);
    for &(client, ref file) in FILES.iter() {
        let home = Home::of(&[client.name(), "claude-desktop", "windsurf"]);
        let bytes = fs::read(home.path(file)).unwrap();
        let half = &bytes[..bytes.len() / 2];
        let discovery = with(&home, file, half);
        // Half of a TOML or YAML file can be a whole one.
        if file.ends_with(".json") || file.ends_with(".jsonc") {
            alone(&home, &discovery, file);
        }
        for wrong in ["{ \"mcpServers\": [", "- {", "\0", "= x"] {
            alone(&home, &with(&home, file, wrong.as_bytes()), file);
        }
        // Not UTF-8, in the middle of the file.
        let mut latin = half.to_vec();
        latin.push(0xe4);
        let discovery = with(&home, file, &latin);
        alone(&home, &discovery, file);
        let problem = discovery
            .problems()
            .find(|problem| problem.file == home.path(file))
            .unwrap();
        let lines = half.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(problem.line, lines + 1, "{problem}");
    }
}

#[test]
fn a_byte_order_mark_is_no_mistake() {
    for &(client, ref file) in FILES.iter() {
        let home = Home::of(&[client.name()]);
        let mut bytes = b"\xef\xbb\xbf".to_vec();
        bytes.extend(fs::read(home.path(file)).unwrap());
        let before = describe(&discover_all(&home.around(), &all(), &Inputs::new()));
        assert_eq!(describe(&with(&home, file, &bytes)), before, "{file}");
    }
}

#[test]
fn depth_and_size_end() {
    let deep = 200_000;
    for &(client, ref file) in FILES.iter() {
        let home = Home::of(&[client.name()]);
        let key = places::files(client, &home.around())
            .into_iter()
            .find(|place| place.file == home.path(file))
            .map(|place| place.shape.keys[0].clone())
            .unwrap();
        let nested = match Path::new(file).extension().unwrap().to_str().unwrap() {
            "toml" => vec![
                format!("a = {}", "[".repeat(deep)),
                format!("a = {}{}", "[".repeat(90), "]".repeat(90)),
                format!("[{}]", vec!["a"; deep].join(".")),
            ],
            _ => vec![
                "[".repeat(deep),
                format!("{{\"{key}\": {}", "{\"a\":".repeat(deep)),
                format!("{}{}", "[".repeat(deep), "]".repeat(deep)),
                format!("{}{}", "[".repeat(300), "]".repeat(300)),
            ],
        };
        for text in nested {
            alone(&home, &with(&home, file, text.as_bytes()), file);
        }
    }
}

#[test]
fn five_megabytes_are_read() {
    // One for each language and way to look into it: this takes its time.
    let some = [
        Client::Cursor,
        Client::Copilot,
        Client::Codex,
        Client::Continue,
        Client::Goose,
    ];
    let files = FILES.iter().filter(|(client, _)| some.contains(client));
    for &(client, ref file) in files {
        let home = Home::of(&[client.name()]);
        let toml = file.ends_with(".toml");
        let key = places::files(client, &home.around())
            .into_iter()
            .find(|place| place.file == home.path(file))
            .map(|place| place.shape.keys[0].clone())
            .unwrap();
        let many: String = (0..60_000)
            .map(|number| format!("\"server {number}\": {{\"command\": \"c\", \"env\": {{\"A\": \"${{SECRET_{number}}}\"}}}},"))
            .collect();
        let long = "${".repeat(2 << 20);
        let texts = if toml {
            vec![
                (0..60_000)
                    .map(|number| format!("[mcp_servers.s{number}]\ncommand = \"some program\"\n"))
                    .collect::<String>(),
                format!("[mcp_servers]\na = {{ command = \"x\", args = [\"{long}\"] }}"),
                "x".repeat(5 << 20),
            ]
        } else {
            vec![
                format!("{{\"{key}\": {{{}}}}}", many.trim_end_matches(',')),
                format!("{{\"{key}\": {{\"a\": {{\"command\": \"x\", \"args\": [\"{long}\"]}}}}}}"),
                "\"".repeat(5 << 20),
            ]
        };
        for text in texts {
            let discovery = with(&home, file, text.as_bytes());
            let merged = merge(&discovery, &|_| true);
            assert!(merged.servers.len() < 3000);
        }
    }
}

#[test]
fn a_short_text_becomes_no_endless_one() {
    let home = Home::empty();
    let mut around = home.around();
    around.env.insert("LONG".to_owned(), "x".repeat(60_000));
    let args = vec!["\"$LONG$LONG$LONG\""; 100_000].join(",");
    let command = r#""command": ["x", "{file:/etc/hosts}"]"#;
    home.write(
        "home/.gemini/settings.json",
        format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"x\", \"args\": [{args}]}}}}}}"),
    );
    let many = vec!["\"{file:~/value}\""; 1000].join(",");
    home.write("home/value", "v".repeat(60_000));
    home.write(
        "home/.config/opencode/opencode.json",
        format!("{{\"mcp\": {{\"b\": {{\"type\": \"local\", {command}, \"args\": [{many}]}}}}}}"),
    );
    let discovery = discover_all(&around, &all(), &Inputs::new());
    assert_eq!(discovery.found.len(), 2);
    for found in &discovery.found {
        let bridge = found.server.bridge().unwrap();
        assert!((1..=32).contains(&bridge.needs.len()), "{:?}", bridge.needs);
        let size: usize = match &bridge.launch {
            Launch::Stdio(stdio) => stdio.args.iter().map(String::len).sum(),
            Launch::Http(_) => 0,
        };
        assert!(size <= 2 << 20, "{size}");
    }
}

#[test]
fn aliases_of_aliases_end() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..20 {
        let alias = format!("*a{}", level - 1);
        writeln!(text, "a{level}: &a{level} [{}]", vec![alias; 10].join(", ")).unwrap();
    }
    text.push_str("extensions: *a19\n");
    let home = Home::of(&["goose"]);
    let file = "home/.config/goose/config.yaml";
    let discovery = with(&home, file, text.as_bytes());
    alone(&home, &discovery, file);
    let recursive = "extensions: &a\n  x: *a\n";
    alone(&home, &with(&home, file, recursive.as_bytes()), file);
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_waited_for() {
    let home = Home::of(&["cursor"]);
    let file = home.path("project/.cursor/mcp.json");
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let discovery = discover_all(&home.around(), &all(), &Inputs::new());
    let problem = discovery.problems().next().unwrap();
    assert_eq!(problem.message, "the file is none");
    fs::remove_dir(&file).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
    let discovery = discover_all(&home.around(), &all(), &Inputs::new());
    assert_eq!(discovery.problems().count(), 1);
    assert_eq!(discovery.found.len(), 2);
    // A pipe that nobody writes to.
    fs::remove_file(&file).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&file).status();
    assert!(made.unwrap().success());
    let discovery = discover_all(&home.around(), &all(), &Inputs::new());
    let problem = discovery.problems().next().unwrap();
    assert_eq!(problem.message, "the file is none");
}

/// The problems of a Cursor file with some servers.
fn problems(servers: &str) -> Vec<String> {
    let home = Home::empty();
    home.write(
        "home/.cursor/mcp.json",
        format!("{{\"mcpServers\": {servers}}}"),
    );
    let discovery = discover_all(&home.around(), &[Client::Cursor], &Inputs::new());
    let problems = discovery.problems();
    let shown = problems.map(|problem| home.shown(&problem.to_string()));
    let good: Vec<_> = discovery
        .found
        .iter()
        .map(|found| found.written_name.as_str())
        .collect();
    if servers.contains("good") {
        assert_eq!(good, ["good"], "{servers}");
    }
    shown.collect()
}

#[test]
fn every_mistake_is_told_with_its_place() {
    for (servers, expected) in [
        (
            "[]",
            "1:16: `mcpServers` has to be a table of servers, and is a list",
        ),
        (
            "3",
            "1:16: `mcpServers` has to be a table of servers, and is a number",
        ),
        (
            "{\n  \"a\": 7,\n  \"good\": {\"command\": \"x\"}}",
            "2:8: `mcpServers.a` has to be a table, and is a number",
        ),
        (
            "{\"a\": {\"command\": 7}, \"good\": {\"command\": \"x\"}}",
            "1:34: `mcpServers.a.command` has to be a list of strings, and is a number",
        ),
        (
            "{\"a\": {\"command\": \"\"}}",
            "1:34: `mcpServers.a` has no `command`\nhint: name the program that is the server",
        ),
        (
            "{\"a\": {}}",
            "1:22: `mcpServers.a` has neither a `command` nor a `url`\nhint: a server is a program to run or a URL to reach",
        ),
        (
            "{\"a\": {\"command\": \"x\", \"args\": \"SECRET\"}}",
            "1:47: `mcpServers.a.args` has to be a list of strings, and is a string",
        ),
        (
            "{\"a\": {\"command\": \"x\", \"args\": [\"b\", {}]}}",
            "1:53: `mcpServers.a.args[1]` has to be a string, and is a table",
        ),
        (
            "{\"a\": {\"command\": \"x\", \"env\": {\"K\": [\"SECRET\"]}}}",
            "1:52: `mcpServers.a.env.K` has to be a string, and is a list",
        ),
        (
            "{\"a\": {\"command\": \"x\", \"env\": {\"K=SECRET\": \"\"}}}",
            "1:47: `mcpServers.a.env` has a key that is no name: it begins with `K`\nhint: write the name as the key, and the value behind the colon",
        ),
        (
            "{\"a\": {\"url\": \"x\", \"headers\": \"SECRET\"}}",
            "1:46: `mcpServers.a.headers` has to be a table of strings, and is a string",
        ),
        (
            "{\"a\": {\"url\": \"ftp://x\"}}",
            "1:22: `ftp://x` is no URL of a server\nhint: it begins with `https://` or `http://`",
        ),
        (
            "{\"a\": {\"command\": \"x\", \"disabled\": \"yes\"}}",
            "1:51: `mcpServers.a.disabled` has to be true or false, and is a string",
        ),
        (
            "{\"a\": {\"disabled\": true}}",
            "1:17: `a` says nothing of how the server is reached\nhint: no file that is read before this one has such a server",
        ),
        (
            "{\"a\": x}",
            "1:22: this is not JSON: Unexpected token\nhint: mend it there; nothing in it is used until then",
        ),
        (
            "{\"a\": {\"command\": \"a\\u0000b\"}}",
            "1:34: `mcpServers.a.command` has a NUL character in it",
        ),
    ] {
        let found = problems(servers);
        let expected = format!("/home/.cursor/mcp.json:{expected}");
        assert_eq!(found.first(), Some(&expected), "{servers}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// No file makes anything panic, whatever it is cut and changed to; and what is
    /// said of it has nothing in it that was secret.
    #[test]
    fn nothing_panics(
        which in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        junk in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        let (client, file) = which.get(&FILES);
        let home = Home::of(&[client.name()]);
        let bytes = fs::read(home.path(file)).unwrap();
        let mut changed = bytes[..cut.index(bytes.len() + 1)].to_vec();
        let at = at.index(changed.len() + 1);
        changed.splice(at..at, junk);
        with(&home, file, &changed);
    }

    #[test]
    fn any_text_is_read(text: String) {
        for syntax in [places::Syntax::Json, places::Syntax::Toml, places::Syntax::Yaml] {
            let _ = document::parse(&text, syntax);
        }
    }
}
