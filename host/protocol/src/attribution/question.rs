//! Questions, marked as those of a server.

use dormouse_jsonrpc::{Object, check_numbers};
use dormouse_text::visible::{hides_something, visible_prose};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::form;
use super::mark::{message, unmarked, unmarked_for_model};
use super::reserved::{is_reserved, page_id, unreserved};
use super::show_all;
use crate::question_links;
use crate::{AskError, Capability, Question};

/// Text parameters of questions that nobody is shown. All others that MCP has are checked one by
/// one.
const UNSEEN: [&str; 1] = ["toolChoice"];

/// Parameters of questions that a person or a model is shown, or that lead somewhere.
pub const SHOWN_PARAMETERS: [&str; 8] = [
    "elicitationId",
    "includeContext",
    "message",
    "messages",
    "mode",
    "requestedSchema",
    "systemPrompt",
    "url",
];

/// Members of [`SHOWN_PARAMETERS`] that a question of a kind has.
fn shown_parameters(kind: Capability) -> &'static [&'static str] {
    match kind {
        Capability::ElicitationForm => &["message", "mode", "requestedSchema"],
        Capability::ElicitationUrl => &["elicitationId", "message", "mode", "url"],
        Capability::Sampling | Capability::SamplingTools | Capability::SamplingContext => {
            &["includeContext", "messages", "systemPrompt"]
        }
        Capability::Roots => &[],
    }
}

impl Question {
    /// Marks the question as that of a server.
    ///
    /// # Errors
    /// The question wants a person to open what is no web page, or to fill in what cannot be shown.
    pub fn attributed(mut self, server: &str) -> Result<Self, AskError> {
        question_links::check(self.capability, &self.params).map_err(AskError::Invalid)?;
        let checked = self.text.as_ref().map(|text| check_numbers(text.get()));
        checked
            .unwrap_or(Ok(()))
            .map_err(|error| AskError::Invalid(error.to_string()))?;
        self.leave_out_foreign();
        self.unmark_others();
        self.show_host();
        let text = |params: &Map<String, Value>, name: &str| {
            let text = params.get(name).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        match self.capability {
            Capability::ElicitationForm => {
                let shown = message(server, &text(&self.params, "message"));
                self.set("message", shown.into());
                if let Some(schema) = self.params.get("requestedSchema") {
                    let mut cleaned = schema.clone();
                    form::show(&mut cleaned).map_err(|why| {
                        AskError::Invalid(format!("a form of server `{server}` {why}"))
                    })?;
                    question_links::show_hosts(&mut cleaned);
                    // As it was written, wherever nothing in it is hidden.
                    if cleaned != *schema {
                        self.set("requestedSchema", cleaned);
                    }
                }
            }
            Capability::ElicitationUrl => {
                let id = self.params.get("elicitationId").and_then(Value::as_str);
                let id = id.map(|id| (hides_something(id), page_id(server, id)));
                if id.as_ref().is_some_and(|(is_hiding, _)| *is_hiding) {
                    return Err(AskError::Invalid(format!(
                        "the `elicitationId` of server `{server}` has characters that nobody sees"
                    )));
                }
                let shown = message(server, &text(&self.params, "message"));
                self.set("message", shown.into());
                if let Some((_, id)) = id {
                    self.set("elicitationId", id.into());
                }
            }
            Capability::Sampling | Capability::SamplingTools | Capability::SamplingContext => {
                let shown = message(server, &text(&self.params, "systemPrompt"));
                self.set("systemPrompt", shown.trim_end().into());
                if let Some(messages) = self.params.get("messages") {
                    let mut cleaned = messages.clone();
                    show_all(&mut cleaned, seen_in(self.capability));
                    if cleaned != *messages {
                        self.set("messages", cleaned);
                    }
                }
                // "This server" is Dormouse to a client, which is all of its servers, and
                // nobody vouches for one before the others.
                let context = self.params.get("includeContext");
                if context.is_some_and(|context| context != "none") {
                    self = self.without_context();
                }
            }
            Capability::Roots => {}
        }
        // That of an upstream is JSON, that of a plugin a text.
        let id = serde_json::from_str::<String>(&self.id);
        if is_reserved(id.as_ref().unwrap_or(&self.id)) {
            self.id = format!("{}/{}", unreserved(server), self.id);
        }
        Ok(self)
    }

    /// Takes the parameters out that only questions of other kinds have: a client that shows one
    /// would show it beside what is marked.
    fn leave_out_foreign(&mut self) {
        let own = shown_parameters(self.capability);
        let is_foreign = |name: &&str| !own.contains(name);
        let foreign: Vec<&str> = SHOWN_PARAMETERS.into_iter().filter(is_foreign).collect();
        let has_some = foreign.iter().any(|name| self.params.contains_key(*name));
        if !has_some {
            return;
        }
        for name in &foreign {
            self.params.remove(*name);
        }
        self.edit_text(|object| {
            for name in foreign {
                object.remove(name);
            }
        });
    }

    /// Shows what is hidden in the parameters that are not looked at one by one, takes marks out of
    /// them, and removes texts that MCP does not have: a client may show them beside what is marked.
    fn unmark_others(&mut self) {
        let is_other = |name: &str| !SHOWN_PARAMETERS.contains(&name);
        let seen = seen_in(self.capability);
        self.params
            .retain(|name, _| !is_other(name) || seen(name) == *name);
        for (name, value) in &mut self.params {
            if is_other(name) {
                show_all(value, seen);
            }
        }
        let Some(text) = self.text.take() else {
            return;
        };
        let Ok(mut object) = Object::parse(text.get(), usize::MAX) else {
            // As it is written, it is none that could be sent.
            return;
        };
        let mut changes = Vec::new();
        for (place, member) in object.places() {
            let name = &*member.name;
            let is_read = self.params.contains_key(name);
            if is_read && !is_other(name) {
                continue;
            }
            let is_foreign_text = member.value.starts_with('"') && !UNSEEN.contains(&name);
            if (is_foreign_text && !is_read) || seen(name) != name {
                changes.push((place, None));
                continue;
            }
            match serde_json::from_str::<Value>(&member.value) {
                Ok(value) => {
                    let mut cleaned = value.clone();
                    show_all(&mut cleaned, seen);
                    if cleaned != value {
                        changes.push((place, Some(cleaned.to_string())));
                    }
                }
                // What cannot be looked at does not pass.
                Err(_) => changes.push((place, None)),
            }
        }
        if changes.is_empty() {
            drop(object);
            self.text = Some(text);
            return;
        }
        for (place, value) in changes {
            match value {
                Some(value) => object.replace_at(place, value),
                None => object.remove_at(place),
            }
        }
        self.text = RawValue::from_string(object.into_text().into_owned()).ok();
    }

    /// Rewrites the link of the question so that it shows the host of its page.
    fn show_host(&mut self) {
        let link = self.params.get("url").and_then(Value::as_str);
        if let Some(link) = link.and_then(question_links::shown) {
            self.set("url", link.into());
        }
    }

    /// Replaces a parameter, also in the text that the question was written as.
    pub fn set(&mut self, name: &str, value: Value) {
        self.edit_text(|object| {
            object.keep_last();
            object.set(name, value.to_string());
        });
        self.params.insert(name.to_owned(), value);
    }
}

/// Returns what makes a text one with its lines as they are, in which nothing is hidden and nothing
/// looks like a mark to whoever reads what a question of that kind has: a person, or a model.
fn seen_in(kind: Capability) -> fn(&str) -> String {
    match kind {
        Capability::Sampling | Capability::SamplingTools | Capability::SamplingContext => {
            |text| unmarked_for_model(&visible_prose(text)).into_owned()
        }
        Capability::ElicitationForm | Capability::ElicitationUrl | Capability::Roots => {
            |text| unmarked(&visible_prose(text)).into_owned()
        }
    }
}
