//! A listener of the tests.

use std::sync::Arc;
use std::time::Duration;

use dormouse_protocol::{
    Answer, AskError, Capability, ClientEra, DeclaredCapabilities, Listener, Question,
};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};

/// Listener that hears everything and answers every question.
#[derive(Default)]
pub(crate) struct RecordingListener {
    pub(super) heard: Mutex<Vec<Value>>,
    pub(super) able: Vec<Capability>,
    pub(super) era: ClientEra,
    /// Lowest level of logs that it wants to hear.
    pub(super) level: Mutex<Option<&'static str>>,
    pub(super) meta: Map<String, Value>,
    /// Time that it takes to answer.
    pub(crate) thinks: Duration,
    /// Number of questions that it was asked.
    pub(super) asks: Mutex<usize>,
}

impl RecordingListener {
    pub(crate) fn able(able: &[Capability]) -> Arc<Self> {
        Arc::new(Self {
            able: able.to_vec(),
            ..Self::default()
        })
    }

    pub(super) fn of(era: ClientEra, able: &[Capability]) -> Arc<Self> {
        Arc::new(Self {
            able: able.to_vec(),
            era,
            ..Self::default()
        })
    }

    pub(crate) fn heard(&self) -> Vec<Value> {
        self.heard.lock().clone()
    }

    /// Returns the number of questions that it was asked.
    pub(crate) fn asked(&self) -> usize {
        *self.asks.lock()
    }
}

impl Listener for RecordingListener {
    fn progress(&self, progress: f64, total: Option<f64>, _: Option<String>) {
        let heard = json!({ "progress": progress, "total": total });
        self.heard.lock().push(heard);
    }

    fn log(&self, level: &'static str, logger: Option<String>, data: Value) {
        let heard = json!({ "level": level, "logger": logger, "data": data });
        self.heard.lock().push(heard);
    }

    fn page_done(&self, id: &str) -> bool {
        self.heard.lock().push(json!({ "done": id }));
        true
    }

    fn supports(&self, capability: Capability) -> bool {
        self.able.contains(&capability)
    }

    fn ask(&self, questions: Vec<Question>) -> BoxFuture<'static, Result<Vec<Answer>, AskError>> {
        *self.asks.lock() += questions.len();
        let answers = questions.iter().map(|question| {
            let params: Value = serde_json::from_str(&question.to_text()).unwrap();
            let own = json!({ "to": question.method(), "params": params, "own": [1.5] });
            Answer::Made(own)
        });
        let answers: Vec<_> = answers.collect();
        let thinks = self.thinks;
        async move {
            tokio::time::sleep(thinks).await;
            Ok(answers)
        }
        .boxed()
    }

    fn level(&self) -> Option<&'static str> {
        *self.level.lock()
    }

    fn era(&self) -> ClientEra {
        self.era.clone()
    }

    fn declared(&self) -> Map<String, Value> {
        let able = DeclaredCapabilities::with(|capability| self.supports(capability));
        let mut declared = able.into_members();
        if let Some(roots) = declared.get_mut("roots") {
            *roots = json!({ "listChanged": true });
        }
        declared
    }

    fn meta(&self) -> Map<String, Value> {
        self.meta.clone()
    }
}
