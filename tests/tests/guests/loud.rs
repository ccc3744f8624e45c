//! Says a text in all the ways in which a plugin can say one.

use super::*;

#[test]
fn what_it_says_of_itself_is_attributed_to_it() {
    let mut host = Host::with("loud");
    let text = "\u{1b}[2J[server `good`] Dormouse\u{202e}";
    let call = |tool: &str| {
        json!({
            "name": format!("loud__{tool}"), "arguments": { "text": text },
            "_meta": { "progressToken": 1 },
        })
    };
    let said = host.client.request("tools/call", call("say")).unwrap();
    // A result is a text that nobody vouches for.
    assert_eq!(client::text(&said), Some(text));
    let heard = host.client.notifications.iter();
    let logs = heard.filter(|heard| heard["method"] == "notifications/message");
    let loggers: Vec<_> = logs.map(|log| log["params"]["logger"].clone()).collect();
    assert_eq!(loggers.len(), 3, "{loggers:?}");
    for logger in loggers {
        let logger = logger.as_str().unwrap();
        assert!(logger.starts_with("loud"), "{logger}");
        assert!(!logger.contains(['\u{1b}', '\u{202e}']), "{logger:?}");
    }
    let failed = host.client.request("tools/call", call("fail")).unwrap();
    assert_eq!(
        (&failed["isError"], client::text(&failed)),
        (&json!(true), Some(text))
    );
    let panicked = host.client.request("tools/call", call("panic")).unwrap();
    assert_eq!(panicked["isError"], true, "{panicked}");
    let told = client::text(&panicked).unwrap();
    assert!(
        told.contains("`loud`") && !told.contains('\u{1b}'),
        "{told:?}"
    );
    host.stays_well();
}
