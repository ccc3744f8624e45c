//! What a plugin asks the agent's side, between the contract and MCP.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::bindings::dormouse::plugin::client::{
    Action, Answer, Elicited, Question as Asked, Request, Root, Sampled, Sampling,
};
use super::bindings::dormouse::plugin::types::{
    Annotations, Content, EmbeddedResource, MediaContent, ResourceBody, ResourceLink, Role,
    TextContent,
};

/// What a client can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// Forms for the user.
    ElicitationForm,
    /// Pages for the user.
    ElicitationUrl,
    /// Texts from the model.
    Sampling,
    /// The folders that it works in.
    Roots,
}

/// One question, as MCP asks it.
#[derive(Debug, Clone)]
pub struct Question {
    /// Its name among the questions of a call.
    pub id: String,
    /// What a client has to be able to do.
    pub capability: Capability,
    /// The MCP request: its parameters.
    pub params: Map<String, Value>,
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AskError {
    /// The client cannot be asked that.
    Unsupported(String),
    /// The question makes no sense.
    Invalid(String),
    /// The client answered with an error, or with something else.
    Failed(String),
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ElicitationForm => "elicitation",
            Self::ElicitationUrl => "elicitation.url",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        })
    }
}

impl Capability {
    /// As it is written among a client's capabilities.
    #[must_use]
    pub fn declared(self) -> Value {
        match self {
            Self::ElicitationForm => json!({ "elicitation": {} }),
            Self::ElicitationUrl => json!({ "elicitation": { "url": {} } }),
            Self::Sampling => json!({ "sampling": {} }),
            Self::Roots => json!({ "roots": {} }),
        }
    }
}

impl Question {
    /// The MCP method that asks it.
    #[must_use]
    pub fn method(&self) -> &'static str {
        match self.capability {
            Capability::ElicitationForm | Capability::ElicitationUrl => "elicitation/create",
            Capability::Sampling => "sampling/createMessage",
            Capability::Roots => "roots/list",
        }
    }

    /// The question of a plugin.
    pub(super) fn new(request: Request) -> Result<Self, AskError> {
        let invalid =
            |why: String| AskError::Invalid(format!("the question `{}` {why}", request.id));
        let (capability, params) = match request.question {
            Asked::Form(form) => {
                let schema: Value = serde_json::from_str(&form.schema)
                    .map_err(|error| invalid(format!("has a schema that is no JSON: {error}")))?;
                if !schema.is_object() {
                    return Err(invalid("has a schema that is no object".into()));
                }
                jsonschema::validator_for(&schema)
                    .map_err(|error| invalid(format!("has a schema that is none: {error}")))?;
                let params = json!({ "message": form.message, "requestedSchema": schema });
                (Capability::ElicitationForm, params)
            }
            Asked::Page(page) => {
                // Clients open it in a browser; a file or a script is no page.
                if !page.url.starts_with("https://") && !page.url.starts_with("http://") {
                    return Err(invalid(format!(
                        "wants `{}` opened, which is no page",
                        page.url
                    )));
                }
                let params = json!({
                    "mode": "url",
                    "message": page.message,
                    "url": page.url,
                    "elicitationId": page.elicitation_id,
                });
                (Capability::ElicitationUrl, params)
            }
            Asked::Sample(sampling) => (Capability::Sampling, sampled_from(sampling)),
            Asked::Roots => (Capability::Roots, json!({})),
        };
        let Value::Object(params) = params else {
            return Err(invalid("has no parameters".into()));
        };
        Ok(Self {
            id: request.id,
            capability,
            params,
        })
    }

    /// Whether this is an answer to the question.
    ///
    /// # Errors
    /// Why it is none.
    pub fn check(&self, answer: &Value) -> Result<(), String> {
        self.answer(answer).map(drop)
    }

    /// A client's answer, for the plugin.
    pub(super) fn answer(&self, answer: &Value) -> Result<Answer, String> {
        let wrong = |why: &str| format!("the answer to `{}` {why}", self.id);
        match self.capability {
            Capability::ElicitationForm | Capability::ElicitationUrl => {
                let action = match answer.get("action").and_then(Value::as_str) {
                    Some("accept") => Action::Accept,
                    Some("decline") => Action::Decline,
                    Some("cancel") => Action::Cancel,
                    _ => return Err(wrong("has no `action` of `accept`, `decline` or `cancel`")),
                };
                let accepted = matches!(action, Action::Accept);
                let form = self.capability == Capability::ElicitationForm && accepted;
                let content = if form {
                    let empty = Value::Object(Map::new());
                    let content = answer.get("content").unwrap_or(&empty);
                    self.check_form(content).map_err(|why| wrong(&why))?;
                    Some(content.to_string())
                } else {
                    None
                };
                Ok(Answer::Elicited(Elicited { action, content }))
            }
            Capability::Sampling => {
                let role = role(answer.get("role")).ok_or_else(|| wrong("has no `role`"))?;
                let content = match answer.get("content") {
                    Some(Value::Array(blocks)) => blocks.iter().map(content).collect(),
                    Some(block) => content(block).map(|block| vec![block]),
                    None => None,
                };
                Ok(Answer::Sampled(Sampled {
                    role,
                    content: content.ok_or_else(|| wrong("has no `content` of MCP"))?,
                    model: text(answer, "model").unwrap_or_default(),
                    stop_reason: text(answer, "stopReason"),
                }))
            }
            Capability::Roots => {
                let roots = answer.get("roots").and_then(Value::as_array);
                let roots = roots.ok_or_else(|| wrong("has no `roots`"))?;
                let root = |root: &Value| {
                    Some(Root {
                        uri: text(root, "uri")?,
                        name: text(root, "name"),
                    })
                };
                let roots: Option<_> = roots.iter().map(root).collect();
                Ok(Answer::Roots(
                    roots.ok_or_else(|| wrong("has a root without a `uri`"))?,
                ))
            }
        }
    }

    fn check_form(&self, content: &Value) -> Result<(), String> {
        if !content.is_object() {
            return Err("has a `content` that is no object".into());
        }
        let schema = self.params.get("requestedSchema").unwrap_or(&Value::Null);
        let validator = jsonschema::options()
            .with_pattern_options(jsonschema::PatternOptions::regex())
            .build(schema)
            .map_err(|error| format!("cannot be checked: {error}"))?;
        validator.validate(content).map_err(|error| {
            let message: String = error.to_string().chars().take(300).collect();
            let message = message.replace(['"', '\''], "`");
            format!("does not fit at `{}`: {message}", error.instance_path())
        })
    }
}

fn sampled_from(sampling: Sampling) -> Value {
    let messages = sampling.messages.into_iter().map(|message| {
        let mut blocks: Vec<_> = message.content.into_iter().map(block).collect();
        // A single block is not in a list: clients of before 2025-11-25 know no
        // lists there.
        let content = match blocks.len() {
            1 => blocks.remove(0),
            _ => Value::Array(blocks),
        };
        json!({ "role": role_name(message.role), "content": content })
    });
    let mut params = json!({
        "messages": messages.collect::<Vec<_>>(),
        "maxTokens": sampling.max_tokens,
    });
    let mut set = |name: &str, value: Option<Value>| {
        if let (Some(params), Some(value)) = (params.as_object_mut(), value) {
            params.insert(name.into(), value);
        }
    };
    set("systemPrompt", sampling.system_prompt.map(Value::from));
    set("temperature", sampling.temperature.map(Value::from));
    let stops = sampling.stop_sequences;
    set("stopSequences", (!stops.is_empty()).then(|| json!(stops)));
    set(
        "modelPreferences",
        sampling.model_preferences.map(|preferences| {
            let mut value = Map::new();
            let hints = preferences.hints.iter();
            let hints: Vec<_> = hints.map(|name| json!({ "name": name })).collect();
            if !hints.is_empty() {
                value.insert("hints".into(), Value::Array(hints));
            }
            for (name, priority) in [
                ("costPriority", preferences.cost_priority),
                ("speedPriority", preferences.speed_priority),
                ("intelligencePriority", preferences.intelligence_priority),
            ] {
                value.extend(priority.map(|priority| (name.to_owned(), json!(priority))));
            }
            Value::Object(value)
        }),
    );
    params
}

fn text(object: &Value, name: &str) -> Option<String> {
    object.get(name)?.as_str().map(str::to_owned)
}

fn role(value: Option<&Value>) -> Option<Role> {
    match value?.as_str()? {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        _ => None,
    }
}

fn role_name(role: Role) -> &'static str {
    match role {
        Role::User => "user",
        Role::Assistant => "assistant",
    }
}

/// A content block of MCP, for a plugin.
fn content(block: &Value) -> Option<Content> {
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

/// A plugin's content block, for a client.
fn block(content: Content) -> Value {
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
        value.extend(
            hints
                .priority
                .map(|priority| ("priority".to_owned(), json!(priority))),
        );
        value.extend(
            hints
                .last_modified
                .map(|when| ("lastModified".to_owned(), json!(when))),
        );
        members.insert("annotations".into(), Value::Object(value));
    }
    block
}

fn media_block(kind: &str, media: MediaContent) -> (Value, Option<Annotations>) {
    let data = STANDARD.encode(media.data);
    let block = json!({ "type": kind, "data": data, "mimeType": media.mime_type });
    (block, media.annotations)
}
