//! The resources.

use serde_json::json;

use crate::Fixtures;
use crate::exports::dormouse_plugins::conformance::resources::Guest;
use crate::files::PNG;

impl Guest for Fixtures {
    fn static_text() -> String {
        "This is the content of the static text resource.".into()
    }

    fn static_binary() -> Vec<u8> {
        PNG.into()
    }

    fn watched_resource() -> String {
        "This is the content of the watched resource.".into()
    }

    fn template_data(id: String) -> String {
        let data = format!("Data for ID: {id}");
        json!({ "id": id, "templateTest": true, "data": data }).to_string()
    }
}
