//! Guests that end because their call may not go on after its user was asked.

use super::*;

/// Whatever its user answers, nothing more of a request that was begun before goes out.
#[test]
fn a_plugin_whose_tool_is_denied_by_then_writes_no_more_into_an_open_request() {
    for answer in ["once", "no"] {
        let requests =
            |host: &str| format!("/// @instance per-session\n/// @grant http GET http://{host}\n");
        let mut asked = Asked::with(requests, json!({ "elicitation": {} }));
        let host = asked.host.authority();
        let granted = format!("POST http://{host}");
        let words = ["grant", "asks", "--grant-http", &granted, "--yes"];
        let output = asked.home.run(&words).unwrap();
        assert!(output.status.success(), "{output:?}");
        let arguments = json!({ "posted": host, "asked": host, "body": "written late" });
        let (home, wire) = (&asked.home, &mut asked.wire);
        let tool = "asks__write_later";
        let result = denied_while_asked(home, wire, tool, &arguments, &chosen(answer));
        assert_eq!(result["result"]["isError"], true, "{answer}: {result}");
        // The host has the beginning of it, and then its end.
        wait_for(|| !asked.host.received().is_empty());
        let received = asked.host.received();
        assert_eq!(received.len(), 1, "{answer}: {received:?}");
        assert!(
            received[0].starts_with("POST / ") && !received[0].contains("written late"),
            "{answer}: {received:?}"
        );
    }
}

/// It is not told the reason, and does nothing with it: its call is answered with that.
#[test]
fn a_plugin_does_not_go_on_where_its_own_question_is_answered_when_its_tool_is_denied() {
    let home = Home::new().unwrap();
    let asker = dormouse_tests::artifacts::guest("asker").unwrap();
    home.server("asks", &asker).unwrap();
    let mut wire = Wire::spawn(&mut home.command(&["serve"])).unwrap();
    let able = json!({ "elicitation": {} });
    wire.initialize_able(able).unwrap();
    let content = json!({ "city": "Berlin", "tone": "kind", "times": ["am"], "metric": true });
    let answer = json!({ "action": "accept", "content": content });
    let result = denied_while_asked(&home, &mut wire, "asks__survey", &json!({}), &answer);
    let result = &result["result"];
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        result["isError"] == true && text.starts_with("server `asks`, tool `survey`: "),
        "{result}"
    );
}
