//! Answers and fails with content blocks.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use dormouse_sdk::{Annotations, Content, ResourceLink};

struct Painter;

dormouse_sdk::plugin!(Painter, world = "painter");

impl Guest for Painter {
    fn paint() -> Content {
        Content::image([1, 2, 3], "image/png")
            .with_annotations(Annotations::default().for_user().with_priority(0.5))
    }

    fn try_to_paint(spill: bool) -> Result<Content, Vec<Content>> {
        if spill {
            return Err(vec![
                "the colour is on the floor".into(),
                Content::image([4], "image/png"),
            ]);
        }
        Ok(ResourceLink::new("paint://1", "first")
            .with_title("The first one")
            .with_mime_type("image/png")
            .with_size(3)
            .into())
    }

    fn spoil() -> Result<String, Content> {
        Err(Content::text_resource("paint://why", "rain", "text/plain"))
    }
}
