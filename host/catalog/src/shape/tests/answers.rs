//! Answers of plugins.

use super::*;

#[test]
fn answers_are_what_clients_can_read() {
    for fine in [
        r#"{"content":[]}"#,
        r#"{ "content" : [{"type":"text","text":"x","_meta":{"a":1.10},"annotations":{"priority":0.50}}],"n":1.10,"isError":false,"resultType":"complete"}"#,
        r#"{"content":[{"type":"image","data":"","mimeType":"a/b"},{"type":"audio","data":"","mimeType":"a/b"}]}"#,
        r#"{"content":[{"type":"resource_link","uri":"a:b","name":"n","size":3}],"structuredContent":7}"#,
        r#"{"content":[{"type":"resource","resource":{"uri":"a:b","text":"x"}},{"type":"resource","resource":{"uri":"a:b","blob":""}}]}"#,
    ] {
        assert_eq!(answer(What::Tool, fine), Ok((None, vec![])), "{fine}");
    }
    for (text, completed) in [
        ("{}", r#"{"content":[]}"#),
        (r#"{"content":null}"#, r#"{"content":[]}"#),
        (r#"{"isError":true}"#, r#"{"isError":true,"content":[]}"#),
        (
            r#"{"structuredContent":{"a":1.10}}"#,
            r#"{"structuredContent":{"a":1.10},"content":[{"type":"text","text":"{\"a\":1.10}"}]}"#,
        ),
    ] {
        assert_eq!(
            answer(What::Tool, text),
            Ok((Some(completed.to_owned()), vec![]))
        );
    }
    // Whoever has written it: clients hang up on the half of a character, wherever it is.
    let half = r#"{"content":[],"structuredContent":{"\udc00":"\ud800"},"_meta":{"x":["\uDFFF"]}}"#;
    let whole =
        r#"{"content":[],"structuredContent":{"\ufffd":"\ufffd"},"_meta":{"x":["\ufffd"]}}"#;
    let answered = answer(What::Tool, half).unwrap();
    assert_eq!(answered, (Some(whole.to_owned()), vec![]));
    for (number, why) in [
        ("7".repeat(5000), "more digits"),
        (format!("0.{}", "7".repeat(5000)), "more digits"),
        ("1e999".to_owned(), "greater"),
        ("-1e400".to_owned(), "greater"),
    ] {
        for what in [What::Tool, What::Prompt, What::Resource] {
            let long = format!(r#"{{"content":[],"_meta":{{"x":{number}}}}}"#);
            let told = answer(what, &long).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    }
    let (mended, why) = answer(
        What::Tool,
        r#"{"content":[{"type":"text","text":"x","annotations":{"priority":7}}]}"#,
    )
    .unwrap();
    assert_eq!(
        mended.unwrap(),
        r#"{"content":[{"type":"text","text":"x","annotations":{}}]}"#
    );
    assert_eq!(why, ["`content[0].annotations.priority` is `7`"]);
    for (bad, why) in [
        (r#"{"content":"x"}"#, "`content` is `\"x\"`"),
        (r#"{"content":{}}"#, "`content` is `{}`"),
        (r#"{"content":[null]}"#, "`content[0]` is `null`"),
        (
            r#"{"content":[{"text":"x"}]}"#,
            "`content[0]` has no `type`",
        ),
        (
            r#"{"content":[{"type":"bogus"}]}"#,
            "`content[0].type` is `\"bogus\"`",
        ),
        (
            r#"{"content":[{"type":"text"}]}"#,
            "`content[0]` has no `text`",
        ),
        (
            r#"{"content":[{"type":"text","text":7}]}"#,
            "`content[0].text` is `7`",
        ),
        (
            r#"{"content":[{"type":"image","data":""}]}"#,
            "has no `mimeType`",
        ),
        (
            r#"{"content":[{"type":"resource","resource":{"uri":"a:b"}}]}"#,
            "has no `text`",
        ),
        (r#"{"content":[{"type":"resource"}]}"#, "has no `resource`"),
        (
            r#"{"content":[],"isError":"yes"}"#,
            "`isError` is `\"yes\"`",
        ),
        (
            r#"{"content":[],"resultType":"input_required"}"#,
            "`resultType` is",
        ),
        (r#"{"content":[],"resultType":7}"#, "`resultType` is `7`"),
    ] {
        let told = answer(What::Tool, bad).unwrap_err();
        assert!(told.contains(why), "{bad}: {told}");
    }
}

#[test]
fn prompts_and_resources_are_answered_with_messages_and_contents() {
    use What::{Prompt, Resource, Template};
    for (what, fine) in [
        (Prompt, r#"{"messages":[]}"#),
        (
            Prompt,
            r#"{"description":"d","messages":[{"role":"assistant","content":{"type":"text","text":"x"}}],"isError":7}"#,
        ),
        (Resource, r#"{"contents":[{"uri":"a:b","text":""}]}"#),
        (
            Template,
            r#"{"contents":[{"uri":"a:b","blob":"","mimeType":"x"}],"x-odd":1.10}"#,
        ),
    ] {
        assert_eq!(answer(what, fine), Ok((None, vec![])), "{fine}");
    }
    let odd = r#"{"description":7,"messages":[]}"#;
    let (mended, told) = answer(Prompt, odd).unwrap();
    assert_eq!(mended.as_deref(), Some(r#"{"messages":[]}"#));
    assert_eq!(told.len(), 1, "{told:?}");
    for (what, bad, named) in [
        (Prompt, "{}", "messages"),
        (Prompt, r#"{"messages":{}}"#, "messages"),
        (
            Prompt,
            r#"{"messages":[{"role":"system","content":{"type":"text","text":"x"}}]}"#,
            "role",
        ),
        (
            Prompt,
            r#"{"messages":[{"role":"user","content":[]}]}"#,
            "content",
        ),
        (
            Prompt,
            r#"{"messages":[],"resultType":"input_required"}"#,
            "resultType",
        ),
        (Resource, r#"{"content":[]}"#, "contents"),
        (Resource, r#"{"contents":[{"text":"x"}]}"#, "uri"),
        (Template, r#"{"contents":[{"uri":"a:b"}]}"#, "text"),
    ] {
        let why = answer(what, bad).unwrap_err();
        assert!(why.contains(named), "{bad}: {why}");
    }
}
