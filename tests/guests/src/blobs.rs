//! Answers with bytes, and takes some.
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Blobs;

dormouse_sdk::plugin!(Blobs, world = "blobs");

use dormouse_sdk::Content;

impl Guest for Blobs {
    fn image(bytes: u32) -> Vec<Content> {
        vec![Content::image(vec![7; bytes as usize], "image/png")]
    }

    fn length(data: Vec<u8>) -> u32 {
        data.len() as u32
    }
}
