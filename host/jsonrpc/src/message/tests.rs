use dormouse_tests::growth::is_linear;
use proptest::prelude::*;

use super::*;

const LIMITS: MessageLimits = MessageLimits {
    members: 8,
    depth: 4,
    id_bytes: 10,
};

fn read(text: &str) -> Result<Message<'_>, Box<Unreadable<'_>>> {
    Message::read(text, &LIMITS)
}

#[test]
fn messages_are_told_apart() {
    let method = Cow::Borrowed("m");
    for (text, message) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1e999}}"#,
            Message::Request {
                id: RequestId::new("1"),
                method: method.clone(),
                params: Some(r#"{"a":1e999}"#),
            },
        ),
        (
            r#"{"method":"\u006d","params":null,"jsonrpc":"2.0"}"#,
            Message::Notification {
                method,
                params: None,
            },
        ),
        (
            r#"{"jsonrpc":"2.0","id":"x","result":{}}"#,
            Message::Response {
                id: Some(RequestId::new("\"x\"")),
                outcome: Ok("{}"),
            },
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#,
            Message::Response {
                id: None,
                outcome: Err(r#"{"code":1}"#),
            },
        ),
    ] {
        assert_eq!(read(text).unwrap(), message, "{text}");
    }
}

#[test]
fn what_is_no_message_is_refused_under_its_id() {
    let deep = format!("{}{}", "[".repeat(4), "]".repeat(4));
    for (text, id, code) in [
        (String::new(), None, PARSE_ERROR),
        ("{".into(), None, PARSE_ERROR),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"x"} x"#.into(),
            None,
            PARSE_ERROR,
        ),
        ("[".into(), None, PARSE_ERROR),
        ("[]".into(), None, INVALID_REQUEST),
        ("7".into(), None, INVALID_REQUEST),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#.into(),
            None,
            INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#.into(),
            None,
            INVALID_REQUEST,
        ),
        (
            r#"{"id":1,"method":"m"}"#.into(),
            Some("1"),
            INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#.into(),
            Some("1"),
            INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":1}"#.into(),
            Some("1"),
            INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#.into(),
            Some("1"),
            INVALID_REQUEST,
        ),
        // Twice, whatever of it.
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#.into(),
            Some("1"),
            INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"m\u0065thod":"a","method":"b"}"#.into(),
            Some("1"),
            INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","x":1,"x":1}"#.into(),
            Some("1"),
            INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#.into(),
            None,
            INVALID_REQUEST,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":1,"error":{}}"#.into(),
            Some("1"),
            INVALID_REQUEST,
        ),
        // Beyond a limit.
        (
            r#"{"jsonrpc":"2.0","id":"0123456789","method":"a"}"#.into(),
            None,
            INVALID_REQUEST,
        ),
        (
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{deep}}}"#),
            Some("1"),
            INVALID_REQUEST,
        ),
        (
            format!(
                r#"{{"jsonrpc":"2.0","id":1,{}"method":"a"}}"#,
                r#""y":1,"#.repeat(9)
            ),
            Some("1"),
            INVALID_REQUEST,
        ),
    ] {
        let refused = read(&text).unwrap_err();
        let found = refused.id.as_ref().map(RequestId::as_str);
        assert_eq!(
            (found, refused.error.code()),
            (id, code),
            "{text}: {refused:?}"
        );
    }
    let others: String = (0..9).map(|number| format!("\"{number}\":0,")).collect();
    let text = format!("{{{others}\"jsonrpc\":\"2.0\",\"method\":\"m\"}}");
    let error = read(&text).unwrap_err().error;
    assert_eq!(error, MessageError::TooManyMembers { limit: 8 });
}

#[test]
fn it_is_known_whether_somebody_waits() {
    let answer = read(r#"{"jsonrpc":"2.0","id":7,"result":[[[[]]]]}"#).unwrap_err();
    assert!(!answer.has_method && answer.has_id);
    assert_eq!(answer.id, Some(RequestId::new("7")));
    let twice = read(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#).unwrap_err();
    assert!(twice.has_method && twice.has_id && twice.id.is_none());
    let notification = read(r#"{"method":"m"}"#).unwrap_err();
    assert!(notification.has_method && !notification.has_id);
}

#[test]
fn reading_takes_linear_time() {
    let limits = MessageLimits {
        members: usize::MAX,
        ..MessageLimits::default()
    };
    let message = |members: usize| {
        let members = (0..members).map(|number| format!("\"m{number}\":{number},"));
        let members: String = members.collect();
        format!("{{{members}\"jsonrpc\":\"2.0\",\"method\":\"m\"}}")
    };
    is_linear("members of a message", 5_000, message, |text| {
        assert!(Message::read(text, &limits).is_ok());
    });
    let deep = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{open}{close}}}")
    };
    is_linear("nesting", 20_000, deep, |text| {
        assert!(Message::read(text, &limits).is_err());
    });
}

proptest! {
    #[test]
    fn whatever_comes_nothing_panics(text in "[{}\\[\\]\":,a-z0-9\\\\ ]{0,60}") {
        let _ = read(&text);
        let _ = crate::items(&text, 3);
        let _ = crate::Object::parse(&text, 3).map(crate::Object::into_text);
    }
}
