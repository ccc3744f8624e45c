//! A server that others have written: rmcp's.

use hyper_util::service::TowerToHyperService;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;

use super::*;

#[derive(Clone)]
struct Real;

impl ServerHandler for Real {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, rmcp::ErrorData> {
        let schema = serde_json::json!({"type": "object"});
        let tool = Tool::new(
            "echo",
            "Says it again",
            Arc::new(schema.as_object().unwrap().clone()),
        );
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, rmcp::ErrorData> {
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, 1.0);
            context.peer.notify_progress(progress).await.unwrap();
        }
        let text = format!("{:?}", request.arguments);
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

async fn serve(json: bool) -> Http {
    let config = StreamableHttpServerConfig::default().with_json_response(json);
    let service = StreamableHttpService::new(
        || Ok(Real),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    Http {
        url,
        ..Http::default()
    }
}

fn says(id: u64, method: &str, params: &str) -> Outgoing {
    Outgoing {
        text: format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#),
        ..request(id, method)
    }
}

async fn value(channel: &mut Channel) -> Value {
    serde_json::from_str(&next(channel).await).unwrap()
}

#[tokio::test]
async fn is_spoken_to_in_the_older_era() {
    for json in [false, true] {
        let http = serve(json).await;
        let mut channel = connect_to(&http).await.unwrap();
        let server_introduction = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#;
        channel
            .sender
            .send(says(1, "initialize", server_introduction))
            .await
            .unwrap();
        assert_eq!(
            value(&mut channel).await["result"]["protocolVersion"],
            LEGACY
        );
        channel
            .sender
            .send(notification("notifications/initialized"))
            .await
            .unwrap();
        channel
            .sender
            .send(says(2, "tools/list", "{}"))
            .await
            .unwrap();
        assert_eq!(
            value(&mut channel).await["result"]["tools"][0]["name"],
            "echo"
        );
        let mut call = says(
            3,
            "tools/call",
            r#"{"name":"echo","arguments":{"a":1},"_meta":{"progressToken":7}}"#,
        );
        call.name = Some("echo".to_owned());
        channel.sender.send(call).await.unwrap();
        let mut last = value(&mut channel).await;
        if last["method"] == "notifications/progress" {
            assert_eq!(last["params"]["progressToken"], 7);
            last = value(&mut channel).await;
        }
        assert_eq!(last["id"], 3);
        assert!(
            last["result"]["content"][0]["text"]
                .as_str()
                .unwrap()
                .contains("\"a\""),
            "{last}"
        );
        // A session that is over is over for whoever still has its id.
        channel.sender.close().await;
        assert!(channel.incoming.recv().await.is_none());
    }
}

#[tokio::test]
async fn is_spoken_to_in_the_newest_era() {
    let http = serve(false).await;
    let mut channel = connect_to(&http).await.unwrap();
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    let server_introduction = modern(says(1, "server/discover", &format!("{{{meta}}}")));
    channel.sender.send(server_introduction).await.unwrap();
    let server_introduction = value(&mut channel).await;
    assert!(
        server_introduction["result"]["supportedVersions"]
            .to_string()
            .contains(MODERN),
        "{server_introduction}"
    );
    let mut call = modern(says(
        2,
        "tools/call",
        &format!(r#"{{"name":"echo","arguments":{{"a":1}},{meta}}}"#),
    ));
    call.name = Some("echo".to_owned());
    channel.sender.send(call.clone()).await.unwrap();
    let answer = value(&mut channel).await;
    assert!(
        answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("\"a\""),
        "{answer}"
    );
    // It looks whether the header says the same.
    call.name = Some("other".to_owned());
    channel.sender.send(call).await.unwrap();
    assert_eq!(value(&mut channel).await["error"]["code"], -32020);
}
