//! The interfaces of the contract, each over one method of MCP.

use serde_json::{Map, Value, json};

use bindings::dormouse::plugin::upstream::{UpstreamError, request};
use bindings::exports::dormouse::plugin::completion::{Completions, Reference};
use bindings::exports::dormouse::plugin::resources::ReadError;
use bindings::exports::dormouse::plugin::{adapter, completion, prompts, resources};

mod bindings {
    #![allow(
        missing_docs,
        unreachable_pub,
        unsafe_code,
        clippy::all,
        clippy::restriction,
        reason = "generated"
    )]

    wit_bindgen::generate!({ path: "../../wit/plugin", world: "bridge" });

    export!(Bridge);
    use super::Bridge;
}

struct Bridge;

impl adapter::Guest for Bridge {
    fn call_tool(name: String, arguments: String) -> Result<String, String> {
        request("tools/call", &named(&name, &arguments)).map_err(text)
    }
}

impl prompts::Guest for Bridge {
    fn get_prompt(name: String, arguments: String) -> Result<String, String> {
        request("prompts/get", &named(&name, &arguments)).map_err(text)
    }
}

impl resources::Guest for Bridge {
    fn read_resource(uri: String) -> Result<String, ReadError> {
        let params = json!({ "uri": uri }).to_string();
        request("resources/read", &params).map_err(|error| ReadError::Failed(text(error)))
    }
}

impl completion::Guest for Bridge {
    fn complete(
        of: Reference,
        argument: String,
        value: String,
        context: Vec<(String, String)>,
    ) -> Result<Completions, String> {
        let of = match of {
            Reference::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
            Reference::Template(uri) => json!({ "type": "ref/resource", "uri": uri }),
        };
        let mut params = json!({ "ref": of, "argument": { "name": argument, "value": value } });
        if let (false, Some(members)) = (context.is_empty(), params.as_object_mut()) {
            let known: Map<_, _> = context
                .into_iter()
                .map(|(name, value)| (name, Value::from(value)))
                .collect();
            members.insert("context".into(), json!({ "arguments": known }));
        }
        let answer = request("completion/complete", &params.to_string()).map_err(text)?;
        completions(&answer).ok_or_else(|| "the upstream's answer is no completion".to_owned())
    }
}

/// Returns the parameters of a request by name. Arguments stay the text that they are: a number may
/// have more digits than any type here.
fn named(name: &str, arguments: &str) -> String {
    format!(
        "{{\"name\":{},\"arguments\":{arguments}}}",
        Value::from(name)
    )
}

fn completions(answer: &str) -> Option<Completions> {
    let answer: Value = serde_json::from_str(answer).ok()?;
    let completion = answer.get("completion")?;
    let values = completion.get("values")?.as_array()?.iter();
    let total = completion.get("total").and_then(Value::as_u64);
    Some(Completions {
        values: values
            .filter_map(|value| value.as_str().map(str::to_owned))
            .collect(),
        total: total.and_then(|total| u32::try_from(total).ok()),
        has_more: completion.get("hasMore").and_then(Value::as_bool) == Some(true),
    })
}

/// Returns the text of an error, by which the host knows the error and passes on its other members.
fn text(error: UpstreamError) -> String {
    match error {
        UpstreamError::Refused(refusal) => refusal.message,
        UpstreamError::Failed(why) => why,
    }
}
