//! Requests to an upstream that a component in front of it has written.

use std::borrow::Cow;
use std::collections::HashSet;

use dormouse_jsonrpc::Object;
use dormouse_text::visible::short_name;

use super::large::without_blocking;
use crate::Failure;

/// Methods by which an upstream is asked for what it offers, each with the members of its parameters
/// besides `_meta`. All others are about the connection, which is the host's and others' as well: who is
/// there, what they can be asked and told, and what is followed.
const METHODS: [(&str, &[&str]); 8] = [
    ("completion/complete", &["ref", "argument", "context"]),
    ("prompts/get", &["name", "arguments"]),
    ("prompts/list", &["cursor"]),
    ("resources/list", &["cursor"]),
    ("resources/read", &["uri"]),
    ("resources/templates/list", &["cursor"]),
    ("tools/call", &["name", "arguments"]),
    ("tools/list", &["cursor"]),
];

const META: &str = "_meta";

/// Longest name of a tool or a prompt that a component may ask for, in bytes: all rules are held against
/// it, each by several spellings.
const MAX_NAME_BYTES: usize = 4096;

/// Longest name in `_meta` that a component may write, in bytes.
const MAX_META_NAME_BYTES: usize = 512;

/// Request to an upstream that a component in front of it has written. It asks for what the upstream
/// offers, and says nothing in the place of the host or of its user: neither who asks, nor what was
/// answered to the upstream's questions.
#[derive(Debug, Clone)]
pub struct ForwardedRequest<'a> {
    pub(crate) method: &'static str,
    /// Name of the tool or prompt that it is for.
    pub(crate) name: Option<String>,
    /// Parameters: the text of a JSON object.
    pub(crate) params: &'a str,
    arguments: Option<Cow<'a, str>>,
}

impl<'a> ForwardedRequest<'a> {
    /// Reads a request. `params` is to be the text of a JSON object.
    ///
    /// # Errors
    /// It is for the host to ask that, or to say a part of it; or the parameters are not what each
    /// reader takes for the same.
    pub fn read(method: &str, params: &'a str) -> Result<Self, Failure> {
        without_blocking(params.len(), || Self::parse(method, params)).map_err(Failure::Barred)
    }

    fn parse(method: &str, params: &'a str) -> Result<Self, String> {
        let known = METHODS.iter().find(|(known, _)| *known == method);
        let (method, members) = *known.ok_or_else(|| {
            format!(
                "its component may not ask an upstream for `{}`: the connection is the host's, and \
                 others may use it\nhint: a component may ask for {}",
                short_name(method),
                quoted(METHODS.iter().map(|(method, _)| *method)),
            )
        })?;
        // Nothing else of them is made to values, which take many times the memory of their text.
        let object = Object::read(params)
            .map_err(|error| format!("the parameters of `{method}` are no JSON object: {error}"))?;
        // So that all readers find the same: some ignore the letter case of names, some leave out what is
        // no Unicode, and of several members some take the first.
        let mut seen = HashSet::new();
        for member in object.iter() {
            let is_known = member.name == META || members.contains(&&*member.name);
            if !is_known || !seen.insert(&*member.name) {
                let times = if is_known { " twice" } else { "" };
                return Err(format!(
                    "its component may not write `{}` into the parameters of `{method}`{times}: who \
                     asks, and what was answered to an upstream's questions, is for the host to say\n\
                     hint: they may have {}, each once",
                    short_name(&member.name),
                    quoted(members.iter().copied().chain([META])),
                ));
            }
        }
        if let Some(meta) = object.get(META) {
            check_meta(method, meta)?;
        }
        let name = match members.contains(&"name") {
            true => Some(object.string("name").ok_or_else(|| {
                format!("the `name` in the parameters of `{method}` is missing or no text")
            })?),
            false => None,
        };
        if let Some(name) = name.as_deref().filter(|name| name.len() > MAX_NAME_BYTES) {
            return Err(format!(
                "the `name` `{}` in the parameters of `{method}` has more than {MAX_NAME_BYTES} bytes",
                short_name(name)
            ));
        }
        let mut members = object.iter();
        let arguments = members.find(|member| member.name == "arguments");
        let arguments = arguments.map(|member| member.value.clone());
        if arguments
            .as_ref()
            .is_some_and(|arguments| !arguments.trim_start().starts_with('{'))
        {
            return Err(format!(
                "the `arguments` of `{method}` are no JSON object\nhint: leave them out where there are none"
            ));
        }
        Ok(Self {
            method,
            name,
            params,
            arguments,
        })
    }

    /// Returns the name of the tool that it calls, and the arguments as JSON text; none where it calls
    /// no tool.
    #[must_use]
    pub fn called_tool(&self) -> Option<(&str, &str)> {
        let name = self
            .name
            .as_deref()
            .filter(|_| self.method == "tools/call")?;
        Some((name, self.arguments.as_deref().unwrap_or("{}")))
    }
}

/// Checks that nothing in the `_meta` of a request is for the host to say.
fn check_meta(method: &str, meta: &str) -> Result<(), String> {
    let meta = Object::read(meta)
        .map_err(|error| format!("the `{META}` of `{method}` is no JSON object: {error}"))?;
    // So that all readers find the same here, too.
    let mut seen = HashSet::new();
    for member in meta.iter() {
        let is_long = member.name.len() > MAX_META_NAME_BYTES;
        let name = match is_long {
            true => String::new(),
            false => member.name.to_ascii_lowercase(),
        };
        // What has an escape still is no Unicode, and some leave that out.
        let is_of_host = name == "progresstoken" || is_reserved(&name) || name.contains('\\');
        let why = match (is_long, is_of_host) {
            (true, _) => format!("a name of more than {MAX_META_NAME_BYTES} bytes"),
            (_, true) => "that is for the host to say".to_owned(),
            _ if !seen.insert(name) => "it is there twice".to_owned(),
            _ => continue,
        };
        return Err(format!(
            "its component may not write `{}` into the `{META}` of `{method}`: {why}",
            short_name(&member.name)
        ));
    }
    Ok(())
}

/// Whether any revision of MCP reserves a name of `_meta`, which is in lower case, by its prefix: by the
/// second label in it, or by one that another follows.
fn is_reserved(name: &str) -> bool {
    let prefix = name.split_once('/').map_or("", |(prefix, _)| prefix);
    let mut labels = prefix.split('.').enumerate().peekable();
    while let Some((place, label)) = labels.next() {
        let is_followed = labels.peek().is_some();
        if matches!(label, "modelcontextprotocol" | "mcp") && (place == 1 || is_followed) {
            return true;
        }
    }
    false
}

/// Returns names in backticks, with commas between them.
fn quoted<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(method: &str, params: &str) -> String {
        match ForwardedRequest::read(method, params) {
            Err(Failure::Barred(why)) => why,
            other => panic!("{method} {params}: {other:?}"),
        }
    }

    /// A second `initialize` over a connection that others use would have the upstream ask nobody.
    #[test]
    fn a_component_asks_for_what_an_upstream_offers_and_for_nothing_else() {
        let name = r#"{"name":"x"}"#;
        for (method, params) in [
            (
                "completion/complete",
                r#"{"ref":{},"argument":{},"context":{}}"#,
            ),
            ("prompts/get", name),
            ("prompts/list", "{}"),
            ("resources/list", r#"{"cursor":"2"}"#),
            ("resources/read", r#"{"uri":"a://b"}"#),
            ("resources/templates/list", "{}"),
            ("tools/call", name),
            ("tools/list", "{}"),
        ] {
            let read = ForwardedRequest::read(method, params).unwrap();
            assert_eq!((read.method, read.params), (method, params));
        }
        for method in [
            "initialize",
            "server/discover",
            "ping",
            "logging/setLevel",
            "notifications/cancelled",
            "notifications/initialized",
            "resources/subscribe",
            "resources/unsubscribe",
            "subscriptions/listen",
            "tasks/cancel",
            "tasks/result",
            "elicitation/create",
            "Tools/Call",
            "tools/call\n",
            "",
        ] {
            let why = refused(method, name);
            for part in ["may not ask", "hint: ", "`tools/call`"] {
                assert!(why.contains(part), "{method}: no `{part}` in {why}");
            }
        }
    }

    /// What an upstream's questions were answered is in the parameters of the stateless era.
    #[test]
    fn a_component_says_nothing_in_the_place_of_its_user_or_of_the_host() {
        for member in [
            "inputResponses",
            "InputResponses",
            r"inputRespons\u0065s",
            "requestState",
            "task",
            "uri",
            "cursor",
            "name",
            "NAME",
            r"n\u0061me",
            r"name\u0000",
            r"na\udc00me",
            "_Meta",
            r"_meta\ud800",
            "arguments",
            "_meta",
        ] {
            let params = format!(r#"{{"name":"x","arguments":{{}},"_meta":{{}},"{member}":{{}}}}"#);
            let why = refused("tools/call", &params);
            assert!(why.contains("may not write"), "{member}: {why}");
            assert!(
                why.contains("hint: they may have `name`, `arguments`"),
                "{why}"
            );
        }
        for member in [
            "progressToken",
            "io.modelcontextprotocol/clientCapabilities",
            r"io.modelcontextprotocol\/clientInfo",
            "IO.modelcontextprotocol/logLevel",
            "io.modelcontextprotocol/related-task",
            "io.modelcontextprotocol.x/y",
            "modelcontextprotocol.io/y",
            "dev.mcp/y",
            "tools.mcp.com/y",
            r"a\udfff",
        ] {
            let params = format!(
                r#"{{"uri":"x","_meta":{{"own/key":1,"com.example.mcp/key":1,"{member}":1}}}}"#
            );
            let why = refused("resources/read", &params);
            assert!(why.contains("is for the host to say"), "{member}: {why}");
        }
        for (params, why) in [
            ("[]", "no JSON object"),
            (
                r#"{"name":"x","_meta":7}"#,
                "`_meta` of `tools/call` is no JSON object",
            ),
            (
                r#"{"name":"x","arguments":[1]}"#,
                "`arguments` of `tools/call` are no JSON object",
            ),
            (r#"{"name":"x","arguments":null}"#, "\nhint: leave them out"),
            ("{}", "is missing or no text"),
            (r#"{"name":["send"]}"#, "is missing or no text"),
            (r#"{"name":"send\ud800"}"#, "is missing or no text"),
        ] {
            let refused = refused("tools/call", params);
            assert!(refused.contains(why), "{params}: {refused}");
        }
    }

    /// A name with as many labels as bytes took many times its length in memory.
    #[test]
    fn names_are_short_and_those_in_the_meta_there_once() {
        let named = |bytes: usize| format!(r#"{{"name":"{}"}}"#, "x".repeat(bytes));
        let fits = named(MAX_NAME_BYTES);
        assert!(ForwardedRequest::read("tools/call", &fits).is_ok());
        let refused_name = refused("prompts/get", &named(MAX_NAME_BYTES + 1));
        assert!(
            refused_name.contains("more than 4096 bytes"),
            "{refused_name}"
        );
        let fits = format!("{}/a", ".".repeat(MAX_META_NAME_BYTES - 2));
        let meta = |names: &str| format!(r#"{{"name":"x","_meta":{{{names}}}}}"#);
        let params = meta(&format!(r#""{fits}":1,"own/key":1"#));
        assert!(ForwardedRequest::read("tools/call", &params).is_ok());
        for (names, why) in [
            (format!(r#"".{fits}":1"#), "a name of more than 512 bytes"),
            (r#""own/key":1,"own/Key":2"#.to_owned(), "it is there twice"),
        ] {
            let refused = refused("tools/call", &meta(&names));
            assert!(refused.contains(why), "{refused}");
            assert!(refused.len() < 300, "{refused}");
        }
    }

    #[test]
    fn a_called_tool_is_known_with_its_arguments() {
        let called = |method: &str, params: &str| {
            let read = ForwardedRequest::read(method, params).unwrap();
            let called = read.called_tool();
            called.map(|(tool, arguments)| (tool.to_owned(), arguments.to_owned()))
        };
        let params = r#"{"na\u006de":"x","arguments":{"a":1.10},"_meta":{"own/key":1}}"#;
        let tool = Some(("x".to_owned(), r#"{"a":1.10}"#.to_owned()));
        assert_eq!(called("tools/call", params), tool);
        assert_eq!(called("prompts/get", params), None);
        let tool = Some(("x".to_owned(), "{}".to_owned()));
        assert_eq!(called("tools/call", r#"{"name":"x"}"#), tool);
    }
}
