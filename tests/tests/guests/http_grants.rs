//! Grants of HTTP requests on the command line: given with a plugin or later, shown, and taken away.

use std::process::Command;

use dormouse_tests::artifacts;
use dormouse_tests::recording_host::RecordingHost;

use super::*;

/// What a plugin of these tests asks for.
const REQUESTS: &str = "/// @grant env TZ the zone\n\
    /// @grant http GET https://api.example.com/v1 the issues\n\
    /// @grant http https://*.example.org\n";

/// Makes a home with the file of a plugin that asks for grants.
fn home() -> (Home, String) {
    let home = Home::new().unwrap();
    let packed = packed_asking(&home, "echo", REQUESTS, "issues");
    (home, packed)
}

/// Runs a command, and returns whether it has succeeded and what it says.
fn said(home: &Home, words: &[&str]) -> (bool, String) {
    let output = home.run(words).unwrap();
    let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    (output.status.success(), said.concat())
}

fn has_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in {text}");
    }
}

fn configuration(home: &Home) -> String {
    std::fs::read_to_string(home.config()).unwrap()
}

#[test]
fn grants_are_given_shown_and_taken_away() {
    let (home, file) = home();
    let grant = "https://api.example.com";
    let words = ["add", "issues", &file, "--grant-http", grant, "--yes"];
    let (is_added, told) = said(&home, &words);
    assert!(is_added, "{told}");
    let warning = "warning: `https://api.example.com` is more than the plugin asks for, which is \
        `GET https://api.example.com/v1`, `https://*.example.org`";
    has_all(
        &told,
        &[
            warning,
            "  send requests to api.example.com over HTTPS\n",
            // What `--yes` grants besides is what a plugin asks for of one variable or host.
            "It asks\n  to see the environment variable `TZ`: the zone\n",
            "`issues` is granted this\n",
            "dormouse grant issues --grant-http 'https://*.example.org'\n",
        ],
    );
    let decisions = home.path().join("cache/data/dormouse/decisions.jsonl");
    let decisions = std::fs::read_to_string(decisions).unwrap();
    assert_eq!(
        decisions.matches(r#""by":"flag""#).count(),
        2,
        "{decisions}"
    );
    has_all(
        &configuration(&home),
        &["[servers.issues.grants]\nenv = [\"TZ\"]\nhttp = [\"https://api.example.com\"]\n"],
    );

    let (is_shown, told) = said(&home, &["grants", "issues"]);
    assert!(is_shown, "{told}");
    has_all(
        &told,
        &[
            "`issues` may\n  see the environment variable TZ  (--grant-env TZ)\n  \
             send requests to api.example.com over HTTPS  (--grant-http https://api.example.com)\n\
             It asks besides\n  to send requests to all hosts below example.org over HTTPS\n    \
             dormouse grant issues --grant-http 'https://*.example.org'\n",
            warning,
        ],
    );
    let shown = home.json(&["grants", "issues", "--json"]).unwrap();
    assert_eq!(
        shown,
        json!({
            "server": "issues", "fs": [], "env": ["TZ"], "http": [grant],
            "settings": {}, "secrets": [],
            "session": { "fs": [], "env": [], "http": [], "settings": [] },
            "missing": [{
                "what": "to send requests to all hosts below example.org over HTTPS",
                "why": "",
                "needed": false,
                "command": "dormouse grant issues --grant-http 'https://*.example.org'",
            }],
            "beyond": [grant],
        })
    );

    // A running host follows.
    let client = home.serve().unwrap();
    let more = [
        "grant",
        "issues",
        "--grant-http",
        "https://*.example.org",
        "--yes",
    ];
    let (is_granted, told) = said(&home, &more);
    assert!(is_granted && told.contains("reloaded in 1"), "{told}");
    assert_eq!(
        home.json(&["grants", "issues", "--json"]).unwrap()["missing"],
        json!([])
    );
    let text = configuration(&home);
    std::fs::write(
        home.config(),
        text.replace("\nhttp = ", "\n# where the issues are\nhttp = "),
    )
    .unwrap();
    let less = [
        "revoke",
        "issues",
        "--grant-http",
        "https://API.example.com/",
        "--grant-env",
        "TZ",
    ];
    let (is_revoked, told) = said(&home, &less);
    assert!(is_revoked, "{told}");
    has_all(
        &told,
        &[
            "`issues` may no longer\n  see the environment variable TZ\n  \
             send requests to api.example.com over HTTPS\n\
             It still may\n  send requests to all hosts below example.org over HTTPS\n",
            "reloaded in 1",
        ],
    );
    let left =
        "[servers.issues.grants]\n# where the issues are\nhttp = [\"https://*.example.org\"]\n";
    has_all(&configuration(&home), &[left]);
    let (is_revoked, told) = said(&home, &less);
    assert!(!is_revoked, "{told}");
    has_all(
        &told,
        &[
            "error: server `issues` is not granted `TZ`\n",
            "it is granted `--grant-http 'https://*.example.org'`",
        ],
    );
    assert!(configuration(&home).contains(left));
    let (is_revoked, told) = said(&home, &["revoke", "issues", "--all"]);
    assert!(
        is_revoked && told.contains("It is granted nothing now"),
        "{told}"
    );
    let (_, told) = said(&home, &["grants", "issues"]);
    has_all(&told, &["`issues` is granted nothing\nIt asks besides\n"]);
    for words in [
        &["revoke", "issues", "--all"][..],
        &["revoke", "issue", "--all"],
        &["revoke", "issues"],
        &["revoke", "issues", "--all", "--grant-env", "TZ"],
    ] {
        assert!(!said(&home, words).0, "{words:?}");
    }
    drop(client);
}

/// Nobody is asked without a terminal, and nothing is granted then.
#[test]
fn what_a_plugin_asks_for_is_granted_by_its_user_alone() {
    let (home, file) = home();
    let (is_added, told) = said(&home, &["add", "issues", &file]);
    assert!(is_added, "{told}");
    let command = "dormouse grant issues --grant-env TZ --grant-http 'GET \
        https://api.example.com/v1' --grant-http 'https://*.example.org'";
    has_all(&told, &[&format!("or this command:\n  {command}\n")]);
    assert!(!configuration(&home).contains("grants"));

    for (answer, is_granted) in [("n", false), ("y", true)] {
        let script = artifacts::workspace().join("tests/clients/python/terminal.py");
        let mut command = Command::new("python3");
        let steps = json!([["Grant this to `issues`? [y/N] ", format!("{answer}\n")]]);
        command.arg(script).arg(steps.to_string());
        let add = home.command(&["add", "issues", &file, "--force"]);
        command.arg(add.get_program()).args(add.get_args());
        let output = command.envs(home.environment()).output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).replace('\r', "");
        assert!(output.status.success(), "{output:?}");
        // Only what needs no more than an answer is asked about.
        let asked = "It asks\n  to see the environment variable `TZ`: the zone\n  \
            to send GET requests to api.example.com (/v1 and below) over HTTPS: the issues\nGrant";
        has_all(&shown, &[asked]);
        assert!(!shown.contains("nothing is changed"), "{shown}");
        let shown = home.json(&["grants", "issues", "--json"]).unwrap();
        let granted = match is_granted {
            true => (json!(["TZ"]), json!(["GET https://api.example.com/v1"])),
            false => (json!([]), json!([])),
        };
        assert_eq!((shown["env"].clone(), shown["http"].clone()), granted);
        assert_eq!(shown["beyond"], json!([]));
    }
}

#[test]
fn grants_that_are_malformed_or_of_a_project_are_not_changed() {
    let (home, file) = home();
    home.server_with(
        "bad",
        file.as_ref(),
        "grants.http = ['https://a.example', 'x']\ngrants.env = ['TZ']",
    )
    .unwrap();
    let before = configuration(&home);
    for words in [
        &["grants", "bad"][..],
        &["revoke", "bad", "--all"],
        &["grant", "bad", "--grant-env", "LANG", "--yes"],
    ] {
        let (is_done, told) = said(&home, words);
        assert!(!is_done, "{told}");
        has_all(
            &told,
            &[
                "error: server `bad` is granted nothing",
                "`servers.bad.grants.http[1]` cannot be",
                "hint: write `[METHODS] SCHEME://HOST[:PORT][/PATH] [private]`",
            ],
        );
    }
    assert_eq!(configuration(&home), before);

    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let text = format!("[servers.issues]\ncomponent = '{file}'\ngrants.http = ['https://*']\n");
    std::fs::write(project.join("dormouse.toml"), &text).unwrap();
    let run = |words: &[&str]| {
        let mut command = home.command(words);
        let output = command.current_dir(&project).output().unwrap();
        let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
        (output.status.success(), said.concat())
    };
    let (is_trusted, told) = run(&["trust", "--yes"]);
    let words = "may send:          requests to every host on the internet over HTTPS\n";
    assert!(is_trusted && told.contains(words), "{told}");
    let (is_revoked, told) = run(&["revoke", "issues", "--all"]);
    assert!(!is_revoked, "{told}");
    has_all(
        &told,
        &[
            "error: server `issues` is granted what the project's file says",
            "`dormouse trust`",
        ],
    );
    let (is_shown, told) = run(&["grants", "issues"]);
    assert!(
        is_shown && !told.contains("dormouse grant issues"),
        "{told}"
    );
    has_all(
        &told,
        &[
            "send requests to every host on the internet over HTTPS",
            "to see the environment variable `TZ`: the zone\n",
            "hint: it is granted what the project's file says",
        ],
    );
    assert_eq!(
        std::fs::read_to_string(project.join("dormouse.toml")).unwrap(),
        text
    );
}

/// What a user says counts from the next call on, in a host that runs.
#[test]
fn a_grant_counts_in_a_running_host_until_it_is_revoked() {
    let there = RecordingHost::answering("hello from there").unwrap();
    let home = Home::new().unwrap();
    home.server("net", &artifacts::guest("http").unwrap())
        .unwrap();
    let mut client = home.serve().unwrap();
    let request = json!({
        "method": "GET", "scheme": "http", "authority": there.authority(), "path": "/",
        "headers": [], "body": "",
    });
    let send = |client: &mut Client| client.call("net__send", request.clone()).unwrap();
    let grant = format!("http://{} private", there.authority());
    assert_eq!(send(&mut client)["isError"], true);
    let (is_granted, told) = said(&home, &["grant", "net", "--grant-http", &grant, "--yes"]);
    assert!(is_granted, "{told}");
    let answer = send(&mut client).to_string();
    assert!(answer.contains("hello from there"), "{answer}");
    let (is_revoked, told) = said(&home, &["revoke", "net", "--grant-http", &grant]);
    assert!(is_revoked, "{told}");
    assert_eq!(send(&mut client)["isError"], true);
    assert_eq!(there.received().len(), 1);
}
