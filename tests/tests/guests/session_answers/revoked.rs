//! Answers that are taken back: of what runs, and beside what the configuration grants.

use dormouse_tests::{recording_host, wait};

use super::*;

#[test]
fn what_is_always_allowed_ends_with_its_line_in_the_configuration() {
    let mut asked = Asked::with(requests);
    let before = asked.configuration();
    let (_, result) = asked.send(|question| filled_in(question, "always", ""));
    assert!(is_answered(&result), "{result}");
    assert_ne!(asked.configuration(), before);
    asked.configure(&before);
    let (questions, result) = asked.send(declined);
    assert_eq!(questions.len(), 1, "{questions:?}");
    assert!(!is_answered(&result), "{result}");
    assert_eq!(asked.host.received().len(), 1);
}

/// A call that sends one request after the other ends, although its server was replaced since it
/// began, with which it went on.
#[test]
fn a_call_ends_with_the_answer_that_it_goes_on_with() {
    for answer in ["session", "always"] {
        let host = RecordingHost::start(|_| {
            std::thread::sleep(Duration::from_millis(50));
            recording_host::http("200 OK", "", "it is well")
        });
        let mut asked = Asked::at(host.unwrap(), requests);
        let before = asked.configuration();
        let comes = |asked: &Asked, count: usize| {
            let count = asked.host.received().len() + count;
            wait::until("more requests", || {
                anyhow::ensure!(asked.host.received().len() >= count);
                Ok(())
            })
            .unwrap();
        };
        let at = asked.host.authority();
        let arguments = json!({ "authority": at, "count": 900, "in_flight": 1 });
        let id = asked.begin("time_gets", arguments);
        asked.answer_next(|question| filled_in(question, answer, ""));
        comes(&asked, 3);
        if answer == "session" {
            let limits = "\n[servers.asks.limits]\nhttp_requests = 1001\n";
            asked.configure(&format!("{before}{limits}"));
            comes(&asked, 3);
            asked.run(&["revoke", "asks", "--all"]);
        } else {
            assert_ne!(asked.configuration(), before);
            asked.configure(&before);
        }
        let (_, result) = asked.end(id, declined);
        let told = "was switched off, removed or changed";
        assert!(result.to_string().contains(told), "{answer}: {result}");
        // One may have been on its way.
        std::thread::sleep(Duration::from_millis(300));
        let sent = asked.host.received().len();
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(asked.host.received().len(), sent, "{answer}");
    }
}

#[test]
fn answers_end_where_a_url_has_the_name_of_their_plugin_meanwhile() {
    let mut asked = given();
    let before = asked.configuration();
    asked.configure("[servers.asks]\nurl = 'http://127.0.0.1:9/mcp'\n");
    asked.configure(&before);
    let (questions, result) = asked.send(declined);
    assert_eq!(questions.len(), 2, "{questions:?}");
    assert!(!is_answered(&result), "{result}");
}

#[test]
fn what_is_given_for_the_session_is_shown_until_it_is_taken_back() {
    let asked = given();
    let shown = |option: &[&str]| {
        let output = asked.home.run(&[&["grants", "asks"][..], option].concat());
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let header = "In running hosts, until the session ends, it may\n";
    let text = shown(&[]);
    let (_, given) = text.split_once(header).unwrap();
    let request = format!("--grant-http 'GET http://{}", asked.host.authority());
    for option in ["--grant-env DORMOUSE_ZONE", &asked.folder(), &request] {
        assert!(given.contains(option), "no `{option}` in {text}");
    }
    let json: Value = serde_json::from_str(&shown(&["--json"])).unwrap();
    assert_eq!(json["session"]["env"], json!(["DORMOUSE_ZONE"]), "{json}");
    assert_eq!(json["session"]["fs"][0]["path"], json!(asked.folder()));
    assert_eq!(json["env"], json!([]), "{json}");
    asked.run(&["revoke", "asks", "--all"]);
    let text = shown(&[]);
    assert!(!text.contains("until the session ends"), "{text}");
}

/// A host that is stopped is waited for a second, and one that knows no such question is no error.
#[cfg(unix)]
#[test]
fn hosts_that_do_not_answer_hold_up_no_look_at_grants() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::os::unix::net::UnixListener;

    let asked = given();
    let folder = asked.home.path().join("run/dormouse");
    let _stopped = UnixListener::bind(folder.join("1.sock")).unwrap();
    let older = UnixListener::bind(folder.join("2.sock")).unwrap();
    let answered = std::thread::spawn(move || {
        let mut stream = BufReader::new(older.accept().unwrap().0);
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        let request: Value = serde_json::from_str(&line).unwrap();
        let error = json!({ "code": -32601, "message": "there is no such method" });
        let answer = json!({ "jsonrpc": "2.0", "id": request["id"], "error": error });
        writeln!(stream.get_mut(), "{answer}").unwrap();
        request
    });
    let start = Instant::now();
    let output = asked.home.run(&["grants", "asks"]).unwrap();
    let took = start.elapsed();
    assert!(output.status.success(), "{output:?}");
    assert!(took < Duration::from_millis(4500), "{took:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("--grant-env DORMOUSE_ZONE"), "{text}");
    let warned = String::from_utf8(output.stderr).unwrap();
    let silent = "the running host 1: it does not answer within 1s";
    assert!(warned.contains(silent), "{warned}");
    assert!(!warned.contains("the running host 2"), "{warned}");
    let request = answered.join().unwrap();
    assert_eq!(request["method"], "session_answers", "{request}");
}

/// Runs a command that fails, and returns what it says.
fn failed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let told = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    let told = told.concat();
    assert_eq!(output.status.code(), Some(1), "{told}");
    told
}

#[test]
fn answers_are_taken_back_from_a_projects_plugin_which_keeps_what_its_file_grants() {
    let mut asked = Asked::with(|_| "/// @grant env DORMOUSE_ZONE the zone\n".to_owned());
    let project = asked.home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let file = asked.packed.to_str().unwrap();
    let table = format!("[servers.asks]\ncomponent = '{file}'\n");
    let text = format!("{table}grants.env = ['DORMOUSE_OTHER']\n");
    std::fs::write(project.join("dormouse.toml"), text).unwrap();
    std::fs::write(asked.home.config(), "").unwrap();
    let inside = |home: &Home, words: &[&str]| {
        let mut command = home.command(words);
        command.current_dir(&project);
        command
    };
    let trusted = inside(&asked.home, &["trust", "--yes"]).output().unwrap();
    assert!(trusted.status.success(), "{trusted:?}");
    asked.wire = Asked::wire(&mut inside(&asked.home, &["serve"]));
    let give = |question: &Value| filled_in(question, "session", "");
    let other = json!({ "name": "DORMOUSE_OTHER" });
    for options in [
        &["--all"][..],
        &[
            "--grant-env",
            "DORMOUSE_ZONE",
            "--grant-env",
            "DORMOUSE_OTHER",
        ],
    ] {
        let (_, result) = asked.look(give);
        assert!(result.to_string().contains(ZONE), "{options:?}: {result}");
        let words = [&["revoke", "asks"][..], options].concat();
        let told = failed(&mut inside(&asked.home, &words));
        for part in [
            "`asks` may no longer\n  use what it was given for the session\n",
            "error: server `asks` is granted what the project's file says",
        ] {
            assert!(told.contains(part), "{options:?}: no `{part}` in {told}");
        }
        let (questions, result) = asked.call("variable", other.clone(), give);
        assert_eq!(questions.len(), 1, "{options:?}");
        assert!(result.to_string().contains(OTHER), "{options:?}: {result}");
    }
    // It has nothing else of what is named here.
    let words = ["revoke", "asks", "--grant-env", "DORMOUSE_ZONE"];
    let output = inside(&asked.home, &words).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn options_that_are_nothing_fail_after_the_others_are_taken_away() {
    let mut asked = given();
    let words = ["grant", "asks", "--grant-env", "DORMOUSE_OTHER", "--yes"];
    asked.run(&words);
    let mut revoke = asked.home.command(&["revoke", "asks"]);
    for name in ["DORMOUSE_OTHER", "DORMOUSE_ZONE", "DORMOUSE_TYPO"] {
        revoke.args(["--grant-env", name]);
    }
    let told = failed(&mut revoke);
    for part in [
        "`asks` may no longer\n  see the environment variable DORMOUSE_OTHER\n",
        "use what it was given for the session\n",
        "error: server `asks` is not granted `DORMOUSE_TYPO`",
    ] {
        assert!(told.contains(part), "no `{part}` in {told}");
    }
    assert!(!asked.configuration().contains("DORMOUSE_OTHER"));
    let (_, result) = asked.look(declined);
    assert!(!result.to_string().contains(ZONE), "{result}");
}

/// A host that does not answer keeps nothing that the configuration grants.
#[cfg(unix)]
#[test]
fn what_the_configuration_grants_is_taken_out_before_hosts_answer() {
    let asked = Asked::with(inputs);
    let names = [
        "--grant-env",
        "DORMOUSE_ZONE",
        "--grant-env",
        "DORMOUSE_OTHER",
    ];
    asked.run(&[&["grant", "asks", "--yes"][..], &names].concat());
    let signal = |name: &str| {
        let mut kill = Command::new("kill");
        kill.args([name, &asked.wire.pid().to_string()]);
        assert!(kill.status().unwrap().success());
    };
    signal("-STOP");
    let revoke = [&["revoke", "asks"][..], &names].concat();
    let mut revoke = asked.home.command(&revoke).spawn().unwrap();
    // Less than a host has to answer.
    let written = wait::until_within(Duration::from_secs(4), "the configuration", || {
        let text = asked.configuration();
        anyhow::ensure!(!text.contains("DORMOUSE_"), "{text}");
        Ok(())
    });
    // A host that could not be told may keep what it has.
    let ended = revoke.wait().unwrap();
    signal("-CONT");
    written.unwrap();
    assert_eq!(ended.code(), Some(1));
}
