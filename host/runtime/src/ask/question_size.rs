//! Size of a plugin's questions, before values are made of them: the same text may be in them any
//! number of times.

use dormouse_protocol::{VALUE_BYTES, escape_bytes};

use crate::bindings::dormouse::plugin::client::{Question, Request, Sampling};
use crate::bindings::dormouse::plugin::types::{Annotations, Content, ResourceBody};
use crate::value::written_bytes;

/// Copies of a question until it is answered: as values, as they are shown, as text, and on the way to
/// the client.
const COPIES: u64 = 6;

/// Size of questions.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QuestionSize {
    /// Words, which have a limit of their own, in bytes.
    pub(crate) words: usize,
    /// Media of samplings, in bytes as they are in JSON.
    media: usize,
}

impl QuestionSize {
    /// Returns the size of all questions that are asked at once.
    pub(crate) fn of(requests: &[Request]) -> Self {
        let mut size = Self::default();
        for request in requests {
            size.text(&request.id);
            match &request.question {
                Question::Form(form) => {
                    size.text(&form.message);
                    size.text(&form.schema);
                    // The schema is JSON, which is read into values.
                    let values = form.schema.bytes();
                    let values = values.filter(|byte| matches!(byte, b',' | b'{' | b'['));
                    size.words += values.count() * VALUE_BYTES;
                }
                Question::Page(page) => {
                    size.text(&page.message);
                    size.text(&page.url);
                    size.text(&page.elicitation_id);
                }
                Question::Sample(sampling) => size.sampling(sampling),
                Question::Roots => {}
            }
        }
        size
    }

    /// Returns the whole size in bytes.
    pub(crate) fn bytes(self) -> u64 {
        u64::try_from(self.words.saturating_add(self.media)).unwrap_or(u64::MAX)
    }

    /// Returns the memory that the host keeps for the questions until they are answered, in bytes.
    pub(crate) fn memory(self) -> u64 {
        self.bytes().saturating_mul(COPIES)
    }

    fn sampling(&mut self, sampling: &Sampling) {
        self.text(sampling.system_prompt.as_deref().unwrap_or_default());
        self.texts(&sampling.stop_sequences);
        if let Some(preferences) = &sampling.model_preferences {
            self.texts(&preferences.hints);
        }
        for message in &sampling.messages {
            self.words += VALUE_BYTES;
            message.content.iter().for_each(|block| self.content(block));
        }
    }

    fn content(&mut self, block: &Content) {
        let annotations = match block {
            Content::Text(text) => {
                self.text(&text.text);
                &text.annotations
            }
            Content::Image(media) | Content::Audio(media) => {
                self.bytes_of(&media.data);
                self.text(&media.mime_type);
                &media.annotations
            }
            Content::ResourceLink(link) => {
                for text in [&link.uri, &link.name] {
                    self.text(text);
                }
                for text in [&link.title, &link.description, &link.mime_type] {
                    self.text(text.as_deref().unwrap_or_default());
                }
                &link.annotations
            }
            Content::Resource(resource) => {
                self.text(&resource.uri);
                self.text(resource.mime_type.as_deref().unwrap_or_default());
                match &resource.body {
                    ResourceBody::Text(text) => self.text(text),
                    ResourceBody::Blob(bytes) => self.bytes_of(bytes),
                }
                &resource.annotations
            }
        };
        if let Some(annotations) = annotations {
            self.annotations(annotations);
        }
    }

    fn annotations(&mut self, annotations: &Annotations) {
        self.words += annotations.audience.len() * VALUE_BYTES;
        self.text(annotations.last_modified.as_deref().unwrap_or_default());
    }

    fn texts(&mut self, texts: &[String]) {
        texts.iter().for_each(|text| self.text(text));
    }

    fn text(&mut self, text: &str) {
        self.words += VALUE_BYTES;
        let bytes = written_bytes(text).saturating_add(escape_bytes(text));
        self.words = self.words.saturating_add(bytes);
    }

    /// Adds bytes that become base64.
    fn bytes_of(&mut self, bytes: &[u8]) {
        self.words += VALUE_BYTES;
        self.media = self.media.saturating_add(bytes.len().div_ceil(3) * 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::dormouse::plugin::client::{Form, Page, SamplingMessage};
    use crate::bindings::dormouse::plugin::types::{MediaContent, Role, TextContent};

    fn size(question: Question) -> QuestionSize {
        let id = "i".repeat(10);
        QuestionSize::of(&[Request { id, question }])
    }

    fn sampling(content: Vec<Content>) -> Question {
        let role = Role::User;
        Question::Sample(Sampling {
            messages: vec![SamplingMessage { role, content }],
            system_prompt: None,
            max_tokens: 1,
            temperature: None,
            stop_sequences: vec!["s".repeat(1000)],
            model_preferences: None,
        })
    }

    fn text(bytes: usize) -> Content {
        let text = "t".repeat(bytes);
        let annotations = None;
        Content::Text(TextContent { text, annotations })
    }

    /// Texts count in any member.
    #[test]
    fn all_texts_count() {
        let page = Page {
            message: "m".repeat(100),
            url: "u".repeat(1000),
            elicitation_id: "e".repeat(10_000),
        };
        let form = Form {
            message: "m".repeat(100),
            schema: format!("[{}]", ["1"; 1000].join(",")),
        };
        for (question, at_least, at_most) in [
            (Question::Page(page), 11_110, 12_000),
            (Question::Form(form), 1000 * VALUE_BYTES, 70_000),
            (Question::Roots, 10, 200),
            (sampling(vec![text(600_000), text(5000)]), 606_010, 607_000),
        ] {
            let found = size(question);
            assert!((at_least..at_most).contains(&found.words), "{found:?}");
            assert_eq!(found.media, 0);
        }
    }

    #[test]
    fn what_nobody_would_see_counts_as_its_escape() {
        let hidden = Content::Text(TextContent {
            text: "\u{7f}\n".repeat(1000),
            annotations: None,
        });
        let found = size(sampling(vec![hidden]));
        assert!(found.words >= 1000 * r"\\u{7f}".len(), "{found:?}");
    }

    #[test]
    fn images_of_a_sampling_are_no_words_and_take_memory() {
        let image = Content::Image(MediaContent {
            data: vec![0; 300_000],
            mime_type: "image/png".into(),
            annotations: None,
        });
        let found = size(sampling(vec![text(1000), image]));
        assert!(found.words < 4000, "{found:?}");
        assert_eq!(found.media, 400_000);
        assert!(found.memory() >= COPIES * 400_000);
    }
}
