//! Responses of the API.

use serde_json::{Value, json};

use super::with;
use crate::recording_host::http;

/// Response of the API.
pub(super) struct Response {
    status: u16,
    headers: String,
    body: Value,
}

impl Response {
    pub(super) fn new(status: u16, body: Value) -> Self {
        Self {
            status,
            headers: "content-type: application/json; charset=utf-8\r\n".to_owned(),
            body,
        }
    }

    pub(super) fn ok(body: Value) -> Self {
        Self::new(200, body)
    }

    pub(super) fn error(status: u16, message: &str) -> Self {
        let documentation = "https://docs.github.com/rest";
        Self::new(
            status,
            json!({ "message": message, "documentation_url": documentation, "status": status.to_string() }),
        )
    }

    pub(super) fn invalid(field: &str, code: &str) -> Self {
        let mut response = Self::error(422, "Validation Failed");
        let error = json!({ "resource": "Issue", "field": field, "code": code });
        response.body = with(&response.body, &json!({ "errors": [error] }));
        response
    }

    pub(super) fn with_header(mut self, header: &str) -> Self {
        self.headers = format!("{}{header}\r\n", self.headers);
        self
    }

    pub(super) fn written(&self) -> Vec<u8> {
        http(
            &format!("{} Status", self.status),
            &self.headers,
            &self.body.to_string(),
        )
    }
}
