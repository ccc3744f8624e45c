//! Sessions of the era that has them.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::http::Server;
use crate::http::request::Request;
use crate::wire;

/// Session of the legacy era.
#[derive(Debug, Clone)]
pub struct Session {
    /// Its id.
    pub id: String,
}

impl Session {
    /// Opens a session.
    ///
    /// # Errors
    /// The server does not.
    pub fn open(server: &Server) -> Result<Self> {
        Self::open_able(server, json!({}))
    }

    /// Opens a session, and says what this client can be asked.
    ///
    /// # Errors
    /// The server does not.
    pub fn open_able(server: &Server, capabilities: Value) -> Result<Self> {
        Self::open_at(server, "/mcp", capabilities)
    }

    /// Opens a session at a path, and says what this client can be asked. Its requests go to
    /// [that path](Request::at) as well.
    ///
    /// # Errors
    /// The server does not.
    pub fn open_at(server: &Server, path: &str, capabilities: Value) -> Result<Self> {
        let initialize = wire::request(0, "initialize", wire::initialize(capabilities));
        let request = Request::post(initialize.to_string()).at(path);
        let mut answer = server.ask(&request)?;
        let id = answer.header("mcp-session-id").map(str::to_owned);
        let result = answer.result()?;
        ensure!(
            result.get("protocolVersion") == Some(&json!(wire::LEGACY)),
            "the handshake gave {result}"
        );
        let session = Self {
            id: id.context("there is no session id")?,
        };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let taken = server.ask(&session.message(&ready).at(path))?;
        ensure!(
            taken.status == 202,
            "the handshake's end got {}",
            taken.status
        );
        Ok(session)
    }

    /// Makes a message in this session.
    #[must_use]
    pub fn message(&self, message: &Value) -> Request {
        self.with(Request::post(message.to_string()))
    }

    /// Makes a request in this session.
    #[must_use]
    pub fn request(&self, id: u64, method: &str, params: Value) -> Request {
        self.message(&wire::request(id, method, params))
    }

    /// Makes the request for the stream of messages that the server sends by itself.
    #[must_use]
    pub fn news(&self) -> Request {
        self.with(Request::get("/mcp").header("accept", "text/event-stream"))
    }

    /// Makes the request that ends this session.
    #[must_use]
    pub fn delete(&self) -> Request {
        let mut request = self.with(Request::get("/mcp"));
        request.line = "DELETE /mcp".into();
        request
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// It is not taken.
    pub fn notify(&self, server: &Server, method: &str, params: Value) -> Result<()> {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        let answer = server.ask(&self.message(&message))?;
        ensure!(answer.status == 202, "`{method}` got {}", answer.status);
        Ok(())
    }

    fn with(&self, request: Request) -> Request {
        request
            .header("mcp-session-id", &self.id)
            .header("mcp-protocol-version", wire::LEGACY)
    }
}
