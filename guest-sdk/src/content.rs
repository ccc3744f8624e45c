//! Content blocks, made in one call each.

use crate::types::{
    Annotations, Content, EmbeddedResource, MediaContent, PromptMessage, ResourceBody,
    ResourceLink, Role, TextContent,
};

impl Content {
    /// Makes a text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextContent {
            text: text.into(),
            annotations: None,
        })
    }

    /// Makes an image of the bytes of its file; the host encodes them.
    #[must_use]
    pub fn image(data: impl Into<Vec<u8>>, mime_type: impl Into<String>) -> Self {
        Self::Image(media(data.into(), mime_type.into()))
    }

    /// Makes a sound of the bytes of its file; the host encodes them.
    #[must_use]
    pub fn audio(data: impl Into<Vec<u8>>, mime_type: impl Into<String>) -> Self {
        Self::Audio(media(data.into(), mime_type.into()))
    }

    /// Makes a link to a resource that the agent may read later. One with more than a name is a
    /// [`ResourceLink`], and `into()` makes it content.
    #[must_use]
    pub fn link(uri: impl Into<String>, name: impl Into<String>) -> Self {
        ResourceLink::new(uri, name).into()
    }

    /// Makes a text resource, carried inside the result.
    #[must_use]
    pub fn text_resource(
        uri: impl Into<String>,
        text: impl Into<String>,
        mime_type: impl Into<String>,
    ) -> Self {
        Self::Resource(EmbeddedResource::text(uri, text).with_mime_type(mime_type))
    }

    /// Makes a binary resource, carried inside the result; the host encodes it.
    #[must_use]
    pub fn blob_resource(
        uri: impl Into<String>,
        data: impl Into<Vec<u8>>,
        mime_type: impl Into<String>,
    ) -> Self {
        Self::Resource(EmbeddedResource::blob(uri, data).with_mime_type(mime_type))
    }

    /// Adds hints on the audience and the priority of the content.
    #[must_use]
    pub fn with_annotations(mut self, hints: Annotations) -> Self {
        let annotations = match &mut self {
            Self::Text(content) => &mut content.annotations,
            Self::Image(content) | Self::Audio(content) => &mut content.annotations,
            Self::ResourceLink(content) => &mut content.annotations,
            Self::Resource(content) => &mut content.annotations,
        };
        *annotations = Some(hints);
        self
    }
}

impl PromptMessage {
    /// Makes a message of the user.
    #[must_use]
    pub fn user(content: impl Into<Content>) -> Self {
        Self {
            role: Role::User,
            content: content.into(),
        }
    }

    /// Makes a message of the model.
    #[must_use]
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
        }
    }
}

impl EmbeddedResource {
    /// Makes a text, at a URI.
    #[must_use]
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            mime_type: None,
            body: ResourceBody::Text(text.into()),
            annotations: None,
        }
    }

    /// Makes bytes, at a URI.
    #[must_use]
    pub fn blob(uri: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self {
            uri: uri.into(),
            mime_type: None,
            body: ResourceBody::Blob(data.into()),
            annotations: None,
        }
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

impl ResourceLink {
    /// Makes a link to a resource.
    #[must_use]
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            mime_type: None,
            size: None,
            annotations: None,
        }
    }

    /// Sets a name for people.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the MIME type of the resource.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the size of the resource, in bytes.
    #[must_use]
    pub fn with_size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }
}

fn media(data: Vec<u8>, mime_type: String) -> MediaContent {
    MediaContent {
        data,
        mime_type,
        annotations: None,
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<ResourceLink> for Content {
    fn from(link: ResourceLink) -> Self {
        Self::ResourceLink(link)
    }
}

impl From<EmbeddedResource> for Content {
    fn from(resource: EmbeddedResource) -> Self {
        Self::Resource(resource)
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}
