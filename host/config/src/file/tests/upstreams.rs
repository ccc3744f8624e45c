//! Servers with an upstream, and what is filled into them.

use super::*;

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
    let variables = VariableHandling::FilledIn(None);
    let (config, _) = parse_of_project(Path::new(FILE), text, variables, &users);
    assert_eq!(arguments(&config).0[0], "users");
}
