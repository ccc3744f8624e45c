//! Agent that speaks raw lines of JSON.

use super::*;

/// Agent at the other end of a host over stdio.
pub(super) struct Agent {
    pub(super) input: WriteHalf<DuplexStream>,
    pub(super) output: Lines<BufReader<ReadHalf<DuplexStream>>>,
    pub(super) host: JoinHandle<anyhow::Result<()>>,
    pub(super) stop: CancellationToken,
    pub(super) next: u64,
    /// Notifications that came while an answer was waited for.
    pub(super) heard: Vec<Value>,
}

impl Agent {
    pub(super) fn of(roster: &Arc<Roster>) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (stop, ready) = (CancellationToken::new(), CancellationToken::new());
        let settling = (roster.clone(), ready.clone());
        tokio::spawn(async move {
            settling.1.cancelled().await;
            settling.0.settle();
        });
        let (their_input, their_output) = tokio::io::split(theirs);
        let host = tokio::spawn(crate::mcp::serve(
            roster.clone(),
            their_input,
            their_output,
            256 << 20,
            stop.clone(),
            ready,
        ));
        let (output, input) = tokio::io::split(ours);
        Self {
            input,
            output: BufReader::new(output).lines(),
            host,
            stop,
            next: 1,
            heard: Vec::new(),
        }
    }

    /// An agent that has shaken hands.
    pub(super) async fn legacy(roster: &Arc<Roster>) -> Self {
        let mut agent = Self::of(roster);
        let answer = agent
            .ask(
                "initialize",
                json!({
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": "test", "version": "1"},
                }),
            )
            .await;
        let result = &answer["result"];
        assert_eq!(result["protocolVersion"], "2025-06-18");
        assert_eq!(result["serverInfo"]["name"], "dormouse");
        assert_eq!(
            result["capabilities"],
            json!({
                "completions": {}, "logging": {}, "prompts": {"listChanged": true},
                "resources": {"listChanged": true}, "tools": {"listChanged": true},
            })
        );
        agent
            .send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        agent
    }

    pub(super) async fn send(&mut self, message: Value) {
        self.line(&message.to_string()).await;
    }

    pub(super) async fn line(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    pub(super) async fn text(&mut self) -> String {
        let line = self.output.next_line();
        let line = tokio::time::timeout(Duration::from_secs(10), line).await;
        line.expect("the host says nothing").unwrap().unwrap()
    }

    pub(super) async fn hear(&mut self) -> Value {
        serde_json::from_str(&self.text().await).unwrap()
    }

    pub(super) async fn begin(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        id
    }

    pub(super) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.hear().await;
            if message["id"] == id {
                return message;
            }
            assert!(message.get("id").is_none(), "{message}");
            self.heard.push(message);
        }
    }

    pub(super) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        self.answer(id).await
    }

    /// The next notification of a method.
    pub(super) async fn notified(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.heard.iter().position(|m| m["method"] == method) {
                return self.heard.remove(at);
            }
            let message = self.hear().await;
            self.heard.push(message);
        }
    }

    pub(super) async fn names(&mut self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }
}
