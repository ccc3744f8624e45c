//! Prompts for the agent's model.

use super::{ModelPreferences, Sampled, Sampling, SamplingMessage};
use crate::types::{Content, PromptMessage};

impl Sampling {
    /// Makes a prompt, to be answered with at most `max_tokens` tokens.
    #[must_use]
    pub fn new(prompt: impl Into<Content>, max_tokens: u32) -> Self {
        Self {
            messages: vec![PromptMessage::user(prompt).into()],
            system_prompt: None,
            max_tokens,
            temperature: None,
            stop_sequences: Vec::new(),
            model_preferences: None,
        }
    }

    /// Adds messages before the prompt.
    #[must_use]
    pub fn with_history(mut self, messages: impl IntoIterator<Item = PromptMessage>) -> Self {
        let before = messages.into_iter().map(Into::into);
        self.messages.splice(..0, before);
        self
    }

    /// Adds one more piece of content to the prompt.
    #[must_use]
    pub fn with_content(mut self, content: impl Into<Content>) -> Self {
        if let Some(prompt) = self.messages.last_mut() {
            prompt.content.push(content.into());
        }
        self
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn with_system_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.system_prompt = Some(prompt.into());
        self
    }

    /// Sets the temperature of the model: usually from 0 to 1.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets texts at which the model stops.
    #[must_use]
    pub fn with_stop_sequences(
        mut self,
        sequences: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        self.stop_sequences = sequences.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the preferences for a model.
    #[must_use]
    pub fn with_model(mut self, preferences: ModelPreferences) -> Self {
        self.model_preferences = Some(preferences);
        self
    }
}

impl Default for ModelPreferences {
    /// Returns no preference. Some are set like
    /// `ModelPreferences { speed_priority: Some(1.0), ..Default::default() }`.
    fn default() -> Self {
        Self {
            hints: Vec::new(),
            cost_priority: None,
            speed_priority: None,
            intelligence_priority: None,
        }
    }
}

impl From<PromptMessage> for SamplingMessage {
    fn from(message: PromptMessage) -> Self {
        Self {
            role: message.role,
            content: vec![message.content],
        }
    }
}

impl Sampled {
    /// Returns all text of the answer.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Role;

    #[test]
    fn a_prompt_comes_last_with_all_its_content() {
        let sampling = Sampling::new("What is this?", 100)
            .with_content(Content::image([1], "image/png"))
            .with_history([PromptMessage::user("Hello"), PromptMessage::assistant("Hi")]);
        let said: Vec<_> = sampling
            .messages
            .iter()
            .map(|message| (message.role, message.content.len()))
            .collect();
        assert_eq!(
            said,
            [(Role::User, 1), (Role::Assistant, 1), (Role::User, 2)]
        );
    }
}
