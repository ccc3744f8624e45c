//! Tests, over a real connection, of members that nobody knows, and of headers.

use dormouse_wit::section;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::roster::tests::{ADD, Home, component};

/// A server with one tool, which is declared with fields that nobody knows and
/// wants one of its arguments in a header, too.
async fn serve(home: &Home) -> (SocketAddr, CancellationToken) {
    let tool = r#"{"x-first":{"b":1,"a":[null]},"name":"odd","inputSchema":{"type":"object","properties":{"a":{"type":"integer","x-mcp-header":"Left"},"b":{"type":"integer"}},"x-more":true},"icons":[{"src":"x:y","odd":7}],"x-number":1.10}"#;
    let mut declared = dormouse_wit::from_component(&component(&[ADD]))
        .unwrap()
        .declaration;
    declared.tools[0].name = "odd".into();
    declared.tools[0].tool = RawValue::from_string(tool.into()).unwrap();
    let declared = section::encode(&declared).unwrap();
    let packed = section::insert(&component(&[ADD]), &declared).unwrap();
    home.write("a.wasm", &packed);
    home.write("dormouse.toml", b"[servers.s]\ncomponent = 'a.wasm'\n");
    let options = Options {
        address: "127.0.0.1:0".parse().unwrap(),
        guard: RequestGuard::default(),
        max_body: 1 << 20,
        max_bodies: 8 << 20,
        body_time: Duration::from_secs(5),
        header_time: Duration::from_secs(5),
        max_connections: 8,
        max_sessions: 8,
        session_idle: Duration::from_secs(5),
        max_calls: 8,
        stop_timeout: Duration::from_secs(1),
    };
    let server = HttpServer::bind(home.open(), options).await.unwrap();
    let (address, stop) = (server.address, CancellationToken::new());
    tokio::spawn(server.run(stop.clone()));
    (address, stop)
}

/// The answer to a request of the stateless era, as text.
async fn ask(address: SocketAddr, method: &str, mut params: Value, headers: &str) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{headers}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_is_listed_with_all_that_it_declares() {
    let home = Home::new();
    let (address, _stop) = serve(&home).await;
    let answer = ask(address, "tools/list", json!({}), "").await;
    let expected = r#""tools":[{"x-first":{"b":1,"a":[null]},"name":"s__odd","inputSchema":{"type":"object","properties":{"a":{"type":"integer","x-mcp-header":"Left"},"b":{"type":"integer"}},"x-more":true},"icons":[{"src":"x:y","odd":7}],"x-number":1.10}]"#;
    assert!(answer.contains(expected), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_in_headers_are_compared() {
    let home = Home::new();
    let (address, _stop) = serve(&home).await;
    let params = json!({"name": "s__odd", "arguments": {"a": 1, "b": 2}});
    for (headers, status) in [
        ("mcp-name: s__odd\r\nmcp-param-left: 1\r\n", "200"),
        ("mcp-name: s__odd\r\nmcp-param-left: 2\r\n", "400"),
        ("mcp-name: s__odd\r\n", "400"),
    ] {
        let answer = ask(address, "tools/call", params.clone(), headers).await;
        assert_eq!(&answer[9..12], status, "{answer}");
        assert_eq!(answer.contains("-32020"), status == "400", "{answer}");
    }
}
