//! Files and settings that are refused, and what their messages say.

use super::*;

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
    std::fs::write(&file, vec![b'\n'; (text::LARGEST + 1) as usize]).unwrap();
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

/// One grant that is none costs all others of its server, whatever kind they are of.
#[test]
fn a_malformed_grant_grants_nothing_and_says_so() {
    const SOUND: [(&str, &str); 3] = [
        ("fs", "{ path = '/a', mode = 'rw' }"),
        ("env", "'TZ'"),
        ("http", "'https://a.example'"),
    ];
    for (kind, wrong) in [
        ("fs", "{ path = '/b', mode = 'w' }"),
        ("fs", "{ mode = 'ro' }"),
        ("fs", "'/b'"),
        ("env", "'A=b'"),
        ("env", "1"),
        ("http", "'api.example.com'"),
        ("http", "'https://*.*.example'"),
        ("http", "{ url = 'https://a.example' }"),
    ] {
        let lists = SOUND.map(|(sound, grant)| match sound == kind {
            true => format!("{sound} = [{grant}, {wrong}]"),
            false => format!("{sound} = [{grant}]"),
        });
        let grants = format!("[servers.s.grants]\n{}\n", lists.join("\n"));
        let tables = ["component = '/s.wasm'", "project = '/p'", ""];
        for table in tables {
            let text = format!("[servers.s]\n{table}\n{grants}");
            let config = parse_usable(Path::new(FILE), &text).unwrap();
            assert!(config.servers.is_empty(), "{text}");
            assert!(config.overlays.is_empty(), "{text}");
            let [refused] = config.refused.as_slice() else {
                panic!("{text}: {:?}", config.refused);
            };
            assert_eq!(refused.written_name, "s");
            let told = refused.to_string();
            assert!(
                told.contains(&format!("servers.s.grants.{kind}[1]")),
                "{told}"
            );
        }
        let text = format!("[servers.s]\ncomponent = 's.wasm'\n{grants}");
        let of_project = parse_of_project(
            Path::new(FILE),
            &text,
            VariableHandling::Kept,
            &Inputs::default(),
        );
        assert!(of_project.0.servers.is_empty(), "{text}");
    }
}
