//! Says how far it is.

use super::*;

#[test]
fn is_heard_before_the_answer() {
    let mut host = Host::with("reporter");
    let params = json!({
        "name": "reporter__work",
        "arguments": { "steps": 3 },
        "_meta": { "progressToken": "token" }
    });
    let result = host.client.request("tools/call", params).unwrap();
    assert_eq!(client::text(&result), Some("did 3 steps"));
    let heard: Vec<_> = host
        .client
        .notifications
        .iter()
        .map(|it| it["params"].clone())
        .collect();
    for step in 1..4 {
        let message = format!("step {step}");
        let told = heard.iter().find(|it| it["message"] == message.as_str());
        assert_eq!(told.unwrap()["progressToken"], "token");
        let logged = heard
            .iter()
            .find(|it| it["data"] == format!("did step {step}"));
        assert_eq!(logged.unwrap()["level"], "info");
    }
    host.stays_well();
}

/// A progress bar on a terminal does not break log lines, and is not there without a terminal.
#[test]
fn is_shown_on_a_terminal() {
    let host = Host::with("reporter");
    let words = ["call", "reporter", "work", r#"{"steps":3}"#];
    let script = dormouse_tests::artifacts::workspace().join("tests/clients/python/terminal.py");
    let run = host.home.command(&words);
    let mut command = std::process::Command::new("python3");
    command.arg(script).arg("[]");
    command.arg(run.get_program()).args(run.get_args());
    let output = command.envs(host.home.environment()).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    for part in [
        " 67% step 2 ",
        "\r\u{1b}[2Kinfo reporter: did step 2\r\n",
        "\r\u{1b}[2Kdid 3 steps\r\n",
    ] {
        assert!(shown.contains(part), "no {part:?} in {shown:?}");
    }
    let output = host.home.run(&words).unwrap();
    assert_eq!(output.stdout, b"did 3 steps\n");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("info reporter: did step 2\n"), "{said}");
    assert!(!said.contains('%') && !said.contains('\u{1b}'), "{said}");
}

#[test]
fn logs_at_every_level_and_under_a_name() {
    let mut host = Host::with("reporter");
    let level = json!({ "level": "debug" });
    host.client.request("logging/setLevel", level).unwrap();
    host.client.call("reporter__chatter", json!({})).unwrap();
    let heard = host.client.notifications.iter();
    let heard = heard.filter(|it| it["method"] == "notifications/message");
    let heard: Vec<_> = heard
        .map(|it| {
            let params = &it["params"];
            (params["level"].as_str().unwrap(), params["data"].clone())
        })
        .collect();
    assert_eq!(
        heard,
        [
            ("debug", json!("d")),
            ("info", json!("i")),
            ("notice", json!([1, 2])),
            ("warning", json!("w")),
            ("error", json!("e")),
            ("critical", json!("c")),
            ("alert", json!("a")),
            ("emergency", json!("!")),
            ("error", json!("slow")),
        ]
    );
    let last = host.client.notifications.last().unwrap();
    let logger = last["params"]["logger"].as_str().unwrap();
    assert!(
        logger.starts_with("reporter/") && logger.contains("db"),
        "{logger}"
    );
    host.stays_well();
}
