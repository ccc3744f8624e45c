//! Answers of a user to the questions of clients, once and for all.

use std::collections::BTreeMap;

use dormouse_launch::Secret;
use toml_edit::Item;

use super::problem::{quoted, unquoted, within};
use crate::reading::reader::DocumentReader;

/// Answers by the ids of the questions.
pub type Inputs = BTreeMap<String, Input>;

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The answer itself.
    Value(Secret),
    /// The variable of the environment that has it.
    Variable(String),
}

/// Text before the id of a question, where its answer is filled in: `${input:ID}`.
pub(crate) const INPUT: &str = "input:";

const KEYS: &[&str] = &["env"];
const HINT: &str =
    "write the value as a string, or `{ env = \"NAME\" }` for a variable of the environment";

impl DocumentReader<'_> {
    /// Reads `[discovery.inputs]`. No part of a value is in a message.
    pub(super) fn inputs(&mut self, item: &Item, at: &str) -> Inputs {
        let mut inputs = Inputs::new();
        let Some(table) = item.as_table_like() else {
            let message = format!("`{at}` has to be a table");
            self.problem(item.span(), message, Some(HINT.to_owned()));
            return inputs;
        };
        for (id, item) in table.iter() {
            if let Some(input) = self.input(item, &within(at, id)) {
                inputs.insert(id.to_owned(), input);
            }
        }
        inputs
    }

    fn input(&mut self, item: &Item, at: &str) -> Option<Input> {
        if let Some(value) = item.as_str() {
            return Some(Input::Value(Secret::new(value)));
        }
        let mut variable = None;
        let before = self.problem_count;
        if let Some(table) = item.as_table_like() {
            for (key, item) in table.iter() {
                match key {
                    "env" => variable = self.variable(item, &format!("{at}.env")),
                    _ => self.unknown(table, key, &format!("`{at}`"), KEYS),
                }
            }
        }
        if variable.is_none() && self.problem_count == before {
            let message = format!("{} has no value", quoted(at));
            self.problem(item.span(), message, Some(HINT.to_owned()));
        }
        variable.map(Input::Variable)
    }
}

/// Returns the hint on what to write to answer a question.
pub(super) fn hint(id: &str) -> String {
    // An id that has to be quoted to be shown cannot be copied from a message.
    if unquoted(id) != id {
        return "write it in dormouse.toml, below `[discovery.inputs]`, under that id".to_owned();
    }
    let key = toml_edit::Key::new(id);
    let key = key.display_repr();
    // The name that people would give a variable with that answer.
    let name: String = id
        .chars()
        .map(|c| match c.to_ascii_uppercase() {
            c if c.is_ascii_alphanumeric() => c,
            _ => '_',
        })
        .collect();
    format!(
        "write it in dormouse.toml, below `[discovery.inputs]`: `{key} = \"…\"`, or `{key} = {{ env = \"{name}\" }}` for a variable of the environment"
    )
}

/// Returns the sentences on a text that asks for an answer which is not there yet.
pub(crate) fn unanswered(at: &str, id: &str) -> String {
    format!("`{at}` asks for {}\nhint: {}", quoted(id), hint(id))
}
