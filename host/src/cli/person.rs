//! Questions to the user at the terminal: a form field by field, a page by its link.

use std::time::Duration;

use dormouse_protocol::{
    Answer, AskError, Capability, Field, FieldChoice, FieldKind, Form, Question,
};
use dormouse_text::visible::short_name;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use super::{output, stdin};

/// User who reads messages and types answers.
pub(super) struct Person {
    /// Lines that they type; not read before a question is asked.
    lines: Option<mpsc::Receiver<String>>,
    /// Whether lines that were typed before a question are no answers to it.
    forgets: bool,
    /// Shows them a text unchanged.
    show: fn(&str),
}

/// Action that a user chooses for a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum QuestionAction {
    Accept,
    Decline,
    Cancel,
}

impl QuestionAction {
    fn name(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }
}

/// Time without a line after which all lines that were typed before a question have been read.
const SETTLED: Duration = Duration::from_millis(20);

impl Person {
    pub(super) fn new(show: fn(&str)) -> Self {
        Self {
            lines: None,
            forgets: true,
            show,
        }
    }

    /// Asks a form or a page, whose message names the server that asks.
    ///
    /// # Errors
    /// The question is neither, or a form that cannot be asked on a terminal.
    pub(super) async fn answer(&mut self, question: &Question) -> Result<Answer, AskError> {
        let text = |name: &str| question.params.get(name).and_then(Value::as_str);
        let message = text("message").unwrap_or_default();
        self.show(&format!("{message}\n"));
        let (action, content) = match question.capability {
            Capability::ElicitationForm => {
                let schema = question.params.get("requestedSchema");
                let form = Form::read(schema.unwrap_or(&Value::Null)).map_err(|why| {
                    AskError::Invalid(format!(
                        "the question `{}` has a schema that is no form: {why}",
                        short_name(&question.id)
                    ))
                })?;
                self.fill_in(&form).await
            }
            Capability::ElicitationUrl => {
                let link = text("url").unwrap_or_default();
                self.show(&format!("  open this link in a browser: {link}\n"));
                (self.consent("  have you opened it?").await, None)
            }
            other => {
                return Err(AskError::Unsupported(format!(
                    "nobody at a terminal can be asked for `{other}`"
                )));
            }
        };
        let mut answer = json!({ "action": action.name() });
        if let (Some(content), Some(answer)) = (content, answer.as_object_mut()) {
            answer.insert("content".into(), content);
        }
        Ok(Answer::Made(answer))
    }

    /// Asks for the fields of a form, one after the other.
    async fn fill_in(&mut self, form: &Form) -> (QuestionAction, Option<Value>) {
        let what = match form.fields.len() {
            0 => "  do you agree?",
            _ => "  do you want to answer?",
        };
        let action = self.consent(what).await;
        if action != QuestionAction::Accept {
            return (action, None);
        }
        let mut content = Map::new();
        for field in &form.fields {
            match self.field(field).await {
                Some(Some(value)) => drop(content.insert(field.name.clone(), value)),
                Some(None) => {}
                None => return (QuestionAction::Cancel, None),
            }
        }
        (QuestionAction::Accept, Some(content.into()))
    }

    /// Asks for the user's action: they have to type it, since an empty line is no agreement.
    async fn consent(&mut self, what: &str) -> QuestionAction {
        self.forget_typed_ahead().await;
        loop {
            self.show(&format!("{what} y = yes, n = no, c = cancel: "));
            let Some(line) = self.line().await else {
                return QuestionAction::Cancel;
            };
            match line.trim().to_lowercase().as_str() {
                "y" | "yes" => return QuestionAction::Accept,
                "n" | "no" => return QuestionAction::Decline,
                "c" | "cancel" => return QuestionAction::Cancel,
                _ => {}
            }
        }
    }

    /// Drops all lines that were typed before the question was shown, wherever they are buffered:
    /// they are no answer to a question that was not read.
    async fn forget_typed_ahead(&mut self) {
        if !self.forgets {
            return;
        }
        stdin::forget_typed_ahead();
        if let Some(lines) = &mut self.lines {
            while let Ok(Some(_)) = tokio::time::timeout(SETTLED, lines.recv()).await {}
        }
    }

    /// Asks for the value of a field, if it gets one; none at the end of the input.
    async fn field(&mut self, field: &Field) -> Option<Option<Value>> {
        self.show(&heading(field));
        loop {
            self.show(&format!("    {}: ", wanted(field)));
            let line = self.line().await?;
            match read(field, &line) {
                Ok(value) => return Some(value),
                Err(why) => self.show(&format!("    {why}\n")),
            }
        }
    }

    /// Returns the next line; none at the end of the input.
    async fn line(&mut self) -> Option<String> {
        let line = self.lines.get_or_insert_with(stdin::lines).recv().await;
        if line.is_none() {
            // The prompt's line has no end yet.
            self.show("\n");
        }
        line
    }

    fn show(&self, text: &str) {
        (self.show)(&output::clean(text));
    }
}

/// Returns the text on a field that is shown before its question.
fn heading(field: &Field) -> String {
    let mut heading = format!("  {}", field.title.as_deref().unwrap_or(&field.name));
    if let Some(description) = &field.description {
        heading.push_str(": ");
        heading.push_str(description);
    }
    heading.push('\n');
    if let FieldKind::One(choices) | FieldKind::Several(choices) = &field.kind {
        for (index, choice) in choices.iter().enumerate() {
            let name = choice.title.as_deref().unwrap_or(&choice.value);
            heading.push_str(&format!("    {}  {name}\n", index + 1));
        }
    }
    heading
}

/// Returns the text on the expected input.
fn wanted(field: &Field) -> String {
    let mut wanted = match &field.kind {
        FieldKind::Text => match field.format() {
            Some(format) => format!("a text of the format `{format}`"),
            None => "a text".to_owned(),
        },
        FieldKind::Number => "a number".to_owned(),
        FieldKind::Integer => "a whole number".to_owned(),
        FieldKind::Boolean => "y or n".to_owned(),
        FieldKind::One(choices) => format!("a number from 1 to {}", choices.len()),
        FieldKind::Several(choices) => {
            let most = choices.len();
            format!("numbers from 1 to {most} with commas between")
        }
    };
    match &field.default {
        Some(default) => {
            wanted.push_str(&format!(", or Enter for {}", named(&field.kind, default)));
        }
        None if !field.required => wanted.push_str(", or Enter for nothing"),
        None => {}
    }
    wanted
}

/// Returns a value in the words of its question.
fn named(kind: &FieldKind, value: &Value) -> String {
    let name = |choices: &[FieldChoice], value: &Value| {
        let chosen = choices.iter().find(|choice| *value == choice.value);
        let title = chosen.and_then(|choice| choice.title.clone());
        title.unwrap_or_else(|| value.as_str().unwrap_or_default().to_owned())
    };
    let text = match (kind, value) {
        (FieldKind::One(choices), value) => name(choices, value),
        (FieldKind::Several(choices), Value::Array(values)) => {
            let names: Vec<_> = values.iter().map(|value| name(choices, value)).collect();
            names.join(", ")
        }
        (_, Value::Bool(true)) => "y".to_owned(),
        (_, Value::Bool(false)) => "n".to_owned(),
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    };
    format!("`{text}`")
}

/// Reads the value of a field from a line, if it has one.
fn read(field: &Field, line: &str) -> Result<Option<Value>, String> {
    let typed = line.trim();
    let nothing = match field.kind {
        // Blanks may be meant.
        FieldKind::Text => line.is_empty(),
        _ => typed.is_empty(),
    };
    if nothing {
        return match (&field.default, &field.kind) {
            (Some(default), _) => Ok(Some(default.clone())),
            (None, _) if !field.required => Ok(None),
            // To choose nothing is a choice, where the form allows it.
            (None, FieldKind::Several(_)) => checked(field, json!([])),
            (None, _) => Err("this has to be filled in".into()),
        };
    }
    let value = match &field.kind {
        FieldKind::Text => json!(line),
        FieldKind::Number | FieldKind::Integer => match serde_json::from_str(typed) {
            Ok(Value::Number(number)) => Value::Number(number),
            _ => return Err(format!("`{typed}` is no number")),
        },
        FieldKind::Boolean => match typed.to_lowercase().as_str() {
            "y" | "yes" | "true" => json!(true),
            "n" | "no" | "false" => json!(false),
            _ => return Err(format!("`{typed}` is neither `y` nor `n`")),
        },
        FieldKind::One(choices) => json!(chosen(choices, typed)?),
        FieldKind::Several(choices) => {
            let numbers = typed.split([',', ' ']).filter(|number| !number.is_empty());
            let values = numbers.map(|number| chosen(choices, number));
            json!(values.collect::<Result<Vec<_>, _>>()?)
        }
    };
    checked(field, value)
}

fn checked(field: &Field, value: Value) -> Result<Option<Value>, String> {
    field.check(&value).map_err(|why| format!("this {why}"))?;
    Ok(Some(value))
}

/// Returns the choice of a number: a choice may look like a number itself.
fn chosen<'a>(choices: &'a [FieldChoice], number: &str) -> Result<&'a str, String> {
    let index = number.parse::<usize>().ok();
    let choice = index.and_then(|index| choices.get(index.checked_sub(1)?));
    choice
        .map(|choice| choice.value.as_str())
        .ok_or_else(|| format!("`{number}` is no number from 1 to {}", choices.len()))
}

#[cfg(test)]
mod tests;
