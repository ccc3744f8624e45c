//! Results in the form of their era.

use std::borrow::Cow;
use std::sync::LazyLock;

use dormouse_protocol::{Answer, Edit, Era};
use serde_json::{Map, Value, json};

use crate::mcp::messages::error_object::ErrorObject;
use crate::mcp::messages::request_context::RequestContext;
use crate::mcp::methods::self_description::server_info;

/// Member of `_meta` with the server that has answered.
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Description that this server gives of itself in every result of the stateless era.
static SERVER: LazyLock<String> =
    LazyLock::new(|| serde_json::to_string(&server_info()).unwrap_or_default());

/// Beginning of a list in the stateless era: complete, stale at once, and for this client only.
static STATELESS: LazyLock<String> = LazyLock::new(|| {
    let server = &*SERVER;
    format!(
        "{{\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\",\
         \"_meta\":{{\"{SERVER_INFO}\":{server}}},"
    )
});

/// Makes a list on one page, because many clients never ask for a second one.
///
/// # Errors
/// The client asks for another page.
pub(in crate::mcp) fn list(
    what: &str,
    params: &Map<String, Value>,
    context: &RequestContext<'_>,
    write: impl FnOnce(&mut String),
) -> Result<Answer, ErrorObject> {
    match params.get("cursor") {
        None | Some(Value::Null) => {}
        Some(cursor) => {
            return Err(ErrorObject::invalid_params(format!(
                "unknown cursor `{cursor}`: everything is on the first page"
            )));
        }
    }
    let mut text = String::from(match context.era() {
        Era::Stateless => &**STATELESS,
        Era::Handshake => "{",
    });
    text.push('"');
    text.push_str(what);
    text.push_str("\":");
    write(&mut text);
    text.push('}');
    Ok(Answer::Verbatim(text))
}

/// Returns a result in the form of its era.
pub(in crate::mcp) fn complete(result: Answer, era: Era) -> Answer {
    written(result, era, Vec::new)
}

/// Returns the result of a tool's call. Before the stateless era structured content is an object,
/// and clients that check a result against that would reject all of it.
pub(in crate::mcp) fn called(mut result: Answer, era: Era) -> Answer {
    const NAME: &str = "structuredContent";
    let odd = match &result {
        _ if era == Era::Stateless => None,
        Answer::Made(value) => {
            let content = value.get(NAME).filter(|content| !content.is_object());
            content.map(Value::to_string)
        }
        Answer::Verbatim(text) => {
            let content =
                dormouse_jsonrpc::member(text, NAME).filter(|text| !text.starts_with('{'));
            content.map(str::to_owned)
        }
    };
    if let Some(text) = odd {
        result.remove(NAME);
        // Whoever has put it into words already has done so better.
        let said = result.get("content");
        if said.is_none_or(|content| content.as_array().is_some_and(Vec::is_empty)) {
            result.remove("content");
            let block = json!({ "type": "text", "text": text });
            result.edit(&Edit {
                first: None,
                defaults: vec![("content", json!([block]))],
                within: None,
            });
        }
    }
    complete(result, era)
}

/// Returns the result of reading something, which in the stateless era has the time for which it
/// may be cached.
pub(in crate::mcp) fn read(result: Answer, era: Era) -> Answer {
    written(result, era, || {
        vec![("ttlMs", 0.into()), ("cacheScope", "private".into())]
    })
}

/// Returns the text of a member of a result. Beside it may be what no value can hold, such as `1e400`.
fn member_text<'r>(result: &'r Answer, name: &str) -> Option<Cow<'r, str>> {
    match result {
        Answer::Made(value) => value.get(name).map(|value| value.to_string().into()),
        Answer::Verbatim(text) => dormouse_jsonrpc::member(text, name).map(Cow::Borrowed),
    }
}

/// Checks whether a result names a server that has answered for which a condition holds, by the text of
/// its description.
fn says_server(result: &Answer, is_it: impl Fn(&str) -> bool) -> bool {
    let meta = member_text(result, "_meta");
    let said = meta
        .as_deref()
        .and_then(|meta| dormouse_jsonrpc::member(meta, SERVER_INFO));
    said.is_some_and(is_it)
}

/// Members that only results of the stateless era have.
const STATELESS_MEMBERS: [&str; 3] = ["resultType", "ttlMs", "cacheScope"];

/// Returns a result in the form of its era, with the given members in the stateless one.
fn written(
    mut result: Answer,
    era: Era,
    defaults: impl FnOnce() -> Vec<(&'static str, Value)>,
) -> Answer {
    let kind = result.get("resultType").map(Cow::into_owned);
    let is_complete = kind.as_ref().is_none_or(|kind| kind == "complete");
    if era == Era::Stateless && is_complete && kind.is_some() {
        result.remove("resultType");
    }
    // An adapter passes on what its upstream says in another era. A result that says nothing of
    // that era has members of these names for reasons of its own.
    if era == Era::Handshake && (says_server(&result, |_| true) || kind.is_some() && is_complete) {
        for name in STATELESS_MEMBERS {
            result.remove(name);
        }
        result.remove_within("_meta", SERVER_INFO);
    }
    if era == Era::Stateless {
        let mut defaults = if is_complete { defaults() } else { Vec::new() };
        // Dormouse has answered its client, whatever an upstream calls itself.
        if says_server(&result, |said| said != *SERVER) {
            result.remove_within("_meta", SERVER_INFO);
        }
        // An upstream does not know who else is served, nor by which rules.
        let scope = member_text(&result, "cacheScope");
        if scope.is_some_and(|scope| scope != r#""private""#) {
            result.remove("cacheScope");
            if defaults.iter().all(|(name, _)| *name != "cacheScope") {
                defaults.push(("cacheScope", "private".into()));
            }
        }
        result.edit(&Edit {
            // First, so that a reader of the stream knows what it reads.
            first: is_complete.then(|| ("resultType", "complete".into())),
            defaults,
            within: Some(("_meta", SERVER_INFO, &SERVER)),
        });
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(result: &Value) -> [Answer; 2] {
        [
            Answer::Made(result.clone()),
            Answer::Verbatim(result.to_string()),
        ]
    }

    fn text(answer: Answer) -> String {
        answer.into_value().unwrap().to_string()
    }

    /// Returns the member with the server that has answered, as it goes behind all others.
    fn server() -> String {
        format!(r#""_meta":{{"{SERVER_INFO}":{}}}"#, *SERVER)
    }

    #[test]
    fn results_say_what_their_era_says() {
        let server = server();
        for result in both(&json!({"content": [], "x-odd": 1})) {
            assert_eq!(
                text(complete(result.clone(), Era::Stateless)),
                format!(r#"{{"resultType":"complete","content":[],"x-odd":1,{server}}}"#)
            );
            assert_eq!(complete(result.clone(), Era::Handshake), result);
            assert_eq!(
                text(read(result.clone(), Era::Stateless)),
                format!(
                    r#"{{"resultType":"complete","content":[],"x-odd":1,"ttlMs":0,"cacheScope":"private",{server}}}"#
                )
            );
            assert_eq!(read(result.clone(), Era::Handshake), result);
        }
        // An adapter may pass on what its upstream says of another era.
        for modern in both(&json!({"content": [], "resultType": "complete", "ttlMs": 7})) {
            assert_eq!(
                text(complete(modern.clone(), Era::Stateless)),
                format!(r#"{{"resultType":"complete","content":[],"ttlMs":7,{server}}}"#)
            );
            assert_eq!(
                text(complete(modern.clone(), Era::Handshake)),
                r#"{"content":[]}"#
            );
            assert_eq!(
                text(read(modern, Era::Stateless)),
                format!(
                    r#"{{"resultType":"complete","content":[],"ttlMs":7,"cacheScope":"private",{server}}}"#
                )
            );
        }
    }

    #[test]
    fn before_the_stateless_era_results_say_nothing_of_it() {
        let meta = json!({SERVER_INFO: {"name": "a", "version": "1"}, "x": 1.5});
        for (result, expected) in [
            (
                json!({"content": [], "ttlMs": 7, "cacheScope": "public", "_meta": meta}),
                json!({"content": [], "_meta": {"x": 1.5}}),
            ),
            (
                json!({"resultType": "complete", "_meta": {SERVER_INFO: {}}, "contents": []}),
                json!({"contents": []}),
            ),
            // Members of one's own of these names.
            (
                json!({"content": [], "ttlMs": 7, "_meta": {"x": 1}}),
                json!({"content": [], "ttlMs": 7, "_meta": {"x": 1}}),
            ),
        ] {
            for result in both(&result) {
                assert_eq!(text(read(result, Era::Handshake)), expected.to_string());
            }
        }
    }

    #[test]
    fn whoever_has_answered_says_so_once() {
        let own = json!({"content": [], "_meta": {SERVER_INFO: {"name": "a", "version": "1"}}});
        for result in both(&own) {
            assert_eq!(
                text(complete(result.clone(), Era::Stateless)),
                format!(r#"{{"resultType":"complete","content":[],{}}}"#, server())
            );
            assert_eq!(complete(result, Era::Handshake).get("_meta"), None);
        }
        // Nor does what no value can hold hide another one.
        let odd = format!(r#"{{"_meta":{{"{SERVER_INFO}":{{"name":"a"}},"x":1e400}}}}"#);
        let stateless = complete(Answer::Verbatim(odd), Era::Stateless).into_text();
        assert!(
            stateless.contains("1e400") && !stateless.contains(r#""name":"a""#),
            "{stateless}"
        );
        for result in both(&json!({"_meta": {"x": 1.5}, "content": []})) {
            assert_eq!(
                text(complete(result.clone(), Era::Stateless)),
                format!(
                    r#"{{"resultType":"complete","_meta":{{"x":1.5,"{SERVER_INFO}":{}}},"content":[]}}"#,
                    *SERVER
                )
            );
            assert_eq!(complete(result.clone(), Era::Handshake), result);
        }
        // A question has been asked by this server, too, and keeps its own type.
        let asked = json!({"resultType": "input_required", "requestState": "x"});
        for asked in both(&asked) {
            assert_eq!(
                text(read(asked, Era::Stateless)),
                format!(
                    r#"{{"resultType":"input_required","requestState":"x",{}}}"#,
                    server()
                )
            );
        }
    }

    /// What is for one client of a host is for no other, whatever an upstream says.
    #[test]
    fn no_upstream_has_a_result_kept_for_all() {
        for scope in [json!("public"), json!("Public"), json!(7), json!(null)] {
            for result in both(&json!({"content": [], "cacheScope": scope})) {
                for form in [complete, read, called] {
                    let stateless = form(result.clone(), Era::Stateless);
                    let scope = stateless.get("cacheScope");
                    assert_eq!(scope.as_deref(), Some(&json!("private")), "{result:?}");
                }
            }
        }
    }

    #[test]
    fn structured_content_is_an_object_before_the_stateless_era() {
        let words = json!([{ "type": "text", "text": "words" }]);
        for (result, legacy) in [
            (
                r#"{"content":[],"structuredContent":[1.10],"x":1}"#,
                r#"{"x":1,"content":[{"type":"text","text":"[1.10]"}]}"#,
            ),
            (
                r#"{"structuredContent":"a"}"#,
                r#"{"content":[{"type":"text","text":"\"a\""}]}"#,
            ),
            (
                &format!(r#"{{"content":{words},"structuredContent":null}}"#),
                &format!(r#"{{"content":{words}}}"#),
            ),
        ] {
            let verbatim = || Answer::Verbatim(result.to_owned());
            assert_eq!(called(verbatim(), Era::Handshake).into_text(), legacy);
            let modern = called(verbatim(), Era::Stateless);
            assert_eq!(
                modern.get("structuredContent"),
                verbatim().get("structuredContent")
            );
            let made = Answer::Made(verbatim().into_value().unwrap());
            let made = called(made, Era::Handshake).into_value().unwrap();
            assert!(made.get("structuredContent").is_none(), "{made}");
            assert_ne!(made["content"], json!([]));
        }
        for fine in both(&json!({"content": [], "structuredContent": {"a": [1]}})) {
            assert_eq!(called(fine.clone(), Era::Handshake), fine);
        }
    }
}
