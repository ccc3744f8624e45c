//! Questions of a plugin that is called on the command line: a user at a terminal is asked, and
//! nobody without one.

use std::process::Command;

use dormouse_tests::Home;
use dormouse_tests::artifacts;
use serde_json::json;

fn home() -> Home {
    let home = Home::new().unwrap();
    home.guests(&["asker"]).unwrap();
    home
}

/// Calls a tool on a terminal, with input for each text that is shown. Returns the output, and
/// whether the call has succeeded.
fn typed(tool: &str, arguments: &str, steps: &[(&str, &str)]) -> (String, bool) {
    let home = home();
    let script = artifacts::workspace().join("tests/clients/python/terminal.py");
    let mut command = Command::new(artifacts::python("clients", "python").unwrap());
    command.arg(script).arg(json!(steps).to_string());
    let call = home.command(&["call", "asker", tool, arguments]);
    command.arg(call.get_program()).args(call.get_args());
    let output = command.envs(home.environment()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("never shown"), "{output:?}");
    let shown = String::from_utf8(output.stdout).unwrap();
    (shown, output.status.success())
}

#[test]
fn a_form_is_filled_in() {
    let able = typed("able", "{}", &[]).0;
    assert!(
        able.contains("\"form\"") && able.contains("\"url\""),
        "{able}"
    );
    assert!(
        !able.contains("sampling") && !able.contains("roots"),
        "{able}"
    );
    let steps = [
        ("[server `asker`] What is your name?", ""),
        ("c = cancel: ", "y\n"),
        ("a text: ", "\n"),
        ("this has to be filled in", "Ada\n"),
    ];
    let (shown, good) = typed("greet", "{}", &steps);
    assert!(good && shown.contains("Hello, Ada!"), "{shown}");
    // One question after the other, from the same lines.
    let steps = [
        ("Number 1?", ""),
        ("c = cancel: ", "y\n"),
        ("a whole number: ", "one\n"),
        ("`one` is no number", "1\n"),
        ("Number 2?", ""),
        ("c = cancel: ", "y\n"),
        ("a whole number: ", "20\n"),
    ];
    let (shown, good) = typed("add", r#"{"count": 2}"#, &steps);
    assert!(good && shown.contains("21"), "{shown}");
}

#[test]
fn a_form_is_declined_or_cancelled() {
    for (answer, told) in [
        ("n\n", "declined"),
        ("c\n", "cancelled"),
        ("\u{4}", "cancelled"),
    ] {
        let (shown, good) = typed("greet", "{}", &[("c = cancel: ", answer)]);
        assert!(good && shown.contains(told), "{answer:?}: {shown}");
    }
}

#[test]
fn a_page_is_opened_only_by_whoever_says_so() {
    let page = r#"{"url": "https://example.com/x"}"#;
    let link = "open this link in a browser: https://example.com/x";
    // What is typed before the question counts for nothing.
    let steps = [(link, ""), ("c = cancel: ", "\n"), ("c = cancel: ", "y\n")];
    let (shown, good) = typed("show_page", page, &steps);
    assert!(good && shown.contains("accept"), "{shown}");
    let steps = [(link, ""), ("c = cancel: ", "n\n")];
    let (shown, _) = typed("show_page", page, &steps);
    assert!(
        shown.contains("decline") && !shown.contains("accept"),
        "{shown}"
    );
}

#[test]
fn what_there_is_not_is_not_asked() {
    for (tool, arguments, lacked) in [
        ("sample", r#"{"prompt": "x"}"#, "`sampling`"),
        ("folders", "{}", "`roots`"),
    ] {
        let (shown, good) = typed(tool, arguments, &[]);
        assert!(!good && shown.contains(lacked), "{shown}");
    }
}

/// A script is no user: whatever it pipes in agrees to nothing.
#[test]
fn nobody_is_asked_without_a_terminal() {
    let home = home();
    let able = home.json(&["call", "asker", "able", "--json"]).unwrap();
    assert_eq!(able["structuredContent"]["result"], json!([]));
    for (tool, arguments, lacked) in [
        ("greet", "{}", "`elicitation`"),
        (
            "show_page",
            r#"{"url": "https://example.com/x"}"#,
            "`elicitation.url`",
        ),
        ("sample", r#"{"prompt": "x"}"#, "`sampling`"),
        ("folders", "{}", "`roots`"),
    ] {
        let output = home.run(&["call", "asker", tool, arguments]).unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains(lacked), "{told}");
    }
}
