//! Results of MCP, for tools, prompts and resources that are asked for by name: the answers of
//! [`Adapter`], [`Prompts`] and [`Resources`] are the texts of these.
//!
//! [`Adapter`]: crate::Adapter
//! [`Prompts`]: crate::Prompts
//! [`Resources`]: crate::Resources

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::types::{
    Annotations, Content, EmbeddedResource, MediaContent, PromptMessage, ResourceBody, Role,
};

/// Reads the arguments of a tool or a prompt from their text.
///
/// # Errors
/// They are not what `T` takes. The text says so, and can be handed on to the
/// agent as it is.
pub fn arguments<T: DeserializeOwned>(arguments: &str) -> Result<T, String> {
    serde_json::from_str(arguments)
        .map_err(|error| format!("the arguments are `{arguments}`: {error}"))
}

/// Answer of a tool: `Ok(CallToolResult::new(["21 °C"]).into())`.
#[derive(Debug, Clone, PartialEq)]
pub struct CallToolResult(Map<String, Value>);

impl CallToolResult {
    /// Makes an answer of content blocks.
    #[must_use]
    pub fn new(content: impl IntoIterator<Item = impl Into<Content>>) -> Self {
        let content = content.into_iter().map(|one| block(&one.into()));
        Self(members([("content", content.collect())]))
    }

    /// Adds structured content, which the tool's output schema describes. Where there is no other
    /// content, its JSON is a text besides, for agents that do not know of structured content.
    #[must_use]
    pub fn with_structured(mut self, value: impl Into<Value>) -> Self {
        let value = value.into();
        if let Some(Value::Array(content)) = self.0.get_mut("content")
            && content.is_empty()
        {
            content.push(json!({ "type": "text", "text": value.to_string() }));
        }
        self.0.insert("structuredContent".into(), value);
        self
    }

    /// Makes the answer an error. One that is only a text is the `Err` of the call.
    #[must_use]
    pub fn as_error(mut self) -> Self {
        self.0.insert("isError".into(), Value::Bool(true));
        self
    }
}

/// Answer of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct GetPromptResult(Map<String, Value>);

impl GetPromptResult {
    /// Makes an answer of messages.
    #[must_use]
    pub fn new(messages: impl IntoIterator<Item = PromptMessage>) -> Self {
        let messages = messages.into_iter().map(
            |message| json!({ "role": role(message.role), "content": block(&message.content) }),
        );
        Self(members([("messages", messages.collect())]))
    }

    /// Adds a description of the prompt.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.0
            .insert("description".into(), description.into().into());
        self
    }
}

/// Contents of a resource.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadResourceResult(Map<String, Value>);

impl ReadResourceResult {
    /// Makes an answer of contents, each with a URI of its own.
    #[must_use]
    pub fn new(contents: impl IntoIterator<Item = EmbeddedResource>) -> Self {
        let contents = contents.into_iter().map(|one| resource(&one));
        Self(members([("contents", contents.collect())]))
    }
}

macro_rules! texts {
    ($($result:ident)*) => {
        $(
            impl From<$result> for String {
                fn from(result: $result) -> Self {
                    Value::Object(result.0).to_string()
                }
            }
        )*
    };
}

texts!(CallToolResult GetPromptResult ReadResourceResult);

/// Returns a content block as MCP has it.
fn block(content: &Content) -> Value {
    let (mut block, annotations) = match content {
        Content::Text(text) => (
            members([("type", "text".into()), ("text", text.text.as_str().into())]),
            &text.annotations,
        ),
        Content::Image(image) => (media("image", image), &image.annotations),
        Content::Audio(audio) => (media("audio", audio), &audio.annotations),
        Content::ResourceLink(link) => {
            let mut members = members([
                ("type", "resource_link".into()),
                ("uri", link.uri.as_str().into()),
                ("name", link.name.as_str().into()),
            ]);
            for (name, text) in [
                ("title", &link.title),
                ("description", &link.description),
                ("mimeType", &link.mime_type),
            ] {
                members.extend(text.as_deref().map(|text| (name.to_owned(), text.into())));
            }
            members.extend(link.size.map(|size| ("size".to_owned(), size.into())));
            (members, &link.annotations)
        }
        Content::Resource(inner) => (
            members([("type", "resource".into()), ("resource", resource(inner))]),
            &inner.annotations,
        ),
    };
    if let Some(annotations) = annotations {
        block.insert("annotations".into(), hints(annotations));
    }
    Value::Object(block)
}

fn media(kind: &str, media: &MediaContent) -> Map<String, Value> {
    members([
        ("type", kind.into()),
        ("data", STANDARD.encode(&media.data).into()),
        ("mimeType", media.mime_type.as_str().into()),
    ])
}

fn resource(resource: &EmbeddedResource) -> Value {
    let mut members = members([("uri", resource.uri.as_str().into())]);
    let mime_type = resource.mime_type.as_deref();
    members.extend(mime_type.map(|text| ("mimeType".to_owned(), text.into())));
    let (name, body) = match &resource.body {
        ResourceBody::Text(text) => ("text", text.clone()),
        ResourceBody::Blob(data) => ("blob", STANDARD.encode(data)),
    };
    members.insert(name.into(), body.into());
    Value::Object(members)
}

fn hints(annotations: &Annotations) -> Value {
    let mut members = Map::new();
    if !annotations.audience.is_empty() {
        let audience = annotations.audience.iter();
        let audience = audience.map(|one| Value::from(role(*one)));
        members.insert("audience".into(), audience.collect());
    }
    // JSON has no number for the others.
    let priority = annotations.priority.filter(|number| number.is_finite());
    members.extend(priority.map(|number| ("priority".to_owned(), number.into())));
    let time = annotations.last_modified.as_deref();
    members.extend(time.map(|time| ("lastModified".to_owned(), time.into())));
    Value::Object(members)
}

fn role(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

fn members<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    let members = members.into_iter();
    members
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ResourceLink;

    fn parsed(result: impl Into<String>) -> Value {
        serde_json::from_str(&result.into()).unwrap()
    }

    #[test]
    fn content_of_every_kind_is_what_mcp_has() {
        let hints = Annotations::default().for_user().with_priority(0.5);
        let result = CallToolResult::new([
            Content::text("a").with_annotations(hints),
            Content::image([1, 2, 3], "image/png"),
            Content::audio([4], "audio/wav"),
            ResourceLink::new("a:b", "b")
                .with_title("B")
                .with_size(3)
                .into(),
            Content::text_resource("a:c", "c", "text/plain"),
            Content::blob_resource("a:d", [5], "a/b"),
        ]);
        assert_eq!(
            parsed(result),
            json!({ "content": [
                { "type": "text", "text": "a", "annotations": { "audience": ["user"], "priority": 0.5 } },
                { "type": "image", "data": "AQID", "mimeType": "image/png" },
                { "type": "audio", "data": "BA==", "mimeType": "audio/wav" },
                { "type": "resource_link", "uri": "a:b", "name": "b", "title": "B", "size": 3 },
                { "type": "resource", "resource": { "uri": "a:c", "mimeType": "text/plain", "text": "c" } },
                { "type": "resource", "resource": { "uri": "a:d", "mimeType": "a/b", "blob": "BQ==" } },
            ] })
        );
        let odd = Annotations::default().with_priority(f64::NAN);
        let result = CallToolResult::new([Content::text("a").with_annotations(odd)]);
        assert_eq!(parsed(result)["content"][0]["annotations"], json!({}));
    }

    #[test]
    fn structured_content_is_a_text_too() {
        let none: [Content; 0] = [];
        let result = CallToolResult::new(none).with_structured(json!({ "a": 1 }));
        assert_eq!(
            parsed(result),
            json!({
                "content": [{ "type": "text", "text": "{\"a\":1}" }],
                "structuredContent": { "a": 1 },
            })
        );
        let both = CallToolResult::new(["one"])
            .with_structured(json!({ "a": 1 }))
            .as_error();
        let both = parsed(both);
        assert_eq!(both["content"].as_array().unwrap().len(), 1);
        assert_eq!(both["isError"], true);
    }

    #[test]
    fn messages_and_contents_are_what_mcp_has() {
        let result = GetPromptResult::new([PromptMessage::user("a")]).with_description("b");
        assert_eq!(
            parsed(result),
            json!({
                "messages": [{ "role": "user", "content": { "type": "text", "text": "a" } }],
                "description": "b",
            })
        );
        let result = ReadResourceResult::new([EmbeddedResource::text("a:b", "c")]);
        assert_eq!(
            parsed(result),
            json!({ "contents": [{ "uri": "a:b", "text": "c" }] })
        );
    }

    #[test]
    fn arguments_of_the_wrong_type_are_named() {
        assert_eq!(arguments::<Vec<u8>>("[1]"), Ok(vec![1]));
        let error = arguments::<Vec<u8>>("{}").unwrap_err();
        assert!(error.starts_with("the arguments are `{}`: "), "{error}");
    }
}
