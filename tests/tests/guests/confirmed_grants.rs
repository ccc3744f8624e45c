//! Answers of one user to both: whether a tool is called, and what it is granted while it runs.

use dormouse_tests::client::PATIENCE;
use dormouse_tests::recording_host::RecordingHost;

use super::*;

const ASK: &str = "elicitation/create";

fn chosen(answer: &str) -> Value {
    json!({ "action": "accept", "content": { "answer": answer } })
}

/// A yes to a tool for the session outlives what its user has always allowed in the same call.
#[test]
fn what_is_always_allowed_ends_no_yes_to_the_tool_that_asked_for_it() {
    for (granted, is_kept) in [("always", true), ("session", false)] {
        let home = Home::new().unwrap();
        let host = RecordingHost::answering("it is well").unwrap();
        let at = host.authority();
        let request = format!("/// @grant http GET http://{at} to see how it is\n");
        let packed = packed_asking(&home, "http", &request, "asks");
        home.server("asks", packed.as_ref()).unwrap();
        let servers = std::fs::read_to_string(home.config()).unwrap();
        let exposure = "[exposure]\nmode = 'direct'\nconfirm = ['destructive']\n\n";
        std::fs::write(home.config(), format!("{exposure}{servers}")).unwrap();
        let able = json!({ "elicitation": {} });
        let mut client = Client::start_able(&mut home.command(&["serve"]), able).unwrap();
        let arguments = json!({ "method": "GET", "scheme": "http", "authority": at,
            "path": "/a", "headers": [], "body": "" });
        let call = json!({ "name": "asks__send", "arguments": arguments });
        let id = client.send("tools/call", call.clone()).unwrap();
        for (about, answer) in [("Tool: send", "session"), ("wants to send", granted)] {
            let asked = client.notification(ASK, PATIENCE).unwrap();
            assert!(asked.to_string().contains(about), "{asked}");
            client.reply(&asked, chosen(answer)).unwrap();
        }
        let answer = client.answer(id).unwrap().to_string();
        assert!(answer.contains("it is well"), "{granted}: {answer}");
        let config = std::fs::read_to_string(home.config()).unwrap();
        assert_eq!(config.contains(&at), is_kept, "{config}");
        client.always_answers(ASK, json!({ "action": "cancel" }));
        let id = client.send("tools/call", call).unwrap();
        let answer = client.answer(id).unwrap().to_string();
        assert!(answer.contains("it is well"), "{granted}: {answer}");
        assert!(client.asked.is_empty(), "{granted}: {:?}", client.asked);
    }
}
