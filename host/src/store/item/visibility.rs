//! Visibility of tools: who may call them, as their servers declare.

use dormouse_jsonrpc::{MessageLimits, Object};
use serde_json::json;

use crate::roster::{is_for_models, is_for_pages};

/// Member of `_meta` that holds the parts of MCP Apps, in their nested form.
const APPS: &str = "ui";

/// Visibility of a tool, by the declaration of its server: for all, where that says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ToolVisibility {
    models: bool,
    pages: bool,
}

impl ToolVisibility {
    /// Visibility of a tool of which nothing is said.
    pub(super) const UNRESTRICTED: Self = Self {
        models: true,
        pages: true,
    };

    /// Returns the visibility in a tool's definition.
    pub(super) fn of(tool: &str) -> Self {
        Self {
            models: is_for_models(tool),
            pages: is_for_pages(tool),
        }
    }

    /// Returns the visibility for those alone whom both are for.
    pub(super) fn most_cautious(self, other: Self) -> Self {
        Self {
            models: self.models && other.models,
            pages: self.pages && other.pages,
        }
    }

    /// Writes it into a tool's `_meta`, and leaves all else there as it is. All forms of it say the
    /// same: a client reads the one that it knows.
    pub(super) fn write(self, tool: &mut Object<'_>) {
        let members = MessageLimits::default().members;
        let whom = [("model", self.models), ("app", self.pages)];
        let whom = whom.into_iter().filter(|(_, is_for)| *is_for);
        let whom: Vec<&str> = whom.map(|(whom, _)| whom).collect();
        let whom = json!(whom).to_string();
        let text = tool.get("_meta").unwrap_or_default().to_owned();
        let mut meta = Object::parse(&text, members).unwrap_or_default();
        let apps = meta.get(APPS).unwrap_or_default().to_owned();
        let mut apps = Object::parse(&apps, members).unwrap_or_default();
        apps.set("visibility", whom.clone());
        let apps = apps.into_text().into_owned();
        meta.set(APPS, apps);
        meta.set("ui/visibility", whom);
        if !self.models {
            meta.set("openai/visibility", json!("private").to_string());
        }
        let meta = meta.into_text().into_owned();
        tool.set("_meta", meta);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use serde_json::value::{RawValue, to_raw_value};

    use super::super::frozen::{caution_of, frozen_tool, has_same_caution, most_cautious};
    use super::*;

    #[test]
    fn a_tool_is_for_those_whom_both_forms_are_for() {
        let nested = |whom: &[&str]| json!({ "ui": { "visibility": whom } });
        let both = json!(null);
        let parts = json!({ "ui": { "resourceUri": "ui://s/p" }, "x": 1 });
        for (approved, now, models, pages) in [
            (&both, &both, true, true),
            (&both, &nested(&["app"]), false, true),
            (&both, &json!({ "ui/visibility": ["app"] }), false, true),
            (
                &both,
                &json!({ "openai/visibility": "private" }),
                false,
                true,
            ),
            (&parts, &nested(&["app"]), false, true),
            (
                &json!({ "ui/visibility": ["model", "app"] }),
                &nested(&["app"]),
                false,
                true,
            ),
            (
                &json!({ "openai/visibility": "public" }),
                &nested(&["app"]),
                false,
                true,
            ),
            (&both, &nested(&["model"]), true, false),
            (&nested(&["app"]), &both, false, true),
            (&nested(&["app"]), &nested(&["model"]), false, false),
        ] {
            let tool = |meta: &Value| {
                let mut tool = json!({ "name": "a", "inputSchema": { "type": "object" } });
                if !meta.is_null() {
                    tool["_meta"] = meta.clone();
                }
                to_raw_value(&tool).unwrap()
            };
            let [approved, now] = [approved, now].map(tool);
            let shown = frozen_tool(&approved, &now);
            let is = |tool: &RawValue| {
                let tool = tool.get();
                let is_for = (is_for_models(tool), is_for_pages(tool));
                assert_eq!(is_for, (models, pages), "{approved} {now}: {tool}");
            };
            is(&shown);
            let read: Value = serde_json::from_str(shown.get()).unwrap();
            if approved.get().contains("ui://s/p") {
                assert_eq!(read["_meta"]["ui"]["resourceUri"], "ui://s/p");
                assert_eq!(read["_meta"]["x"], 1);
            }
            // What is kept of each kind of clients says the same, and so does what is left of many.
            let [caution, other] = [&approved, &now].map(|tool| caution_of(tool));
            is(&frozen_tool(&approved, &other));
            is(&frozen_tool(&caution, &now));
            is(&most_cautious([&*approved, &*now]).unwrap());
            let [was, is_now] = [&approved, &now].map(|tool| ToolVisibility::of(tool.get()));
            assert_eq!(has_same_caution(&caution, &now), was == is_now, "{now}");
        }
    }
}
