//! Completions: requests for them, and their results as MCP has them.

use dormouse_protocol::Answer;
use serde_json::{Value, json};
use wasmtime::component::Val;

use super::result::refused;
use crate::error::Cause;

/// A text that a user has begun to type.
#[derive(Debug)]
pub struct Completion {
    /// The prompt or template that it is an argument of.
    pub of: Reference,
    /// The argument's name.
    pub argument: String,
    /// Text typed so far.
    pub value: String,
    /// Names and values of other arguments.
    pub context: Vec<(String, String)>,
}

/// Item that an argument belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reference {
    /// A prompt, by its own name.
    Prompt(String),
    /// A resource template.
    Template(String),
}

impl Completion {
    pub(super) fn params(&self) -> Vec<Val> {
        let text = |text: &str| Val::String(text.to_owned());
        let (case, name) = match &self.of {
            Reference::Prompt(name) => ("prompt", name),
            Reference::Template(uri) => ("template", uri),
        };
        let context = self.context.iter();
        let context = context.map(|(name, value)| Val::Tuple(vec![text(name), text(value)]));
        vec![
            Val::Variant(case.into(), Some(Box::new(text(name)))),
            text(&self.argument),
            text(&self.value),
            Val::List(context.collect()),
        ]
    }
}

/// Most values of a completion (MCP, completion).
const COMPLETIONS: usize = 100;

/// Returns an MCP `CompleteResult` of these values, cut to the most that it may have.
#[must_use]
pub fn completion(mut values: Vec<String>, total: Option<usize>, more: bool) -> Value {
    let more = more || values.len() > COMPLETIONS;
    values.truncate(COMPLETIONS);
    let mut completion = json!({ "values": values, "hasMore": more });
    if let (Some(total), Some(members)) = (total, completion.as_object_mut()) {
        members.insert("total".into(), total.into());
    }
    json!({ "completion": completion })
}

/// Returns a completion: in the upstream's own words if the plugin passes it on unchanged, as the
/// contract has no room for all members that MCP has there.
pub(super) fn completion_of(
    value: Option<&Val>,
    completed: Option<String>,
) -> Result<Answer, Cause> {
    let made = made(value)?;
    let passed_on = |text: &String| {
        let said = dormouse_jsonrpc::member(text, "completion").unwrap_or_default();
        let part = |name| serde_json::from_str::<Value>(dormouse_jsonrpc::member(said, name)?).ok();
        let values = part("values");
        let values = values.as_ref().and_then(Value::as_array).into_iter();
        let values = values.flatten().filter_map(Value::as_str);
        let total = part("total").and_then(|total| u32::try_from(total.as_u64()?).ok());
        let total = total.and_then(|total| usize::try_from(total).ok());
        let more = part("hasMore") == Some(Value::Bool(true));
        completion(values.map(str::to_owned).collect(), total, more) == made
    };
    let passed_on = completed.filter(passed_on);
    let passed_on = passed_on.and_then(|text| Answer::read(text).ok());
    Ok(passed_on.unwrap_or(Answer::Made(made)))
}

fn made(value: Option<&Val>) -> Result<Value, Cause> {
    let bad = || Cause::BadResult("it is no completion".into());
    let fields = match value {
        Some(Val::Result(Ok(Some(completions)))) => match completions.as_ref() {
            Val::Record(fields) => fields,
            _ => return Err(bad()),
        },
        Some(Val::Result(Err(error))) => return Err(refused(error.as_deref())),
        _ => return Err(bad()),
    };
    let mut values = Vec::new();
    let mut total = None;
    let mut more = false;
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("values", Val::List(items)) => {
                let texts = items.iter().filter_map(|item| match item {
                    Val::String(text) => Some(text.clone()),
                    _ => None,
                });
                values.extend(texts);
            }
            ("total", Val::Option(Some(number))) => {
                if let Val::U32(number) = number.as_ref() {
                    total = usize::try_from(*number).ok();
                }
            }
            ("has-more", Val::Bool(has)) => more = *has,
            _ => {}
        }
    }
    Ok(completion(values, total, more))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a completion that passes, clients read each number.
    #[test]
    fn a_completion_with_a_number_that_clients_do_not_read_is_made_anew() {
        let member = |name: &str, value| (name.to_owned(), value);
        let completions = Val::Record(vec![
            member("values", Val::List(vec![Val::String("a".to_owned())])),
            member("total", Val::Option(None)),
            member("has-more", Val::Bool(false)),
        ]);
        let value = Val::Result(Ok(Some(Box::new(completions))));
        for (number, passes) in [("1.10", true), ("1e999", false)] {
            let said = format!(
                r#"{{"completion":{{"values":["a"],"hasMore":false}},"_meta":{{"n":{number}}}}}"#
            );
            let answer = completion_of(Some(&value), Some(said.clone())).unwrap();
            let expected = match passes {
                true => Answer::Verbatim(said),
                false => Answer::Made(completion(vec!["a".to_owned()], None, false)),
            };
            assert_eq!(answer, expected, "{number}");
        }
    }
}
