//! Findings of the benches.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value, json};

/// Measured values by name, and the targets with their outcomes.
#[derive(Debug, Default)]
pub(super) struct Report {
    values: Map<String, Value>,
    targets: Vec<Value>,
}

impl Report {
    /// Notes a value, and prints it.
    pub(super) fn value(&mut self, name: &str, value: f64, unit: &str) {
        println!("  {name:<58} {value:>10.3} {unit}");
        self.values
            .insert(name.to_owned(), json!({ "value": value, "unit": unit }));
    }

    /// Compares a value with the most that it is meant to be. A value that could not be measured
    /// misses.
    pub(super) fn target(&mut self, name: &str, value: f64, at_most: f64, unit: &str) {
        let goal = ("≤", "at_most", at_most);
        self.judged(name, value, value <= at_most, goal, unit);
    }

    /// Compares a value with the least that it is meant to be. A value that could not be measured
    /// misses.
    pub(super) fn target_at_least(&mut self, name: &str, value: f64, at_least: f64, unit: &str) {
        let goal = ("≥", "at_least", at_least);
        self.judged(name, value, value >= at_least, goal, unit);
    }

    fn judged(
        &mut self,
        name: &str,
        value: f64,
        ok: bool,
        (sign, key, goal): (&str, &str, f64),
        unit: &str,
    ) {
        let verdict = if ok { "ok" } else { "MISSED" };
        println!("* {name:<58} {value:>10.3} {unit:<4} {sign} {goal} {verdict}");
        self.targets
            .push(json!({ "name": name, "value": value, key: goal, "unit": unit, "ok": ok }));
    }

    /// Writes all values as JSON, and prints the targets once more, together.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let all = json!({ "targets": self.targets, "values": self.values });
        let text = serde_json::to_string_pretty(&all)?;
        std::fs::write(path, text + "\n")
            .with_context(|| format!("cannot write `{}`", path.display()))?;
        let missed = self
            .targets
            .iter()
            .filter(|target| target.get("ok") != Some(&Value::Bool(true)));
        let missed: Vec<_> = missed
            .filter_map(|target| target.get("name")?.as_str())
            .collect();
        println!(
            "\n{} of {} targets met",
            self.targets.len() - missed.len(),
            self.targets.len()
        );
        for name in missed {
            println!("MISSED: {name}");
        }
        println!("written to {}", path.display());
        Ok(())
    }
}
