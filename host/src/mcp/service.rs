//! rmcp service that keeps tools and their results out of rmcp's types.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use rmcp::model::{
    ClientNotification, ClientRequest, CustomRequest, ErrorData, InputResponses,
    PaginatedRequestParams, ProtocolVersion, RequestId, ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext, Service};
use rmcp::{RoleServer, ServerHandler};
use serde::Serialize;
use serde_json::{Map, Value};

use super::original::Original;

/// Service that hands requests for plugins to the handler as custom requests, whose results rmcp
/// passes on unchanged. rmcp's checks of a request are made all the same. A request for tools that
/// rmcp's types cannot read arrives as a custom one anyhow, so the handler gets all of them in the
/// same form.
pub(super) struct Lossless<H>(pub(super) H);

impl<H: ServerHandler> Service<RoleServer> for Lossless<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let id = context.id.clone();
        let request = untyped(request, context.extensions.get());
        caught(&id, self.0.handle_request(request, context)).await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.0.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.0)
    }
}

/// Returns the outcome of a request's handler, also where it has panicked: rmcp would never answer
/// that request.
pub(super) async fn caught<T>(
    id: &RequestId,
    handled: impl Future<Output = Result<T, ErrorData>>,
) -> Result<T, ErrorData> {
    AssertUnwindSafe(handled)
        .catch_unwind()
        .await
        .unwrap_or_else(|_| {
            tracing::error!(%id, "a request ended in a panic");
            Err(ErrorData::internal_error(
                "this request met a bug in dormouse; its log says more",
                None,
            ))
        })
}

fn untyped(request: ClientRequest, original: Option<&Original>) -> ClientRequest {
    let method = request.method().to_owned();
    // What rmcp cannot read of these it drops without a word.
    let list = |params: &Option<PaginatedRequestParams>| match original {
        Some(original) => original.params(),
        None => Some(plain(params)),
    };
    let params = match request {
        ClientRequest::CallToolRequest(call) => {
            let call = call.params;
            let mut params = Map::new();
            params.insert("name".into(), call.name.into());
            params.extend(
                call.arguments
                    .map(|arguments| ("arguments".into(), arguments.into())),
            );
            params.extend(continued(call.input_responses, call.request_state));
            Some(Value::Object(params))
        }
        ClientRequest::GetPromptRequest(get) => Some(plain(&get.params)),
        ClientRequest::ReadResourceRequest(read) => Some(plain(&read.params)),
        ClientRequest::CompleteRequest(complete) => Some(plain(&complete.params)),
        ClientRequest::ListToolsRequest(asked) => list(&asked.params),
        ClientRequest::ListPromptsRequest(asked) => list(&asked.params),
        ClientRequest::ListResourcesRequest(asked) => list(&asked.params),
        ClientRequest::ListResourceTemplatesRequest(asked) => list(&asked.params),
        ClientRequest::SubscriptionsListenRequest(listen) => Some(plain(&listen.params)),
        other => return other,
    };
    ClientRequest::CustomRequest(CustomRequest::new(method, params))
}

/// Returns parameters as they were sent. Those that rmcp has read are written again.
fn plain(params: &impl Serialize) -> Value {
    serde_json::to_value(params).unwrap_or_default()
}

/// Returns the members that go on with an earlier request.
fn continued(
    responses: Option<InputResponses>,
    state: Option<String>,
) -> impl Iterator<Item = (String, Value)> {
    let responses = responses.map(|all| ("inputResponses".to_owned(), all.into_iter().collect()));
    let state = state.map(|state| ("requestState".to_owned(), state.into()));
    responses.into_iter().chain(state)
}

#[cfg(test)]
mod tests {
    use rmcp::model::CustomResult;
    use rmcp::service::serve_directly;
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    use super::*;

    /// Handler that panics when tools are listed, and returns the parameters of a call.
    struct PanickingHandler;

    impl ServerHandler for PanickingHandler {
        async fn on_custom_request(
            &self,
            request: CustomRequest,
            _context: RequestContext<RoleServer>,
        ) -> Result<CustomResult, ErrorData> {
            assert_ne!(request.method, "tools/list", "a bug");
            Ok(CustomResult(request.params.unwrap_or_default()))
        }
    }

    #[tokio::test]
    async fn a_panic_is_answered_and_odd_fields_pass() {
        let (ours, theirs) = tokio::io::duplex(4096);
        let _running = serve_directly(Lossless(PanickingHandler), theirs, None);
        let (output, mut input) = tokio::io::split(ours);
        let mut lines = BufReader::new(output).lines();
        let mut ask = async |line: &str| -> Value {
            input.write_all(line.as_bytes()).await.unwrap();
            let answer = lines.next_line().await.unwrap().unwrap();
            serde_json::from_str(&answer).unwrap()
        };
        let answer = ask("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n").await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        let answer = ask("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\
             \"params\":{\"name\":\"x\",\"arguments\":{\"b\":1,\"a\":[2]}}}\n")
        .await;
        assert_eq!(
            answer["result"].to_string(),
            r#"{"name":"x","arguments":{"b":1,"a":[2]}}"#
        );
    }
}
