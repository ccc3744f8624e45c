//! Settings and secrets of plugins on the command line: given, asked for on a terminal, shown, and
//! taken away.

use std::process::Command;

use dormouse_tests::artifacts;

use super::*;

/// What the plugin of these tests asks for.
const REQUESTS: &str = "/// @setting unit {\"description\": \"of lengths\", \"isRequired\": true, \"choices\": [\"metric\", \"imperial\"]}\n\
    /// @setting depth {\"format\": \"number\", \"default\": 3}\n\
    /// @setting root {\"format\": \"directory\", \"grant\": \"rw\"}\n\
    /// @secret token {\"hosts\": [\"https://api.example.com\"], \"header\": \"Authorization\", \"value\": \"Bearer {}\"}\n";

fn home() -> (Home, String) {
    let home = Home::new().unwrap();
    let packed = packed_asking(&home, "loud", REQUESTS, "issues");
    (home, packed)
}

/// Runs a command, and returns whether it has succeeded and what it says.
fn said(home: &Home, words: &[&str]) -> (bool, String) {
    let output = home.run(words).unwrap();
    let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    (output.status.success(), said.concat())
}

#[test]
fn settings_and_secrets_are_given_shown_and_taken_away() {
    let (home, file) = home();
    let (is_added, told) = said(&home, &["add", "issues", &file, "--yes"]);
    assert!(
        !is_added && told.contains("--setting unit=metric --yes`"),
        "{told}"
    );
    // What was given is in the hint.
    let along = ["--grant-http", "https://api.example.com"];
    let words = ["add", "issues", &file, along[0], along[1], "--yes"];
    let (_, told) = said(&home, &words);
    assert!(
        told.contains("--grant-http https://api.example.com --setting unit=metric --yes`"),
        "{told}"
    );
    for (option, value, part) in [
        (
            "--setting",
            "unit=miles",
            "`miles` is none of `metric`, `imperial`",
        ),
        ("--setting", "units=metric", "did you mean `unit`?"),
        ("--secret", "tokens=env:A", "did you mean `token`?"),
        ("--secret", "token=hunter2hunter2", "never with its text"),
        // There is no terminal.
        (
            "--secret",
            "token",
            "`dormouse secret set issues-token` reads it from stdin; name it with `--secret \
             token=keyring:issues-token`",
        ),
    ] {
        let (is_added, told) = said(&home, &["add", "issues", &file, option, value, "--yes"]);
        let is_told = told.contains(part);
        assert!(!is_added && is_told, "{value}: {told}");
    }
    let folder = home.path().join("notes");
    std::fs::create_dir(&folder).unwrap();
    let folder = folder.canonicalize().unwrap();
    let root = format!("root={}", folder.display());
    let words = [
        "add",
        "issues",
        &file,
        "--setting",
        "unit=metric",
        "--setting",
        &root,
        "--secret",
        "token=env:ISSUES_TOKEN",
        "--grant-http",
        "https://api.example.com",
        "--yes",
    ];
    let (is_added, told) = said(&home, &words);
    assert!(is_added, "{told}");
    let missing =
        "its secret `token` has no value: the environment variable `ISSUES_TOKEN` is not set";
    assert!(told.contains(missing), "{told}");
    assert!(told.contains("hint: `dormouse install CLIENT`"), "{told}");
    let (_, doctor) = said(&home, &["doctor"]);
    assert!(doctor.contains(missing), "{doctor}");
    let along = "send requests to api.example.com over HTTPS, with your secret `token`, which the \
        plugin never sees";
    assert!(told.contains(along), "{told}");
    let (_, shown) = said(&home, &["grants", "issues"]);
    assert!(
        shown.contains(along) && shown.contains("unit = metric"),
        "{shown}"
    );
    let shown = home.json(&["grants", "issues", "--json"]).unwrap();
    assert_eq!(
        shown["settings"],
        json!({ "root": folder, "unit": "metric" })
    );
    assert_eq!(
        (&shown["fs"][0]["path"], &shown["fs"][0]["mode"]),
        (&json!(folder), &json!("rw"))
    );
    assert_eq!(
        shown["secrets"],
        json!([{
            "name": "token", "source": "the environment variable `ISSUES_TOKEN`",
            "hosts": ["api.example.com"],
        }])
    );
    assert_eq!(shown["missing"], json!([]));

    // The folder goes with the setting that names it.
    let less = ["revoke", "issues", "--setting", "root", "--secret", "token"];
    let (is_revoked, told) = said(&home, &less);
    assert!(is_revoked, "{told}");
    let shown = home.json(&["grants", "issues", "--json"]).unwrap();
    assert_eq!((&shown["fs"], &shown["secrets"]), (&json!([]), &json!([])));
    assert_eq!(shown["settings"], json!({ "unit": "metric" }));
    assert!(!said(&home, &less).0);
    let (is_revoked, told) = said(&home, &["revoke", "issues", "--setting", "unit"]);
    assert!(is_revoked, "{told}");
    let (_, told) = said(&home, &["doctor"]);
    assert!(
        told.contains("dormouse grant issues --setting unit=metric"),
        "{told}"
    );
}

/// Text that is typed, and shown nowhere.
const TYPED: &str = "typed-s3cret";

/// Runs a command on a terminal, where these answers are given. Returns what is shown there.
fn on_a_terminal(home: &Home, words: &[&str], steps: Value) -> String {
    let script = artifacts::workspace().join("tests/clients/python/terminal.py");
    let mut command = Command::new("python3");
    command.arg(script).arg(steps.to_string());
    let run = home.command(words);
    command.arg(run.get_program()).args(run.get_args());
    let output = command.envs(home.environment()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn settings_and_secrets_are_asked_for_on_a_terminal() {
    let (home, file) = home();
    let steps = json!([
        ["unit: ", "miles\n"],
        ["`miles` is none of `metric`, `imperial`", "metric\n"],
        ["depth [3]: ", "\n"],
        ["root [nothing]: ", "\n"],
        [
            "token (it is not shown; empty: later): ",
            format!("{TYPED}\n")
        ],
        ["Grant this to `issues`? [y/N] ", "y\n"],
    ]);
    let shown = on_a_terminal(&home, &["add", "issues", &file], steps);
    assert!(!shown.contains(TYPED), "{shown}");
    let kept = home.json(&["secret", "list", "--json"]).unwrap();
    assert_eq!(kept, json!([{ "name": "issues-token", "place": "file" }]));
    let configuration = std::fs::read_to_string(home.config()).unwrap();
    assert!(
        configuration.contains("keyring = \"issues-token\"") && !configuration.contains(TYPED),
        "{configuration}"
    );
    let shown = home.json(&["grants", "issues", "--json"]).unwrap();
    assert_eq!(shown["settings"], json!({ "unit": "metric" }));
}

#[test]
fn a_secret_is_given_later_kept_on_and_taken_from_nobody_else() {
    let (home, file) = home();
    let words = ["add", "issues", &file, "--setting", "unit=metric", "--yes"];
    assert!(said(&home, &words).0);
    // What is missing alone is asked for, and nothing is kept before all is agreed to.
    let secret = |text: &str, otherwise: &str| {
        let prompt = format!("token (it is not shown; empty: {otherwise}): ");
        json!([prompt, format!("{text}\n")])
    };
    let refused = json!([
        ["root [nothing]: ", "\n"],
        secret(TYPED, "later"),
        ["Grant this to `issues`? [y/N] ", "n\n"],
    ]);
    let mut command = Command::new("python3");
    let script = artifacts::workspace().join("tests/clients/python/terminal.py");
    command.arg(script).arg(refused.to_string());
    let run = home.command(&["grant", "issues"]);
    command.arg(run.get_program()).args(run.get_args());
    let output = command.envs(home.environment()).output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    let kept = home.json(&["secret", "list", "--json"]).unwrap();
    assert_eq!(kept, json!([]));
    let steps = json!([
        ["root [nothing]: ", "\n"],
        secret(TYPED, "later"),
        ["Grant this to `issues`? [y/N] ", "y\n"],
    ]);
    on_a_terminal(&home, &["grant", "issues"], steps);
    // Who names it alone is asked, and may keep it.
    let steps = json!([
        secret("", "the one that you have"),
        ["Grant this to `issues`? [y/N] ", "y\n"],
    ]);
    on_a_terminal(&home, &["grant", "issues", "--secret", "token"], steps);
    let shown = home.json(&["grants", "issues", "--json"]).unwrap();
    assert_eq!(shown["secrets"][0]["name"], "token");
    // Of two servers, one would take the other's text.
    let more = "[servers.other.secrets]\n\
        t = { keyring = 'more-token', hosts = ['https://a.example'], header = 'X' }\n";
    home.server_with("other", file.as_ref(), more).unwrap();
    let words = [
        "add",
        "more",
        &file,
        "--setting",
        "unit=metric",
        "--secret",
        "token",
        "--yes",
    ];
    let (is_added, told) = said(&home, &words);
    let is_told = told.contains("the secret `more-token` is that of the server `other`");
    assert!(!is_added && is_told, "{told}");
    // A secret without a request that it goes with is of no use.
    let (_, told) = said(&home, &["doctor"]);
    let lost = "its secret `token` is for `api.example.com`, and no request there is granted";
    assert!(told.contains(lost), "{told}");
    let words = ["grant", "issues", "--grant-http", "https://api.example.com"];
    assert!(said(&home, &[&words[..], &["--yes"]].concat()).0);
    let (_, told) = said(&home, &["doctor"]);
    assert!(!told.contains(lost), "{told}");
    // A reference of 1Password's is written down as it is.
    let words = [
        "add",
        "more",
        &file,
        "--setting",
        "unit=metric",
        "--secret",
        "token=op://Work/Issues/token",
        "--yes",
    ];
    let (is_added, told) = said(&home, &words);
    assert!(is_added, "{told}");
    let configuration = std::fs::read_to_string(home.config()).unwrap();
    assert!(
        configuration.contains("op = \"op://Work/Issues/token\""),
        "{configuration}"
    );
}
