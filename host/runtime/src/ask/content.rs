//! Conversion of content blocks between the contract and MCP.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::bindings::dormouse::plugin::types::{
    Annotations, Content, EmbeddedResource, MediaContent, ResourceBody, ResourceLink, Role,
    TextContent,
};
use crate::hint;

/// Returns a text member of an object.
pub(super) fn text(object: &Value, name: &str) -> Option<String> {
    object.get(name)?.as_str().map(str::to_owned)
}

/// Converts MCP's name of a role for a plugin.
pub(super) fn role(value: Option<&Value>) -> Option<Role> {
    match value?.as_str()? {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        _ => None,
    }
}

/// Converts a plugin's role for a client.
pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// Converts a content block of MCP for a plugin.
pub(super) fn content(block: &Value) -> Option<Content> {
    let annotations = block.get("annotations").map(annotations);
    let bytes = |object: &Value, name: &str| STANDARD.decode(object.get(name)?.as_str()?).ok();
    let media = || {
        Some(MediaContent {
            data: bytes(block, "data")?,
            mime_type: text(block, "mimeType")?,
            annotations: annotations.clone(),
        })
    };
    Some(match block.get("type")?.as_str()? {
        "text" => Content::Text(TextContent {
            text: text(block, "text")?,
            annotations,
        }),
        "image" => Content::Image(media()?),
        "audio" => Content::Audio(media()?),
        "resource_link" => Content::ResourceLink(ResourceLink {
            uri: text(block, "uri")?,
            name: text(block, "name")?,
            title: text(block, "title"),
            description: text(block, "description"),
            mime_type: text(block, "mimeType"),
            size: block.get("size").and_then(Value::as_u64),
            annotations,
        }),
        "resource" => {
            let resource = block.get("resource")?;
            let body = match text(resource, "text") {
                Some(text) => ResourceBody::Text(text),
                None => ResourceBody::Blob(bytes(resource, "blob")?),
            };
            Content::Resource(EmbeddedResource {
                uri: text(resource, "uri")?,
                mime_type: text(resource, "mimeType"),
                body,
                annotations,
            })
        }
        _ => return None,
    })
}

fn annotations(value: &Value) -> Annotations {
    let audience = value.get("audience").and_then(Value::as_array);
    Annotations {
        audience: audience
            .map(|roles| roles.iter().filter_map(|one| role(Some(one))).collect())
            .unwrap_or_default(),
        priority: value.get("priority").and_then(Value::as_f64),
        last_modified: text(value, "lastModified"),
    }
}

/// Converts a plugin's content block for a client.
///
/// # Errors
/// One of its annotations is not as MCP has it: "a `priority` of …".
pub(super) fn block(content: Content) -> Result<Value, String> {
    let (mut block, annotations) = match content {
        Content::Text(text) => (
            json!({ "type": "text", "text": text.text }),
            text.annotations,
        ),
        Content::Image(media) => media_block("image", media),
        Content::Audio(media) => media_block("audio", media),
        Content::ResourceLink(link) => {
            let mut block = json!({ "type": "resource_link", "uri": link.uri, "name": link.name });
            if let Some(members) = block.as_object_mut() {
                for (name, value) in [
                    ("title", link.title.map(Value::from)),
                    ("description", link.description.map(Value::from)),
                    ("mimeType", link.mime_type.map(Value::from)),
                    ("size", link.size.map(Value::from)),
                ] {
                    members.extend(value.map(|value| (name.to_owned(), value)));
                }
            }
            (block, link.annotations)
        }
        Content::Resource(resource) => {
            let mut inner = json!({ "uri": resource.uri });
            if let Some(members) = inner.as_object_mut() {
                if let Some(mime) = resource.mime_type {
                    members.insert("mimeType".into(), mime.into());
                }
                match resource.body {
                    ResourceBody::Text(text) => members.insert("text".into(), text.into()),
                    ResourceBody::Blob(data) => {
                        members.insert("blob".into(), STANDARD.encode(data).into())
                    }
                };
            }
            (
                json!({ "type": "resource", "resource": inner }),
                resource.annotations,
            )
        }
    };
    if let (Some(members), Some(hints)) = (block.as_object_mut(), annotations) {
        let mut value = Map::new();
        if !hints.audience.is_empty() {
            let roles: Vec<_> = hints.audience.into_iter().map(role_name).collect();
            value.insert("audience".into(), json!(roles));
        }
        if let Some(priority) = hints.priority {
            value.insert("priority".into(), hint::priority(priority)?);
        }
        if let Some(when) = hints.last_modified {
            hint::last_modified(&when)?;
            value.insert("lastModified".into(), when.into());
        }
        members.insert("annotations".into(), Value::Object(value));
    }
    Ok(block)
}

fn media_block(kind: &str, media: MediaContent) -> (Value, Option<Annotations>) {
    let data = STANDARD.encode(media.data);
    let block = json!({ "type": kind, "data": data, "mimeType": media.mime_type });
    (block, media.annotations)
}
