//! Requests that go to plugins.

use std::collections::{BTreeMap, HashMap};

use dormouse_protocol::{Answer, ClientKey};
use dormouse_runtime::Arguments;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use crate::mcp::messages::client_request::Original;
use crate::mcp::messages::error_object::ErrorObject;

/// A request that a plugin has to answer, and the parts by which it is told from others.
pub(in crate::mcp) struct PluginRequest {
    /// Method of MCP.
    pub(in crate::mcp) method: &'static str,
    /// Name or URI, as the agent has it.
    pub(in crate::mcp) key: String,
    /// Server that the request goes to.
    pub(in crate::mcp) server: String,
    pub(in crate::mcp) arguments: Arguments,
}

/// Parts of a request that goes on with an earlier one.
#[derive(Debug, Default)]
pub(in crate::mcp) struct Continuation {
    pub(in crate::mcp) state: Option<String>,
    /// Answers to questions, by question id.
    pub(in crate::mcp) responses: HashMap<String, Answer>,
}

impl PluginRequest {
    /// Checks whether a plugin may ask its agent something meanwhile. MCP does not allow it for
    /// completions.
    pub(in crate::mcp) fn may_ask(&self) -> bool {
        self.method != "completion/complete"
    }

    /// Returns the hash that a `requestState` is bound to: of the request, of the client that it is
    /// from, and of the profile that the client has named.
    pub(in crate::mcp) fn binding(&self, client: &ClientKey, profile: Option<&str>) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        let (number, name) = match client {
            ClientKey::Session(session) => (Some(session.0), ""),
            ClientKey::Name(name) => (None, name.as_str()),
        };
        // No profile is not one without a name.
        hasher.update(&[u8::from(number.is_some()), u8::from(profile.is_some())]);
        hasher.update(&number.unwrap_or_default().to_le_bytes());
        let profile = profile.unwrap_or_default();
        for part in [name, profile, self.method, &self.key, &self.server] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        // Writing a `Value` into a hash cannot fail.
        let _ = serde_json::to_writer(&mut hasher, &sorted(&self.arguments.values));
        *hasher.finalize().as_bytes()
    }
}

/// Serializes a value with sorted members: a client may write them in another order the next time.
struct Sorted<'a>(&'a Value);

fn sorted(members: &Map<String, Value>) -> BTreeMap<&str, Sorted<'_>> {
    let members = members.iter();
    members
        .map(|(name, value)| (name.as_str(), Sorted(value)))
        .collect()
}

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(members) => sorted(members).serialize(serializer),
            Value::Array(items) => serializer.collect_seq(items.iter().map(Sorted)),
            value => value.serialize(serializer),
        }
    }
}

/// Parameters of a request for something by its name.
#[derive(Debug)]
pub(in crate::mcp) struct NamedParams {
    pub(in crate::mcp) name: String,
    pub(in crate::mcp) arguments: Arguments,
    pub(in crate::mcp) continued: Continuation,
}

impl NamedParams {
    /// Reads the parameters of `method`, which asks for a `what`.
    ///
    /// # Errors
    /// The parameters are not those of MCP.
    pub(in crate::mcp) fn take(
        mut params: Map<String, Value>,
        original: &Original,
        method: &str,
        what: &str,
    ) -> Result<Self, ErrorObject> {
        let refuse = |message: String| Err(ErrorObject::invalid_params(message));
        let name = match params.remove("name") {
            Some(Value::String(name)) => name,
            Some(other) => return refuse(format!("`name` has to be a string, not `{other}`")),
            None => return refuse(format!("`{method}` needs the `name` of a {what}")),
        };
        let continued = Continuation::take(&mut params, original)?;
        let arguments = match params.remove("arguments") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(arguments)) => arguments,
            Some(other) => {
                let kind = match other {
                    Value::Array(_) => "an array",
                    Value::String(_) => "a string",
                    Value::Number(_) => "a number",
                    _ => "a boolean",
                };
                return refuse(format!(
                    "`arguments` of {what} `{name}` have to be an object, not {kind}"
                ));
            }
        };
        Ok(Self {
            name,
            arguments: arguments.into(),
            continued,
        })
    }
}

impl Continuation {
    /// Removes the parts that go on with an earlier request from a request's parameters.
    ///
    /// # Errors
    /// The parts are not those of MCP.
    pub(in crate::mcp) fn take(
        params: &mut Map<String, Value>,
        original: &Original,
    ) -> Result<Self, ErrorObject> {
        let state = match params.remove("requestState") {
            None | Some(Value::Null) => None,
            Some(Value::String(state)) => Some(state),
            Some(other) => {
                let why = format!("`requestState` has to be a string, not `{other}`");
                return Err(ErrorObject::invalid_params(why));
            }
        };
        let responses = match params.remove("inputResponses") {
            None | Some(Value::Null) => HashMap::new(),
            Some(Value::Object(responses)) => as_written(responses, original),
            Some(other) => {
                let why = format!("`inputResponses` have to be an object, not `{other}`");
                return Err(ErrorObject::invalid_params(why));
            }
        };
        Ok(Self { state, responses })
    }
}

/// Returns answers as their client has written them.
fn as_written(responses: Map<String, Value>, original: &Original) -> HashMap<String, Answer> {
    let written = original.object("inputResponses");
    let responses = responses.into_iter().map(|(id, value)| {
        let text = written
            .as_ref()
            .and_then(|all| dormouse_jsonrpc::member(all.get(), &id));
        let answer = text.and_then(|text| Answer::read(text.to_owned()).ok());
        (id, answer.unwrap_or(Answer::Made(value)))
    });
    responses.collect()
}

#[cfg(test)]
mod tests {
    use dormouse_protocol::SessionId;
    use serde_json::json;

    use super::*;

    fn named(client: &str) -> ClientKey {
        ClientKey::Name(client.to_owned())
    }

    #[test]
    fn a_request_of_another_client_or_profile_is_another_one() {
        let order = PluginRequest {
            method: "tools/call",
            key: "t".into(),
            server: "s".into(),
            arguments: Map::new().into(),
        };
        let clients = [
            named("c"),
            named("d"),
            named(""),
            ClientKey::Session(SessionId(0)),
            ClientKey::Session(SessionId(1)),
        ];
        let mut all = std::collections::BTreeSet::new();
        for client in &clients {
            for profile in [None, Some(""), Some("c"), Some("work")] {
                let binding = order.binding(client, profile);
                assert_eq!(binding, order.binding(client, profile));
                assert!(all.insert(binding), "{client:?}, {profile:?}");
            }
        }
    }

    #[test]
    fn a_request_is_the_same_in_another_order() {
        let binding = |key: &str, arguments: &str| {
            let order = PluginRequest {
                method: "tools/call",
                key: key.into(),
                server: "s".into(),
                arguments: serde_json::from_str::<Map<_, _>>(arguments).unwrap().into(),
            };
            order.binding(&named("c"), None)
        };
        let one = binding("t", r#"{"a":[{"x":1,"y":null}],"b":{"c":"d","e":2.5}}"#);
        let same = r#"{"b":{"e":2.5,"c":"d"},"a":[{"y":null,"x":1}]}"#;
        assert_eq!(binding("t", same), one);
        assert_ne!(binding("u", same), one);
        for other in [
            r#"{"a":[{"x":1,"y":null}],"b":{"c":"e","d":2.5}}"#,
            r#"{"a":{"x":1,"y":null},"b":{"c":"d","e":2.5}}"#,
            "{}",
        ] {
            assert_ne!(binding("t", other), one, "{other}");
        }
    }

    #[test]
    fn arguments_are_an_object_or_none() {
        let take = |params: Value| {
            let params = params.as_object().unwrap().clone();
            NamedParams::take(params, &Original::default(), "tools/call", "tool")
        };
        let named = take(json!({"name": "t"})).unwrap();
        assert_eq!(
            (named.name.as_str(), named.arguments.values.len()),
            ("t", 0)
        );
        assert!(take(json!({"name": "t", "arguments": null})).is_ok());
        for bad in [
            json!({"name": "t", "arguments": []}),
            json!({"name": "t", "arguments": "{}"}),
            json!({"name": "t", "arguments": 1}),
            json!({"name": 1}),
            json!({}),
        ] {
            assert_eq!(take(bad).unwrap_err().code.0, -32602);
        }
    }
}
