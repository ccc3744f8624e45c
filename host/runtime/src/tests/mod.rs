//! Calls of real components, each bad one followed by a good one on the same slot.

mod cache;
mod calls;
mod life;
mod prepared;
mod waits;

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_policy::{Grants, Limits};
use dormouse_protocol::{Answer, Listener, QuestionLimit, SessionClients, SessionId};
use dormouse_wit::Instance;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{
    Call, CallError, Callable, Cause, ComponentLocation, GuestRequest, Runtime, Schemas, Slot,
    Target, ToolRequest,
};

/// A component with one function for each way in which a call can end.
const ODD: &str = r#"
(component
  (core module $m
    (memory (export "mem") 1)
    (global $count (mut i32) (i32.const 0))
    (func (export "add") (param i32 i32) (result i32) (i32.add (local.get 0) (local.get 1)))
    (func (export "spin") (loop $l (br $l)))
    (func (export "crash") unreachable)
    (func (export "count") (result i32)
      (global.set $count (i32.add (global.get $count) (i32.const 1)))
      (global.get $count))
    (func (export "eat") (drop (memory.grow (i32.const 60000))) unreachable)
  )
  (core instance $i (instantiate $m))
  (func (export "add") (param "a" u32) (param "b" u32) (result u32) (canon lift (core func $i "add")))
  (func (export "spin") (canon lift (core func $i "spin")))
  (func (export "crash") (canon lift (core func $i "crash")))
  (func (export "count") (result u32) (canon lift (core func $i "count")))
  (func (export "eat") (canon lift (core func $i "eat")))
)"#;

pub(super) fn runtime(cache: PathBuf) -> Runtime {
    Runtime::new(cache, crate::compiler::tests::command)
}

struct Silent;
impl Listener for Silent {
    fn progress(&self, _: f64, _: Option<f64>, _: Option<String>) {}
    fn log(&self, _: &'static str, _: Option<String>, _: Value) {}
}

struct Place {
    dir: TempDir,
    path: PathBuf,
    declaration: dormouse_wit::Declaration,
}

fn place() -> Place {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("odd.wasm");
    let bytes = wat::parse_str(ODD).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let declaration = dormouse_wit::source::from_component(&bytes)
        .unwrap()
        .declaration;
    Place {
        dir,
        path,
        declaration,
    }
}

/// Sessions whose clients cannot be told anything.
pub(super) struct NoClients;

impl SessionClients for NoClients {
    fn client(&self, _: SessionId) -> Option<Arc<dyn Listener>> {
        None
    }

    fn tell(&self, _: Option<SessionId>, _: &str, _: String) {}
}

impl Place {
    fn cache(&self) -> PathBuf {
        self.dir.path().join("cache")
    }

    fn target(&self) -> Target {
        Target {
            server: "odd".into(),
            code: ComponentLocation::File(self.path.clone(), None),
            upstream: None,
            instance: Instance::PerCall,
            functions: self
                .declaration
                .tools
                .iter()
                .filter_map(|tool| tool.function.clone())
                .collect(),
            grants: Grants::default(),
            grant_questions: None,
            secrets: Vec::new(),
            sent_secrets: Arc::default(),
            logins: std::collections::BTreeMap::new(),
            limits: Limits::default(),
            questions: QuestionLimit::new(8),
            settings: Map::new(),
            clients: Arc::new(NoClients),
        }
    }

    fn call(&self, tool: &str, arguments: Value) -> Call {
        let declared = self
            .declaration
            .tools
            .iter()
            .find(|found| found.name == tool)
            .unwrap();
        let object: Value = serde_json::from_str(declared.tool.get()).unwrap();
        Call {
            wanted: GuestRequest::Tool(ToolRequest {
                name: tool.into(),
                callable: Arc::new(Callable {
                    function: declared.function.clone(),
                    schemas: Some(Schemas::new(object["inputSchema"].clone(), None)),
                }),
                arguments: arguments.as_object().unwrap().clone().into(),
            }),
            session: Some(SessionId(1)),
            cancel: CancellationToken::new(),
            listener: Arc::new(Silent),
            condition: None,
            upstream_condition: None,
        }
    }

    async fn good(&self, slot: &Arc<Slot>) {
        let result = slot
            .call(self.call("add", json!({ "a": 2, "b": 40 })))
            .await
            .unwrap();
        assert_eq!(
            result.get("structuredContent").as_deref(),
            Some(&json!({ "result": 42 }))
        );
    }
}

fn cause(result: Result<Answer, CallError>) -> Cause {
    result.unwrap_err().cause
}
