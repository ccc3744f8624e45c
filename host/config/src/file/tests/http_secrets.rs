//! Secrets of HTTP requests.

use dormouse_policy::{SecretPlacement, SecretSource};

use super::*;

#[test]
fn secrets_are_read() {
    let text = r#"
[servers.t]
component = "t.wasm"
[servers.t.secrets]
token = { env = "T_TOKEN", hosts = ["API.github.com"], header = "Authorization", value = "Bearer {}" }
plain = { env = "T_TOKEN", hosts = ["http://127.0.0.1:8080"], header = "X-Key" }
key = { file = "keys/weather", hosts = ["a.example:8443", "b.example"], query = "appid" }
pat = { command = ["pass", "show", "x"], hosts = ["gitlab.com"], placeholder = "GITLAB_TOKEN" }
kept = { keyring = "gitlab_token", hosts = ["gitlab.com"], query = "k" }
vault = { op = "op://Private/GitHub/section/token", hosts = ["gitlab.com"], header = "X-Vault" }
own = { command = ["./bin/key"], hosts = ["gitlab.com"], placeholder = "OTHER", header = "Private-Token" }
"#;
    let (config, problems) = parse(Path::new(FILE), text);
    assert_eq!(problems, []);
    let secrets = &config.servers["t"].secrets;
    let variable = || SecretSource::Variable("T_TOKEN".to_owned());
    let header = |name: &str, value: &str| SecretPlacement::Header {
        name: name.to_owned(),
        value: value.parse().unwrap(),
    };
    let placeholder = |variable: &str, header: &str| SecretPlacement::Placeholder {
        variable: variable.to_owned(),
        header: header.to_owned(),
    };
    let command = |words: &[&str]| SecretSource::Command {
        program: words[0].to_owned(),
        arguments: words[1..].iter().map(|&word| word.to_owned()).collect(),
        folder: "/etc/dm".into(),
        is_confined: false,
    };
    let expected = [
        (
            "token",
            variable(),
            "api.github.com",
            header("Authorization", "Bearer {}"),
        ),
        (
            "plain",
            variable(),
            "http://127.0.0.1:8080",
            header("X-Key", "{}"),
        ),
        (
            "key",
            SecretSource::File("/etc/dm/keys/weather".into()),
            "a.example:8443 b.example",
            SecretPlacement::Query("appid".to_owned()),
        ),
        (
            "pat",
            command(&["pass", "show", "x"]),
            "gitlab.com",
            placeholder("GITLAB_TOKEN", "Authorization"),
        ),
        (
            "kept",
            SecretSource::Keyring("gitlab_token".to_owned()),
            "gitlab.com",
            SecretPlacement::Query("k".to_owned()),
        ),
        (
            "vault",
            command(&[
                "op",
                "read",
                "--no-newline",
                "op://Private/GitHub/section/token",
            ]),
            "gitlab.com",
            header("X-Vault", "{}"),
        ),
        (
            "own",
            command(&["/etc/dm/bin/key"]),
            "gitlab.com",
            placeholder("OTHER", "Private-Token"),
        ),
    ];
    assert_eq!(secrets.len(), expected.len());
    for (secret, (name, source, hosts, placement)) in secrets.iter().zip(expected) {
        assert_eq!(secret.name, name);
        assert_eq!(secret.source, source, "{name}");
        assert_eq!(secret.placement, placement, "{name}");
        let read: Vec<_> = secret.hosts.iter().map(ToString::to_string).collect();
        assert_eq!(read.join(" "), hosts, "{name}");
    }
    // A client that starts Dormouse has to pass it on.
    let given: Vec<_> = config.servers["t"].given_variables().collect();
    assert_eq!(given, ["T_TOKEN", "T_TOKEN"]);
}

#[test]
fn a_secret_that_nobody_could_mean_is_told_with_a_way_out() {
    const PLAIN: &str = "leave out the scheme, which is `https`; `http` is for `http://127.0.0.1:PORT`, \
         `http://[::1]:PORT` and `http://localhost:PORT` alone";
    for (secret, message, hint) in [
        (
            r#"{ hosts = ["a.example"], header = "X" }"#,
            "`servers.t.secrets.s` does not say where its text comes from",
            "write one of `env`, `file`, `command`, `keyring`, `op`, `login`",
        ),
        (
            r#"{ env = "A", file = "b", hosts = ["a.example"], header = "X" }"#,
            "`servers.t.secrets.s` has `env` and `file`",
            "it says where its text comes from once: keep one of them",
        ),
        (
            r#"{ env = "A", hosts = ["a.example"] }"#,
            "`servers.t.secrets.s` does not say where it stands in a request",
            "write one of `header`, `query`, `placeholder`",
        ),
        (
            r#"{ env = "A", hosts = ["a.example"], header = "X", query = "y" }"#,
            "`servers.t.secrets.s` has `header` and `query`",
            "it says where it stands in a request once: keep one of them",
        ),
        (
            r#"{ env = "A", hosts = ["a.example"], query = "q", placeholder = "P" }"#,
            "`servers.t.secrets.s` has `query` and `placeholder`",
            "it says where it stands in a request once: keep one of them",
        ),
        (
            r#"{ env = "A", header = "X" }"#,
            "`servers.t.secrets.s` names no hosts",
            "name those that get it: `hosts = [\"api.example.com\"]`",
        ),
        (
            r#"{ env = "A", hosts = [], header = "X" }"#,
            "`servers.t.secrets.s` names no hosts",
            "name those that get it: `hosts = [\"api.example.com\"]`",
        ),
        (
            r#"{ env = "A", hosts = ["*.a.example"], header = "X" }"#,
            "`servers.t.secrets.s.hosts[0]` cannot be what it is: it is a pattern, and a secret goes \
             to hosts that are named",
            "name each host, as `api.example.com`",
        ),
        (
            r#"{ env = "A", hosts = ["a.example/v1"], header = "X" }"#,
            "`servers.t.secrets.s.hosts[0]` cannot be what it is: it has a path, and a secret goes to \
             whole hosts",
            "write the host alone, as `api.example.com`",
        ),
        (
            r#"{ env = "A", hosts = ["http://me:hush@a.example"], header = "X" }"#,
            "`servers.t.secrets.s.hosts[0]` cannot be what it is: it has a user name, and a secret \
             goes to whole hosts",
            "write the host alone, as `api.example.com`",
        ),
        (
            r#"{ env = "A", hosts = ["http://a.example"], header = "X" }"#,
            "`servers.t.secrets.s.hosts[0]` cannot be what it is: a secret goes to no other machine \
             without TLS",
            PLAIN,
        ),
        (
            r#"{ env = "A", hosts = ["a.example"], header = "X Y" }"#,
            "`servers.t.secrets.s.header` cannot be what it is: it is no name of a header",
            "write the name alone, as `header = \"Authorization\"`",
        ),
        (
            r#"{ env = "A", hosts = ["a.example"], header = "Host" }"#,
            "`servers.t.secrets.s.header` cannot be `Host`: a request is sent by it",
            "a secret belongs into a header such as `Authorization`",
        ),
        (
            r#"{ env = "A", hosts = ["a.example"], header = "X", value = "Bearer" }"#,
            "`servers.t.secrets.s.value` cannot be what it is: it has to have one `{}`, in whose \
             place the secret is written",
            "write it as `value = \"Bearer {}\"`",
        ),
        (
            r#"{ env = "A", hosts = ["a.example"], query = "q", value = "{}" }"#,
            "`servers.t.secrets.s` has `value`, and `query`",
            "`value` is what stands in a `header` of the secret's own",
        ),
        (
            r#"{ env = "A", hosts = ["a.example"], query = "" }"#,
            "`servers.t.secrets.s.query` is empty",
            "name the parameter, as `query = \"key\"`",
        ),
        (
            r#"{ command = [], hosts = ["a.example"], query = "q" }"#,
            "`servers.t.secrets.s.command` names no program",
            "write the program and its arguments: `[\"pass\", \"show\", \"x\"]`",
        ),
        (
            r#"{ env = "A", hosts = ["a.example"], query = "q", placehoder = "P" }"#,
            "`placehoder` is no key of `[servers.t.secrets.s]`",
            "did you mean `placeholder`?",
        ),
    ] {
        let text = format!("[servers.t]\ncomponent = \"t.wasm\"\nsecrets.s = {secret}\n");
        let (config, problems) = parse(Path::new(FILE), &text);
        let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
        let first = &problems[0];
        assert_eq!(first.message, message, "{told:?}");
        assert_eq!(first.hint.as_deref(), Some(hint), "{told:?}");
        assert_eq!(config.servers.len(), 0, "{secret}");
        assert!(!told.concat().contains("hush"), "{told:?}");
    }
    let text = "[servers.t]\ncomponent = \"t.wasm\"\n[servers.t.secrets]\n\
        \"a b\" = { env = \"A\", hosts = [\"a.example\"], query = \"q\" }\n";
    let (_, problems) = parse(Path::new(FILE), text);
    assert_eq!(problems[0].message, "`a b` is no name of a secret");
}

#[test]
fn no_plugin_sees_a_secret_of_its_requests_and_no_two_stand_in_one_place() {
    let of = |name: &str, more: &str| {
        format!("{name} = {{ env = \"TOKEN\", hosts = [\"a.example\"], {more} }}\n")
    };
    for (secrets, env, why) in [
        (
            of("s", "query = \"q\""),
            "TOKEN",
            "has the secret `s` from the variable `TOKEN`, which `grants.env` shows to the plugin",
        ),
        (
            of("s", "placeholder = \"P\""),
            "P",
            "has a placeholder of the secret `s` in the variable `P`, which `grants.env` has, too",
        ),
        (
            of("s", "placeholder = \"P\"") + &of("t", "placeholder = \"P\""),
            "",
            "has two placeholders in the variable `P`",
        ),
        (
            of("s", "header = \"X-Key\"") + &of("t", "header = \"x-key\""),
            "",
            "has two secrets in the header `x-key` for `a.example`",
        ),
        (
            of("s", "query = \"q\"") + &of("t", "query = \"q\""),
            "",
            "has two secrets in the parameter `q` for `a.example`",
        ),
    ] {
        let text = format!(
            "[servers.t]\ncomponent = \"t.wasm\"\ngrants.env = [\"{env}\"]\n[servers.t.secrets]\n{secrets}"
        );
        let text = text.replace("[\"\"]", "[]");
        let (config, problems) = parse(Path::new(FILE), &text);
        let told: Vec<_> = problems
            .iter()
            .map(|problem| problem.message.as_str())
            .collect();
        assert_eq!(told, [format!("`[servers.t]` {why}")]);
        assert_eq!(config.servers.len(), 0);
    }
    let text = format!(
        "[servers.t]\nurl = \"https://a.example/mcp\"\n[servers.t.secrets]\n{}",
        of("s", "query = \"q\"")
    );
    let (_, problems) = parse(Path::new(FILE), &text);
    assert_eq!(
        problems[0].message,
        "`[servers.t]` has `secrets`, and the server of that name is no plugin"
    );
}

#[test]
fn secrets_are_read_in_linear_time() {
    let secret = |n: usize, hosts: usize| {
        let hosts: Vec<_> = (0..hosts)
            .map(|host| format!("\"h{host}.example\""))
            .collect();
        let hosts = hosts.join(",");
        format!("s{n} = {{ env = \"A\", hosts = [{hosts}], query = \"q{n}\" }}\n")
    };
    let cases: [(&str, &dyn Fn(usize) -> String); 2] = [
        ("secrets", &|size| {
            let all = (0..size).map(|n| secret(n, 3));
            all.collect::<String>()
        }),
        ("hosts", &|size| secret(0, size) + &secret(1, size)),
    ];
    for (what, secrets) in cases {
        let text = |size: usize| {
            let secrets = secrets(size);
            format!("[servers.t]\ncomponent = \"t.wasm\"\n[servers.t.secrets]\n{secrets}")
        };
        dormouse_tests::growth::is_linear(what, 20, text, |text: &String| {
            std::hint::black_box(parse(Path::new(FILE), text));
        });
    }
}
