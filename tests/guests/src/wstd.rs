//! A plugin of an author who uses `wstd`, as its documentation shows.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

use ::wstd::http::{Body, Client, Request};
use ::wstd::runtime::block_on;

struct Fetch;

dormouse_sdk::plugin!(Fetch, world = "fetch");

impl Guest for Fetch {
    fn add(a: u32, b: u32) -> u32 {
        block_on(async { a + b })
    }

    fn fetch(url: String, body: String) -> Result<String, String> {
        block_on(async {
            let request = Request::post(url).body(Body::from(body)).map_err(told)?;
            let response = Client::new().send(request).await.map_err(told)?;
            let mut body = response.into_body();
            let text = body.str_contents().await.map_err(told)?;
            Ok(text.to_owned())
        })
    }
}

fn told(error: impl std::fmt::Display) -> String {
    format!("{error:#}")
}
