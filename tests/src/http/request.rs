//! Requests, every byte of them chosen by the test.

use serde_json::{Value, json};

use crate::http::Server;
use crate::wire;

/// Request as it goes over the wire.
#[derive(Debug, Clone)]
pub struct Request {
    /// `POST /mcp`, and the like.
    pub line: String,
    /// Headers; one without a value is left away.
    pub headers: Vec<(String, String)>,
    /// Body.
    pub body: Vec<u8>,
}

impl Request {
    /// Makes a request without a body.
    #[must_use]
    pub fn get(path: &str) -> Self {
        Self {
            line: format!("GET {path}"),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Makes a request with a body for `/mcp`, with the headers that every client of MCP sends.
    #[must_use]
    pub fn post(body: impl Into<Vec<u8>>) -> Self {
        Self {
            line: "POST /mcp".into(),
            headers: Vec::new(),
            body: body.into(),
        }
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
    }

    /// Makes a request of the stateless era, with all that it has to have. The members of `_meta`
    /// in `params` are kept.
    #[must_use]
    pub fn stateless(id: u64, method: &str, params: Value) -> Self {
        let name = params.get("name").or_else(|| params.get("uri"));
        let name = name.and_then(Value::as_str).map(str::to_owned);
        let params = wire::stateless(params, json!({}));
        let request = Self::post(wire::request(id, method, params).to_string())
            .header("mcp-protocol-version", wire::MODERN)
            .header("mcp-method", method);
        match name {
            Some(name) => request.header("mcp-name", &name),
            None => request,
        }
    }

    /// Sends it to another path.
    #[must_use]
    pub fn at(mut self, path: &str) -> Self {
        let method = self.line.split(' ').next().unwrap_or_default();
        self.line = format!("{method} {path}");
        self
    }

    /// Sets a header, instead of any of that name.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Returns its bytes for that server, with the server's token, unless it has another one.
    #[must_use]
    pub fn bytes(&self, server: &Server) -> Vec<u8> {
        let mut text = format!("{} HTTP/1.1\r\n", self.line);
        let host = ("host".to_owned(), server.address.to_string());
        let length = ("content-length".to_owned(), self.body.len().to_string());
        let token = server.token.as_ref();
        let token = token.map(|token| ("authorization".to_owned(), format!("Bearer {token}")));
        let missing = [host, length]
            .into_iter()
            .chain(token)
            .filter(|(name, _)| !self.headers.iter().any(|(other, _)| other == name));
        for (name, value) in missing.chain(self.headers.iter().cloned()) {
            if !value.is_empty() {
                text.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        text.push_str("\r\n");
        let mut bytes = text.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}
