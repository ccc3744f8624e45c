//! Messages as they are read here and by rmcp: any text in, exactly the error that JSON-RPC asks for,
//! and what is read is the text that came.

use dormouse_jsonrpc::{
    INVALID_REQUEST, Message, MessageLimits, PARSE_ERROR, is_json, notification, request, response,
};
use proptest::prelude::*;
use rmcp::model::ClientJsonRpcMessage;
use serde_json::Value;

/// What a text is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    Request,
    Notification,
    Response,
    Error,
    Nothing,
}

fn read_here(text: &str) -> Read {
    match Message::read(text, &MessageLimits::default()) {
        Ok(Message::Request { .. }) => Read::Request,
        Ok(Message::Notification { .. }) => Read::Notification,
        Ok(Message::Response { outcome: Ok(_), .. }) => Read::Response,
        Ok(Message::Response {
            outcome: Err(_), ..
        }) => Read::Error,
        Err(_) => Read::Nothing,
    }
}

fn read_by_rmcp(text: &str) -> Read {
    match serde_json::from_str(text) {
        Ok(ClientJsonRpcMessage::Request(_)) => Read::Request,
        Ok(ClientJsonRpcMessage::Notification(_)) => Read::Notification,
        Ok(ClientJsonRpcMessage::Response(_)) => Read::Response,
        Ok(ClientJsonRpcMessage::Error(_)) => Read::Error,
        Err(_) => Read::Nothing,
    }
}

const VERSIONS: [&str; 4] = ["", r#""2.0""#, r#""1.0""#, "2"];
const IDS: [&str; 10] = [
    "",
    "1",
    r#""a""#,
    r#""""#,
    "null",
    "1.5",
    "1e3",
    "9223372036854775808",
    "true",
    "{}",
];
const METHODS: [&str; 6] = ["", r#""ping""#, r#""tools/call""#, r#""x""#, "5", "null"];
const PARAMS: [&str; 6] = ["", "{}", r#"{"a":1.10}"#, "[1]", "null", "5"];
const RESULTS: [&str; 4] = ["", "{}", "null", r#""x""#];
const ERRORS: [&str; 4] = ["", r#"{"code":1,"message":""}"#, "null", "5"];

/// A message of members, some of which are not there.
struct Case {
    members: [(&'static str, &'static str); 6],
}

impl Case {
    fn all() -> impl Iterator<Item = Self> {
        let mut all = Vec::new();
        for version in VERSIONS {
            for id in IDS {
                for method in METHODS {
                    for params in PARAMS {
                        for result in RESULTS {
                            for error in ERRORS {
                                all.push(Self {
                                    members: [
                                        ("jsonrpc", version),
                                        ("id", id),
                                        ("method", method),
                                        ("params", params),
                                        ("result", result),
                                        ("error", error),
                                    ],
                                });
                            }
                        }
                    }
                }
            }
        }
        all.into_iter()
    }

    fn has(&self, name: &str) -> Option<&'static str> {
        let mut members = self.members.iter();
        let (_, value) = members.find(|(other, _)| *other == name)?;
        (!value.is_empty()).then_some(*value)
    }

    fn text(&self) -> String {
        let members = self.members.iter().filter(|(_, value)| !value.is_empty());
        let members = members.map(|(name, value)| format!("\"{name}\":{value}"));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    }
}

/// A difference between both, with the reason why it is one.
struct Difference {
    reason: &'static str,
    is_one: fn(&Case, Read, Read) -> bool,
}

const DIFFERENCES: &[Difference] = &[
    Difference {
        reason: "what has a method is a request or a notification, whatever else it has: who sent it \
                 waits for an answer, and rmcp drops it",
        is_one: |case, here, there| {
            let has_outcome = case.has("result").is_some() || case.has("error").is_some();
            there == Read::Nothing
                && matches!(here, Read::Request | Read::Notification)
                && has_outcome
        },
    },
    Difference {
        reason: "an id is its text here, of any length; rmcp reads 64 bits",
        is_one: |case, _, there| {
            there == Read::Nothing && case.has("id") == Some("9223372036854775808")
        },
    },
    Difference {
        reason: "an id with an exponent is not the text of an integer, and would be answered under \
                 another one; rmcp answers `1e3` as `1000`",
        is_one: |case, here, _| here == Read::Nothing && case.has("id") == Some("1e3"),
    },
    Difference {
        reason: "an answer without a usable id is one to a message that could not be read; it is \
                 dropped where it comes to, and rmcp takes it for no message",
        is_one: |case, here, there| {
            let is_usable = case
                .has("id")
                .is_some_and(|id| id.starts_with('"') || id == "1");
            there == Read::Nothing && matches!(here, Read::Response | Read::Error) && !is_usable
        },
    },
    Difference {
        reason: "what an error says is for whoever has asked, who is told at once; rmcp takes one \
                 without a code for no message, so that they wait",
        is_one: |case, here, there| {
            there == Read::Nothing
                && here == Read::Error
                && matches!(case.has("error"), Some("null" | "5"))
        },
    },
];

#[test]
fn what_rmcp_reads_otherwise_has_a_reason() {
    let mut counts = vec![0; DIFFERENCES.len()];
    let mut unexplained = std::collections::BTreeMap::new();
    for case in Case::all() {
        let text = case.text();
        let (here, there) = (read_here(&text), read_by_rmcp(&text));
        if here == there {
            continue;
        }
        let explained = DIFFERENCES
            .iter()
            .position(|difference| (difference.is_one)(&case, here, there));
        match explained {
            Some(place) => counts[place] += 1,
            None => {
                let entry = unexplained
                    .entry(format!("{here:?} {there:?}"))
                    .or_insert((0, Vec::new()));
                entry.0 += 1;
                if entry.1.len() < 12 || entry.0 % 97 == 0 {
                    entry.1.push(text);
                }
            }
        }
    }
    assert!(unexplained.is_empty(), "{unexplained:#?}");
    for (difference, count) in DIFFERENCES.iter().zip(counts) {
        assert!(count > 0, "no longer: {}", difference.reason);
    }
}

/// Values of JSON as they may be written, with spaces and numbers that no float holds.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("1.10".to_owned()),
        Just("-0".to_owned()),
        Just("123456789012345678901234567890".to_owned()),
        Just("1E+2".to_owned()),
        "[ a-zé\\u{1F600}]{0,6}".prop_map(|text| Value::from(text).to_string()),
        Just(r#""\u00e9\/\n""#.to_owned()),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let space = "[ \t\n]{0,2}";
        prop_oneof![
            (prop::collection::vec(inner.clone(), 0..4), space).prop_map(|(items, space)| format!(
                "[{}{space}]",
                items.join(&format!("{space},"))
            )),
            (prop::collection::vec(inner, 0..4), space).prop_map(|(items, space)| {
                let members = items.iter().enumerate();
                let members = members.map(|(at, item)| format!("{space}\"m{at}\"{space}:{item}"));
                format!("{{{}{space}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    })
}

fn object() -> impl Strategy<Value = String> {
    json().prop_map(|json| format!("{{ \"x\" :{json}}}"))
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        "\\PC{0,8}".prop_map(|text| Value::from(text).to_string()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    /// Nothing but JSON is a message, and what is said of the rest is what JSON-RPC has for it.
    #[test]
    fn any_text_is_a_message_or_has_its_error(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let text = String::from_utf8_lossy(&bytes);
        if let Err(unreadable) = Message::read(&text, &MessageLimits::default()) {
            let expected = if is_json(&text) { INVALID_REQUEST } else { PARSE_ERROR };
            prop_assert_eq!(unreadable.error.code(), expected);
        }
    }

    /// The same of texts that are nearly messages.
    #[test]
    fn a_damaged_message_has_its_error(params in object(), at in any::<prop::sample::Index>(), by in any::<u8>()) {
        let mut bytes = request("7", "tools/call", Some(&params)).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = by;
        let text = String::from_utf8_lossy(&bytes);
        match Message::read(&text, &MessageLimits::default()) {
            Ok(_) => prop_assert!(serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok()),
            Err(unreadable) => {
                let expected = if is_json(&text) { INVALID_REQUEST } else { PARSE_ERROR };
                prop_assert_eq!(unreadable.error.code(), expected);
            }
        }
    }

    /// What is read of a message is the text that was written, in whichever order its members are,
    /// and rmcp takes it for the same.
    #[test]
    fn what_is_read_is_what_was_written(
        id in id(),
        method in "[a-z/]{1,12}",
        params in object(),
        is_first in any::<bool>(),
    ) {
        let (front, back) = match is_first {
            true => (format!("\"params\":{params},"), String::new()),
            false => (String::new(), format!(" ,\"params\" : {params}")),
        };
        let text = format!("{{{front}\"method\":\"{method}\",\"jsonrpc\":\"2.0\",\"id\":{id}{back}}}");
        let Ok(Message::Request { id: read, method: named, params: Some(given) }) =
            Message::read(&text, &MessageLimits::default())
        else {
            return Err(TestCaseError::fail(text));
        };
        prop_assert_eq!((read.as_str(), &*named, given), (&*id, &*method, &*params));
        prop_assert_eq!(read_by_rmcp(&text), Read::Request);

        let told = notification(&method, Some(&params));
        prop_assert_eq!(read_here(&told), Read::Notification);
        prop_assert_eq!(read_by_rmcp(&told), Read::Notification);
        let answer = response(&id, &params);
        let Ok(Message::Response { id: Some(read), outcome: Ok(result) }) =
            Message::read(&answer, &MessageLimits::default())
        else {
            return Err(TestCaseError::fail(answer));
        };
        prop_assert_eq!(read.as_str(), &*id);
        // It is on one line.
        prop_assert_eq!(result, dormouse_jsonrpc::on_one_line(&params));
        prop_assert_eq!(read_by_rmcp(&answer), Read::Response);
    }
}
