//! MCP server of rmcp alone, with as many tools as it is told to have: the floor that the benches
//! measure Dormouse against. No rmcp server can do without the cost that it has.
//!
//! `dormouse-floor [--http] [SERVERS] [TOOLS]` shows the same tools under the same names
//! as Dormouse does for that many copies of the `bench` guest. With `--http` it
//! listens at a port of its own choice and says so on stderr, as Dormouse does.

mod gets;
mod http;

use std::sync::Arc;

use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServiceExt};
use serde_json::{Value, json};

#[derive(Clone)]
struct Floor {
    tools: Arc<Vec<Tool>>,
}

impl ServerHandler for Floor {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build()).with_server_info(
            Implementation::new("dormouse-floor", env!("CARGO_PKG_VERSION")),
        )
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.as_ref().clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request
            .arguments
            .as_ref()
            .and_then(|arguments| arguments.get("text"))
            .and_then(Value::as_str)
            .ok_or_else(|| {
                ErrorData::invalid_params("`text` is missing\nhint: pass {\"text\": \"…\"}", None)
            })?;
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

/// The schema of every tool of the `bench` guest.
fn schema() -> Option<Arc<JsonObject>> {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "text": { "type": "string", "description": "What to say, which comes back unchanged." },
            "times": {
                "anyOf": [
                    { "type": "integer", "minimum": 0, "maximum": 4_294_967_295_u64 },
                    { "type": "null" }
                ],
                "description": "How many times to say it; once where this is not given."
            }
        },
        "required": ["text"],
        "additionalProperties": false
    });
    schema.as_object().cloned().map(Arc::new)
}

fn tools(servers: usize, tools: usize) -> Vec<Tool> {
    let schema = schema().unwrap_or_default();
    let mut all = Vec::with_capacity(servers * tools);
    for server in 0..servers {
        for tool in 0..tools {
            // The first tool of the guest is `echo`; the others only fill the list.
            let name = if tool == 0 {
                "echo".to_owned()
            } else {
                format!("filler{tool:02}")
            };
            all.push(Tool::new(
                format!("p{server:04}__{name}"),
                "Says what it is told. Stands here for a tool of ordinary size.",
                Arc::clone(&schema),
            ));
        }
    }
    all
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    if arguments.next_if(|first| first == "--gets").is_some() {
        return gets::time(arguments).await;
    }
    let over_http = arguments.next_if(|first| first == "--http").is_some();
    let mut numbers = arguments.map(|argument| {
        argument.parse::<usize>().map_err(|error| {
            anyhow::anyhow!(
                "`{argument}` is no number: {error}\n\
                 hint: dormouse-floor [--http] [SERVERS] [TOOLS]"
            )
        })
    });
    let servers = numbers.next().transpose()?.unwrap_or(1);
    let per_server = numbers.next().transpose()?.unwrap_or(20);
    let floor = Floor {
        tools: Arc::new(tools(servers, per_server)),
    };
    if over_http {
        return http::serve(floor).await;
    }
    // The faster of rmcp's two stdio transports: a floor has to be low.
    floor
        .serve(rmcp::transport::stdio_pipes())
        .await?
        .waiting()
        .await?;
    Ok(())
}
