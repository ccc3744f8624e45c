//! Values that are held against schemas of servers for the sake of agents. Nothing else of the agent's
//! side does so: strangers have written the schemas, and one is compiled anew for each value.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::sync::Arc;

use dormouse_catalog::{Problems, validator};
use dormouse_upstream::without_blocking;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Longest schema that values are held against, in bytes.
const MAX_CHECKED_BYTES: usize = 64 << 10;

/// Schemas of one server that are compiled at once: that cannot be ended, and takes a thread.
const CHECKING: usize = 1;

/// Checks of values, one at a time for each server.
#[derive(Debug, Default)]
pub(super) struct SchemaChecks(Mutex<HashMap<String, Arc<Semaphore>>>);

impl SchemaChecks {
    /// Returns the problems of a value with a schema of a server, of which so many are listed; none
    /// where nothing can be held against it: it is too long, or no schema, or takes too many steps.
    /// `value` is called once it is the value's turn.
    pub(super) async fn problems<V: Borrow<Value>>(
        &self,
        server: &str,
        schema: &str,
        value: impl FnOnce() -> V,
        listed: usize,
    ) -> Option<Problems> {
        if schema.len() > MAX_CHECKED_BYTES {
            return None;
        }
        let _turn = self.turn(server).await?;
        without_blocking(usize::MAX, || {
            let schema = serde_json::from_str::<Value>(schema).ok()?;
            let problems = validator(&schema).ok()?.problems(value().borrow(), listed);
            problems.ok()
        })
    }

    /// Waits until a value may be held against a schema of a server, as long as the returned value is
    /// held.
    async fn turn(&self, server: &str) -> Option<OwnedSemaphorePermit> {
        let turns = {
            let mut all = self.0.lock();
            // Nobody waits for those of others, or has one.
            all.retain(|name, turns| name == server || Arc::strong_count(turns) > 1);
            let turns = all.entry(server.to_owned());
            Arc::clone(turns.or_insert_with(|| Arc::new(Semaphore::new(CHECKING))))
        };
        turns.acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn schemas_of_a_server_are_compiled_one_after_the_other_and_no_long_ones() {
        let checks = SchemaChecks::default();
        let schema = r#"{"required":["a"]}"#;
        let held = checks.turn("post").await;
        assert!(held.is_some());
        let unread = || -> Value { panic!("it is read before its turn") };
        let waits = checks.problems("post", schema, unread, 1);
        assert!(futures::poll!(std::pin::pin!(waits)).is_pending());
        let value = || json!({});
        let other = checks.problems("other", schema, value, 1).await;
        assert_eq!(other.unwrap().listed.len(), 1);
        drop(held);
        let found = checks.problems("post", schema, value, 1).await;
        assert_eq!(found.unwrap().listed.len(), 1);
        let long = format!(r#"{{"required":["a"],"title":"{}"}}"#, "x".repeat(64 << 10));
        assert_eq!(checks.problems("post", &long, unread, 1).await, None);
        assert_eq!(checks.problems("post", "7", unread, 1).await, None);
        assert_eq!(checks.0.lock().len(), 1);
    }

    /// Files in a folder that take the function which compiles schemas.
    fn compiling(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                compiling(&path, found);
            } else if std::fs::read_to_string(&path).is_ok_and(|text| {
                let mut uses = text.split("use dormouse_catalog::").skip(1);
                let uses_it =
                    uses.any(|list| list.split(';').next().unwrap().contains("validator"));
                uses_it || text.contains("dormouse_catalog::validator")
            }) {
                found.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }

    #[test]
    fn no_schema_is_compiled_elsewhere() {
        let mut found = Vec::new();
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/mcp");
        compiling(&here, &mut found);
        assert_eq!(found, ["schema_checks.rs"]);
    }
}
