//! A plugin of an author who uses `waki`, as its documentation shows.
#![cfg(target_family = "wasm")]
#![allow(missing_docs, reason = "a guest's interface is its WIT")]

struct Fetch;

dormouse_sdk::plugin!(Fetch, world = "fetch");

impl Guest for Fetch {
    fn add(a: u32, b: u32) -> u32 {
        a + b
    }

    fn fetch(url: String, body: String) -> Result<String, String> {
        let request = ::waki::Client::new().post(&url).body(body);
        let response = request.send().map_err(|error| format!("{error:#}"))?;
        let text = response.body().map_err(|error| format!("{error:#}"))?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
